//! Pretrained encoder-decoders, the baseline BART of the paper: a transformer that was trained on text is fine-tuned to
//! write programs as text, word-piece by word-piece.
//!
//! Nothing makes sure that what it writes is a program. Of what the search finds, only programs of the domain count, and an
//! utterance for which it finds none has no parse.
//!
//! There is no tree: a program comes without an explanation of which words it rests on.

mod decode;
mod learn;
mod settings;

pub use settings::BartSettings;

use crate::directory::ModelError;
use crate::families::Settings;
use crate::family::{
    Blueprint, BuildError, EncoderSource, Family, Pair, Parsed, Request, Shard, ShardGradients, Stored,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spanwise_core::Utterance;
use spanwise_lang::{Domain, Kind, TermId, Terms};
use spanwise_nn::bart::BartConfig;
use spanwise_nn::pretrained::{CONFIG_NAME, EncoderConfig, Weights};
use spanwise_nn::tokenizer::TextPieces;
use spanwise_nn::{Bart, Params, Pieces, Tokenizer};
use std::path::Path;
use std::sync::Arc;

/// How much longer than the longest training program a program may become.
const LONGER: f64 = 1.5;
/// Names of entities whose word-pieces are kept; those of others are spelled with shorter ones.
const MAX_NAMES: usize = 100_000;

/// A model that writes programs as text.
#[derive(Debug)]
pub struct BartParser {
    domain: Arc<Domain>,
    settings: BartSettings,
    /// Always pieces of texts.
    tokenizer: Tokenizer,
    network: Bart,
    /// Most word-pieces of a program, with the one that ends it.
    max_length: usize,
    /// Word-pieces that are no part of a text.
    silent: Vec<u32>,
}

/// The part of `model.json` that restores a model.
#[derive(Serialize, Deserialize)]
struct State {
    network: BartConfig,
    max_length: usize,
}

impl BartParser {
    fn build(settings: BartSettings, blueprint: Blueprint<'_>) -> Result<Self, BuildError> {
        let Blueprint { domain, terms, pairs, encoder, .. } = blueprint;
        let EncoderSource::Pretrained { directory, frozen_layers } = encoder else {
            let reason = "the family `bart` is not trained from scratch: give `--encoder` a directory with a BART or \
                          Marian model, such as `tools/fetch_encoders.py marian` makes";
            return Err(BuildError::Encoder(reason.to_owned()));
        };
        let (config, mut weights, mut pieces) = open(directory)?;
        let programs: Vec<String> = pairs
            .iter()
            .filter_map(Pair::program)
            .map(|program| domain.display(terms, program).to_string())
            .collect();
        let mut rows = None;
        if settings.trimmed {
            let (read, written) = texts(&domain, pairs.iter().map(|pair| &pair.utterance), programs.clone());
            let special = [config.start, config.end, config.pad];
            let (trimmed, kept) =
                pieces.trimmed(read.iter().map(String::as_str), written.iter().map(String::as_str), &special);
            (pieces, rows) = (trimmed, Some(kept));
        }
        let network = Bart::pretrained(config, &mut weights, rows.as_deref(), frozen_layers)
            .map_err(|error| BuildError::Encoder(error.to_string()))?;
        let lengths = programs.iter().filter_map(|text| pieces.written(text)).map(|ids| ids.len());
        let longest = lengths.max().unwrap_or(1);
        let max_length = ((LONGER * longest as f64) as usize).clamp(1, network.config().max_written());
        Ok(Self::new(domain, settings, pieces, network, max_length))
    }

    fn new(
        domain: Arc<Domain>,
        settings: BartSettings,
        pieces: TextPieces,
        network: Bart,
        max_length: usize,
    ) -> Self {
        let config = network.config();
        let mut silent = pieces.silent();
        silent.extend([config.pad, config.start]);
        silent.retain(|&piece| piece != config.end);
        Self { domain, settings, tokenizer: Tokenizer::Text(Box::new(pieces)), network, max_length, silent }
    }

    fn load(settings: BartSettings, stored: Stored<'_>) -> Result<Self, ModelError> {
        let Stored { path, domain, state, tokenizer, weights } = stored;
        let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
        let State { network: config, max_length } =
            serde_json::from_value(state).map_err(|error| damaged(error.to_string()))?;
        config.check(path).map_err(|error| damaged(error.to_string()))?;
        if tokenizer.vocab_size() > config.encoder.vocab_size {
            return Err(damaged("the tokenizer has more word-pieces than the network".to_owned()));
        }
        let Tokenizer::Text(pieces) = tokenizer else {
            return Err(damaged("its tokenizer does not write texts".to_owned()));
        };
        let most = config.max_written();
        if !(1..=most).contains(&max_length) {
            return Err(damaged(format!("`max_length` is {max_length}, expected 1 to {most}")));
        }
        let network = Bart::saved(config, weights)?;
        Ok(Self::new(domain, settings, *pieces, network, max_length))
    }

    fn pieces(&self) -> &TextPieces {
        match &self.tokenizer {
            Tokenizer::Text(pieces) => pieces,
            _ => unreachable!("both constructors put pieces of texts there"),
        }
    }

    /// What is written for a program; `None` if it cannot be written.
    fn target(&self, terms: &Terms, program: TermId) -> Option<Vec<u32>> {
        let ids = self.pieces().written(&self.domain.display(terms, program).to_string())?;
        (ids.len() <= self.network.config().max_written()).then_some(ids)
    }
}

/// Opens the directory of a pretrained model.
fn open(directory: &Path) -> Result<(BartConfig, Weights, TextPieces), BuildError> {
    let config = BartConfig::read(&directory.join(CONFIG_NAME))
        .map_err(|error| BuildError::Encoder(error.to_string()))?;
    let pieces = TextPieces::from_dir(directory).map_err(|error| BuildError::Encoder(error.to_string()))?;
    let name = directory.display();
    let (found, expected) =
        (Tokenizer::Text(Box::new(pieces.clone())).vocab_size(), config.encoder.vocab_size);
    if found > expected {
        return Err(BuildError::Encoder(format!(
            "{name}: the tokenizer has {found} pieces, expected at most the {expected} of `vocab_size` in {CONFIG_NAME}; the \
             files do not belong together, fetch the model again"
        )));
    }
    if pieces.written("").and_then(|ids| ids.last().copied()) != Some(config.end) {
        return Err(BuildError::Encoder(format!(
            "{name}: the tokenizer does not end texts with the `eos_token_id` of {CONFIG_NAME}; the files do not belong \
             together, fetch the model again"
        )));
    }
    let weights = Weights::open(directory).map_err(|error| BuildError::Encoder(error.to_string()))?;
    Ok((config, weights, pieces))
}

/// The texts whose word-pieces are kept, those that are read and those that are written.
fn texts<'a>(
    domain: &Domain,
    utterances: impl Iterator<Item = &'a Utterance>,
    programs: Vec<String>,
) -> (Vec<String>, Vec<String>) {
    let (mut read, mut written) = (Vec::new(), programs);
    read.extend(utterances.map(|utterance| utterance.text().to_owned()));
    // Twice: a word has other pieces where it begins a text.
    let mut phrase = |text: &str| read.push(format!("{text} {text}"));
    domain.lexicon().phrases().for_each(|(text, _)| phrase(text));
    let entities = domain.constants().iter().filter(|constant| matches!(constant.kind, Kind::Entity(_)));
    for constant in entities.take(MAX_NAMES) {
        // Without the brackets and quotes of the term.
        let name: String = constant.name.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
        phrase(&name);
        written.push(constant.name.clone());
    }
    let frames = domain.predicates().flat_map(|(id, _)| domain.frames_of(id));
    written.extend(frames.map(|(id, _)| domain.written(id)));
    (read, written)
}

impl Family for BartParser {
    fn settings(&self) -> Settings {
        Settings::Bart(self.settings.clone())
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

    fn work(&self, _request: &Request<'_>) -> u64 {
        decode::work(self)
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

    fn frozen_outputs(&self, _batch: &[&Pieces]) -> Option<Vec<Vec<f32>>> {
        // The table of word-pieces below the frozen layers is trained.
        None
    }

    fn gradients(&self, shard: &Shard<'_>) -> ShardGradients {
        learn::gradients(self, shard)
    }

    fn state(&self) -> Value {
        let state = State { network: self.network.config().clone(), max_length: self.max_length };
        serde_json::to_value(state).unwrap_or_else(|_| unreachable!("names and numbers are JSON"))
    }
}

#[cfg(test)]
mod tests;
