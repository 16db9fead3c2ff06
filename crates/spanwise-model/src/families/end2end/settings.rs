//! The hyper-parameters of models that answer without programs: there are none of their own.

use super::End2End;
use crate::directory::ModelError;
use crate::family::{Blueprint, BuildError, Family, FamilySettings, Objective, Stored, fields};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The hyper-parameters of models that answer without programs. All sizes are those of the encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct End2EndSettings {}

impl FamilySettings for End2EndSettings {
    fn name(&self) -> &'static str {
        "end2end"
    }

    fn objectives(&self) -> &'static [Objective] {
        // The probability of the gold answer among all answers.
        &[Objective::Crf]
    }

    fn answers_directly(&self) -> bool {
        true
    }

    fn training(&self) -> &'static [(&'static str, &'static str)] {
        &[("epochs", "6"), ("rate_encoder", "2e-4"), ("frozen_layers", "0"), ("noise", "0.0")]
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn fields(&self) -> Map<String, Value> {
        fields(self)
    }

    fn build(&self, blueprint: Blueprint<'_>) -> Result<Box<dyn Family>, BuildError> {
        Ok(Box::new(End2End::build(*self, blueprint)?))
    }

    fn load(&self, stored: Stored<'_>) -> Result<Box<dyn Family>, ModelError> {
        Ok(Box::new(End2End::load(*self, stored)?))
    }
}
