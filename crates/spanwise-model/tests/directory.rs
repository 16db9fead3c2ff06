//! Models on disk: what is written is what is read, and whatever else lies there is an error in words.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "directory/integrity.rs"]
mod integrity;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use spanwise_core::Utterance;
use spanwise_lang::Domain;
use spanwise_model::confidence::{
    Answerability, ByKind, Calibration, Confidence, Effects, Novelty, ReadAs, Scale, WordCounts,
};
use spanwise_model::families::bart::BartSettings;
use spanwise_model::families::chart::ChartSettings;
use spanwise_model::families::end2end::End2EndSettings;
use spanwise_model::families::seq2seq::Seq2SeqSettings;
use spanwise_model::{
    Blueprint, Compact, Details, EncoderSource, FORMAT_VERSION, FamilySettings as _, Gold, Model, Outcome,
    Pair, Parser, Request,
};
use spanwise_nn::pretrained::{Weights, write_safetensors};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, thread};
use tempfile::TempDir;

const TOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spanwise-train/tests/toy/lamps.toml");
const TEXTS: [&str; 4] =
    ["turn on the hall lamp", "blink the desk twice and light the guest room", "nothing to see", ""];

/// A model of lamps with random weights.
fn model(seed: u64, hidden: usize) -> Model {
    let domain = Arc::new(spanwise_domains::load::load(TOY).unwrap());
    let mut terms = domain.new_terms();
    let program = terms.parse("do(on(lamp('desk')))").unwrap();
    let pairs: Vec<_> = TEXTS.iter().map(|text| Pair::new(Utterance::new(*text), program)).collect();
    let shape = Compact { hidden, layers: 1, heads: 2, intermediate: 32, ngram_buckets: 16, min_count: 1 };
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.1 };
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &pairs, encoder, seed };
    let settings = ChartSettings { hidden: 16, rare_below: 0, ..ChartSettings::default() };
    let mut model = Model::new(domain, settings.build(blueprint).unwrap(), None);
    model.training = json!({ "note": "random" });
    model
}

/// A decoder of lamps with random weights.
fn decoder(constrained: bool) -> Model {
    let domain = Arc::new(spanwise_domains::load::load(TOY).unwrap());
    let mut terms = domain.new_terms();
    let program = terms.parse("do(blink(lamp('desk'), twice))").unwrap();
    let pairs: Vec<_> = TEXTS.iter().map(|text| Pair::new(Utterance::new(*text), program)).collect();
    let shape = Compact::default();
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.1 };
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &pairs, encoder, seed: 1 };
    let settings = Seq2SeqSettings { hidden: 8, embedding: 6, constrained, ..Seq2SeqSettings::default() };
    Model::new(domain, settings.build(blueprint).unwrap(), None)
}

#[test]
fn a_decoder_parses_the_same_before_and_after_it_was_saved() {
    for constrained in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        decoder(constrained).save(directory.path()).unwrap();
        let details = Details { alternatives: 3, ..Details::default() };
        let parsers = [Parser::new(decoder(constrained), None), Parser::load(directory.path()).unwrap()];
        for text in TEXTS {
            let [a, b] = parsers.each_ref().map(|parser| {
                let outcome = parser.parse_with(Utterance::new(text), details);
                // Without training, only the constraint makes programs of tokens.
                assert!(outcome.parse().is_some() || !constrained || text.is_empty(), "{text}");
                outcome.parse().map(|parse| {
                    let is_well_typed = parser.model().domain.analyze(&parse.terms, parse.program).is_ok();
                    assert!(is_well_typed || !constrained, "{text}");
                    assert!(parse.tree.is_none());
                    (parser.model().written(parse), parse.score.to_bits(), parse.alternatives.clone())
                })
            });
            assert_eq!(a, b, "{text}");
        }
    }
}

/// A model that answers without programs, with random weights.
fn answerer(encoder: EncoderSource<'_>) -> Model {
    let domain = Arc::new(spanwise_domains::load::load(TOY).unwrap());
    let terms = domain.new_terms();
    let context = Arc::new(scene());
    let pair = |(text, answer): (&&str, &str)| Pair {
        utterance: Utterance::new(*text),
        gold: Gold::Answer { answer: answer.to_owned(), context: Arc::clone(&context) },
    };
    let pairs: Vec<Pair> = TEXTS.iter().zip(["yes", "no", "2", "3"]).map(pair).collect();
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &pairs, encoder, seed: 1 };
    Model::new(domain, End2EndSettings::default().build(blueprint).unwrap(), None)
}

