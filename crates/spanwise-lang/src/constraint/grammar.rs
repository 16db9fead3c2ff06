//! The well-typed programs of a domain as a regular tree grammar.
//!
//! A nonterminal is a type, the body of a program, or a part of a form. A rule is one frame, or a part of its form, with a
//! nonterminal for each argument; type variables have been expanded before. A term of a type is also a term of its
//! supertypes, so the set of nonterminals that derive a term says everything about it that its context depends on.

use super::Terminal;
use crate::domain::{ClassId, Domain, Frame};
use crate::form::Form;
use crate::linear::{Token, linearize};
use crate::term::{TermId, Terms};
use crate::types::TypeId;
use hashbrown::HashMap;
use spanwise_core::{Idx, IndexVec, newtype_index};

newtype_index! {
    /// Something that derives terms. The first ones are the types of the domain.
    pub(super) struct Nonterminal(u32)
}

newtype_index! {
    /// A rule of the grammar.
    pub(super) struct RuleId(u32)
}

newtype_index! {
    /// A name or a leaf that the forms of a domain are written with.
    pub struct WordId(u32)
}

/// A call: its arguments are read by a small automaton, which starts in state 0.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) result: Nonterminal,
    /// For each state, the nonterminals of the next argument, each with the state after it. A state without any is final.
    steps: Vec<Vec<(Nonterminal, usize)>>,
}

impl Rule {
    pub(super) fn n_states(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn steps(&self, state: usize) -> &[(Nonterminal, usize)] {
        &self.steps[state]
    }

    pub(super) fn is_final(&self, state: usize) -> bool {
        self.steps[state].is_empty()
    }
}

/// What a word can be.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// What derives the word alone.
    pub(super) atoms: Vec<Nonterminal>,
    /// The calls that it is the head of.
    pub(super) calls: Vec<RuleId>,
}

#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) rules: IndexVec<RuleId, Rule>,
    pub(super) words: IndexVec<WordId, Word>,
    word_of: HashMap<Token, WordId>,
    /// For each nonterminal, those that derive whatever it derives, itself included.
    above: IndexVec<Nonterminal, Vec<Nonterminal>>,
    /// The type of each class.
    pub(super) classes: IndexVec<ClassId, Nonterminal>,
}

impl Grammar {
    /// The rule of whole programs. It is written without head and brackets, with the end of the program in place of `)`.
    pub(super) const PROGRAM: RuleId = RuleId(0);

    pub(super) fn new(domain: &Domain) -> Self {
        Compiler::new(domain).compile()
    }

    pub(super) fn terminal(&self, token: &Token) -> Option<Terminal> {
        match token {
            Token::Open => Some(Terminal::Open),
            Token::Comma => Some(Terminal::Comma),
            Token::Close => Some(Terminal::Close),
            Token::Name(_) => self.word_of.get(token).copied().map(Terminal::Word),
            Token::Leaf(leaf) => {
                let word = self.word_of.get(token).copied().map(Terminal::Word);
                word.or_else(|| leaf.class.map(Terminal::Leaf))
            }
        }
    }

    pub(super) fn nonterminals(&self) -> impl Iterator<Item = (Nonterminal, &[Nonterminal])> {
        self.above.iter_enumerated().map(|(id, above)| (id, above.as_slice()))
    }

    pub(super) fn above(&self, id: Nonterminal) -> &[Nonterminal] {
        &self.above[id]
    }
}

struct Compiler<'a> {
    domain: &'a Domain,
    terms: Terms,
    /// The nonterminals of terms that forms contain.
    grounds: HashMap<TermId, Nonterminal>,
    grammar: Grammar,
}

impl<'a> Compiler<'a> {
    fn new(domain: &'a Domain) -> Self {
        let grammar = Grammar {
            rules: IndexVec::default(),
            words: IndexVec::default(),
            word_of: HashMap::new(),
            above: IndexVec::default(),
            classes: domain.classes().iter().map(|class| of_type(class.ty)).collect(),
        };
        Self { domain, terms: domain.new_terms(), grounds: HashMap::new(), grammar }
    }

    fn compile(mut self) -> Grammar {
        let domain = self.domain;
        let body = Nonterminal(domain.types().len() as u32);
        for ty in domain.types().ids() {
            let above = domain.types().above(ty);
            let is_root = above.iter().any(|above| domain.root_types().contains(above));
            self.grammar.above.push(above.into_iter().map(of_type).chain(is_root.then_some(body)).collect());
        }
        self.fresh();
        let program = domain.wrap().map_or(body, |_| self.fresh());
        self.grammar.rules.push(Rule { result: program, steps: vec![vec![(program, 1)], Vec::new()] });
        if let Some(form) = domain.wrap() {
            self.form(program, form, &[body]);
        }
        for (_, frame) in domain.predicates().flat_map(|(id, _)| domain.frames_of(id)) {
            self.frame(frame);
        }
        self.accumulators();
        self.grammar
    }

