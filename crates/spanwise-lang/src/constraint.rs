//! Grammar-constrained decoding: which tokens can continue a program so that it can still become complete and well-typed.
//!
//! A [`Constraint`] is compiled once per domain. A [`Prefix`] is what has been written so far. It allows a token exactly if
//! some program continues it that [`Domain::analyze`] accepts, that has no more tokens than the limit, and whose leaves are
//! of the classes that the utterance offers or in the [vocabulary](crate::linear::vocabulary). Tokens are those of
//! [`linearize`](crate::linear::linearize).
//!
//! For each open call, a prefix keeps the rules that are still possible, each with the fewest tokens that its context needs
//! after it. A call sees its context only through the types that its parent accepts, so this is exact.
//!
//! Two kinds of programs are beyond it. Constants whose form repeats an argument, or lacks or completes one, are never written. And where constants
//! together build a term that is also written like an entity or a literal, such a term is taken for what it is built from.

mod cost;
mod grammar;

use crate::domain::{ClassId, Domain};
use crate::linear::Token;
use cost::{Costs, NEVER};
pub use grammar::WordId;
use grammar::{Grammar, Nonterminal, RuleId};
use spanwise_core::IndexVec;
use std::sync::Arc;

/// A token as the constraint sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Terminal {
    /// A token of the vocabulary other than brackets and commas.
    Word(WordId),
    /// `(`
    Open,
    /// `,`
    Comma,
    /// `)`
    Close,
    /// Any other leaf, by its class.
    Leaf(ClassId),
}

/// The well-typed programs of a domain, as a constraint on their tokens.
///
/// ```
/// use spanwise_lang::constraint::Constraint;
/// use spanwise_lang::domain::NoTables;
/// use spanwise_lang::{Domain, linear};
///
/// let source = r#"
///     name = "home"
///     types = ["Light", "Action"]
///     root = { types = ["Action"] }
///     constants = { on = "Light -> Action", lamp = "Light" }
/// "#;
/// let domain = Domain::load(source, "home.toml", None, &NoTables)?;
/// let constraint = Constraint::new(&domain);
/// let vocabulary = linear::vocabulary(&domain);
/// let mut prefix = constraint.start(10, &[]);
/// let mut text = String::new();
/// while !prefix.is_complete() {
///     let is_allowed = |token: &&linear::Token| constraint.terminal(token).is_some_and(|it| prefix.allows(it));
///     let allowed: Vec<_> = vocabulary.iter().filter(is_allowed).collect();
///     // Only one program exists, so there is never a choice.
///     assert_eq!(allowed.len(), 1);
///     assert!(prefix.push(constraint.terminal(allowed[0]).unwrap()));
///     text += &allowed[0].to_string();
/// }
/// assert_eq!(text, "on(lamp)");
/// # Ok::<(), spanwise_lang::DomainErrors>(())
/// ```
#[derive(Debug)]
pub struct Constraint {
    grammar: Grammar,
}

impl Constraint {
    /// Compiles the signatures of a domain. Cost: linear in its frames.
    #[must_use]
    pub fn new(domain: &Domain) -> Self {
        Self { grammar: Grammar::new(domain) }
    }

    /// What a token is to the constraint; `None` if no well-typed program contains it.
    #[must_use]
    pub fn terminal(&self, token: &Token) -> Option<Terminal> {
        self.grammar.terminal(token)
    }

    /// The empty prefix of programs with at most `max_tokens` tokens and leaves of these classes.
    ///
    /// It allows nothing if there is no such program. Cost: a few passes over the frames of the domain.
    #[must_use]
    pub fn start(&self, max_tokens: usize, classes: &[ClassId]) -> Prefix<'_> {
        let grammar = &self.grammar;
        let costs = Arc::new(Costs::new(grammar, classes));
        let program = Node::new(grammar, &costs, vec![Item { rule: Grammar::PROGRAM, state: 0, after: 0 }]);
        // The end of the program counts as the closing bracket of the rule of programs.
        let n_left = u32::try_from(max_tokens).unwrap_or(NEVER).min(NEVER - 3) + 1;
        Prefix { grammar, costs, open: vec![Arc::new(program)], phase: Phase::Before, n_left }
    }
}

/// The tokens of a program that have been written so far.
///
/// Cost: an allowed token or not, linear in the frames of its name; a push, linear in the types of the domain and the frames
/// that are possible: about a microsecond. A clone is linear in the depth of nesting.
#[derive(Clone, Debug)]
pub struct Prefix<'a> {
    grammar: &'a Grammar,
    costs: Arc<Costs>,
    /// The open calls, outermost first. The first node is the program itself.
    open: Vec<Arc<Node>>,
    phase: Phase,
    /// How many tokens may follow, with the end of the program as one.
    n_left: u32,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Before an argument of the innermost call.
    Before,
    /// After an argument of it.
    After {
        /// The rules of the innermost call that accept the argument.
        items: Vec<Item>,
        /// The argument, if it is a word that may also begin a call.
        head: Option<WordId>,
    },
}

/// A rule that is possible for an open call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Item {
    rule: RuleId,
    /// The state of the rule.
    state: usize,
    /// The fewest tokens after the closing bracket of the call.
    after: u32,
}

/// A call that is not closed yet.
#[derive(Debug)]
struct Node {
    items: Vec<Item>,
    /// For each nonterminal, the fewest tokens after the next argument, if that is what derives it.
    after: IndexVec<Nonterminal, u32>,
}

