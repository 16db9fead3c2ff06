//! What one evaluation may still spend, and the ways it can stop early.

use crate::exec::{ExecError, Limits};

/// Why an evaluation stopped before it had a value.
#[derive(Debug)]
pub(super) enum Stop {
    /// The query fails: it denotes nothing, for the reason given.
    Fails(String),
    /// There is no denotation at all.
    Error(ExecError),
}

impl From<ExecError> for Stop {
    fn from(error: ExecError) -> Self {
        Self::Error(error)
    }
}

/// Steps taken so far, held against the limits.
#[derive(Debug)]
pub(super) struct Budget {
    limits: Limits,
    steps: u64,
}

impl Budget {
    /// A budget with nothing spent.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, steps: 0 }
    }

    /// Spends `steps`.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), ExecError> {
        self.steps = self.steps.saturating_add(steps);
        let limit = self.limits.steps;
        if self.steps > limit { Err(ExecError::Limit { what: "steps", limit }) } else { Ok(()) }
    }

    /// Checks that a value of `n_items` is allowed.
    pub(super) fn hold(&self, n_items: u64) -> Result<(), ExecError> {
        let limit = self.limits.items;
        if n_items > limit { Err(ExecError::Limit { what: "items in one value", limit }) } else { Ok(()) }
    }
}
