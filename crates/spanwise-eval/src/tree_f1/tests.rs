#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]
use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use spanwise_chart::candidates::{Candidates, PredicatePlacement};
use spanwise_chart::derivation::BestChart;
use spanwise_chart::lattice::Scores;
use spanwise_chart::semiring::Max;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_domains::load::load;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn example(question: &str, program: &str, spans: &[(usize, usize, &str)]) -> Example {
    let spans = spans.iter().map(|(start, end, name)| json!({ "span": [start, end], "type": name }));
    Example {
        program: Some(program.to_owned()),
        gold_spans: Some(Value::Array(spans.collect())),
        ..Example::new(question)
    }
}

/// A tree as text, one span after the other.
fn shown(spans: &LabelledSpans) -> String {
    let label = |label: &Label| match label {
        Label::Join => "+".to_owned(),
        Label::Constant(name) => name.clone(),
    };
    spans.iter().map(|(span, name)| format!("{span} {}", label(name))).collect::<Vec<_>>().join("; ")
}

/// Trees over a lattice that yield the program, in the conventions of gold trees.
fn trees(
    domain: &Domain,
    grammar: &Grammar,
    lattice: &Lattice,
    program: &str,
    joins: &[f32],
) -> Vec<LabelledSpans> {
    let mut terms = domain.new_terms();
    let program = terms.parse(program).unwrap();
    let leaves = vec![0.0; lattice.leaves().len() * N_USAGES];
    let rules = vec![0.0; grammar.n_rules()];
    let scores = Scores { leaves: &leaves, rules: &rules, joins, implicit: &[] };
    let input = Input::new(domain, grammar, lattice, scores).unwrap();
    let chart = BestChart::new(input, &RuleValues::<Max>::new(grammar, &rules));
    let found = chart.derivations().take(500).filter_map(|derivation| chart.tree(&mut terms, &derivation));
    found.filter(|(found, _)| *found == program).map(|(_, tree)| predicted_tree(domain, &tree)).collect()
}

/// The trees of a program over words with the phrases of the lexicon.
fn lexicon_trees(name: &str, question: &str, program: &str) -> Vec<String> {
    let domain = load(name).unwrap();
    let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
    let lattice = candidates.lattice(&domain, &Utterance::new(question)).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let mut found: Vec<String> = trees(&domain, &grammar, &lattice, program, &[]).iter().map(shown).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(feature = "geo")]
#[test]
fn null_words_are_joined_to_the_left_and_under_the_root() {
    let found = lexicon_trees("geo", "what is the longest river ?", "answer(longest(river(all)))");
    assert_eq!(found, ["0..6 +; 3..4 longest; 3..6 +; 4..5 river; 4..6 +"]);
}

#[cfg(feature = "geo")]
#[test]
fn parts_of_a_composition_are_joined_at_once() {
    let program = "answer(largest_one(population_1(state(all))))";
    let found = lexicon_trees("geo", "what state is the largest in population ?", program);
    let as_in_the_data =
        "0..8 +; 1..2 state; 1..4 +; 1..8 +; 4..5 largest_one; 4..6 +; 6..7 population_1; 6..8 +";
    assert_eq!(found, [as_in_the_data]);
}

#[cfg(feature = "geo")]
#[test]
fn arguments_on_both_sides_are_joined_in_the_order_of_slots() {
    let program = "answer(exclude(river(all), traverse_2(stateid('texas'))))";
    let found = lexicon_trees("geo", "which rivers not through texas", program);
    let as_in_the_data =
        "0..5 +; 1..2 river; 1..3 +; 1..5 +; 2..3 exclude; 3..4 traverse_2; 3..5 +; 4..5 stateid#'texas'";
    assert_eq!(found, [as_in_the_data]);
}

#[test]
fn names_of_entities_omit_unspecified_arguments() {
    let names = [
        ("state", "state"),
        ("stateid('new york')", "stateid#'new york'"),
        ("cityid ( 'austin', _ )", "cityid#'austin'"),
        ("cityid('austin', 'tx')", "cityid#'austin', 'tx'"),
        ("cityid#'austin'", "cityid#'austin'"),
        ("0", "0"),
    ];
    for (name, expected) in names {
        assert_eq!(gold_name(name), expected);
    }
}

#[test]
fn spans_of_pieces_become_spans_of_words() {
    let spans =
        [(0, 3, "span"), (0, 0, "i_jump"), (1, 2, "i_thrice"), (3, 3, "span"), (3, 3, "x"), (1, 1, "part")];
    let example = example("jump thrice now", "i_thrice(i_jump())", &spans);
    let tree = gold_tree(&example, Some(&[1, 2, 1]), 3).unwrap();
    assert_eq!(shown(&tree), "0..1 i_jump; 0..3 +; 1..2 part; 2..3 x");
}

