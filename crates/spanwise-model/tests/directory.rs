//! Models on disk: what is written is what is read, and whatever else lies there is an error in words.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_model::confidence::{Calibration, Confidence, Novelty, Scale};
use spanwise_model::{Details, FORMAT_VERSION, Labels, Model, Parser, Settings};
use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig, Weights, write_safetensors};
use spanwise_nn::tokenizer::WordTable;
use spanwise_nn::{Network, Tokenizer};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const TOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spanwise-train/tests/toy/lamps.toml");
const TEXTS: [&str; 4] =
    ["turn on the hall lamp", "blink the desk twice and light the guest room", "nothing to see", ""];

/// A model of lamps with random weights.
fn model(seed: u64, hidden: usize) -> Model {
    let domain = spanwise_domains::load::load(TOY).unwrap();
    let words: Vec<Utterance> = TEXTS.iter().map(|text| Utterance::new(*text)).collect();
    let tokenizer = Tokenizer::Words(WordTable::from_utterances(&words, 1).with_buckets(16));
    let settings = Settings { hidden: 16, ..Settings::default() };
    let labels = Labels::new(&domain);
    let shape = EncoderConfig {
        architecture: Architecture::Compact,
        vocab_size: tokenizer.vocab_size(),
        hidden,
        layers: 1,
        heads: 2,
        intermediate: 32,
        max_positions: 64,
        type_vocab: 0,
        layer_norm_eps: 1e-5,
        dropout: 0.1,
        position_offset: 0,
        relative_buckets: 8,
        activation: Activation::Gelu,
    };
    let head = Model::head(&labels, &settings);
    let network = Network::from_scratch(shape, tokenizer.n_buckets(), head, seed).unwrap();
    Model::new(domain, settings, labels, tokenizer, network)
}

/// A model directory, gone at the end of the test.
struct Saved {
    directory: TempDir,
}

impl Saved {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        model(1, 16).save(directory.path(), json!({ "note": "random" })).unwrap();
        Self { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The error of loading what lies there now.
    #[track_caller]
    fn error(&self) -> String {
        match Parser::load(self.path()) {
            Ok(_) => panic!("the model loads"),
            Err(error) => error.to_string(),
        }
    }

    /// Changes the object in `model.json`.
    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let path = self.file("model.json");
        let mut object = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut object);
        fs::write(path, object.to_string()).unwrap();
    }

    /// Replaces the tensors, one by one.
    fn edit_weights(&self, change: impl Fn(&str, &mut Vec<usize>, &mut Vec<f32>)) {
        let path = self.file("weights.safetensors");
        let mut weights = Weights::open(&path).unwrap();
        let mut tensors = Vec::new();
        for (_, name, shape, _) in model(1, 16).network.params.shapes() {
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
        write_safetensors(&mut fs::File::create(&path).unwrap(), &tensors, &BTreeMap::new()).unwrap();
    }
}

#[test]
fn a_model_parses_the_same_before_and_after_it_was_saved() {
    let details = Details { alternatives: 3, provenance: true };
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
    let names = ["model.json", "tokenizer.json", "weights.safetensors"];
    let bytes = |saved: &Saved| names.map(|name| fs::read(saved.file(name)).unwrap());
    let first = bytes(&saved);
    Parser::load(saved.path()).unwrap().into_model().save(saved.path(), json!({ "note": "random" })).unwrap();
    assert!(first == bytes(&saved));
    model(2, 16).save(saved.path(), Value::Null).unwrap();
    assert!(first[2] != bytes(&saved)[2]);
    let mut left: Vec<String> = fs::read_dir(saved.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, names);
}

#[test]
fn a_missing_file_is_named() {
    for name in ["tokenizer.json", "weights.safetensors"] {
        let saved = Saved::new();
        fs::remove_file(saved.file(name)).unwrap();
        let error = saved.error();
        assert!(error.contains(name), "{error}");
    }
    let saved = Saved::new();
    fs::remove_file(saved.file("model.json")).unwrap();
    assert!(saved.error().contains("is not a model directory"));
    assert!(Parser::load("/nowhere/at/all").is_err());
}

#[test]
fn files_cut_short_or_full_of_nonsense_are_errors_and_never_panics() {
    for name in ["model.json", "tokenizer.json", "weights.safetensors"] {
        let saved = Saved::new();
        let whole = fs::read(saved.file(name)).unwrap();
        let cuts = [0, 1, 7, 8, 9, whole.len() / 3, whole.len() / 2, whole.len() - 2];
        for cut in cuts {
            fs::write(saved.file(name), &whole[..cut]).unwrap();
            let error = saved.error();
            assert!(!error.is_empty(), "{name} cut at {cut}");
        }
        for nonsense in [b"nonsense".to_vec(), vec![0; 64], vec![0xff; 64], b"[]".to_vec(), b"{}".to_vec()] {
            fs::write(saved.file(name), &nonsense).unwrap();
            assert!(!saved.error().is_empty());
        }
    }
}

