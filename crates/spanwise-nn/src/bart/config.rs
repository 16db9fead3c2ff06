//! The shape of an encoder-decoder, read from the `config.json` beside its weights.

use crate::pretrained::config::{
    Architecture, ConfigError, EncoderConfig, Keys, MAX_COUNT, MAX_HEADS, MAX_POSITIONS, json_object,
    read_file,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The values of `model_type` that are supported.
const MODEL_TYPES: &str = "`bart` or `marian`";
const ACTIVATIONS: &str = "`gelu`, `gelu_new`, `gelu_pytorch_tanh`, `relu`, `swish` or `silu`";
/// BART counts positions from here.
const BART_POSITION_OFFSET: usize = 2;
/// What layer normalisation adds to a variance; configurations do not name it.
const EPSILON: f64 = 1e-5;

/// The shape of an encoder-decoder. Encoder, decoder and output share one table of word-pieces.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BartConfig {
    /// The encoder; the decoder has its width, its positions and its non-linearity.
    pub encoder: EncoderConfig,
    /// Number of blocks of the decoder.
    pub decoder_layers: usize,
    /// Attention heads in a block of the decoder; divides the width.
    pub decoder_heads: usize,
    /// Width between the two linear layers of a block of the decoder.
    pub decoder_intermediate: usize,
    /// Whether the vectors of word-pieces are multiplied by the root of the width.
    pub scale_embedding: bool,
    /// What the decoder reads first.
    pub start: u32,
    /// The piece that ends a text.
    pub end: u32,
    /// The piece that batches are filled up with; it is never written.
    pub pad: u32,
}

impl BartConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// When the file cannot be read, is no configuration, or describes a model that cannot be run.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let (file, bytes) = read_file(path)?;
        Self::from_json(&bytes, &file)
    }

    /// Parses the text of a `config.json`; `file` is what errors call it.
    ///
    /// # Errors
    /// When it is no configuration, or describes a model that cannot be run.
    pub fn from_json(json: &[u8], file: &str) -> Result<Self, ConfigError> {
        let object = json_object(json, file)?;
        let keys = Keys { file, object: &object };
        let types = [("bart", Architecture::Bart), ("marian", Architecture::Marian)];
        let architecture = keys.architecture(&types, MODEL_TYPES)?;
        let is_marian = architecture == Architecture::Marian;
        check_kind(&keys, is_marian)?;
        let count = |key: &str| keys.count(key, None);
        let piece = |key: &str| -> Result<u32, ConfigError> {
            let found = count(key)?;
            let range = || keys.wrong(key, &Value::from(found), "the number of a word-piece");
            u32::try_from(found).map_err(|_| range())
        };
        let position_offset = if is_marian { 0 } else { BART_POSITION_OFFSET };
        let config = Self {
            encoder: EncoderConfig {
                architecture,
                vocab_size: count("vocab_size")?,
                hidden: count("d_model")?,
                layers: count("encoder_layers")?,
                heads: count("encoder_attention_heads")?,
                intermediate: count("encoder_ffn_dim")?,
                max_positions: count("max_position_embeddings")?.saturating_add(position_offset),
                type_vocab: 0,
                layer_norm_eps: EPSILON,
                dropout: keys.number("dropout", 0.1)?,
                position_offset,
                relative_buckets: 0,
                activation: keys.activation("activation_function", ACTIVATIONS)?,
            },
            decoder_layers: count("decoder_layers")?,
            decoder_heads: count("decoder_attention_heads")?,
            decoder_intermediate: count("decoder_ffn_dim")?,
            scale_embedding: keys.get("scale_embedding").and_then(Value::as_bool).unwrap_or(false),
            start: piece("decoder_start_token_id")?,
            end: piece("eos_token_id")?,
            pad: piece("pad_token_id")?,
        };
        config.check(file)?;
        Ok(config)
    }

    /// Checks that the numbers can belong to one model; `file` is what errors call their origin.
    ///
    /// # Errors
    /// When a number is zero, too large, or at odds with another.
    pub fn check(&self, file: &str) -> Result<(), ConfigError> {
        let fail = |key: &str, found: String, expected: String| {
            Err(ConfigError::Value { file: file.to_owned(), key: key.to_owned(), found, expected })
        };
        let EncoderConfig { vocab_size, hidden, layers, heads, intermediate, .. } = self.encoder;
        if !matches!(self.encoder.architecture, Architecture::Bart | Architecture::Marian) {
            let found = format!("{:?}", self.encoder.architecture).to_lowercase();
            return fail("architecture", found, MODEL_TYPES.to_owned());
        }
        for (key, found, most) in [
            ("vocab_size", vocab_size, MAX_COUNT),
            ("d_model", hidden, MAX_COUNT),
            ("encoder_layers", layers, MAX_COUNT),
            ("decoder_layers", self.decoder_layers, MAX_COUNT),
            ("encoder_attention_heads", heads, MAX_HEADS),
            ("decoder_attention_heads", self.decoder_heads, MAX_HEADS),
            ("encoder_ffn_dim", intermediate, MAX_COUNT),
            ("decoder_ffn_dim", self.decoder_intermediate, MAX_COUNT),
            ("max_position_embeddings", self.encoder.max_pieces(), MAX_POSITIONS),
        ] {
            if !(1..=most).contains(&found) {
                return fail(key, found.to_string(), format!("a whole number from 1 to {most}"));
            }
        }
        let both = [("encoder_attention_heads", heads), ("decoder_attention_heads", self.decoder_heads)];
        for (key, heads) in both {
            if !hidden.is_multiple_of(heads) {
                let expected = format!("a divisor of `d_model`, which is {hidden}");
                return fail(key, heads.to_string(), expected);
            }
        }
        let pieces =
            [("decoder_start_token_id", self.start), ("eos_token_id", self.end), ("pad_token_id", self.pad)];
        for (key, piece) in pieces {
            if piece as usize >= vocab_size {
                let expected = format!("less than `vocab_size`, which is {vocab_size}");
                return fail(key, piece.to_string(), expected);
            }
        }
        let epsilon = self.encoder.layer_norm_eps;
        if !(epsilon > 0.0 && epsilon < 1.0) {
            let expected = "a small positive number such as 1e-5".to_owned();
            return fail("layer_norm_eps", epsilon.to_string(), expected);
        }
        if !(0.0..1.0).contains(&self.encoder.dropout) {
            let expected = "a share from 0 up to, but not including, 1".to_owned();
            return fail("dropout", self.encoder.dropout.to_string(), expected);
        }
        Ok(())
    }

    /// The most pieces that can be written, the end included.
    #[must_use]
    pub const fn max_written(&self) -> usize {
        self.encoder.max_pieces()
    }
}

/// Refuses variants that share the name of a model but compute something else.
fn check_kind(keys: &Keys<'_>, is_marian: bool) -> Result<(), ConfigError> {
    let only = |key: &str, allowed: bool, why: &str| keys.only(key, &Value::from(allowed), why);
    only("normalize_before", false, "norms before each part of a layer are not supported")?;
    only("add_final_layer_norm", false, "norms after the last layer are not supported")?;
    only("normalize_embedding", !is_marian, "BART has norms of embeddings, and Marian has none")?;
    only("static_position_embeddings", is_marian, "BART learns positions, and Marian does not")?;
    only("tie_word_embeddings", true, "an output with a table of its own is not supported")?;
    only("share_encoder_decoder_embeddings", true, "a decoder with a table of its own is not supported")
}
