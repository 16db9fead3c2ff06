//! What a parser's predictions are worth: exact match, denotation, coverage, calibration, trees.
//!
//! A [`Evaluator`] compares one prediction with one example; a [`Report`] sums up. Definitions:
//!
//! * **Exact match**: the predicted program and the gold program are the same term.
//! * **Denotation**: both denote the same. An empty answer and a program that fails denote nothing, and
//!   nothing equals nothing: this is the column to compare with the paper. A missing prediction is never
//!   right, though for the authors it would be where the gold answer is empty.
//! * **Strict denotation**: the same, but an empty or failed prediction only counts if the program is exactly
//!   the gold one.
//! * What the gold program denotes is found by evaluating it; the `answer` of an example stands in where
//!   there is no gold program or it cannot be evaluated here. Examples that leave the gold denotation unknown
//!   (no executor, no scene, a service out of reach) do not enter the two columns, whatever was predicted;
//!   [`Report::n_denotation`] says how many did.
//! * **Calibration** asks whether the probability of the best program is the share of predictions that are
//!   right, by denotation where that is known and by exact match elsewhere. A missing prediction has
//!   probability 0 and is wrong.
//!
//! Shares are percentages from 0 to 100; the calibration error alone is a fraction from 0 to 1.

use crate::tree_f1::{LabelledSpans, TreeCounts, counts, predicted_tree};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_chart::SpanTree;
use spanwise_domains::data::Example;
use spanwise_domains::exec::{self, ExecError, Executor};
use spanwise_lang::{Domain, TermId, Terms};
use spanwise_nn::Tokenizer;
use std::path::Path;
use std::sync::Arc;

/// Bins of the calibration error.
const N_BINS: usize = 10;
/// Terms after which a evaluator's store starts afresh, so that memory stays flat.
const MAX_TERMS: usize = 1 << 20;

/// What a parser said about one utterance.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The store of the program.
    pub terms: &'a Terms,
    /// The best program.
    pub program: TermId,
    /// Its probability, from 0 to 1.
    pub probability: f64,
    /// Its tree, if trees are to be compared.
    pub tree: Option<&'a SpanTree>,
}

/// One prediction compared with what is true. `None` where nothing can be said.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ScoredExample {
    /// Whether the program is the gold one.
    pub exact: Option<bool>,
    /// Whether it denotes the same.
    pub denotation: Option<bool>,
    /// Whether it denotes the same and is not empty, or is exactly the gold one.
    pub denotation_strict: Option<bool>,
    /// Whether the model's chart can derive the gold program at all.
    pub covered: bool,
    /// Whether there was a prediction.
    pub found: bool,
    /// The probability of the prediction.
    pub probability: f64,
    /// The tree compared with the gold tree.
    pub tree: Option<TreeCounts>,
    /// Whether the gold tree is the only one its leaves allow
    /// ([`OneTree`](crate::tree_f1::OneTree)); the evaluator leaves this to others.
    pub one_tree: bool,
    /// The tree compared with the nearest one that yields the gold program
    /// ([`tree_any`](crate::tree_any)); the evaluator leaves this to others.
    pub tree_any: Option<TreeCounts>,
}

impl ScoredExample {
    /// Whether the prediction is right: by denotation where that is known, by exact match elsewhere.
    #[must_use]
    pub fn is_right(&self) -> Option<bool> {
        self.denotation.or(self.exact)
    }
}

/// Compares predictions with examples of one domain. A clone shares the executor and nothing else, so each
/// thread can have its own.
#[derive(Clone)]
pub struct Evaluator<'a> {
    domain: &'a Domain,
    executor: Option<Arc<dyn Executor>>,
    terms: Terms,
    /// What programs denote where there is no context.
    known: HashMap<TermId, Outcome>,
    /// Whose word-pieces gold trees count, where it is not the model's tokenizer.
    pieces: Option<&'a Tokenizer>,
}

/// What a program denotes.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    Value(String),
    /// An empty answer, or a program that has no value.
    Nothing,
    /// It could not be evaluated, for reasons that are not the program's.
    Unknown,
}

impl Outcome {
    fn of(result: Result<exec::Denotation, ExecError>) -> Self {
        match result {
            Ok(denotation) if denotation.is_empty => Self::Nothing,
            Ok(denotation) => Self::Value(denotation.text),
            Err(ExecError::NoValue(_) | ExecError::BadProgram(_)) => Self::Nothing,
            Err(ExecError::Limit { .. } | ExecError::BadContext(_) | ExecError::External(_)) => Self::Unknown,
        }
    }

    fn of_answer(answer: &str) -> Self {
        match answer.trim() {
            "" | "[]" => Self::Nothing,
            _ => Self::Value(answer.to_owned()),
        }
    }
}

