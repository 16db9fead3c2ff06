//! Classes of entities and literals, from quoted names, numbers, and names that occur in the words.

use super::corpus::{Cell, Corpus, EntityForm, Head};
use super::literals::{self, Literal};
use spanwise_core::{Span, Utterance};
use spanwise_lang::TermId;
use std::collections::{BTreeMap, BTreeSet};

/// Bare constants of one type are a class from so many on.
const MIN_MEMBERS: usize = 8;
/// Least share of its uses in which the name of such a constant is in the words.
const MIN_NAMED: f64 = 0.6;

/// An entity: its cells, and how often it is used and named.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    pub(super) cells: Vec<String>,
    pub(super) uses: usize,
    pub(super) named: usize,
    /// Other phrases, filled in after alignment.
    pub(super) aliases: Vec<String>,
}

/// A class of entities or literals.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) form: EntityForm,
    pub(super) members: Vec<Member>,
    /// How the values are read, if they are literals.
    pub(super) literal: Option<Literal>,
    /// The head that gives the class its type.
    pub(super) head: usize,
}

impl Class {
    /// The share of uses in which the name is in the words.
    pub(super) fn named(&self) -> f64 {
        let count = |of: fn(&Member) -> usize| self.members.iter().map(of).sum::<usize>() as f64;
        count(|member| member.named) / count(|member| member.uses).max(1.0)
    }
}

/// The classes that the notation of programs shows, and where their members occur.
pub(super) struct Entities {
    pub(super) classes: Vec<Class>,
    /// For each example: the class and member of each entity, and the words that name it.
    pub(super) mentions: Vec<Vec<Mention>>,
}

/// An entity of a program.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) class: usize,
    pub(super) member: usize,
    pub(super) span: Option<Span>,
}

pub(super) fn find(corpus: &Corpus) -> Entities {
    let mut names = Names::default();
    let heads = corpus.heads.iter().enumerate();
    let of_form: BTreeMap<usize, usize> = heads
        .filter_map(|(at, head)| match head {
            Head::Class(form) => Some((*form, at)),
            Head::Bare(_) | Head::Call(_) => None,
        })
        .collect();
    let mut classes: Vec<Class> = corpus
        .forms
        .iter()
        .enumerate()
        .map(|(at, form)| Class {
            name: names.fresh(corpus.name(of_form[&at])),
            form: form.clone(),
            members: Vec::new(),
            literal: None,
            head: of_form[&at],
        })
        .collect();
    for (at, class) in classes.iter_mut().enumerate() {
        class.literal = literals::find(corpus, of_form[&at], class);
    }
    let mut numbers: BTreeMap<(usize, TermId), usize> = BTreeMap::new();
    let mut mentions = Vec::with_capacity(corpus.graphs.len());
    for (graph, utterance) in corpus.graphs.iter().zip(&corpus.utterances) {
        let mut found = Vec::new();
        for node in graph {
            let Head::Class(class) = corpus.heads[node.head] else { continue };
            let members = &mut classes[class].members;
            let member = *numbers.entry((class, node.term)).or_insert(members.len());
            if member == members.len() {
                members.push(Member { cells: corpus.cells(node.term), ..Member::default() });
            }
            let span = match &classes[class].literal {
                Some(literal) => literal.span(utterance, &corpus.terms.display(node.term).to_string()),
                None => named(utterance, &classes[class].members[member].cells, &classes[class].form.cells),
            };
            let member_of = &mut classes[class].members[member];
            member_of.uses += 1;
            member_of.named += usize::from(span.is_some());
            found.push(Mention { class, member, span });
        }
        mentions.push(found);
    }
    Entities { classes, mentions }
}

