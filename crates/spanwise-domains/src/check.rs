//! The linter behind `spanwise check`: whether a domain and a data set fit together.
//!
//! A [`Checker`] takes examples one at a time and keeps counts, so a data set of any size can be checked in little
//! memory.

mod notes;

use crate::data::Example;
use crate::exec::Executor;
use spanwise_core::{Idx, Utterance};
use spanwise_lang::lexicon::Source;
use spanwise_lang::{ConstantId, Domain, Kind, Node, Problem, TermId, Terms};
use std::collections::BTreeMap;

pub use notes::notes;

/// Failures that are kept with their text by default. All of them are counted.
const MAX_KEPT: usize = 1000;
/// The kind of a failure for a line that is not an example.
pub const BAD_LINE: &str = "bad line";
/// Terms after which the store of terms is emptied, to bound memory.
const MAX_TERMS: usize = 1 << 20;

/// An example that does not fit the domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Its file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its utterance, empty for a line that is not an example.
    pub utterance: String,
    /// Its program, as written.
    pub program: String,
    /// The reason in two or three words, for counting.
    pub kind: &'static str,
    /// The reason in full.
    pub message: String,
}

/// Occurrences of constants, and how many of them have a lexicon match in the utterance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Occurrences in programs.
    pub uses: usize,
    /// Those with one of the constant's phrases in the utterance.
    pub matched: usize,
}

/// How the data uses one predicate, or all members of one entity class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Its name.
    pub name: String,
    /// Whether it is a class of entities.
    pub is_class: bool,
    /// Its type: that of its members, or of what the predicate gives in its first signature.
    pub ty: String,
    /// Its occurrences.
    pub coverage: Coverage,
    /// Phrases for it; for a class, names and aliases of all members.
    pub phrases: usize,
}

/// How answers in the data compare with the executor's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Answers {
    /// Answers that are equal.
    pub equal: usize,
    /// Answers that differ.
    pub different: usize,
    /// Programs that could not be evaluated.
    pub failed: usize,
}

/// The findings of a [`Checker`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Examples seen.
    pub examples: usize,
    /// Examples with a program.
    pub programs: usize,
    /// Programs that are well-typed.
    pub typed: usize,
    /// Well-typed programs with more than one typing.
    pub ambiguous: usize,
    /// Failures by kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// Names that the domain does not have, with the number of programs.
    pub unknown: BTreeMap<String, usize>,
    /// The first failures, with their text.
    pub failures: Vec<Failure>,
    /// Predicates, all together.
    pub predicates: Coverage,
    /// Entities, all together.
    pub entities: Coverage,
    /// Predicates in the order of the file, then entity classes.
    pub usage: Vec<Usage>,
    /// Constants that no complete program can contain.
    pub unreachable: Vec<String>,
    /// Comparison of answers, if an executor was given.
    pub answers: Option<Answers>,
}

/// Checks examples against a domain.
///
/// ```
/// use spanwise_domains::{check::Checker, data::Example, load::load};
///
/// let domain = load("scan")?;
/// let mut checker = Checker::new(&domain, None);
/// let example = Example { program: Some("i_jmup()".to_owned()), ..Example::new("jump") };
/// checker.add("train.jsonl", 1, &example);
/// let report = checker.finish();
/// assert_eq!((report.typed, report.unknown["i_jmup"]), (0, 1));
/// # Ok::<(), spanwise_domains::load::LoadError>(())
/// ```
pub struct Checker<'a> {
    domain: &'a Domain,
    executor: Option<&'a dyn Executor>,
    terms: Terms,
    uses: Vec<Coverage>,
    unlisted: Vec<Coverage>,
    max_kept: usize,
    report: Report,
}

impl<'a> Checker<'a> {
    /// A checker without examples yet. With an executor, answers are compared too.
    #[must_use]
    pub fn new(domain: &'a Domain, executor: Option<&'a dyn Executor>) -> Self {
        Self {
            domain,
            executor,
            terms: domain.new_terms(),
            uses: vec![Coverage::default(); domain.constants().len()],
            unlisted: vec![Coverage::default(); domain.classes().len()],
            max_kept: MAX_KEPT,
            report: Report { answers: executor.map(|_| Answers::default()), ..Report::default() },
        }
    }

    /// The same, with at least the first `n` failures kept with their text.
    #[must_use]
    pub fn keeping(mut self, n: usize) -> Self {
        self.max_kept = self.max_kept.max(n);
        self
    }

