//! Answering, and learning to: words and objects go through the network together.

use super::End2End;
use crate::batch::{Ready, in_batches};
use crate::family::{Gold, Parsed, Request, Shard, ShardGradients, Task};
use crate::outcome::{Answered, Predicted, Refused};
use crate::span_model::lower;
use serde_json::Value;
use spanwise_chart::budget::{Exhausted, Meter};
use spanwise_core::Utterance;
use spanwise_domains::exec::ExecError;
use spanwise_domains::objects::objects;
use spanwise_nn::Pieces;
use spanwise_nn::scene_classifier::{SceneInput, SceneLesson};
use std::time::Instant;

/// Multiplications that take as long as a unit of work.
const PER_UNIT: u64 = 20;

/// An utterance and its scene, ready for the network.
struct Input {
    pieces: Pieces,
    features: Vec<u32>,
}

impl Input {
    fn new(model: &End2End, utterance: &Utterance, scene: &Value) -> Result<Self, ExecError> {
        let features = model.features.of(&objects(scene)?);
        Ok(Self { pieces: model.tokenizer.encode(utterance), features })
    }

    /// Word-pieces and objects together.
    fn len(&self, model: &End2End) -> usize {
        self.pieces.ids.len() + self.features.len() / model.features.per_object()
    }

    fn of_network<'a>(&'a self, lower: Option<&'a [f32]>) -> SceneInput<'a> {
        SceneInput { pieces: &self.pieces, lower, features: &self.features }
    }
}

/// Answers questions; see [`Family::parse_batch`](crate::Family::parse_batch).
pub(super) fn answer_batch(model: &End2End, requests: Vec<Request<'_>>, with_vectors: bool) -> Vec<Parsed> {
    in_batches(
        requests,
        |request| prepare_checked(model, request),
        |input| input.len(model),
        |batch| answer(model, &batch, with_vectors),
    )
}

/// The work to answer a question: the matrix products of all layers, and attention.
pub(super) fn work(model: &End2End, request: &Request<'_>) -> u64 {
    prepare_checked(model, request).map_or(0, |input| {
        let (n, encoder) = (input.len(model) as u64, model.network.encoder());
        let (hidden, intermediate) = (encoder.hidden as u64, encoder.intermediate as u64);
        n * encoder.layers as u64 * hidden * (4 * hidden + 2 * intermediate + 2 * n) / PER_UNIT
    })
}

/// Makes a question ready for the network, or says why it has no answer.
fn prepare_checked(model: &End2End, request: &Request<'_>) -> Result<Input, Refused> {
    let Request { utterance, context, budget, .. } = request;
    if utterance.is_empty() {
        return Err(Refused::no_program("the utterance has no words"));
    }
    let scene = context.ok_or_else(|| {
        let reason = "this model answers questions about a scene, and there is none: give one as the context";
        Refused::no_program(reason)
    })?;
    let meter = Meter::new(budget);
    meter.look().map_err(Refused::given_up)?;
    let input = Input::new(model, utterance, scene).map_err(|error| match error {
        ExecError::Limit { .. } => Refused::too_costly(error.to_string()),
        _ => Refused::no_program(error.to_string()),
    })?;
    let encoder = model.network.encoder();
    let (n, limit) = (input.pieces.ids.len(), encoder.max_pieces());
    if n > limit {
        let reason = format!("the utterance has {n} word-pieces, the encoder takes at most {limit}");
        return Err(Refused::too_costly(reason));
    }
    // Attention: weights before and after the softmax, for every pair of word-pieces and objects.
    let n = input.len(model);
    let too_long = |limit: Exhausted| {
        Refused::too_costly(format!("the utterance and its scene are too long: together they exceed {limit}"))
    };
    meter.fits(2 * n * n * encoder.heads * size_of::<f32>()).map_err(too_long)?;
    Ok(input)
}

fn answer(model: &End2End, batch: &[Ready<'_, Input>], with_vectors: bool) -> Vec<(usize, Parsed)> {
    let inputs: Vec<SceneInput<'_>> = batch.iter().map(|ready| ready.input.of_network(None)).collect();
    let found = model.network.log_probabilities(&inputs);
    // Those of the words alone, as calibration knows them.
    let vectors = if with_vectors {
        model.network.word_vectors(&inputs.iter().map(|input| input.pieces).collect::<Vec<_>>())
    } else {
        vec![Vec::new(); batch.len()]
    };
    let parsed = |((ready, log_probabilities), word_vectors): ((&Ready<'_, Input>, Vec<f32>), Vec<f32>)| {
        let utterance = ready.request.utterance.clone();
        let predicted = best(model, utterance.clone(), &log_probabilities);
        (ready.at, Parsed { utterance, predicted, word_vectors, spans: Vec::new() })
    };
    batch.iter().zip(found).zip(vectors).map(parsed).collect()
}

/// The most probable answer; of several, the first.
fn best(model: &End2End, utterance: Utterance, log_probabilities: &[f32]) -> Result<Predicted, Refused> {
    if log_probabilities.iter().any(|log| log.is_nan()) {
        return Err(Refused::diverged());
    }
    let all = model.answers.iter().zip(log_probabilities).rev();
    let (answer, log) = all.max_by(|a, b| a.1.total_cmp(b.1)).ok_or_else(Refused::diverged)?;
    let posterior = f64::from(*log).exp();
    Ok(Predicted::Answer(Box::new(Answered::new(utterance, answer.clone(), posterior))))
}

/// Loss and gradients of a shard. Nothing is learned from an utterance that is too long.
pub(super) fn gradients<'a>(model: &End2End, shard: &Shard<'a>) -> ShardGradients {
    let started = Instant::now();
    let most = model.network.encoder().max_pieces();
    let learnable = |task: &Task<'a>| {
        let Gold::Answer { answer, context } = &task.pair.gold else { return None };
        let class = model.class(answer)?;
        let input = Input::new(model, &task.pair.utterance, context).ok()?;
        let fits = !task.pair.utterance.is_empty() && input.pieces.ids.len() <= most;
        fits.then_some((*task, input, class))
    };
    let inputs: Vec<(Task<'_>, Input, u32)> = shard.tasks.iter().filter_map(learnable).collect();
    let lower = lower(model, inputs.iter().map(|(task, input, _)| (task.lower, &input.pieces)));
    let lessons: Vec<SceneLesson<'_>> = inputs
        .iter()
        .zip(&lower)
        .map(|((task, input, class), lower)| SceneLesson {
            input: input.of_network(lower.as_deref()),
            class: *class,
            weight: task.weight * shard.scale,
        })
        .collect();
    ShardGradients::of_network(started, lessons.len(), |respond| {
        model.network.gradients(&lessons, shard.noise, respond)
    })
}
