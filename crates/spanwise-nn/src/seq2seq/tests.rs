#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::params::ParamId;
use crate::pretrained::{Activation, Architecture, Pretrained, write_safetensors};
use crate::tokenizer::{Tokenizer, WordTable};
use spanwise_core::Utterance;
use std::collections::BTreeMap;
use std::path::Path;

mod reference;

const TEXTS: [&str; 3] = ["what states border new york ?", "rivers", "cities in texas or ohio"];
const SILENT: Noise = Noise { dropout: 0.0, seed: 0 };
const N_TOKENS: usize = 5;

/// A network with utterances and what is written for each.
struct Case {
    network: Seq2Seq,
    pieces: Vec<Pieces>,
    copies: Vec<Vec<Copy>>,
    steps: Vec<Vec<Step>>,
}

fn config(bilstm: bool) -> Seq2SeqConfig {
    Seq2SeqConfig { bilstm, embedding: 3, hidden: 4, n_tokens: N_TOKENS, n_kinds: 2 }
}

impl Case {
    fn new(mut network: Seq2Seq, tokenizer: &Tokenizer) -> Self {
        // Moves every parameter, so that none can be ignored unnoticed.
        let mut random = Random::new(99, &[]);
        let ids: Vec<ParamId> = network.params.shapes().map(|(id, ..)| id).collect();
        for id in ids {
            let moved = network.params.values(id).iter().map(|value| value + 0.2 * random.normal()).collect();
            network.params.set(id, moved);
        }
        let copy = |start, end, kind| Copy { span: (start, end), kind };
        let step = |previous, choices: &[u32]| Step { previous, choices: choices.to_vec() };
        let (token, copied) = (Previous::Token, Previous::Copied);
        Self {
            network,
            pieces: TEXTS.iter().map(|text| tokenizer.encode(&Utterance::new(*text))).collect(),
            // A text without copies, and one with several places of the same thing.
            copies: vec![vec![copy(3, 5, 1), copy(4, 5, 0), copy(3, 5, 0)], vec![], vec![copy(2, 3, 1)]],
            steps: vec![
                vec![step(Previous::Nothing, &[3]), step(token(3), &[2, 5, 7]), step(copied(1), &[0])],
                vec![step(Previous::Nothing, &[4]), step(token(4), &[0])],
                vec![
                    step(Previous::Nothing, &[1]),
                    step(token(1), &[5]),
                    step(copied(1), &[4]),
                    step(token(4), &[0]),
                ],
            ],
        }
    }

    fn scratch() -> Self {
        let texts = TEXTS.map(Utterance::new);
        let tokenizer = Tokenizer::Words(WordTable::from_utterances(&texts[..2], 1).with_buckets(7));
        let encoder = EncoderConfig {
            architecture: Architecture::Compact,
            vocab_size: tokenizer.vocab_size(),
            hidden: 6,
            layers: 0,
            heads: 1,
            intermediate: 1,
            max_positions: 64,
            type_vocab: 0,
            layer_norm_eps: 1e-5,
            dropout: 0.1,
            position_offset: 0,
            relative_buckets: 0,
            activation: Activation::Gelu,
        };
        let network = Seq2Seq::from_scratch(encoder, tokenizer.n_buckets(), config(true), 1).unwrap();
        Self::new(network, &tokenizer)
    }

    fn pretrained(bilstm: bool, n_frozen: usize) -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny-bert");
        let Pretrained { config: encoder, mut weights, tokenizer } = Pretrained::open(&dir).unwrap();
        let network = Seq2Seq::pretrained(encoder, &mut weights, config(bilstm), n_frozen, 1).unwrap();
        Self::new(network, &tokenizer)
    }

    fn all() -> [Self; 3] {
        [Self::scratch(), Self::pretrained(false, 1), Self::pretrained(true, 3)]
    }

    fn reads(&self, at: usize) -> Reads<'_> {
        Reads { pieces: &self.pieces[at], lower: None, copies: &self.copies[at] }
    }

    fn lessons(&self) -> Vec<Lesson<'_>> {
        let lesson =
            |at: usize| Lesson { reads: self.reads(at), steps: &self.steps[at], weight: 1.0 + at as f32 };
        (0..TEXTS.len()).map(lesson).collect()
    }

    fn losses(&self, lessons: &[Lesson<'_>]) -> Vec<f64> {
        self.network.gradients(lessons, SILENT, <[f64]>::to_vec).1
    }

    fn weighted_loss(&self) -> f64 {
        let lessons = self.lessons();
        self.losses(&lessons).iter().zip(&lessons).map(|(loss, it)| loss * f64::from(it.weight)).sum()
    }
}

