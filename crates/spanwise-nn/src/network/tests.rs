#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::pretrained::{Activation, Architecture, Pretrained};
use crate::tokenizer::{Tokenizer, WordTable};
use spanwise_core::Utterance;
use std::path::Path;

const TEXTS: [&str; 5] = [
    "what states border texas ?",
    "rivers",
    "which is the longest river in the state of new york ?",
    "cities in texas",
    "flights to St. Paul's on 12/05",
];

const SILENT: Noise = Noise { dropout: 0.0, seed: 0 };

/// A network with the pieces of the texts.
struct Case {
    name: String,
    network: Network,
    pieces: Vec<Pieces>,
}

impl Case {
    /// A small encoder of our own.
    fn compact(activation: Activation) -> Self {
        let utterances = TEXTS.map(Utterance::new);
        let table = WordTable::from_utterances(&utterances[..3], 1).with_buckets(13);
        let tokenizer = Tokenizer::Words(table);
        let config = EncoderConfig {
            architecture: Architecture::Compact,
            vocab_size: tokenizer.vocab_size(),
            hidden: 16,
            layers: 2,
            heads: 2,
            intermediate: 24,
            max_positions: 512,
            type_vocab: 0,
            layer_norm_eps: 1e-5,
            dropout: 0.1,
            position_offset: 0,
            relative_buckets: 32,
            activation,
        };
        let head = HeadConfig { hidden: 12, n_labels: 3 };
        let mut network = Network::from_scratch(config, tokenizer.n_buckets(), head, 7).unwrap();
        network.move_all();
        let pieces = utterances.iter().map(|utterance| tokenizer.encode(utterance)).collect();
        Self { name: format!("compact, {activation:?}"), network, pieces }
    }

    fn pretrained(name: &str, n_frozen: usize) -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let Pretrained { config, mut weights, tokenizer } = Pretrained::open(&dir).unwrap();
        let head = HeadConfig { hidden: 10, n_labels: 4 };
        let network = Network::pretrained(config, &mut weights, head, n_frozen, 3).unwrap();
        let pieces = TEXTS.map(|text| tokenizer.encode(&Utterance::new(text))).to_vec();
        Self { name: format!("{name}, {n_frozen} frozen"), network, pieces }
    }

    fn all() -> Vec<Self> {
        vec![
            Self::compact(Activation::Gelu),
            Self::compact(Activation::GeluTanh),
            Self::compact(Activation::Relu),
            Self::pretrained("tiny-bert", 0),
            Self::pretrained("tiny-bert", 1),
            Self::pretrained("tiny-mpnet", 0),
            Self::pretrained("tiny-mpnet", 1),
        ]
    }

    /// Every span of every text.
    fn spans(&self) -> Vec<Vec<(u32, u32)>> {
        let of = |n: u32| (0..n).flat_map(|start| (start + 1..=n).map(move |end| (start, end))).collect();
        self.pieces.iter().map(|pieces| of(pieces.words.len() as u32)).collect()
    }
}

impl Network {
    /// Moves every parameter, so that none can be ignored unnoticed: a bias of zero hides that it is not added.
    fn move_all(&mut self) {
        let mut random = Random::new(99, &[]);
        let ids: Vec<ParamId> = self.params.shapes().map(|(id, ..)| id).collect();
        for id in ids {
            let moved = self.params.values(id).iter().map(|value| value + 0.1 * random.normal()).collect();
            self.params.set(id, moved);
        }
    }

    /// Keeps rectified units away from zero, where they have no derivative: half of them stay on, half off.
    fn avoid_kinks(&mut self) {
        let is_relu = self.encoder().activation == Activation::Relu;
        let shapes = self.params.shapes();
        let rectified =
            |name: &str| name == "head.hidden.bias" || is_relu && name.ends_with("intermediate.dense.bias");
        let ids: Vec<ParamId> = shapes.filter(|(_, name, ..)| rectified(name)).map(|(id, ..)| id).collect();
        for id in ids {
            let n = self.params.values(id).len();
            self.params.set(id, (0..n).map(|at| if at % 2 == 0 { 4.0 } else { -4.0 }).collect());
        }
    }

    fn values(&self, name: &str) -> Vec<f64> {
        let (_, _, values) = self.params.named().find(|(found, ..)| *found == name).unwrap();
        values.into_iter().map(f64::from).collect()
    }
}

