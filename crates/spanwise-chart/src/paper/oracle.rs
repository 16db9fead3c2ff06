//! The paper chart against brute force, on inputs of up to four tokens.
//!
//! The oracle enumerates all trees of the grammar, evaluates them one by one and sorts them by the order that
//! [`super`] documents. It shares no code with the chart.

use super::chart::{Chart, Free};
use super::checked::Checked;
use super::{PaperConfig, PaperOutcome, PaperScores, TypeCheck, decode, labels, log_prob, n_spans};
use crate::budget::Meter;
use crate::tree::{Category, SpanTree, TreeNode};
use spanwise_core::{Idx, Random, Span};
use spanwise_lang::domain::NoTables;
use spanwise_lang::{ConstantId, Domain, Meaning, TermId, Terms};
use std::cmp::Ordering;

/// Several frames, subtypes, an optional slot, and a function whose slots fill in the order of application.
const FUNCTIONS: &str = r#"
name = "functions"
types = ["A", "B < A", "C"]
root = { types = ["A", "C"], wrap = "answer({})" }
[constants]
f = ["A -> C", "B -> B"]
pair = "A, A -> A"
maybe = "A? -> B"
x = "B"
"#;

/// Values that gather, alone or over something.
const VALUES: &str = r#"
name = "values"
types = ["Color", "Size", "Related", "Set", "Answer"]
root = { types = ["Answer", "Set"] }
[constants]
count = "Set -> Answer"
near = "Set -> Related"
red = "Color"
big = "Size"
[[accumulators]]
head = "pick"
elements = ["Color", "Size"]
over = "Related"
result = "Set"
default = "all()"
"#;

const WIDE: usize = 100_000;

fn toy(source: &str) -> Domain {
    Domain::load(source, "toy.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"))
}

// ---- the oracle ----

#[derive(Clone, PartialEq, Debug)]
struct Tree {
    span: (u32, u32),
    category: Category,
    children: Vec<Tree>,
}

fn join(children: &[&Tree]) -> Tree {
    let span = (children[0].span.0, children.last().unwrap().span.1);
    Tree { span, category: Category::Join, children: children.iter().map(|&child| child.clone()).collect() }
}

fn null(start: u32, end: u32) -> Tree {
    Tree { span: (start, end), category: Category::Null, children: Vec::new() }
}

/// The trees of the grammar.
struct Grammar<'a> {
    n_constants: usize,
    ternary: bool,
    /// What is kept of each list.
    keep: &'a dyn Fn(Vec<Tree>) -> Vec<Tree>,
}

impl Grammar<'_> {
    /// The trees of `join` over a span.
    fn joins(&self, start: u32, end: u32) -> Vec<Tree> {
        let constant = |at| Category::Constant(ConstantId::from_usize(at));
        let leaf = |at| Tree { span: (start, end), category: constant(at), children: Vec::new() };
        let mut all: Vec<Tree> = (0..self.n_constants).map(leaf).collect();
        for split in start + 1..end {
            let (lefts, rights) = (self.joins(start, split), self.joins(split, end));
            for left in &lefts {
                all.push(join(&[left, &null(split, end)]));
                all.extend(rights.iter().map(|right| join(&[left, right])));
            }
            for second in (split + 1..end).filter(|_| self.ternary) {
                let (middles, rights) = (self.joins(split, second), self.joins(second, end));
                for (left, middle) in lefts.iter().flat_map(|left| middles.iter().map(move |m| (left, m))) {
                    all.extend(rights.iter().map(|right| join(&[left, middle, right])));
                }
            }
        }
        (self.keep)(all)
    }

    /// The trees of `S` over the whole input.
    fn roots(&self, n: u32) -> Vec<Tree> {
        let mut all = self.joins(0, n);
        for split in 1..n {
            all.extend(self.joins(split, n).iter().map(|right| join(&[&null(0, split), right])));
        }
        (self.keep)(all)
    }
}

