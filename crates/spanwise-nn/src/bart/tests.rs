//! Compares both kinds of models with the reference implementation, whose values `tools/reference_bart.py` recorded.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::pretrained::{ConfigError, write_safetensors};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const NAMES: [&str; 2] = ["tiny-bart", "tiny-marian"];
const SILENT: Noise = Noise { dropout: 0.0, seed: 0 };
/// The largest difference that is let pass.
const TOLERANCE: f64 = 1e-5;

#[derive(Deserialize)]
struct Reference {
    texts: Vec<Text>,
    steps: usize,
    greedy: Vec<Vec<u32>>,
}

#[derive(Deserialize)]
struct Text {
    read: Vec<u32>,
    written: Vec<u32>,
    logits: Vec<Vec<f64>>,
    loss: f64,
}

fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn reference(name: &str) -> Reference {
    serde_json::from_slice(&fs::read(dir(name).join("reference.json")).unwrap()).unwrap()
}

fn network(name: &str) -> Bart {
    let config = BartConfig::read(&dir(name).join("config.json")).unwrap();
    let mut weights = Weights::open(&dir(name)).unwrap();
    let network = Bart::pretrained(config, &mut weights, None, 0).unwrap();
    assert_eq!(weights.remaining().collect::<Vec<_>>(), Vec::<&str>::new());
    network
}

/// Pieces of one word each but for the last, which ends a text.
fn pieces(ids: &[u32]) -> Pieces {
    let words = (0..ids.len() as u32 - 1).map(|at| (at, at)).collect();
    Pieces { ids: ids.to_vec(), words, ..Pieces::default() }
}

/// Texts of different lengths, with what is to be written.
struct Case {
    network: Bart,
    texts: Vec<(Pieces, Vec<u32>)>,
}

impl Case {
    fn new(name: &str) -> Self {
        let texts = reference(name).texts;
        let texts = texts.into_iter().map(|text| (pieces(&text.read), text.written)).collect();
        Self { network: network(name), texts }
    }

    fn lessons(&self) -> Vec<Lesson<'_>> {
        let texts = [1.0, 2.0, 3.0].into_iter().zip(&self.texts);
        texts.map(|(weight, (pieces, target))| Lesson { pieces, target, weight }).collect()
    }

    fn losses(&self, lessons: &[Lesson<'_>]) -> Vec<f64> {
        self.network.gradients(lessons, SILENT, <[f64]>::to_vec).1
    }

    fn weighted_loss(&self) -> f64 {
        let lessons = self.lessons();
        self.losses(&lessons).iter().zip(&lessons).map(|(loss, it)| loss * f64::from(it.weight)).sum()
    }

    /// The log-probabilities at each place of a target, all at once.
    fn rows(&self, lesson: Lesson<'_>) -> Vec<Vec<f32>> {
        let found = self.network.log_probabilities(&self.network.params.view(false), &[lesson], &mut None);
        let columns = found.dims()[1];
        numbers(found).chunks_exact(columns).map(<[f32]>::to_vec).collect()
    }
}

fn assert_near(a: &[f32], b: &[f32], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let most = a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max);
    assert!(most <= tolerance, "the largest difference is {most:e}");
}

#[test]
fn scores_and_losses_are_those_of_the_reference() {
    for name in NAMES {
        let (case, reference) = (Case::new(name), reference(name));
        let mut worst: f64 = 0.0;
        for (lesson, text) in case.lessons().iter().zip(&reference.texts) {
            let rows = case.rows(*lesson);
            assert_eq!(rows.len(), text.logits.len());
            for (found, expected) in rows.iter().zip(&text.logits) {
                // Probabilities have lost the sum of all scores: differences of scores are compared.
                let shift = expected[0] - f64::from(found[0]);
                let differences = found.iter().zip(expected).map(|(a, b)| (f64::from(*a) + shift - b).abs());
                worst = differences.fold(worst, f64::max);
            }
            worst = worst.max((case.losses(&[*lesson])[0] - text.loss).abs() / text.written.len() as f64);
        }
        println!("{name}: largest difference {worst:.1e}");
        assert!(worst <= TOLERANCE, "{name}: the largest difference is {worst:e}");
    }
}

#[test]
fn greedy_search_writes_what_the_reference_writes() {
    for name in NAMES {
        let (case, reference) = (Case::new(name), reference(name));
        for ((pieces, _), expected) in case.texts.iter().zip(&reference.greedy) {
            let decoding = case.network.read(&[pieces]).remove(0);
            let (mut state, mut piece) = decoding.start();
            let mut written = Vec::new();
            for _ in 0..reference.steps {
                let (next, found) = decoding.step(&[(&state, piece)]).remove(0);
                piece = (0..).zip(&found).max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
                state = next;
                written.push(piece);
            }
            assert_eq!(&written, expected, "{name}");
        }
    }
}

