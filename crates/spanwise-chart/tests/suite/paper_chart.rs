//! The paper chart on the paper's own examples, and on odd input. Brute force is in `src/paper/oracle.rs`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use expect_test::{Expect, expect};
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::{Discontinuity, Grammar, Options};
use spanwise_chart::lattice::{Lattice, Leaf};
use spanwise_chart::objective::{Target, marginal};
use spanwise_chart::paper::{
    PaperConfig, PaperError, PaperOutcome, PaperScores, decode, log_prob, n_spans, span_index,
};
use spanwise_chart::{Category, SpanTree, TreeNode};
use spanwise_core::{Idx, Span, Utterance};
use spanwise_domains::load::load;
use spanwise_lang::domain::NoTables;
use spanwise_lang::{Domain, StateId, Terms};
use std::time::{Duration, Instant};

const TOY: &str = r#"
name = "toy"
types = ["A", "B < A", "C"]
root = { types = ["A", "C"], wrap = "answer({})" }
[constants]
f = ["A -> C", "B -> B"]
pair = "A, A -> A"
maybe = "A? -> B"
x = "B"
"#;

fn toy() -> Domain {
    Domain::load(TOY, "toy.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"))
}

// ---- odd input ----

#[test]
fn odd_input_has_an_outcome_and_wrong_input_an_error() {
    let domain = toy();
    let mut terms = domain.new_terms();
    let n = domain.constants().len();
    let config = PaperConfig::default();
    let program = terms.parse("answer(x)").unwrap();
    let x = domain.predicate("x").unwrap().index();
    let flat = |n_tokens: usize, value: f32| vec![value; n_spans(n_tokens) * (n + 2)];

    // No token, and no possible constant.
    let scores = PaperScores::new(0, n, Vec::new()).unwrap();
    assert_eq!(decode(&domain, &mut terms, &scores, config).unwrap(), PaperOutcome::NoDerivation);
    let mut logits = flat(3, f32::NEG_INFINITY);
    logits.iter_mut().skip(n + 1).step_by(n + 2).for_each(|null| *null = 0.0);
    let scores = PaperScores::new(3, n, logits.clone()).unwrap();
    assert_eq!(decode(&domain, &mut terms, &scores, config).unwrap(), PaperOutcome::NoDerivation);

    // One constant over all there is.
    logits[2 * (n + 2) + x] = 1.5;
    let scores = PaperScores::new(3, n, logits).unwrap();
    let outcome = decode(&domain, &mut terms, &scores, config).unwrap();
    let PaperOutcome::Found { tree, program: it, score } = outcome else { panic!("{outcome:?}") };
    assert_eq!((tree.nodes.len(), it, score), (1, program, 1.5));

    let mut bad = flat(2, 0.0);
    assert!(matches!(PaperScores::new(3, n, bad.clone()), Err(PaperError::WrongLength { expected: 36, .. })));
    bad[n + 2] = f32::NAN;
    let error = PaperScores::new(2, n, bad.clone()).unwrap_err();
    assert!(matches!(error, PaperError::BadScore { span: Span { start: 0, end: 2 }, category: 0, .. }));
    bad[n + 2] = f32::INFINITY;
    assert!(matches!(PaperScores::new(2, n, bad.clone()), Err(PaperError::BadScore { .. })));
    let error = PaperScores::new(2, n, flat(2, f32::NEG_INFINITY)).unwrap_err();
    assert!(matches!(error, PaperError::ImpossibleNull { .. }));
    assert!(matches!(PaperScores::new(usize::MAX, n, Vec::new()), Err(PaperError::WrongLength { .. })));
    let scores = PaperScores::new(1, 0, vec![0.0; 2]).unwrap();
    assert!(matches!(decode(&domain, &mut terms, &scores, config), Err(PaperError::WrongDomain { .. })));
}

#[test]
fn huge_scores_do_not_overflow() {
    let domain = toy();
    let row = domain.constants().len() + 2;
    let logits = (0..n_spans(4) * row).map(|at| if at % row == row - 1 { f32::MIN } else { f32::MAX });
    let scores = PaperScores::new(4, row - 2, logits.collect()).unwrap();
    let outcome =
        decode(&domain, &mut domain.new_terms(), &scores, PaperConfig { k: 500, ..PaperConfig::default() })
            .unwrap();
    assert!(matches!(outcome, PaperOutcome::Found { .. }), "{outcome:?}");
}

