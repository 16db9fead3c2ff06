//! From logits of spans to scores of charts, and back: gradients of chart scores to gradients of logits and tables.

use crate::model::{Model, Tables};
use crate::settings::{JoinScores, LexiconUse};
use spanwise_chart::grammar::N_USAGES;
use spanwise_chart::lattice::{ChartError, Gradient, Lattice, Leaf};
use spanwise_chart::paper::{PaperError, PaperScores, n_spans, span_index};
use spanwise_core::{Idx, Span, Utterance};
use spanwise_lang::ConstantId;
use spanwise_lang::lexicon::Source;
use spanwise_nn::Pieces;

/// How much a lexicon match counts by its number of words, times the learned weight.
pub const PHRASE_WEIGHTS: [f32; 4] = [1.0, 1.6, 2.0, 2.2];

/// No column at all.
const NOWHERE: u32 = u32::MAX;

fn phrase_weight(span: Span) -> f32 {
    PHRASE_WEIGHTS[span.len().clamp(1, PHRASE_WEIGHTS.len()) - 1]
}

/// An utterance made ready for the network and the typed chart.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The utterance.
    pub utterance: Utterance,
    /// Its pieces.
    pub pieces: Pieces,
    /// What may stand where.
    pub lattice: Lattice,
    /// The spans that the network scores.
    pub spans: Vec<(u32, u32)>,
    leaves: Vec<LeafKey>,
    /// For each cell, the rows and columns of the logits that score its joins; empty without such scores.
    cells: Vec<[(u32, u32); 2]>,
}

/// Where the scores of a leaf come from.
#[derive(Clone, Copy, Debug)]
struct LeafKey {
    row: u32,
    label: u32,
    /// How much the lexicon speaks for it.
    phrase: f32,
}

/// Gradient of a loss with respect to what chart scores are made of.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TypedGradient {
    /// For the logits, row by row.
    pub logits: Vec<f32>,
    /// For the tables.
    pub tables: Tables,
}

impl TypedGradient {
    /// Multiplies everything.
    pub fn scale(&mut self, factor: f32) {
        self.logits.iter_mut().for_each(|g| *g *= factor);
        self.tables.scale(factor);
    }
}

impl Model {
    /// Makes an utterance ready for the typed chart.
    ///
    /// # Errors
    /// An utterance that is too long for a chart.
    pub fn prepare(&self, utterance: Utterance) -> Result<Prepared, ChartError> {
        let lattice = self.settings.candidates().lattice(&self.domain, &utterance)?;
        let matches = self.domain.lexicon().matches(&utterance);
        let counts = |source| match self.settings.lexicon {
            LexiconUse::Full => true,
            LexiconUse::Names => source == Source::Name,
            LexiconUse::None => false,
        };
        let mut found: Vec<(u32, u32, ConstantId)> = matches
            .iter()
            .filter(|found| counts(found.source))
            .map(|found| (found.span.start, found.span.end, found.constant))
            .collect();
        found.sort_unstable();
        let phrase = |leaf: &Leaf| {
            let is_found = found.binary_search(&(leaf.start, leaf.end, leaf.constant)).is_ok();
            if is_found { phrase_weight(Span::new(leaf.start, leaf.end)) } else { 0.0 }
        };
        // Without a phrase, a rare predicate would become a wildcard for words never seen.
        let may_stand =
            |leaf: &Leaf| !self.labels.is_rare(self.labels.of(leaf.constant)) || phrase(leaf) > 0.0;
        let kept: Vec<Leaf> = lattice.leaves().iter().copied().filter(may_stand).collect();
        let lattice =
            if kept.len() == lattice.leaves().len() { lattice } else { Lattice::new(utterance.len(), kept)? };

        let mut spans: Vec<(u32, u32)> = lattice.leaves().iter().map(|leaf| (leaf.start, leaf.end)).collect();
        let first = (self.labels.len() + N_USAGES) as u32;
        let cell_spans: Vec<[((u32, u32), u32); 2]> = (0..lattice.n_cells())
            .filter_map(|cell| {
                let (p, q) = lattice.ends(cell);
                let Span { start, end } = lattice.span(p, q);
                match self.settings.joins {
                    JoinScores::None => None,
                    JoinScores::Span => Some([((start, end), first), ((start, end), NOWHERE)]),
                    JoinScores::Ends => Some([((start, start + 1), first), ((end - 1, end), first + 1)]),
                }
            })
            .collect();
        spans.extend(cell_spans.iter().flatten().map(|(span, _)| *span));
        spans.sort_unstable();
        spans.dedup();
        let row = |span: (u32, u32)| spans.partition_point(|other| *other < span) as u32;
        let leaves = lattice
            .leaves()
            .iter()
            .map(|leaf| LeafKey {
                row: row((leaf.start, leaf.end)),
                label: self.labels.of(leaf.constant) as u32,
                phrase: phrase(leaf),
            })
            .collect();
        let cells =
            cell_spans.into_iter().map(|both| both.map(|(span, column)| (row(span), column))).collect();
        let pieces = self.tokenizer.encode(&utterance);
        Ok(Prepared { utterance, pieces, lattice, spans, leaves, cells })
    }