fn assert_near(a: &[f64], b: &[f64]) {
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
fn a_network_computes_what_plain_loops_compute() {
    let case = Case::scratch();
    for at in 0..TEXTS.len() {
        let reads = case.reads(at);
        let words = case.network.word_vectors(&[reads.pieces]).remove(0);
        let reference = reference::Network::new(&case.network);
        let rows = reference.log_probabilities(&words, reads.copies, &case.steps[at]);
        let decoding = case.network.read(&[reads]).remove(0);
        let mut state = decoding.start();
        for (expected, step) in rows.iter().zip(&case.steps[at]) {
            let (next, found) = decoding.step(&[(&state, step.previous)]).remove(0);
            assert_near(&found.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(), expected);
            state = next;
        }
        let likelihood = |(row, step): (&Vec<f64>, &Step)| {
            step.choices.iter().map(|&choice| row[choice as usize].exp()).sum::<f64>().ln()
        };
        let expected = -rows.iter().zip(&case.steps[at]).map(likelihood).sum::<f64>();
        assert_near(&case.losses(&case.lessons()[at..=at]), &[expected]);
    }
}

#[test]
fn a_batch_gives_what_its_items_give_one_by_one() {
    for case in Case::all() {
        let lessons = case.lessons();
        let alone: Vec<f64> = lessons.iter().flat_map(|lesson| case.losses(&[*lesson])).collect();
        assert_near(&case.losses(&lessons), &alone);
        let reads: Vec<Reads<'_>> = lessons.iter().map(|lesson| lesson.reads).collect();
        for (together, reads) in case.network.read(&reads).iter().zip(&reads) {
            let alone = case.network.read(&[*reads]).remove(0);
            let first = |decoding: &Decoding<'_>| {
                // Several sequences in one step are those of one step each.
                let start = decoding.start();
                let mut steps = decoding.step(&[(&start, Previous::Nothing), (&start, Previous::Token(2))]);
                let next = steps.remove(1);
                let copied = decoding.step(&[(&next.0, Previous::Copied(1))]).remove(0);
                [next.1, copied.1].concat().iter().map(|&x| f64::from(x)).collect::<Vec<_>>()
            };
            assert_near(&first(together), &first(&alone));
        }
    }
}

#[test]
fn probabilities_of_tokens_and_copies_add_up_to_one() {
    for case in Case::all() {
        for at in 0..TEXTS.len() {
            let decoding = case.network.read(&[case.reads(at)]).remove(0);
            let (_, found) = decoding.step(&[(&decoding.start(), Previous::Nothing)]).remove(0);
            assert_eq!(found.len(), N_TOKENS + case.copies[at].len());
            assert!((found.iter().map(|x| x.exp()).sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn what_the_frozen_layers_gave_can_be_kept_and_noise_depends_on_its_seed() {
    let case = Case::pretrained(false, 1);
    let lower = case.network.lower(&case.pieces.iter().collect::<Vec<_>>());
    let mut cached = case.lessons();
    for (lesson, lower) in cached.iter_mut().zip(&lower) {
        lesson.reads.lower = Some(lower);
    }
    assert_near(&case.losses(&case.lessons()), &case.losses(&cached));
    let noisy = |seed| case.network.gradients(&cached, Noise { dropout: 0.4, seed }, <[f64]>::to_vec);
    assert_eq!(noisy(1), noisy(1));
    assert_ne!(noisy(1), noisy(2));
}

#[test]
fn the_same_seed_gives_the_same_network_and_a_saved_one_is_read_as_it_was() {
    let case = Case::scratch();
    let values = |network: &Seq2Seq| network.params.named().map(|(.., values)| values).collect::<Vec<_>>();
    assert_eq!(values(&case.network), values(&Case::scratch().network));
    let named: Vec<_> = case.network.params.named().collect();
    let tensors: Vec<_> = named.iter().map(|(name, shape, values)| (*name, *shape, &values[..])).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut bytes = Vec::new();
    write_safetensors(&mut bytes, &tensors, &BTreeMap::new()).unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let mut weights = Weights::open(file.path()).unwrap();
    let (encoder, config) = (case.network.encoder().clone(), case.network.config());
    let network = Seq2Seq::saved(encoder, 7, config, &mut weights).unwrap();
    assert_eq!(values(&case.network), values(&network));
}
