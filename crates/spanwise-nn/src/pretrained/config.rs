//! The shape of an encoder, read from the `config.json` beside its weights.

use crate::files::read_regular;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use std::path::Path;
use thiserror::Error;

/// The values of `model_type` that are supported.
const MODEL_TYPES: &str = "`bert` or `mpnet`";
/// No count in a configuration may be larger.
pub(crate) const MAX_COUNT: usize = 10_000_000;
/// The most attention heads: each has a matrix over all pairs of pieces.
pub(crate) const MAX_HEADS: usize = 256;
/// The most positions: attention takes time and memory with the square of the number of pieces.
pub(crate) const MAX_POSITIONS: usize = 1 << 14;
/// A configuration is a few hundred bytes; whatever is larger is some other file.
const MAX_FILE: u64 = 4 << 20;
/// MPNet counts positions from here: one past its padding index, which is always 1.
const MPNET_POSITION_OFFSET: usize = 2;
/// Buckets of distances that MPNet uses: `relative_attention_num_buckets` is only the length of the table.
pub(crate) const MPNET_BUCKETS: usize = 32;

/// Which transformer it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// BERT and what has its exact shape, such as MiniLM: absolute positions, token types.
    Bert,
    /// MPNet: absolute positions and relative attention biases, no token types.
    Mpnet,
    /// The encoder of BART: absolute positions, a table of word-pieces that the decoder shares.
    Bart,
    /// The encoder of Marian: positions that are not learned, no norm of embeddings, a shared table.
    Marian,
    /// The small encoder of this crate, trained from scratch.
    Compact,
}

/// The non-linearity between the two linear layers of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// GELU with the error function.
    Gelu,
    /// GELU approximated with a hyperbolic tangent.
    GeluTanh,
    /// `max(0, x)`.
    Relu,
    /// `x` times its logistic function, also called swish.
    Silu,
}

/// The shape of an encoder.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig {
    /// Which transformer it is.
    pub architecture: Architecture,
    /// Rows of the table of word-pieces.
    pub vocab_size: usize,
    /// Width of a hidden vector.
    pub hidden: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Attention heads in a block; divides `hidden`.
    pub heads: usize,
    /// Width between the two linear layers of a block.
    pub intermediate: usize,
    /// Rows of the table of positions, those below `position_offset` included.
    pub max_positions: usize,
    /// Rows of the table of token types; 0 where there is none.
    pub type_vocab: usize,
    /// What layer normalisation adds to a variance.
    pub layer_norm_eps: f64,
    /// Share of hidden values dropped in training.
    pub dropout: f64,
    /// Row of the first piece in the table of positions: 0 for BERT and Marian, 2 for MPNet and BART.
    pub position_offset: usize,
    /// Buckets of relative distances that have an attention bias; 0 where there are none.
    pub relative_buckets: usize,
    /// The non-linearity.
    pub activation: Activation,
}

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {file}: {reason}; expected the `config.json` of an encoder directory")]
    Read {
        /// The file.
        file: String,
        /// The error of the system.
        reason: io::Error,
    },
    /// The file is not a JSON object.
    #[error("{file} is not a JSON object: {reason}; expected the `config.json` of a Hugging Face model")]
    Json {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Not one of the architectures that can be run.
    #[error("{file}: `model_type` is {found}, expected {expected}; choose an encoder of one of these types")]
    UnknownArchitecture {
        /// The file.
        file: String,
        /// The value in the file.
        found: String,
        /// The values that are supported.
        expected: String,
    },
    /// A key is not there.
    #[error("{file} has no `{key}`, expected {expected}; the file is incomplete, fetch the encoder again")]
    Missing {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What its value should be.
        expected: String,
    },
    /// A key has a value that cannot be.
    #[error("{file}: `{key}` is {found}, expected {expected}")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// Its value.
        found: String,
        /// What its value should be, and what to do.
        expected: String,
    },
}

