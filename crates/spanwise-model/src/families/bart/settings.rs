//! The hyper-parameters of pretrained encoder-decoders.

use super::BartParser;
use crate::directory::ModelError;
use crate::family::{Blueprint, BuildError, Family, FamilySettings, Objective, Stored, fields};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The hyper-parameters of pretrained encoder-decoders.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BartSettings {
    /// Texts that the search keeps at each step; 1 for greedy search.
    pub beam: usize,
    /// Whether only those word-pieces are kept that training, names and phrases have, and single characters. Training is
    /// faster and the model smaller; other words are then spelled with shorter pieces.
    pub trimmed: bool,
}

impl Default for BartSettings {
    fn default() -> Self {
        Self { beam: 5, trimmed: true }
    }
}

/// Wider beams would only exhaust memory.
const MAX_BEAM: usize = 100;

impl FamilySettings for BartSettings {
    fn name(&self) -> &'static str {
        "bart"
    }

    fn objectives(&self) -> &'static [Objective] {
        // The probability of the gold program among all texts is the product of those of its pieces.
        &[Objective::Crf]
    }

    fn training(&self) -> &'static [(&'static str, &'static str)] {
        &[("epochs", "12"), ("rate_encoder", "1e-4"), ("frozen_layers", "0"), ("noise", "0.0")]
    }

    fn check(&self) -> Result<(), String> {
        if !(1..=MAX_BEAM).contains(&self.beam) {
            return Err(format!("`model.beam` must be from 1 to {MAX_BEAM} for the family `bart`"));
        }
        Ok(())
    }

    fn fields(&self) -> Map<String, Value> {
        fields(self)
    }

    fn build(&self, blueprint: Blueprint<'_>) -> Result<Box<dyn Family>, BuildError> {
        Ok(Box::new(BartParser::build(self.clone(), blueprint)?))
    }

    fn load(&self, stored: Stored<'_>) -> Result<Box<dyn Family>, ModelError> {
        Ok(Box::new(BartParser::load(self.clone(), stored)?))
    }
}
