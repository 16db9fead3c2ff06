//! Random small domains and sentences, and an enumeration of all their derivations as an oracle.

#![allow(dead_code, unreachable_pub, clippy::collapsible_if, reason = "each test file uses its own part")]

mod enumeration;

use enumeration::Enumeration;
use proptest::prelude::*;
use spanwise_chart::gold::OwnScores;
use spanwise_chart::grammar::{Discontinuity, Grammar, N_USAGES, Options, Side};
use spanwise_chart::lattice::{Gradient, Lattice, Leaf, Scores};
use spanwise_chart::typed::Input;
use spanwise_core::Random;
use spanwise_lang::domain::NoTables;
use spanwise_lang::states::{AccumulatorId, AccumulatorTypes};
use spanwise_lang::{ConstantId, Domain, FrameId, Meaning, Problem, TermId, Terms};
use std::collections::BTreeSet;

/// A score from -2 to 2 with three decimals.
pub fn score(random: &mut Random) -> f32 {
    random.below(4001) as f32 / 1000.0 - 2.0
}

/// Signatures that random constants have. Each constant is allowed on one run of words only, so a program determines
/// its words.
const SIGNATURES: &[&str] = &[
    "-> A",
    "-> B",
    "-> S",
    "-> E",
    "A -> A",
    "B -> A",
    "A -> B",
    "B -> B",
    "A -> S",
    "R -> A",
    "S -> B",
    "A, B -> A",
    "A, A -> B",
    "B, S -> A",
    "B, A, A -> A",
    "A = nil -> A",
    "E -> A",
    "A? -> B",
    "-> F",
    "A -> F",
    "G -> A",
    "G -> G",
    "B, G -> A",
    "A> -> B",
    "<B -> A",
    "B>, <B -> A",
    "<A, A -> B",
    "G> -> A",
    "-> M",
    "M -> A",
];

/// The same for terms that lack an argument, and what completes them. Some have the arguments of their form after a bar.
const LACKING: &[&str] = &[
    "-> A",
    "-> B",
    "-> V | {0}",
    "B -> V | {1}, {0}",
    "V -> V | {1}",
    "V -> V | {0}, {1}",
    "A, V -> B | {1}, {2:1}",
    "V>, <A -> A | {2}, {1:2}, {2}",
    "B, A, V -> V | {0}, {1}, {2}, {3:1}",
];

/// The same for arguments that can be missing, slots that hand up a gap, and what completes it.
const GAPS: &[&str] = &[
    "-> A",
    "-> N",
    "N/ -> A",
    "<N/, N/> -> A",
    "N/, A/ -> B",
    "A/>, N -> B",
    "A/? -> B",
    "A/N -> B | {1:who}",
    "A/N>, <N -> A | {1:2}, {2}",
    "B/N, A -> A | {1:it}, {2}",
];

/// Implicit constants that a random domain may have beside `q` and `w`: with no argument, one, and several.
const IMPLICIT: &[&str] = &["B", "S", "S -> B", "S, A -> B", "B, B -> A", "A, G, B -> S", "B>, A -> S"];

/// Pairs of signatures of one constant.
const OVERLOADED: &[[&str; 2]] = &[
    ["-> A", "-> S"],
    ["-> B", "-> F"],
    ["-> E", "-> B"],
    ["A -> A", "S -> B"],
    ["A -> B", "B -> A"],
    ["B -> B", "A -> F"],
    ["A, B -> A", "A, A -> B"],
];

/// Forms that several constants may share; some are also defaults.
const FORMS: &[&str] = &["z()", "any()", "nil"];

/// Everything that can be switched.
pub fn options() -> impl Strategy<Value = Options> {
    let discontinuity =
        prop_oneof![Just(Discontinuity::None), Just(Discontinuity::Ternary), Just(Discontinuity::Open)];
    (discontinuity, any::<bool>()).prop_map(|(discontinuity, implicit)| Options { discontinuity, implicit })
}