    fn frame(&mut self, frame: &Frame) {
        let Some(form) = &frame.form else { return };
        // Two places with one argument are beyond tree grammars.
        let completes = |slot: usize| form.completions(slot).into_iter().any(|with| with.is_some());
        let is_copied = form.is_lacking() || (0..frame.slots.len()).any(completes);
        if is_copied || form.holes().len() > frame.slots.len() {
            return;
        }
        let slots: Vec<Nonterminal> = frame.slots.iter().map(|&slot| of_type(slot)).collect();
        self.form(of_type(frame.result), form, &slots);
    }

    fn accumulators(&mut self) {
        let domain = self.domain;
        for (id, accumulator) in domain.accumulators().iter_enumerated() {
            let types = &domain.accumulator_types()[id];
            let elements: Vec<_> = types.elements.iter().map(|&ty| (of_type(ty), 1)).collect();
            let head = Token::Name(self.terms.text(accumulator.head).to_owned());
            let Some(over) = types.over else {
                let last = types.elements.iter().map(|&ty| (of_type(ty), 2));
                let more = elements.iter().copied().chain(last).collect();
                self.rule(of_type(types.result), head, vec![elements, more, Vec::new()]);
                continue;
            };
            let default = accumulator.default.map(|term| (self.ground(term), 2));
            let more = elements.iter().copied().chain([(of_type(over), 2)]).chain(default).collect();
            self.rule(of_type(types.result), head, vec![elements, more, Vec::new()]);
        }
    }

    /// Adds the rules of a form. The depth of forms is limited.
    fn form(&mut self, result: Nonterminal, form: &Form, slots: &[Nonterminal]) {
        match form {
            Form::Hole(_) | Form::Completed { .. } | Form::Lacking => {}
            Form::Ground(term) => self.term(result, *term),
            Form::Call { head, args } => {
                let args = args.iter().map(|arg| self.part(arg, slots)).collect();
                self.call(result, Token::Name(self.terms.text(*head).to_owned()), args);
            }
        }
    }

    /// The nonterminal of an argument of a form.
    fn part(&mut self, form: &Form, slots: &[Nonterminal]) -> Nonterminal {
        match form {
            // A completed argument has been left out by the caller.
            Form::Hole(n) | Form::Completed { argument: n, .. } => slots[*n],
            Form::Ground(term) => self.ground(*term),
            Form::Call { .. } | Form::Lacking => {
                let part = self.fresh();
                self.form(part, form, slots);
                part
            }
        }
    }

    fn ground(&mut self, term: TermId) -> Nonterminal {
        if let Some(&known) = self.grounds.get(&term) {
            return known;
        }
        let id = self.fresh();
        self.grounds.insert(term, id);
        self.term(id, term);
        id
    }

    /// Adds the rules of a term without holes.
    fn term(&mut self, result: Nonterminal, term: TermId) {
        let mut tokens = linearize(self.domain, &self.terms, term);
        let is_call = tokens.len() > 1;
        let head = tokens.swap_remove(0);
        if is_call {
            let args = self.terms.args(term).to_vec();
            let args = args.into_iter().map(|arg| self.ground(arg)).collect();
            self.call(result, head, args);
        } else {
            let word = self.word(head);
            self.grammar.words[word].atoms.push(result);
        }
    }

    fn call(&mut self, result: Nonterminal, head: Token, args: Vec<Nonterminal>) {
        let steps = args.into_iter().zip(1..).map(|step| vec![step]);
        self.rule(result, head, steps.chain([Vec::new()]).collect());
    }

    fn rule(&mut self, result: Nonterminal, head: Token, steps: Vec<Vec<(Nonterminal, usize)>>) {
        let rule = self.grammar.rules.push(Rule { result, steps });
        let word = self.word(head);
        self.grammar.words[word].calls.push(rule);
    }

    fn word(&mut self, token: Token) -> WordId {
        let Self { domain, grammar, .. } = self;
        let class = match &token {
            Token::Leaf(leaf) => leaf.class,
            _ => None,
        };
        *grammar.word_of.entry(token).or_insert_with(|| {
            let atoms = class.map(|class| of_type(domain.classes()[class].ty)).into_iter().collect();
            grammar.words.push(Word { atoms, calls: Vec::new() })
        })
    }

    fn fresh(&mut self) -> Nonterminal {
        let id = Nonterminal(self.grammar.above.len() as u32);
        self.grammar.above.push(vec![id])
    }
}

fn of_type(ty: TypeId) -> Nonterminal {
    Nonterminal(ty.index() as u32)
}
