//! Pretrained encoders: a directory with `config.json`, `model.safetensors` and a tokenizer.

pub mod config;
pub mod weights;

pub use config::{Activation, Architecture, ConfigError, EncoderConfig};
pub use weights::{Weights, WeightsError, write_safetensors};

use crate::tokenizer::{Tokenizer, TokenizerError};
use std::path::Path;
use thiserror::Error;

/// The name of the configuration in an encoder's directory.
pub const CONFIG_NAME: &str = "config.json";

/// A pretrained encoder in a directory.
#[derive(Debug)]
pub struct Pretrained {
    /// Its shape.
    pub config: EncoderConfig,
    /// Its tensors; they are read when they are taken.
    pub weights: Weights,
    /// Its word-pieces.
    pub tokenizer: Tokenizer,
}

/// Why a pretrained encoder cannot be used.
#[derive(Debug, Error)]
pub enum PretrainedError {
    /// There is no such directory.
    #[error(
        "{path} is not a directory; expected a directory with config.json, model.safetensors and \
         tokenizer.json; `tools/fetch_encoders.py` makes one"
    )]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The weights cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The tokenizer cannot be used.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// The tokenizer has pieces for which there are no weights.
    #[error(
        "{path}: the tokenizer has {found} pieces, expected at most the {expected} of `vocab_size` in \
         config.json; the files do not belong together, fetch the encoder again"
    )]
    Vocabulary {
        /// The directory.
        path: String,
        /// Pieces of the tokenizer.
        found: usize,
        /// Pieces of the configuration.
        expected: usize,
    },
}

