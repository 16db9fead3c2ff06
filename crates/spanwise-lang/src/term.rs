//! Hash-consed terms: equal terms have equal ids, so programs are compared by comparing ids.
//!
//! The arguments of a term have smaller ids than the term itself. A bottom-up pass is therefore a loop over ids, and
//! nothing here recurses: a program nested ten thousand levels deep needs no stack.

mod layer;
#[cfg(test)]
mod tests;

use hashbrown::DefaultHashBuilder;
use layer::{Layer, Node};
use spanwise_core::newtype_index;
use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::sync::Arc;

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

/// A store of terms. A [`TermId`] is valid in its own store and in clones of it.
///
/// Clones of a domain's store share its terms, however many entities there are, and copy only what is built later.
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
    /// What clones share. Its symbols and terms have the first ids.
    base: Arc<Layer>,
    own: Layer,
    /// Heads whose arguments are multisets.
    unordered: Arc<[Symbol]>,
}

impl Terms {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same terms with the same ids, which clones now share instead of copying them. Only the first call has an effect.
    #[must_use]
    pub(crate) fn shared(self) -> Self {
        if !self.base.is_empty() {
            return self;
        }
        let base = Arc::new(self.own.shrunk());
        Self { hasher: self.hasher, base, own: Layer::default(), unordered: self.unordered }
    }

