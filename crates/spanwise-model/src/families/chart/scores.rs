//! From logits of spans to scores of the typed chart, and back: gradients of chart scores to gradients of logits.

use super::ChartParser;
use super::dropout::Dropped;
use super::settings::JoinScores;
use crate::span_model::{COST, LeafMatch, Prepared, SpanGradient, Tables};
use spanwise_chart::gold::{GoldChart, OwnScores, Underivable};
use spanwise_chart::grammar::{Grammar, N_USAGES};
use spanwise_chart::lattice::{ChartError, Gradient, Lattice, Leaf, Scores};
use spanwise_chart::semiring::Semiring;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Span;
use spanwise_lang::domain::Omission;
use spanwise_lang::{TermId, Terms};
use std::borrow::Cow;

/// No column of the logits.
const NO_COLUMN: u32 = u32::MAX;
/// The score of a dropped label on words without a phrase for it. It is finite, so that a program that needs it there still has a
/// derivation.
pub(in crate::families) const WITHOUT_PHRASE: f32 = -30.0;

/// An utterance ready for the network: its lattice, the spans to score, and where each score comes from.
#[derive(Clone, Debug)]
pub struct ChartInput {
    /// The utterance with its lattice.
    pub prepared: Prepared,
    /// The spans that the network scores.
    pub spans: Vec<(u32, u32)>,
    /// The part of the grammar that its words can use; `None` for the whole.
    part: Option<Box<Grammar>>,
    leaves: Vec<LeafKey>,
    /// For each cell, the rows and columns of the logits that score its joins; empty without such scores.
    cells: Vec<[(u32, u32); 2]>,
    /// For each cell, the row of the logits that scores implicit constants; empty without such scores.
    inserted: Vec<u32>,
}

/// Where the scores of a leaf come from.
#[derive(Clone, Copy, Debug)]
struct LeafKey {
    row: u32,
    label: u32,
    /// Its lexicon match.
    found: LeafMatch,
    /// How many of its words a name or phrase matches exactly.
    matched: f32,
    /// What it would cost to leave out its words, if it is a name, a phrase or a literal.
    used: f32,
    /// How many of its words must be used.
    n_required: f32,
}

impl LeafKey {
    /// What lexicon matches add to its score: its own, and those of its words. All readings cover the same words, so what using
    /// a word adds is what leaving it out costs.
    fn phrase(&self, tables: &Tables) -> f32 {
        let own = match self.found.inexact {
            None => self.found.weight * tables.lexicon,
            Some(kind) => {
                self.found.weight * tables.matches[kind as usize] + self.found.cost * tables.matches[COST]
            }
        };
        own + self.matched * tables.matched + self.used
    }

    /// Adds the gradient of [`LeafKey::phrase`].
    fn add_phrase(&self, gradient: f32, tables: &mut Tables) {
        match self.found.inexact {
            None => tables.lexicon += self.found.weight * gradient,
            Some(kind) => {
                tables.matches[kind as usize] += self.found.weight * gradient;
                tables.matches[COST] += self.found.cost * gradient;
            }
        }
        tables.matched += self.matched * gradient;
    }
}

impl ChartInput {
    pub(super) fn new(parser: &ChartParser, prepared: Prepared) -> Self {
        let (labels, lattice) = (&parser.model.labels, &prepared.lattice);
        let mut spans: Vec<(u32, u32)> = lattice.leaves().iter().map(|leaf| (leaf.start, leaf.end)).collect();
        let first = (labels.len() + N_USAGES) as u32;
        let cell_spans: Vec<[((u32, u32), u32); 2]> = (0..lattice.n_cells())
            .filter_map(|cell| {
                let (p, q) = lattice.ends(cell);
                let Span { start, end } = lattice.span(p, q);
                match parser.settings.joins {
                    JoinScores::None => None,
                    JoinScores::Span => Some([((start, end), first), ((start, end), NO_COLUMN)]),
                    JoinScores::Ends => Some([((start, start + 1), first), ((end - 1, end), first + 1)]),
                }
            })
            .collect();
        spans.extend(cell_spans.iter().flatten().map(|(span, _)| *span));
        let n_inserted = if parser.model.implicit.inserted.is_empty() { 0 } else { lattice.n_cells() };
        let inserted_spans: Vec<(u32, u32)> = (0..n_inserted)
            .map(|cell| {
                let (p, q) = lattice.ends(cell);
                let Span { start, end } = lattice.span(p, q);
                (start, end)
            })
            .collect();
        spans.extend(&inserted_spans);
        spans.sort_unstable();
        spans.dedup();
        let row = |span: (u32, u32)| spans.partition_point(|other| *other < span) as u32;
        let is_matched = matched_words(&prepared);
        let leaves = lattice
            .leaves()
            .iter()
            .zip(&prepared.matches)
            .zip(&prepared.uses)
            .map(|((leaf, &found), uses)| {
                let words = leaf.start as usize..leaf.end as usize;
                let omissions = if *uses { &prepared.omissions[words.clone()] } else { &[] };
                LeafKey {
                    row: row((leaf.start, leaf.end)),
                    label: labels.of(leaf.constant) as u32,
                    found,
                    matched: is_matched[words].iter().map(|is| f32::from(*is)).sum(),
                    used: omissions.iter().copied().map(cost).sum(),
                    n_required: omissions.iter().filter(|it| **it == Omission::Forbidden).count() as f32,
                }
            })
            .collect();
        let cells =
            cell_spans.into_iter().map(|both| both.map(|(span, column)| (row(span), column))).collect();
        let inserted = inserted_spans.into_iter().map(row).collect();
        let part = parser.model.grammar.part(&parser.model.domain, lattice).map(Box::new);
        Self { part, prepared, spans, leaves, cells, inserted }
    }

