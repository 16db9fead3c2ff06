//! Metrics of a parser: exact match, denotation accuracy, coverage, calibration error, selective risk, tree F1.
//!
//! An [`Evaluator`] compares one prediction with one example; a [`Report`] aggregates. Definitions:
//!
//! * **Exact match**: the predicted program and the gold program are the same term.
//! * **Denotation** (lenient): both programs have the same denotation. Empty answers and programs that fail count as
//!   equal to each other. This is the metric to compare with the paper, with one difference: here a missing prediction is
//!   always wrong, while the authors count it as correct if the gold answer is empty.
//! * **Strict denotation**: the same, but an empty or failed answer is correct only if the program is exactly the gold
//!   one.
//! * A model that gives answers without programs is scored by them: its answer is compared with the gold denotation as
//!   text. Exact match and coverage do not apply to it.
//! * The gold denotation is found by executing the gold program. If there is none, or if it cannot be executed, the
//!   `answer` of the example is used. Examples whose gold denotation is unknown (no executor, no scene, an unreachable
//!   service) are left out of both denotation metrics, whatever was predicted; [`Report::n_denotation`] counts the
//!   others.
//! * **Correct**, for calibration and risk, means the lenient denotation where it is known, and exact match elsewhere. A
//!   missing prediction has probability 0 and is wrong.
//! * **Expected calibration error (ECE)**: the mean difference between probability and accuracy, over ten bins of equal
//!   width.
//! * **Risk at coverage c**: the error rate among the c percent of predictions with the highest probability.
//!
//! Shares are percentages from 0 to 100; only the ECE is a fraction from 0 to 1.

use crate::tree_f1::{LabelledSpans, TreeCounts, counts, predicted_tree};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_chart::SpanTree;
use spanwise_domains::data::Example;
use spanwise_domains::exec::{self, ExecError, Executor};
use spanwise_lang::{Domain, TermId, Terms};
use spanwise_model::Parser;
use spanwise_nn::Tokenizer;
use std::path::Path;
use std::sync::Arc;

/// The number of bins of the calibration error.
const N_BINS: usize = 10;
/// The size at which an evaluator's store of terms is cleared, to bound its memory.
const MAX_TERMS: usize = 1 << 20;

/// A parser's prediction for one utterance.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The store of the program.
    pub terms: &'a Terms,
    /// The Viterbi (1-best) program.
    pub program: TermId,
    /// Its probability, from 0 to 1.
    pub probability: f64,
    /// Its tree; needed only to compare trees.
    pub tree: Option<&'a SpanTree>,
}

/// One prediction compared with its example. `None` means that the example does not allow the comparison.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ScoredExample {
    /// Whether the program is the gold one.
    pub exact: Option<bool>,
    /// Whether it has the gold denotation (lenient).
    pub denotation: Option<bool>,
    /// Whether it has the gold denotation and is not empty, or is exactly the gold program (strict).
    pub denotation_strict: Option<bool>,
    /// Whether the model can derive the gold program; always true for a family without a grammar.
    pub covered: bool,
    /// Whether there was a prediction.
    pub found: bool,
    /// The probability of the prediction; 0 if there is none.
    pub probability: f64,
    /// The tree compared with the gold tree.
    pub tree: Option<TreeCounts>,
    /// Whether the gold tree is the only one that its leaves allow ([`OneTree`](crate::tree_f1::OneTree)).
    /// [`evaluate`](crate::evaluate::evaluate) sets it; [`Evaluator::score`] does not.
    pub one_tree: bool,
    /// The tree compared with the nearest one that yields the gold program ([`tree_any`](crate::tree_any)).
    /// [`evaluate`](crate::evaluate::evaluate) sets it; [`Evaluator::score`] does not.
    pub tree_any: Option<TreeCounts>,
}

impl ScoredExample {
    /// Whether the prediction is correct: by lenient denotation if that is known, by exact match otherwise.
    #[must_use]
    pub fn is_right(&self) -> Option<bool> {
        self.denotation.or(self.exact)
    }
}

