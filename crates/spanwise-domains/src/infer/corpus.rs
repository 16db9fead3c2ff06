//! The programs to infer from: terms as graphs of heads, with entities made anonymous.

use super::InferError;
use crate::data::Example;
use spanwise_core::Utterance;
use spanwise_lang::{Shape, Style, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// Most constants of a program that is read.
const MAX_SIZE: u64 = 100_000;
/// A function of one name is a class of entities from so many different names on.
const MIN_NAMES: usize = 3;

/// What a subterm begins with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Head {
    /// A member of a class of entities.
    Class(usize),
    /// A name without parentheses.
    Bare(String),
    /// A name with parentheses.
    Call(String),
}

/// How an argument of an entity is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cell {
    Quoted,
    Number,
    Plain,
    Wildcard,
}

/// Entities that are written alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct EntityForm {
    /// The name before the parentheses; `None` for a value without any.
    pub(super) head: Option<String>,
    pub(super) cells: Vec<Cell>,
}

/// A subterm: its head and its arguments, as numbers in its graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Node {
    pub(super) head: usize,
    pub(super) children: Vec<usize>,
    pub(super) term: TermId,
}

/// A program as a graph: arguments come before what takes them, equal subterms are one node, the program is the last.
pub(super) type Graph = Vec<Node>;

/// All programs with their utterances.
pub(super) struct Corpus {
    pub(super) terms: Terms,
    pub(super) utterances: Vec<Utterance>,
    pub(super) graphs: Vec<Graph>,
    pub(super) heads: Vec<Head>,
    pub(super) forms: Vec<EntityForm>,
    /// The function around every program.
    pub(super) wrap: Option<String>,
    pub(super) style: Style,
    /// The programs as they were given.
    pub(super) programs: Vec<TermId>,
}

impl Corpus {
    pub(super) fn read(examples: &[Example]) -> Result<Self, InferError> {
        let mut terms = Terms::new();
        let mut programs = Vec::new();
        let mut utterances = Vec::new();
        let mut styles = Styles::default();
        for (at, example) in examples.iter().enumerate() {
            let Some(text) = &example.program else { continue };
            let unreadable = |reason: String| InferError::Program { example: at, reason };
            let program = terms.parse(text).map_err(|problem| unreadable(problem.one_line(text)))?;
            if terms.size(program) > MAX_SIZE {
                return Err(unreadable(format!("it has more than {MAX_SIZE} constants")));
            }
            styles.add(text);
            programs.push(program);
            utterances.push(example.spoken());
        }
        if programs.is_empty() {
            return Err(InferError::NoPrograms);
        }
        let wrap = wrapper(&terms, &programs);
        let inner = |&program: &TermId| if wrap.is_some() { terms.args(program)[0] } else { program };
        let roots: Vec<TermId> = programs.iter().map(inner).collect();
        let mut corpus = Self {
            graphs: Vec::new(),
            heads: Vec::new(),
            forms: Vec::new(),
            style: styles.commonest(),
            terms,
            utterances,
            wrap,
            programs,
        };
        corpus.graphs = corpus.read_graphs(&roots);
        Ok(corpus)
    }

    fn read_graphs(&mut self, roots: &[TermId]) -> Vec<Graph> {
        let entities = EntityHeads::find(&self.terms, roots);
        let mut numbers: BTreeMap<Head, usize> = BTreeMap::new();
        let mut graphs = Vec::with_capacity(roots.len());
        for &root in roots {
            let mut graph: Graph = Vec::new();
            let mut at: BTreeMap<TermId, usize> = BTreeMap::new();
            for term in self.reached(root, &entities) {
                let head = match entities.form(&self.terms, term) {
                    Some(form) => Head::Class(self.form(form)),
                    None if self.terms.shape(term) == Shape::Call => {
                        Head::Call(self.terms.head_text(term).to_owned())
                    }
                    None => Head::Bare(self.terms.head_text(term).to_owned()),
                };
                let args = if matches!(head, Head::Class(_)) { &[] } else { self.terms.args(term) };
                let children = args.iter().map(|arg| at[arg]).collect();
                let fresh = self.heads.len();
                let number = *numbers.entry(head.clone()).or_insert(fresh);
                if number == fresh {
                    self.heads.push(head);
                }
                at.insert(term, graph.len());
                graph.push(Node { head: number, children, term });
            }
            graphs.push(graph);
        }
        graphs
    }

    /// The subterms of a program, arguments first, without the arguments of entities.
    fn reached(&self, root: TermId, entities: &EntityHeads) -> Vec<TermId> {
        let mut seen = BTreeSet::from([root]);
        let mut todo = vec![root];
        while let Some(term) = todo.pop() {
            if entities.form(&self.terms, term).is_none() {
                todo.extend(self.terms.args(term).iter().copied().filter(|&arg| seen.insert(arg)));
            }
        }
        seen.into_iter().collect()
    }

    fn form(&mut self, form: EntityForm) -> usize {
        self.forms.iter().position(|known| *known == form).unwrap_or_else(|| {
            self.forms.push(form);
            self.forms.len() - 1
        })
    }

    /// The cells of an entity, as texts.
    pub(super) fn cells(&self, term: TermId) -> Vec<String> {
        match self.terms.shape(term) {
            Shape::Call => {
                self.terms.args(term).iter().map(|&arg| self.terms.head_text(arg).to_owned()).collect()
            }
            _ => vec![self.terms.head_text(term).to_owned()],
        }
    }

    /// The name of a head without its kind; of a class, its form's.
    pub(super) fn name(&self, head: usize) -> &str {
        match &self.heads[head] {
            Head::Bare(name) | Head::Call(name) => name,
            Head::Class(form) => {
                let form = &self.forms[*form];
                let bare = if form.cells[0] == Cell::Number { "number" } else { "name" };
                form.head.as_deref().unwrap_or(bare)
            }
        }
    }

