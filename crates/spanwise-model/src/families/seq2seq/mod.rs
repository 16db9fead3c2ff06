//! Sequence-to-sequence models, the baselines of the paper: an attentive LSTM decoder writes the program token by token,
//! and copies entities and literals that the domain finds in the words.
//!
//! With the encoder `compact`, a bidirectional LSTM reads trained word vectors (Seq2Seq in the paper). A pretrained encoder
//! is fine-tuned and attended to directly (BERT2Seq), or frozen, its vectors being what the bidirectional LSTM reads.
//!
//! With `constrained`, the search writes well-typed programs only (Grammar).
//!
//! There is no tree: a program comes without an explanation of which words it rests on.

mod constrained;
mod decode;
mod input;
mod learn;
mod settings;
mod vocabulary;

pub use settings::{Pretraining, Seq2SeqSettings};

use crate::directory::ModelError;
use crate::families::Settings;
use crate::family::{
    Blueprint, BuildError, EncoderSource, Family, Pair, Parsed, Request, Shard, ShardGradients, Stored,
};
use constrained::Grammar;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spanwise_lang::{Domain, linear};
use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig, Pretrained};
use spanwise_nn::seq2seq::Seq2SeqConfig;
use spanwise_nn::tokenizer::WordTable;
use spanwise_nn::{Params, Pieces, Seq2Seq, Tokenizer, WordVectors};
use std::path::Path;
use std::sync::Arc;
use vocabulary::{StoredToken, Vocabulary};

/// Longest utterance of the encoder of word vectors, with its ends.
const MAX_POSITIONS: usize = 5_002;
/// The most frequent words of a file of vectors, which are part of a model whether or not training has them.
const N_FREQUENT: usize = 20_000;
/// How much longer than the longest training program a program may become.
const LONGER: f64 = 1.5;

/// A model that writes programs token by token.
#[derive(Debug)]
pub struct Seq2SeqParser {
    domain: Arc<Domain>,
    settings: Seq2SeqSettings,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    /// `None` where decoding is not constrained.
    grammar: Option<Grammar>,
    network: Seq2Seq,
    /// Most tokens of a program.
    max_length: usize,
}

/// The part of `model.json` that restores a model.
#[derive(Serialize, Deserialize)]
struct State {
    encoder: EncoderConfig,
    decoder: Seq2SeqConfig,
    tokens: Vec<StoredToken>,
    /// The names of the entity classes, which are the kinds of what is copied.
    classes: Vec<String>,
    max_length: usize,
}

fn class_names(domain: &Domain) -> Vec<String> {
    domain.classes().iter().map(|class| class.name.clone()).collect()
}

impl Seq2SeqParser {
    fn new(
        domain: Arc<Domain>,
        settings: Seq2SeqSettings,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        network: Seq2Seq,
        max_length: usize,
    ) -> Self {
        let grammar = settings.constrained.then(|| Grammar::new(&domain, &vocabulary));
        Self { domain, settings, tokenizer, vocabulary, grammar, network, max_length }
    }

    fn build(settings: Seq2SeqSettings, blueprint: Blueprint<'_>) -> Result<Self, BuildError> {
        let Blueprint { domain, terms, pairs, encoder, seed } = blueprint;
        let vocabulary = Vocabulary::learn(&domain, terms, pairs);
        let n_tokens = |program| linear::linearize(&domain, terms, program).len();
        let longest = pairs.iter().filter_map(Pair::program).map(n_tokens).max().unwrap_or(0);
        let config = Seq2SeqConfig {
            bilstm: !matches!(encoder, EncoderSource::Pretrained { .. })
                || settings.pretrained == Pretraining::Frozen,
            embedding: settings.embedding,
            hidden: settings.hidden,
            n_tokens: vocabulary.len(),
            n_kinds: domain.classes().len().max(1),
        };
        let (tokenizer, network) = match encoder {
            EncoderSource::Pretrained { .. } if !settings.vectors.is_empty() => {
                let reason = "it has vectors of its own: `model.vectors` is for the encoder `compact`";
                return Err(BuildError::Encoder(reason.to_owned()));
            }
            EncoderSource::Pretrained { directory, frozen_layers } => {
                let Pretrained { config: encoder, mut weights, tokenizer } =
                    Pretrained::open(directory).map_err(|error| BuildError::Encoder(error.to_string()))?;
                let n_frozen = match settings.pretrained {
                    Pretraining::FineTuned => frozen_layers,
                    Pretraining::Frozen => encoder.layers,
                };
                (tokenizer, Seq2Seq::pretrained(encoder, &mut weights, config, n_frozen, seed))
            }
            EncoderSource::Compact { shape, dropout } => {
                let words =
                    WordTable::from_utterances(pairs.iter().map(|pair| &pair.utterance), shape.min_count);
                let words = words.with_buckets(shape.ngram_buckets as u32);
                let (words, vectors) = pretrained_vectors(&domain, &settings.vectors, words)?;
                let width = vectors.as_ref().map_or(settings.embedding, WordVectors::width);
                let encoder = word_vectors(words.vocab_size(), width, dropout);
                let network =
                    Seq2Seq::from_scratch(encoder, words.n_buckets(), config, seed).map(|mut network| {
                        let vectors = vectors.iter().flat_map(|vectors| &vectors.words);
                        network.set_word_vectors(vectors.map(|(word, vector)| (words.id(word), &vector[..])));
                        network
                    });
                (Tokenizer::Words(words), network)
            }
        };
        let network = network.map_err(|error| BuildError::Encoder(error.to_string()))?;
        // One more for the end.
        let max_length = ((LONGER * longest as f64) as usize + 1).min(MAX_LENGTH);
        Ok(Self::new(domain, settings, tokenizer, vocabulary, network, max_length))
    }