impl EncoderConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// When the file cannot be read, is no configuration, or describes an encoder that cannot be run.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let (file, bytes) = read_file(path)?;
        Self::from_json(&bytes, &file)
    }

    /// Parses the text of a `config.json`; `file` is what errors call it.
    ///
    /// # Errors
    /// When it is no configuration, or describes an encoder that cannot be run.
    pub fn from_json(json: &[u8], file: &str) -> Result<Self, ConfigError> {
        let object = json_object(json, file)?;
        let keys = Keys { file, object: &object };
        let types = [("bert", Architecture::Bert), ("mpnet", Architecture::Mpnet)];
        let architecture = keys.architecture(&types, MODEL_TYPES)?;
        keys.only(
            "position_embedding_type",
            &Value::from("absolute"),
            "other position embeddings are not supported",
        )?;
        keys.only("is_decoder", &Value::from(false), "decoders cannot be used as encoders")?;
        keys.only("add_cross_attention", &Value::from(false), "decoders cannot be used as encoders")?;
        let mpnet = architecture == Architecture::Mpnet;
        let config = Self {
            architecture,
            vocab_size: keys.count("vocab_size", None)?,
            hidden: keys.count("hidden_size", None)?,
            layers: keys.count("num_hidden_layers", None)?,
            heads: keys.count("num_attention_heads", None)?,
            intermediate: keys.count("intermediate_size", None)?,
            max_positions: keys.count("max_position_embeddings", None)?,
            type_vocab: if mpnet { 0 } else { keys.count("type_vocab_size", Some(2))? },
            layer_norm_eps: keys.number("layer_norm_eps", 1e-12)?,
            dropout: keys.number("hidden_dropout_prob", 0.1)?,
            position_offset: if mpnet { MPNET_POSITION_OFFSET } else { 0 },
            relative_buckets: if mpnet {
                keys.count("relative_attention_num_buckets", Some(MPNET_BUCKETS))?
            } else {
                0
            },
            activation: keys.activation("hidden_act", "`gelu`, `gelu_new`, `gelu_pytorch_tanh` or `relu`")?,
        };
        config.check(file)?;
        Ok(config)
    }

    /// Checks that the numbers can belong to one encoder; `file` is what errors call their origin.
    ///
    /// [`EncoderConfig::from_json`] has done so already. What was put together by hand or deserialised has
    /// not been checked.
    ///
    /// # Errors
    /// When a number is zero, too large, or at odds with another.
    pub fn check(&self, file: &str) -> Result<(), ConfigError> {
        let fail = |key: &str, found: String, expected: String| {
            Err(ConfigError::Value { file: file.to_owned(), key: key.to_owned(), found, expected })
        };
        let mpnet = self.architecture == Architecture::Mpnet;
        let is_bert = self.architecture == Architecture::Bert;
        // Without layers, an encoder of ours is a table of word vectors.
        let n_layers = usize::from(self.architecture != Architecture::Compact);
        let n_buckets = if mpnet { MPNET_BUCKETS } else { 0 };
        let counts = [
            ("vocab_size", self.vocab_size, 1, MAX_COUNT),
            ("hidden_size", self.hidden, 1, MAX_COUNT),
            ("num_hidden_layers", self.layers, n_layers, MAX_COUNT),
            ("num_attention_heads", self.heads, 1, MAX_HEADS),
            ("intermediate_size", self.intermediate, 1, MAX_COUNT),
            (
                "max_position_embeddings",
                self.max_positions,
                self.position_offset.saturating_add(2),
                MAX_POSITIONS,
            ),
            ("type_vocab_size", self.type_vocab, usize::from(is_bert), MAX_COUNT),
            ("relative_attention_num_buckets", self.relative_buckets, n_buckets, MAX_COUNT),
        ];
        for (key, found, least, most) in counts {
            if !(least..=most).contains(&found) {
                return fail(key, found.to_string(), format!("a whole number from {least} to {most}"));
            }
        }
        if !self.hidden.is_multiple_of(self.heads) {
            let expected = format!("a divisor of `hidden_size`, which is {}", self.hidden);
            return fail("num_attention_heads", self.heads.to_string(), expected);
        }
        if !self.relative_buckets.is_multiple_of(2) {
            let found = self.relative_buckets.to_string();
            return fail("relative_attention_num_buckets", found, "an even number".to_owned());
        }
        if !(self.layer_norm_eps > 0.0 && self.layer_norm_eps < 1.0) {
            let expected = "a small positive number such as 1e-12".to_owned();
            return fail("layer_norm_eps", self.layer_norm_eps.to_string(), expected);
        }
        if !(0.0..1.0).contains(&self.dropout) {
            let expected = "a share from 0 up to, but not including, 1".to_owned();
            return fail("hidden_dropout_prob", self.dropout.to_string(), expected);
        }
        Ok(())
    }

    /// The most word-pieces, special ones included, that the encoder has positions for.
    #[must_use]
    pub const fn max_pieces(&self) -> usize {
        self.max_positions.saturating_sub(self.position_offset)
    }
}