    /// Whether all its terms are those of `other`, by reference.
    #[cfg(test)]
    pub(crate) fn copies_nothing_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.base, &other.base) && self.own.is_empty() && other.own.is_empty()
    }

    /// Number of different terms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.base.n_terms() + self.own.n_terms()
    }

    /// Whether no term was built yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The symbol of `text`, added when it is new.
    ///
    /// # Panics
    /// After 2^32 different strings, or 2^32 bytes of them.
    pub fn intern(&mut self, text: &str) -> Symbol {
        let hash = self.hasher.hash_one(text);
        if let Some(known) = self.base.find_text(hash, text) {
            return Symbol(known);
        }
        let n_base = self.base.n_texts();
        let known = self.own.find_text(hash, text);
        let own = known.unwrap_or_else(|| self.own.add_text(&self.hasher, hash, text));
        Symbol(u32::try_from(n_base + own as usize).expect("fewer than 2^32 symbols"))
    }

    /// The text of a symbol.
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        let (at, n_base) = (symbol.0 as usize, self.base.n_texts());
        if at < n_base { self.base.text(at) } else { self.own.text(at - n_base) }
    }

    /// From now on, the arguments of this head are a multiset: its terms are stored flat and sorted, in whatever order and
    /// nesting they are built or read. So programs that differ in nothing else are the same term.
    ///
    /// ```
    /// use spanwise_lang::Terms;
    ///
    /// let mut terms = Terms::new();
    /// terms.keep_unordered("and");
    /// let a = terms.parse("find(and(red, and(small, round)))").unwrap();
    /// assert_eq!(terms.parse("find(and(small, red, round))").unwrap(), a);
    /// assert_eq!(terms.display(a).to_string(), "find(and(red, round, small))");
    /// ```
    pub fn keep_unordered(&mut self, head: &str) {
        let head = self.intern(head);
        let known = self.unordered.iter().copied().filter(|&known| known != head);
        self.unordered = known.chain([head]).collect();
    }

    /// Whether the arguments of a head are a multiset.
    #[must_use]
    pub fn is_unordered(&self, head: Symbol) -> bool {
        self.unordered.contains(&head)
    }

    /// The order of terms in a multiset: by text, then by their arguments. It does not depend on the store. Iterative.
    fn order(&self, a: TermId, b: TermId) -> Ordering {
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            if a == b {
                continue;
            }
            let (args, others) = (self.args(a), self.args(b));
            let order = self.head_text(a).cmp(self.head_text(b));
            let order = order.then(self.shape(a).cmp(&self.shape(b))).then(args.len().cmp(&others.len()));
            if order != Ordering::Equal {
                return order;
            }
            todo.extend(args.iter().copied().zip(others.iter().copied()).rev());
        }
        Ordering::Equal
    }

    /// The arguments of a multiset, flat and sorted.
    fn sorted(&self, head: Symbol, args: &[TermId]) -> Vec<TermId> {
        let is_same = |id: TermId| self.head(id) == head && self.shape(id) == Shape::Call;
        let mut all = Vec::with_capacity(args.len());
        for &arg in args {
            if is_same(arg) { all.extend_from_slice(self.args(arg)) } else { all.push(arg) }
        }
        all.sort_by(|&a, &b| self.order(a, b));
        all
    }

    /// The term with this shape, head and arguments, added when it is new. Cost: linear in `args`, and that of sorting them
    /// where the head is unordered.
    ///
    /// # Panics
    /// When a shape other than [`Shape::Call`] is given arguments, or after 2^32 terms.
    pub fn term(&mut self, shape: Shape, head: Symbol, args: &[TermId]) -> TermId {
        assert!(shape == Shape::Call || args.is_empty(), "only calls take arguments");
        if args.len() > 1 && self.is_unordered(head) {
            let args = self.sorted(head, args);
            return self.insert(shape, head, &args);
        }
        self.insert(shape, head, args)
    }

    fn insert(&mut self, shape: Shape, head: Symbol, args: &[TermId]) -> TermId {
        let hash = self.hasher.hash_one((head, shape, args));
        if let Some(known) = self.base.find_term(hash, shape, head, args) {
            return TermId(known);
        }
        let n_base = self.base.n_terms();
        let own = self.own.find_term(hash, shape, head, args).unwrap_or_else(|| {
            let depth = args.iter().map(|&arg| self.depth(arg)).max().unwrap_or(0).saturating_add(1);
            let size = args.iter().fold(1u64, |sum, &arg| sum.saturating_add(self.size(arg)));
            self.own.add_term(&self.hasher, hash, Node::new(head, shape, depth, size), args)
        });
        TermId(u32::try_from(n_base + own as usize).expect("fewer than 2^32 terms"))
    }

    /// The part of the store that has a term, and its node there.
    fn node(&self, id: TermId) -> (&Layer, &Node) {
        let (at, n_base) = (id.0 as usize, self.base.n_terms());
        let (layer, at) = if at < n_base { (&*self.base, at) } else { (&self.own, at - n_base) };
        (layer, layer.node(at))
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
        self.node(id).1.shape
    }

    /// The symbol at the top of the term.
    #[must_use]
    pub fn head(&self, id: TermId) -> Symbol {
        self.node(id).1.head
    }

    /// The text at the top of the term, without quotes.
    #[must_use]
    pub fn head_text(&self, id: TermId) -> &str {
        self.text(self.head(id))
    }

    /// The arguments in order.
    #[must_use]
    pub fn args(&self, id: TermId) -> &[TermId] {
        let (layer, node) = self.node(id);
        layer.args(node)
    }

    /// Longest path from this term to a leaf, counted in terms; a leaf has depth 1.
    #[must_use]
    pub fn depth(&self, id: TermId) -> u32 {
        self.node(id).1.depth
    }

    /// Number of nodes when the term is written out as a tree.
    #[must_use]
    pub fn size(&self, id: TermId) -> u64 {
        self.node(id).1.size
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

    /// A term with another one in all places of a leaf. Cost: linear in the number of its different subterms.
    pub fn replace(&mut self, root: TermId, leaf: TermId, by: TermId) -> TermId {
        let order = self.bottom_up(root);
        if order.binary_search(&leaf).is_err() {
            return root;
        }
        let mut new = hashbrown::HashMap::with_capacity(order.len());
        for id in order {
            let args: Vec<TermId> = self.args(id).iter().map(|arg| new[arg]).collect();
            let (shape, head) = (self.shape(id), self.head(id));
            new.insert(id, if id == leaf { by } else { self.term(shape, head, &args) });
        }
        new[&root]
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
