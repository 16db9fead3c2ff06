//! Decoding that writes well-typed programs only.

use super::Seq2SeqParser;
use super::input::Input;
use super::vocabulary::Vocabulary;
use spanwise_lang::Domain;
use spanwise_lang::constraint::{Constraint, Prefix, Terminal};
use spanwise_lang::domain::ClassId;
use spanwise_lang::linear::Token;

/// The constraint of a domain, with what each token of a vocabulary is to it.
#[derive(Debug)]
pub(super) struct Grammar {
    constraint: Constraint,
    terminals: Vec<Option<Terminal>>,
    /// The classes of leaves in the vocabulary.
    classes: Vec<ClassId>,
}

fn class(token: &Token) -> Option<ClassId> {
    match token {
        Token::Leaf(leaf) => leaf.class,
        _ => None,
    }
}

impl Grammar {
    pub(super) fn new(domain: &Domain, vocabulary: &Vocabulary) -> Self {
        let constraint = Constraint::new(domain);
        let terminals = vocabulary.tokens().iter().map(|token| constraint.terminal(token)).collect();
        let classes = vocabulary.tokens().iter().filter_map(class).collect();
        Self { constraint, terminals, classes }
    }
}

/// What a program may be written with, for one utterance.
pub(super) struct Allowed<'a> {
    start: Prefix<'a>,
    /// For each symbol, what it is to the constraint; `None` if no program has it.
    terminals: Vec<Option<Terminal>>,
}

impl<'a> Allowed<'a> {
    pub(super) fn new(grammar: &'a Grammar, parser: &Seq2SeqParser, input: &Input) -> Self {
        let own: Vec<Token> = (parser.vocabulary.len()..parser.n_symbols(input))
            .filter_map(|symbol| parser.token(input, symbol as u32))
            .collect();
        let classes: Vec<ClassId> =
            grammar.classes.iter().copied().chain(own.iter().filter_map(class)).collect();
        let leaves = own.iter().map(|token| grammar.constraint.terminal(token));
        // The first symbol is the end of a program.
        let terminals = [None].into_iter().chain(grammar.terminals.iter().copied()).chain(leaves).collect();
        Self { start: grammar.constraint.start(parser.max_length - 1, &classes), terminals }
    }

    /// The prefix of every program.
    pub(super) fn start(&self) -> Prefix<'a> {
        self.start.clone()
    }

    /// A prefix with one more symbol, which it allows.
    pub(super) fn after(&self, prefix: &Prefix<'a>, symbol: u32) -> Prefix<'a> {
        let mut longer = prefix.clone();
        if let Some(terminal) = self.terminals[symbol as usize] {
            longer.push(terminal);
        }
        longer
    }

    /// Takes away all probability from symbols that cannot follow.
    pub(super) fn mask(&self, prefix: &Prefix<'_>, symbols: &mut [f32]) {
        for ((at, log_probability), terminal) in (0..).zip(symbols).zip(&self.terminals) {
            let is_allowed = match at {
                Vocabulary::END => prefix.is_complete(),
                _ => terminal.is_some_and(|terminal| prefix.allows(terminal)),
            };
            if !is_allowed {
                *log_probability = f32::NEG_INFINITY;
            }
        }
    }
}