#[test]
fn a_piece_with_a_label_wins_over_the_join_of_its_word() {
    let spans = [(0, 3, "span"), (0, 0, "metal"), (1, 2, "span"), (1, 1, "cube")];
    for spans in [spans, [spans[3], spans[2], spans[1], spans[0]]] {
        let tree = gold_tree(&example("shiny cubes ?", "x", &spans), Some(&[1, 2, 1]), 3).unwrap();
        assert_eq!(shown(&tree), "0..1 metal; 0..3 +; 1..2 cube");
    }
}

#[test]
fn without_a_tokenizer_only_trees_that_end_with_the_words_are_read() {
    let whole = example("a b c", "x", &[(0, 2, "span"), (1, 1, "x")]);
    assert_eq!(shown(&gold_tree(&whole, None, 3).unwrap()), "0..3 +; 1..2 x");
    assert_eq!(gold_tree(&whole, None, 4), None);
    assert_eq!(gold_tree(&whole, None, 2), None);
}

#[test]
fn trees_that_do_not_fit_the_words_are_not_read() {
    let check = |spans: Value, pieces: &[usize]| {
        let example = Example { gold_spans: Some(spans), ..Example::new("a b") };
        assert_eq!(gold_tree(&example, Some(pieces), 2), None);
    };
    check(json!([{ "span": [0, 2], "type": "span" }]), &[1, 1]);
    check(json!([{ "span": [0, 1], "type": "span" }]), &[1, 1, 1]);
    check(json!([{ "span": [1, 0], "type": "span" }]), &[1, 1]);
    check(json!([{ "span": [0, -1], "type": "span" }]), &[1, 1]);
    check(json!([{ "span": [0], "type": "span" }]), &[1, 1]);
    check(json!([{ "span": [0, 1] }]), &[1, 1]);
    check(json!([]), &[1, 1]);
    check(json!("span"), &[1, 1]);
    assert_eq!(gold_tree(&Example::new("a b"), Some(&[1, 1]), 2), None);
}

fn leaves_of(example: &Example) -> Option<String> {
    let domain = load("geo").unwrap();
    let leaves = gold_leaves(&domain, example, None, &Utterance::new(example.utterance.clone()))?;
    let leaf = |(span, id): &(Span, ConstantId)| format!("{span} {}", domain.constants()[*id].name);
    Some(leaves.iter().map(leaf).collect::<Vec<_>>().join("; "))
}

#[cfg(feature = "geo")]
#[test]
fn leaves_name_the_constants_of_the_domain() {
    let spans =
        [(0, 3, "span"), (0, 0, "loc_1"), (2, 2, "cityid#'indianapolis'"), (0, 1, "span"), (2, 3, "span")];
    let program = "answer ( loc_1 ( cityid ( 'indianapolis', _ ) ) )";
    let found = leaves_of(&example("where is indianapolis ?", program, &spans));
    assert_eq!(found.as_deref(), Some("0..1 loc_1; 2..3 cityid('indianapolis', _)"));
}

#[cfg(feature = "geo")]
#[test]
fn leaves_do_not_end_in_punctuation() {
    let spans = [(0, 3, "span"), (2, 3, "state"), (2, 3, "span")];
    let found = leaves_of(&example("list the states .", "answer ( state ( all ) )", &spans));
    assert_eq!(found.as_deref(), Some("2..3 state"));
}

#[cfg(feature = "geo")]
#[test]
fn trees_that_lack_a_constant_are_not_used_for_training() {
    let spans = [(0, 4, "span"), (3, 3, "longest"), (4, 4, "river")];
    let check = |program: &str, expected: Option<&str>| {
        assert_eq!(leaves_of(&example("what is the longest river", program, &spans)).as_deref(), expected);
    };
    check("answer(longest(river(all)))", Some("3..4 longest; 4..5 river"));
    check("answer(longest(river(loc_2(countryid('usa')))))", None);
    check("answer(river(all))", None);
    check("answer(longest(", None);
    let unknown = example("a b", "answer(river(all))", &[(0, 1, "span"), (0, 0, "creek")]);
    assert_eq!(leaves_of(&unknown), None);
}

#[test]
fn equal_parts_on_both_sides_make_more_than_one_tree() {
    let domain = load("scan").unwrap();
    let one_tree = OneTree::new(&domain);
    let check = |program: &str, leaves: &[&str], expected: bool| {
        let mut terms = domain.new_terms();
        let program = terms.parse(program).unwrap();
        let leaf = |(at, name): (u32, &&str)| (Span::new(at, at + 1), domain.predicate(name).unwrap());
        let leaves: Vec<_> = (0u32..).zip(leaves).map(leaf).collect();
        assert_eq!(one_tree.check(leaves.len(), &leaves, &terms, program), expected);
    };
    check("i_and(i_walk(), i_jump())", &["i_walk", "i_and", "i_jump"], true);
    check("i_and(i_walk(), i_walk())", &["i_walk", "i_and", "i_walk"], false);
    check("i_and(i_walk(), i_jump())", &["i_walk", "i_and"], false);
}

