//! The interface between the server and the parsers that it serves.

use serde::Serialize;
use serde_json::Value;
use spanwise_core::Moment;
use spanwise_reading::{Answer, AnswerInfo, Reading};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// One utterance with the options of its request.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The text.
    pub utterance: String,
    /// The maximum number of alternatives.
    pub k: usize,
    /// Whether the posterior probabilities of all spans are requested.
    pub chart: bool,
    /// Which programs are neither evaluated nor returned, except as the `guess`.
    pub withhold: Withhold,
    /// What relative dates refer to; without it, the engine chooses.
    pub now: Option<Moment>,
    /// What programs are evaluated in.
    pub context: Option<Arc<Value>>,
    /// Whether the program is evaluated.
    pub execute: bool,
    /// Whether the programs of alternatives are evaluated too.
    pub execute_alternatives: bool,
    /// Becomes true when nobody waits for the reading any more: the client has left, or the time of its request is over.
    /// An engine should then give the work up; what it returns is not used.
    pub cancelled: Arc<AtomicBool>,
    /// When the time of the request is over.
    pub deadline: Option<Instant>,
}

impl Ask {
    /// An utterance without options.
    #[must_use]
    pub fn new(utterance: impl Into<String>) -> Self {
        Self {
            utterance: utterance.into(),
            k: 0,
            chart: false,
            withhold: Withhold::Model,
            now: None,
            context: None,
            execute: true,
            execute_alternatives: false,
            cancelled: Arc::default(),
            deadline: None,
        }
    }

    /// Whether the work should be given up.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Who waits for the evaluation of a program.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// Becomes true when nobody waits any more; see [`Ask::cancelled`].
    pub cancelled: Arc<AtomicBool>,
    /// When the time of the request is over.
    pub deadline: Option<Instant>,
}

/// Which programs are withheld.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Withhold {
    /// Those below the threshold of the model; none, if it has no threshold.
    #[default]
    Model,
    /// Those that are less probable than this.
    Below(f64),
    /// None.
    Never,
}

impl Withhold {
    /// The probability below which programs are withheld, for a model with this threshold; `None` where none is.
    #[must_use]
    pub fn below(self, threshold: Option<f64>) -> Option<f64> {
        match self {
            Self::Model => threshold,
            Self::Below(least) => Some(least),
            Self::Never => None,
        }
    }
}

/// The result of evaluating a program.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
pub struct Executed {
    /// The program as it was given.
    pub program: String,
    /// Its value, typed; `null` with an `error` where it has none.
    #[schema(nullable = false)]
    pub answer: Option<Answer>,
    /// What is known about the value beside it; left out where that is nothing.
    #[serde(skip_serializing_if = "AnswerInfo::is_empty")]
    #[schema(required = false)]
    pub answer_info: AnswerInfo,
    /// The same as text, in the notation of the domain's executor.
    pub denotation: Option<String>,
    /// The program as the query of a database, human-readable; left out where programs are not evaluated by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sql: Option<String>,
    /// Why the program has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A remark on the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Why a program was not evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is not a program, or the context does not fit it.
    Bad(String),
    /// The domain of the model has no executor.
    NoExecutor,
}

/// The description of a model.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
pub struct ModelInfo {
    /// The name of its domain.
    pub domain: String,
    /// One line about the domain.
    pub about: String,
    /// The encoder, in words.
    pub encoder: String,
    /// What evaluates programs; `null` where nothing does.
    pub executor: Option<String>,
    /// The probability below which the model withholds answers; `null` for a model that was never calibrated.
    pub threshold: Option<f64>,
    /// The version of the model's format.
    pub version: u32,
    /// The hyper-parameters of the model.
    pub settings: Value,
    /// What was measured when the model was trained.
    pub metrics: Value,
    /// Utterances to try.
    pub examples: Vec<String>,
    /// Tells this model from others of the same name: the same for the same files.
    pub digest: String,
}

/// A parser that threads share.
pub trait Engine: Send + Sync + 'static {
    /// Describes the model.
    fn describe(&self) -> ModelInfo;

    /// What the user should know about the model; reported once, when it is loaded.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Parses a batch: one reading for each utterance, in their order. All of them have the same `k`. A reading must
    /// not depend on the rest of its batch, up to rounding.
    fn parse(&self, batch: &[Ask]) -> Vec<Reading>;

    /// Estimates how long it takes to parse an utterance that is long or has many alternatives, in a few milliseconds at
    /// most. Work that is expensive runs
    /// alone and leaves a thread to others. Short utterances are not estimated: their time is measured.
    fn cost(&self, ask: &Ask) -> Duration {
        let _ = ask;
        Duration::ZERO
    }

    /// Evaluates a program.
    ///
    /// # Errors
    /// A program that cannot be evaluated at all. One whose evaluation fails is [`Executed`] with an error.
    fn execute(&self, program: &str, context: Option<&Value>) -> Result<Executed, Refusal>;

    /// The same, given up when nobody waits any more.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    fn execute_until(
        &self,
        program: &str,
        context: Option<&Value>,
        waiting: &Waiting,
    ) -> Result<Executed, Refusal> {
        let _ = waiting;
        self.execute(program, context)
    }

    /// Whether evaluating a program may take long, as in a database. Then readings are requested without evaluation, and
    /// [`evaluate`](Self::evaluate) is called for each in a thread that parses nothing.
    fn evaluates_apart(&self) -> bool {
        false
    }

    /// Evaluates the programs of a reading that was requested without, if the request wants that.
    fn evaluate(&self, ask: &Ask, reading: Reading) -> Reading {
        let _ = ask;
        reading
    }

    /// The program as the model would write it, if it is one and has a type. It is not evaluated.
    ///
    /// # Errors
    /// Text that is not a program, an ill-typed program.
    fn check(&self, program: &str) -> Result<String, Refusal>;
}

/// Identifies a state of a model on disk: equal stamps mean that nothing has changed.
pub type Stamp = u64;

/// Where an engine is loaded from.
pub trait Source: Send + Sync + 'static {
    /// Loads the engine.
    ///
    /// # Errors
    /// What is wrong, as a message.
    fn load(&self) -> Result<Arc<dyn Engine>, String>;

    /// The state of what would be loaded; `None` when there is nothing to load. `broken` is true after a load that
    /// failed: then a change of any file counts, not only of the one that is written last.
    fn stamp(&self, broken: bool) -> Option<Stamp>;
}