pub struct Case {
    pub domain: Domain,
    pub grammar: Grammar,
    pub lattice: Lattice,
    pub leaves: Vec<f32>,
    pub rules: Vec<f32>,
    pub joins: Vec<f32>,
    /// For each word, whether no derivation may leave it out.
    must_be_used: Vec<bool>,
    pub implicit: Vec<f32>,
    signatures: Vec<String>,
}

/// Some cases for a seed: up to eight constants on up to six words.
pub fn cases(seed: u64, options: Options) -> Vec<Case> {
    let mut random = Random::new(seed, &[1]);
    (0..4).map(|_| case(&mut random, options, false)).collect()
}

/// The same, but constants are allowed on several runs of words, so programs have several derivations.
pub fn repeated_cases(seed: u64, options: Options) -> Vec<Case> {
    let mut random = Random::new(seed, &[2]);
    (0..4).map(|_| case(&mut random, options, true)).collect()
}

/// Cases with constants of a built-in domain on up to six words.
pub fn built_in_cases(seed: u64, name: &str, options: Options) -> Vec<Case> {
    let mut random = Random::new(seed, &[3]);
    let domain = spanwise_domains::load::load(name).unwrap();
    let grammar = Grammar::new(&domain, options);
    let n_predicates = domain.predicate_names().count();
    (0..6)
        .map(|_| {
            let n_tokens = 1 + random.below(6);
            let leaves: Vec<Leaf> = (0..n_tokens + random.below(3))
                .map(|at| {
                    let start = if at < n_tokens { at } else { random.below(n_tokens) } as u32;
                    let end = (start + 1 + random.below(2) as u32).min(n_tokens as u32);
                    // Mostly predicates, now and then an entity.
                    let all = if random.below(4) == 0 { domain.constants().len() } else { n_predicates };
                    let drawn = ConstantId(random.below(all) as u32);
                    // What holds the place of an open class is no constant without a value.
                    let holds = domain.classes().iter().any(|class| class.holder == Some(drawn));
                    Leaf::new(start, end, if holds { ConstantId(0) } else { drawn })
                })
                .collect();
            let n_leaves = leaves.len();
            let lattice = Lattice::new(n_tokens, leaves).unwrap();
            Case {
                leaves: (0..n_leaves * N_USAGES).map(|_| score(&mut random)).collect(),
                rules: (0..grammar.n_rules()).map(|_| score(&mut random)).collect(),
                joins: Vec::new(),
                must_be_used: vec![false; n_tokens],
                implicit: (0..grammar.n_implicit_scores(&lattice))
                    .map(|at| (at as f32 * 1.7).sin())
                    .collect(),
                signatures: Vec::new(),
                domain: domain.clone(),
                grammar: grammar.clone(),
                lattice,
            }
        })
        .collect()
}

