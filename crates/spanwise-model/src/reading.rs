//! Readings: what the parser finds for an utterance, written out as plain data and evaluated.

mod answered;
mod withheld;

use crate::family::Request;
use crate::outcome::{Alternative, Correction, Details, Outcome, Parse, Provenance, Unread};
use crate::parser::Parser;
use serde_json::Value;
use spanwise_chart::budget::Budget;
use spanwise_chart::spans::SpanPosterior;
use spanwise_chart::tree::{Category, SpanTree, TreeNode};
use spanwise_core::{Span, Utterance};
use spanwise_domains::exec::{Denotation, Until};
use spanwise_lang::{ConstantId, Domain, Kind, TermId, Terms, pretty};
use spanwise_reading::{self as reading, Answer, ChartSpan, Guess, NodeKind, Reading, Token, Tree};
use std::time::Duration;
use withheld::withheld;

/// Characters of a line of a program that is broken into lines.
const PROGRAM_COLUMNS: usize = 72;

/// An utterance, and what to report about it.
///
/// ```
/// use spanwise_model::Question;
///
/// let question = Question { alternatives: 3, ..Question::new("what states border texas") };
/// assert_eq!(question.utterance.len(), 4);
/// assert_eq!(question.withhold, spanwise_model::Withhold::Default);
/// ```
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The utterance.
    pub utterance: Utterance,
    /// What the utterance is about and programs are evaluated in: a scene, say.
    pub context: Option<&'a Value>,
    /// Most other programs to report.
    pub alternatives: usize,
    /// Which programs are withheld (selective prediction): they are not evaluated, and become the
    /// [guess](Reading::guess) of a reading without a program.
    pub withhold: Withhold,
    /// Whether to report the posterior probabilities of all spans of the chart.
    pub chart: bool,
    /// What it may cost. A question that would cost more has a reading without a program.
    pub budget: Budget,
    /// Whether to evaluate the program that is reported. An answer without a program is given all the same.
    pub execute: bool,
    /// Whether to evaluate the other programs too, if the first one is evaluated.
    pub execute_alternatives: bool,
}

/// Which programs are withheld.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Withhold {
    /// Those below the threshold of the model, which was fitted when it was calibrated; none without one.
    #[default]
    Default,
    /// Those that are less probable than this.
    Below(f64),
    /// None.
    Never,
}

impl Question<'_> {
    /// An utterance without a context; the most probable program and nothing else is reported and evaluated.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            utterance: Utterance::new(text),
            context: None,
            alternatives: 0,
            withhold: Withhold::Default,
            chart: false,
            budget: Budget::interactive(),
            execute: true,
            execute_alternatives: false,
        }
    }

    fn request(&self) -> Request<'_> {
        let details = Details {
            alternatives: self.alternatives,
            provenance: true,
            chart: self.chart,
            rival: self.withhold != Withhold::Never,
        };
        let (utterance, budget) = (self.utterance.clone(), self.budget.clone());
        Request { utterance, context: self.context, details, budget }
    }
}