fn both(domain: &Domain, terms: &mut Terms, left: &[Meaning], right: &[Meaning]) -> Vec<Meaning> {
    let mut all: Vec<Meaning> = Vec::new();
    for (l, r) in left.iter().flat_map(|l| right.iter().map(move |r| (l, r))) {
        let ways = [domain.apply(terms, l, r), domain.apply(terms, r, l), domain.gather(l, r)];
        assert!(ways.iter().flatten().count() <= 1, "two ways for {l:?} and {r:?}");
        all.extend(ways.into_iter().flatten());
    }
    all
}

/// All meanings of a tree, `None` for null.
fn meanings(domain: &Domain, terms: &mut Terms, tree: &Tree) -> Option<Vec<Meaning>> {
    let found: Vec<_> = tree.children.iter().map(|child| meanings(domain, terms, child)).collect();
    Some(match (tree.category, found.as_slice()) {
        (Category::Null, _) => return None,
        (Category::Constant(constant), _) => {
            domain.frames_of(constant).filter_map(|(frame, _)| domain.leaf(terms, constant, frame)).collect()
        }
        (_, [Some(only), None] | [None, Some(only)]) => only.clone(),
        (_, [Some(left), Some(right)]) => both(domain, terms, left, right),
        (_, [Some(left), Some(middle), Some(right)]) => {
            let outer = both(domain, terms, left, right);
            both(domain, terms, &outer, middle)
        }
        _ => panic!("not a tree of the grammar: {tree:?}"),
    })
}

fn programs(domain: &Domain, terms: &mut Terms, tree: &Tree) -> Vec<TermId> {
    let all = meanings(domain, terms, tree).unwrap();
    all.iter().filter_map(|meaning| domain.program(terms, meaning)).collect()
}

fn score(scores: &PaperScores, tree: &Tree) -> f64 {
    let row = scores.row(Span::new(tree.span.0, tree.span.1));
    let at = match tree.category {
        Category::Constant(constant) => constant.index(),
        Category::Join => row.len() - 2,
        _ => row.len() - 1,
    };
    let own = f64::from(row[at]) - f64::from(row[row.len() - 1]);
    own + tree.children.iter().map(|child| score(scores, child)).sum::<f64>()
}

/// The documented order of trees over one span.
fn order(scores: &PaperScores, a: &Tree, b: &Tree) -> Ordering {
    let kind = |tree: &Tree| match (tree.category, tree.children.as_slice()) {
        (Category::Constant(constant), _) => (0, constant.index()),
        (Category::Null, _) => (0, 0),
        (_, [first, _]) if first.category == Category::Null => (4, 0),
        (_, [_, last]) if last.category == Category::Null => (2, 0),
        (_, children) => (children.len() * 2 - 3, 0), // 1 for a pair, 3 for a triple
    };
    let splits = |tree: &Tree| tree.children.iter().map(|child| child.span).collect::<Vec<_>>();
    let children = || {
        let mut pairs = a.children.iter().zip(&b.children).map(|(a, b)| order(scores, a, b));
        pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    (score(scores, b).total_cmp(&score(scores, a)))
        .then_with(|| kind(a).cmp(&kind(b)))
        .then_with(|| splits(a).cmp(&splits(b)))
        .then_with(children)
}

/// The possible tree that comes first among those with a program, and that program.
fn best<'a>(scores: &PaperScores, trees: &'a [(Tree, Vec<TermId>)]) -> Option<(&'a Tree, TermId)> {
    let valid = trees.iter().filter_map(|(tree, all)| Some((tree, *all.first()?)));
    let possible = valid.filter(|(tree, _)| score(scores, tree) > f64::NEG_INFINITY);
    possible.min_by(|(a, _), (b, _)| order(scores, a, b))
}

// ---- helpers ----

/// Real scores, or few different ones with exact sums so that ties abound; some impossible.
fn random_scores(random: &mut Random, n_tokens: usize, n_constants: usize, ties: bool) -> PaperScores {
    let row = n_constants + 2;
    let logits = (0..n_spans(n_tokens) * row).map(|at| {
        let impossible = random.uniform() < 0.1 && at % row != row - 1;
        let value = if ties { (random.uniform() * 3.0).floor() - 1.0 } else { random.uniform() * 8.0 - 4.0 };
        if impossible { f32::NEG_INFINITY } else { value }
    });
    PaperScores::new(n_tokens, n_constants, logits.collect()).unwrap()
}

