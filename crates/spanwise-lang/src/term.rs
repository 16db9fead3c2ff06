//! Hash-consed terms: equal terms have equal ids, so programs are compared by comparing ids.
//!
//! The arguments of a term have smaller ids than the term itself. A bottom-up pass is therefore a loop over ids, and
//! nothing here recurses: a program nested ten thousand levels deep needs no stack.

use hashbrown::{DefaultHashBuilder, HashTable};
use spanwise_core::newtype_index;
use std::hash::BuildHasher;

newtype_index! {
    /// An interned string of a [`Terms`] store.
    pub struct Symbol(u32)
}

newtype_index! {
    /// A term of a [`Terms`] store.
    pub struct TermId(u32)
}

/// How a term is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shape {
    /// A bare name: `all`, `red`.
    Name,
    /// A quoted name: `'new york'`.
    Quoted,
    /// A number, kept as it was written: `0`, `1.50`.
    Number,
    /// The hole `_`, which matches anything.
    Wildcard,
    /// A name with parentheses, possibly empty: `scene()`, `city(all)`.
    Call,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    head: Symbol,
    shape: Shape,
    args_start: u32,
    n_args: u32,
    /// Longest path to a leaf, counted in terms.
    depth: u32,
    /// Nodes when written out as a tree; a shared argument counts every time.
    size: u64,
}

/// A store of terms. It owns every term built in it; a [`TermId`] is valid in its own store only.
///
/// ```
/// use spanwise_lang::Terms;
///
/// let mut terms = Terms::new();
/// let a = terms.parse("state(next_to_2(stateid('texas')))").unwrap();
/// let b = terms.parse("state ( next_to_2 ( stateid ( 'texas' ) ) )").unwrap();
/// assert_eq!(a, b);
/// assert_eq!(terms.head_text(a), "state");
/// assert_eq!((terms.size(a), terms.depth(a)), (4, 4));
/// // Equal subterms are stored once.
/// let pair = terms.call("pair", &[a, b]);
/// assert_eq!(terms.bottom_up(pair).len(), 5);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Terms {
    hasher: DefaultHashBuilder,
    strings: Vec<Box<str>>,
    symbol_index: HashTable<Symbol>,
    nodes: Vec<Node>,
    args: Vec<TermId>,
    term_index: HashTable<TermId>,
}