    /// Scores of leaves, and of cells where joins are scored by span. Cost: one pass over the leaves.
    #[must_use]
    pub fn typed_scores(&self, prepared: &Prepared, logits: &[f32], tables: &Tables) -> (Vec<f32>, Vec<f32>) {
        let (n, width) = (self.labels.len(), self.network.head().n_labels);
        let mut scores = Vec::with_capacity(prepared.leaves.len() * N_USAGES);
        for key in &prepared.leaves {
            let (row, label) = (&logits[key.row as usize * width..][..width], key.label as usize);
            let (is_rare, phrase) = (self.labels.is_rare(label), key.phrase * tables.lexicon);
            let usages = &tables.usages[label * N_USAGES..][..N_USAGES];
            let here = &row[n..n + N_USAGES];
            // How words are used was learned with other constants on them: it says nothing about a rare one.
            if is_rare {
                scores.extend(usages.iter().map(|table| tables.rare + phrase + table));
            } else {
                scores
                    .extend(usages.iter().zip(here).map(|(table, here)| row[label] + phrase + table + here));
            }
        }
        let logit = |&(row, column): &(u32, u32)| match column {
            NOWHERE => 0.0,
            _ => logits[row as usize * width + column as usize],
        };
        let joins = prepared.cells.iter().map(|both| both.iter().map(logit).sum()).collect();
        (scores, joins)
    }

    /// What a gradient of chart scores means for the logits and the tables.
    #[must_use]
    pub fn typed_gradient(&self, prepared: &Prepared, gradient: &Gradient) -> TypedGradient {
        let (n, width) = (self.labels.len(), self.network.head().n_labels);
        let mut logits = vec![0.0; prepared.spans.len() * width];
        let mut tables = self.tables.zeros();
        for (key, usages) in prepared.leaves.iter().zip(gradient.leaves.chunks_exact(N_USAGES)) {
            let (row, label) = (&mut logits[key.row as usize * width..][..width], key.label as usize);
            let total: f32 = usages.iter().sum();
            tables.lexicon += key.phrase * total;
            for (usage, &g) in usages.iter().enumerate() {
                tables.usages[label * N_USAGES + usage] += g;
            }
            if self.labels.is_rare(label) {
                tables.rare += total;
            } else {
                row[label] += total;
                row[n..n + N_USAGES].iter_mut().zip(usages).for_each(|(sum, g)| *sum += g);
            }
        }
        for (both, g) in prepared.cells.iter().zip(&gradient.joins) {
            for &(row, column) in both.iter().filter(|(_, column)| *column != NOWHERE) {
                logits[row as usize * width + column as usize] += g;
            }
        }
        tables.rules.copy_from_slice(&gradient.rules);
        TypedGradient { logits, tables }
    }
}

/// An utterance made ready for the network and the paper's search: every span is scored.
#[derive(Clone, Debug)]
pub struct PaperPrepared {
    /// The utterance.
    pub utterance: Utterance,
    /// Its pieces.
    pub pieces: Pieces,
    /// All spans, in the order of the paper's scores.
    pub spans: Vec<(u32, u32)>,
    /// For each span, the constants that may stand on it, with what the lexicon says.
    candidates: Vec<Vec<(ConstantId, f32)>>,
}

