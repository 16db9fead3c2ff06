//! Executors, which evaluate programs to denotations.
//!
//! Evaluation is total and bounded: an executor returns a [`Denotation`] or an [`ExecError`], never panics,
//! never recurses on the depth of a program, and stops at the limits of [`Limits`] however large or deeply
//! nested the program is.

pub mod external;
pub mod files;
pub mod sql;
mod tables;
mod until;

use crate::load;
use external::{CommandConfig, CommandExecutor, HttpConfig, HttpExecutor, PrivateExecutor};
use files::ExecutorFiles;
use serde_json::Value;
use spanwise_lang::domain::ExecutorChoice;
use spanwise_lang::{Domain, TermId, Terms};
use spanwise_reading::{Answer, AnswerInfo};
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use tables::DatabaseTables;
pub use until::Until;

/// What a program evaluates to, twice: as canonical text, which metrics compare, and as a typed value for applications.
///
/// ```
/// use spanwise_domains::exec::{self, Denotation};
/// use spanwise_domains::load::load;
/// use spanwise_reading::Answer;
///
/// let domain = load("scan")?;
/// let executor = exec::open(&domain, None)?.expect("scan has an executor");
/// let mut terms = domain.new_terms();
/// let program = terms.parse("i_walk(i_left)").map_err(|error| error.message)?;
/// let found = executor.execute(&terms, program, None)?;
/// assert_eq!(found.text, "I_TURN_LEFT I_WALK");
/// assert_eq!(found.answer, Answer::List(vec!["I_TURN_LEFT".into(), "I_WALK".into()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denotation {
    /// The value as text, in the notation of the domain's reference executor.
    pub text: String,
    /// The same value, typed.
    pub answer: Answer,
    /// What is known about the answer beside its value: whether it was cut, units.
    pub info: AnswerInfo,
    /// Whether the value is empty: an empty answer, or a program that failed and therefore denotes nothing.
    pub is_empty: bool,
    /// Why a well-formed program denotes nothing, where the executor knows the reason.
    pub note: Option<String>,
}

impl Denotation {
    /// A value that is a text.
    pub fn value(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::typed(text.clone(), Answer::Text(text))
    }

    /// A value with its text and its type.
    pub fn typed(text: impl Into<String>, answer: Answer) -> Self {
        Self { text: text.into(), answer, info: AnswerInfo::default(), is_empty: false, note: None }
    }

    /// The same with what is known about the answer.
    #[must_use]
    pub fn with_info(self, info: AnswerInfo) -> Self {
        Self { info, ..self }
    }
}

/// Why a program has no denotation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExecError {
    /// Evaluation would exceed a limit.
    #[error("evaluation stopped: more than {limit} {what}")]
    Limit {
        /// What was counted, in the plural.
        what: &'static str,
        /// The most that is allowed.
        limit: u64,
    },
    /// The program uses a name or a number of arguments that the executor does not know.
    #[error("{0}")]
    BadProgram(String),
    /// The program needs a context (a scene, say) and none, or a broken one, was given.
    #[error("{0}")]
    BadContext(String),
    /// The program is understood but has no value in this context.
    #[error("{0}")]
    NoValue(String),
    /// An external executor could not be reached, or its reply is malformed.
    #[error("{0}")]
    External(String),
    /// The executor of a model was not allowed to run.
    #[error("{0}")]
    NotAllowed(String),
    /// Nobody waits for the result any more.
    #[error("the evaluation was cancelled")]
    Cancelled,
}

/// Bounds on one evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most elementary steps: facts looked at, items copied.
    pub steps: u64,
    /// Most items in one intermediate or final value.
    pub items: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 20_000_000, items: 1_000_000 }
    }
}

/// Evaluates the programs of one domain.
pub trait Executor: Send + Sync {
    /// The denotation of `program`, in `context` where the domain has one.
    ///
    /// # Errors
    /// See [`ExecError`]; the executor stays usable after any of them.
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
    ) -> Result<Denotation, ExecError>;

    /// The same, given up when nobody waits for the result any more. Executors inside this program are fast, and ignore it.
    ///
    /// # Errors
    /// As [`execute`](Self::execute), and [`ExecError::Cancelled`].
    fn execute_until(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
        until: &Until,
    ) -> Result<Denotation, ExecError> {
        let _ = until;
        self.execute(terms, program, context)
    }

    /// What `program` becomes before it is evaluated, as a human-readable text: the query of a database. `None` where there is
    /// no such form.
    fn explain(&self, terms: &Terms, program: TermId) -> Option<String> {
        let _ = (terms, program);
        None
    }
}

