//! The chart of Algorithm 1: for every span a sorted list of trees, each one a row of back-pointers.
//!
//! A [`Constraint`] decides what may compose: everything ([`Free`]), or what the types allow
//! ([`super::checked::Checked`]).

use super::beam::{Beam, Candidate, EntryId, How};
use super::{PaperConfig, PaperOutcome, PaperScores};
use crate::budget::{Exhausted, Meter};
use crate::tree::{Category, SpanTree, TreeNode};
use spanwise_core::{Idx, Span};
use spanwise_lang::ConstantId;

/// Work for the lists of one split.
const SPLIT_WORK: u64 = 500;

/// What a chart may put together.
pub(super) trait Constraint {
    /// Called before the lists of the whole input are filled.
    fn enter_root(&mut self);
    /// Whether a tree may be built that way.
    fn allows(&mut self, how: How) -> bool;
    /// Whether two trees may compose around a third.
    fn allows_around(&mut self, left: EntryId, right: EntryId) -> bool;
    /// Takes note of the next entry.
    fn commit(&mut self, how: How);
}

/// No constraint.
pub(super) struct Free;

impl Constraint for Free {
    fn enter_root(&mut self) {}
    fn allows(&mut self, _: How) -> bool {
        true
    }
    fn allows_around(&mut self, _: EntryId, _: EntryId) -> bool {
        true
    }
    fn commit(&mut self, _: How) {}
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    score: f64,
    span: Span,
    how: How,
}

/// The entries of one span and non-terminal.
#[derive(Clone, Copy, Default, Debug)]
struct List {
    start: u32,
    end: u32,
}

impl List {
    fn ids(self) -> impl Iterator<Item = EntryId> + Clone {
        (self.start..self.end).map(EntryId)
    }
}

/// A child of an entry.
enum Part {
    Tree(EntryId),
    Null(Span),
}

/// A filled chart.
pub(super) struct Chart<'a, C> {
    scores: &'a PaperScores,
    constraint: C,
    entries: Vec<Entry>,
    /// The lists of join: a row per start, a column per end.
    joins: Vec<List>,
    /// The list of S over the whole input.
    roots: List,
    beam: Beam,
}

impl<'a, C: Constraint> Chart<'a, C> {
    /// Algorithm 1.
    pub(super) fn fill(
        scores: &'a PaperScores,
        config: PaperConfig,
        constraint: C,
        meter: &Meter,
    ) -> Result<Self, Exhausted> {
        let n_tokens = scores.n_tokens();
        let joins = vec![List::default(); n_tokens * (n_tokens + 1)];
        let (beam, entries, roots) = (Beam::new(config.k), Vec::new(), List::default());
        let mut chart = Self { scores, constraint, entries, joins, roots, beam };
        let whole = Span::new(0, n_tokens as u32);
        // Whatever lies inside a span starts later, or starts there too and ends earlier.
        for start in (0..whole.end).rev() {
            for end in start + 1..=whole.end {
                // A pair of lists per split, a triple per two splits.
                let splits = u64::from(end - start);
                let splits = if config.ternary { splits * splits / 2 } else { splits };
                meter.spend(splits * SPLIT_WORK)?;
                chart.fill_span(Span::new(start, end), config.ternary);
            }
        }
        if !whole.is_empty() {
            chart.offer_roots(whole);
            chart.roots = chart.commit(whole);
        }
        Ok(chart)
    }

    /// The trees of the whole input, best first.
    pub(super) fn roots(&self) -> impl Iterator<Item = EntryId> + use<C> {
        self.roots.ids()
    }

    /// The score S(T) of a tree.
    pub(super) fn score(&self, id: EntryId) -> f64 {
        self.entries[id.index()].score
    }

    /// What it means that no root will do.
    pub(super) fn failure(&self) -> PaperOutcome {
        if self.beam.dropped {
            PaperOutcome::BeamExhausted { width: self.beam.width }
        } else {
            PaperOutcome::NoDerivation
        }
    }

    /// Reads a tree off the back-pointers, still without programs.
    pub(super) fn tree(&self, root: EntryId) -> SpanTree {
        let mut nodes: Vec<TreeNode> = Vec::new();
        let mut todo = vec![(Part::Tree(root), None::<usize>)];
        // Parents come first, children from right to left; then all is turned round.
        while let Some((part, parent)) = todo.pop() {
            let at = nodes.len();
            if let Some(parent) = parent {
                nodes[parent].children.push(at);
            }
            let (span, category) = match part {
                Part::Null(span) => (span, Category::Null),
                Part::Tree(id) => {
                    let entry = self.entries[id.index()];
                    todo.extend(parts(entry).into_iter().map(|part| (part, Some(at))));
                    match entry.how {
                        How::Constant(constant) => (entry.span, Category::Constant(constant)),
                        _ => (entry.span, Category::Join),
                    }
                }
            };
            nodes.push(TreeNode { span, category, children: Vec::new(), program: None, state: None });
        }
        let last = nodes.len() - 1;
        nodes.reverse();
        for node in &mut nodes {
            node.children.reverse();
            node.children.iter_mut().for_each(|child| *child = last - *child);
        }
        SpanTree { nodes }
    }

    fn fill_span(&mut self, span: Span, ternary: bool) {
        if span.len() == self.scores.n_tokens() {
            self.constraint.enter_root();
        }
        self.offer_constants(span);
        let join = self.scores.shifted(span, Category::Join);
        if join > f64::NEG_INFINITY {
            self.offer_pairs(span, join);
            self.offer_null_right(span, join);
            if ternary {
                self.offer_triples(span, join);
            }
        }
        let at = self.place(span.start, span.end);
        self.joins[at] = self.commit(span);
    }