impl Model {
    /// Makes an utterance ready for the paper's search.
    ///
    /// # Errors
    /// An utterance that is too long for a chart.
    pub fn prepare_paper(&self, utterance: Utterance) -> Result<PaperPrepared, ChartError> {
        let prepared = self.prepare(utterance)?;
        let n = prepared.utterance.len();
        let mut candidates = vec![Vec::new(); n_spans(n)];
        for (leaf, key) in prepared.lattice.leaves().iter().zip(&prepared.leaves) {
            let span = Span::new(leaf.start, leaf.end);
            candidates[span_index(n, span)].push((leaf.constant, key.phrase.min(1.0)));
        }
        let words = n as u32;
        let spans = (0..words).flat_map(|start| (start + 1..=words).map(move |end| (start, end))).collect();
        Ok(PaperPrepared { utterance: prepared.utterance, pieces: prepared.pieces, spans, candidates })
    }

    /// The paper's scores: a logit for every span and category, the lexicon feature added, and minus infinity for
    /// what may not stand there.
    ///
    /// # Errors
    /// Logits that are not numbers.
    pub fn paper_scores(
        &self,
        prepared: &PaperPrepared,
        logits: &[f32],
        tables: &Tables,
    ) -> Result<PaperScores, PaperError> {
        let (n, width) = (self.labels.len(), self.network.head().n_labels);
        let n_constants = self.domain.constants().len();
        let mut values = vec![f32::NEG_INFINITY; prepared.spans.len() * (n_constants + 2)];
        for ((row, out), candidates) in
            logits.chunks_exact(width).zip(values.chunks_exact_mut(n_constants + 2)).zip(&prepared.candidates)
        {
            for &(constant, phrase) in candidates {
                let label = self.labels.of(constant);
                let own = if self.labels.is_rare(label) { tables.rare } else { row[label] };
                out[constant.index()] = own + phrase * tables.lexicon;
            }
            out[n_constants] = row[n];
            out[n_constants + 1] = row[n + 1];
        }
        PaperScores::new(prepared.utterance.len(), n_constants, values)
    }

    /// What a gradient of the paper's scores means for the logits and the tables.
    #[must_use]
    pub fn paper_gradient(&self, prepared: &PaperPrepared, gradient: &[f32]) -> TypedGradient {
        let (n, width) = (self.labels.len(), self.network.head().n_labels);
        let n_constants = self.domain.constants().len();
        let mut logits = vec![0.0; prepared.spans.len() * width];
        let mut tables = self.tables.zeros();
        for ((row, g), candidates) in logits
            .chunks_exact_mut(width)
            .zip(gradient.chunks_exact(n_constants + 2))
            .zip(&prepared.candidates)
        {
            for &(constant, phrase) in candidates {
                let (label, g) = (self.labels.of(constant), g[constant.index()]);
                tables.lexicon += phrase * g;
                if self.labels.is_rare(label) {
                    tables.rare += g;
                } else {
                    row[label] += g;
                }
            }
            row[n] = g[n_constants];
            row[n + 1] = g[n_constants + 1];
        }
        TypedGradient { logits, tables }
    }
}

