//! How long an encoder of the shape of MiniLM takes, on one thread.
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use divan::Bencher;
use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig, Weights, write_safetensors};
use spanwise_nn::{
    AdamW, AdamWConfig, Gradients, HeadConfig, Item, Logits, Network, Noise, Pieces, Random, Rates,
};
use std::collections::BTreeMap;

const HEAD: HeadConfig = HeadConfig { hidden: 256, n_labels: 60 };

fn main() {
    divan::main();
}

fn config() -> EncoderConfig {
    EncoderConfig {
        architecture: Architecture::Bert,
        vocab_size: 1000,
        hidden: 384,
        layers: 6,
        heads: 12,
        intermediate: 1536,
        max_positions: 512,
        type_vocab: 2,
        layer_norm_eps: 1e-12,
        dropout: 0.1,
        position_offset: 0,
        relative_buckets: 0,
        activation: Activation::Gelu,
    }
}

/// Random weights, with the lowest three layers frozen.
fn network() -> Network {
    let random = Network::from_scratch(config(), 0, HEAD, 1).unwrap();
    let tensors: Vec<(String, Vec<usize>, Vec<f32>)> = random
        .params
        .named()
        .filter(|(name, ..)| !name.starts_with("head."))
        .map(|(name, shape, values)| {
            // Other tools store linear maps the other way round; which value is where does not matter here.
            let flipped = name.starts_with("encoder.");
            let shape = if flipped { shape.iter().rev().copied().collect() } else { shape.to_vec() };
            (name.to_owned(), shape, values)
        })
        .collect();
    let tensors: Vec<(&str, &[usize], &[f32])> =
        tensors.iter().map(|(name, shape, values)| (name.as_str(), &shape[..], &values[..])).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    write_safetensors(&path, &tensors, &BTreeMap::new()).unwrap();
    Network::pretrained(config(), &mut Weights::open(&path).unwrap(), HEAD, 3, 1).unwrap()
}

/// An utterance of words that are a piece each, between its two ends; and all its spans.
fn utterance(seed: u64, n_words: u32) -> (Pieces, Vec<(u32, u32)>) {
    let mut random = Random::new(seed, &[]);
    let ids = (0..n_words + 2).map(|_| random.below(1000) as u32).collect();
    let words = (1..=n_words).map(|at| (at, at)).collect();
    let spans = (0..n_words).flat_map(|start| (start + 1..=n_words).map(move |end| (start, end))).collect();
    (Pieces { ids, words, ngrams: Vec::new() }, spans)
}

fn respond(logits: &Logits) -> (Vec<Vec<f32>>, ()) {
    let mut gradient = logits.zeros();
    gradient.iter_mut().flatten().enumerate().for_each(|(at, g)| *g = (at % 7) as f32 * 0.01 - 0.03);
    (gradient, ())
}

#[divan::bench]
fn logits_of_one_utterance(bencher: Bencher<'_, '_>) {
    let network = network();
    let (pieces, spans) = utterance(1, 10);
    bencher.bench_local(|| network.logits(&[Item { pieces: &pieces, lower: None, spans: &spans }]));
}

fn gradients(network: &Network, n_words: u32, dropout: f32) -> impl Fn() -> Gradients {
    let utterances: Vec<_> = (0..8).map(|seed| utterance(seed, n_words)).collect();
    let lower = network.lower(&utterances.iter().map(|(pieces, _)| pieces).collect::<Vec<_>>());
    move || {
        let items: Vec<Item<'_>> = utterances
            .iter()
            .zip(&lower)
            .map(|((pieces, spans), lower)| Item { pieces, lower: Some(lower), spans })
            .collect();
        network.gradients(&items, Noise { dropout, seed: 1 }, respond).0
    }
}

#[divan::bench(args = [10, 14, 30])]
fn gradients_of_eight_utterances_above_frozen_layers(bencher: Bencher<'_, '_>, n_words: u32) {
    let network = network();
    bencher.bench_local(gradients(&network, n_words, 0.0));
}

#[divan::bench]
fn gradients_with_dropout(bencher: Bencher<'_, '_>) {
    let network = network();
    bencher.bench_local(gradients(&network, 10, 0.1));
}

#[divan::bench]
fn step_of_the_optimiser(bencher: Bencher<'_, '_>) {
    let mut network = network();
    let gradients = gradients(&network, 10, 0.0)();
    let mut adam = AdamW::new(AdamWConfig::default(), &network.params);
    let rates = Rates { encoder: 1e-5, head: 1e-3, table: 1e-2 };
    bencher.bench_local(|| adam.step(&mut network.params, &gradients, rates));
}
