#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]
use super::*;
use crate::agreement::{Agreement, OtherTrees, annotated_example};
use crate::tree_f1::{Label, OneTree, gold_leaves, gold_tree};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::lattice::Scores;
use spanwise_chart::semiring::Max;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::{Idx, Span};
use spanwise_domains::data;
use spanwise_domains::load::Spec;
use spanwise_lang::domain::NoTables;
use std::io::Write as _;
use std::path::Path;

fn example(utterance: &str, program: &str) -> Example {
    Example { program: Some(program.to_owned()), ..Example::new(utterance) }
}

/// The annotation of an example of a built-in domain, as text: words with their constants, and joins.
fn shown(name: &str, utterance: &str, program: &str) -> String {
    let spec = Spec::parse(name);
    let domain = spec.load().unwrap();
    let annotation = spec.annotation(&domain).unwrap();
    let annotator = Annotator::new(&domain, &annotation);
    let text = Utterance::new(utterance);
    match annotator.example(&example(utterance, program)) {
        Ok(annotated) => {
            let show = |(span, label): (&Span, &Label)| match label {
                Label::Join => format!("[{}]", text.slice(*span)),
                Label::Constant(name) => format!("{} = {name}", text.slice(*span)),
            };
            annotated.spans.iter().map(show).collect::<Vec<_>>().join("\n")
        }
        Err(omission) => format!("{}: {}", omission.kind, omission.reason),
    }
}

fn check(name: &str, utterance: &str, program: &str, expected: &Expect) {
    expected.assert_eq(&shown(name, utterance, program));
}