#[test]
fn cached_steps_give_what_a_whole_pass_gives() {
    for name in NAMES {
        let case = Case::new(name);
        let batch: Vec<&Pieces> = case.texts.iter().map(|(pieces, _)| pieces).collect();
        for (decoding, lesson) in case.network.read(&batch).iter().zip(case.lessons()) {
            let (mut state, mut piece) = decoding.start();
            let (other, _) = decoding.start();
            for (expected, &written) in case.rows(lesson).iter().zip(lesson.target) {
                // Another text in the same step, of the same length or not, has no influence.
                let mut found = decoding.step(&[(&state, piece), (&state, 4), (&other, 5)]);
                let (next, row) = found.swap_remove(0);
                assert_near(&row, expected, TOLERANCE);
                (state, piece) = (next, written);
            }
            assert!((case.rows(lesson)[0].iter().map(|x| x.exp()).sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    const STEP: f32 = 4e-3;
    for name in NAMES {
        let mut case = Case::new(name);
        let (gradients, _) = case.network.gradients(&case.lessons(), SILENT, |_| ());
        let shapes =
            case.network.params.shapes().map(|(id, name, _, trained)| (id, name.to_owned(), trained));
        let shapes: Vec<_> = shapes.collect();
        for ((id, name, is_trained), gradient) in shapes.into_iter().zip(gradients) {
            assert_eq!(gradient.is_some(), is_trained, "{name}");
            assert_eq!(is_trained, name != "final_logits_bias");
            let Some(gradient) = gradient else { continue };
            let values = case.network.params.values(id);
            // A few values of each, spread over all rows.
            for at in (0..values.len()).step_by((values.len() / 5).max(1) | 1) {
                let mut with = |change: f32| {
                    let mut moved = values.clone();
                    moved[at] += change;
                    case.network.params.set(id, moved);
                    case.weighted_loss()
                };
                let expected = (with(STEP) - with(-STEP)) / f64::from(2.0 * STEP);
                let found = f64::from(gradient[at]);
                assert!(
                    (found - expected).abs() < 2e-2 * (1.0 + expected.abs()),
                    "{name} {at}: {found} {expected}"
                );
            }
            case.network.params.set(id, values);
        }
    }
}

#[test]
fn a_batch_gives_what_its_items_give_one_by_one() {
    for name in NAMES {
        let case = Case::new(name);
        let lessons = case.lessons();
        let together = case.losses(&lessons);
        for (loss, lesson) in together.iter().zip(&lessons) {
            let alone = case.losses(&[*lesson])[0];
            assert!((loss - alone).abs() < 1e-4, "{loss} {alone}");
        }
        let batch: Vec<&Pieces> = case.texts.iter().map(|(pieces, _)| pieces).collect();
        for (together, pieces) in case.network.read(&batch).iter().zip(&batch) {
            let alone = case.network.read(&[pieces]).remove(0);
            assert_eq!(alone.word_vectors.len(), pieces.words.len() * case.network.encoder().hidden);
            assert_near(&together.word_vectors, &alone.word_vectors, TOLERANCE);
            assert_near(&case.network.word_vectors(&[pieces])[0], &alone.word_vectors, TOLERANCE);
        }
        let noisy = |seed| case.network.gradients(&lessons, Noise { dropout: 0.4, seed }, <[f64]>::to_vec);
        assert_eq!(noisy(1), noisy(1));
        assert_ne!(noisy(1), noisy(2));
    }
}

#[test]
fn a_smaller_table_of_pieces_changes_only_what_is_left_out() {
    for name in NAMES {
        let case = Case::new(name);
        let config = case.network.config().clone();
        // In another order than before.
        let rows: Vec<u32> = (0..config.encoder.vocab_size as u32).rev().filter(|row| row % 7 != 3).collect();
        let new = |row: u32| rows.iter().position(|&kept| kept == row).unwrap() as u32;
        let mut weights = Weights::open(&dir(name)).unwrap();
        let smaller = Bart::pretrained(config.clone(), &mut weights, Some(&rows), 1).unwrap();
        assert_eq!(smaller.encoder().vocab_size, rows.len());
        assert_eq!((smaller.config().end, smaller.config().pad), (new(config.end), new(config.pad)));
        let kept: Vec<u32> = [5, 6, 9, config.end].to_vec();
        assert!(kept.iter().all(|id| id % 7 != 3));
        let first = |network: &Bart, ids: &[u32]| {
            let pieces = pieces(ids);
            let decoding = network.read(&[&pieces]).remove(0);
            let (state, piece) = decoding.start();
            decoding.step(&[(&state, piece)]).remove(0).1
        };
        let full = first(&case.network, &kept);
        let found = first(&smaller, &kept.iter().map(|&id| new(id)).collect::<Vec<_>>());
        // Equal but for the sum of all probabilities.
        let shift = full[rows[0] as usize] - found[0];
        let expected: Vec<f32> = rows.iter().map(|&row| full[row as usize] - shift).collect();
        assert_near(&found, &expected, TOLERANCE);
        let frozen = smaller.params.shapes().filter(|(.., trained)| !trained);
        let frozen: Vec<&str> = frozen.map(|(_, name, ..)| name).collect();
        assert!(frozen.len() > 10, "{frozen:?}");
        let is_expected = |name: &&str| name.starts_with("encoder.layers.0.") || *name == "final_logits_bias";
        assert!(frozen.iter().all(is_expected), "{frozen:?}");
    }
}

#[test]
fn a_saved_network_is_read_as_it_was() {
    for name in NAMES {
        let case = Case::new(name);
        let named: Vec<_> = case.network.params.named().collect();
        let tensors: Vec<_> =
            named.iter().map(|(name, shape, values)| (*name, *shape, &values[..])).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &tensors, &BTreeMap::new()).unwrap();
        fs::write(file.path(), bytes).unwrap();
        let mut weights = Weights::open(file.path()).unwrap();
        let restored = Bart::saved(case.network.config().clone(), &mut weights).unwrap();
        assert_eq!(named, restored.params.named().collect::<Vec<_>>());
        let json = serde_json::to_string(restored.config()).unwrap();
        assert_eq!(serde_json::from_str::<BartConfig>(&json).unwrap(), *restored.config());
    }
}

/// The configuration of a tiny model with `from` replaced.
fn changed(name: &str, from: &str, to: &str) -> Result<BartConfig, ConfigError> {
    let text = fs::read_to_string(dir(name).join("config.json")).unwrap();
    assert!(text.contains(from), "{from}");
    BartConfig::from_json(text.replace(from, to).as_bytes(), "config.json")
}

#[test]
fn configurations_that_cannot_be_run_are_refused() {
    for (name, from, to, expected) in [
        ("tiny-bart", "\"bart\"", "\"t5\"", "`model_type` is `t5`, expected `bart` or `marian`"),
        ("tiny-bart", "\"d_model\": 8", "\"d_model\": 0", "`d_model` is 0"),
        ("tiny-bart", "\"d_model\": 8", "\"d_model\": 99999999", "`d_model` is 99999999"),
        ("tiny-bart", "\"d_model\": 8", "\"d_model\": 6", "a divisor of `d_model`"),
        ("tiny-bart", "\"d_model\": 8,", "", "has no `d_model`"),
        ("tiny-bart", "\"encoder_layers\": 2", "\"encoder_layers\": 18446744073709551615", "encoder_layers"),
        ("tiny-bart", "embeddings\": 48", "embeddings\": 9999999", "`max_position_embeddings`"),
        ("tiny-bart", "start_token_id\": 2", "start_token_id\": 5000000000", "`decoder_start_token_id`"),
        ("tiny-bart", "start_token_id\": 2", "start_token_id\": 5000", "less than `vocab_size`"),
        ("tiny-bart", "\"gelu\"", "\"tanh\"", "`activation_function` is `tanh`"),
        ("tiny-bart", "\"dropout\": 0.1", "\"dropout\": 1", "`dropout` is 1"),
        ("tiny-bart", "\"use_cache\": true", "\"normalize_before\": true", "`normalize_before` is true"),
        ("tiny-marian", "embeddings\": true", "embeddings\": false", "embeddings` is false"),
    ] {
        let error = changed(name, from, to).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("config.json"), "{error}");
    }
    assert!(changed("tiny-marian", "swish", "silu").is_ok());
}

#[test]
fn weights_that_do_not_fit_the_configuration_are_refused() {
    let open = |name: &str, from: &str, to: &str| {
        let config = changed(name, from, to).unwrap();
        Bart::pretrained(config, &mut Weights::open(&dir(name)).unwrap(), None, 0).unwrap_err()
    };
    let error = open("tiny-bart", "\"d_model\": 8", "\"d_model\": 16");
    assert!(matches!(error, WeightsError::Shape { .. }), "{error}");
    let error = open("tiny-bart", "embeddings\": 48", "embeddings\": 4096");
    assert!(matches!(error, WeightsError::Shape { .. }), "{error}");
    let error = open("tiny-bart", "\"decoder_layers\": 2", "\"decoder_layers\": 9000000");
    assert!(matches!(error, WeightsError::Missing { .. }), "{error}");
    assert!(error.to_string().contains("decoder.layers.2."), "{error}");
    for key in ["\"decoder_layers\": ", "\"encoder_layers\": "] {
        let error = open("tiny-marian", &format!("{key}2"), &format!("{key}1"));
        assert!(matches!(error, WeightsError::Surplus { layers: 1, .. }), "{error}");
    }
    let error = open("tiny-marian", "\"marian\"", "\"bart\"");
    assert!(matches!(error, WeightsError::Missing { .. }), "{error}");
}
