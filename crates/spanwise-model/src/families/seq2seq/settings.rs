//! The hyper-parameters of sequence-to-sequence models.

use super::Seq2SeqParser;
use crate::directory::ModelError;
use crate::family::{Blueprint, BuildError, Family, FamilySettings, Objective, Stored, fields};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a pretrained encoder is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pretraining {
    /// It is fine-tuned, and the decoder attends to its output.
    #[default]
    FineTuned,
    /// It stays as it is, and a bidirectional LSTM reads its vectors of words.
    Frozen,
}

/// The hyper-parameters of sequence-to-sequence models.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Seq2SeqSettings {
    /// Width of the decoder, and of the bidirectional LSTM; even.
    pub hidden: usize,
    /// Width of the vectors of tokens, and of trained word vectors.
    pub embedding: usize,
    /// A file of pretrained word vectors for the encoder `compact`, as GloVe's; empty for random ones. Training goes on
    /// from them.
    pub vectors: String,
    /// Programs that the search keeps at each step; 1 for greedy search.
    pub beam: usize,
    /// Whether only well-typed programs are written.
    pub constrained: bool,
    /// What a pretrained encoder is used for.
    pub pretrained: Pretraining,
}

impl Default for Seq2SeqSettings {
    fn default() -> Self {
        Self {
            hidden: 250,
            embedding: 100,
            vectors: String::new(),
            beam: 5,
            constrained: false,
            pretrained: Pretraining::FineTuned,
        }
    }
}

/// Wider networks would only exhaust memory, and so would wider beams.
const MAX_WIDTH: usize = 1 << 13;
const MAX_BEAM: usize = 1_000;

impl FamilySettings for Seq2SeqSettings {
    fn name(&self) -> &'static str {
        "seq2seq"
    }

    fn objectives(&self) -> &'static [Objective] {
        // The probability of the gold program among all programs is the product of those of its tokens.
        &[Objective::Crf]
    }

    fn training(&self) -> &'static [(&'static str, &'static str)] {
        &[("epochs", "30"), ("dropout", "0.3"), ("noise", "0.0")]
    }

    fn check(&self) -> Result<(), String> {
        let Self { hidden, embedding, beam, .. } = *self;
        let is_width = |width: usize| (1..=MAX_WIDTH).contains(&width);
        if !is_width(hidden) || hidden % 2 != 0 || !is_width(embedding) {
            return Err(format!(
                "`model.hidden` must be an even number up to {MAX_WIDTH}, `model.embedding` a number from 1 to \
                 {MAX_WIDTH}"
            ));
        }
        if !(1..=MAX_BEAM).contains(&beam) {
            return Err(format!("`model.beam` must be from 1 to {MAX_BEAM}"));
        }
        Ok(())
    }

    fn fields(&self) -> Map<String, Value> {
        fields(self)
    }

    fn build(&self, blueprint: Blueprint<'_>) -> Result<Box<dyn Family>, BuildError> {
        Ok(Box::new(Seq2SeqParser::build(self.clone(), blueprint)?))
    }

    fn load(&self, stored: Stored<'_>) -> Result<Box<dyn Family>, ModelError> {
        Ok(Box::new(Seq2SeqParser::load(self.clone(), stored)?))
    }
}
