//! Recombined training examples for an epoch.

use crate::cache::Cache;
use crate::config::Config;
use crate::recombine::{Bank, Explained, Limits};
use spanwise_lang::Terms;
use spanwise_model::{Model, Pair, Task};
use spanwise_nn::Random;

/// Most examples from which fragments are collected.
const MAX_BANK: usize = 2_000;

/// Recombined examples for an epoch. Fragments come from the Viterbi trees of the gold programs under the current
/// parameters. Empty for a family that does not recombine.
pub(crate) fn recombined(
    config: &Config,
    model: &Model,
    terms: &mut Terms,
    pairs: &[Pair],
    cache: &Cache,
    epoch: usize,
) -> Vec<Pair> {
    let training = &config.training;
    let spans = model.family.span_model().filter(|_| config.model.family().recombines());
    let Some(spans) = spans.filter(|_| training.augment_from > 0 && epoch >= training.augment_from) else {
        return Vec::new();
    };
    let n = (pairs.len() as f32 * training.augment_share) as usize;
    let mut random = Random::new(config.seed, &[5, epoch as u64]);
    let mut chosen: Vec<usize> = (0..pairs.len()).collect();
    if chosen.len() > MAX_BANK {
        random.shuffle(&mut chosen);
        chosen.truncate(MAX_BANK);
        chosen.sort_unstable();
    }
    let tasks: Vec<Task<'_>> =
        chosen.iter().map(|&at| Task { pair: &pairs[at], lower: cache.get(at), weight: 1.0 }).collect();
    let trees = model.family.gold_trees(terms, &tasks);
    let explained: Vec<Explained> = tasks
        .iter()
        .zip(trees)
        .filter_map(|(task, tree)| {
            let Pair { utterance, program, .. } = task.pair;
            Some(Explained { utterance: utterance.clone(), program: *program, tree: tree? })
        })
        .collect();
    let limits = Limits::of(&model.domain, terms, &explained);
    let limits = Limits { choices: training.augment_choices, ..limits };
    let mut bank = Bank::new(&model.domain, terms, &explained, limits);
    bank.exclude(pairs.iter().map(|pair| &pair.utterance));
    bank.recombine(&spans.grammar, &spans.candidates, terms, n, random.next())
        .into_iter()
        .map(|new| Pair { utterance: new.utterance, program: new.program, leaves: None })
        .collect()
}
