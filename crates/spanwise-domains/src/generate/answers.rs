//! Runs candidates.

use super::{Candidate, Verdict};
use crate::exec::{ExecError, Executor};
use spanwise_lang::Domain;

/// What running a candidate says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answered {
    /// The verdict.
    Ran(Verdict),
    /// The program needs a context, which examples without one do not have. It says nothing.
    NoContext(String),
}

/// Runs the program of a candidate, and the part that it modifies.
pub fn answer(domain: &Domain, executor: &dyn Executor, candidate: &Candidate) -> Answered {
    let run = |text: &str| {
        let mut terms = domain.new_terms();
        let program = terms.parse(text).map_err(|error| ExecError::BadProgram(error.message))?;
        executor.execute(&terms, program, None)
    };
    let whole = match run(&candidate.program) {
        Ok(found) if found.is_empty => return Answered::Ran(Verdict::Empty),
        Ok(found) => found,
        Err(ExecError::BadContext(reason)) => return Answered::NoContext(reason),
        Err(ExecError::NoValue(_)) => return Answered::Ran(Verdict::Empty),
        Err(error) => return Answered::Ran(Verdict::Failed(error.to_string())),
    };
    let part = candidate.argument.as_deref().and_then(|part| run(part).ok());
    let is_same = part.is_some_and(|part| part.text == whole.text);
    Answered::Ran(if is_same { Verdict::NoDifference } else { Verdict::Good })
}
