//! Training: the negative log-likelihood of the word-pieces of gold programs.

use super::BartParser;
use crate::family::{Shard, ShardGradients, StepTime, Task};
use spanwise_nn::Pieces;
use spanwise_nn::bart::Lesson;
use std::time::Instant;

/// Loss and gradients of a shard. Nothing is learned from a pair whose program cannot be written or whose utterance is too
/// long.
pub(super) fn gradients<'a>(parser: &BartParser, shard: &Shard<'a>) -> ShardGradients {
    let started = Instant::now();
    let most = parser.network.encoder().max_pieces();
    let learnable = |task: &Task<'a>| {
        let pieces = parser.tokenizer.encode(&task.pair.utterance);
        let mut target = parser.target(shard.terms, task.pair.program)?;
        if shard.encoder_only {
            target.truncate(1);
        }
        let fits = !task.pair.utterance.is_empty() && pieces.ids.len() <= most;
        fits.then_some((task.weight, pieces, target))
    };
    let inputs: Vec<(f32, Pieces, Vec<u32>)> = shard.tasks.iter().filter_map(learnable).collect();
    let lesson = |(weight, pieces, target)| Lesson { pieces, target, weight: weight * shard.scale };
    let lessons: Vec<Lesson<'_>> =
        inputs.iter().map(|(weight, pieces, target)| lesson((*weight, pieces, &target[..]))).collect();
    let prepared = Instant::now();
    let (gradients, (loss, scored)) = parser
        .network
        .gradients(&lessons, shard.noise, |losses| (losses.iter().sum::<f64>(), Instant::now()));
    let time = StepTime {
        prepare: (prepared - started).as_secs_f64(),
        forward: (scored - prepared).as_secs_f64(),
        charts: 0.0,
        backward: scored.elapsed().as_secs_f64(),
    };
    ShardGradients { gradients, loss, n_learned: lessons.len(), time }
}
