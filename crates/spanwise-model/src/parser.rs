//! A model with the executor of its domain: from text to a program and its answer.

use crate::consent::{ExecutorPolicy, Opened};
use crate::directory::ModelError;
use crate::model::Model;
use crate::outcome::{Details, Outcome};
use spanwise_core::Utterance;
use spanwise_domains::exec::{Denotation, ExecError, Executor, Until};
use spanwise_lang::{TermId, Terms};
use std::path::Path;
use std::sync::Arc;

/// A model with the executor of its domain. It can be shared between threads.
pub struct Parser {
    model: Model,
    executor: Option<Arc<dyn Executor>>,
    /// Why the executor of the model does not run.
    refusal: Option<String>,
}

impl Parser {
    /// Reads a model directory.
    ///
    /// A command or a server that the model names runs only if this user has allowed exactly that before, as training does
    /// for its own models. Without consent the model parses all the same, and its readings say why there is no answer.
    ///
    /// # Errors
    /// A directory that is missing, damaged or of another version.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self, ModelError> {
        Self::load_with(directory, ExecutorPolicy::Remembered)
    }

    /// The same, with a choice of whether the external executor of the model may run.
    ///
    /// ```no_run
    /// use spanwise_model::{ExecutorPolicy, Parser};
    ///
    /// // A model from someone else: look at what it would run before you allow it.
    /// let parser = Parser::load_with("runs/home", ExecutorPolicy::Off)?;
    /// if let Some(reason) = parser.executor_refusal() {
    ///     println!("{reason}");
    /// }
    /// # Ok::<(), spanwise_model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(directory: impl AsRef<Path>, policy: ExecutorPolicy) -> Result<Self, ModelError> {
        Self::with_policy(Model::load(directory.as_ref())?, policy)
    }

    /// A parser for a model, with the executor of its domain if the policy lets that run.
    ///
    /// # Errors
    /// An executor that cannot be opened.
    pub fn with_policy(model: Model, policy: ExecutorPolicy) -> Result<Self, ModelError> {
        let (executor, refusal) = match model.open_executor(policy)? {
            Opened::None => (None, None),
            Opened::Refused(reason) => (None, Some(reason)),
            Opened::Open(executor) => (Some(executor), None),
        };
        Ok(Self { model, executor, refusal })
    }

    /// A parser for a model, with an executor for its programs if there is one.
    #[must_use]
    pub fn new(model: Model, executor: Option<Box<dyn Executor>>) -> Self {
        Self { model, executor: executor.map(Arc::from), refusal: None }
    }

    /// What evaluates programs; `None` when nothing does.
    #[must_use]
    pub fn executor(&self) -> Option<&Arc<dyn Executor>> {
        self.executor.as_ref()
    }

    /// Why the executor of the model does not run, and what it would run.
    #[must_use]
    pub fn executor_refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
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
    /// As the executor has it; [`ExecError::NotAllowed`] where it may not run.
    pub fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&serde_json::Value>,
    ) -> Option<Result<Denotation, ExecError>> {
        self.execute_until(terms, program, context, &Until::default())
    }

    /// The same, given up when nobody waits for the denotation any more.
    ///
    /// # Errors
    /// As [`execute`](Self::execute), and [`ExecError::Cancelled`].
    pub fn execute_until(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&serde_json::Value>,
        until: &Until,
    ) -> Option<Result<Denotation, ExecError>> {
        if let Some(refusal) = &self.refusal {
            return Some(Err(ExecError::NotAllowed(refusal.clone())));
        }
        self.executor.as_ref().map(|executor| executor.execute_until(terms, program, context, until))
    }

    /// What a program becomes before it is evaluated, such as a query in SQL; `None` where there is no such form.
    #[must_use]
    pub fn explain(&self, terms: &Terms, program: TermId) -> Option<String> {
        self.executor.as_ref()?.explain(terms, program)
    }
}
