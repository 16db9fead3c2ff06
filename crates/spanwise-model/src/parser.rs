//! A model with the executor of its domain: from text to a program and its answer.

use crate::directory::ModelError;
use crate::model::Model;
use crate::outcome::{Details, Outcome};
use spanwise_core::Utterance;
use spanwise_domains::exec::{Denotation, ExecError, Executor};
use spanwise_lang::{TermId, Terms};
use std::path::Path;

/// A model with the executor of its domain. It can be shared between threads.
pub struct Parser {
    model: Model,
    executor: Option<Box<dyn Executor>>,
}

impl Parser {
    /// Reads a model directory.
    ///
    /// # Errors
    /// A directory that is missing, damaged or of another version.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self, ModelError> {
        let directory = directory.as_ref();
        let model = Model::load(directory)?;
        let executor = model.open_executor(directory)?;
        Ok(Self::new(model, executor))
    }

    /// A parser for a model, with an executor for its programs if there is one.
    #[must_use]
    pub fn new(model: Model, executor: Option<Box<dyn Executor>>) -> Self {
        Self { model, executor }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, without its executor.
    #[must_use]
    pub fn into_model(self) -> Model {
        self.model
    }

    /// Parses one utterance.
    #[must_use]
    pub fn parse(&self, text: &str) -> Outcome {
        self.parse_with(Utterance::new(text), Details::default())
    }

    /// Parses one utterance, with details.
    #[must_use]
    pub fn parse_with(&self, utterance: Utterance, details: Details) -> Outcome {
        self.model.parse(utterance, details)
    }

    /// Parses a batch; see [`Model::parse_batch`].
    #[must_use]
    pub fn parse_batch(&self, utterances: Vec<Utterance>, details: Details) -> Vec<Outcome> {
        self.model.parse_batch(utterances, details)
    }

    /// The denotation of a program; `None` when the domain has no executor.
    ///
    /// # Errors
    /// As the executor has it.
    pub fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&serde_json::Value>,
    ) -> Option<Result<Denotation, ExecError>> {
        self.executor.as_ref().map(|executor| executor.execute(terms, program, context))
    }
}