    /// Records a line that is not an example.
    pub fn add_bad_line(&mut self, file: &str, line: usize, message: String) {
        let (utterance, program) = (String::new(), String::new());
        let file = file.to_owned();
        self.report.fail(self.max_kept, BAD_LINE, || Failure {
            file,
            line,
            utterance,
            program,
            kind: BAD_LINE,
            message,
        });
    }

    /// Checks one example.
    pub fn add(&mut self, file: &str, line: usize, example: &Example) {
        self.report.examples += 1;
        let Some(text) = &example.program else { return };
        self.report.programs += 1;
        if self.terms.len() > MAX_TERMS {
            self.terms = self.domain.new_terms();
        }
        let place = Place { file, line, example, program: text };
        let program = match self.terms.parse(text) {
            Ok(program) => program,
            Err(problem) => {
                return self
                    .report
                    .fail(self.max_kept, "syntax", || place.failure("syntax", problem.one_line(text)));
            }
        };
        match self.domain.analyze(&self.terms, program) {
            Ok(analysis) => {
                self.report.typed += 1;
                self.report.ambiguous += usize::from(analysis.is_ambiguous);
                self.cover(&example.spoken(), &analysis.nodes);
            }
            Err(problem) => {
                if let Problem::UnknownConstant { name, .. } = &problem {
                    *self.report.unknown.entry(name.clone()).or_default() += 1;
                }
                let message = || problem.describe(self.domain, &self.terms);
                self.report.fail(self.max_kept, problem.kind(), || place.failure(problem.kind(), message()));
            }
        }
        self.compare_answer(&place, program);
    }

    /// The findings.
    #[must_use]
    pub fn finish(mut self) -> Report {
        let mut phrases = vec![0usize; self.domain.constants().len()];
        for (constant, _) in self.domain.lexicon().entries() {
            phrases[constant.index()] += 1;
        }
        let mut classes: Vec<Usage> = self
            .domain
            .classes()
            .iter()
            .zip(&self.unlisted)
            .map(|(class, &coverage)| Usage {
                name: class.name.clone(),
                is_class: true,
                ty: self.domain.types().name(class.ty).to_owned(),
                coverage,
                phrases: 0,
            })
            .collect();
        let of_class = |name: &String| Usage {
            name: name.clone(),
            is_class: true,
            ty: String::new(),
            coverage: Coverage::default(),
            phrases: 0,
        };
        let mut predicate_classes: Vec<Usage> =
            self.domain.predicate_classes().iter().map(of_class).collect();
        for (id, constant) in self.domain.constants().iter_enumerated() {
            let coverage = self.uses[id.index()];
            match (constant.kind, constant.class) {
                (Kind::Predicate, Some(class)) => {
                    self.report.predicates.merge(coverage);
                    predicate_classes[class.index()].ty = self.result_type(id);
                    predicate_classes[class.index()].coverage.merge(coverage);
                    predicate_classes[class.index()].phrases += phrases[id.index()];
                }
                (Kind::Predicate, None) => {
                    self.report.predicates.merge(coverage);
                    let phrases = phrases[id.index()];
                    let (name, ty) = (constant.name.clone(), self.result_type(id));
                    let usage = Usage { name, is_class: false, ty, coverage, phrases };
                    self.report.usage.push(usage);
                }
                (Kind::Entity(class), _) => {
                    classes[class.index()].coverage.merge(coverage);
                    classes[class.index()].phrases += phrases[id.index()];
                }
            }
        }
        self.report.usage.extend(predicate_classes);
        for class in classes {
            self.report.entities.merge(class.coverage);
            self.report.usage.push(class);
        }
        let name = |id: ConstantId| self.domain.constants()[id].name.clone();
        self.report.unreachable = self.domain.unreachable_constants().map(name).collect();
        self.report
    }

    fn result_type(&self, id: ConstantId) -> String {
        let first = self.domain.frames_of(id).next();
        first.map_or_else(String::new, |(_, frame)| self.domain.types().name(frame.result).to_owned())
    }

    /// Counts which constants of a well-typed program have a lexicon match in the utterance, and which literals are in it.
    fn cover(&mut self, utterance: &Utterance, nodes: &[Node]) {
        let matches = self.domain.lexicon().matches(utterance);
        let literals = self.domain.literals(utterance);
        for node in nodes {
            match node {
                Node::Constant { constant, .. } => {
                    let coverage = &mut self.uses[constant.index()];
                    coverage.uses += 1;
                    coverage.matched += usize::from(matches.iter().any(|found| found.constant == *constant));
                }
                Node::Unlisted { class, term } => {
                    let holder = self.domain.classes()[*class].holder;
                    let written = self.terms.display(*term).to_string();
                    let is_said = |(_, constant, value): &(_, ConstantId, String)| {
                        Some(*constant) == holder && *value == written
                    };
                    let coverage = &mut self.unlisted[class.index()];
                    coverage.uses += 1;
                    coverage.matched += usize::from(literals.iter().any(is_said));
                }
                Node::Gather { .. } => {}
            }
        }
    }

