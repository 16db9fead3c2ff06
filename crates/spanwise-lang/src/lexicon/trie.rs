//! A trie over words: phrases with the constants they name, in few bytes for each.

use crate::domain::ConstantId;
use crate::interned::Interned;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Ends a list of entries.
const NONE: u32 = u32::MAX;

/// The words from the root to here are the beginning of a phrase.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    word: u32,
    /// The first and the last entry of the phrase that ends here.
    entries: [u32; 2],
}

/// A constant that a phrase names.
#[derive(Clone, Copy, Debug)]
struct Entry {
    node: u32,
    constant: ConstantId,
    /// The next entry of the same node.
    next: u32,
}

/// A trie over words. Nodes, words and entries are numbers in three lists, with an index of each: a hundred thousand names of
/// two words take 8 MB, where nodes with maps of their own took 43 MB.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    hasher: DefaultHashBuilder,
    words: Interned,
    /// The root is the first.
    nodes: Vec<Node>,
    /// Nodes by parent and word.
    children: HashTable<u32>,
    entries: Vec<Entry>,
    /// Entries by node and constant: thousands of constants may share a name.
    known: HashTable<u32>,
}

impl Default for Trie {
    fn default() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            words: Interned::default(),
            nodes: vec![Node { parent: 0, word: 0, entries: [NONE; 2] }],
            children: HashTable::new(),
            entries: Vec::new(),
            known: HashTable::new(),
        }
    }
}

impl Trie {
    /// Adds a constant at the end of these words. Returns false when it is there already.
    pub(super) fn insert<'a>(&mut self, words: impl Iterator<Item = &'a str>, constant: ConstantId) -> bool {
        let mut at = 0;
        for word in words {
            let word = self.words.insert(word);
            at = self.child(at, word).unwrap_or_else(|| self.add_child(at, word));
        }
        self.add_entry(at, constant)
    }

    fn child(&self, parent: u32, word: u32) -> Option<u32> {
        let is_it = |&at: &u32| {
            let node = &self.nodes[at as usize];
            node.parent == parent && node.word == word
        };
        self.children.find(self.hasher.hash_one((parent, word)), is_it).copied()
    }

    fn add_child(&mut self, parent: u32, word: u32) -> u32 {
        let at = self.nodes.len() as u32;
        self.nodes.push(Node { parent, word, entries: [NONE; 2] });
        let Self { hasher, nodes, children, .. } = self;
        children.insert_unique(hasher.hash_one((parent, word)), at, |&at| {
            let node = &nodes[at as usize];
            hasher.hash_one((node.parent, node.word))
        });
        at
    }

    fn add_entry(&mut self, node: u32, constant: ConstantId) -> bool {
        let Self { hasher, nodes, entries, known, .. } = self;
        let hash = hasher.hash_one((node, constant));
        let is_it = |&at: &u32| {
            let entry = &entries[at as usize];
            entry.node == node && entry.constant == constant
        };
        if known.find(hash, is_it).is_some() {
            return false;
        }
        let at = entries.len() as u32;
        entries.push(Entry { node, constant, next: NONE });
        let [first, last] = &mut nodes[node as usize].entries;
        match *last {
            NONE => *first = at,
            before => entries[before as usize].next = at,
        }
        *last = at;
        known.insert_unique(hash, at, |&at| {
            let entry = &entries[at as usize];
            hasher.hash_one((entry.node, entry.constant))
        });
        true
    }

    /// The constants of a node, in the order of insertion.
    fn constants(&self, node: u32) -> impl Iterator<Item = ConstantId> + '_ {
        let entry = |at: u32| (at != NONE).then(|| self.entries[at as usize]);
        let first = entry(self.nodes[node as usize].entries[0]);
        std::iter::successors(first, move |last| entry(last.next)).map(|entry| entry.constant)
    }

    /// The numbers of some words; `None` for those that no phrase has.
    pub(super) fn numbers<W: AsRef<str>>(&self, words: &[W]) -> Vec<Option<u32>> {
        words.iter().map(|word| self.words.find(word.as_ref())).collect()
    }

    /// Calls `found` with the number of words and the constant of every phrase that these words begin with, the shorter first.
    pub(super) fn prefixes(&self, words: &[Option<u32>], mut found: impl FnMut(usize, ConstantId)) {
        let mut at = 0;
        for (offset, word) in words.iter().enumerate() {
            let Some(next) = word.and_then(|word| self.child(at, word)) else { return };
            at = next;
            self.constants(at).for_each(|constant| found(offset + 1, constant));
        }
    }

    /// The constants of all phrases, with repetition, in the order of [`Trie::for_each`].
    pub(super) fn all_constants(&self) -> impl Iterator<Item = ConstantId> + '_ {
        (0..self.nodes.len() as u32).flat_map(|node| self.constants(node))
    }

    /// Calls `visit` with the words and the constants of every phrase, in the order in which their last words were first
    /// inserted after the words before them.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&[&str], &[ConstantId])) {
        let (mut words, mut constants) = (Vec::new(), Vec::new());
        for node in 0..self.nodes.len() as u32 {
            constants.clear();
            constants.extend(self.constants(node));
            if constants.is_empty() {
                continue;
            }
            words.clear();
            let mut at = node;
            while at != 0 {
                let Node { parent, word, .. } = self.nodes[at as usize];
                words.push(self.words.texts().get(word));
                at = parent;
            }
            words.reverse();
            visit(&words, &constants);
        }
    }

    /// Gives spare memory back.
    pub(super) fn shrink(&mut self) {
        self.words.shrink();
        self.nodes.shrink_to_fit();
        self.entries.shrink_to_fit();
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.words.bytes()
            + self.nodes.capacity() * size_of::<Node>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.children.allocation_size()
            + self.known.allocation_size()
    }
}