#[test]
fn one_changed_byte_never_panics() {
    for name in ["model.json", "tokenizer.json", "weights.safetensors"] {
        let saved = Saved::new();
        let whole = fs::read(saved.file(name)).unwrap();
        for step in 0..60 {
            let mut bytes = whole.clone();
            let at = (step * 7919) % bytes.len().min(4000);
            bytes[at] ^= 1 << (step % 8);
            fs::write(saved.file(name), &bytes).unwrap();
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
    model(1, 32).save(other.path(), Value::Null).unwrap();
    fs::copy(other.path().join("weights.safetensors"), saved.file("weights.safetensors")).unwrap();
    assert!(saved.error().contains("shape"));
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    for (key, value) in
        [("heads", 3), ("heads", 0), ("hidden", 0), ("vocab_size", 1), ("layers", 1_000_000_000)]
    {
        let saved = Saved::new();
        saved.edit(|model| model["encoder"][key] = json!(value));
        assert!(!saved.error().is_empty());
    }
    let saved = Saved::new();
    saved.edit(|model| model["head"]["n_labels"] = json!(7));
    assert!(saved.error().contains("train again"));
}

#[test]
fn a_model_is_not_saved_into_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = model(1, 16).save(&file, Value::Null).unwrap_err().to_string();
    assert!(error.contains("file"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

/// The model of [`model`] with a confidence as training would leave it.
fn trusted() -> Model {
    let mut model = model(1, 16);
    let prototypes: Vec<f32> = (0..48).map(|at| if at % 17 == 0 { 1.0 } else { 0.0 }).collect();
    let scale = Scale { center: 0.5, width: 0.05 };
    let vocabulary = ["light", "the"].map(str::to_owned).into();
    model.confidence = Confidence {
        calibration: Calibration { slope: 1.5, offset: -0.25 },
        novelty: Some(Novelty { width: 16, prototypes, scale, vocabulary }),
    };
    model
}

#[test]
fn confidence_is_the_same_before_and_after_it_was_saved() {
    let directory = tempfile::tempdir().unwrap();
    trusted().save(directory.path(), json!({ "note": 7 })).unwrap();
    let (before, after) = (Parser::new(trusted(), None), Parser::load(directory.path()).unwrap());
    assert_eq!(before.model().confidence, after.model().confidence);
    assert_eq!(Model::training_notes(directory.path()).unwrap(), json!({ "note": 7 }));
    let details = Details { alternatives: 3, provenance: false };
    let [a, b] = [&before, &after].map(|parser| parser.parse_with(Utterance::new(TEXTS[0]), details));
    let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
    assert_eq!(a.probability.to_bits(), b.probability.to_bits());
    assert_eq!((a.in_domain, &a.unknown_words), (b.in_domain, &b.unknown_words));
    let expected = a.in_domain * before.model().confidence.calibration.of(a.posterior);
    assert!((a.probability - expected).abs() < 1e-12 && a.in_domain < 1.0);
    let total = a.probability + a.alternatives.iter().map(|other| other.probability).sum::<f64>();
    assert!(total <= 1.0 && a.alternatives.iter().all(|other| other.probability <= a.probability));
}

#[test]
fn a_model_of_the_first_version_loads_and_says_what_its_chart_says() {
    let saved = Saved::new();
    saved.edit(|model| {
        model["version"] = json!(1);
        model.as_object_mut().unwrap().remove("confidence").unwrap();
    });
    let parser = Parser::load(saved.path()).unwrap();
    assert_eq!(parser.model().confidence, Confidence::default());
    let outcome = parser.parse(TEXTS[0]);
    let parse = outcome.parse().unwrap();
    assert_eq!((parse.probability.to_bits(), parse.in_domain), (parse.posterior.to_bits(), 1.0));
    assert!(parse.unknown_words.is_empty());
}

#[test]
fn a_confidence_that_cannot_be_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    trusted().save(directory.path(), Value::Null).unwrap();
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
    fs::copy(other.file("weights.safetensors"), saved.file("weights.safetensors")).unwrap();
    assert!(saved.error().contains("confidence.prototypes"));
}

#[test]
fn words_of_names_are_known_and_other_words_are_not_names() {
    let model = model(1, 16);
    let is_name = model.is_name(&Utterance::new("light the guest room and the Hall"));
    assert_eq!(is_name, [false, false, true, true, false, false, true]);
}