    fn compare_answer(&mut self, place: &Place<'_>, program: TermId) {
        let (Some(executor), Some(answer)) = (self.executor, &place.example.answer) else { return };
        let outcome = executor.execute(&self.terms, program, place.example.context.as_ref());
        let answers = self.report.answers.get_or_insert_default();
        match outcome {
            Ok(denotation) if denotation.text == *answer => answers.equal += 1,
            Ok(denotation) => {
                answers.different += 1;
                let message = || format!("expected `{answer}`, found `{}`", denotation.text);
                self.report.fail(self.max_kept, "other answer", || place.failure("other answer", message()));
            }
            Err(error) => {
                answers.failed += 1;
                self.report.fail(self.max_kept, "not evaluated", || {
                    place.failure("not evaluated", error.to_string())
                });
            }
        }
    }
}

impl Report {
    /// Counts a failure, and keeps its text unless enough of them are kept.
    fn fail(&mut self, max_kept: usize, kind: &'static str, failure: impl FnOnce() -> Failure) {
        *self.kinds.entry(kind).or_default() += 1;
        if self.failures.len() < max_kept {
            self.failures.push(failure());
        }
    }
}

struct Place<'a> {
    file: &'a str,
    line: usize,
    example: &'a Example,
    program: &'a str,
}

impl Place<'_> {
    fn failure(&self, kind: &'static str, message: String) -> Failure {
        Failure {
            file: self.file.to_owned(),
            line: self.line,
            utterance: self.example.utterance.clone(),
            program: self.program.to_owned(),
            kind,
            message,
        }
    }
}

impl Coverage {
    fn merge(&mut self, other: Self) {
        self.uses += other.uses;
        self.matched += other.matched;
    }

    /// Share of occurrences with a lexicon match, in percent; `None` where there are no occurrences.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        (self.uses > 0).then(|| 100.0 * self.matched as f64 / self.uses as f64)
    }
}

/// Constants with more hand-written phrases than the two that the paper's setting allows, and how many they have.
#[must_use]
pub fn over_two_phrases(domain: &Domain) -> Vec<(String, usize)> {
    let mut counts = vec![0usize; domain.constants().len()];
    for (constant, source) in domain.lexicon().entries() {
        counts[constant.index()] += usize::from(source == Source::Phrase);
    }
    let many = domain.constants().iter().zip(counts).filter(|(_, n)| *n > 2);
    many.map(|(constant, n)| (constant.name.clone(), n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{builtin_names, load};

    #[cfg(feature = "geo")]
    #[test]
    fn typing_lexicon_and_unknown_constants_are_counted() {
        let examples = [
            ("capital of texas", "answer(capital(loc_2(stateid('texas'))))"),
            ("the area of the lone star state", "answer(area_1(stateid('texas')))"),
            ("huh", "answer(foo(all))"),
            ("huh", "answer(foo("),
            ("huh", "answer(capital(count(state(all))))"),
            ("people of springfield in south dakota", "answer(population_1(cityid('springfield', 'sd')))"),
        ];
        let domain = load("geo").unwrap();
        let mut checker = Checker::new(&domain, None);
        for (at, (utterance, program)) in examples.into_iter().enumerate() {
            let example = Example { program: Some(program.to_owned()), ..Example::new(utterance) };
            checker.add("x.jsonl", at + 1, &example);
        }
        let found = checker.finish();
        assert_eq!((found.examples, found.programs, found.typed), (6, 6, 3));
        assert_eq!(found.unknown.get("foo"), Some(&1));
        let kinds: Vec<_> = found.kinds.iter().map(|(kind, n)| (*kind, *n)).collect();
        assert_eq!(kinds, [("syntax", 1), ("types do not fit", 1), ("unknown constant", 1)]);
        assert_eq!(found.entities, Coverage { uses: 3, matched: 1 });
        assert_eq!(found.predicates, Coverage { uses: 4, matched: 4 });
        assert_eq!(found.failures[1].line, 4);
    }

    #[test]
    fn the_built_in_lexicons_keep_to_two_phrases_per_constant() {
        for spec in builtin_names() {
            assert_eq!(over_two_phrases(&load(spec).unwrap()), [], "{spec}");
        }
    }
}
