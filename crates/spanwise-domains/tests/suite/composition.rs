//! The composition tables against a naive evaluator, and meanings against the tables.
//!
//! The naive evaluator below works on names and walks parents; it shares no code with the tables.

use proptest::prelude::*;
use spanwise_domains::load::load;
use spanwise_lang::{Domain, Meaning, State, StateId};

const DOMAINS: &[&str] = &[
    #[cfg(feature = "geo")]
    "geo",
    #[cfg(feature = "geo")]
    "geo@paper",
    "clevr",
    "scan",
];

/// A meaning state in words: open slots and result, or a run of values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Naive {
    Function { open: Vec<String>, result: String },
    Run(String),
}

struct Evaluator<'a> {
    domain: &'a Domain,
}

impl Evaluator<'_> {
    fn name(&self, ty: spanwise_lang::TypeId) -> String {
        self.domain.types().name(ty).to_owned()
    }

    fn is_below(&self, name: &str, wanted: &str) -> bool {
        let types = self.domain.types();
        let Some(id) = types.find(name) else { return false };
        name == wanted || types.parents(id).iter().any(|&parent| self.is_below(types.name(parent), wanted))
    }

    fn describe(&self, state: &State) -> Naive {
        match state {
            State::Done(ty) => Naive::Function { open: Vec::new(), result: self.name(*ty) },
            State::Wants { slots, result } => Naive::Function {
                open: slots.iter().map(|&slot| self.name(slot)).collect(),
                result: self.name(*result),
            },
            State::Gathered(id) => {
                Naive::Run(self.domain.new_terms().text(self.domain.accumulators()[*id].head).to_owned())
            }
        }
    }

    /// The accumulator that a state can become part of: head, over, result, and whether it is complete on its own.
    fn run(&self, state: &Naive) -> Option<(String, String, String, bool)> {
        let terms = self.domain.new_terms();
        for (id, acc) in self.domain.accumulators().iter_enumerated() {
            let types = &self.domain.accumulator_types()[id];
            let head = terms.text(acc.head).to_owned();
            let hit = match state {
                Naive::Run(name) => *name == head,
                Naive::Function { open, result } => {
                    open.is_empty() && types.elements.iter().any(|&e| self.is_below(result, &self.name(e)))
                }
            };
            if hit {
                let over = self.name(types.over.expect("the built-in domains have no sets"));
                return Some((head, over, self.name(types.result), acc.default.is_some()));
            }
        }
        None
    }

    fn apply(&self, f: &Naive, a: &Naive) -> Option<Naive> {
        let mut argument_types = Vec::new();
        if let Naive::Function { open, result } = a {
            if !open.is_empty() {
                return None;
            }
            argument_types.push(result.clone());
        }
        let a_run = self.run(a);
        if let Some((_, _, result, true)) = &a_run {
            argument_types.push(result.clone());
        }
        match f {
            Naive::Function { open, result } if !open.is_empty() => {
                for ty in &argument_types {
                    for at in 0..open.len() {
                        if self.is_below(ty, &open[at]) {
                            let mut rest = open.clone();
                            rest.remove(at);
                            return Some(Naive::Function { open: rest, result: result.clone() });
                        }
                    }
                }
                None
            }
            _ => {
                let (_, over, result, _) = self.run(f)?;
                let Naive::Function { result: ty, .. } = a else { return None };
                (a_run.is_none() && self.is_below(ty, &over))
                    .then_some(Naive::Function { open: Vec::new(), result })
            }
        }
    }

    fn one_slot(&self, f: &Naive) -> Option<(String, String)> {
        match f {
            Naive::Function { open, result } if open.len() == 1 => Some((open[0].clone(), result.clone())),
            Naive::Function { open, .. } if open.len() > 1 => None,
            _ => self.run(f).map(|(_, over, result, _)| (over, result)),
        }
    }

    fn compose(&self, f: &Naive, g: &Naive) -> Option<Naive> {
        let (wanted, result) = self.one_slot(f)?;
        let (slot, given) = self.one_slot(g)?;
        self.is_below(&given, &wanted).then_some(Naive::Function { open: vec![slot], result })
    }

    fn gather(&self, l: &Naive, r: &Naive) -> Option<Naive> {
        let (head, ..) = self.run(l)?;
        (self.run(r)?.0 == head).then_some(Naive::Run(head))
    }
}

