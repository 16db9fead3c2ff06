//! Gradients against the scores they belong to, and what lattices allow.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::chart::{ChartParser, ChartSettings, Dropped, JoinScores, ScoredChart, WITHOUT_PHRASE};
use super::paper::{PaperParser, PaperSettings};
use crate::family::{Blueprint, Compact, EncoderSource, Objective, Pair, Stored};
use crate::span_model::{LossTarget, SpanFamily, SpanModel, Spec, Tables};
use spanwise_chart::grammar::N_USAGES;
use spanwise_chart::lattice::{Gradient, Leaf};
use spanwise_core::{Span, Utterance};
use spanwise_lang::{TermId, Terms};
use spanwise_nn::Random;
use spanwise_nn::pretrained::{Weights, write_safetensors};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

const QUESTION: &str = "what is the largest state next to new york ?";

/// Builds a model of `geo` with random weights; `rare` predicates are marked.
fn built(build: impl FnOnce(Blueprint<'_>) -> SpanModel, rare: &[&str]) -> SpanModel {
    let domain = Arc::new(spanwise_domains::load::load("geo").unwrap());
    let mut terms = domain.new_terms();
    let program = terms.parse("answer(state(all))").unwrap();
    let pairs = [Pair::new(Utterance::new("what states border texas"), program)];
    let shape = Compact { hidden: 8, layers: 1, heads: 2, intermediate: 8, ..Compact::default() };
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.0 };
    let mut model = build(Blueprint { domain, terms: &terms, pairs: &pairs, encoder, seed: 1 });
    model.labels.set_rare(&rare.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    model
}

fn chart_parser(settings: ChartSettings, rare: &[&str]) -> ChartParser {
    let model = built(|blueprint| SpanModel::build(settings.spec(), blueprint, 0).unwrap(), rare);
    ChartParser::new(model, settings)
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn table_dot(a: &Tables, b: &Tables) -> f64 {
    dot(&a.usages, &b.usages)
        + dot(&a.rules, &b.rules)
        + f64::from(a.lexicon * b.lexicon)
        + f64::from(a.rare * b.rare)
        + f64::from(a.matched * b.matched)
        + dot(&a.matches, &b.matches)
}

fn normals(n: usize, random: &mut Random) -> Vec<f32> {
    (0..n).map(|_| random.normal()).collect()
}

fn random_tables(model: &SpanModel, random: &mut Random) -> Tables {
    Tables {
        usages: normals(model.tables.usages.len(), random),
        rules: normals(model.tables.rules.len(), random),
        lexicon: random.normal(),
        rare: random.normal(),
        matches: std::array::from_fn(|_| random.normal()),
        matched: random.normal(),
    }
}

fn drawn(parser: &ChartParser, text: &str, terms: &Terms, program: TermId, seed: u64) -> Dropped {
    let pair = Pair::new(Utterance::new(text), program);
    let input = parser.prepare(pair.utterance.clone()).unwrap();
    Dropped::draw(parser, &input, &LossTarget { objective: Objective::Crf, pair: &pair, seed, terms })
}

/// Scores are linear in logits and tables, so the gradient must be the transposed map: `<g, A x> = <A' g, x>`.
#[test]
fn gradients_of_the_chart_parser_are_the_transpose_of_its_scores() {
    let settings = |joins| ChartSettings { joins, ..ChartSettings::default() };
    for (joins, label_dropout, implicit) in [
        (JoinScores::None, 0.0, true),
        (JoinScores::Span, 0.0, false),
        (JoinScores::Ends, 0.0, true),
        (JoinScores::Ends, 1.0, false),
    ] {
        let settings = ChartSettings { label_dropout, implicit, ..settings(joins) };
        let mut parser = chart_parser(settings, &["largest"]);
        let mut random = Random::new(1, &[]);
        parser.model.tables = random_tables(&parser.model, &mut random);
        let input = parser.prepare(Utterance::new(QUESTION)).unwrap();
        let logits = normals(input.spans.len() * parser.model.network.head().n_labels, &mut random);
        let mut terms = parser.model.domain.new_terms();
        let program = terms.parse("answer(largest(state(next_to_2(stateid('new york')))))").unwrap();
        let dropped = drawn(&parser, QUESTION, &terms, program, 1);
        let is_dropped = |name: &str| {
            let labels = &parser.model.labels;
            dropped.contains(labels.names().iter().position(|other| other == name).unwrap())
        };
        assert_eq!(
            ["state", "class:stateid", "river"].map(is_dropped),
            [label_dropout > 0.0, label_dropout > 0.0, false]
        );
        let chart = ScoredChart::with_dropout(&parser, &input, &logits, dropped);
        let tables = &parser.model.tables;
        let mut gradient = Gradient {
            leaves: normals(chart.leaves.len(), &mut random),
            rules: normals(tables.rules.len(), &mut random),
            joins: normals(chart.joins.len(), &mut random),
            implicit: normals(chart.implicit.len(), &mut random),
        };
        // A dropped label on words without a phrase has a constant score.
        for (g, score) in gradient.leaves.iter_mut().zip(&chart.leaves) {
            if label_dropout > 0.0 && *score == WITHOUT_PHRASE {
                *g = 0.0;
            }
        }
        let back = chart.backward(&gradient);
        let forward = dot(&gradient.leaves, &chart.leaves)
            + dot(&gradient.joins, &chart.joins)
            + dot(&gradient.implicit, &chart.implicit)
            + dot(&gradient.rules, &tables.rules);
        let backward = dot(&back.logits, &logits) + table_dot(&back.tables, tables);
        assert!((forward - backward).abs() < 1e-2, "{joins:?}: {forward} {backward}");
        assert_eq!(chart.joins.is_empty(), joins == JoinScores::None);
        assert_eq!(chart.implicit.is_empty(), !implicit);
        assert_eq!(chart.leaves.len() % N_USAGES, 0);
    }
}

/// The same settings load both kinds of models.
#[test]
fn models_of_earlier_versions_have_no_scores_of_implicit_constants_on_words() {
    let settings = ChartSettings { implicit: true, ..ChartSettings::default() };
    for scores_implicit in [false, true] {
        let spec = Spec { scores_implicit, ..settings.spec() };
        let model = built(|blueprint| SpanModel::build(spec, blueprint, 0).unwrap(), &[]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.safetensors");
        let named: Vec<_> = model.network.params.named().collect();
        let tensors: Vec<_> =
            named.iter().map(|(name, shape, values)| (*name, *shape, &values[..])).collect();
        write_safetensors(&mut File::create(&path).unwrap(), &tensors, &BTreeMap::new()).unwrap();
        let mut weights = Weights::open(&path).unwrap();
        let (domain, tokenizer) = (Arc::clone(&model.domain), model.tokenizer.clone());
        let stored =
            Stored { path: "model.json", domain, state: model.state(), tokenizer, weights: &mut weights };
        let loaded = SpanModel::load(settings.spec(), stored).unwrap();
        let parser = ChartParser::new(loaded, settings.clone());
        let input = parser.prepare(Utterance::new(QUESTION)).unwrap();
        let logits = vec![0.0; input.spans.len() * parser.model.network.head().n_labels];
        let chart = ScoredChart::new(&parser, &input, &logits);
        assert_eq!(chart.implicit.is_empty(), !scores_implicit);
        assert!(chart.chart().is_ok());
    }
}

#[test]
fn gradients_of_the_paper_s_parser_are_the_transpose_of_its_scores() {
    let settings = PaperSettings::default();
    let model = built(|blueprint| SpanModel::build(settings.spec(), blueprint, 0).unwrap(), &[]);
    let mut parser = PaperParser { model, settings };
    let mut random = Random::new(2, &[]);
    parser.model.tables = random_tables(&parser.model, &mut random);
    let input = parser.prepare(Utterance::new("which states border texas ?")).unwrap();
    let logits = normals(input.spans.len() * parser.model.network.head().n_labels, &mut random);
    let scores = parser.scores(&input, &logits).unwrap();
    let n_categories = parser.model.domain.constants().len() + 2;
    let mut gradient = normals(input.spans.len() * n_categories, &mut random);
    let mut forward = 0.0;
    for (row, &(start, end)) in input.spans.iter().enumerate() {
        for (column, &score) in scores.row(Span::new(start, end)).iter().enumerate() {
            let g = &mut gradient[row * n_categories + column];
            // A constant that is not allowed there has no gradient.
            if score == f32::NEG_INFINITY {
                *g = 0.0;
            } else {
                forward += f64::from(*g) * f64::from(score);
            }
        }
    }
    let back = parser.backward(&input, &gradient);
    let backward = dot(&back.logits, &logits) + table_dot(&back.tables, &parser.model.tables);
    assert!((forward - backward).abs() < 1e-2, "{forward} {backward}");
}

#[test]
fn rare_predicates_are_allowed_only_on_their_phrases_and_entities_share_a_label() {
    let model = chart_parser(ChartSettings::default(), &["longest"]).model;
    let longest = model.domain.predicate("longest").unwrap();
    let on = |text: &str| {
        let prepared = model.prepare(Utterance::new(text)).unwrap();
        let is_longest = |leaf: &&Leaf| leaf.constant == longest;
        let leaves = prepared.lattice.leaves().iter().filter(is_longest);
        leaves.map(|leaf| (leaf.start, leaf.end)).collect::<Vec<_>>()
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

#[test]
fn labels_are_dropped_by_chance_and_never_where_the_program_needs_them_on_other_words() {
    let settings = ChartSettings { label_dropout: 0.5, ..ChartSettings::default() };
    let parser = chart_parser(settings, &[]);
    let mut terms = parser.model.domain.new_terms();
    let mut share = |text: &str, program: &str, name: &str| {
        let program = terms.parse(program).unwrap();
        let label = parser.model.labels.names().iter().position(|other| other == name).unwrap();
        let dropped = (0..200).filter(|&seed| drawn(&parser, text, &terms, program, seed).contains(label));
        dropped.count()
    };
    let program = "answer(river(traverse_2(state(traverse_1(river(all))))))";
    assert!((70..130).contains(&share("rivers through states that rivers traverse", program, "river")));
    let once = "rivers that traverse states";
    assert_eq!(share(once, program, "river"), 0, "it is there once, and needed twice");
    assert!((70..130).contains(&share(once, program, "state")));
    assert_eq!(share("rivers that water states", program, "traverse_2"), 0, "no phrase of it is there");
    assert!((70..130).contains(&share("cities in states", program, "city")), "the program does not need it");
}

#[test]
fn a_word_that_the_lexicon_matches_counts_for_every_leaf_over_it() {
    let mut parser = chart_parser(ChartSettings::default(), &[]);
    let text = "states with towers";
    let scores = |parser: &ChartParser| {
        let input = parser.prepare(Utterance::new(text)).unwrap();
        let logits = vec![0.0; input.spans.len() * parser.model.network.head().n_labels];
        ScoredChart::new(parser, &input, &logits).leaves
    };
    parser.model.tables.matched = 0.0;
    let without = scores(&parser);
    parser.model.tables.matched = 2.0;
    let with = scores(&parser);
    let input = parser.prepare(Utterance::new(text)).unwrap();
    for (at, leaf) in input.prepared.lattice.leaves().iter().enumerate() {
        let expected = if leaf.start == 0 { 2.0 } else { 0.0 };
        let gained = with[at * N_USAGES] - without[at * N_USAGES];
        assert_eq!(gained, expected, "{leaf:?}");
    }
}
