//! Training examples for an epoch that are not in the data: recombined ones, and ones with typing errors.

use crate::cache::Cache;
use crate::config::Config;
use crate::recombine::{Bank, Explained, Limits, contrasted};
use spanwise_core::Utterance;
use spanwise_domains::data::noise::with_typing_errors;
use spanwise_lang::Terms;
use spanwise_model::{Model, Pair, Task};
use spanwise_nn::Random;

/// Most examples from which fragments are collected.
const MAX_BANK: usize = 2_000;

/// At most one in this many new examples has a constant exchanged for its opposite.
const CONTRAST_PART: usize = 4;

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
            let (utterance, program) = (task.pair.utterance.clone(), task.pair.program()?);
            Some(Explained { utterance, program, tree: tree? })
        })
        .collect();
    let opposites = contrasted(
        &model.domain,
        (&spans.grammar, &spans.candidates),
        terms,
        &explained,
        n / CONTRAST_PART,
        Random::new(config.seed, &[8, epoch as u64]).next(),
    );
    let limits = Limits::of(&model.domain, terms, &explained);
    let limits = Limits { choices: training.augment_choices, ..limits };
    let mut bank = Bank::new(&model.domain, terms, &explained, limits);
    bank.exclude(pairs.iter().map(|pair| &pair.utterance));
    let n = n - opposites.len();
    bank.recombine(&spans.grammar, &spans.candidates, terms, n, random.next())
        .into_iter()
        .chain(opposites)
        .map(|new| Pair::new(new.utterance, new.program))
        .collect()
}

/// For each pair, a copy with a typing error, if it gets one in this epoch. The first epoch has none: a tree must be found
/// before it can be found in noise.
pub(crate) fn with_noise<'a>(
    config: &Config,
    pairs: impl Iterator<Item = &'a Pair>,
    epoch: usize,
) -> Vec<Option<Pair>> {
    let mut random = Random::new(config.seed, &[7, epoch as u64]);
    let share = if epoch > 1 { config.training.noise } else { 0.0 };
    let noisy = |pair: &Pair| {
        if random.uniform() >= share {
            return None;
        }
        let text = with_typing_errors(pair.utterance.text(), 1, &mut random);
        let utterance = Utterance::new(text).said_at(pair.utterance.now());
        // Spans of gold trees count words.
        (utterance.len() == pair.utterance.len()).then(|| Pair { utterance, ..pair.clone() })
    };
    pairs.map(noisy).collect()
}