impl<'a> Evaluator<'a> {
    /// A evaluator for a domain whose file is in `directory`.
    ///
    /// # Errors
    /// An executor that cannot be opened.
    pub fn new(domain: &'a Domain, directory: Option<&Path>) -> Result<Self, ExecError> {
        let executor = exec::open(domain, directory)?.map(Arc::from);
        Ok(Self::with_executor(domain, executor))
    }

    /// A evaluator with an executor of one's own, or none.
    #[must_use]
    pub fn with_executor(domain: &'a Domain, executor: Option<Arc<dyn Executor>>) -> Self {
        Self { domain, executor, terms: domain.new_terms(), known: HashMap::new(), pieces: None }
    }

    /// The same, for gold trees that count the word-pieces of this tokenizer and not those of the model.
    #[must_use]
    pub fn with_pieces(self, tokenizer: &'a Tokenizer) -> Self {
        Self { pieces: Some(tokenizer), ..self }
    }

    /// Whose word-pieces gold trees count, where it was said.
    pub(crate) fn pieces(&self) -> Option<&'a Tokenizer> {
        self.pieces
    }

    /// Compares a prediction with an example. `covered` says whether the model's chart can derive the gold
    /// program. Trees are compared where there is a gold tree; no prediction counts as an empty tree, a
    /// prediction without a tree not at all.
    ///
    /// Cost: at most two evaluations; one where the program is the gold one, none where it is known and there
    /// is no context.
    #[must_use]
    pub fn score(
        &mut self,
        example: &Example,
        covered: bool,
        prediction: Option<&Prediction<'_>>,
        gold_tree: Option<&LabelledSpans>,
    ) -> ScoredExample {
        if self.terms.len() > MAX_TERMS {
            self.terms = self.domain.new_terms();
            self.known.clear();
        }
        let gold = example.program.as_ref().map(|text| self.terms.parse(text).ok());
        let said = prediction.map(|prediction| self.terms.import(prediction.terms, prediction.program));
        let exact = gold.map(|gold| gold.is_some() && gold == said);
        let [denotation, denotation_strict] =
            match self.compare(example, gold.flatten(), said, exact == Some(true)) {
                Some([lenient, strict]) => [Some(lenient), Some(strict)],
                None => [None; 2],
            };
        let tree = gold_tree.and_then(|gold| match prediction {
            None => Some(counts(gold, &LabelledSpans::new())),
            Some(prediction) => Some(counts(gold, &predicted_tree(self.domain, prediction.tree?))),
        });
        ScoredExample {
            exact,
            denotation,
            denotation_strict,
            covered,
            found: said.is_some(),
            probability: prediction.map_or(0.0, |prediction| prediction.probability),
            tree,
            one_tree: false,
            tree_any: None,
        }
    }

    /// Whether a prediction denotes what it should: leniently, and strictly. `None` when the gold denotation
    /// is unknown.
    fn compare(
        &mut self,
        example: &Example,
        gold: Option<TermId>,
        said: Option<TermId>,
        exact: bool,
    ) -> Option<[bool; 2]> {
        self.executor.as_ref()?;
        let context = example.context.as_ref();
        let expected = gold.map_or(Outcome::Unknown, |gold| self.outcome(gold, context));
        let expected = match (expected, &example.answer) {
            (Outcome::Unknown, Some(answer)) => Outcome::of_answer(answer),
            (Outcome::Unknown, None) => return None,
            (known, _) => known,
        };
        let Some(said) = said else { return Some([false; 2]) };
        if exact {
            return Some([true; 2]);
        }
        Some(match self.outcome(said, context) {
            Outcome::Unknown => [false; 2],
            Outcome::Nothing => [expected == Outcome::Nothing, false],
            value @ Outcome::Value(_) => [value == expected; 2],
        })
    }

    fn outcome(&mut self, program: TermId, context: Option<&Value>) -> Outcome {
        let Some(executor) = &self.executor else { return Outcome::Unknown };
        let evaluate = || Outcome::of(executor.execute(&self.terms, program, context));
        match context {
            Some(_) => evaluate(),
            None => self.known.entry(program).or_insert_with(evaluate).clone(),
        }
    }
}

/// The measures of a set of examples. `None` where no example has what it takes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Examples.
    pub n: usize,
    /// Programs that are the gold one, in percent of examples with a gold program.
    pub exact_match: Option<f64>,
    /// Examples with a known gold denotation.
    pub n_denotation: usize,
    /// Predictions that denote the same, in percent of those.
    pub denotation: Option<f64>,
    /// The same, where empty answers count only for the gold program itself.
    pub denotation_strict: Option<f64>,
    /// Gold programs that the model's chart can derive, in percent of examples with a gold program.
    pub coverage: Option<f64>,
    /// Examples without a prediction, in percent.
    pub no_parse: Option<f64>,
    /// Expected calibration error, from 0 to 1: over ten equal bins of probability, the mean distance between
    /// mean probability and share of right predictions.
    pub ece: Option<f64>,
    /// Errors among the 80 % of predictions that are most probable, in percent.
    pub risk_at_80: Option<f64>,
    /// The same for 90 %.
    pub risk_at_90: Option<f64>,
    /// The same for 95 %.
    pub risk_at_95: Option<f64>,
    /// Examples whose trees were compared.
    pub n_trees: usize,
    /// Labelled spans against gold trees, F1 in percent, micro-averaged.
    pub tree_f1: Option<f64>,
    /// The same, over examples with one possible tree.
    pub tree_f1_one_tree: Option<f64>,
    /// Examples whose tree was compared with the nearest one that yields the gold program: those whose gold program
    /// the model's chart can derive, and those with a right prediction.
    pub n_trees_any: usize,
    /// Labelled spans against the nearest tree that yields the gold program, F1 in percent, micro-averaged.
    pub tree_f1_any: Option<f64>,
}

