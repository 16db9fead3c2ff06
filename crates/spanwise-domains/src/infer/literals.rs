//! Which kind of literal reads the values of a class from the words, if one does.
//!
//! Each candidate is tried as it would be used: in a domain of its own.

use super::corpus::{Cell, Corpus, EntityForm};
use super::entities::Class;
use spanwise_core::{Span, Utterance};
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;
use std::collections::BTreeSet;

/// Least share of the uses in which the value is read from the words.
const MIN_READ: f64 = 0.6;
/// Examples that are tried.
const MAX_TRIED: usize = 400;

/// Kinds, with a measure or another option, and the field that a program has.
const CANDIDATES: &[(&str, &str, &str)] = &[
    ("integer", "", "value"),
    ("decimal", "", "value"),
    ("ordinal", "", "value"),
    ("money", "", "number"),
    ("money", "", "value"),
    ("quantity", "measure = \"percent\"", "number"),
    ("quantity", "measure = \"length\"", "number"),
    ("quantity", "measure = \"length\"", "value"),
    ("quantity", "measure = \"weight\"", "number"),
    ("quantity", "measure = \"weight\"", "value"),
    ("quantity", "measure = \"temperature\"", "number"),
    ("quantity", "measure = \"temperature\"", "value"),
    ("quantity", "", "value"),
    ("duration", "", "value"),
    ("time", "", "value"),
    ("date", "", "value"),
    ("datetime", "", "value"),
    ("period", "", "value"),
    ("quoted", "", "value"),
];

/// A class of literals.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    /// The keys of the class in a domain file, from `kind` on.
    pub(super) keys: String,
    /// The share of uses in which the value is read.
    pub(super) read: f64,
    domain: Domain,
}

impl Literal {
    fn new(form: &EntityForm, kind: &str, option: &str, field: &str) -> Option<Self> {
        let hole =
            if form.cells[0] == Cell::Quoted { format!("'{{{field}}}'") } else { format!("{{{field}}}") };
        let written = match &form.head {
            Some(head) => format!("{head}({hole})"),
            None => hole,
        };
        let option = if option.is_empty() { String::new() } else { format!("{option}\n") };
        let form = super::toml::text(&written);
        let keys = format!("kind = \"{kind}\"\n{option}form = {form}\n");
        let source = format!(
            "name = \"try\"\ntypes = [\"Value\"]\nroot = {{ types = [\"Value\"] }}\n[[literals]]\nclass = \"value\"\ntype = \"Value\"\n{keys}"
        );
        let domain = Domain::load(&source, "try.toml", None, &NoTables).ok()?;
        Some(Self { keys, read: 0.0, domain })
    }

    /// The words that have a value.
    pub(super) fn span(&self, utterance: &Utterance, written: &str) -> Option<Span> {
        self.domain
            .literals(utterance)
            .into_iter()
            .find(|(.., value)| value == written)
            .map(|(span, ..)| span)
    }
}

/// The kind that reads most of the values, and of equally good ones the kind that reads least of what is no value.
pub(super) fn find(corpus: &Corpus, head: usize, class: &Class) -> Option<Literal> {
    let form = &class.form;
    if form.cells.len() != 1 || !matches!(form.cells[0], Cell::Quoted | Cell::Number) {
        return None;
    }
    let with_values = corpus.graphs.iter().zip(&corpus.utterances).filter_map(|(graph, utterance)| {
        let values: BTreeSet<String> = graph
            .iter()
            .filter(|node| node.head == head)
            .map(|node| corpus.terms.display(node.term).to_string())
            .collect();
        (!values.is_empty()).then_some((utterance, values))
    });
    let tried: Vec<(&Utterance, BTreeSet<String>)> = with_values.take(MAX_TRIED).collect();
    let mut best: Option<(f64, usize, Literal)> = None;
    for (kind, option, field) in CANDIDATES {
        let Some(mut literal) = Literal::new(form, kind, option, field) else { continue };
        let (share, n_read) = rate(&literal, &tried);
        let is_better = best.as_ref().is_none_or(|(known, n_known, _)| {
            share > known + 0.02 || share > known - 0.02 && n_read < *n_known
        });
        if share >= MIN_READ && is_better {
            literal.read = share;
            best = Some((share, n_read, literal));
        }
    }
    best.map(|(.., literal)| literal)
}

/// The share of values that are read, and the number of all readings. No value may be one that the class does not accept.
fn rate(literal: &Literal, tried: &[(&Utterance, BTreeSet<String>)]) -> (f64, usize) {
    let (mut n, mut found, mut readings) = (0, 0, 0);
    let mut terms = literal.domain.new_terms();
    for (utterance, values) in tried {
        for value in values {
            let program = terms.parse(value).ok();
            if program.is_none_or(|program| literal.domain.analyze(&terms, program).is_err()) {
                return (0.0, usize::MAX);
            }
        }
        let read: BTreeSet<String> =
            literal.domain.literals(utterance).into_iter().map(|(.., value)| value).collect();
        n += values.len();
        found += values.intersection(&read).count();
        readings += read.len();
    }
    (f64::from(found as u32) / f64::from(n.max(1) as u32), readings)
}