fn case(random: &mut Random, options: Options, is_repeated: bool) -> Case {
    let n_tokens = 1 + random.below(6);
    let n_constants = 1 + random.below(8);
    let pool = [LACKING, GAPS, SIGNATURES, SIGNATURES, SIGNATURES][random.below(5)];
    let signatures: Vec<String> =
        (0..n_constants).map(|_| pool[random.below(pool.len())].to_owned()).collect();
    let drawn =
        signatures.concat().bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let mut extra = Random::new(drawn, &[9]);
    // Few of them at a time, or there are too many derivations to list.
    let n_implicit = extra.below(3);
    let implicit: Vec<(usize, &str)> =
        (0..n_implicit).map(|at| (at, IMPLICIT[extra.below(IMPLICIT.len())])).collect();
    let mut source = format!("implicit_chain = {}\n", 1 + extra.below(2));
    source += "name = \"random\"\ntypes = [\"A\", \"B < A\", \"S\", \"E\", \"R\", \"F < G\", \"G\", \"V\", \"N\", \"M < B, S\"]\ngap = \"N\"\n\
         [root]\ntypes = [\"A\", \"R\", \"G\"]\nwrap = \"do({})\"\n\
         [[accumulators]]\nhead = \"pick\"\nelements = [\"E\"]\nover = \"S\"\nresult = \"R\"\ndefault = \"any()\"\n\
         [[sets]]\nhead = \"all\"\nelements = [\"F\"]\nresult = \"G\"\n@UNIQUE@\
         [constants]\nq = { type = \"B -> A\", implicit = true }\nv = { type = \"V\", form = \"v({0})\" }\nu = \"N/ -> B\"\nw = { type = [\"A -> S\", \"R -> A\"], implicit = true }\n";
    for (at, signature) in implicit {
        source += &format!("i{at} = {{ type = \"{signature}\", implicit = true }}\n");
    }
    for (at, signature) in signatures.iter().enumerate() {
        // Where programs determine their words, each has one typing.
        source += &match (extra.below(4), signature.split_once(" | ")) {
            (_, Some((ty, form))) => format!("k{at} = {{ type = \"{ty}\", form = \"k{at}({form})\" }}\n"),
            (0, _) if is_repeated => format!("k{at} = {:?}\n", OVERLOADED[extra.below(OVERLOADED.len())]),
            (1, _) if is_repeated && signature.starts_with("->") => {
                let form = FORMS[extra.below(FORMS.len())];
                format!("k{at} = {{ type = \"{signature}\", form = \"{form}\" }}\n")
            }
            _ => format!("k{at} = \"{signature}\"\n"),
        };
    }
    // Some of the constants that make elements make at most one.
    let is_plain = |at: &usize| source.contains(&format!("k{at} = \"{}\"", signatures[*at]));
    let elements =
        (0..n_constants).filter(|&at| matches!(&*signatures[at], "-> F" | "A -> F")).filter(is_plain);
    let unique: Vec<String> =
        elements.filter(|_| extra.below(2) == 0).map(|at| format!("\"k{at}\"")).collect();
    source =
        source.replace("@UNIQUE@", &format!("unique = [{}]\n", unique[..unique.len().min(5)].join(", ")));
    let domain =
        Domain::load(&source, "random.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"));
    let grammar = Grammar::new(&domain, options);
    let leaves: Vec<Leaf> = (0..n_constants)
        .map(|at| {
            // Most words get a constant of their own, some several.
            let start = if at < n_tokens { at } else { random.below(n_tokens) } as u32;
            let end = (start + 1 + random.below(2) as u32).min(n_tokens as u32);
            let which = if is_repeated { random.below(n_constants) } else { at };
            Leaf::new(start, end, domain.predicate(&format!("k{which}")).unwrap())
        })
        .collect();
    let lattice = Lattice::new(n_tokens, leaves).unwrap();
    let leaf_scores = (0..n_constants * N_USAGES).map(|_| score(random)).collect();
    let rules = (0..grammar.n_rules()).map(|_| score(random)).collect();
    let joins = if random.below(2) == 0 {
        Vec::new()
    } else {
        (0..lattice.n_cells()).map(|_| score(random)).collect()
    };
    let is_strict = random.below(3) == 0;
    let must_be_used: Vec<bool> = (0..n_tokens).map(|_| is_strict && random.below(3) == 0).collect();
    let lattice = lattice.using(&must_be_used, uses);
    let n_implicit = if extra.below(3) == 0 { 0 } else { grammar.n_implicit_scores(&lattice) };
    let implicit = (0..n_implicit).map(|_| score(&mut extra)).collect();
    Case { domain, grammar, lattice, leaves: leaf_scores, rules, joins, implicit, must_be_used, signatures }
}

/// Whether a leaf may take words that must be used: that of every other constant and word.
fn uses(leaf: &Leaf) -> bool {
    (leaf.start + leaf.constant.0).is_multiple_of(2)
}