/// Compares predictions with examples of one domain. A clone shares only the executor, so each thread can have its own.
///
/// ```
/// use spanwise_domains::data::Example;
/// use spanwise_eval::metrics::{Evaluator, Prediction};
///
/// let domain = spanwise_domains::load::load("scan")?;
/// let mut evaluator = Evaluator::new(&domain, None)?;
/// let mut terms = domain.new_terms();
/// let program = terms.parse("i_and(i_walk(), i_walk())").expect("a program of the domain");
/// let prediction = Prediction { terms: &terms, program, probability: 0.8, tree: None };
/// let gold = Example { program: Some("i_twice(i_walk())".into()), ..Example::new("walk twice") };
/// let scored = evaluator.score(&gold, true, Some(&prediction), None);
/// // Another program, but the same sequence of actions.
/// assert_eq!((scored.exact, scored.denotation), (Some(false), Some(true)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Evaluator<'a> {
    domain: &'a Domain,
    executor: Option<Arc<dyn Executor>>,
    terms: Terms,
    /// Denotations of programs that were executed without a context.
    known: HashMap<TermId, Outcome>,
    /// The tokenizer whose word-pieces gold trees count, if it is not the model's.
    pieces: Option<&'a Tokenizer>,
}

/// The denotation of a program, for comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    Value(String),
    /// An empty answer, or a program without a value.
    Nothing,
    /// The program could not be executed for external reasons: a limit, the context, or the service.
    Unknown,
}