/// The content of a `config.json`, and what errors call the file.
pub(crate) fn read_file(path: &Path) -> Result<(String, Vec<u8>), ConfigError> {
    let file = path.display().to_string();
    match read_regular(path, MAX_FILE) {
        Ok(bytes) => Ok((file, bytes)),
        Err(reason) => Err(ConfigError::Read { file, reason }),
    }
}

/// The text of a `config.json` as an object.
pub(crate) fn json_object(json: &[u8], file: &str) -> Result<Map<String, Value>, ConfigError> {
    let value: Value = serde_json::from_slice(json)
        .map_err(|error| ConfigError::Json { file: file.to_owned(), reason: error.to_string() })?;
    match value {
        Value::Object(object) => Ok(object),
        value => {
            let reason = format!("it holds {}", brief(&value));
            Err(ConfigError::Json { file: file.to_owned(), reason })
        }
    }
}

/// The keys of a configuration, read with errors that name them.
pub(crate) struct Keys<'a> {
    pub(crate) file: &'a str,
    pub(crate) object: &'a Map<String, Value>,
}

impl Keys<'_> {
    /// The value of a key, where `null` counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn wrong(&self, key: &str, found: &Value, expected: impl Into<String>) -> ConfigError {
        let (file, key) = (self.file.to_owned(), key.to_owned());
        ConfigError::Value { file, key, found: brief(found), expected: expected.into() }
    }

    /// A whole number; its range is checked later, with those of all others.
    pub(crate) fn count(&self, key: &str, default: Option<usize>) -> Result<usize, ConfigError> {
        let expected = || format!("a whole number from 1 to {MAX_COUNT}");
        match (self.get(key), default) {
            (Some(value), _) => value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
                .ok_or_else(|| self.wrong(key, value, expected())),
            (None, Some(default)) => Ok(default),
            (None, None) => {
                let (file, key) = (self.file.to_owned(), key.to_owned());
                Err(ConfigError::Missing { file, key, expected: expected() })
            }
        }
    }

    pub(crate) fn number(&self, key: &str, default: f64) -> Result<f64, ConfigError> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value.as_f64().ok_or_else(|| self.wrong(key, value, "a number")),
        }
    }

    /// The architecture that `model_type` names; `expected` lists the names.
    pub(crate) fn architecture(
        &self,
        types: &[(&str, Architecture)],
        expected: &str,
    ) -> Result<Architecture, ConfigError> {
        let found = self.object.get("model_type");
        let known = types.iter().find(|(name, _)| found.and_then(Value::as_str) == Some(name));
        known.map(|(_, architecture)| *architecture).ok_or_else(|| ConfigError::UnknownArchitecture {
            file: self.file.to_owned(),
            found: found.map_or_else(|| "not there".to_owned(), brief),
            expected: expected.to_owned(),
        })
    }

    /// The non-linearity; `expected` lists the names.
    pub(crate) fn activation(&self, key: &str, expected: &str) -> Result<Activation, ConfigError> {
        match self.get(key) {
            None => Ok(Activation::Gelu),
            Some(value) => match value.as_str() {
                Some("gelu") => Ok(Activation::Gelu),
                Some("gelu_new" | "gelu_pytorch_tanh") => Ok(Activation::GeluTanh),
                Some("relu") => Ok(Activation::Relu),
                Some("swish" | "silu") if expected.contains("swish") => Ok(Activation::Silu),
                _ => Err(self.wrong(key, value, format!("{expected}; choose another encoder"))),
            },
        }
    }

    /// Refuses any value but one for a key that need not be there.
    pub(crate) fn only(&self, key: &str, allowed: &Value, why: &str) -> Result<(), ConfigError> {
        match self.get(key) {
            Some(found) if found != allowed => {
                Err(self.wrong(key, found, format!("{} ({why})", brief(allowed))))
            }
            _ => Ok(()),
        }
    }
}

/// A value as errors show it, cut to a line.
fn brief(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = match value {
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