impl Parser {
    /// Parses an utterance, evaluates its program unless the question says otherwise, and writes everything out.
    ///
    /// ```no_run
    /// use spanwise_model::{Parser, Question};
    ///
    /// let parser = Parser::load("runs/geo")?;
    /// let reading = parser.read(&Question::new("what is the capital of ohio"));
    /// if let Some(answer) = &reading.answer {
    ///     println!("{answer}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read(&self, question: &Question<'_>) -> Reading {
        self.read_batch(std::slice::from_ref(question)).pop().unwrap_or_default()
    }

    /// As [`read`](Self::read), for several utterances that go through the network together. The readings are in the
    /// order of the questions; no question influences the reading of another.
    #[must_use]
    pub fn read_batch(&self, questions: &[Question<'_>]) -> Vec<Reading> {
        let outcomes = self.model().parse_requests(questions.iter().map(Question::request).collect());
        questions.iter().zip(outcomes).map(|(question, outcome)| self.written(question, &outcome)).collect()
    }

    /// About how long it takes to parse an utterance on one core, without running the network. Cost: making its lattice,
    /// tens of microseconds a word.
    #[must_use]
    pub fn estimated_time(&self, question: &Question<'_>) -> Duration {
        let work = self.model().family.work(&question.request());
        // Every alternative has a chart of its own.
        let others = (work / 3).saturating_mul(question.alternatives as u64);
        Duration::from_nanos(work.saturating_add(others))
    }

    fn written(&self, question: &Question<'_>, outcome: &Outcome) -> Reading {
        let utterance = outcome.utterance();
        let threshold = self.threshold(question);
        let mut reading = Reading {
            utterance: utterance.text().to_owned(),
            chart: question.chart.then(|| self.chart(outcome)),
            threshold,
            now: self
                .model()
                .domain
                .has_dates()
                .then(|| utterance.now())
                .flatten()
                .map(|now| now.to_string()),
            ..Reading::default()
        };
        let mut alignment: &[Provenance] = &[];
        match outcome {
            Outcome::Nothing { cause, reason, .. } => {
                reading.cause = Some(*cause);
                reading.reason = Some(reason.clone());
            }
            Outcome::Answered(answered) => answered::fill(&mut reading, answered, threshold),
            Outcome::Found(parse) => {
                reading.unknown_words = parse.unknown().map(str::to_owned).collect();
                reading.corrections = parse.corrections.iter().map(|it| correction(utterance, it)).collect();
                reading.unread = parse.unread.iter().map(|it| unread(utterance, it)).collect();
                match threshold.filter(|&threshold| parse.probability < threshold || parse.must_ask()) {
                    Some(threshold) => {
                        let why = withheld(&self.model().domain, parse, threshold);
                        (reading.cause, reading.reason) = (Some(why.cause), Some(why.reason));
                        reading.clarification = why.clarification;
                        reading.guess = Some(self.guess(parse));
                    }
                    None => {
                        self.fill(&mut reading, question, parse);
                        alignment = &parse.provenance;
                    }
                }
            }
        }
        reading.tokens = self.tokens(outcome, alignment);
        reading
    }

    /// The probability below which a program is withheld.
    fn threshold(&self, question: &Question<'_>) -> Option<f64> {
        match question.withhold {
            Withhold::Default => self.model().confidence.threshold,
            Withhold::Below(threshold) => Some(threshold),
            Withhold::Never => None,
        }
    }

    /// Everything about a program that is not withheld.
    fn fill(&self, reading: &mut Reading, question: &Question<'_>, parse: &Parse) {
        let domain = &self.model().domain;
        let found = question.execute.then(|| self.evaluated(question, &parse.terms, parse.program));
        answer(reading, found.flatten());
        reading.program = Some(domain.display(&parse.terms, parse.program).to_string());
        reading.sql = self.explain(&parse.terms, parse.program);
        reading.lines = Some(pretty(&parse.terms, parse.program, PROGRAM_COLUMNS));
        reading.probability = Some(parse.probability);
        reading.posterior = Some(parse.posterior);
        reading.in_domain = Some(parse.in_domain);
        reading.score = Some(parse.score);
        reading.tree = parse.shown_tree().map(|tree| self.tree(parse, tree));
        // The best tree leaves them out, the one that is shown does not.
        let is_read = |at: u32| parse.provenance.get(at as usize).is_some_and(|it| it.constant.is_some());
        reading.unread.retain(|it| !(it.span[0]..it.span[1]).all(is_read));
        let others = parse.alternatives.iter();
        reading.alternatives = others.map(|other| self.alternative(question, parse, other)).collect();
    }

    fn tree(&self, parse: &Parse, tree: &SpanTree) -> Tree {
        let mut tree = plain_tree(&self.model().domain, &parse.terms, &parse.utterance, tree);
        for node in tree.nodes.iter_mut().filter(|node| node.kind == NodeKind::Constant) {
            node.probability = parse.provenance.get(node.span[0] as usize).map(|word| word.probability);
        }
        if let Some(root) = tree.nodes.last_mut() {
            root.probability = Some(parse.probability);
        }
        tree
    }

    fn alternative(
        &self,
        question: &Question<'_>,
        parse: &Parse,
        other: &Alternative,
    ) -> reading::Alternative {
        let is_wanted = question.execute && question.execute_alternatives;
        let found = is_wanted.then(|| self.evaluated(question, &parse.terms, other.program));
        let found = found.flatten().and_then(Result::ok);
        let answer_info = found.as_ref().map(|found| found.info.clone()).unwrap_or_default();
        let (answer, denotation) =
            found.map_or((None, None), |found| typed_and_text(found.answer, found.text));
        reading::Alternative {
            program: self.model().domain.display(&parse.terms, other.program).to_string(),
            probability: other.probability,
            posterior: other.posterior,
            score: other.score,
            answer,
            answer_info,
            denotation,
        }
    }

    fn guess(&self, parse: &Parse) -> Guess {
        Guess {
            program: Some(self.model().domain.display(&parse.terms, parse.program).to_string()),
            answer: None,
            probability: parse.probability,
            posterior: parse.posterior,
        }
    }

    /// What a program evaluates to, or why it does not, on one line; `None` without an executor.
    fn evaluated(
        &self,
        question: &Question<'_>,
        terms: &Terms,
        program: TermId,
    ) -> Option<Result<Denotation, String>> {
        let Budget { deadline, cancelled, .. } = &question.budget;
        let until = Until { deadline: *deadline, cancelled: cancelled.clone() };
        let outcome = self.execute_until(terms, program, question.context, &until)?;
        Some(outcome.map_err(|error| error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ")))
    }

    /// Evaluates the programs of a reading that was made without: `question.execute` was false then, and says now what to
    /// evaluate. So a parser can go on with other utterances while a database works.
    pub fn evaluate(&self, question: &Question<'_>, reading: &mut Reading) {
        if !question.execute {
            return;
        }
        let mut terms = self.model().domain.new_terms();
        let mut evaluated = |program: &str| {
            let program = terms.parse(program).ok()?;
            self.evaluated(question, &terms, program)
        };
        if let Some(program) = reading.program.clone() {
            answer(reading, evaluated(&program));
        }
        for other in reading.alternatives.iter_mut().filter(|_| question.execute_alternatives) {
            let found = evaluated(&other.program).and_then(Result::ok);
            other.answer_info = found.as_ref().map(|found| found.info.clone()).unwrap_or_default();
            (other.answer, other.denotation) =
                found.map_or((None, None), |found| typed_and_text(found.answer, found.text));
        }
    }

    /// The spans of the chart with their posterior probabilities.
    fn chart(&self, outcome: &Outcome) -> Vec<ChartSpan> {
        let constants = self.model().domain.constants();
        let span = |found: &SpanPosterior| ChartSpan {
            span: [found.span.start, found.span.end],
            constant: found.constant.map(|id| constants[id].name.clone()),
            probability: found.probability,
        };
        outcome.spans().iter().map(span).collect()
    }

    /// The words with their places in characters, their alignment, and how they were read.
    fn tokens(&self, outcome: &Outcome, alignment: &[Provenance]) -> Vec<Token> {
        let (domain, utterance) = (&self.model().domain, outcome.utterance());
        let mut in_lexicon = vec![false; utterance.len()];
        for found in domain.lexicon().matches(utterance) {
            in_lexicon[found.span.start as usize..found.span.end as usize].fill(true);
        }
        let mut tokens = Vec::with_capacity(utterance.len());
        for (at, (token, place)) in utterance.tokens().iter().zip(utterance.char_ranges()).enumerate() {
            let found = alignment.get(at);
            let constant = found.and_then(|found| found.constant);
            let covers = |span: Span| span.start as usize <= at && at < span.end as usize;
            let parse = outcome.parse();
            let read_as = parse.and_then(|parse| parse.corrections.iter().find(|it| covers(it.span)));
            tokens.push(Token {
                text: utterance.text()[token.bytes.clone()].to_owned(),
                start: place.start,
                end: place.end,
                constant: constant.map(|id| match parse.and_then(|parse| Some((parse, leaf(parse, at)?))) {
                    Some((parse, program)) => constant_name(domain, &parse.terms, id, Some(program)),
                    None => domain.constants()[id].name.clone(),
                }),
                span: found.map(|found| [found.span.start, found.span.end]),
                probability: found.map(|found| found.probability),
                in_lexicon: in_lexicon[at],
                unread: constant.is_none()
                    && parse.is_some_and(|parse| parse.unread.iter().any(|it| covers(it.span))),
                read_as: read_as.map(|it| it.to.clone()),
            });
        }
        tokens
    }
}

/// The sub-program of the constant that a word is aligned to.
fn leaf(parse: &Parse, at: usize) -> Option<TermId> {
    let is_leaf = |node: &&TreeNode| {
        matches!(node.category, Category::Constant(_))
            && node.span.start as usize <= at
            && at < node.span.end as usize
    };
    parse.shown_tree()?.nodes.iter().find(is_leaf)?.program
}

/// The name of a constant; for a literal, its value.
fn constant_name(domain: &Domain, terms: &Terms, id: ConstantId, program: Option<TermId>) -> String {
    let constant = &domain.constants()[id];
    match program.filter(|_| constant.term.is_none() && constant.kind != Kind::Predicate) {
        Some(value) => domain.display(terms, value).to_string(),
        None => constant.name.clone(),
    }
}

fn correction(utterance: &Utterance, it: &Correction) -> reading::Correction {
    reading::Correction {
        span: [it.span.start, it.span.end],
        from: utterance.slice(it.span).to_owned(),
        to: it.to.clone(),
        kind: it.kind,
    }
}

fn unread(utterance: &Utterance, it: &Unread) -> reading::Unread {
    let words = utterance.slice(it.span).to_owned();
    reading::Unread { span: [it.span.start, it.span.end], words, kind: it.kind }
}

/// Writes what a program evaluates to, or why it does not.
fn answer(reading: &mut Reading, found: Option<Result<Denotation, String>>) {
    match found {
        Some(Ok(found)) => {
            reading.answer_info = found.info;
            (reading.answer, reading.denotation) = typed_and_text(found.answer, found.text);
            reading.note = found.note;
        }
        Some(Err(error)) => reading.error = Some(error),
        None => {}
    }
}

/// A typed answer with its text; an answer without a value is absent, as `null` is in JSON.
fn typed_and_text(answer: Answer, text: String) -> (Option<Answer>, Option<String>) {
    (Some(answer).filter(|answer| *answer != Answer::Null), Some(text))
}

/// A span tree as plain data, without probabilities: names, sub-programs and types written out.
#[must_use]
pub fn plain_tree(domain: &Domain, terms: &Terms, utterance: &Utterance, tree: &SpanTree) -> Tree {
    let written = |node: &TreeNode| {
        let (kind, constant) = match node.category {
            Category::Constant(id) => (NodeKind::Constant, Some(id)),
            Category::Implicit(id) => (NodeKind::Implicit, Some(id)),
            Category::Join => (NodeKind::Join, None),
            Category::Null => (NodeKind::Null, None),
        };
        reading::TreeNode {
            span: [node.span.start, node.span.end],
            words: utterance.slice(node.span).to_owned(),
            kind,
            constant: constant.map(|id| constant_name(domain, terms, id, node.program)),
            program: node.program.map(|program| domain.display(terms, program).to_string()),
            r#type: node.type_text(domain),
            probability: None,
            children: Vec::new(),
        }
    };
    let order = postorder(tree);
    let mut place_of = vec![0; tree.nodes.len()];
    order.iter().enumerate().for_each(|(place, &node)| place_of[node] = place);
    let mut nodes: Vec<reading::TreeNode> = order.iter().map(|&node| written(&tree.nodes[node])).collect();
    for (place, &node) in order.iter().enumerate() {
        nodes[place].children = tree.nodes[node].children.iter().map(|&child| place_of[child]).collect();
    }
    Tree { nodes }
}

/// The nodes below the root, children before their parents and from left to right; the root is last.
fn postorder(tree: &SpanTree) -> Vec<usize> {
    let mut order = Vec::with_capacity(tree.nodes.len());
    let mut todo: Vec<usize> = tree.nodes.len().checked_sub(1).into_iter().collect();
    while let Some(node) = todo.pop() {
        order.push(node);
        todo.extend(&tree.nodes[node].children);
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests;