/// Names of the executors in this build.
pub const BUILTINS: &[&str] = &[
    #[cfg(feature = "geo")]
    "geo",
    "clevr",
    "scan",
];

/// The executor that a domain declares; `None` when its programs are not evaluated. External commands run in
/// `directory`, where the domain file is.
///
/// # Errors
/// A built-in executor that does not exist, an empty command, an address that cannot be used.
pub fn open(domain: &Domain, directory: Option<&Path>) -> Result<Option<Box<dyn Executor>>, ExecError> {
    let directory = directory.filter(|path| !path.as_os_str().is_empty()).map(Path::to_path_buf);
    if let ExecutorChoice::Sql(_) = domain.executor() {
        let directory = directory.unwrap_or_else(|| PathBuf::from("."));
        return open_database(&Arc::new(domain.clone()), directory).map(Some);
    }
    open_with(domain, |config| {
        let config = CommandConfig { working_dir: directory, ..config };
        Ok(Box::new(CommandExecutor::new(config)?))
    })
}

/// The executor of a domain whose programs run in a database. It is opened when it is first needed; a file of SQLite is
/// found relative to `directory`.
///
/// # Errors
/// A domain without a database.
pub fn open_database(domain: &Arc<Domain>, directory: PathBuf) -> Result<Box<dyn Executor>, ExecError> {
    Ok(Box::new(sql::DatabaseExecutor::new(Arc::clone(domain), directory)?))
}

/// The same, where an external command runs in a directory of its own with copies of `files` and nothing else.
///
/// # Errors
/// As [`open`], and a directory that cannot be made.
pub fn open_private(domain: &Domain, files: &ExecutorFiles) -> Result<Option<Box<dyn Executor>>, ExecError> {
    open_with(domain, |config| Ok(Box::new(PrivateExecutor::new(config, files)?)))
}

fn open_with(
    domain: &Domain,
    command: impl FnOnce(CommandConfig) -> Result<Box<dyn Executor>, ExecError>,
) -> Result<Option<Box<dyn Executor>>, ExecError> {
    let style = domain.style().clone();
    Ok(Some(match domain.executor() {
        ExecutorChoice::None => return Ok(None),
        ExecutorChoice::Builtin(name) => builtin(&name.value)?,
        ExecutorChoice::Command { argv, timeout, processes } => command(CommandConfig {
            program: argv.clone(),
            working_dir: None,
            timeout: *timeout,
            processes: *processes,
            style,
        })?,
        ExecutorChoice::Url { url, token_env, timeout } => Box::new(HttpExecutor::new(HttpConfig {
            url: url.clone(),
            timeout: *timeout,
            style,
            token_variable: token_env.clone(),
        })?),
        ExecutorChoice::Sql(_) => open_database(&Arc::new(domain.clone()), PathBuf::from("."))?,
    }))
}

/// Whether an executor could be opened, without opening it: secrets and programs need not be there.
///
/// # Errors
/// A built-in executor that does not exist, an empty command, an address that cannot be used.
pub fn check(choice: &ExecutorChoice) -> Result<(), String> {
    match choice {
        ExecutorChoice::None => Ok(()),
        ExecutorChoice::Builtin(name) if BUILTINS.contains(&name.value.as_str()) => Ok(()),
        ExecutorChoice::Builtin(name) => Err(no_builtin(&name.value)),
        ExecutorChoice::Command { argv, .. } => external::check_command(argv),
        ExecutorChoice::Url { url, .. } => external::check_url(url),
        ExecutorChoice::Sql(settings) => sql::check(settings),
    }
}

fn builtin(name: &str) -> Result<Box<dyn Executor>, ExecError> {
    Ok(match name {
        #[cfg(feature = "geo")]
        "geo" => Box::new(crate::geo::GeoExecutor::new()),
        "clevr" => Box::new(crate::clevr::ClevrExecutor::new()),
        "scan" => Box::new(crate::scan::ScanExecutor::new()),
        _ => return Err(ExecError::External(no_builtin(name))),
    })
}

fn no_builtin(name: &str) -> String {
    if load::is_left_out(name) {
        return format!("the executor {name} is not in this build; {}", load::missing_feature(name));
    }
    let hint = match spanwise_lang::diag::closest(name, BUILTINS.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", BUILTINS.join(", ")),
    };
    format!("there is no built-in executor `{name}`; {hint}")
}