fn scene() -> Value {
    json!({"objects": [{"kind": "lamp", "color": "red", "x": 2}, {"kind": "desk", "x": 1}]})
}

#[test]
fn a_model_without_programs_answers_the_same_before_and_after_it_was_saved() {
    let bert = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spanwise-nn/tests/data/tiny-bert");
    let shape = Compact::default();
    for encoder in [
        EncoderSource::Compact { shape: &shape, dropout: 0.1 },
        EncoderSource::Pretrained { directory: &bert, frozen_layers: 1 },
    ] {
        let directory = tempfile::tempdir().unwrap();
        let before = answerer(encoder);
        before.save(directory.path()).unwrap();
        let after = Model::load(directory.path()).unwrap();
        let scene = scene();
        let answers = |model: &Model| {
            let request = |text| Request { context: Some(&scene), ..Request::new(Utterance::new(text)) };
            let outcomes = model.parse_requests(TEXTS.map(request).into());
            let shown = |outcome: Outcome| match outcome {
                Outcome::Answered(answered) => Ok(*answered),
                Outcome::Nothing { reason, .. } => Err(reason),
                Outcome::Found(_) => panic!("it gives no programs"),
            };
            outcomes.into_iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(answers(&before), answers(&after));
        assert!(answers(&after)[0].is_ok() && answers(&after)[3].is_err());
        assert_eq!(before.family.state(), after.family.state());
    }
}

#[test]
fn a_damaged_state_of_a_model_without_programs_is_an_error() {
    let shape = Compact::default();
    let model = answerer(EncoderSource::Compact { shape: &shape, dropout: 0.1 });
    let saved = Saved { directory: tempfile::tempdir().unwrap() };
    let with = |key: &str, value: u64| {
        let mut features = model.family.state()["features"].clone();
        features[key] = value.into();
        features
    };
    let cases = [
        ("answers", json!([]), "there is no answer to choose"),
        ("answers", json!(["b", "a"]), "`answers` is not sorted"),
        ("answers", json!(["a", "b"]), "classes.weight"),
        ("features", with("n_ranks", u64::from(u32::MAX)), "different values of attributes"),
        ("features", with("n_axes", u64::MAX), "different values of attributes"),
        ("features", with("n_ranks", 3), "objects.features.weight"),
        ("extra", json!(1), "unknown field"),
    ];
    for (key, value, expected) in cases {
        model.save(saved.path()).unwrap();
        saved.edit(|model| model["state"][key] = value);
        let error = saved.error();
        assert!(error.contains(expected), "{key}: {error}");
    }
}

/// A pretrained encoder-decoder for lamps, before training.
fn writer(name: &str) -> Model {
    let domain = Arc::new(spanwise_domains::load::load(TOY).unwrap());
    let mut terms = domain.new_terms();
    let program = terms.parse("do(blink(lamp('desk'), twice))").unwrap();
    let pairs: Vec<_> = TEXTS.iter().map(|text| Pair::new(Utterance::new(*text), program)).collect();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spanwise-nn/tests/data").join(name);
    let encoder = EncoderSource::Pretrained { directory: &directory, frozen_layers: 0 };
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &pairs, encoder, seed: 1 };
    Model::new(domain, BartSettings::default().build(blueprint).unwrap(), None)
}

