//! Models that answer without programs, the baseline End2End of the paper: an encoder reads the words together with the
//! objects of a scene, and one of the answers of training is chosen from its output for the first word-piece.
//!
//! An object is the sum of learned vectors of its attributes and of its ranks, from left to right and from front to back.
//! An answer that training does not have is never given. There is no program and no tree: nothing tells what an answer rests
//! on.

mod answer;
mod features;
mod settings;

pub use settings::End2EndSettings;

use crate::directory::ModelError;
use crate::families::Settings;
use crate::family::{
    Blueprint, BuildError, EncoderSource, Family, Gold, Pair, Parsed, Request, Shard, ShardGradients, Stored,
};
use features::Features;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spanwise_domains::objects::{Object, objects};
use spanwise_nn::pretrained::{EncoderConfig, Pretrained};
use spanwise_nn::scene_classifier::SceneConfig;
use spanwise_nn::{Params, Pieces, SceneClassifier, Tokenizer};

/// Most answers to choose from, and most features of objects: with more, answers or attributes are texts that cannot be
/// enumerated.
const MAX_ANSWERS: usize = 10_000;
const MAX_FEATURES: usize = 10_000;

/// A model that answers without programs.
#[derive(Debug)]
pub struct End2End {
    settings: End2EndSettings,
    tokenizer: Tokenizer,
    features: Features,
    /// All answers, sorted.
    answers: Vec<String>,
    network: SceneClassifier,
}

/// The part of `model.json` that restores a model.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    encoder: EncoderConfig,
    /// How many layers are frozen: objects join above them.
    frozen: Option<usize>,
    features: Features,
    answers: Vec<String>,
}

impl End2End {
    fn build(settings: End2EndSettings, blueprint: Blueprint<'_>) -> Result<Self, BuildError> {
        let Blueprint { pairs, encoder, seed, .. } = blueprint;
        let (features, answers) = learn(pairs).map_err(BuildError::Examples)?;
        let config = scene_config(&features, &answers);
        let failed = |reason: String| BuildError::Encoder(reason);
        let (tokenizer, network) = match encoder {
            EncoderSource::Pretrained { directory, frozen_layers } => {
                let Pretrained { config: encoder, mut weights, tokenizer } =
                    Pretrained::open(directory).map_err(|error| failed(error.to_string()))?;
                if frozen_layers >= encoder.layers {
                    return Err(failed(format!(
                        "it has {} layers, and objects are read by those that are not frozen: lower \
                         `training.frozen_layers`, which is {frozen_layers}",
                        encoder.layers
                    )));
                }
                let network = SceneClassifier::pretrained(encoder, &mut weights, config, frozen_layers, seed);
                (tokenizer, network)
            }
            EncoderSource::Compact { shape, dropout } => {
                let tokenizer = shape.words(pairs.iter().map(|pair| &pair.utterance));
                let encoder = shape.encoder(tokenizer.vocab_size(), dropout);
                let network = SceneClassifier::from_scratch(encoder, tokenizer.n_buckets(), config, seed);
                (tokenizer, network)
            }
        };
        let network = network.map_err(|error| failed(error.to_string()))?;
        Ok(Self { settings, tokenizer, features, answers, network })
    }

    fn load(settings: End2EndSettings, stored: Stored<'_>) -> Result<Self, ModelError> {
        let Stored { path, state, tokenizer, weights, .. } = stored;
        let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
        let State { encoder, frozen, features, answers } =
            serde_json::from_value(state).map_err(|error| damaged(error.to_string()))?;
        encoder.check(path).map_err(|error| damaged(error.to_string()))?;
        if tokenizer.vocab_size() > encoder.vocab_size {
            return Err(damaged("the tokenizer has more word-pieces than the encoder".to_owned()));
        }
        check_sizes(&features, &answers).map_err(damaged)?;
        if !answers.is_sorted_by(|a, b| a < b) {
            return Err(damaged("`answers` is not sorted, or one is there twice".to_owned()));
        }
        let config = scene_config(&features, &answers);
        let network = SceneClassifier::saved(encoder, tokenizer.n_buckets(), config, frozen, weights)?;
        Ok(Self { settings, tokenizer, features, answers, network })
    }

    /// The class of an answer; `None` if training does not have it.
    fn class(&self, answer: &str) -> Option<u32> {
        self.answers.binary_search_by(|other| other.as_str().cmp(answer)).ok().map(|class| class as u32)
    }
}

fn scene_config(features: &Features, answers: &[String]) -> SceneConfig {
    let (n_features, per_object) = (features.len(), features.per_object());
    SceneConfig { n_features, per_object, n_classes: answers.len() }
}

/// The features and the answers of training examples.
fn learn(pairs: &[Pair]) -> Result<(Features, Vec<String>), String> {
    let (mut all, mut answers) = (Vec::<Object>::new(), Vec::new());
    for pair in pairs {
        let text = pair.utterance.text();
        let Gold::Answer { answer, context } = &pair.gold else {
            return Err(format!("`{text}` has no answer to learn from"));
        };
        all.extend(objects(context).map_err(|error| format!("the scene of `{text}`: {error}"))?);
        answers.push(answer.clone());
    }
    // Most are there many times.
    all.sort_unstable();
    all.dedup();
    answers.sort_unstable();
    answers.dedup();
    let features = Features::learn(&all);
    check_sizes(&features, &answers)?;
    Ok((features, answers))
}

fn check_sizes(features: &Features, answers: &[String]) -> Result<(), String> {
    for (n, most, what) in [
        (answers.len(), MAX_ANSWERS, "different answers"),
        (features.len(), MAX_FEATURES, "different values of attributes and ranks of objects"),
    ] {
        if n > most {
            return Err(format!("there are {n} {what}; the family `end2end` chooses among at most {most}"));
        }
    }
    if answers.is_empty() { Err("there is no answer to choose".to_owned()) } else { Ok(()) }
}

impl Family for End2End {
    fn settings(&self) -> Settings {
        Settings::End2End(self.settings)
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn encoder(&self) -> &EncoderConfig {
        self.network.encoder()
    }

    fn parse_batch(&self, requests: Vec<Request<'_>>, with_vectors: bool) -> Vec<Parsed> {
        answer::answer_batch(self, requests, with_vectors)
    }

    fn work(&self, request: &Request<'_>) -> u64 {
        answer::work(self, request)
    }

    fn word_vectors(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.network.word_vectors(batch)
    }

    fn params(&self) -> &Params {
        &self.network.params
    }

    fn params_mut(&mut self) -> &mut Params {
        &mut self.network.params
    }

    fn refresh(&mut self) {}

    fn frozen_outputs(&self, batch: &[&Pieces]) -> Option<Vec<Vec<f32>>> {
        self.network.n_frozen().map(|_| self.network.lower(batch))
    }

    fn gradients(&self, shard: &Shard<'_>) -> ShardGradients {
        answer::gradients(self, shard)
    }

    fn state(&self) -> Value {
        let state = State {
            encoder: self.network.encoder().clone(),
            frozen: self.network.n_frozen(),
            features: self.features.clone(),
            answers: self.answers.clone(),
        };
        serde_json::to_value(state).unwrap_or_else(|_| unreachable!("names and numbers are JSON"))
    }
}

#[cfg(test)]
mod tests;
