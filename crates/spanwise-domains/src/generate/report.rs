//! What was generated, and what was not and why.

use std::collections::BTreeMap;

/// How often a signature of a constant, or a class, was used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// The constant or the class.
    pub name: String,
    /// The signature, or the type of the class.
    pub signature: String,
    /// Examples with it.
    pub count: usize,
    /// Those of them whose answer is empty, kept because no other was found.
    pub empty: usize,
    /// Why there is no example.
    pub reason: Option<String>,
}

/// What was generated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Examples.
    pub examples: usize,
    /// Different programs among them.
    pub programs: usize,
    /// Pairs of examples that differ in a constant and its opposite.
    pub contrasts: BTreeMap<String, usize>,
    /// Each signature and class, in the order of the file.
    pub coverage: Vec<Coverage>,
    /// Candidates that were dropped, by reason.
    pub dropped: BTreeMap<String, usize>,
    /// Programs that could not be evaluated: the first reason.
    pub first_failure: Option<String>,
    /// Why there are fewer examples than asked for.
    pub short_of: Option<String>,
}