impl Report {
    /// Sums up. The order of the examples does not matter.
    #[must_use]
    pub fn new(scored: &[ScoredExample]) -> Self {
        let share = |of: fn(&ScoredExample) -> Option<bool>| {
            let answers: Vec<bool> = scored.iter().filter_map(of).collect();
            percent(answers.iter().filter(|yes| **yes).count(), answers.len())
        };
        let calibration = Calibration::new(
            scored.iter().filter_map(|scored| Some((scored.probability, scored.is_right()?))),
        );
        let trees = |of: fn(&ScoredExample) -> Option<TreeCounts>| {
            scored.iter().filter_map(of).fold(TreeCounts::default(), TreeCounts::plus).f1()
        };
        Self {
            n: scored.len(),
            exact_match: share(|scored| scored.exact),
            n_denotation: scored.iter().filter(|scored| scored.denotation.is_some()).count(),
            denotation: share(|scored| scored.denotation),
            denotation_strict: share(|scored| scored.denotation_strict),
            coverage: share(|scored| scored.exact.map(|_| scored.covered)),
            no_parse: share(|scored| Some(!scored.found)),
            ece: calibration.ece(),
            risk_at_80: calibration.risk_at(80.0),
            risk_at_90: calibration.risk_at(90.0),
            risk_at_95: calibration.risk_at(95.0),
            n_trees: scored.iter().filter(|scored| scored.tree.is_some()).count(),
            tree_f1: trees(|scored| scored.tree),
            tree_f1_one_tree: trees(|scored| scored.tree.filter(|_| scored.one_tree)),
            n_trees_any: scored.iter().filter(|scored| scored.tree_any.is_some()).count(),
            tree_f1_any: trees(|scored| scored.tree_any),
        }
    }
}

impl Report {
    /// The measures as the fields of a JSON object; `null` for what is not there.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => unreachable!("a struct of numbers is an object"),
        }
    }
}

/// `part` in percent of `whole`; `None` of nothing.
fn percent(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// Predictions by confidence.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Calibration {
    /// Probability from 0 to 1, and whether the prediction is right; the most probable first.
    points: Vec<(f64, bool)>,
}

impl Calibration {
    /// Sorts predictions. Probabilities are forced between 0 and 1; what is not a number counts as 0.
    #[must_use]
    pub fn new(points: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let between = |p: f64| if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) };
        let mut points: Vec<(f64, bool)> = points.into_iter().map(|(p, right)| (between(p), right)).collect();
        points.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Self { points }
    }

    /// The expected calibration error, from 0 to 1.
    #[must_use]
    pub fn ece(&self) -> Option<f64> {
        let mut bins = [(0.0, 0.0); N_BINS];
        for &(p, right) in &self.points {
            let bin = &mut bins[((p * N_BINS as f64) as usize).min(N_BINS - 1)];
            bin.0 += p;
            bin.1 += f64::from(u8::from(right));
        }
        let distance: f64 = bins.iter().map(|(said, right): &(f64, f64)| (said - right).abs()).sum();
        (!self.points.is_empty()).then(|| distance / self.points.len() as f64)
    }

    /// The share of errors, in percent, among the `coverage` percent of predictions that are most probable
    /// (rounded up to whole predictions). Of predictions that are equally probable, each counts for the same
    /// part.
    #[must_use]
    pub fn risk_at(&self, coverage: f64) -> Option<f64> {
        let n = self.points.len();
        // A hair less, so that 80 % of 10 is not 9 where the product comes out above 8.
        let kept =
            ((coverage.clamp(0.0, 100.0) / 100.0 * n as f64 - 1e-9).ceil() as usize).clamp(1, n.max(1));
        let mut wrong = 0.0;
        let mut seen = 0;
        for group in self.points.chunk_by(|a, b| a.0 == b.0) {
            let errors = group.iter().filter(|(_, right)| !right).count() as f64;
            let taken = group.len().min(kept - seen);
            wrong += errors * taken as f64 / group.len() as f64;
            seen += taken;
            if seen == kept {
                break;
            }
        }
        (n > 0).then(|| 100.0 * wrong / kept as f64)
    }
}

#[cfg(test)]
mod tests;
