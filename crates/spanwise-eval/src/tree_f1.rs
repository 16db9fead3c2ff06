//! Tree F1: compares the labelled spans of predicted trees with those of gold trees, as in Table 3 of the paper.
//!
//! A tree is a map from spans to labels. A label is the name of a constant, or [`Label::Join`] (`span` in
//! data files). Spans count words and are half-open; gold spans that come as inclusive ranges of word-pieces
//! are widened to the words they touch ([`crate::gold_spans`]). F1 is micro-averaged over all examples.
//!
//! Both sides follow the conventions of the gold trees:
//!
//! * Null words have no span. The ones after a constant are joined to it: `river ?` is a `river`
//!   on the first word and a join over both. The ones before the first constant are joined to all the rest.
//! * A function with some of its arguments is a join (`rivers not` under `rivers not in texas`), but a composition of
//!   functions is not: if functions compose before they have their argument, all parts are joined at once, and the span
//!   over the functions alone does not count.
//! * Arguments on both sides of a function are joined in the order of its slots: `rivers not in texas` is
//!   `rivers not` with the rest, because the first slot of `exclude` takes the rivers. Predicted trees, which follow the
//!   normal form of the chart, are rotated accordingly.
//! * Implicit constants, which no word is aligned to, have no span. In CLEVR that includes `filter`, `relate` and `scene`.
//! * Entities are written `stateid#'new york'`; unspecified arguments (`_`) are not part of the name.
//! * Each span has one label. If the data has two, the later one counts, as in the authors' evaluation; but the label of a
//!   part of a word (`cube` in `cubes`) takes precedence over the join of its parts.

use crate::gold_spans::{JOIN, word_spans};
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::{Discontinuity, Grammar, N_USAGES, Options};
use spanwise_chart::lattice::{Lattice, Leaf};
use spanwise_chart::semiring::Count;
use spanwise_chart::{Category, SpanTree};
use spanwise_core::{Idx, Span, Utterance};
use spanwise_domains::data::Example;
use spanwise_lang::{ConstantId, Domain, Node, TermId, Terms, TypeId};
use std::collections::BTreeMap;

/// The label of a span.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Label {
    /// A join of parts.
    Join,
    /// A constant, by its name in gold trees.
    Constant(String),
}

/// A tree as a map from spans to labels.
///
/// ```
/// use spanwise_core::Span;
/// use spanwise_eval::tree_f1::{Label, LabelledSpans, counts};
///
/// // `states border texas`, once with a wrong bracketing.
/// let leaf = |at, name: &str| (Span::new(at, at + 1), Label::Constant(name.to_owned()));
/// let leaves = [leaf(0, "state"), leaf(1, "border"), leaf(2, "stateid#'texas'")];
/// let root = (Span::new(0, 3), Label::Join);
/// let tree = |join| LabelledSpans::from_iter(leaves.iter().cloned().chain([root.clone(), (join, Label::Join)]));
/// let (gold, predicted) = (tree(Span::new(1, 3)), tree(Span::new(0, 2)));
/// assert_eq!(counts(&gold, &predicted).f1(), Some(80.0));
/// ```
pub type LabelledSpans = BTreeMap<Span, Label>;

/// The counts of a comparison of labelled spans, from which precision, recall and F1 follow. The counts of several trees
/// are added for a micro-average.
///
/// ```
/// use spanwise_eval::tree_f1::TreeCounts;
///
/// let first = TreeCounts { matched: 4, predicted: 5, gold: 5 };
/// let second = TreeCounts { matched: 1, predicted: 1, gold: 3 };
/// assert_eq!(first.f1(), Some(80.0));
/// assert_eq!(first.plus(second).f1(), Some(200.0 * 5.0 / (6.0 + 8.0)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TreeCounts {
    /// Spans with the same label in both.
    pub matched: usize,
    /// Spans of the predicted tree.
    pub predicted: usize,
    /// Spans of the gold tree.
    pub gold: usize,
}

impl TreeCounts {
    /// The sum of two counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            matched: self.matched + other.matched,
            predicted: self.predicted + other.predicted,
            gold: self.gold + other.gold,
        }
    }

    /// F1 in percent; `None` if the gold tree has no spans.
    #[must_use]
    pub fn f1(self) -> Option<f64> {
        (self.gold > 0).then(|| 200.0 * self.matched as f64 / (self.predicted + self.gold) as f64)
    }
}