/// An upper bound of tree F1: the trees of gold programs over the leaves of gold trees, compared with the gold trees.
/// Returns the number of examples and F1.
fn bound(name: &str, path: &Path, take: usize, pieces: impl Fn(&str) -> usize) -> (usize, f64) {
    let domain = load(name).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let (mut n, mut sum) = (0, TreeCounts::default());
    for example in spanwise_domains::data::open(path).unwrap().take(take) {
        let example = example.unwrap();
        let words = Utterance::new(example.utterance.clone());
        let pieces: Vec<usize> = words.tokens().iter().map(|token| pieces(&token.lower)).collect();
        // If the guessed number of word-pieces is wrong, the tree does not end with the last word.
        let Some(gold) = gold_tree(&example, Some(&pieces), words.len()) else { continue };
        let is_whole = gold.keys().next().is_some_and(|first| first.start == 0)
            && gold.keys().any(|span| span.len() == words.len());
        let leaves = gold_leaves(&domain, &example, Some(&pieces), &words).filter(|_| is_whole);
        let Some(leaves) = leaves else { continue };
        let leaf = |(span, constant): (Span, ConstantId)| Leaf::new(span.start, span.end, constant);
        let lattice = Lattice::new(words.len(), leaves.into_iter().map(leaf).collect()).unwrap();
        let is_gold = |cell: usize| {
            let (p, q) = lattice.ends(cell);
            gold.get(&lattice.span(p, q)) == Some(&Label::Join)
        };
        let joins: Vec<f32> =
            (0..lattice.n_cells()).map(|cell| if is_gold(cell) { 1.0 } else { -1.0 }).collect();
        let trees = trees(&domain, &grammar, &lattice, example.program.as_deref().unwrap(), &joins);
        let best = trees.iter().map(|tree| counts(&gold, tree)).max_by_key(|counts| counts.matched);
        if let Some(best) = best {
            n += 1;
            sum = sum.plus(best);
        }
    }
    (n, sum.f1().unwrap())
}

fn shared(file: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(file);
    if path.exists() {
        return Some(path);
    }
    let _ = writeln!(std::io::stderr(), "SKIPPED: {file} of the benchmark data is not here");
    None
}

#[test]
fn trees_of_gold_programs_reach_the_gold_trees_of_scan() {
    let Some(path) = shared("scan_sp/test_right_spans.json") else { return };
    let (n, f1) = bound("scan", &path, 500, |word| if word == "thrice" { 2 } else { 1 });
    assert_eq!((n, f1), (500, 100.0));
}

#[cfg(feature = "geo")]
#[test]
fn trees_of_gold_programs_reach_the_gold_trees_of_geo() {
    let Some(path) = shared("geo/gold_trees/test_spans.json") else { return };
    let (n, f1) = bound("geo", &path, 1000, |_| 1);
    assert!(n > 230 && f1 > 99.9, "{n} {f1}");
}

#[test]
fn trees_of_gold_programs_reach_the_gold_trees_of_clevr() {
    let Some(path) = shared("clevr/gold_trees/test_iid_spans.jsonl") else { return };
    let of_two = ["cubes", "cyan", "matte"];
    let (n, f1) = bound("clevr", &path, 150, |word| if of_two.contains(&word) { 2 } else { 1 });
    assert!(n > 140 && f1 > 99.9, "{n} {f1}");
}

fn any_tree() -> impl Strategy<Value = LabelledSpans> {
    let span = (0u32..6, 1u32..6).prop_map(|(start, len)| Span::new(start, start + len));
    let label = prop_oneof![Just(Label::Join), "[ab]".prop_map(Label::Constant)];
    prop::collection::btree_map(span, label, 1..8)
}

proptest! {
    #[test]
    fn a_tree_equals_itself(tree in any_tree()) {
        prop_assert_eq!(counts(&tree, &tree).f1(), Some(100.0));
    }

    #[test]
    fn f1_is_symmetric_and_within_bounds(a in any_tree(), b in any_tree()) {
        let f1 = counts(&a, &b).f1().unwrap();
        prop_assert_eq!(Some(f1), counts(&b, &a).f1());
        prop_assert!((0.0..=100.0).contains(&f1));
    }

    #[test]
    fn no_tree_matches_nothing(tree in any_tree()) {
        prop_assert_eq!(counts(&tree, &LabelledSpans::new()).f1(), Some(0.0));
        prop_assert_eq!(counts(&LabelledSpans::new(), &tree).f1(), None);
    }

    #[test]
    fn any_spans_are_read_or_refused(
        spans in prop::collection::vec((0usize..9, 0usize..9, "span|state|x"), 0..6),
        pieces in prop::option::of(prop::collection::vec(0usize..3, 0..5)),
        n_words in 0usize..5,
    ) {
        let spans: Vec<_> = spans.iter().map(|(start, end, name)| (*start, *end, name.as_str())).collect();
        if let Some(tree) = gold_tree(&example("x", "x", &spans), pieces.as_deref(), n_words) {
            prop_assert!(tree.keys().all(|span| !span.is_empty() && span.end as usize <= n_words));
        }
    }
}