    fn load(settings: Seq2SeqSettings, stored: Stored<'_>) -> Result<Self, ModelError> {
        let Stored { path, domain, state, tokenizer, weights } = stored;
        let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
        let State { encoder, decoder, tokens, classes, max_length } =
            serde_json::from_value(state).map_err(|error| damaged(error.to_string()))?;
        encoder.check(path).map_err(|error| damaged(error.to_string()))?;
        if classes != class_names(&domain) {
            let reason = format!("the classes of entities were {}", classes.join(", "));
            return Err(ModelError::Changed { path: path.to_owned(), reason });
        }
        let vocabulary = Vocabulary::restore(&domain, tokens);
        let expected = Seq2SeqConfig {
            bilstm: decoder.bilstm,
            embedding: settings.embedding,
            hidden: settings.hidden,
            n_tokens: vocabulary.len(),
            n_kinds: classes.len().max(1),
        };
        if decoder != expected {
            return Err(damaged("the sizes of the decoder are not those of its settings".to_owned()));
        }
        if tokenizer.vocab_size() > encoder.vocab_size {
            return Err(damaged("the tokenizer has more word-pieces than the encoder".to_owned()));
        }
        if !(1..=MAX_LENGTH).contains(&max_length) {
            return Err(damaged(format!("`max_length` is {max_length}, expected 1 to {MAX_LENGTH}")));
        }
        let network = Seq2Seq::saved(encoder, tokenizer.n_buckets(), decoder, weights)?;
        Ok(Self::new(domain, settings, tokenizer, vocabulary, network, max_length))
    }
}

/// No program of a model may be longer: whatever a model directory says, decoding ends.
const MAX_LENGTH: usize = 10_000;

/// The words that a model knows, and their pretrained vectors, if a file is named. Besides the words of training these are
/// the most frequent ones of the file and those of names and phrases, so that also words of later utterances are known.
fn pretrained_vectors(
    domain: &Domain,
    file: &str,
    words: WordTable,
) -> Result<(WordTable, Option<WordVectors>), BuildError> {
    if file.is_empty() {
        return Ok((words, None));
    }
    let lexicon = domain.lexicon();
    let is_wanted = |word: &str| words.id(word) != WordTable::UNKNOWN || lexicon.has_word(word);
    let vectors = WordVectors::read(Path::new(file), N_FREQUENT, is_wanted);
    let vectors = vectors.map_err(|error| BuildError::Encoder(error.to_string()))?;
    let words = words.with_words(vectors.words.iter().map(|(word, _)| word.as_str()));
    Ok((words, Some(vectors)))
}

/// An encoder without layers: vectors of words and of their character n-grams.
fn word_vectors(vocab_size: usize, width: usize, dropout: f32) -> EncoderConfig {
    EncoderConfig {
        architecture: Architecture::Compact,
        vocab_size,
        hidden: width,
        layers: 0,
        heads: 1,
        intermediate: 1,
        max_positions: MAX_POSITIONS,
        type_vocab: 0,
        layer_norm_eps: 1e-5,
        dropout: f64::from(dropout),
        position_offset: 0,
        relative_buckets: 0,
        activation: Activation::Gelu,
    }
}

impl Family for Seq2SeqParser {
    fn settings(&self) -> Settings {
        Settings::Seq2Seq(self.settings.clone())
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn encoder(&self) -> &EncoderConfig {
        self.network.encoder()
    }

    fn parse_batch(&self, requests: Vec<Request<'_>>, with_vectors: bool) -> Vec<Parsed> {
        decode::parse_batch(self, requests, with_vectors)
    }

    fn work(&self, request: &Request<'_>) -> u64 {
        decode::work(self, request.utterance.len())
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
        self.network.is_frozen_below().then(|| self.network.lower(batch))
    }

    fn gradients(&self, shard: &Shard<'_>) -> ShardGradients {
        learn::gradients(self, shard)
    }

    fn state(&self) -> Value {
        let state = State {
            encoder: self.network.encoder().clone(),
            decoder: self.network.config(),
            tokens: self.vocabulary.stored(),
            classes: class_names(&self.domain),
            max_length: self.max_length,
        };
        serde_json::to_value(state).unwrap_or_else(|_| unreachable!("names and numbers are JSON"))
    }
}

#[cfg(test)]
mod tests;
