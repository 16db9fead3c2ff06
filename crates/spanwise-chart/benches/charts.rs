//! Charts on questions of our own with seeded random scores; `spanwise bench chart` does the same on data.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may panic")]

use divan::{Bencher, black_box};
use spanwise_chart::candidates::Candidates;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::lattice::{Lattice, Scores};
use spanwise_chart::outside::marginals;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Utterance;
use spanwise_lang::Domain;

const SENTENCES: [(&str, &str); 3] = [
    ("geo", "how many rivers run through the largest state that borders ohio ?"),
    ("clevr", "is there a small shiny ball that is the same color as the matte cube left of the cylinder ?"),
    ("scan", "look around left twice and run opposite right thrice"),
];

fn main() {
    divan::main();
}

struct Case {
    domain: Domain,
    grammar: Grammar,
    lattice: Lattice,
    leaves: Vec<f32>,
    rules: Vec<f32>,
}

impl Case {
    fn new(name: &str) -> Self {
        let (_, text) = SENTENCES.iter().find(|(known, _)| *known == name).unwrap();
        let domain = spanwise_domains::load::load(name).unwrap();
        let grammar = Grammar::new(&domain, Options::default());
        let lattice = Candidates::default().lattice(&domain, &Utterance::new(*text)).unwrap();
        let mut state = 42u64;
        let mut score = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
        };
        let leaves = (0..lattice.leaves().len() * N_USAGES).map(|_| score()).collect();
        let rules = (0..grammar.n_rules()).map(|_| score()).collect();
        Self { domain, grammar, lattice, leaves, rules }
    }

    fn input(&self) -> Input<'_> {
        let scores = Scores { leaves: &self.leaves, rules: &self.rules, joins: &[] };
        Input::new(&self.domain, &self.grammar, &self.lattice, scores).unwrap()
    }
}

#[divan::bench(args = spanwise_domains::load::builtin_names())]
fn typed_best(bencher: Bencher<'_, '_>, name: &str) {
    let case = Case::new(name);
    let rules = RuleValues::new(&case.grammar, &case.rules);
    bencher.bench_local(|| black_box(BestChart::new(case.input(), &rules).best()));
}

#[divan::bench(args = spanwise_domains::load::builtin_names())]
fn typed_marginals(bencher: Bencher<'_, '_>, name: &str) {
    let case = Case::new(name);
    let rules = RuleValues::new(&case.grammar, &case.rules);
    bencher.bench_local(|| black_box(marginals(&case.input(), &rules)));
}