impl Terms {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of different terms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no term was built yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The symbol of `text`, added when it is new.
    ///
    /// # Panics
    /// After 2^32 different strings.
    pub fn intern(&mut self, text: &str) -> Symbol {
        let hash = self.hasher.hash_one(text);
        let Self { hasher, strings, symbol_index, .. } = self;
        if let Some(&symbol) = symbol_index.find(hash, |s| &*strings[s.0 as usize] == text) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(strings.len()).expect("fewer than 2^32 symbols"));
        strings.push(text.into());
        symbol_index.insert_unique(hash, symbol, |s| hasher.hash_one(&*strings[s.0 as usize]));
        symbol
    }

    /// The text of a symbol.
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.strings[symbol.0 as usize]
    }

    /// The term with this shape, head and arguments, added when it is new. Cost: linear in `args`.
    ///
    /// # Panics
    /// When a shape other than [`Shape::Call`] is given arguments, or after 2^32 terms.
    pub fn term(&mut self, shape: Shape, head: Symbol, args: &[TermId]) -> TermId {
        assert!(shape == Shape::Call || args.is_empty(), "only calls take arguments");
        let hash = self.hasher.hash_one((head, shape, args));
        if let Some(id) = self.find_hashed(hash, shape, head, args) {
            return id;
        }
        let id = TermId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms"));
        let depth = args.iter().map(|&arg| self.depth(arg)).max().unwrap_or(0).saturating_add(1);
        let size = args.iter().fold(1u64, |sum, &arg| sum.saturating_add(self.size(arg)));
        let args_start = u32::try_from(self.args.len()).expect("fewer than 2^32 arguments");
        self.args.extend_from_slice(args);
        self.nodes.push(Node { head, shape, args_start, n_args: args.len() as u32, depth, size });
        let Self { hasher, nodes, args, term_index, .. } = self;
        term_index.insert_unique(hash, id, |t| {
            let node = nodes[t.0 as usize];
            let range = node.args_start as usize..(node.args_start + node.n_args) as usize;
            hasher.hash_one((node.head, node.shape, &args[range]))
        });
        id
    }

    fn find_hashed(&self, hash: u64, shape: Shape, head: Symbol, args: &[TermId]) -> Option<TermId> {
        let same = |t: &TermId| {
            let node = &self.nodes[t.0 as usize];
            node.head == head && node.shape == shape && self.args(*t) == args
        };
        self.term_index.find(hash, same).copied()
    }

    /// A term without arguments.
    pub fn leaf(&mut self, shape: Shape, text: &str) -> TermId {
        let head = self.intern(text);
        self.term(shape, head, &[])
    }

    /// The call `head(args...)`.
    pub fn call(&mut self, head: &str, args: &[TermId]) -> TermId {
        let head = self.intern(head);
        self.term(Shape::Call, head, args)
    }

    /// How the term is written.
    #[must_use]
    pub fn shape(&self, id: TermId) -> Shape {
        self.nodes[id.0 as usize].shape
    }

    /// The symbol at the top of the term.
    #[must_use]
    pub fn head(&self, id: TermId) -> Symbol {
        self.nodes[id.0 as usize].head
    }

    /// The text at the top of the term, without quotes.
    #[must_use]
    pub fn head_text(&self, id: TermId) -> &str {
        self.text(self.head(id))
    }

    /// The arguments in order.
    #[must_use]
    pub fn args(&self, id: TermId) -> &[TermId] {
        let node = &self.nodes[id.0 as usize];
        &self.args[node.args_start as usize..(node.args_start + node.n_args) as usize]
    }

    /// Longest path from this term to a leaf, counted in terms; a leaf has depth 1.
    #[must_use]
    pub fn depth(&self, id: TermId) -> u32 {
        self.nodes[id.0 as usize].depth
    }

    /// Number of nodes when the term is written out as a tree.
    #[must_use]
    pub fn size(&self, id: TermId) -> u64 {
        self.nodes[id.0 as usize].size
    }

    /// All terms reachable from `root`, each once, arguments before the terms that use them.
    #[must_use]
    pub fn bottom_up(&self, root: TermId) -> Vec<TermId> {
        let mut reached = vec![root];
        let mut seen = hashbrown::HashSet::new();
        seen.insert(root);
        let mut next = 0;
        while next < reached.len() {
            for &arg in self.args(reached[next]) {
                if seen.insert(arg) {
                    reached.push(arg);
                }
            }
            next += 1;
        }
        reached.sort_unstable();
        reached
    }

    /// Copies a term of another store into this one. Cost: linear in the number of different subterms.
    pub fn import(&mut self, other: &Self, root: TermId) -> TermId {
        let order = other.bottom_up(root);
        let mut copies = hashbrown::HashMap::with_capacity(order.len());
        let mut args = Vec::new();
        for id in order {
            args.clear();
            args.extend(other.args(id).iter().map(|arg| copies[arg]));
            let head = self.intern(other.head_text(id));
            copies.insert(id, self.term(other.shape(id), head, &args));
        }
        copies[&root]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_have_equal_ids() {
        let mut terms = Terms::new();
        let texas = terms.leaf(Shape::Quoted, "texas");
        let a = terms.call("stateid", &[texas]);
        let b = terms.call("stateid", &[texas]);
        let bare = terms.leaf(Shape::Name, "texas");
        assert_eq!(a, b);
        assert_ne!(texas, bare);
        assert_eq!((terms.depth(a), terms.size(a), terms.len()), (2, 2, 3));
    }

    #[test]
    fn a_name_and_an_empty_call_are_different_terms() {
        let mut terms = Terms::new();
        assert_ne!(terms.leaf(Shape::Name, "scene"), terms.call("scene", &[]));
    }

    #[test]
    fn sizes_of_shared_terms_saturate_instead_of_overflowing() {
        let mut terms = Terms::new();
        let mut id = terms.leaf(Shape::Name, "x");
        for _ in 0..100 {
            id = terms.call("pair", &[id, id]);
        }
        assert_eq!(terms.size(id), u64::MAX);
        assert_eq!(terms.len(), 101);
    }

    #[test]
    fn import_keeps_structure_and_sharing() {
        let mut a = Terms::new();
        let root = a.parse("f(g('x'), g('x'), _, 3)").unwrap();
        let mut b = Terms::new();
        b.leaf(Shape::Name, "something else first");
        let copy = b.import(&a, root);
        assert_eq!(b.display(copy).to_string(), "f(g('x'), g('x'), _, 3)");
        assert_eq!(b.len(), 6);
    }
}