    /// The grammar of its words: a part of the parser's, if that is large.
    pub(super) fn grammar<'a>(&'a self, parser: &'a ChartParser) -> &'a Grammar {
        self.part.as_deref().unwrap_or(&parser.model.grammar)
    }

    /// Scores of rules in the shape of that grammar.
    pub(super) fn rules<'a, S: Semiring + Clone>(&self, rules: &'a RuleValues<S>) -> Cow<'a, RuleValues<S>> {
        self.part.as_deref().map_or(Cow::Borrowed(rules), |part| Cow::Owned(rules.part(part)))
    }

    /// Each leaf with its label and whether the lexicon matches it exactly.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&Leaf, usize, bool)> {
        let leaves = self.prepared.lattice.leaves().iter().zip(&self.leaves);
        leaves.map(|(leaf, key)| (leaf, key.label as usize, key.found.is_exact()))
    }
}

/// What leaving out a word costs, where that is no matter of the lattice.
fn cost(omission: Omission) -> f32 {
    match omission {
        Omission::Cost(cost) => cost,
        Omission::Free | Omission::Forbidden => 0.0,
    }
}

/// For each word, whether a name or phrase matches it exactly.
fn matched_words(prepared: &Prepared) -> Vec<bool> {
    let mut matched = vec![false; prepared.utterance.len()];
    for (leaf, found) in prepared.lattice.leaves().iter().zip(&prepared.matches) {
        if found.is_exact() {
            matched[leaf.start as usize..leaf.end as usize].fill(true);
        }
    }
    matched
}

/// The rows and columns of the logits that score implicit constants, in the order of the chart's scores.
fn implicit_places(parser: &ChartParser, input: &ChartInput) -> impl Iterator<Item = (usize, usize)> {
    let columns = &parser.model.implicit;
    let place = |&row: &u32, columns: &[u32]| -> Vec<(usize, usize)> {
        columns.iter().map(|&column| (row as usize, column as usize)).collect()
    };
    let cells = input.inserted.iter().flat_map(move |row| place(row, &columns.inserted));
    let leaves = input.leaves.iter().filter(|_| !columns.unsaid.is_empty());
    cells.chain(leaves.flat_map(move |key| place(&key.row, &columns.unsaid)))
}

/// The typed chart of one utterance with the scores that the model gives it.
///
/// Made once per utterance, in one place; the Viterbi program, posteriors, losses and the spans on the page all read it.
#[derive(Debug)]
pub struct ScoredChart<'a> {
    pub(super) parser: &'a ChartParser,
    pub(super) input: &'a ChartInput,
    pub(in crate::families) leaves: Vec<f32>,
    pub(in crate::families) joins: Vec<f32>,
    pub(in crate::families) implicit: Vec<f32>,
    dropped: Dropped,
    /// The lattice without words that must be used, if they were too many.
    lenient: Option<Lattice>,
}

impl<'a> ScoredChart<'a> {
    /// Scores leaves, and cells where joins are scored by span. Cost: one pass over the leaves.
    #[must_use]
    pub(in crate::families) fn new(parser: &'a ChartParser, input: &'a ChartInput, logits: &[f32]) -> Self {
        Self::with_dropout(parser, input, logits, Dropped::default())
    }

