//! Charts over span trees: exact search (CKY) and exact gradients for training (inside-outside).
//!
//! | module | algorithm |
//! |---|---|
//! | [`grammar`], [`lattice`] | the typed grammar in normal form; the leaves of one utterance and their scores |
//! | [`typed`] | CKY over the typed grammar, generic over a [`semiring`] (Goodman 1999) |
//! | [`derivation`], [`kbest`] | the Viterbi derivation; lazy k-best (Huang & Chiang 2005) |
//! | [`outside`], [`spans`] | log-partition and marginals by inside-outside; posteriors of spans |
//! | [`gold`], [`hypergraph`] | all derivations of one program as a hypergraph, with the same algorithms on it |
//! | [`mod@whole_phrases`] | the derivation of a program that is shown: constants take whole phrases |
//! | [`objective`] | training losses and their gradients |
//! | [`budget`] | limits on work, memory and time of the charts of one utterance |
//! | [`paper`] | Algorithm 1 of Herzig & Berant (2021): CKY with a beam |
//!
//! Scores and gradients are plain arrays. No module depends on a tensor library, a data set or the name of a predicate.
//!
//! ```
//! use spanwise_chart::derivation::BestChart;
//! use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
//! use spanwise_chart::lattice::{Lattice, Leaf, Scores};
//! use spanwise_chart::typed::{Input, RuleValues};
//! use spanwise_core::Utterance;
//! use spanwise_lang::{Domain, domain::NoTables};
//!
//! let domain = r#"
//!     name = "lamps"
//!     types = ["Lamp", "Action"]
//!     root = { types = ["Action"] }
//!     [constants]
//!     on = "Lamp -> Action"
//!     off = "Lamp -> Action"
//!     hall = "Lamp"
//! "#;
//! let domain = Domain::load(domain, "lamps.toml", None, &NoTables)?;
//! let constant = |name| domain.predicate(name).unwrap();
//! let utterance = Utterance::new("switch on hall");
//!
//! // `switch on` is aligned to `on` or `off`, `hall` to `hall`; the first has the highest score.
//! let leaf = |start, end, name| Leaf::new(start, end, constant(name));
//! let lattice = Lattice::new(3, vec![leaf(0, 2, "on"), leaf(0, 2, "off"), leaf(2, 3, "hall")])?;
//! let grammar = Grammar::new(&domain, Options::default());
//! let leaves = [[1.0; N_USAGES], [0.5; N_USAGES], [0.0; N_USAGES]].concat();
//! let rules = vec![0.0; grammar.n_rules()];
//! let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
//! let input = Input::new(&domain, &grammar, &lattice, scores)?;
//!
//! let chart = BestChart::new(input, &RuleValues::new(&grammar, &rules));
//! let best = chart.best().unwrap();
//! assert_eq!((best.score, chart.derivations().count()), (1.0, 2));
//!
//! let mut terms = domain.new_terms();
//! let (program, tree) = chart.tree(&mut terms, &best).unwrap();
//! assert_eq!(terms.display(program).to_string(), "on(hall)");
//! assert_eq!(tree.render(&domain, &terms, &utterance), "\
//! 0..3              join  on(hall)  Action
//!   0..2 switch on  on    on(_)     Lamp -> Action
//!   2..3 hall       hall  hall      Lamp
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod budget;
pub mod candidates;
mod cost;
pub mod derivable;
pub mod derivation;
mod edges;
pub mod gold;
pub mod gold_tree;
pub mod grammar;
pub mod hypergraph;
mod implicit;
pub mod kbest;
pub mod lattice;
mod layout;
pub mod objective;
pub mod outside;
pub mod paper;
mod rules;
mod scope;
pub mod semiring;
pub mod spans;
pub mod tree;
mod tree_builder;
pub mod typed;
mod underivable;
pub mod whole_phrases;

pub use tree::{Category, SpanTree, TreeNode};

/// The number of derivations of complete programs, as far as 2^53.
#[must_use]
pub fn count_derivations(input: &typed::Input<'_>) -> f64 {
    let rules = typed::RuleValues::<semiring::Count>::new(input.grammar, input.scores.rules);
    let scales = vec![0.0; input.lattice.n_positions()];
    typed::TypedChart::<semiring::Count>::filled(input, &rules, scales).root()
}
