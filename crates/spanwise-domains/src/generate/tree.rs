//! Programs as trees of productions: what the generator draws, builds and says.

use super::productions::{Maker, Productions};
use spanwise_lang::{ConstantId, Shape, TermId, Terms};

/// A part of a program with its words, chosen but not yet written.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) production: usize,
    /// The member of a class, if a table lists it.
    pub(super) member: Option<ConstantId>,
    /// For a value: its words, and how programs write it.
    pub(super) value: Option<(String, String)>,
    /// Decides between wordings, and in them.
    pub(super) seed: u64,
    pub(super) children: Vec<Node>,
}

impl Node {
    /// Whether both are the same program, whatever their words.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let value = |node: &Self| node.value.as_ref().map(|(_, value)| value.clone());
        self.production == other.production
            && self.member == other.member
            && value(self) == value(other)
            && self.children.len() == other.children.len()
            && self.children.iter().zip(&other.children).all(|(a, b)| a.is_same(b))
    }

    /// Calls `visit` with every node, children after their parents.
    pub(super) fn visit<'n>(&'n self, visit: &mut dyn FnMut(&'n Self)) {
        visit(self);
        self.children.iter().for_each(|child| child.visit(visit));
    }

    /// The program; `None` if a value is no term.
    pub(super) fn build(&self, all: &Productions<'_>, terms: &mut Terms) -> Option<TermId> {
        let args: Vec<TermId> =
            self.children.iter().map(|child| child.build(all, terms)).collect::<Option<_>>()?;
        match all.all[self.production].maker {
            Maker::Frame(_, frame) => Some(all.domain.frame(frame).form.as_ref()?.build(terms, &args)),
            Maker::Class(_) => match (self.member, &self.value) {
                (Some(member), _) => all.domain.constants()[member].term,
                (None, Some((_, value))) => terms.parse(value).ok(),
                (None, None) => None,
            },
            Maker::Gather(id) => {
                let accumulator = &all.domain.accumulators()[id];
                let has_over = all.all[self.production].slots.len() > all.n_elements(id);
                let default = if has_over { None } else { accumulator.default };
                let args: Vec<TermId> = args.into_iter().chain(default).collect();
                Some(terms.term(Shape::Call, accumulator.head, &args))
            }
        }
    }

    /// The whole program, in its wrapper.
    pub(super) fn program(&self, all: &Productions<'_>, terms: &mut Terms) -> Option<TermId> {
        let term = self.build(all, terms)?;
        Some(all.domain.wrap().map_or(term, |form| form.build(terms, &[term])))
    }

    /// Whether some part is odd: the same modifier twice in a chain, the same argument twice, a constant three times inside
    /// itself.
    pub(super) fn is_degenerate(&self, all: &Productions<'_>) -> bool {
        self.is_odd(all, &mut Vec::new(), 0)
    }

    /// `path` are the keys above; those from `chain` on are in a chain of modifiers with this one.
    fn is_odd(&self, all: &Productions<'_>, path: &mut Vec<u32>, chain: usize) -> bool {
        let production = &all.all[self.production];
        let unit = &all.units[production.unit];
        if !self.children.is_empty() && is_repeated(unit.key, path, chain) {
            return true;
        }
        let twice = |at: usize| self.children[..at].iter().any(|other| other.is_same(&self.children[at]));
        if (0..self.children.len()).any(twice) {
            return true;
        }
        path.push(unit.key);
        let is_odd = self.children.iter().any(|child| {
            let result = all.units[all.all[child.production].unit].result;
            let is_chain = is_related(all, result, unit.result);
            let from = if is_chain { chain } else { path.len() };
            child.is_odd(all, path, from)
        });
        path.pop();
        is_odd
    }
}

/// Whether a constant under these others would be odd.
pub(super) fn is_repeated(key: u32, path: &[u32], chain: usize) -> bool {
    path[chain..].contains(&key) || path.iter().filter(|&&other| other == key).count() >= 2
}

/// Whether a term of one type in a term of another makes a chain: a modifier and what it modifies.
pub(super) fn is_related(
    all: &Productions<'_>,
    inner: spanwise_lang::TypeId,
    outer: spanwise_lang::TypeId,
) -> bool {
    let types = all.domain.types();
    types.is_subtype(inner, outer) || types.is_subtype(outer, inner)
}