fn items<'a>(pieces: &'a [Pieces], spans: &'a [Vec<(u32, u32)>]) -> Vec<Item<'a>> {
    pieces.iter().zip(spans).map(|(pieces, spans)| Item { pieces, lower: None, spans }).collect()
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().chain(b).all(|value| value.is_finite()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Fixed weights on the logits: their sum is the loss.
fn response(logits: &Logits) -> Vec<Vec<f32>> {
    let mut random = Random::new(5, &[]);
    let mut weights = logits.zeros();
    weights.iter_mut().flatten().for_each(|weight| *weight = random.normal());
    weights
}

fn loss(logits: &Logits) -> f64 {
    let weights = response(logits).concat();
    weights.iter().zip(&logits.values).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum()
}

#[test]
fn logits_are_those_of_the_formula() {
    // Two linear maps of the outer pieces of a span, added; rectified; one more linear map. In double precision.
    for Case { name, network, pieces } in Case::all() {
        let spans: Vec<(u32, u32)> = vec![(0, 1), (1, 4), (0, 5), (4, 5), (2, 3)];
        let (pieces, encoded) = (&pieces[0], &network.encode(&[&pieces[0]])[0]);
        let width = network.encoder().hidden;
        let HeadConfig { hidden, n_labels } = network.head();
        let (start, end) = (network.values("head.start.weight"), network.values("head.end.weight"));
        let (bias, out) = (network.values("head.hidden.bias"), network.values("head.out.weight"));
        let out_bias = network.values("head.out.bias");
        let found = network.logits(&[Item { pieces, lower: None, spans: &spans }]);
        for (at, &(from, to)) in spans.iter().enumerate() {
            let first = pieces.words[from as usize].0 as usize * width;
            let last = pieces.words[to as usize - 1].1 as usize * width;
            let mut expected = out_bias.clone();
            for unit in 0..hidden {
                let mut sum = bias[unit];
                for i in 0..width {
                    sum += f64::from(encoded[first + i]) * start[i * hidden + unit];
                    sum += f64::from(encoded[last + i]) * end[i * hidden + unit];
                }
                for label in 0..n_labels {
                    expected[label] += sum.max(0.0) * out[unit * n_labels + label];
                }
            }
            for (label, expected) in expected.iter().enumerate() {
                let found = f64::from(found.of(0)[at * n_labels + label]);
                assert!((found - expected).abs() < 1e-5, "{name}: {found} {expected}");
            }
        }
    }
}

#[test]
fn a_batch_gives_what_its_items_give_one_by_one() {
    for case in Case::all() {
        let spans = case.spans();
        let items = items(&case.pieces, &spans);
        let together = case.network.logits(&items);
        for (at, item) in items.iter().enumerate() {
            let alone = case.network.logits(&[*item]);
            assert_eq!(alone.of(0).len(), item.spans.len() * case.network.head().n_labels);
            let error = distance(alone.of(0), together.of(at));
            assert!(error <= 1e-5, "{}: {error:e}", case.name);
        }
    }
}

#[test]
fn gradients_see_the_same_logits_and_add_up_over_the_items_of_a_batch() {
    for case in Case::all() {
        let spans = case.spans();
        let items = items(&case.pieces, &spans);
        let weights = response(&case.network.logits(&items));
        let (together, seen) =
            case.network.gradients(&items, SILENT, |logits| (weights.clone(), logits.clone()));
        let error = distance(&seen.values, &case.network.logits(&items).values);
        assert!(error <= 1e-5, "{}: {error:e}", case.name);
        let alone = items.iter().zip(&weights).map(|(item, weights)| {
            case.network.gradients(&[*item], SILENT, |_| (vec![weights.clone()], ())).0
        });
        for (alone, together) in crate::sum(alone.collect()).iter().zip(&together) {
            assert_eq!(alone.is_some(), together.is_some());
            let (Some(alone), Some(together)) = (alone, together) else { continue };
            let scale = together.iter().fold(1.0f32, |largest, g| largest.max(g.abs()));
            assert!(distance(alone, together) <= 1e-5 * scale, "{}", case.name);
        }
    }
}

#[test]
fn what_the_frozen_layers_gave_can_be_kept() {
    for (name, n_frozen) in [("tiny-bert", 0), ("tiny-bert", 2), ("tiny-bert", 3), ("tiny-mpnet", 1)] {
        let case = Case::pretrained(name, n_frozen);
        assert!(case.network.is_frozen_below());
        let spans = case.spans();
        let fresh = items(&case.pieces, &spans);
        // Kept from batches of another composition than those they are used in.
        let lower: Vec<Vec<f32>> = case
            .pieces
            .chunks(2)
            .flat_map(|batch| case.network.lower(&batch.iter().collect::<Vec<_>>()))
            .collect();
        let kept: Vec<Item<'_>> =
            fresh.iter().zip(&lower).map(|(item, lower)| Item { lower: Some(lower), ..*item }).collect();
        let error = distance(&case.network.logits(&kept).values, &case.network.logits(&fresh).values);
        assert!(error <= 1e-6, "{}: {error:e}", case.name);

        let respond = |logits: &Logits| (response(logits), ());
        let noise = Noise { dropout: 0.2, seed: 1 };
        let (fresh, ()) = case.network.gradients(&fresh, noise, respond);
        let (kept, ()) = case.network.gradients(&kept, noise, respond);
        for ((_, name, _, trained), (fresh, kept)) in
            case.network.params.shapes().zip(fresh.iter().zip(&kept))
        {
            assert_eq!((fresh.is_some(), kept.is_some()), (trained, trained), "{name}");
            let (Some(fresh), Some(kept)) = (fresh, kept) else { continue };
            let scale = fresh.iter().fold(1.0f32, |largest, g| largest.max(g.abs()));
            assert!(distance(fresh, kept) <= 1e-5 * scale, "{}: {name}", case.name);
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    const STEP: f32 = 8e-3;
    for mut case in Case::all() {
        case.network.avoid_kinks();
        let spans = case.spans();
        // A short and a long text: padding takes part.
        let chosen = [0, 1, 3];
        let pieces: Vec<Pieces> = chosen.map(|at| case.pieces[at].clone()).to_vec();
        let spans: Vec<Vec<(u32, u32)>> = chosen.map(|at| spans[at].clone()).to_vec();
        let items = items(&pieces, &spans);
        let (gradients, ()) = case.network.gradients(&items, SILENT, |logits| (response(logits), ()));
        let list: Vec<(ParamId, String, bool)> = case
            .network
            .params
            .shapes()
            .map(|(id, name, _, trained)| (id, name.to_owned(), trained))
            .collect();
        assert_eq!(gradients.len(), list.len());
        let mut random = Random::new(11, &[]);
        let mut worst = 0.0f64;
        for (gradient, (id, name, trained)) in gradients.iter().zip(list) {
            assert_eq!(gradient.is_some(), trained, "{}: {name}", case.name);
            let Some(gradient) = gradient else { continue };
            let original = case.network.params.values(id);
            assert_eq!(gradient.len(), original.len());
            // The number that matters most, and two others.
            let steepest =
                (0..gradient.len()).max_by(|&a, &b| gradient[a].abs().total_cmp(&gradient[b].abs()));
            for at in [steepest.unwrap(), random.below(gradient.len()), random.below(gradient.len())] {
                let mut loss_at = |step: f32| {
                    let mut moved = original.clone();
                    moved[at] += step;
                    case.network.params.set(id, moved);
                    loss(&case.network.logits(&items))
                };
                let found = f64::from(gradient[at]);
                // Exact up to the fourth power of the step.
                let near = loss_at(STEP) - loss_at(-STEP);
                let far = loss_at(2.0 * STEP) - loss_at(-2.0 * STEP);
                let expected = (8.0 * near - far) / (12.0 * f64::from(STEP));
                let error = (found - expected).abs() / expected.abs().max(1.0);
                worst = worst.max(error);
                assert!(error < 1e-3, "{}: {name}[{at}] {found} {expected}", case.name);
            }
            case.network.params.set(id, original);
            // Biases of keys add the same to all scores of a query, which changes nothing.
            let is_key_bias = name.ends_with(".key.bias") || name.ends_with(".attn.k.bias");
            let largest = gradient.iter().fold(0.0f32, |largest, g| largest.max(g.abs()));
            assert!(largest > 1e-3 || is_key_bias, "{}: {name} has a gradient of {largest}", case.name);
        }
        println!("{}: largest difference {worst:.1e}", case.name);
    }
}

#[test]
fn the_same_noise_gives_the_same_gradients_and_another_seed_others() {
    for case in Case::all() {
        let spans = case.spans();
        let items = items(&case.pieces, &spans);
        let run = |dropout: f32, seed: u64| {
            case.network
                .gradients(&items, Noise { dropout, seed }, |logits| (response(logits), logits.clone()))
        };
        let once = run(0.3, 1);
        assert_eq!(once, run(0.3, 1), "{}", case.name);
        let other = run(0.3, 2);
        assert_ne!(once.1, other.1, "{}", case.name);
        assert_ne!(once.0, other.0, "{}", case.name);
        assert_eq!(run(0.0, 1), run(0.0, 2), "{}", case.name);
        let values = once.0.iter().flatten().flatten().chain(&once.1.values);
        assert!(values.into_iter().all(|value| value.is_finite()));
    }
}

#[test]
fn batches_with_little_or_nothing_in_them_are_no_special_case() {
    for case in Case::all() {
        let network = &case.network;
        let n_labels = network.head().n_labels;
        let none = network.logits(&[]);
        assert_eq!((none.zeros(), none.values), (Vec::new(), Vec::new()));
        assert!(network.encode(&[]).is_empty() && network.lower(&[]).is_empty());
        let (gradients, n) = network.gradients(&[], SILENT, |logits| (Vec::new(), logits.zeros().len()));
        assert_eq!((gradients, n), (network.params.no_gradients(), 0));

        // One word, and beside it nothing to score, and no word at all.
        let word = &case.pieces[1];
        assert_eq!(word.words.len(), 1);
        let ends = [word.ids[0], word.ids[word.ids.len() - 1]];
        let mut empty = Pieces { ids: ends.to_vec(), ..Pieces::default() };
        if !word.ngrams.is_empty() {
            empty.ngrams = vec![Vec::new(), Vec::new()];
        }
        let one = Item { pieces: word, lower: None, spans: &[(0, 1)] };
        let unscored = Item { pieces: &case.pieces[2], lower: None, spans: &[] };
        let wordless = Item { pieces: &empty, lower: None, spans: &[] };
        let expected = network.logits(&[one]);
        assert_eq!(expected.of(0).len(), n_labels);
        for batch in [vec![unscored, one], vec![wordless, one, unscored], vec![one, wordless]] {
            let logits = network.logits(&batch);
            for (at, item) in batch.iter().enumerate() {
                if item.spans.is_empty() {
                    assert!(logits.of(at).is_empty());
                } else {
                    assert!(distance(logits.of(at), expected.of(0)) <= 1e-5);
                }
            }
            let noise = Noise { dropout: 0.1, seed: 3 };
            let (gradients, ()) = network.gradients(&batch, noise, |logits| (response(logits), ()));
            assert!(gradients.iter().flatten().flatten().all(|value| value.is_finite()));
            assert!(gradients.iter().any(Option::is_some));
        }
        for batch in [vec![wordless], vec![unscored, wordless]] {
            let logits = network.logits(&batch);
            assert_eq!(logits.zeros(), vec![Vec::<f32>::new(); batch.len()]);
            let (gradients, ()) = network.gradients(&batch, SILENT, |logits| (logits.zeros(), ()));
            assert_eq!(gradients, network.params.no_gradients());
        }
        assert_eq!(network.encode(&[&empty])[0].len(), 2 * network.encoder().hidden);
    }
}

#[test]
fn the_same_seed_gives_the_same_network_and_a_saved_one_is_read_as_it_was() {
    let Case { network, .. } = Case::compact(Activation::Gelu);
    let config = network.encoder().clone();
    let fresh = |seed| Network::from_scratch(config.clone(), 13, network.head(), seed).unwrap();
    let values = |network: &Network| network.params.named().map(|(.., values)| values).collect::<Vec<_>>();
    assert_eq!(values(&fresh(1)), values(&fresh(1)));
    assert_ne!(values(&fresh(1)), values(&fresh(2)));
    let (_directory, mut weights) = saved(&fresh(1));
    let again = Network::saved(config.clone(), 13, network.head(), &mut weights).unwrap();
    assert_eq!(values(&again), values(&fresh(1)));
}

/// The weights of a network, from a file.
fn saved(network: &Network) -> (tempfile::TempDir, Weights) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("weights.safetensors");
    let named: Vec<_> = network.params.named().collect();
    let tensors: Vec<_> = named.iter().map(|(name, shape, values)| (*name, *shape, &values[..])).collect();
    let mut file = std::fs::File::create(&path).unwrap();
    crate::pretrained::write_safetensors(&mut file, &tensors, &Default::default()).unwrap();
    (directory, Weights::open(&path).unwrap())
}

/// Each of these sizes would take gigabytes or more: they would end the process if they were allocated.
#[test]
fn a_configuration_that_claims_more_than_the_file_holds_is_an_error_before_anything_is_allocated() {
    const HUGE: usize = 10_000_000;
    let Case { network, .. } = Case::compact(Activation::Gelu);
    let (config, head) = (network.encoder().clone(), network.head());
    let encoders = [
        EncoderConfig { hidden: HUGE, ..config.clone() },
        EncoderConfig { vocab_size: HUGE * 1000, ..config.clone() },
        EncoderConfig { layers: usize::MAX / 1000, ..config.clone() },
        EncoderConfig { intermediate: HUGE * 1000, ..config.clone() },
        EncoderConfig { relative_buckets: HUGE * 1000, ..config.clone() },
    ];
    let heads = [HeadConfig { hidden: HUGE * 1000, ..head }, HeadConfig { n_labels: HUGE * 1000, ..head }];
    let (_directory, mut weights) = saved(&network);
    let mut refuses = |config: EncoderConfig, n_buckets, head| {
        let error = Network::saved(config, n_buckets, head, &mut weights).unwrap_err();
        let (_directory, fresh) = saved(&network);
        weights = fresh;
        assert!(matches!(error, WeightsError::Shape { .. } | WeightsError::Missing { .. }), "{error}");
    };
    encoders.into_iter().for_each(|encoder| refuses(encoder, 13, head));
    heads.into_iter().for_each(|head| refuses(config.clone(), 13, head));
    refuses(config.clone(), HUGE * 1000, head);
}

#[test]
fn words_and_logits_of_one_pass_are_those_of_two() {
    for case in Case::all() {
        let spans = case.spans();
        let items: Vec<Item<'_>> = case
            .pieces
            .iter()
            .zip(&spans)
            .map(|(pieces, spans)| Item { pieces, lower: None, spans })
            .collect();
        let (logits, words) = case.network.logits_and_words(&items);
        assert!(logits == case.network.logits(&items), "{}", case.name);
        let inputs: Vec<&Pieces> = case.pieces.iter().collect();
        assert!(words == case.network.word_vectors(&inputs), "{}", case.name);
        let hidden = case.network.encoder().hidden;
        for ((pieces, words), encoded) in case.pieces.iter().zip(&words).zip(case.network.encode(&inputs)) {
            assert_eq!(words.len(), pieces.words.len() * hidden, "{}", case.name);
            for (&(first, last), word) in pieces.words.iter().zip(words.chunks_exact(hidden)) {
                for (at, &value) in word.iter().enumerate() {
                    let piece = |piece: u32| encoded[piece as usize * hidden + at];
                    assert_eq!(value, (piece(first) + piece(last)) / 2.0);
                }
            }
        }
    }
}

#[test]
fn the_static_vector_of_a_text_is_the_centered_mean_of_its_embeddings() {
    let case = Case::pretrained("tiny-bert", 1);
    let network = &case.network;
    let (width, name) = (network.encoder().hidden, "embeddings.word_embeddings.weight");
    let (_, shape, table) = network.params.named().find(|(it, ..)| it.ends_with(name)).unwrap();
    let row = |id: u32| &table[id as usize * width..][..width];
    let mean: Vec<f32> =
        (0..width).map(|at| table.iter().skip(at).step_by(width).sum::<f32>() / shape[0] as f32).collect();
    let texts: [&[u32]; 4] = [&case.pieces[0].ids, &[3], &[], &[5, 3]];
    for (ids, vector) in texts.iter().zip(network.static_vectors(&texts)) {
        let plain: Vec<f32> =
            (0..width).map(|at| ids.iter().map(|&id| row(id)[at] - mean[at]).sum()).collect();
        let length = plain.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        for (value, plain) in vector.iter().zip(plain) {
            assert!((value - plain / length).abs() < 1e-4, "{value} instead of {}", plain / length);
        }
    }
    assert_eq!(network.static_vectors(&[]), Vec::<Vec<f32>>::new());
}