#[test]
fn forty_tokens_take_well_under_a_second() {
    let domain = load("scan").unwrap();
    // Few different scores, in no order.
    let logits = (0..n_spans(40) * (domain.constants().len() + 2)).map(|at| (at * at % 31 % 4) as f32);
    let scores = PaperScores::new(40, domain.constants().len(), logits.collect()).unwrap();
    let mut terms = domain.new_terms();
    let start = Instant::now();
    decode(&domain, &mut terms, &scores, PaperConfig::default()).unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// The state of two neighbours together, by the tables of states.
fn composed(domain: &Domain, left: StateId, right: StateId) -> Option<StateId> {
    let states = domain.states();
    let applied = states.apply().get(left, right).or_else(|| states.apply().get(right, left));
    applied.or_else(|| states.gather().get(left, right))
}

#[test]
fn every_node_means_what_its_children_make_of_it() {
    let mut n_joins = [0; 4];
    for domain in [toy(), load("scan").unwrap(), load("clevr").unwrap()] {
        let row = domain.constants().len() + 2;
        for seed in 1..200_u64 {
            let mix = |at: usize| (at as u64 + 1000 * seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let n = seed as usize % 3 + 2;
            let logits = (0..n_spans(n) * row).map(|at| mix(at) as f32 / (1 << 22) as f32);
            let scores = PaperScores::new(n, row - 2, logits.collect()).unwrap();
            let config = PaperConfig { k: 200, ..PaperConfig::default() };
            let outcome = decode(&domain, &mut domain.new_terms(), &scores, config).unwrap();
            let PaperOutcome::Found { tree, .. } = outcome else { continue };
            let id = |node: &TreeNode| domain.states().find(node.state.as_ref().unwrap()).unwrap();
            for node in &tree.nodes {
                let children: Vec<_> = node.children.iter().map(|&at| &tree.nodes[at]).collect();
                let full: Vec<_> = children.iter().filter(|it| it.category != Category::Null).collect();
                n_joins[full.len()] += 1;
                match full.as_slice() {
                    [] => {}
                    [only] => assert_eq!((&node.state, node.program), (&only.state, only.program)),
                    [left, inner @ .., right] => {
                        let mut made = composed(&domain, id(left), id(right)).unwrap();
                        for middle in inner {
                            made = composed(&domain, made, id(middle)).unwrap();
                        }
                        assert_eq!(made, id(node), "{tree:?}");
                    }
                }
            }
        }
    }
    assert!(n_joins.iter().all(|&n| n > 20), "{n_joins:?}");
}

// ---- the paper's examples ----

/// Scores that like the given nodes of a tree and nothing else, as a trained network would.
fn scores_for(domain: &Domain, n_tokens: usize, nodes: &[(u32, u32, &str)]) -> PaperScores {
    let n_constants = domain.constants().len();
    let mut logits = vec![-3.0; n_spans(n_tokens) * (n_constants + 2)];
    logits.iter_mut().skip(n_constants + 1).step_by(n_constants + 2).for_each(|null| *null = 0.0);
    for &(start, end, name) in nodes {
        let constant = domain.constants().iter().position(|constant| constant.name == name);
        let category = if name == "join" { n_constants } else { constant.unwrap() };
        let span = span_index(n_tokens, Span::new(start, end));
        logits[span * (n_constants + 2) + category] = 2.0;
    }
    PaperScores::new(n_tokens, n_constants, logits).unwrap()
}

/// A tree as an indented listing: span, category, words of a leaf, sub-program, meaning.
fn listing(domain: &Domain, terms: &Terms, utterance: &Utterance, tree: &SpanTree) -> String {
    let mut out = String::new();
    let mut todo = vec![(tree.nodes.len() - 1, 0)];
    while let Some((at, depth)) = todo.pop() {
        let node = &tree.nodes[at];
        let category = match node.category {
            Category::Constant(constant) => domain.constants()[constant].name.as_str(),
            Category::Null => "-",
            _ => "join",
        };
        out += &format!("{:indent$}{} {category}", "", node.span, indent = depth * 2);
        if node.children.is_empty() {
            out += &format!(" \"{}\"", utterance.slice(node.span));
        }
        if let Some(program) = node.program {
            out += &format!("  {}  : {}", terms.display(program), node.type_text(domain).unwrap_or_default());
        }
        out.push('\n');
        todo.extend(node.children.iter().rev().map(|&child| (child, depth + 1)));
    }
    out
}

fn check_figure(text: &str, gold: &str, nodes: &[(u32, u32, &str)], expected: Expect) {
    let domain = load("geo@paper").unwrap();
    let utterance = Utterance::new(text);
    let scores = scores_for(&domain, utterance.len(), nodes);
    let mut terms = domain.new_terms();
    let gold = terms.parse(gold).unwrap();
    let outcome = decode(&domain, &mut terms, &scores, PaperConfig::default()).unwrap();
    let PaperOutcome::Found { tree, program, score } = outcome else { panic!("{outcome:?}") };
    assert_eq!((program, score), (gold, 2.0 * nodes.len() as f32));
    expected.assert_eq(&listing(&domain, &terms, &utterance, &tree));
    // The gold chart over these leaves learns from the same tree.
    let leaf = |node: &TreeNode| match node.category {
        Category::Constant(constant) => Some(Leaf::new(node.span.start, node.span.end, constant)),
        _ => None,
    };
    let lattice = Lattice::new(utterance.len(), tree.nodes.iter().filter_map(leaf).collect()).unwrap();
    let grammar = Grammar::new(&domain, Options { discontinuity: Discontinuity::Ternary, implicit: false });
    let chart = GoldChart::new(&domain, &grammar, &lattice, &terms, gold, Joins::Tree).unwrap();
    let loss = marginal(&scores, &lattice, grammar.n_rules(), &chart, Target::Best).unwrap();
    assert!((loss.value + log_prob(&scores, &tree)).abs() < 1e-4);
}

#[cfg(feature = "geo")]
#[test]
fn figure_1_states_that_new_york_borders() {
    check_figure(
        "What is the capital of states that New York borders ?",
        "answer(capital(loc_2(state(next_to_1(stateid('new york'))))))",
        &[
            (0, 11, "join"),
            (3, 11, "join"),
            (3, 4, "capital"),
            (4, 11, "join"),
            (4, 5, "loc_2"),
            (5, 11, "join"),
            (5, 7, "join"),
            (5, 6, "state"),
            (7, 11, "join"),
            (7, 9, "stateid('new york')"),
            (9, 11, "join"),
            (9, 10, "next_to_1"),
        ],
        expect![[r#"
            0..11 join  capital(loc_2(state(next_to_1(stateid('new york')))))  : City
              0..3 - "What is the"
              3..11 join  capital(loc_2(state(next_to_1(stateid('new york')))))  : City
                3..4 capital "capital"  capital(_)  : Named -> City
                4..11 join  loc_2(state(next_to_1(stateid('new york'))))  : Named
                  4..5 loc_2 "of"  loc_2(_)  : StateCity -> Named
                  5..11 join  state(next_to_1(stateid('new york')))  : State
                    5..7 join  state(_)  : Named -> State
                      5..6 state "states"  state(_)  : Named -> State
                      6..7 - "that"
                    7..11 join  next_to_1(stateid('new york'))  : State
                      7..9 stateid('new york') "New York"  stateid('new york')  : State
                      9..11 join  next_to_1(_)  : State -> State
                        9..10 next_to_1 "borders"  next_to_1(_)  : State -> State
                        10..11 - "?"
        "#]],
    );
}

#[cfg(feature = "geo")]
#[test]
fn figure_3_a_superlative_between_its_parts() {
    check_figure(
        "State that has the most people ?",
        "answer(largest_one(population_1(state(all))))",
        &[
            (0, 7, "join"),
            (0, 4, "join"),
            (0, 1, "state"),
            (4, 5, "largest_one"),
            (5, 7, "join"),
            (5, 6, "population_1"),
        ],
        expect![[r#"
            0..7 join  largest_one(population_1(state(all)))  : StateCity
              0..4 join  state(all)  : State
                0..1 state "State"  state(all)  : State
                1..4 - "that has the"
              4..5 largest_one "most"  largest_one(_)  : Number -> StateCity
              5..7 join  population_1(_)  : StateCity -> Number
                5..6 population_1 "people"  population_1(_)  : StateCity -> Number
                6..7 - "?"
        "#]],
    );
}