#[cfg(all(test, feature = "geo"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::labels::Labels;
    use crate::settings::{Search, Settings};
    use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig};
    use spanwise_nn::tokenizer::WordTable;
    use spanwise_nn::{Network, Random, Tokenizer};

    fn model(settings: Settings, rare: &[&str]) -> Model {
        let domain = spanwise_domains::load::load("geo").unwrap();
        let mut labels = Labels::new(&domain);
        labels.set_rare(&rare.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let words = WordTable::from_utterances([Utterance::new("what states border texas")].iter(), 1);
        let tokenizer = Tokenizer::Words(words);
        let config = EncoderConfig {
            architecture: Architecture::Compact,
            vocab_size: tokenizer.vocab_size(),
            hidden: 8,
            layers: 1,
            heads: 2,
            intermediate: 8,
            max_positions: 64,
            type_vocab: 0,
            layer_norm_eps: 1e-5,
            dropout: 0.0,
            position_offset: 0,
            relative_buckets: 32,
            activation: Activation::Gelu,
        };
        let head = Model::head(&labels, &settings);
        let network = Network::from_scratch(config, tokenizer.n_buckets(), head, 1).unwrap();
        Model::new(domain, settings, labels, tokenizer, network)
    }

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    fn random(n: usize, random: &mut Random) -> Vec<f32> {
        (0..n).map(|_| random.normal()).collect()
    }

    fn random_tables(model: &Model, from: &mut Random) -> Tables {
        Tables {
            usages: random(model.tables.usages.len(), from),
            rules: random(model.tables.rules.len(), from),
            lexicon: from.normal(),
            rare: from.normal(),
        }
    }

    fn table_dot(a: &Tables, b: &Tables) -> f64 {
        dot(&a.usages, &b.usages)
            + dot(&a.rules, &b.rules)
            + f64::from(a.lexicon * b.lexicon)
            + f64::from(a.rare * b.rare)
    }

    /// Scores are linear in logits and tables, so the gradient must be the transposed map: `<g, A x> = <A' g, x>`.
    #[test]
    fn typed_gradients_are_the_transpose_of_typed_scores() {
        for joins in [JoinScores::None, JoinScores::Span, JoinScores::Ends] {
            let model = model(Settings { joins, ..Settings::default() }, &["largest", "longest"]);
            let prepared =
                model.prepare(Utterance::new("what is the largest state next to new york ?")).unwrap();
            let mut from = Random::new(1, &[]);
            let logits = random(prepared.spans.len() * model.network.head().n_labels, &mut from);
            let tables = random_tables(&model, &mut from);
            let (leaves, cells) = model.typed_scores(&prepared, &logits, &tables);
            let gradient = Gradient {
                leaves: random(leaves.len(), &mut from),
                rules: random(tables.rules.len(), &mut from),
                joins: random(cells.len(), &mut from),
            };
            let back = model.typed_gradient(&prepared, &gradient);
            let forward = dot(&gradient.leaves, &leaves)
                + dot(&gradient.joins, &cells)
                + dot(&gradient.rules, &tables.rules);
            let backward = dot(&back.logits, &logits) + table_dot(&back.tables, &tables);
            assert!((forward - backward).abs() < 1e-2, "{joins:?}: {forward} {backward}");
            assert_eq!(cells.is_empty(), joins == JoinScores::None);
        }
    }

    #[test]
    fn paper_gradients_are_the_transpose_of_paper_scores() {
        let settings = Settings { search: Search::Paper, ..Settings::default() };
        let model = model(settings, &[]);
        let prepared = model.prepare_paper(Utterance::new("which states border texas ?")).unwrap();
        let mut from = Random::new(2, &[]);
        let logits = random(prepared.spans.len() * model.network.head().n_labels, &mut from);
        let tables = random_tables(&model, &mut from);
        let scores = model.paper_scores(&prepared, &logits, &tables).unwrap();
        let n_categories = model.domain.constants().len() + 2;
        let mut gradient = random(prepared.spans.len() * n_categories, &mut from);
        let mut forward = 0.0;
        for (row, &(start, end)) in prepared.spans.iter().enumerate() {
            for (column, &score) in scores.row(Span::new(start, end)).iter().enumerate() {
                let g = &mut gradient[row * n_categories + column];
                // What may not stand there has no gradient.
                if score == f32::NEG_INFINITY {
                    *g = 0.0;
                } else {
                    forward += f64::from(*g) * f64::from(score);
                }
            }
        }
        let back = model.paper_gradient(&prepared, &gradient);
        let backward = dot(&back.logits, &logits) + table_dot(&back.tables, &tables);
        assert!((forward - backward).abs() < 1e-2, "{forward} {backward}");
    }

    #[test]
    fn rare_predicates_stand_only_on_their_phrases_and_entities_share_a_label() {
        let model = model(Settings::default(), &["longest"]);
        let longest = model.domain.predicate("longest").unwrap();
        let on = |text: &str| {
            let prepared = model.prepare(Utterance::new(text)).unwrap();
            let stands = |leaf: &&Leaf| leaf.constant == longest;
            prepared
                .lattice
                .leaves()
                .iter()
                .filter(stands)
                .map(|leaf| (leaf.start, leaf.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(on("rivers of great extent"), []);
        assert_eq!(on("longest river"), [(0, 1)]);
        let is_entity = |id| matches!(model.domain.constants()[id].kind, spanwise_lang::Kind::Entity(_));
        let entity = |text: &str| {
            let prepared = model.prepare(Utterance::new(text)).unwrap();
            let leaf = prepared.lattice.leaves().iter().find(|leaf| is_entity(leaf.constant)).copied();
            model.labels.of(leaf.unwrap().constant)
        };
        assert_eq!(entity("texas"), entity("ohio"));
        assert_ne!(entity("texas"), entity("chicago"));
    }
}
