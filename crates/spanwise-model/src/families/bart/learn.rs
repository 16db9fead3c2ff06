//! Training: the negative log-likelihood of the word-pieces of gold programs.

use super::BartParser;
use crate::family::{Shard, ShardGradients, Task};
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
        let mut target = parser.target(shard.terms, task.pair.program()?)?;
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
    ShardGradients::of_network(started, lessons.len(), |respond| {
        parser.network.gradients(&lessons, shard.noise, respond)
    })
}