/// Compares a predicted tree with a gold one.
#[must_use]
pub fn counts(gold: &LabelledSpans, predicted: &LabelledSpans) -> TreeCounts {
    let matched = predicted.iter().filter(|(span, label)| gold.get(span) == Some(label)).count();
    TreeCounts { matched, predicted: predicted.len(), gold: gold.len() }
}

/// The gold tree of an example over `n_words` words.
///
/// `pieces` is the number of word-pieces of each word, from a tokenizer of the BERT family, for spans that count
/// word-pieces. Without it, those are read only if every word must be one word-piece, that is, if there are as many
/// word-pieces as words. `None` if there is no tree, it cannot be read, or it does not fit the words.
#[must_use]
pub fn gold_tree(example: &Example, pieces: Option<&[usize]>, n_words: usize) -> Option<LabelledSpans> {
    let spans = word_spans(example, pieces, n_words)?;
    let label = |name: &str| if name == JOIN { Label::Join } else { Label::Constant(gold_name(name)) };
    Some(spans.into_iter().map(|(span, name)| (span, label(name))).collect())
}

/// A predicted tree in the conventions of gold trees.
#[must_use]
pub fn predicted_tree(domain: &Domain, tree: &SpanTree) -> LabelledSpans {
    let parts = in_slot_order(tree);
    let mut spans = LabelledSpans::new();
    for (node, part) in tree.nodes.iter().zip(&parts) {
        let label = match node.category {
            Category::Constant(id) => Label::Constant(gold_name(&domain.constants()[id].name)),
            Category::Join if part.is_composition(&parts) => continue,
            Category::Join => Label::Join,
            Category::Implicit(_) | Category::Null => continue,
        };
        spans.insert(part.span, label);
    }
    spans
}

/// The leaves of the gold tree of an example, from left to right: spans and the constants aligned to them.
///
/// A gold chart over just these leaves holds the derivations that agree with the tree on every constant.
/// `None` if there is no tree, or if it cannot be used for training: it has a label that is not in the domain, or its
/// constants are not those of the example's program (some gold trees lack a part).
#[must_use]
pub fn gold_leaves(
    domain: &Domain,
    example: &Example,
    pieces: Option<&[usize]>,
    utterance: &Utterance,
) -> Option<Vec<(Span, ConstantId)>> {
    let matches = domain.lexicon().matches(utterance);
    let mut leaves = Vec::new();
    for (span, name) in word_spans(example, pieces, utterance.len())? {
        if name == JOIN {
            continue;
        }
        let wanted = gold_name(name);
        let is_it = |id: ConstantId| gold_name(&domain.constants()[id].name) == wanted;
        let found = matches.iter().map(|found| (found.span, found.constant));
        let constant = found.filter(|&(at, id)| at == span && is_it(id)).map(|(_, id)| id).next();
        let constant = constant.or_else(|| domain.predicate(name));
        let constant = constant.or_else(|| domain.constants().ids().find(|&id| is_it(id)))?;
        leaves.push((without_marks(utterance, span), constant));
    }
    leaves.sort_unstable();
    covers_program(domain, example, &leaves).then_some(leaves)
}

/// Checks whether a gold tree is the only one with its leaves.
#[derive(Clone, Debug)]
pub struct OneTree<'a> {
    domain: &'a Domain,
    grammar: Grammar,
}

impl<'a> OneTree<'a> {
    /// Compiles the grammar of gold trees: discontinuous parts are allowed, and every constant is aligned to words.
    #[must_use]
    pub fn new(domain: &'a Domain) -> Self {
        let options = Options { discontinuity: Discontinuity::Open, implicit: false };
        Self { domain, grammar: Grammar::new(domain, options) }
    }

    /// Whether exactly one tree over these leaves yields the program. If so, a predicted tree with these leaves that
    /// differs from the gold tree is wrong.
    #[must_use]
    pub fn check(
        &self,
        n_words: usize,
        leaves: &[(Span, ConstantId)],
        terms: &Terms,
        program: TermId,
    ) -> bool {
        let leaf = |&(span, constant): &(Span, ConstantId)| Leaf::new(span.start, span.end, constant);
        let Ok(lattice) = Lattice::new(n_words, leaves.iter().map(leaf).collect()) else { return false };
        let gold = GoldChart::new(self.domain, &self.grammar, &lattice, terms, program, Joins::None);
        let Ok(gold) = gold else { return false };
        let ones = vec![1.0; lattice.leaves().len() * N_USAGES + self.grammar.n_rules()];
        gold.graph().inside::<Count>(&ones).last() == Some(&1.0)
    }
}