impl Outcome {
    fn of(result: Result<exec::Denotation, ExecError>) -> Self {
        match result {
            Ok(denotation) if denotation.is_empty => Self::Nothing,
            Ok(denotation) => Self::Value(denotation.text),
            Err(ExecError::NoValue(_) | ExecError::BadProgram(_)) => Self::Nothing,
            Err(
                ExecError::Limit { .. }
                | ExecError::BadContext(_)
                | ExecError::External(_)
                | ExecError::NotAllowed(_)
                | ExecError::Cancelled,
            ) => Self::Unknown,
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
    /// An evaluator with the domain's own executor, whose files, if it has any, are in `directory`.
    ///
    /// # Errors
    /// The executor cannot be opened.
    pub fn new(domain: &'a Domain, directory: Option<&Path>) -> Result<Self, ExecError> {
        let executor = exec::open(domain, directory)?.map(Arc::from);
        Ok(Self::with_executor(domain, executor))
    }

    /// An evaluator for the model of a parser, with the executor of the parser.
    #[must_use]
    pub fn of_parser(parser: &'a Parser) -> Self {
        Self::with_executor(&parser.model().domain, parser.executor().cloned())
    }

    /// An evaluator with the given executor. Without one, denotations are unknown.
    #[must_use]
    pub fn with_executor(domain: &'a Domain, executor: Option<Arc<dyn Executor>>) -> Self {
        Self { domain, executor, terms: domain.new_terms(), known: HashMap::new(), pieces: None }
    }

    /// Sets the tokenizer whose word-pieces gold trees count. The default is the model's tokenizer.
    #[must_use]
    pub fn with_pieces(self, tokenizer: &'a Tokenizer) -> Self {
        Self { pieces: Some(tokenizer), ..self }
    }

    /// The tokenizer whose word-pieces gold trees count, if it was set.
    pub(crate) fn pieces(&self) -> Option<&'a Tokenizer> {
        self.pieces
    }

    /// Compares a prediction with an example. `covered` is whether the model can derive the gold program. If there is a
    /// gold tree, trees are compared: a missing prediction counts as an empty tree; a prediction without a tree is not
    /// compared.
    ///
    /// Cost: at most two executions of programs. An exact match needs one. Denotations without a context are cached.
    #[must_use]
    pub fn score(
        &mut self,
        example: &Example,
        covered: bool,
        prediction: Option<&Prediction<'_>>,
        gold_tree: Option<&LabelledSpans>,
    ) -> ScoredExample {
        self.forget();
        let gold = example.program.as_ref().map(|text| self.terms.parse(text).ok());
        let predicted = prediction.map(|prediction| self.terms.import(prediction.terms, prediction.program));
        let exact = gold.map(|gold| gold.is_some() && gold == predicted);
        let [denotation, denotation_strict] =
            match self.compare(example, gold.flatten(), predicted, exact == Some(true)) {
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
            found: predicted.is_some(),
            probability: prediction.map_or(0.0, |prediction| prediction.probability),
            tree,
            one_tree: false,
            tree_any: None,
        }
    }

    /// Compares an answer that a model gives without a program, and its probability, with an example. There is no program
    /// that could match. Whether the executor runs does not matter where the example has an answer.
    #[must_use]
    pub fn score_answer(&mut self, example: &Example, found: Option<(&str, f64)>) -> ScoredExample {
        self.forget();
        let gold = example.program.as_ref().and_then(|text| self.terms.parse(text).ok());
        let predicted = found.map(|(answer, _)| Outcome::of_answer(answer));
        let expected = self.expected(example, gold);
        let is_right = |predicted: &Outcome| expected.as_ref().map(|expected| expected == predicted);
        let denotation = predicted.as_ref().map_or(expected.as_ref().map(|_| false), is_right);
        let is_value = matches!(predicted, Some(Outcome::Value(_)));
        ScoredExample {
            denotation,
            denotation_strict: denotation.map(|right| right && is_value),
            found: found.is_some(),
            probability: found.map_or(0.0, |(_, probability)| probability),
            ..ScoredExample::default()
        }
    }

    /// Bounds the memory of the store.
    fn forget(&mut self) {
        if self.terms.len() > MAX_TERMS {
            self.terms = self.domain.new_terms();
            self.known.clear();
        }
    }

    /// The gold denotation of an example with this gold program; `None` if it is unknown.
    fn expected(&mut self, example: &Example, gold: Option<TermId>) -> Option<Outcome> {
        match gold.map_or(Outcome::Unknown, |gold| self.outcome(gold, example.context.as_ref())) {
            Outcome::Unknown => example.answer.as_deref().map(Outcome::of_answer),
            known => Some(known),
        }
    }

    /// Whether a prediction has the gold denotation: lenient, and strict. `None` if the gold denotation is unknown.
    fn compare(
        &mut self,
        example: &Example,
        gold: Option<TermId>,
        predicted: Option<TermId>,
        exact: bool,
    ) -> Option<[bool; 2]> {
        self.executor.as_ref()?;
        let context = example.context.as_ref();
        let expected = self.expected(example, gold)?;
        let Some(predicted) = predicted else { return Some([false; 2]) };
        if exact {
            return Some([true; 2]);
        }
        Some(match self.outcome(predicted, context) {
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

/// The metrics of a set of examples. A metric is `None` if no example allows it.
///
/// ```
/// use spanwise_eval::metrics::{Report, ScoredExample};
///
/// let one = |probability, exact| ScoredExample {
///     exact: Some(exact),
///     found: true,
///     probability,
///     ..ScoredExample::default()
/// };
/// let report = Report::new(&[one(1.0, true), one(0.9, true), one(0.8, true), one(0.7, true), one(0.6, false)]);
/// assert_eq!((report.n, report.exact_match), (5, Some(80.0)));
/// // The only error has the lowest probability, so abstaining from 20 % of the answers avoids it.
/// assert_eq!((report.risk_at_80, report.risk_at_95), (Some(0.0), Some(20.0)));
/// // Without an executor, denotations are unknown.
/// assert_eq!(report.denotation, None);
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The number of examples.
    pub n: usize,
    /// Programs that are the gold one, in percent of examples with a gold program.
    pub exact_match: Option<f64>,
    /// Examples with a known gold denotation.
    pub n_denotation: usize,
    /// Predictions with the gold denotation (lenient), in percent of those.
    pub denotation: Option<f64>,
    /// The same, but an empty answer counts only for the gold program itself (strict).
    pub denotation_strict: Option<f64>,
    /// Gold programs that the model can derive, in percent of examples with a gold program.
    pub coverage: Option<f64>,
    /// Examples without a prediction, in percent.
    pub no_parse: Option<f64>,
    /// Expected calibration error, from 0 to 1: the difference between mean probability and accuracy in each of ten bins
    /// of equal width, averaged with the number of predictions in a bin as weight.
    pub ece: Option<f64>,
    /// Risk at a coverage of 80 %: errors in percent of the 80 % of predictions with the highest probability.
    pub risk_at_80: Option<f64>,
    /// Risk at a coverage of 90 %.
    pub risk_at_90: Option<f64>,
    /// Risk at a coverage of 95 %.
    pub risk_at_95: Option<f64>,
    /// Examples whose trees were compared.
    pub n_trees: usize,
    /// Labelled spans against gold trees, F1 in percent, micro-averaged.
    pub tree_f1: Option<f64>,
    /// The same, over examples whose gold tree is the only possible one.
    pub tree_f1_one_tree: Option<f64>,
    /// Examples whose tree was compared with the nearest one that yields the gold program: those whose gold program
    /// the model can derive, and those with a correct program.
    pub n_trees_any: usize,
    /// Labelled spans against the nearest tree that yields the gold program, F1 in percent, micro-averaged.
    pub tree_f1_any: Option<f64>,
}

impl Report {
    /// Aggregates scored examples. Their order does not matter.
    #[must_use]
    pub fn new(scored: &[ScoredExample]) -> Self {
        let share = |of: fn(&ScoredExample) -> Option<bool>| {
            let known: Vec<bool> = scored.iter().filter_map(of).collect();
            percent(known.iter().filter(|yes| **yes).count(), known.len())
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
    /// The metrics as the fields of a JSON object; `null` for `None`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => unreachable!("a struct of numbers is an object"),
        }
    }
}

/// `part` in percent of `whole`; `None` if `whole` is 0.
fn percent(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// Predictions sorted by probability, for calibration error and risk.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Calibration {
    /// Probability from 0 to 1, and whether the prediction is correct; the most probable first.
    points: Vec<(f64, bool)>,
}

impl Calibration {
    /// Sorts predictions. Probabilities are clamped to 0 to 1; NaN counts as 0.
    #[must_use]
    pub fn new(points: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let between = |p: f64| if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) };
        let mut points: Vec<(f64, bool)> = points.into_iter().map(|(p, right)| (between(p), right)).collect();
        points.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Self { points }
    }

    /// The expected calibration error, from 0 to 1; `None` without predictions.
    #[must_use]
    pub fn ece(&self) -> Option<f64> {
        let mut bins = [(0.0, 0.0); N_BINS];
        for &(p, right) in &self.points {
            let bin = &mut bins[((p * N_BINS as f64) as usize).min(N_BINS - 1)];
            bin.0 += p;
            bin.1 += f64::from(u8::from(right));
        }
        let distance: f64 =
            bins.iter().map(|(confidence, right): &(f64, f64)| (confidence - right).abs()).sum();
        (!self.points.is_empty()).then(|| distance / self.points.len() as f64)
    }

    /// The selective risk: the share of errors, in percent, among the `coverage` percent of predictions with the highest
    /// probability, rounded up to whole predictions. If the cut falls among equally probable predictions, their mean
    /// error is used, so that the result does not depend on their order.
    #[must_use]
    pub fn risk_at(&self, coverage: f64) -> Option<f64> {
        let n = self.points.len();
        // Slightly less, because rounding errors would make 80 % of 10 the next integer, 9.
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