#[test]
fn the_tables_equal_a_naive_evaluator_of_the_signatures() {
    for spec in DOMAINS {
        let domain = load(spec).unwrap();
        let (states, naive) = (domain.states(), Evaluator { domain: &domain });
        let described: Vec<Naive> = states.iter().map(|(_, state)| naive.describe(state)).collect();
        let all: std::collections::BTreeSet<Naive> = described.iter().cloned().collect();
        // All states with each other for small domains; for large ones every state with a fixed sample.
        let step = (states.len() / 120).max(1);
        let mut n_checked = 0usize;
        for (i, f) in described.iter().enumerate() {
            for (j, a) in described.iter().enumerate().skip(i % step).step_by(step) {
                let (row, column) = (StateId(i as u16), StateId(j as u16));
                let known = |id: Option<StateId>| id.map(|id| described[id.0 as usize].clone());
                // States that no complete program can contain are left out of the tables.
                let kept = |state: Option<Naive>| state.filter(|state| all.contains(state));
                let pair = || format!("{spec}: {} with {}", domain.describe(row), domain.describe(column));
                assert_eq!(
                    known(states.apply().get(row, column)),
                    kept(naive.apply(f, a)),
                    "apply, {}",
                    pair()
                );
                assert_eq!(
                    known(states.compose().get(row, column)),
                    kept(naive.compose(f, a)),
                    "compose, {}",
                    pair()
                );
                assert_eq!(
                    known(states.gather().get(row, column)),
                    kept(naive.gather(f, a)),
                    "gather, {}",
                    pair()
                );
                n_checked += 1;
            }
        }
        assert!(n_checked >= states.len() * states.len().min(100), "{spec}: only {n_checked} pairs");
    }
}

#[test]
fn states_without_open_composition_come_first_and_are_closed_under_application() {
    for spec in DOMAINS {
        let domain = load(spec).unwrap();
        let states = domain.states();
        let plain = |id: StateId| (id.0 as usize) < states.n_plain();
        for (id, _) in states.iter().filter(|(id, _)| plain(*id)) {
            assert!(states.apply().row(id).filter(|(a, _)| plain(*a)).all(|(_, to)| plain(to)), "{spec}");
        }
        for constant in domain.constants().ids() {
            assert!(domain.frames_of(constant).filter_map(|(_, frame)| frame.state).all(plain), "{spec}");
        }
    }
}

/// Combines meanings at random, always checking them against the tables; returns the complete programs.
fn random_programs(domain: &Domain, choices: &[(u32, u32, u8)]) -> Vec<String> {
    let mut terms = domain.new_terms();
    let mut pool: Vec<Meaning> = Vec::new();
    let n_constants = domain.constants().len() as u32;
    for &(a, _, _) in choices {
        let constant = spanwise_lang::ConstantId(a % n_constants);
        let frames: Vec<_> = domain.frames_of(constant).map(|(id, _)| id).collect();
        // Only the holder of an open class has no meaning without a value.
        pool.extend(domain.leaf(&mut terms, constant, frames[a as usize / 7 % frames.len()]));
    }
    // Predicates are few among many entities: give each a place.
    for constant in domain.constants().ids().take(80) {
        for (frame, _) in domain.frames_of(constant) {
            pool.push(domain.leaf(&mut terms, constant, frame).expect("the frame is its own"));
        }
    }
    let mut programs = Vec::new();
    for round in 0..12 {
        for &(a, b, op) in choices {
            let (f, g) =
                (&pool[(a as usize + round) % pool.len()], &pool[(b as usize + round * 3) % pool.len()]);
            let (i, j) = (domain.state_id_of(f), domain.state_id_of(g));
            let (table, made) = match op % 3 {
                0 => (domain.states().apply(), domain.apply(&mut terms, f, g)),
                1 => (domain.states().compose(), domain.compose(f, g)),
                _ => (domain.states().gather(), domain.gather(f, g)),
            };
            let expected = i.zip(j).and_then(|(i, j)| table.get(i, j));
            assert_eq!(made.as_ref().and_then(|made| domain.state_id_of(made)), expected, "{f:?} with {g:?}");
            pool.extend(made);
        }
    }
    for meaning in &pool {
        if let Some(program) = domain.program(&mut terms, meaning) {
            let is_root = domain.state_id_of(meaning).is_some_and(|id| domain.states().is_root(id));
            assert!(is_root, "{meaning:?}");
            if let Err(problem) = domain.analyze(&terms, program) {
                panic!("{}: {}", domain.display(&terms, program), problem.describe(domain, &terms));
            }
            programs.push(domain.display(&terms, program).to_string());
        }
    }
    programs
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn meanings_compose_exactly_as_the_tables_say_and_complete_ones_are_well_typed_programs(
        choices in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u8>()), 60),
        which in 0..DOMAINS.len(),
    ) {
        let domain = load(DOMAINS[which]).unwrap();
        let programs = random_programs(&domain, &choices);
        prop_assert!(!programs.is_empty());
    }
}