#[cfg(feature = "geo")]
#[test]
fn the_program_decides_which_constant_a_word_is_aligned_to() {
    let expected = expect![[r#"
        rivers = river
        [rivers in the states]
        in = loc_2
        [in the]
        [in the states]
        states = state"#]];
    check("geo", "rivers in the states", "answer(river(loc_2(state(all))))", &expected);
    let expected = expect![[r#"
        states = state
        [states houston is in]
        houston = cityid#'houston'
        [houston is]
        [houston is in]
        in = loc_1"#]];
    check("geo", "states houston is in", "answer(state(loc_1(cityid('houston', _))))", &expected);
}

#[cfg(feature = "geo")]
#[test]
fn composed_functions_without_their_argument_have_no_span() {
    let expected = expect![[r#"
        [tell the city with the greatest population]
        city = city
        [city with the]
        [city with the greatest population]
        greatest = largest_one
        population = population_1"#]];
    let program = "answer(largest_one(population_1(city(all))))";
    check("geo", "tell the city with the greatest population", program, &expected);
}

#[cfg(feature = "geo")]
#[test]
fn a_name_is_aligned_to_as_few_words_as_possible() {
    let expected = expect![[r#"
        long = len
        [long is the]
        [long is the hudson river]
        hudson = riverid#'hudson'
        [hudson river]"#]];
    check("geo", "long is the hudson river", "answer(len(riverid('hudson')))", &expected);
}

#[test]
fn clevr_gathers_values_from_the_right_and_aligns_relations_to_whole_phrases() {
    let expected = expect![[r#"
        what = query
        [what color is the]
        [what color is the tiny matte ball to the left of the block]
        color = color
        [color is the]
        tiny = small
        [tiny matte ball]
        [tiny matte ball to the left of the block]
        matte = rubber
        [matte ball]
        ball = sphere
        to the left of = left
        [to the left of the]
        [to the left of the block]
        block = cube"#]];
    let program = "query(color, filter(small, rubber, sphere, relate(left, filter(cube, scene()))))";
    check("clevr", "what color is the tiny matte ball to the left of the block", program, &expected);
}

#[test]
fn of_equal_arguments_the_one_on_the_right_fills_the_later_slot() {
    let expected = expect![[r#"
        jump = i_jump
        [jump and]
        [jump and jump]
        and = i_and
        jump = i_jump"#]];
    check("scan", "jump and jump", "i_and(i_jump(), i_jump())", &expected);
    let program = "count(filter(red, relate_attribute_equal(size, filter(red, scene()))))";
    let shown = shown("clevr", "how many red things are the same size as the red one", program);
    assert!(shown.contains("\n[are the same size as the red one]\n"), "{shown}");
}

#[cfg(feature = "geo")]
#[test]
fn ambiguous_or_underivable_examples_are_left_out_with_the_reason() {
    let outcome = |utterance: &str, program: &str| shown("geo", utterance, program);
    let expected = expect!["more than one reading: `state` can be aligned to different words"];
    expected.assert_eq(&outcome("state the state", "answer(state(all))"));
    let expected = expect!["constant not in the words: no words can be aligned to `river`"];
    expected.assert_eq(&outcome("what flows there", "answer(river(all))"));
    let expected = expect!["repeated constant: `state` occurs more often in the program than in the words"];
    expected.assert_eq(&outcome("the state bordering", "answer(state(next_to_2(state(all))))"));
    let expected = expect!["program cannot be read: column 7: this parenthesis is never closed"];
    expected.assert_eq(&outcome("the states", "answer(state(all)"));
    let expected = expect!["untypeable: `stateid('oz')` is not in the table of `stateid`"];
    expected.assert_eq(&outcome("oz", "answer(stateid('oz'))"));
    let expected = expect!["entity in no table: no table lists `cityid('oz', 'tx')`"];
    expected.assert_eq(&outcome("people of oz texas", "answer(population_1(cityid('oz', 'tx')))"));
}

#[test]
fn what_is_written_is_read_again_and_can_be_trained_from() {
    for (name, utterance, program) in [
        #[cfg(feature = "geo")]
        ("geo", "what state has the smallest area ?", "answer(smallest_one(area_1(state(all))))"),
        #[cfg(feature = "geo")]
        ("geo", "people in austin texas ?", "answer(population_1(cityid('austin', 'tx')))"),
        (
            "scan",
            "walk around left thrice after jump",
            "i_after(i_thrice(i_walk(i_left, i_around)), i_jump())",
        ),
        ("clevr", "How many big red blocks?", "count(filter(large, red, cube, scene()))"),
    ] {
        let spec = Spec::parse(name);
        let domain = spec.load().unwrap();
        let annotation = spec.annotation(&domain).unwrap();
        let annotated = Annotator::new(&domain, &annotation).example(&example(utterance, program)).unwrap();
        let line = annotated_example(&example(utterance, program), &annotated).to_json().to_string();
        let read = Example::from_json(serde_json::from_str(&line).unwrap()).unwrap();
        let text = Utterance::new(utterance);
        // Spans in words need no tokenizer, and are read the same with one.
        for pieces in [None, Some(vec![3; text.len()])] {
            let tree = gold_tree(&read, pieces.as_deref(), text.len()).unwrap();
            assert_eq!(tree, annotated.spans, "{utterance}");
            let leaves = gold_leaves(&domain, &read, pieces.as_deref(), &text).unwrap();
            let mut terms = domain.new_terms();
            let program = terms.parse(program).unwrap();
            assert!(OneTree::new(&domain).check(text.len(), &leaves, &terms, program), "{utterance}");
        }
    }
}

#[test]
fn spans_that_do_not_fit_the_words_are_no_tree() {
    let tree = |spans: serde_json::Value| {
        let example = Example { gold_spans: Some(spans), ..Example::new("a b c") };
        gold_tree(&example, None, 3).map(|tree| tree.len())
    };
    assert_eq!(tree(json!([{"words": [0, 3], "type": "span"}, {"words": [1, 2], "type": "x"}])), Some(2));
    assert_eq!(tree(json!([{"span": [0, 2], "type": "span"}, {"span": [1, 1], "type": "x"}])), Some(2));
    assert_eq!(tree(json!([{"words": [0, 4], "type": "span"}])), None);
    assert_eq!(tree(json!([{"words": [2, 2], "type": "x"}])), None);
    assert_eq!(tree(json!([{"words": [0, 3], "span": [0, 2], "type": "span"}])), None);
    assert_eq!(tree(json!([{"words": [0], "type": "span"}])), None);
    assert_eq!(tree(json!([{"words": [0, 3]}])), None);
    assert_eq!(tree(json!([])), None);
}

const TOY: &str = r#"
    name = "toy"
    types = ["S", "T", "V"]
    [root]
    types = ["T"]
    [constants]
    a = "S"
    b = "S"
    f = "S -> T"
    g = "T -> T"
    h = "S, S -> T"
    i = { type = "V", form = "i({0})" }
    j = { type = "S, V -> T", form = "j({1}, {2:1})" }
"#;
const PHRASES: &[(&str, &[&str])] = &[
    ("a", &["x", "x y"]),
    ("b", &["y", "z", "x"]),
    ("f", &["u", "v u"]),
    ("g", &["v", "w"]),
    ("h", &["w", "u v"]),
    ("i", &["y", "v"]),
    ("j", &["u", "w x"]),
];
const PROGRAMS: [&str; 8] =
    ["f(a)", "g(f(a))", "g(f(b))", "h(a, b)", "h(b, a)", "g(h(b, a))", "j(a, i(a))", "g(j(b, i(b)))"];

/// All alignments from which the typed chart can derive a program, by brute force and independent of the gold chart. An
/// alignment has one span for each constant.
fn alignments(domain: &Domain, words: &[&str], program: &str) -> Vec<Vec<Leaf>> {
    let mut choices: Vec<Vec<Leaf>> = vec![Vec::new()];
    for (name, phrases) in PHRASES.iter().filter(|(name, _)| program.contains(name)) {
        let constant = domain.predicate(name).unwrap();
        let mut longer = Vec::new();
        for start in 0..words.len() {
            for end in start + 1..=words.len() {
                if !phrases.contains(&words[start..end].join(" ").as_str()) {
                    continue;
                }
                let leaf = Leaf::new(start as u32, end as u32, constant);
                let is_free = |choice: &&Vec<Leaf>| {
                    choice.iter().all(|other| other.end <= leaf.start || leaf.end <= other.start)
                };
                longer.extend(choices.iter().filter(is_free).map(|choice| [&choice[..], &[leaf]].concat()));
            }
        }
        choices = longer;
    }
    choices.iter_mut().for_each(|choice| choice.sort_unstable());
    choices.retain(|choice| is_derivable(domain, words.len(), choice, program));
    choices
}

fn is_derivable(domain: &Domain, n_words: usize, leaves: &[Leaf], program: &str) -> bool {
    let grammar = Grammar::new(domain, Options::default());
    let lattice = Lattice::new(n_words, leaves.to_vec()).unwrap();
    let (of_leaves, rules) = (vec![0.0; leaves.len() * N_USAGES], vec![0.0; grammar.n_rules()]);
    let scores = Scores { leaves: &of_leaves, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(domain, &grammar, &lattice, scores).unwrap();
    let chart = BestChart::new(input, &RuleValues::<Max>::new(&grammar, &rules));
    let mut terms = domain.new_terms();
    let wanted = terms.parse(program).unwrap();
    let derivations = chart.derivations().take(5_000).collect::<Vec<_>>();
    assert!(derivations.len() < 5_000);
    derivations.iter().any(|one| chart.tree(&mut terms, one).is_some_and(|(found, _)| found == wanted))
}

/// The leaves of a tree.
fn leaves(tree: &SpanTree) -> Vec<Leaf> {
    let leaf = |node: &spanwise_chart::TreeNode| match node.category {
        Category::Constant(constant) => Some(Leaf::new(node.span.start, node.span.end, constant)),
        _ => None,
    };
    let mut leaves: Vec<Leaf> = tree.nodes.iter().filter_map(leaf).collect();
    leaves.sort_unstable();
    leaves
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn there_is_an_annotation_exactly_where_brute_force_finds_one_alignment(
        words in prop::collection::vec(prop::sample::select(vec!["x", "y", "z", "u", "v", "w", "q"]), 1..8),
        program in prop::sample::select(PROGRAMS.to_vec()),
        prefers_long in any::<bool>(),
    ) {
        let domain = Domain::load(TOY, "toy.toml", None, &NoTables).unwrap();
        let lines = PHRASES.iter().map(|(name, phrases)| format!("{name} = {phrases:?}\n"));
        let prefer = if prefers_long { "\"long-phrases\"" } else { "" };
        let file = format!("prefer = [{prefer}]\n[phrases]\n{}", lines.collect::<String>());
        let annotation = Annotation::load(&domain, &file, "phrases.toml").unwrap();
        let mut expected = alignments(&domain, &words, program);
        if prefers_long {
            let covered = |choice: &Vec<Leaf>| choice.iter().map(|leaf| leaf.end - leaf.start).sum::<u32>();
            let most = expected.iter().map(covered).max();
            expected.retain(|choice| Some(covered(choice)) == most);
        }
        let mut terms = domain.new_terms();
        let wanted = terms.parse(program).unwrap();
        let utterance = Utterance::new(words.join(" "));
        let outcome = Annotator::new(&domain, &annotation).annotate(&utterance, &mut terms, wanted);
        match (outcome, expected.as_slice()) {
            (Ok(annotated), [only]) => prop_assert_eq!(&leaves(&annotated.tree), only),
            (Err(LeftOut::Underivable(_)), []) => {}
            (Err(LeftOut::Ambiguous(constant)), [first, rest @ ..]) if !rest.is_empty() => {
                let place = |choice: &Vec<Leaf>| choice.iter().find(|leaf| leaf.constant == constant).copied();
                prop_assert!(rest.iter().any(|choice| place(choice) != place(first)), "{}", constant.index());
            }
            (outcome, expected) => prop_assert!(false, "{:?} but {:?}", outcome, expected),
        }
    }
}

/// Annotates a file of the benchmark data and compares it with released trees, where words are single pieces.
fn released(name: &str, data: &str, trees: &str, limit: usize) -> Option<(f64, Agreement)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if !folder.join(data).exists() || !folder.join(trees).exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {data} of the benchmark data is not here");
        return None;
    }
    let mut examples = data::read(&folder.join(data)).unwrap();
    examples.truncate(limit);
    let others = data::read(&folder.join(trees)).unwrap();
    let others = OtherTrees::new(&others, None);
    let spec = Spec::parse(name);
    let domain = spec.load().unwrap();
    let annotation = spec.annotation(&domain).unwrap();
    let annotator = Annotator::new(&domain, &annotation);
    let annotated: Vec<_> = examples.par_iter().map(|example| annotator.example(example).ok()).collect();
    let mut agreement = Agreement::default();
    for (example, annotated) in examples.iter().zip(&annotated) {
        if let Some(annotated) = annotated {
            agreement.add(&others, &example.utterance, &annotated.spans);
        }
    }
    let share = 100.0 * annotated.iter().flatten().count() as f64 / examples.len() as f64;
    Some((share, agreement))
}

#[track_caller]
fn agrees(found: Option<(f64, Agreement)>, least: [f64; 4]) {
    let Some((share, agreement)) = found else { return };
    let [spans, constants] = [agreement.spans, agreement.constants].map(|counts| counts.f1().unwrap());
    let values = [share, spans, constants, agreement.identical().unwrap()];
    assert!(values.iter().zip(least).all(|(value, least)| *value >= least), "{values:?} of {least:?}");
}

#[cfg(feature = "geo")]
#[test]
fn annotations_of_geo_agree_with_the_released_trees() {
    let found = released("geo", "geo/splits/train.json", "geo/gold_trees/train_spans.json", usize::MAX);
    agrees(found, [97.0, 99.0, 98.5, 95.0]);
}

#[test]
fn annotations_of_clevr_agree_with_the_released_trees() {
    let found = released("clevr", "clevr/train.jsonl", "clevr/gold_trees/train_spans.jsonl", 1_500);
    agrees(found, [95.5, 97.5, 99.0, 94.0]);
}

#[test]
fn annotations_of_scan_are_the_released_trees() {
    let found = released("scan", "scan_sp/dev_right.json", "scan_sp/dev_right_spans.json", 1_500);
    agrees(found, [100.0; 4]);
}