impl Node {
    fn new(grammar: &Grammar, costs: &Costs, items: Vec<Item>) -> Self {
        let mut wanted: IndexVec<Nonterminal, u32> = grammar.nonterminals().map(|_| NEVER).collect();
        for item in &items {
            for &(arg, next) in grammar.rules[item.rule].steps(item.state) {
                let after = costs.rest(item.rule, next).saturating_add(item.after);
                wanted[arg] = wanted[arg].min(after);
            }
        }
        let least = |above: &[Nonterminal]| above.iter().map(|&id| wanted[id]).min().unwrap_or(NEVER);
        Self { items, after: grammar.nonterminals().map(|(_, above)| least(above)).collect() }
    }

    /// The rules that accept an argument that one of these nonterminals derives.
    fn accepting(&self, grammar: &Grammar, derived_by: impl Iterator<Item = Nonterminal>) -> Vec<Item> {
        let all: Vec<Nonterminal> = derived_by.flat_map(|id| grammar.above(id)).copied().collect();
        let mut accepting: Vec<Item> = Vec::new();
        for item in &self.items {
            for &(arg, state) in grammar.rules[item.rule].steps(item.state) {
                let next = Item { state, ..*item };
                if all.contains(&arg) && !accepting.contains(&next) {
                    accepting.push(next);
                }
            }
        }
        accepting
    }
}

impl Prefix<'_> {
    /// Whether a complete, well-typed program can follow this token within the limit.
    #[must_use]
    pub fn allows(&self, token: Terminal) -> bool {
        match (&self.phase, token) {
            (Phase::Before, Terminal::Word(word)) => {
                let atoms = &self.grammar.words[word].atoms;
                atoms.iter().any(|&atom| self.fits(1, self.last().after[atom])) || self.can_call(word, 0)
            }
            (Phase::Before, Terminal::Leaf(class)) => {
                self.costs.offered[class] && self.fits(1, self.last().after[self.grammar.classes[class]])
            }
            (Phase::Before, Terminal::Close) => self.can_close(&self.last().items),
            (Phase::After { items, .. }, Terminal::Close) => self.can_close(items),
            (Phase::After { items, .. }, Terminal::Comma) => {
                let mut more = items.iter().filter(|item| !self.is_final(item));
                more.any(|item| self.fits(self.costs.rest(item.rule, item.state), item.after))
            }
            (Phase::After { head, .. }, Terminal::Open) => head.is_some_and(|word| self.can_call(word, 1)),
            _ => false,
        }
    }

    /// Adds a token, if it is allowed. Returns whether it is.
    pub fn push(&mut self, token: Terminal) -> bool {
        if !self.allows(token) {
            return false;
        }
        let grammar = self.grammar;
        let phase = std::mem::replace(&mut self.phase, Phase::Before);
        match (token, phase) {
            (Terminal::Word(word), _) => {
                let items = self.last().accepting(grammar, grammar.words[word].atoms.iter().copied());
                self.phase = Phase::After { items, head: Some(word) };
            }
            (Terminal::Leaf(class), _) => self.finish([grammar.classes[class]].into_iter()),
            (Terminal::Open, Phase::After { head: Some(word), .. }) => {
                let after = &self.last().after;
                let calls = grammar.words[word].calls.iter();
                let items =
                    calls.map(|&rule| Item { rule, state: 0, after: after[grammar.rules[rule].result] });
                let node = Node::new(grammar, &self.costs, items.filter(|item| item.after < NEVER).collect());
                self.open.push(Arc::new(node));
            }
            (Terminal::Comma, Phase::After { mut items, .. }) => {
                items.retain(|item| !self.is_final(item));
                self.open.pop();
                self.open.push(Arc::new(Node::new(grammar, &self.costs, items)));
            }
            (Terminal::Close, phase) => {
                let node = self.open.pop();
                let mut items = match phase {
                    Phase::After { items, .. } => items,
                    Phase::Before => node.map(|node| node.items.clone()).unwrap_or_default(),
                };
                items.retain(|item| self.is_final(item));
                self.finish(items.iter().map(|item| grammar.rules[item.rule].result));
            }
            (Terminal::Open | Terminal::Comma, _) => unreachable!("allowed only after an argument"),
        }
        self.n_left -= 1;
        true
    }

    /// Whether the tokens are a complete, well-typed program. Others may still follow: `f` may go on as `f(x)`.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.phase {
            Phase::After { items, .. } => {
                self.open.len() == 1 && items.iter().any(|item| self.is_final(item))
            }
            Phase::Before => false,
        }
    }

    /// An argument of the innermost call ends, derived by these nonterminals.
    fn finish(&mut self, derived_by: impl Iterator<Item = Nonterminal>) {
        let items = self.last().accepting(self.grammar, derived_by);
        self.phase = Phase::After { items, head: None };
    }

    fn last(&self) -> &Node {
        self.open.last().expect("the program itself is never closed")
    }

    fn is_final(&self, item: &Item) -> bool {
        self.grammar.rules[item.rule].is_final(item.state)
    }

    fn fits(&self, now: u32, after: u32) -> bool {
        now.saturating_add(after) <= self.n_left
    }

    /// Whether a call with this head fits, of which the first `n_written` tokens are there already.
    fn can_call(&self, head: WordId, n_written: u32) -> bool {
        let after = |rule: RuleId| self.last().after[self.grammar.rules[rule].result];
        let mut calls = self.grammar.words[head].calls.iter();
        calls.any(|&rule| self.fits(self.costs.call[rule].saturating_sub(n_written), after(rule)))
    }

    fn can_close(&self, items: &[Item]) -> bool {
        self.open.len() > 1 && items.iter().any(|item| self.is_final(item) && self.fits(1, item.after))
    }
}
