//! Builds the span tree of a derivation: constants on words, joins, and the null words around them.
//!
//! The caller replays a derivation from any chart and computes the meanings; nodes and spans are made here.

use crate::tree::{Category, SpanTree, TreeNode};
use spanwise_core::Span;
use spanwise_lang::{ConstantId, Domain, Meaning, TermId, Terms};

/// A span tree under construction.
pub(crate) struct TreeBuilder<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) terms: &'a mut Terms,
    pub(crate) tree: SpanTree,
}

impl<'a> TreeBuilder<'a> {
    pub(crate) fn new(domain: &'a Domain, terms: &'a mut Terms) -> Self {
        Self { domain, terms, tree: SpanTree::default() }
    }

    pub(crate) fn span(&self, node: usize) -> Span {
        self.tree.nodes[node].span
    }

    /// A constant on `words`, joined with the null words behind it as far as `whole` goes.
    pub(crate) fn constant(
        &mut self,
        constant: ConstantId,
        words: Span,
        whole: Span,
        meaning: &Meaning,
    ) -> usize {
        let node = self.push(words, Category::Constant(constant), Vec::new(), meaning);
        if words.end == whole.end {
            return node;
        }
        let null = self.push_null(Span::new(words.end, whole.end));
        self.push(whole, Category::Join, vec![node, null], meaning)
    }

    /// An implicit constant, inserted above what it is applied to.
    pub(crate) fn implicit(&mut self, constant: ConstantId, child: usize, meaning: &Meaning) -> usize {
        self.push(self.span(child), Category::Implicit(constant), vec![child], meaning)
    }

    /// Two neighbours that compose.
    pub(crate) fn join(&mut self, left: usize, right: usize, meaning: &Meaning) -> usize {
        let span = Span::new(self.span(left).start, self.span(right).end);
        self.push(span, Category::Join, vec![left, right], meaning)
    }

    /// Joins the words before the first constant at the root, and sets the program of the root.
    pub(crate) fn finish(
        mut self,
        root: usize,
        meaning: &Meaning,
        n_tokens: usize,
        program: TermId,
    ) -> SpanTree {
        let start = self.span(root).start;
        if start > 0 {
            let null = self.push_null(Span::new(0, start));
            self.push(Span::new(0, n_tokens as u32), Category::Join, vec![null, root], meaning);
        }
        if let Some(last) = self.tree.nodes.last_mut() {
            last.program = Some(program);
        }
        self.tree
    }

    fn push_null(&mut self, span: Span) -> usize {
        let (category, children) = (Category::Null, Vec::new());
        self.tree.nodes.push(TreeNode { span, category, children, program: None, state: None });
        self.tree.nodes.len() - 1
    }

    fn push(&mut self, span: Span, category: Category, children: Vec<usize>, meaning: &Meaning) -> usize {
        let program = Some(self.domain.sketch(self.terms, meaning));
        let state = Some(self.domain.state_of(meaning));
        self.tree.nodes.push(TreeNode { span, category, children, program, state });
        self.tree.nodes.len() - 1
    }
}
