#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::pretrained::{Activation, Architecture, Pretrained, write_safetensors};
use crate::tokenizer::{Tokenizer, WordTable};
use spanwise_core::Utterance;
use std::collections::BTreeMap;
use std::path::Path;

const TEXTS: [&str; 3] = ["is there a red cube ?", "how many", "what is left of the small blue sphere ?"];
const SILENT: Noise = Noise { dropout: 0.0, seed: 0 };
const CONFIG: SceneConfig = SceneConfig { n_features: 6, per_object: 2, n_classes: 4 };
/// Three objects, none, one.
const OBJECTS: [&[u32]; 3] = [&[0, 3, 1, 4, 2, 5], &[], &[1, 5]];

/// A network with the pieces of the texts.
struct Case {
    network: SceneClassifier,
    pieces: Vec<Pieces>,
}

impl Case {
    fn new(mut network: SceneClassifier, tokenizer: &Tokenizer) -> Self {
        // Moves every parameter, so that none can be ignored unnoticed.
        let mut random = Random::new(99, &[]);
        let ids: Vec<ParamId> = network.params.shapes().map(|(id, ..)| id).collect();
        for id in ids {
            let moved = network.params.values(id).iter().map(|value| value + 0.2 * random.normal()).collect();
            network.params.set(id, moved);
        }
        let pieces = TEXTS.iter().map(|text| tokenizer.encode(&Utterance::new(*text))).collect();
        Self { network, pieces }
    }

    fn scratch() -> Self {
        let texts = TEXTS.map(Utterance::new);
        let tokenizer = Tokenizer::Words(WordTable::from_utterances(&texts[..2], 1).with_buckets(7));
        let encoder = EncoderConfig {
            architecture: Architecture::Compact,
            vocab_size: tokenizer.vocab_size(),
            hidden: 8,
            layers: 2,
            heads: 2,
            intermediate: 12,
            max_positions: 64,
            type_vocab: 0,
            layer_norm_eps: 1e-5,
            dropout: 0.1,
            position_offset: 0,
            relative_buckets: 8,
            activation: Activation::Gelu,
        };
        let network = SceneClassifier::from_scratch(encoder, tokenizer.n_buckets(), CONFIG, 1).unwrap();
        Self::new(network, &tokenizer)
    }

    fn pretrained(name: &str, n_frozen: usize) -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let Pretrained { config: encoder, mut weights, tokenizer } = Pretrained::open(&dir).unwrap();
        let network = SceneClassifier::pretrained(encoder, &mut weights, CONFIG, n_frozen, 1).unwrap();
        Self::new(network, &tokenizer)
    }

    fn all() -> [Self; 5] {
        [
            Self::scratch(),
            Self::pretrained("tiny-bert", 0),
            Self::pretrained("tiny-bert", 1),
            Self::pretrained("tiny-bert", 3),
            Self::pretrained("tiny-mpnet", 0),
        ]
    }

    fn input(&self, at: usize) -> SceneInput<'_> {
        SceneInput { pieces: &self.pieces[at], lower: None, features: OBJECTS[at] }
    }

    fn inputs(&self) -> Vec<SceneInput<'_>> {
        (0..TEXTS.len()).map(|at| self.input(at)).collect()
    }

    fn lessons(&self) -> Vec<SceneLesson<'_>> {
        let lesson = |(class, input)| SceneLesson { input, class, weight: 1.0 + class as f32 };
        (1..).zip(self.inputs()).map(lesson).collect()
    }

    fn losses(&self, lessons: &[SceneLesson<'_>]) -> Vec<f64> {
        self.network.gradients(lessons, SILENT, <[f64]>::to_vec).1
    }

    fn weighted_loss(&self) -> f64 {
        let lessons = self.lessons();
        self.losses(&lessons).iter().zip(&lessons).map(|(loss, it)| loss * f64::from(it.weight)).sum()
    }
}

fn assert_near(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4 * (1.0 + a.abs())), "{a:?} {b:?}");
}

#[test]
fn gradients_are_those_of_finite_differences() {
    const STEP: f32 = 4e-3;
    for mut case in Case::all() {
        let (gradients, _) = case.network.gradients(&case.lessons(), SILENT, |_| ());
        let shapes =
            case.network.params.shapes().map(|(id, name, _, trained)| (id, name.to_owned(), trained));
        let shapes: Vec<_> = shapes.collect();
        for ((id, name, is_trained), gradient) in shapes.into_iter().zip(gradients) {
            assert_eq!(gradient.is_some(), is_trained, "{name}");
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
                    (found - expected).abs() < 1e-2 * (1.0 + expected.abs()),
                    "{name} {at}: {found} {expected}"
                );
            }
            case.network.params.set(id, values);
        }
    }
}