/// Groups of bare constants with one sort whose names occur in the words: heads by class, the name of the class being that
/// of its most frequent member.
pub(super) fn bare_classes(corpus: &Corpus, sorts: &BTreeMap<usize, usize>) -> Vec<Class> {
    let uses = corpus.uses();
    let mut named = vec![0; corpus.heads.len()];
    for (graph, utterance) in corpus.graphs.iter().zip(&corpus.utterances) {
        let bare: BTreeSet<usize> = graph.iter().map(|node| node.head).collect();
        for head in bare.into_iter().filter(|&head| matches!(corpus.heads[head], Head::Bare(_))) {
            let cells = [corpus.name(head).to_owned()];
            named[head] += usize::from(self::named(utterance, &cells, &[Cell::Plain]).is_some());
        }
    }
    let mut by_sort: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (&head, &sort) in sorts {
        let is_bare = matches!(corpus.heads[head], Head::Bare(_));
        if is_bare && named[head] as f64 >= MIN_NAMED * uses[head] as f64 {
            by_sort.entry(sort).or_default().push(head);
        }
    }
    let groups = by_sort.into_values().filter(|heads| heads.len() >= MIN_MEMBERS);
    let class = |mut heads: Vec<usize>| {
        heads.sort_by_key(|&head| (std::cmp::Reverse(uses[head]), head));
        let member = |&head: &usize| Member {
            cells: vec![corpus.name(head).to_owned()],
            uses: uses[head],
            named: named[head],
            aliases: Vec::new(),
        };
        Class {
            name: format!("{} and others", corpus.name(heads[0])),
            form: EntityForm { head: None, cells: vec![Cell::Plain] },
            members: heads.iter().map(member).collect(),
            literal: None,
            head: heads[0],
        }
    };
    groups.map(class).collect()
}

/// All mentions: those of entities, and those of the members of bare classes, whose numbers follow.
pub(super) fn with_bare(corpus: &Corpus, entities: &Entities, bare: &[Class]) -> Vec<Vec<Mention>> {
    let members = bare.iter().enumerate().flat_map(|(at, class)| {
        let class_number = entities.classes.len() + at;
        let members = class.members.iter().enumerate();
        members.map(move |(member, one)| (one.cells[0].as_str(), (class_number, member)))
    });
    let members: BTreeMap<&str, (usize, usize)> = members.collect();
    let mut all = entities.mentions.clone();
    for ((graph, utterance), mentions) in corpus.graphs.iter().zip(&corpus.utterances).zip(&mut all) {
        for node in graph.iter().filter(|node| matches!(corpus.heads[node.head], Head::Bare(_))) {
            let name = corpus.name(node.head);
            let Some(&(class, member)) = members.get(name) else { continue };
            let span = named(utterance, &[name.to_owned()], &[Cell::Plain]);
            mentions.push(Mention { class, member, span });
        }
    }
    all
}

/// The words of an entity's first cell that is in an utterance.
fn named(utterance: &Utterance, cells: &[String], kinds: &[Cell]) -> Option<Span> {
    let written = cells.iter().zip(kinds).filter(|(_, kind)| **kind != Cell::Wildcard);
    written.map(|(cell, kind)| spoken(cell, *kind)).find_map(|name| find_words(utterance, &name))
}

/// A cell as words.
pub(super) fn spoken(cell: &str, kind: Cell) -> String {
    if kind == Cell::Plain { cell.replace('_', " ") } else { cell.to_owned() }
}

/// The first place of a phrase in an utterance, whatever the case.
fn find_words(utterance: &Utterance, phrase: &str) -> Option<Span> {
    let phrase = Utterance::new(phrase);
    let (tokens, n) = (utterance.tokens(), phrase.len());
    if n == 0 || n > tokens.len() {
        return None;
    }
    let is_here = |start: &usize| {
        tokens[*start..*start + n].iter().zip(phrase.tokens()).all(|(a, b)| a.lower == b.lower)
    };
    (0..=tokens.len() - n).find(is_here).map(|start| Span::new(start as u32, (start + n) as u32))
}

/// Makes names unique.
#[derive(Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let numbered = (2..).map(|n| format!("{name}{n}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !self.0.contains(name));
        let name = free.unwrap_or_default();
        self.0.insert(name.clone());
        name
    }
}
