//! Runs programs, once each, and numbers the values that they give.

use super::evidence::Outcome;
use crate::exec::{ExecError, Executor};
use hashbrown::HashMap;
use serde_json::Value;
use spanwise_lang::{Domain, TermId, Terms, TypeId};
use std::rc::Rc;

/// Runs the terms of a search.
pub(super) struct Runner<'a, F> {
    domain: &'a Domain,
    executor: &'a dyn Executor,
    /// One for each run of a program; a domain without contexts has one run.
    contexts: Vec<Option<&'a Value>>,
    complete_only: bool,
    keep_going: F,
    texts: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
    ran: HashMap<(TermId, bool), Rc<[Outcome]>>,
    first_error: Option<String>,
    has_run: bool,
    /// Programs that were run.
    pub(super) n_run: usize,
}

impl<'a, F: FnMut(usize) -> bool> Runner<'a, F> {
    pub(super) fn new(
        domain: &'a Domain,
        executor: &'a dyn Executor,
        contexts: &'a [Value],
        complete_only: bool,
        keep_going: F,
    ) -> Self {
        let contexts =
            if contexts.is_empty() { vec![None] } else { contexts.iter().map(Some).collect::<Vec<_>>() };
        Self {
            domain,
            executor,
            contexts,
            complete_only,
            keep_going,
            texts: Vec::new(),
            numbers: HashMap::new(),
            ran: HashMap::new(),
            first_error: None,
            has_run: false,
            n_run: 0,
        }
    }

    /// What a term of this type gives in each context; `None` when the search is to stop. A part of a program is run as if it
    /// were complete.
    pub(super) fn run(&mut self, terms: &mut Terms, term: TermId, ty: TypeId) -> Option<Rc<[Outcome]>> {
        let is_root = |&root: &TypeId| self.domain.types().is_subtype(ty, root);
        let is_complete = self.domain.root_types().iter().any(is_root);
        if let Some(known) = self.ran.get(&(term, is_complete)) {
            return Some(Rc::clone(known));
        }
        if !is_complete && self.complete_only {
            return Some(vec![Outcome::Unknown; self.contexts.len()].into());
        }
        if !(self.keep_going)(self.n_run) {
            return None;
        }
        self.n_run += 1;
        let program = self.domain.wrap().map_or(term, |form| form.build(terms, &[term]));
        let outcomes = (0..self.contexts.len()).map(|at| self.outcome(terms, program, is_complete, at));
        let outcomes: Rc<[Outcome]> = outcomes.collect::<Vec<_>>().into();
        self.ran.insert((term, is_complete), Rc::clone(&outcomes));
        Some(outcomes)
    }

    fn outcome(&mut self, terms: &Terms, program: TermId, is_complete: bool, at: usize) -> Outcome {
        match self.executor.execute(terms, program, self.contexts[at]) {
            Ok(found) => {
                self.has_run = true;
                if found.is_empty { Outcome::Empty } else { self.value(&found.text) }
            }
            Err(error) => {
                let is_empty = match &error {
                    ExecError::NoValue(_) => true,
                    // A part need not be a program by itself.
                    ExecError::BadProgram(_) => is_complete,
                    _ => false,
                };
                self.has_run |= is_empty;
                self.first_error.get_or_insert_with(|| error.to_string());
                if is_empty { Outcome::Empty } else { Outcome::Unknown }
            }
        }
    }

    /// The number of a value.
    pub(super) fn value(&mut self, text: &str) -> Outcome {
        if let Some(&known) = self.numbers.get(text) {
            return Outcome::Value(known);
        }
        let (number, text) = (self.texts.len() as u32, Rc::<str>::from(text));
        self.texts.push(Rc::clone(&text));
        self.numbers.insert(text, number);
        Outcome::Value(number)
    }

    /// The text of a value; `None` when there is none.
    pub(super) fn text(&self, outcome: Outcome) -> Option<&str> {
        match outcome {
            Outcome::Value(number) => Some(&self.texts[number as usize]),
            Outcome::Empty | Outcome::Unknown => None,
        }
    }

    /// Why no program could be run; `None` when one could.
    pub(super) fn reason_not_run(&self) -> Option<String> {
        let nothing = || "the domain has no program that could be built and run".to_owned();
        (!self.has_run).then(|| self.first_error.clone().unwrap_or_else(nothing))
    }
}