#[test]
fn the_order_of_objects_does_not_matter_and_their_features_do() {
    for case in Case::all() {
        let found = |features: &[u32]| {
            let input = SceneInput { features, ..case.input(0) };
            case.network.log_probabilities(&[input]).remove(0)
        };
        let first = found(&[0, 3, 1, 4, 2, 5]);
        assert_near(&first, &found(&[2, 5, 0, 3, 1, 4]));
        // A frozen encoder sees no objects at all.
        if case.network.n_frozen() != Some(case.network.encoder().layers) {
            for other in [&[0, 4, 1, 3, 2, 5][..], &[0, 3, 1, 4], &[]] {
                let distance: f32 = first.iter().zip(found(other)).map(|(a, b)| (a - b).abs()).sum();
                assert!(distance > 1e-3, "{other:?}");
            }
        }
    }
}

#[test]
fn a_batch_gives_what_its_items_give_one_by_one() {
    for case in Case::all() {
        let alone: Vec<f32> = case
            .inputs()
            .iter()
            .flat_map(|input| case.network.log_probabilities(&[*input]).remove(0))
            .collect();
        assert_near(&case.network.log_probabilities(&case.inputs()).concat(), &alone);
        for row in alone.chunks(CONFIG.n_classes) {
            assert!((row.iter().map(|log| log.exp()).sum::<f32>() - 1.0).abs() < 1e-5);
        }
        let losses: Vec<f32> = case.losses(&case.lessons()).iter().map(|&loss| loss as f32).collect();
        let expected: Vec<f32> = (0..TEXTS.len()).map(|at| -alone[at * CONFIG.n_classes + at + 1]).collect();
        assert_near(&losses, &expected);
    }
    assert!(Case::scratch().network.log_probabilities(&[]).is_empty());
}

#[test]
fn without_objects_the_first_piece_is_that_of_the_encoder() {
    for case in Case::all() {
        let pieces = &case.pieces[1];
        let encoded = case.network.encoder.encode(&case.network.params, &[pieces]).remove(0);
        let width = case.network.encoder().hidden;
        let Linear { weight, bias } = case.network.classes;
        let (weight, bias) = (case.network.params.values(weight), case.network.params.values(bias));
        let logit = |class: usize| {
            let products = (0..width).map(|at| encoded[at] * weight[at * CONFIG.n_classes + class]);
            bias[class] + products.sum::<f32>()
        };
        let logits: Vec<f32> = (0..CONFIG.n_classes).map(logit).collect();
        let sum = logits.iter().map(|logit| logit.exp()).sum::<f32>().ln();
        let expected: Vec<f32> = logits.iter().map(|logit| logit - sum).collect();
        assert_near(&case.network.log_probabilities(&[case.input(1)]).remove(0), &expected);
    }
}

#[test]
fn what_the_frozen_layers_gave_can_be_kept_and_noise_depends_on_its_seed() {
    let case = Case::pretrained("tiny-bert", 1);
    let lower = case.network.lower(&case.pieces.iter().collect::<Vec<_>>());
    let mut cached = case.lessons();
    for (lesson, lower) in cached.iter_mut().zip(&lower) {
        lesson.input.lower = Some(lower);
    }
    let single = |lessons: &[SceneLesson<'_>]| {
        case.losses(lessons).iter().map(|&loss| loss as f32).collect::<Vec<_>>()
    };
    assert_near(&single(&case.lessons()), &single(&cached));
    let noisy = |seed| case.network.gradients(&cached, Noise { dropout: 0.4, seed }, <[f64]>::to_vec);
    assert_eq!(noisy(1), noisy(1));
    assert_ne!(noisy(1), noisy(2));
}

#[test]
fn the_same_seed_gives_the_same_network_and_a_saved_one_answers_as_it_did() {
    let values =
        |network: &SceneClassifier| network.params.named().map(|(.., values)| values).collect::<Vec<_>>();
    assert_eq!(values(&Case::scratch().network), values(&Case::scratch().network));
    for (case, n_buckets) in [(Case::scratch(), 7), (Case::pretrained("tiny-bert", 1), 0)] {
        let named: Vec<_> = case.network.params.named().collect();
        let tensors: Vec<_> =
            named.iter().map(|(name, shape, values)| (*name, *shape, &values[..])).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &tensors, &BTreeMap::new()).unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut weights = Weights::open(file.path()).unwrap();
        let (encoder, n_frozen) = (case.network.encoder().clone(), case.network.n_frozen());
        let network = SceneClassifier::saved(encoder, n_buckets, CONFIG, n_frozen, &mut weights).unwrap();
        assert_eq!(network.n_frozen(), n_frozen);
        let inputs = case.inputs();
        assert_eq!(network.log_probabilities(&inputs), case.network.log_probabilities(&inputs));
    }
}