    /// In how many programs each head occurs.
    pub(super) fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.heads.len()];
        for graph in &self.graphs {
            let heads: BTreeSet<usize> = graph.iter().map(|node| node.head).collect();
            heads.into_iter().for_each(|head| uses[head] += 1);
        }
        uses
    }
}

/// The function around all programs, if there is one that occurs nowhere else.
fn wrapper(terms: &Terms, programs: &[TermId]) -> Option<String> {
    let first = programs[0];
    let head = terms.head(first);
    let is_wrapped = |&program: &TermId| {
        terms.shape(program) == Shape::Call
            && terms.head(program) == head
            && terms.args(program).len() == 1
            && terms.bottom_up(program).iter().filter(|&&term| terms.head(term) == head).count() == 1
    };
    let differ = programs.iter().any(|&program| program != first);
    (differ && programs.iter().all(is_wrapped)).then(|| terms.head_text(first).to_owned())
}

/// The heads of entities: calls that only ever have values, or one name that occurs nowhere else.
struct EntityHeads {
    of_values: BTreeSet<String>,
    of_names: BTreeSet<String>,
}

impl EntityHeads {
    fn find(terms: &Terms, roots: &[TermId]) -> Self {
        let mut all: BTreeSet<TermId> = BTreeSet::new();
        roots.iter().for_each(|&root| all.extend(terms.bottom_up(root)));
        let mut of_values: BTreeMap<&str, bool> = BTreeMap::new();
        let mut of_names: BTreeMap<&str, Option<BTreeSet<&str>>> = BTreeMap::new();
        let mut parents: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let names = roots.iter().filter(|&&root| terms.shape(root) == Shape::Name);
        names.for_each(|&root| parents.entry(terms.head_text(root)).or_default().extend([""]));
        for &term in all.iter().filter(|&&term| terms.shape(term) == Shape::Call) {
            let (head, args) = (terms.head_text(term), terms.args(term));
            *of_values.entry(head).or_insert(true) &= is_value_list(terms, args);
            let single = match args {
                &[arg] if terms.shape(arg) == Shape::Name => Some(terms.head_text(arg)),
                _ => None,
            };
            let known = of_names.entry(head).or_insert_with(|| Some(BTreeSet::new()));
            match (known.as_mut(), single) {
                (Some(names), Some(name)) => names.extend([name]),
                _ => *known = None,
            }
            for &arg in args.iter().filter(|&&arg| terms.shape(arg) == Shape::Name) {
                parents.entry(terms.head_text(arg)).or_default().insert(head);
            }
        }
        let is_class = |head: &str, names: &BTreeSet<&str>| {
            let own = |name: &&&str| {
                let takes_names = |parent: &&str| of_names.get(*parent).is_some_and(Option::is_some);
                parents.get(**name).is_some_and(|parents| parents.iter().all(takes_names))
            };
            !head.is_empty() && names.len() >= MIN_NAMES && names.iter().filter(own).count() == names.len()
        };
        let of_values = of_values.iter().filter(|(_, holds)| **holds).map(|(head, _)| (*head).to_owned());
        let with_names = of_names.iter().filter_map(|(head, names)| Some((*head, names.as_ref()?)));
        let of_names = with_names.filter(|(head, names)| is_class(head, names));
        Self { of_values: of_values.collect(), of_names: of_names.map(|(head, _)| head.to_owned()).collect() }
    }

    /// How a term is written, if it is an entity.
    fn form(&self, terms: &Terms, term: TermId) -> Option<EntityForm> {
        let cell = |arg: TermId| match terms.shape(arg) {
            Shape::Quoted => Cell::Quoted,
            Shape::Number => Cell::Number,
            Shape::Wildcard => Cell::Wildcard,
            Shape::Name | Shape::Call => Cell::Plain,
        };
        match terms.shape(term) {
            Shape::Quoted | Shape::Number => Some(EntityForm { head: None, cells: vec![cell(term)] }),
            Shape::Call => {
                let head = terms.head_text(term);
                let is_one = self.of_values.contains(head) || self.of_names.contains(head);
                let cells = || terms.args(term).iter().map(|&arg| cell(arg)).collect();
                is_one.then(|| EntityForm { head: Some(head.to_owned()), cells: cells() })
            }
            Shape::Name | Shape::Wildcard => None,
        }
    }
}

/// Whether arguments are texts in quotes, numbers and holes only, and not only holes.
fn is_value_list(terms: &Terms, args: &[TermId]) -> bool {
    let is_cell =
        |&&arg: &&TermId| matches!(terms.shape(arg), Shape::Quoted | Shape::Number | Shape::Wildcard);
    let is_hole = |&arg: &TermId| terms.shape(arg) == Shape::Wildcard;
    args.iter().filter(is_cell).count() == args.len() && !args.iter().all(is_hole)
}

/// Counts spacings.
#[derive(Default)]
struct Styles {
    n: usize,
    spaced: usize,
    commas: BTreeMap<&'static str, usize>,
}

impl Styles {
    fn add(&mut self, text: &str) {
        self.n += usize::from(text.contains('('));
        self.spaced += usize::from(text.contains("( "));
        let written = [" , ", ", ", ","].into_iter().find(|comma| text.contains(comma));
        written.into_iter().for_each(|comma| *self.commas.entry(comma).or_default() += 1);
    }

    fn commonest(&self) -> Style {
        let comma = self.commas.iter().max_by_key(|(_, n)| **n).map_or(", ", |(comma, _)| comma);
        Style { spaced: 2 * self.spaced > self.n, comma: comma.to_owned() }
    }
}