/// The name of a constant in gold trees: `stateid('new york')` is `stateid#'new york'`, `cityid('austin',
/// _)` is `cityid#'austin'`, and every other name is unchanged.
fn gold_name(name: &str) -> String {
    let Some((head, inside)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) else {
        return name.to_owned();
    };
    let mut inside = inside.trim();
    while let Some(shorter) = inside.strip_suffix('_').and_then(|rest| rest.trim_end().strip_suffix(',')) {
        inside = shorter.trim_end();
    }
    format!("{}#{inside}", head.trim_end())
}

/// The shape of a node of a predicted tree.
#[derive(Clone, Debug)]
struct Part {
    span: Span,
    /// The children that are not null; none at all where one child is null, or it is inserted above another.
    children: Vec<usize>,
    /// The types of the slots that are still open.
    open_slots: Vec<TypeId>,
}

impl Part {
    /// Whether it joins only functions, which are composed before they have their argument.
    fn is_composition(&self, parts: &[Self]) -> bool {
        !self.children.is_empty() && self.children.iter().all(|&child| !parts[child].open_slots.is_empty())
    }
}

/// The parts of a tree, with arguments on both sides of a function joined in the order of its slots.
fn in_slot_order(tree: &SpanTree) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..tree.nodes.len()).map(|at| part(tree, at)).collect();
    // Parents first: a rotated join may be rotated once more.
    for top in (0..parts.len()).rev() {
        let &[left, inner] = parts[top].children.as_slice() else { continue };
        let &[function, right] = parts[inner].children.as_slice() else { continue };
        let is_complete = |at: usize| parts[at].open_slots.is_empty();
        if !is_complete(left) || !is_complete(right) || is_complete(function) {
            continue;
        }
        let slot_of_right = filled(&parts[function].open_slots, &parts[inner].open_slots);
        let slot_of_left = filled(&parts[inner].open_slots, &parts[top].open_slots);
        if slot_of_left < slot_of_right {
            let mut open_slots = parts[function].open_slots.clone();
            open_slots.remove(slot_of_left);
            let span = Span::new(parts[left].span.start, parts[function].span.end);
            parts[inner] = Part { span, children: vec![left, function], open_slots };
            parts[top].children = vec![inner, right];
        }
    }
    parts
}

fn part(tree: &SpanTree, at: usize) -> Part {
    let node = &tree.nodes[at];
    let is_null = |&child: &usize| tree.nodes[child].category == Category::Null;
    let is_join = node.category == Category::Join && !node.children.iter().any(is_null);
    let children = if is_join { node.children.clone() } else { Vec::new() };
    Part { span: node.span, children, open_slots: node.open_slots().to_vec() }
}

/// The slot of a function that an argument has filled, given the open slots before and after; of adjacent slots of the
/// same type, the first.
fn filled(before: &[TypeId], after: &[TypeId]) -> usize {
    let mut slot = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    while slot > 0 && before.get(slot - 1) == before.get(slot) {
        slot -= 1;
    }
    slot
}

/// A span without the punctuation at its end; some gold leaves have it.
fn without_marks(utterance: &Utterance, mut span: Span) -> Span {
    let is_mark = |at: u32| !utterance.tokens()[at as usize].lower.chars().any(char::is_alphanumeric);
    while span.len() > 1 && is_mark(span.end - 1) {
        span.end -= 1;
    }
    span
}

/// Whether leaves are the constants of the example's program, apart from those that can be inserted. True for examples
/// without a program.
fn covers_program(domain: &Domain, example: &Example, leaves: &[(Span, ConstantId)]) -> bool {
    let Some(text) = &example.program else { return true };
    let mut terms = domain.new_terms();
    let Some(analysis) = terms.parse(text).ok().and_then(|program| domain.analyze(&terms, program).ok())
    else {
        return false;
    };
    let mut missing = vec![0i64; domain.constants().len()];
    for node in &analysis.nodes {
        match node {
            Node::Constant { constant, .. } => missing[constant.index()] += 1,
            Node::Gather { .. } => {}
            Node::Unlisted { .. } => return false,
        }
    }
    leaves.iter().for_each(|(_, constant)| missing[constant.index()] -= 1);
    let may_miss = |id: ConstantId| domain.constants()[id].implicit;
    domain.constants().ids().zip(missing).all(|(id, n)| n == 0 || (n > 0 && may_miss(id)))
}

#[cfg(test)]
mod tests;
