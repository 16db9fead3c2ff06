//! Generated examples: well-typed programs of a domain, said in varied words.
//!
//! Programs are drawn from the root types down, and around each signature that is rare so far, so that all of them are
//! covered. What would be odd is not drawn: the same modifier twice in a chain, the same argument twice. Each program is
//! said with the words of the domain file (`say`), or else with its phrases and names. A [`Check`] checks candidates: that
//! the program can be derived from the words, and that it has an answer. Nothing depends on anything but domain, settings,
//! seed and judge.

mod answers;
mod draw;
mod generator;
mod productions;
mod render;
mod report;
mod tree;

pub use answers::{Answered, answer};
pub use generator::generate;
pub use report::{Coverage, Report};
use spanwise_core::Moment;

/// What is generated.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// How many examples.
    pub n: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// The most levels of constants in a program, unless a signature needs more.
    pub depth: usize,
    /// The moment that relative dates refer to. Without it, all dates are absolute.
    pub now: Option<Moment>,
    /// Whether articles, courtesies, case and punctuation vary.
    pub is_varied: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { n: 2_000, seed: 1, depth: 5, now: None, is_varied: true }
    }
}

/// An example that is to be judged.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// What is said.
    pub utterance: String,
    /// The program, as text.
    pub program: String,
    /// When it is said.
    pub now: Option<Moment>,
    /// A part of the program that could be a program, and that the whole modifies.
    pub argument: Option<String>,
}

/// What is wrong with a candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing.
    Good,
    /// The program cannot be derived from the words, for this kind of reason.
    Underivable(String),
    /// It could not be evaluated.
    Failed(String),
    /// Its answer is empty.
    Empty,
    /// Its answer is that of its argument.
    NoDifference,
}

/// Checks candidates, one verdict for each.
pub type Check<'a> = dyn FnMut(&[Candidate]) -> Vec<Verdict> + 'a;