#[test]
fn an_encoder_decoder_is_the_same_before_and_after_it_was_saved() {
    for name in ["tiny-bart", "tiny-marian"] {
        let directory = tempfile::tempdir().unwrap();
        let before = writer(name);
        before.save(directory.path()).unwrap();
        let after = Parser::load(directory.path()).unwrap();
        let [before, after] = [&before, after.model()].map(|model| {
            let family = &model.family;
            let pieces = TEXTS.map(|text| family.tokenizer().encode(&Utterance::new(text)));
            let vectors = family.word_vectors(&pieces.each_ref());
            let outcomes = TEXTS.map(|text| model.parse(Utterance::new(text), Details::default()));
            let shown = outcomes.map(|outcome| match outcome {
                Outcome::Found(parse) => parse.score.to_string(),
                Outcome::Nothing { reason, .. } => reason,
                Outcome::Answered(_) => panic!("it writes programs"),
            });
            (pieces, vectors, shown, family.state())
        });
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn an_encoder_decoder_whose_sizes_changed_is_refused() {
    let saved = Saved { directory: tempfile::tempdir().unwrap() };
    for (path, value, expected) in [
        ("/state/max_length", json!(0), "max_length"),
        ("/state/max_length", json!(1_000_000), "max_length"),
        ("/state/network/end", json!(1_000_000), "eos_token_id"),
        ("/state/network/decoder_layers", json!(3), "decoder.layers.2."),
        ("/state/network/encoder/vocab_size", json!(5), "vocab_size"),
        ("/state/network/encoder/architecture", json!("bert"), "`bart` or `marian`"),
    ] {
        writer("tiny-marian").save(saved.path()).unwrap();
        saved.edit(|model| *model.pointer_mut(path).unwrap() = value);
        let error = saved.error();
        assert!(error.contains(expected), "{path}: {error}");
    }
}

#[test]
fn a_decoder_whose_sizes_or_classes_changed_is_refused() {
    let saved = Saved { directory: tempfile::tempdir().unwrap() };
    for (key, value, expected) in [
        ("max_length", json!(0), "max_length"),
        ("classes", json!(["bulb"]), "bulb"),
        ("tokens", json!([{ "name": "do" }]), "sizes of the decoder"),
    ] {
        decoder(false).save(saved.path()).unwrap();
        saved.edit(|model| model["state"][key] = value);
        let error = saved.error();
        assert!(error.contains(expected), "{key}: {error}");
    }
}

/// A model directory, gone at the end of the test.
struct Saved {
    directory: TempDir,
}

impl Saved {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        model(1, 16).save(directory.path()).unwrap();
        Self { directory }
    }

    /// The path of a file by its role: `model.json`, `weights` or `tokenizer`.
    fn file(&self, role: &str) -> PathBuf {
        let manifest = self.path().join("model.json");
        match role {
            "model.json" => manifest,
            role => {
                let object: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
                self.path().join(object["files"][role]["path"].as_str().unwrap())
            }
        }
    }

    /// Replaces a file and notes its hash in `model.json`, as someone would who edits a model on purpose.
    fn replace(&self, role: &str, bytes: &[u8]) {
        fs::write(self.file(role), bytes).unwrap();
        if role != "model.json" {
            self.edit(|model| model["files"][role]["sha256"] = json!(format!("{:x}", Sha256::digest(bytes))));
        } else if serde_json::from_slice::<Value>(bytes).is_ok_and(|value| value.is_object()) {
            self.edit(|_| {});
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The error of loading what lies there now.
    #[track_caller]
    fn error(&self) -> String {
        match Parser::load(self.path()) {
            Ok(_) => panic!("the model loads"),
            Err(error) => error.to_string(),
        }
    }

    /// Changes the object in `model.json` and its digest, if it has one: so that it is not the digest that fails.
    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let path = self.file("model.json");
        let mut object: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut object);
        let blank = "0".repeat(64);
        if object.get("digest").is_some() {
            object["digest"] = json!(blank);
        }
        let text = object.to_string();
        fs::write(path, text.replacen(&blank, &format!("{:x}", Sha256::digest(&text)), 1)).unwrap();
    }

    /// Replaces the tensors, one by one.
    fn edit_weights(&self, change: impl Fn(&str, &mut Vec<usize>, &mut Vec<f32>)) {
        let mut weights = Weights::open(&self.file("weights")).unwrap();
        let mut tensors = Vec::new();
        for (_, name, shape, _) in model(1, 16).family.params().shapes() {
            let (mut shape, name) = (shape.to_vec(), name.to_owned());
            let mut values = weights.take(&name, &shape).unwrap();
            change(&name, &mut shape, &mut values);
            tensors.push((name, shape, values));
        }
        let tensors: Vec<(&str, &[usize], &[f32])> = tensors
            .iter()
            .filter(|(_, shape, _)| !shape.is_empty())
            .map(|(name, shape, values)| (name.as_str(), shape.as_slice(), values.as_slice()))
            .collect();
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &tensors, &BTreeMap::new()).unwrap();
        self.replace("weights", &bytes);
    }
}