    /// The same, where labels are dropped.
    #[must_use]
    pub(in crate::families) fn with_dropout(
        parser: &'a ChartParser,
        input: &'a ChartInput,
        logits: &[f32],
        dropped: Dropped,
    ) -> Self {
        let (labels, tables) = (&parser.model.labels, &parser.model.tables);
        let (n, width) = (labels.len(), parser.model.network.head().n_labels);
        let mut leaves = Vec::with_capacity(input.leaves.len() * N_USAGES);
        for key in &input.leaves {
            let (row, label) = (&logits[key.row as usize * width..][..width], key.label as usize);
            let phrase = key.phrase(tables);
            let usages = &tables.usages[label * N_USAGES..][..N_USAGES];
            let here = &row[n..n + N_USAGES];
            // The usage of words was learned with other constants on them, so it does not apply to a rare one.
            if dropped.contains(label) && key.found.weight <= 0.0 {
                leaves.extend([WITHOUT_PHRASE; N_USAGES]);
            } else if labels.is_rare(label) || dropped.contains(label) {
                leaves.extend(usages.iter().map(|table| tables.rare + phrase + table));
            } else {
                leaves
                    .extend(usages.iter().zip(here).map(|(table, here)| row[label] + phrase + table + here));
            }
        }
        let logit = |&(row, column): &(u32, u32)| match column {
            NO_COLUMN => 0.0,
            _ => logits[row as usize * width + column as usize],
        };
        let joins = input.cells.iter().map(|both| both.iter().map(logit).sum()).collect();
        let implicit = implicit_places(parser, input).map(|(row, column)| logits[row * width + column]);
        let implicit = implicit.collect();
        Self { parser, input, leaves, joins, implicit, dropped, lenient: None }
    }

    /// The leaves.
    fn lattice(&self) -> &Lattice {
        self.lenient.as_ref().unwrap_or(&self.input.prepared.lattice)
    }

    /// Allows that words which must be used are left out, each at this cost; false when there are none.
    pub(super) fn relax(&mut self, cost: f32) -> bool {
        if self.lenient.is_some() || !self.input.prepared.lattice.is_strict() {
            return false;
        }
        self.lenient = Some(self.input.prepared.lattice.lenient());
        for (key, usages) in self.input.leaves.iter().zip(self.leaves.chunks_exact_mut(N_USAGES)) {
            usages.iter_mut().for_each(|score| *score += cost * key.n_required);
        }
        true
    }

    /// The chart's input: grammar, lattice and scores.
    ///
    /// # Errors
    /// Scores that are not numbers.
    pub fn chart(&self) -> Result<Input<'_>, ChartError> {
        let model = &self.parser.model;
        Input::new(&model.domain, self.input.grammar(self.parser), self.lattice(), self.scores())
    }

    /// The gold chart: all derivations of one program. Where all of them leave out words that must be used, any words may be left
    /// out from now on, without a cost: the example is what counts.
    ///
    /// # Errors
    /// A program without a derivation.
    pub fn gold(&mut self, terms: &Terms, program: TermId) -> Result<GoldChart, Underivable> {
        let model = &self.parser.model;
        let own = self.own_scores();
        let gold = GoldChart::new(&model.domain, &model.grammar, self.lattice(), terms, program, own);
        if gold.is_ok() || !self.relax(0.0) {
            return gold;
        }
        GoldChart::new(&model.domain, &model.grammar, self.lattice(), terms, program, own)
    }

    fn scores(&self) -> Scores<'_> {
        let rules = &self.parser.model.tables.rules;
        Scores { leaves: &self.leaves, rules, joins: &self.joins, implicit: &self.implicit }
    }

    /// What has scores of its own.
    #[must_use]
    pub fn own_scores(&self) -> OwnScores {
        OwnScores::of(&self.scores())
    }

    /// All scores one after the other, as gold charts index them.
    #[must_use]
    pub fn flat(&self) -> Vec<f32> {
        [self.leaves.as_slice(), &self.parser.model.tables.rules, &self.joins, &self.implicit].concat()
    }

    /// The gradient of logits and tables from that of the chart's scores: the transpose of [`ScoredChart::new`].
    #[must_use]
    pub(in crate::families) fn backward(&self, gradient: &Gradient) -> SpanGradient {
        let model = &self.parser.model;
        let (n, width) = (model.labels.len(), model.network.head().n_labels);
        let mut logits = vec![0.0; self.input.spans.len() * width];
        let mut tables = model.tables.zeros();
        for (key, usages) in self.input.leaves.iter().zip(gradient.leaves.chunks_exact(N_USAGES)) {
            let (row, label) = (&mut logits[key.row as usize * width..][..width], key.label as usize);
            let is_dropped = self.dropped.contains(key.label as usize);
            if is_dropped && key.found.weight <= 0.0 {
                continue;
            }
            let total: f32 = usages.iter().sum();
            key.add_phrase(total, &mut tables);
            for (usage, &g) in usages.iter().enumerate() {
                tables.usages[label * N_USAGES + usage] += g;
            }
            if model.labels.is_rare(label) || is_dropped {
                tables.rare += total;
            } else {
                row[label] += total;
                row[n..n + N_USAGES].iter_mut().zip(usages).for_each(|(sum, g)| *sum += g);
            }
        }
        for (both, g) in self.input.cells.iter().zip(&gradient.joins) {
            for &(row, column) in both.iter().filter(|(_, column)| *column != NO_COLUMN) {
                logits[row as usize * width + column as usize] += g;
            }
        }
        for ((row, column), g) in implicit_places(self.parser, self.input).zip(&gradient.implicit) {
            logits[row * width + column] += g;
        }
        tables.rules.copy_from_slice(&gradient.rules);
        SpanGradient { logits, tables }
    }
}
