//! Training: the negative log-likelihood of the tokens of gold programs, however each is written.

use super::Seq2SeqParser;
use super::input::Input;
use super::vocabulary::Vocabulary;
use crate::family::{Shard, ShardGradients, Task};
use crate::span_model::lower;
use spanwise_lang::{TermId, Terms, linear};
use spanwise_nn::seq2seq::{Lesson, Previous, Reads, Step};
use std::time::Instant;

impl Seq2SeqParser {
    /// The steps that write a program: at each, the symbol may be generated or copied from any of its places. `None` when
    /// it has a token that can be neither.
    pub(super) fn steps(&self, input: &Input, terms: &Terms, program: TermId) -> Option<Vec<Step>> {
        let tokens = linear::linearize(&self.domain, terms, program);
        let symbols: Option<Vec<u32>> = tokens.iter().map(|token| self.symbol(input, token)).collect();
        let mut steps = Vec::with_capacity(tokens.len() + 1);
        let mut previous = Previous::Nothing;
        for symbol in symbols?.into_iter().chain([Vocabulary::END]) {
            let n_tokens = self.vocabulary.len() as u32;
            let generated = (symbol < n_tokens).then_some(symbol);
            let copied = (n_tokens..).zip(&input.copied).filter(|(_, copied)| **copied == symbol);
            let choices = generated.into_iter().chain(copied.map(|(choice, _)| choice)).collect();
            steps.push(Step { previous, choices });
            previous = self.previous(input, symbol);
        }
        Some(steps)
    }
}

/// Loss and gradients of a shard. Nothing is learned from a pair whose program cannot be written.
pub(super) fn gradients<'a>(parser: &Seq2SeqParser, shard: &Shard<'a>) -> ShardGradients {
    let started = Instant::now();
    let learnable = |task: &Task<'a>| {
        let input = parser.prepare(task.pair.utterance.clone());
        let mut steps = parser.steps(&input, shard.terms, task.pair.program()?)?;
        if shard.encoder_only {
            steps.truncate(1);
        }
        (!input.utterance.is_empty()).then_some((*task, input, steps))
    };
    let inputs: Vec<(Task<'_>, Input, Vec<Step>)> = shard.tasks.iter().filter_map(learnable).collect();
    let lower = lower(parser, inputs.iter().map(|(task, input, _)| (task.lower, &input.pieces)));
    let lessons: Vec<Lesson<'_>> = inputs
        .iter()
        .zip(&lower)
        .map(|((task, input, steps), lower)| Lesson {
            reads: Reads { pieces: &input.pieces, lower: lower.as_deref(), copies: &input.copies },
            steps,
            weight: task.weight * shard.scale,
        })
        .collect();
    ShardGradients::of_network(started, lessons.len(), |respond| {
        parser.network.gradients(&lessons, shard.noise, respond)
    })
}