#[test]
fn a_model_parses_the_same_before_and_after_it_was_saved() {
    let details = Details { alternatives: 3, provenance: true, chart: false, rival: false };
    let saved = Saved::new();
    let before = Parser::new(model(1, 16), None);
    let after = Parser::load(saved.path()).unwrap();
    for text in TEXTS {
        let [a, b] = [&before, &after].map(|parser| parser.parse_with(Utterance::new(text), details));
        assert_eq!(a.parse().is_some(), b.parse().is_some(), "{text}");
        let (Some(a), Some(b)) = (a.parse(), b.parse()) else { continue };
        assert_eq!(a.score.to_bits(), b.score.to_bits());
        assert_eq!(a.probability.to_bits(), b.probability.to_bits());
        assert_eq!((&a.tree, &a.alternatives, &a.provenance), (&b.tree, &b.alternatives, &b.provenance));
        assert_eq!(a.terms.display(a.program).to_string(), b.terms.display(b.program).to_string());
    }
}

#[test]
fn saving_twice_gives_the_same_bytes_and_replaces_what_was_there() {
    let saved = Saved::new();
    let roles = ["model.json", "tokenizer", "weights"];
    let bytes = |saved: &Saved| roles.map(|role| fs::read(saved.file(role)).unwrap());
    let first = bytes(&saved);
    Parser::load(saved.path()).unwrap().into_model().save(saved.path()).unwrap();
    assert!(first == bytes(&saved));
    fs::write(saved.path().join("notes.txt"), "mine").unwrap();
    model(2, 16).save(saved.path()).unwrap();
    assert!(first[2] != bytes(&saved)[2]);
    let left = fs::read_dir(saved.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut expected = roles.map(|role| saved.file(role)).to_vec();
    expected.push(saved.path().join("notes.txt"));
    assert_eq!(left.collect::<BTreeSet<_>>(), expected.into_iter().collect());
}

#[test]
fn a_missing_file_is_named() {
    for role in ["tokenizer", "weights"] {
        let saved = Saved::new();
        fs::remove_file(saved.file(role)).unwrap();
        let error = saved.error();
        assert!(error.contains(role), "{error}");
    }
    let saved = Saved::new();
    fs::remove_file(saved.file("model.json")).unwrap();
    assert!(saved.error().contains("is not a model directory"));
    assert!(Parser::load("/nowhere/at/all").is_err());
}

#[test]
fn a_file_that_is_not_the_one_that_was_saved_is_refused() {
    for role in ["tokenizer", "weights"] {
        let saved = Saved::new();
        let mut bytes = fs::read(saved.file(role)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(saved.file(role), bytes).unwrap();
        let error = saved.error();
        assert!(error.contains(role) && error.contains("SHA-256"), "{error}");
    }
    let saved = Saved::new();
    saved.edit(|model| model["files"]["weights"]["path"] = json!("../weights"));
    assert!(saved.error().contains("not the name of a file beside it"));
}

#[test]
fn files_cut_short_or_full_of_nonsense_are_errors_and_never_panics() {
    for role in ["model.json", "tokenizer", "weights"] {
        let whole = fs::read(Saved::new().file(role)).unwrap();
        let cuts = [0, 1, 7, 8, 9, whole.len() / 3, whole.len() / 2, whole.len() - 2];
        let cut = cuts.iter().map(|&cut| whole[..cut].to_vec());
        let nonsense = [b"nonsense".to_vec(), vec![0; 64], vec![0xff; 64], b"[]".to_vec(), b"{}".to_vec()];
        for bytes in cut.chain(nonsense) {
            let saved = Saved::new();
            saved.replace(role, &bytes);
            assert!(!saved.error().is_empty(), "{role}: {bytes:?}");
        }
    }
}

#[test]
fn one_changed_byte_never_panics() {
    for role in ["model.json", "tokenizer", "weights"] {
        let whole = fs::read(Saved::new().file(role)).unwrap();
        for step in 0..60 {
            let saved = Saved::new();
            let mut bytes = whole.clone();
            let at = (step * 7919) % bytes.len().min(4000);
            bytes[at] ^= 1 << (step % 8);
            saved.replace(role, &bytes);
            if let Ok(parser) = Parser::load(saved.path()) {
                let _ = parser.parse(TEXTS[0]);
            }
        }
    }
}

#[test]
fn a_model_of_a_newer_program_asks_for_an_update() {
    let saved = Saved::new();
    saved.edit(|model| model["version"] = json!(FORMAT_VERSION + 1));
    let error = saved.error();
    assert!(
        error.contains(&format!("version {}", FORMAT_VERSION + 1)) && error.contains("update"),
        "{error}"
    );
    saved.edit(|model| model["version"] = json!(0));
    assert!(saved.error().contains("version"));
    saved.edit(|model| model["format"] = json!("something else"));
    assert!(saved.error().contains("spanwise-model"));
}

#[test]
fn a_domain_that_changed_under_the_weights_is_refused() {
    let change = |from: &str, to: &str| {
        let saved = Saved::new();
        saved.edit(|model| {
            let source = model["domain"]["source"].as_str().unwrap().replace(from, to);
            assert_ne!(model["domain"]["source"], source);
            model["domain"]["source"] = json!(source);
        });
        saved
    };
    let error = change("thrice", "often").error();
    assert!(error.contains("`thrice` is now `often`") && error.contains("train again"), "{error}");
    let error = change("twice = \"Times\"", "twice = \"Nonsense\"").error();
    assert!(error.contains("does not load") && error.contains("Nonsense"), "{error}");
    let saved = Saved::new();
    saved.edit(|model| model["domain"]["tables"] = json!([]));
    assert!(saved.error().contains("lamps.tsv"));
}

#[test]
fn names_may_be_added_to_the_table_inside_a_model() {
    let saved = Saved::new();
    saved.edit(|model| {
        let rows = model["domain"]["tables"][0]["rows"].as_array_mut().unwrap();
        let mut row = rows[1].clone();
        row[1][0] = json!("porch");
        rows.push(row);
    });
    let outcome = Parser::load(saved.path()).unwrap().parse("turn on the porch lamp");
    let parse = outcome.parse().unwrap();
    assert!(parse.terms.display(parse.program).to_string().contains("porch"));
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    for bad in [f32::NAN, f32::INFINITY] {
        let saved = Saved::new();
        saved.edit_weights(|name, _, values| {
            if name == "head.out.weight" {
                values[3] = bad;
            }
        });
        let error = saved.error();
        assert!(error.contains("head.out.weight") && error.contains("finite"), "{error}");
    }
}

#[test]
fn weights_of_another_shape_are_refused() {
    let saved = Saved::new();
    saved.edit_weights(|name, shape, _| {
        if name == "head.out.weight" {
            shape.reverse();
        }
    });
    let error = saved.error();
    assert!(error.contains("head.out.weight") && error.contains("shape"), "{error}");
    let saved = Saved::new();
    saved.edit_weights(|name, shape, _| {
        if name == "tables.rules" {
            shape.clear();
        }
    });
    let error = saved.error();
    assert!(error.contains("tables.rules"), "{error}");
    // All files of one model, the weights of another.
    let saved = Saved::new();
    let other = tempfile::tempdir().unwrap();
    model(1, 32).save(other.path()).unwrap();
    let other = Saved { directory: other };
    saved.replace("weights", &fs::read(other.file("weights")).unwrap());
    assert!(saved.error().contains("shape"));
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    // Some of these would take gigabytes, and end the process if they were allocated.
    for (key, value) in [
        ("heads", 3),
        ("heads", 0),
        ("hidden", 0),
        ("vocab_size", 1),
        ("layers", 1_000_000_000),
        ("layers", 10_000_000),
        ("hidden", 10_000_000),
        ("vocab_size", 10_000_000),
        ("intermediate", 10_000_000),
        ("relative_buckets", 10_000_000),
        ("max_positions", 10_000_000),
    ] {
        let saved = Saved::new();
        saved.edit(|model| model["state"]["encoder"][key] = json!(value));
        assert!(!saved.error().is_empty(), "{key} {value}");
    }
    for (key, value) in [("hidden", 1_u64 << 60), ("max_words", u64::MAX), ("max_words", 0)] {
        let saved = Saved::new();
        saved.edit(|model| {
            model["settings"][key] = json!(value);
            model["state"]["head"]["hidden"] = model["settings"]["hidden"].clone();
        });
        assert!(saved.error().contains(key), "{key} {value}");
    }
    let saved = Saved::new();
    saved.edit(|model| model["state"]["head"]["n_labels"] = json!(7));
    assert!(saved.error().contains("train again"));
}

#[test]
fn a_model_is_not_saved_into_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = model(1, 16).save(&file).unwrap_err().to_string();
    assert!(error.contains("file"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

/// The model of [`model`] with a confidence as training would leave it.
fn calibrated() -> Model {
    let mut model = model(1, 16);
    let prototypes: Vec<f32> = (0..48).map(|at| if at % 17 == 0 { 1.0 } else { 0.0 }).collect();
    let scale = Scale { center: 0.5, width: 0.05 };
    let vocabulary = ["light", "the"].map(str::to_owned).into();
    let mut words = WordCounts::default();
    words.add("light", ReadAs::Predicate("light"));
    words.add("the", ReadAs::Null);
    model.confidence = Confidence {
        calibration: Calibration { slope: 1.5, offset: -0.25 },
        novelty: Some(Novelty { width: 16, prototypes, scale, vocabulary }),
        answerability: Some(Answerability {
            weights: (0..32).map(|at| 0.125 * at as f32 - 1.0).collect(),
            bias: -0.5,
            calibration: Calibration { slope: 0.75, offset: 0.25 },
        }),
        threshold: Some(0.25),
        words,
        effects: Effects(ByKind { numbers: 2.5, unknown: 1.25, ..ByKind::default() }),
    };
    model
}

#[test]
fn confidence_is_the_same_before_and_after_it_was_saved() {
    let directory = tempfile::tempdir().unwrap();
    calibrated().save(directory.path()).unwrap();
    let (before, after) = (Parser::new(calibrated(), None), Parser::load(directory.path()).unwrap());
    assert_eq!(before.model().confidence, after.model().confidence);
    assert_eq!(after.model().training, json!({ "note": "random" }));
    let details = Details { alternatives: 3, ..Details::default() };
    let [a, b] = [&before, &after].map(|parser| parser.parse_with(Utterance::new(TEXTS[0]), details));
    let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
    assert_eq!(a.probability.to_bits(), b.probability.to_bits());
    assert_eq!((a.in_domain, &a.unknown_words), (b.in_domain, &b.unknown_words));
    let expected = a.in_domain * before.model().confidence.calibration.of(a.posterior);
    // Words that were not counted, and are left out, lower it further.
    assert!(!a.unread.is_empty() && a.probability < expected && a.in_domain < 1.0);
    let total = a.probability + a.alternatives.iter().map(|other| other.probability).sum::<f64>();
    assert!(total <= 1.0 && a.alternatives.iter().all(|other| other.probability <= a.probability));
}

/// A model that an older version of the program saved, in a directory of its own.
fn fixture(version: &str) -> Saved {
    let directory = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version);
    for entry in fs::read_dir(from).unwrap().flatten() {
        fs::copy(entry.path(), directory.path().join(entry.file_name())).unwrap();
    }
    Saved { directory }
}

/// What the program that saved the fixtures printed: utterance, program, posterior and calibrated probability.
const RECORDED: [(&str, &str, f64, f64); 2] = [
    ("turn on the hall lamp", "do(on(lamp('hall')))", 0.997_939_298_106_837_9, 0.998_965_480_031_989_5),
    (
        "blink the desk lamp twice",
        "do(blink(lamp('desk'), twice))",
        0.945_306_100_792_684_7,
        0.960_159_465_958_613_3,
    ),
];

#[test]
fn models_of_every_format_version_load_and_parse_as_they_did() {
    for (version, is_calibrated) in [("v1", false), ("v2", true), ("v3", true), ("v4", true)] {
        let saved = fixture(version);
        let parser = Parser::load(saved.path()).unwrap();
        for (utterance, program, posterior, probability) in RECORDED {
            let outcome = parser.parse(utterance);
            let parse = outcome.parse().unwrap();
            assert_eq!(parse.terms.display(parse.program).to_string(), program, "{version}");
            let expected = if is_calibrated { probability } else { posterior };
            assert!((parse.posterior - posterior).abs() < 1e-6, "{version}: {}", parse.posterior);
            assert!((parse.probability - expected).abs() < 1e-6, "{version}: {}", parse.probability);
        }
        assert_eq!(parser.model().confidence == Confidence::default(), !is_calibrated);
        assert_eq!(format!("v{}", parser.model().format_version), version);
    }
    assert_eq!(FORMAT_VERSION, 4, "a new version needs a fixture");
}

#[test]
fn an_older_model_that_is_saved_again_becomes_a_new_one_without_its_old_files() {
    for version in ["v1", "v2", "v3"] {
        let saved = fixture(version);
        let before = Parser::load(saved.path()).unwrap().parse(RECORDED[0].0);
        Model::load(saved.path()).unwrap().save(saved.path()).unwrap();
        let after = Parser::load(saved.path()).unwrap().parse(RECORDED[0].0);
        let posterior = |outcome: &Outcome| outcome.parse().unwrap().posterior.to_bits();
        assert_eq!(posterior(&before), posterior(&after));
        assert!(!saved.path().join("weights.safetensors").exists());
        saved.edit(|model| assert_eq!(model["version"], json!(FORMAT_VERSION)));
    }
}

#[test]
fn a_directory_that_is_replaced_while_it_is_read_loads_as_old_or_new() {
    let saved = Saved::new();
    let directory = saved.path().to_owned();
    let programs: Vec<String> = [1, 2].map(|seed| describe(&model(seed, 16))).to_vec();
    let writer = thread::spawn(move || {
        for round in 0..20 {
            model(1 + round % 2, 16).save(&directory).unwrap();
        }
    });
    while !writer.is_finished() {
        let found = describe(&Model::load(saved.path()).unwrap());
        assert!(programs.contains(&found), "{found}");
    }
    writer.join().unwrap();
}

#[test]
fn saves_at_the_same_time_leave_a_model_that_loads() {
    for _ in 0..10 {
        let saved = Saved::new();
        thread::scope(|scope| {
            for seed in 2..5 {
                let directory = saved.path();
                scope.spawn(move || model(seed, 16).save(directory).unwrap());
            }
        });
        assert!(Model::load(saved.path()).is_ok());
        assert_eq!(fs::read_dir(saved.path()).unwrap().count(), 3);
    }
}

#[test]
fn saving_removes_no_file_that_only_a_manifest_names() {
    let saved = Saved::new();
    fs::write(saved.path().join("notes.txt"), "mine").unwrap();
    for path in ["notes.txt", "model.json"] {
        let sha256 = format!("{:x}", Sha256::digest(fs::read(saved.path().join(path)).unwrap()));
        saved.edit(|model| model["files"]["executor"] = json!({ "x": { "path": path, "sha256": sha256 } }));
        model(2, 16).save(saved.path()).unwrap();
        assert!(saved.path().join("notes.txt").exists() && Model::load(saved.path()).is_ok());
    }
}

#[cfg(unix)]
#[test]
fn saving_through_links_replaces_the_links_and_leaves_their_targets() {
    let (blobs, links) = (Saved::new(), tempfile::tempdir().unwrap());
    for entry in fs::read_dir(blobs.path()).unwrap().flatten() {
        std::os::unix::fs::symlink(entry.path(), links.path().join(entry.file_name())).unwrap();
    }
    let before = describe(&Model::load(blobs.path()).unwrap());
    model(2, 16).save(links.path()).unwrap();
    assert_eq!(describe(&Model::load(blobs.path()).unwrap()), before);
    assert_ne!(describe(&Model::load(links.path()).unwrap()), before);
}

fn describe(model: &Model) -> String {
    match model.parse(Utterance::new(TEXTS[0]), Details::default()).parse() {
        Some(parse) => format!("{} {}", parse.terms.display(parse.program), parse.score.to_bits()),
        None => "nothing".to_owned(),
    }
}

/// The domain of lamps with a command as its executor, and its directory.
fn with_executor() -> (TempDir, Arc<Domain>) {
    let home = tempfile::tempdir().unwrap();
    let source = fs::read_to_string(TOY).unwrap();
    let source = format!("{source}\n[executor]\ncommand = [\"python3\", \"./tool.py\"]\n");
    fs::write(home.path().join("lamps.toml"), source).unwrap();
    fs::write(home.path().join("tool.py"), "print('hello')").unwrap();
    fs::copy(Path::new(TOY).with_file_name("lamps.tsv"), home.path().join("lamps.tsv")).unwrap();
    let path = home.path().join("lamps.toml");
    let domain = Arc::new(spanwise_domains::load::load(path.to_str().unwrap()).unwrap());
    (home, domain)
}

#[test]
fn the_files_of_an_executor_are_part_of_the_model_and_follow_it() {
    let (home, domain) = with_executor();
    let model = Model::new(domain, model(1, 16).family, Some(home.path()));
    let [one, two] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    model.save(one.path()).unwrap();
    fs::remove_dir_all(home.path()).unwrap();
    // Loaded and saved elsewhere, as `calibrate --out` does.
    Model::load(one.path()).unwrap().save(two.path()).unwrap();
    fs::remove_dir_all(one.path()).unwrap();
    let names = fs::read_dir(two.path()).unwrap().map(|entry| entry.unwrap().path());
    let scripts: Vec<PathBuf> =
        names.filter(|path| path.extension().is_some_and(|kind| kind == "py")).collect();
    assert_eq!(scripts.len(), 1);
    assert_eq!(fs::read_to_string(&scripts[0]).unwrap(), "print('hello')");
    assert!(Parser::load(two.path()).is_ok());
}

/// The model of lamps with an executor whose command names this file, which is beside the domain file.
fn with_file(home: &Path, word: &str) -> Model {
    let source = fs::read_to_string(TOY).unwrap();
    let source = format!("{source}\n[executor]\ncommand = [\"sh\", \"{word}\"]\n");
    fs::write(home.join("lamps.toml"), source).unwrap();
    fs::copy(Path::new(TOY).with_file_name("lamps.tsv"), home.join("lamps.tsv")).unwrap();
    let domain = Arc::new(spanwise_domains::load::load(home.join("lamps.toml").to_str().unwrap()).unwrap());
    Model::new(domain, model(1, 16).family, Some(home))
}

#[test]
fn a_file_of_an_executor_may_have_the_longest_name_there_is() {
    let [home, out] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let word = format!("{}.sh", "x".repeat(252));
    fs::write(home.path().join(&word), "echo").unwrap();
    with_file(home.path(), &word).save(out.path()).unwrap();
    let executor = Model::load(out.path()).unwrap().external_executor().unwrap().unwrap();
    assert_eq!((executor.argv.as_slice(), executor.files.len()), (&["sh".to_owned(), word][..], 1));
}

#[cfg(unix)]
#[test]
fn a_model_includes_no_copy_of_what_a_link_points_to_elsewhere() {
    let [home, out] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink("/etc/passwd", home.path().join("x")).unwrap();
    let message = with_file(home.path(), "./x").save(out.path()).unwrap_err().to_string();
    assert!(message.contains("names the file `./x`, which is a link out of the directory"), "{message}");
    assert!(!out.path().join("model.json").exists());
}

#[cfg(unix)]
#[test]
fn words_in_a_manifest_that_leave_the_directory_are_no_files() {
    let [home, out] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    fs::write(home.path().join("run.sh"), "echo").unwrap();
    with_file(home.path(), "run.sh").save(out.path()).unwrap();
    let saved = Saved { directory: out };
    saved.edit(|model| {
        let entry = model["files"]["executor"]["run.sh"].clone();
        let source = model["domain"]["source"].as_str().unwrap().replace("\"run.sh\"", "\"../../run.sh\"");
        model["domain"]["source"] = json!(source);
        model["files"]["executor"] = json!({ "../../run.sh": entry });
    });
    let executor = Model::load(saved.path()).unwrap().external_executor().unwrap().unwrap();
    assert_eq!((executor.argv[1].as_str(), executor.files.len()), ("../../run.sh", 0));
}

#[test]
fn a_confidence_that_cannot_be_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    calibrated().save(directory.path()).unwrap();
    let saved = Saved { directory };
    let whole = fs::read(saved.file("model.json")).unwrap();
    for (change, text) in [
        (json!({ "calibration": { "slope": -1.0, "offset": 0.0 }, "novelty": null }), "slope"),
        (json!({ "calibration": { "slope": 1.0 }, "novelty": null }), "offset"),
        (
            json!({ "calibration": { "slope": 1.0, "offset": 0.0 }, "novelty": { "n_prototypes": 3,
            "scale": { "center": 0.5, "width": 0.0 }, "vocabulary": [] } }),
            "width",
        ),
        (
            json!({ "calibration": { "slope": 1.0, "offset": 0.0 }, "novelty": { "n_prototypes": 4,
            "scale": { "center": 0.5, "width": 0.1 }, "vocabulary": [] } }),
            "confidence.prototypes",
        ),
    ] {
        fs::write(saved.file("model.json"), &whole).unwrap();
        saved.edit(|model| model["confidence"] = change);
        let error = saved.error();
        assert!(error.contains(text), "{error}");
    }
    // The weights of a model that never had one.
    fs::write(saved.file("model.json"), &whole).unwrap();
    let other = Saved::new();
    saved.replace("weights", &fs::read(other.file("weights")).unwrap());
    assert!(saved.error().contains("confidence.prototypes"));
}

#[test]
fn words_of_names_are_known_and_other_words_are_not_names() {
    let model = model(1, 16);
    let is_name = model.domain.lexicon().is_name(&Utterance::new("light the guest room and the Hall"));
    assert_eq!(is_name, [false, false, true, true, false, false, true]);
}