fn plain(tree: &SpanTree) -> Tree {
    let mut made: Vec<Tree> = Vec::new();
    for TreeNode { span, category, children, .. } in &tree.nodes {
        let children = children.iter().map(|&child| made[child].clone()).collect();
        made.push(Tree { span: (span.start, span.end), category: *category, children });
    }
    made.pop().unwrap()
}

fn found(outcome: PaperOutcome) -> Option<(Tree, TermId, f32)> {
    let PaperOutcome::Found { tree, program, score } = outcome else { return None };
    assert!(tree.nodes.last().unwrap().program.is_some());
    Some((plain(&tree), program, score))
}

/// Calls `check` with random scores, all trees and wide lists, for several domains, lengths, rules and times of
/// checking types.
fn sweep(mut check: impl FnMut(&Domain, &mut Terms, &PaperScores, &[(Tree, Vec<TermId>)], PaperConfig)) {
    for source in [FUNCTIONS, VALUES] {
        let domain = toy(source);
        let n_constants = domain.constants().len();
        let mut terms = domain.new_terms();
        for (n, ternary) in [(1, true), (2, true), (3, false), (3, true), (4, false), (4, true)] {
            let trees: Vec<_> = Grammar { n_constants, ternary, keep: &|all| all }
                .roots(n)
                .into_iter()
                .map(|tree| {
                    let programs = programs(&domain, &mut terms, &tree);
                    (tree, programs)
                })
                .collect();
            for seed in 0..if n == 4 { 20 } else { 40 } {
                let mut random = Random::new(seed, &[u64::from(n)]);
                let scores = random_scores(&mut random, n as usize, n_constants, seed % 2 == 0);
                for when in [TypeCheck::EveryTree, TypeCheck::FinishedTrees] {
                    let config = PaperConfig { k: WIDE, ternary, check: when };
                    check(&domain, &mut terms, &scores, &trees, config);
                }
            }
        }
    }
}

// ---- the chart against the oracle ----

#[test]
fn wide_lists_give_the_best_valid_tree() {
    let mut n_found = 0;
    sweep(|domain, terms, scores, trees, config| {
        let outcome = decode(domain, terms, scores, config).unwrap();
        let Some((tree, program)) = best(scores, trees) else {
            return assert_eq!(outcome, PaperOutcome::NoDerivation);
        };
        assert_eq!(found(outcome).unwrap(), (tree.clone(), program, score(scores, tree) as f32));
        n_found += 1;
    });
    assert!(n_found > 200, "{n_found}");
}

/// Algorithm 1 with lists that are sorted in full and cut.
#[test]
fn narrow_lists_hold_the_best_trees_that_the_lists_below_give() {
    for seed in 0..150 {
        let (n, k, ternary) = (seed % 5 + 1, (seed / 5 % 5 + 1) as usize, seed % 3 > 0);
        let scores = random_scores(&mut Random::new(u64::from(seed), &[]), n as usize, 4, seed % 2 == 0);
        let cut = |mut all: Vec<Tree>| {
            all.retain(|tree| score(&scores, tree) > f64::NEG_INFINITY);
            all.sort_by(|a, b| order(&scores, a, b));
            all.truncate(k);
            all
        };
        let expected = Grammar { n_constants: 4, ternary, keep: &cut }.roots(n);
        let chart = Chart::fill(
            &scores,
            PaperConfig { k, ternary, ..PaperConfig::default() },
            Free,
            &Meter::unlimited(),
        )
        .unwrap();
        let roots: Vec<Tree> = chart.roots().map(|root| plain(&chart.tree(root))).collect();
        assert_eq!(roots, expected, "{seed}");
    }
}