impl Pretrained {
    /// Opens the encoder in a directory.
    ///
    /// # Errors
    /// When a file is missing, damaged, of a kind that cannot be run, or does not belong to the others.
    pub fn open(dir: &Path) -> Result<Self, PretrainedError> {
        let path = || dir.display().to_string();
        if !dir.is_dir() {
            return Err(PretrainedError::NotADirectory { path: path() });
        }
        let config = EncoderConfig::read(&dir.join(CONFIG_NAME))?;
        let tokenizer = Tokenizer::from_dir(dir)?;
        let (found, expected) = (tokenizer.vocab_size(), config.vocab_size);
        if found > expected {
            return Err(PretrainedError::Vocabulary { path: path(), found, expected });
        }
        let weights = Weights::open(&dir.join(weights::FILE_NAME))?;
        Ok(Self { config, weights, tokenizer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeadConfig, Network};
    use spanwise_core::Utterance;
    use std::fs;
    use std::path::PathBuf;
    use tempfile::TempDir;

    fn data() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
    }

    /// A copy of the tiny BERT, to be damaged.
    fn copy() -> TempDir {
        let directory = TempDir::new().unwrap();
        for file in [CONFIG_NAME, weights::FILE_NAME, crate::tokenizer::FILE_NAME] {
            fs::copy(data().join("tiny-bert").join(file), directory.path().join(file)).unwrap();
        }
        directory
    }

    /// Opens an encoder and takes a tensor of each kind that its architecture has.
    fn open_and_take(dir: &Path) {
        let mut encoder = Pretrained::open(dir).unwrap();
        let config = encoder.config.clone();
        let (hidden, vocab) = (config.hidden, config.vocab_size);
        let weights = &mut encoder.weights;
        weights.take("embeddings.word_embeddings.weight", &[vocab, hidden]).unwrap();
        weights.take("embeddings.position_embeddings.weight", &[config.max_positions, hidden]).unwrap();
        weights.take("embeddings.LayerNorm.bias", &[hidden]).unwrap();
        let last = config.layers - 1;
        weights
            .take(&format!("encoder.layer.{last}.output.dense.weight"), &[hidden, config.intermediate])
            .unwrap();
        assert!(!weights.contains(&format!("encoder.layer.{}.output.dense.weight", config.layers)));
        match config.architecture {
            Architecture::Bert => {
                weights
                    .take("embeddings.token_type_embeddings.weight", &[config.type_vocab, hidden])
                    .unwrap();
            }
            Architecture::Mpnet => {
                let shape = [config.relative_buckets, config.heads];
                weights.take("encoder.relative_attention_bias.weight", &shape).unwrap();
            }
            _ => panic!("another kind"),
        }
        let pieces = encoder.tokenizer.encode(&Utterance::new("What states border Texas?"));
        assert!(pieces.ids.iter().all(|id| (*id as usize) < vocab));
        assert_eq!(pieces.words.len(), 5);
    }

    #[test]
    fn the_tiny_encoders_open() {
        for name in ["tiny-bert", "tiny-mpnet"] {
            open_and_take(&data().join(name));
        }
    }

    #[test]
    fn real_encoders_open() {
        let Some(encoders) = std::env::var_os("SPANWISE_ENCODERS").map(PathBuf::from) else {
            println!("SKIPPED: SPANWISE_ENCODERS is not set");
            return;
        };
        for name in ["all-MiniLM-L6-v2", "all-mpnet-base-v2"] {
            open_and_take(&encoders.join(name));
        }
    }

    #[test]
    fn each_missing_file_is_named() {
        for file in [CONFIG_NAME, weights::FILE_NAME, crate::tokenizer::FILE_NAME] {
            let directory = copy();
            fs::remove_file(directory.path().join(file)).unwrap();
            let message = Pretrained::open(directory.path()).unwrap_err().to_string();
            assert!(message.contains(file), "{message}");
            assert!(message.contains(directory.path().to_str().unwrap()), "{message}");
        }
        let error = Pretrained::open(Path::new("/no/such/encoder")).unwrap_err();
        assert!(matches!(error, PretrainedError::NotADirectory { .. }), "{error}");
        assert!(error.to_string().contains("tools/fetch_encoders.py"), "{error}");
        assert!(Pretrained::open(&copy().path().join(CONFIG_NAME)).is_err());
    }

    #[test]
    fn each_truncated_file_is_refused() {
        for file in [CONFIG_NAME, weights::FILE_NAME, crate::tokenizer::FILE_NAME] {
            let directory = copy();
            let path = directory.path().join(file);
            let bytes = fs::read(&path).unwrap();
            for length in [0, 1, bytes.len() / 2, bytes.len() - 2] {
                fs::write(&path, &bytes[..length]).unwrap();
                let message = Pretrained::open(directory.path()).unwrap_err().to_string();
                assert!(message.contains(file), "{message}");
            }
        }
    }

    #[test]
    fn pytorch_weights_are_not_read_but_explained() {
        let directory = copy();
        fs::rename(directory.path().join(weights::FILE_NAME), directory.path().join("pytorch_model.bin"))
            .unwrap();
        let error = Pretrained::open(directory.path()).unwrap_err();
        assert!(matches!(error, PretrainedError::Weights(WeightsError::Pytorch { .. })), "{error}");
    }

    #[test]
    fn a_tokenizer_with_more_pieces_than_weights_is_refused() {
        let directory = copy();
        let path = directory.path().join(CONFIG_NAME);
        let config = fs::read_to_string(&path).unwrap();
        fs::write(&path, config.replace("\"vocab_size\": 113", "\"vocab_size\": 112")).unwrap();
        let error = Pretrained::open(directory.path()).unwrap_err();
        assert!(matches!(error, PretrainedError::Vocabulary { found: 113, expected: 112, .. }), "{error}");
        // More rows than pieces are common: tables are padded to round numbers.
        fs::write(&path, config.replace("\"vocab_size\": 113", "\"vocab_size\": 128")).unwrap();
        assert!(Pretrained::open(directory.path()).is_ok());
    }

    /// The tiny encoder `name` with `from` in its configuration replaced, as a network.
    fn network_with(name: &str, from: &str, to: &str) -> Result<Network, PretrainedError> {
        let directory = TempDir::new().unwrap();
        for file in [CONFIG_NAME, weights::FILE_NAME, crate::tokenizer::FILE_NAME] {
            fs::copy(data().join(name).join(file), directory.path().join(file)).unwrap();
        }
        let path = directory.path().join(CONFIG_NAME);
        let config = fs::read_to_string(&path).unwrap();
        assert!(config.contains(from));
        fs::write(&path, config.replace(from, to)).unwrap();
        let Pretrained { config, mut weights, .. } = Pretrained::open(directory.path())?;
        let head = HeadConfig { hidden: 4, n_labels: 2 };
        Ok(Network::pretrained(config, &mut weights, head, 99, 0)?)
    }

    #[test]
    fn weights_that_do_not_fit_the_configuration_are_refused() {
        assert!(network_with("tiny-bert", "", "").is_ok());
        for (name, from, to, tensor, found, expected) in [
            ("tiny-bert", "\"vocab_size\": 113", "\"vocab_size\": 128", "word_emb", "[113, 32]", "[128, 32]"),
            ("tiny-bert", "\"hidden_size\": 32", "\"hidden_size\": 64", "word_emb", "[113, 32]", "[113, 64]"),
            ("tiny-bert", "embeddings\": 64", "embeddings\": 32", "position_emb", "[64, 32]", "[32, 32]"),
            ("tiny-bert", "type_vocab_size\": 2", "type_vocab_size\": 1", "token_type", "[2, 32]", "[1, 32]"),
            ("tiny-bert", "ate_size\": 64", "ate_size\": 96", "intermediate.dense", "[64, 32]", "[96, 32]"),
            ("tiny-mpnet", "heads\": 4", "heads\": 8", "relative_attention_bias", "[32, 4]", "[32, 8]"),
            ("tiny-mpnet", "buckets\": 32", "buckets\": 64", "relative_attention_bias", "[32, 4]", "[64, 4]"),
        ] {
            let error = network_with(name, from, to).unwrap_err();
            assert!(matches!(error, PretrainedError::Weights(WeightsError::Shape { .. })), "{error}");
            let message = error.to_string();
            for part in [tensor, found, expected, weights::FILE_NAME, "do not belong together"] {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
    }

    #[test]
    fn another_number_of_layers_than_the_configuration_says_is_refused() {
        let error = network_with("tiny-bert", "layers\": 3", "layers\": 4").unwrap_err();
        assert!(matches!(error, PretrainedError::Weights(WeightsError::Missing { .. })), "{error}");
        assert!(error.to_string().contains("encoder.layer.3."), "{error}");
        let error = network_with("tiny-bert", "layers\": 3", "layers\": 2").unwrap_err();
        assert!(
            matches!(error, PretrainedError::Weights(WeightsError::Surplus { layers: 2, .. })),
            "{error}"
        );
        assert!(error.to_string().contains("encoder.layer.2."), "{error}");
    }

    #[test]
    fn another_architecture_than_that_of_the_weights_is_refused() {
        for (name, from, to) in
            [("tiny-bert", "\"bert\"", "\"mpnet\""), ("tiny-mpnet", "\"mpnet\"", "\"bert\"")]
        {
            let error = network_with(name, from, to).unwrap_err();
            assert!(matches!(error, PretrainedError::Weights(WeightsError::Missing { .. })), "{error}");
            assert!(error.to_string().contains("may not belong together"), "{error}");
        }
        let error = network_with("tiny-bert", "\"bert\"", "\"roberta\"").unwrap_err();
        assert!(matches!(error, PretrainedError::Config(ConfigError::UnknownArchitecture { .. })), "{error}");
        assert!(error.to_string().contains("`bert` or `mpnet`"), "{error}");
    }

    #[test]
    fn a_value_that_is_no_number_is_refused() {
        let directory = copy();
        let path = directory.path().join(weights::FILE_NAME);
        let mut bytes = fs::read(&path).unwrap();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        let Pretrained { config, mut weights, .. } = Pretrained::open(directory.path()).unwrap();
        let error = Network::pretrained(config, &mut weights, HeadConfig { hidden: 4, n_labels: 2 }, 0, 0)
            .unwrap_err();
        assert!(matches!(error, WeightsError::NotFinite { .. }), "{error}");
    }
}