    /// Offers a tree to the current list; false when the list is full of better ones.
    fn offer(&mut self, score: f64, how: How) -> bool {
        let candidate = Candidate { score, how };
        let admitted = self.beam.admits(&candidate);
        if admitted && self.constraint.allows(how) {
            self.beam.insert(candidate);
        }
        admitted
    }

    /// Lines 1 to 3: the constants. They come first and in order, so that among equals the first stay.
    fn offer_constants(&mut self, span: Span) {
        let row = self.scores.row(span);
        let n_constants = self.scores.n_constants();
        let null = f64::from(row[n_constants + 1]);
        let mut floor = f32::NEG_INFINITY;
        for (at, &logit) in row[..n_constants].iter().enumerate() {
            if logit <= floor {
                self.beam.dropped |= logit > f32::NEG_INFINITY;
                continue;
            }
            self.offer(f64::from(logit) - null, How::Constant(ConstantId::from_usize(at)));
            if let Some(&Candidate { how: How::Constant(worst), .. }) = self.beam.worst() {
                floor = row[worst.index()];
            }
        }
    }

    /// `join join`. The lists are sorted and so are the trees made from them, in score and in order: once one
    /// is refused, so are all behind it.
    fn offer_pairs(&mut self, span: Span, join: f64) {
        for split in span.start + 1..span.end {
            let (lefts, rights) = (self.list(span.start, split), self.list(split, span.end));
            'lefts: for left in lefts.ids() {
                let base = join + self.score(left);
                for (rank, right) in rights.ids().enumerate() {
                    if !self.offer(base + self.score(right), How::Pair { split, left, right }) {
                        if rank == 0 {
                            break 'lefts;
                        }
                        break;
                    }
                }
            }
        }
    }

    /// `join null`; null scores nothing.
    fn offer_null_right(&mut self, span: Span, join: f64) {
        for split in span.start + 1..span.end {
            for left in self.list(span.start, split).ids() {
                if !self.offer(join + self.score(left), How::NullRight { split, left }) {
                    break;
                }
            }
        }
    }

    /// `join join join` (section 3.4).
    fn offer_triples(&mut self, span: Span, join: f64) {
        for first in span.start + 1..span.end {
            let lefts = self.list(span.start, first);
            for second in first + 1..span.end {
                let (middles, rights) = (self.list(first, second), self.list(second, span.end));
                self.offer_split([first, second], [lefts, middles, rights], join);
            }
        }
    }

    /// All triples of one split. The outer two come first, as in composition: few pairs go round a middle.
    fn offer_split(&mut self, splits: [u32; 2], [lefts, middles, rights]: [List; 3], join: f64) {
        let Some(best) = middles.ids().next() else { return };
        for left in lefts.ids() {
            for (rank, right) in rights.ids().enumerate() {
                let outer = join + self.score(left) + self.score(right);
                let how = How::Triple { splits, left, middle: best, right };
                if !self.beam.admits(&Candidate { score: outer + self.score(best), how }) {
                    if rank == 0 {
                        return;
                    }
                    break;
                }
                if !self.constraint.allows_around(left, right) {
                    continue;
                }
                for middle in middles.ids() {
                    let how = How::Triple { splits, left, middle, right };
                    if !self.offer(outer + self.score(middle), how) {
                        break;
                    }
                }
            }
        }
    }

    /// S over the whole input: all that join is there, and `null join`. The trees `join join` are in the list
    /// of join already.
    fn offer_roots(&mut self, whole: Span) {
        for id in self.list(whole.start, whole.end).ids() {
            let Entry { score, how, .. } = self.entries[id.index()];
            self.offer(score, how);
        }
        let join = self.scores.shifted(whole, Category::Join);
        if join == f64::NEG_INFINITY {
            return;
        }
        for split in whole.start + 1..whole.end {
            for right in self.list(split, whole.end).ids() {
                if !self.offer(join + self.score(right), How::NullLeft { split, right }) {
                    break;
                }
            }
        }
    }

    /// Makes entries of the current list and empties it.
    fn commit(&mut self, span: Span) -> List {
        let start = self.n_entries();
        for Candidate { score, how } in self.beam.kept.drain(..) {
            self.entries.push(Entry { score, span, how });
            self.constraint.commit(how);
        }
        List { start, end: self.n_entries() }
    }

    fn n_entries(&self) -> u32 {
        u32::try_from(self.entries.len()).expect("fewer than 2^32 trees fit into memory")
    }

    fn place(&self, start: u32, end: u32) -> usize {
        start as usize * (self.scores.n_tokens() + 1) + end as usize
    }

    fn list(&self, start: u32, end: u32) -> List {
        self.joins[self.place(start, end)]
    }
}

/// The children of an entry from left to right.
fn parts(Entry { span, how, .. }: Entry) -> Vec<Part> {
    match how {
        How::Constant(_) => Vec::new(),
        How::Pair { left, right, .. } => [left, right].map(Part::Tree).into(),
        How::Triple { left, middle, right, .. } => [left, middle, right].map(Part::Tree).into(),
        How::NullRight { split, left } => vec![Part::Tree(left), Part::Null(Span::new(split, span.end))],
        How::NullLeft { split, right } => vec![Part::Null(Span::new(span.start, split)), Part::Tree(right)],
    }
}