impl Case {
    pub fn scores(&self) -> Scores<'_> {
        Scores { leaves: &self.leaves, rules: &self.rules, joins: &self.joins, implicit: &self.implicit }
    }

    /// What has scores of its own.
    pub fn own(&self) -> OwnScores {
        OwnScores::of(&self.scores())
    }

    /// All scores, as gold charts number them.
    pub fn flat(&self) -> Vec<f32> {
        [&self.leaves[..], &self.rules, &self.joins, &self.implicit].concat()
    }

    pub fn input(&self) -> Input<'_> {
        Input::new(&self.domain, &self.grammar, &self.lattice, self.scores()).unwrap()
    }

    pub fn describe(&self) -> String {
        let spans: Vec<_> =
            self.lattice.leaves().iter().map(|leaf| format!("{}..{}", leaf.start, leaf.end)).collect();
        let source = self.domain.source();
        format!("{:?} on {:?} of {:?} in\n{source}", self.signatures, spans, self.must_be_used)
    }

    pub fn scaled(&self, factor: f32) -> Self {
        let times = |scores: &[f32]| scores.iter().map(|score| score * factor).collect();
        Self {
            domain: self.domain.clone(),
            grammar: self.grammar.clone(),
            lattice: self.lattice.clone(),
            leaves: times(&self.leaves),
            rules: times(&self.rules),
            joins: times(&self.joins),
            must_be_used: self.must_be_used.clone(),
            implicit: times(&self.implicit),
            signatures: self.signatures.clone(),
        }
    }

    /// The same where all words may be left out.
    pub fn lenient(&self) -> Self {
        Self { lattice: self.lattice.lenient(), ..self.scaled(1.0) }
    }

    /// The number of derivations in the chart.
    pub fn count(&self) -> f64 {
        spanwise_chart::count_derivations(&self.input())
    }

    /// Every program that any order of composition gives, each once: no normal form, no scores.
    pub fn readings(&self) -> BTreeSet<String> {
        let mut terms = self.domain.new_terms();
        let n = self.lattice.n_positions();
        let mut found = BTreeSet::new();
        for p in (0..n).filter(|&p| self.can_omit(0, self.lattice.span(p, n).start)) {
            for free in self.free(&mut terms, p, n) {
                let program = self.domain.program(&mut terms, &free.meaning);
                // Sets may have elements that are not allowed together.
                let is_allowed = |program: &TermId| {
                    !matches!(self.domain.analyze(&terms, *program), Err(Problem::Repeated { .. }))
                };
                if let Some(program) = program.filter(is_allowed) {
                    found.insert(terms.display(program).to_string());
                }
            }
        }
        found
    }

    /// All meanings of a cell by unrestricted composition, without duplicates.
    fn free(&self, terms: &mut Terms, p: usize, q: usize) -> Vec<Free> {
        let mut found: Vec<Free> = Vec::new();
        let mut add = |free: Free| {
            if !found.contains(&free) {
                found.push(free);
            }
        };
        for (leaf, frame) in self.leaf_frames(p, q) {
            let meaning = self.domain.leaf(terms, leaf.constant, frame).unwrap();
            for (_, argument) in self.inserted(0) {
                let argument = self.domain.leaf(terms, self.domain.frame_owner(argument), argument).unwrap();
                for slot in 0..self.domain.frame(frame).slots.len() {
                    let with_argument = self.domain.fill_slot(terms, &meaning, slot, &argument);
                    with_argument
                        .into_iter()
                        .for_each(|meaning| add(Free { meaning, kind: FreeKind::Other }));
                }
            }
            add(Free { meaning, kind: FreeKind::Leaf });
        }
        for split in p + 1..q {
            let (left, right) = (self.free(terms, p, split), self.free(terms, split, q));
            for l in &left {
                for r in &right {
                    self.combine(terms, l, r).into_iter().for_each(&mut add);
                }
            }
        }
        let mut layer = found.clone();
        for _ in 0..self.domain.implicit_chain() {
            layer = layer.iter().flat_map(|base| self.implicit(terms, base, 1)).collect();
            found.extend(layer.iter().cloned());
        }
        let starts: Vec<Free> = found.iter().flat_map(|base| self.implicit(terms, base, 2)).collect();
        found.extend(starts);
        found
    }

    fn combine(&self, terms: &mut Terms, l: &Free, r: &Free) -> Vec<Free> {
        let domain = &self.domain;
        let mut made = Vec::new();
        // A function without words takes its arguments from left to right.
        if l.kind == FreeKind::Inserted || r.kind == FreeKind::Inserted {
            if l.kind == FreeKind::Inserted && self.is_argument(r) {
                made.extend(domain.apply_on(terms, &l.meaning, &r.meaning, Some(Side::Right)));
            }
            let kind = |meaning: &Meaning| match meaning {
                Meaning::Open { .. } => FreeKind::Inserted,
                _ => FreeKind::Other,
            };
            return made.into_iter().map(|meaning| Free { kind: kind(&meaning), meaning }).collect();
        }
        // Values are leaves: what a function gives does not gather.
        let is_value =
            |free: &Free| free.kind == FreeKind::Leaf || matches!(free.meaning, Meaning::Gathered { .. });
        let is_open = |f: &Free| matches!(f.meaning, Meaning::Open { .. } | Meaning::Spread { .. });
        let can_apply = |f: &Free| is_open(f) || is_value(f);
        if can_apply(l) && self.is_argument(r) {
            made.extend(domain.apply_on(terms, &l.meaning, &r.meaning, Some(Side::Right)));
        }
        if can_apply(r) && self.is_argument(l) {
            made.extend(domain.apply_on(terms, &r.meaning, &l.meaning, Some(Side::Left)));
        }
        if is_value(l) && is_value(r) || self.is_of_set(l) && self.is_of_set(r) {
            made.extend(domain.gather(&l.meaning, &r.meaning));
        }
        for (function, elements) in [(l, r), (r, l)] {
            if self.is_of_set(elements) {
                made.extend(domain.spread(&function.meaning, &elements.meaning));
            }
        }
        for (outer, inner) in [(l, r), (r, l)] {
            let is_open = |free: &Free| matches!(free.meaning, Meaning::Open { .. });
            let allowed = match self.grammar.options().discontinuity {
                Discontinuity::None => false,
                Discontinuity::Ternary => inner.kind == FreeKind::Leaf,
                Discontinuity::Open => true,
            };
            if outer.kind == FreeKind::Leaf && allowed && is_open(outer) && is_open(inner) {
                made.extend(domain.compose(&outer.meaning, &inner.meaning));
            }
        }
        made.into_iter().map(|meaning| Free { meaning, kind: FreeKind::Other }).collect()
    }

    /// A complete term, or values that close by themselves.
    fn is_argument(&self, free: &Free) -> bool {
        !matches!(free.meaning, Meaning::Open { .. } | Meaning::Spread { .. })
    }

    /// One element of the set, or several.
    fn is_of_set(&self, free: &Free) -> bool {
        let (_, types) = set(&self.domain);
        match &free.meaning {
            Meaning::Done { ty, .. } => self.domain.types().is_subtype(*ty, types.elements[0]),
            Meaning::Gathered { accumulator, .. } => self.domain.accumulator_types()[*accumulator].is_set(),
            Meaning::Open { .. } | Meaning::Spread { .. } => false,
        }
    }

    /// The frames of implicit constants with so many arguments, each with the number of its constant; two means several.
    pub fn inserted(&self, n_slots: usize) -> Vec<(usize, FrameId)> {
        if !self.grammar.options().implicit {
            return Vec::new();
        }
        let numbered = if n_slots == 0 { self.grammar.unsaid() } else { self.grammar.inserted() };
        let frames = |(number, &id): (usize, &ConstantId)| {
            let frames = self.domain.frames_of(id);
            let fits = frames.filter(move |(_, frame)| frame.implicit && frame.slots.len().min(2) == n_slots);
            fits.map(move |(id, _)| (number, id)).collect::<Vec<_>>()
        };
        numbered.iter().enumerate().flat_map(frames).collect()
    }

    /// What implicit constants with so many arguments make of a complete term.
    fn implicit(&self, terms: &mut Terms, base: &Free, n_slots: usize) -> Vec<Free> {
        let mut made = Vec::new();
        if !self.is_argument(base) {
            return made;
        }
        let (side, kind) =
            if n_slots == 1 { (None, FreeKind::Other) } else { (Some(Side::Right), FreeKind::Inserted) };
        for (_, frame) in self.inserted(n_slots) {
            let function = self.domain.leaf(terms, self.domain.frame_owner(frame), frame).unwrap();
            let result = self.domain.apply_on(terms, &function, &base.meaning, side);
            made.extend(result.map(|meaning| Free { meaning, kind }));
        }
        made
    }

    fn leaf_frames(&self, p: usize, q: usize) -> Vec<(Leaf, FrameId)> {
        let span = self.lattice.span(p, q);
        let fits = |leaf: &&Leaf| leaf.start == span.start && self.can_reach(leaf, span.end);
        let leaves = self.lattice.leaves().iter().filter(fits);
        leaves
            .flat_map(|leaf| {
                self.domain.constants()[leaf.constant].frames.clone().map(|raw| (*leaf, FrameId(raw)))
            })
            .collect()
    }

    /// Whether some constant of a program completes an argument.
    pub fn completes(&self, program: &str) -> bool {
        let completing = self.signatures.iter().enumerate().filter(|(_, signature)| signature.contains(':'));
        completing.into_iter().any(|(at, _)| program.contains(&format!("k{at}(")))
    }

    /// Whether these words may be left out.
    fn can_omit(&self, start: u32, end: u32) -> bool {
        (start..end).all(|word| !self.must_be_used[word as usize])
    }

    /// Whether a leaf and null words after it may take all words up to `end`.
    fn can_reach(&self, leaf: &Leaf, end: u32) -> bool {
        let is_allowed = uses(leaf) || self.can_omit(leaf.start, leaf.end);
        is_allowed && leaf.end <= end && self.can_omit(leaf.end, end)
    }

    /// Every derivation in normal form with its score, by a recursion that shares nothing with the chart.
    pub fn enumerate(&self) -> Vec<(f64, String)> {
        Enumeration::new(self).all()
    }

    /// Compares a gradient with the enumeration and with finite differences of it.
    pub fn check_gradient(&self, gradient: &Gradient) {
        let log_z = |case: &Self| {
            let scored = case.enumerate();
            let top = scored.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
            top + scored.iter().map(|(score, _)| (score - top).exp()).sum::<f64>().ln()
        };
        let mut shifted = self.scaled(1.0);
        let step = 1e-2f32;
        for part in 0..4 {
            let n = [&self.leaves, &self.rules, &self.joins, &self.implicit][part].len();
            let expected =
                [&gradient.leaves, &gradient.rules, &gradient.joins, &gradient.implicit][part].clone();
            assert_eq!(expected.len(), n);
            for at in 0..n {
                // Finite differences only where something happens, and at a few places where nothing should.
                if expected[at].abs() < 1e-6 && at % 17 != 0 {
                    continue;
                }
                let mut value = |delta: f32| {
                    let scores = match part {
                        0 => &mut shifted.leaves,
                        1 => &mut shifted.rules,
                        2 => &mut shifted.joins,
                        _ => &mut shifted.implicit,
                    };
                    let old = scores[at];
                    scores[at] = old + delta;
                    let moved = f64::from(scores[at]) - f64::from(old);
                    let z = log_z(&shifted);
                    match part {
                        0 => shifted.leaves[at] = old,
                        1 => shifted.rules[at] = old,
                        2 => shifted.joins[at] = old,
                        _ => shifted.implicit[at] = old,
                    }
                    (z, moved)
                };
                let ((high, up), (low, down)) = (value(step), value(-step));
                let slope = (high - low) / (up - down);
                assert!(
                    (slope - f64::from(expected[at])).abs() < 2e-4,
                    "part {part} at {at}: {slope} {}",
                    expected[at]
                );
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
struct Free {
    meaning: Meaning,
    kind: FreeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FreeKind {
    Leaf,
    /// A function without words that has some of its arguments.
    Inserted,
    Other,
}

/// The set of a random domain.
pub fn set(domain: &Domain) -> (AccumulatorId, &AccumulatorTypes) {
    domain.accumulator_types().iter_enumerated().find(|(_, types)| types.is_set()).unwrap()
}

pub fn constant(domain: &Domain, name: &str) -> ConstantId {
    domain.constants().iter_enumerated().find(|(_, known)| known.name == name).unwrap().0
}
