//! Strings and terms in numbered order, with an index of each: the parts that a store of terms is made of.

use super::{Shape, Symbol, TermId};
use crate::texts::Texts;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// A term without its arguments, which the layer has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) head: Symbol,
    pub(super) shape: Shape,
    args_start: u32,
    n_args: u32,
    /// Longest path to a leaf, counted in terms.
    pub(super) depth: u32,
    /// Nodes when written out as a tree; a shared argument counts every time.
    pub(super) size: u64,
}

impl Node {
    pub(super) fn new(head: Symbol, shape: Shape, depth: u32, size: u64) -> Self {
        Self { head, shape, args_start: 0, n_args: 0, depth, size }
    }
}

/// Strings and terms, each numbered from zero. Heads and arguments are ids of the whole store: they may lie in another layer.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    texts: Texts,
    text_index: HashTable<u32>,
    nodes: Vec<Node>,
    args: Vec<TermId>,
    term_index: HashTable<u32>,
}

impl Layer {
    pub(super) fn is_empty(&self) -> bool {
        self.n_texts() == 0
    }

    pub(super) fn n_texts(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn text(&self, at: usize) -> &str {
        self.texts.get(at as u32)
    }

    pub(super) fn find_text(&self, hash: u64, text: &str) -> Option<u32> {
        self.text_index.find(hash, |&at| self.texts.get(at) == text).copied()
    }

    /// Adds a text that is not there yet.
    pub(super) fn add_text(&mut self, hasher: &DefaultHashBuilder, hash: u64, text: &str) -> u32 {
        let at = u32::try_from(self.texts.len()).expect("fewer than 2^32 symbols");
        self.texts.push(text);
        let texts = &self.texts;
        self.text_index.insert_unique(hash, at, |&at| hasher.hash_one(texts.get(at)));
        at
    }

    pub(super) fn n_terms(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    pub(super) fn args(&self, node: &Node) -> &[TermId] {
        args_of(&self.args, node)
    }

    pub(super) fn find_term(&self, hash: u64, shape: Shape, head: Symbol, args: &[TermId]) -> Option<u32> {
        let is_same = |&at: &u32| {
            let node = &self.nodes[at as usize];
            node.head == head && node.shape == shape && self.args(node) == args
        };
        self.term_index.find(hash, is_same).copied()
    }

    /// Adds a term that is not there yet.
    pub(super) fn add_term(
        &mut self,
        hasher: &DefaultHashBuilder,
        hash: u64,
        node: Node,
        args: &[TermId],
    ) -> u32 {
        let at = u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms");
        let args_start = u32::try_from(self.args.len()).expect("fewer than 2^32 arguments");
        self.args.extend_from_slice(args);
        self.nodes.push(Node { args_start, n_args: args.len() as u32, ..node });
        let Self { nodes, args, term_index, .. } = self;
        term_index.insert_unique(hash, at, |&at| {
            let node = &nodes[at as usize];
            hasher.hash_one((node.head, node.shape, args_of(args, node)))
        });
        at
    }

    /// The same without spare memory.
    pub(super) fn shrunk(mut self) -> Self {
        self.texts.shrink();
        self.nodes.shrink_to_fit();
        self.args.shrink_to_fit();
        self
    }
}

fn args_of<'a>(args: &'a [TermId], node: &Node) -> &'a [TermId] {
    &args[node.args_start as usize..(node.args_start + node.n_args) as usize]
}