/// The same where only trees that have a sub-program stay: what a list of `k` holds are the `k` best of those.
#[test]
fn checked_narrow_lists_hold_only_trees_with_a_sub_program() {
    let mut n_better = 0;
    sweep(|domain, terms, scores, _, config| {
        if config.check == TypeCheck::FinishedTrees {
            return;
        }
        for k in 1..4 {
            let chart =
                Chart::fill(scores, PaperConfig { k, ..config }, Checked::new(domain), &Meter::unlimited())
                    .unwrap();
            for root in chart.roots() {
                let tree = plain(&chart.tree(root));
                assert!(!programs(domain, terms, &tree).is_empty(), "{tree:?}");
            }
            let late = PaperConfig { k, check: TypeCheck::FinishedTrees, ..config };
            let late = found(decode(domain, terms, scores, late).unwrap());
            n_better += usize::from(late.is_none() && chart.roots().next().is_some());
        }
    });
    assert!(n_better > 100, "{n_better}");
}

#[test]
fn narrow_lists_never_do_better_and_report_when_they_dropped_trees() {
    sweep(|domain, terms, scores, trees, config| {
        for k in 0..=5 {
            let outcome = decode(domain, terms, scores, PaperConfig { k, ..config }).unwrap();
            let any = best(scores, trees);
            match outcome {
                PaperOutcome::NoDerivation => assert_eq!(any, None),
                PaperOutcome::BeamExhausted { width } => assert_eq!(width, k),
                PaperOutcome::Found { .. } => {
                    let (tree, program, found) = found(outcome).unwrap();
                    assert!(programs(domain, terms, &tree).contains(&program));
                    assert!(order(scores, any.unwrap().0, &tree).is_le());
                    assert_eq!(found, score(scores, &tree) as f32);
                }
            }
        }
    });
}

#[test]
fn the_ternary_rule_only_adds_trees() {
    let mut n_better = 0;
    sweep(|domain, terms, scores, _, config| {
        let [with, without] = [true, false].map(|ternary| {
            found(decode(domain, terms, scores, PaperConfig { ternary, ..config }).unwrap())
                .map(|(_, _, score)| score)
        });
        assert!(with >= without);
        n_better += usize::from(with > without);
    });
    assert!(n_better > 0);
}

#[test]
fn null_words_go_to_the_left_except_at_the_root() {
    let mut n_nulls = [0, 0];
    sweep(|domain, terms, scores, _, config| {
        let Some((root, ..)) = found(decode(domain, terms, scores, config).unwrap()) else {
            return;
        };
        let is_null = |tree: &Tree| tree.category == Category::Null;
        n_nulls[0] += usize::from(root.children.first().is_some_and(is_null));
        let mut todo: Vec<&Tree> = root.children.iter().collect();
        while let Some(tree) = todo.pop() {
            let nulls: Vec<bool> = tree.children.iter().map(is_null).collect();
            assert!(matches!(nulls.as_slice(), [] | [false, _] | [false, false, false]), "{root:?}");
            n_nulls[1] += usize::from(nulls.last() == Some(&true));
            todo.extend(&tree.children);
        }
    });
    assert!(n_nulls.iter().all(|&n| n > 20), "{n_nulls:?}");
}

#[test]
fn labels_and_likelihood_agree_with_the_score() {
    sweep(|domain, terms, scores, trees, config| {
        let config = PaperConfig { k: 5, ..config };
        let PaperOutcome::Found { tree, score, .. } = decode(domain, terms, scores, config).unwrap() else {
            return;
        };
        let empty = log_prob(scores, &SpanTree::default());
        assert!((log_prob(scores, &tree) - empty - f64::from(score)).abs() < 1e-4);
        let n_constants = scores.n_constants();
        let labels = labels(&tree, scores.n_tokens(), n_constants);
        let n_joins = labels.iter().filter(|&&label| label as usize == n_constants).count();
        assert_eq!(n_joins, tree.nodes.iter().filter(|node| node.category == Category::Join).count());
        assert!(trees.iter().any(|(it, _)| *it == plain(&tree)));
    });
}
