//! Random small domains and sentences, and a slow enumeration of everything they can mean.

#![allow(dead_code, unreachable_pub, clippy::collapsible_if, reason = "each test file uses its own part")]

use spanwise_chart::grammar::{Discontinuity, Grammar, N_USAGES, Options, RuleKey, RuleKind, Side, Usage};
use spanwise_chart::lattice::{Gradient, Lattice, Leaf, Scores};
use spanwise_chart::typed::Input;
use spanwise_lang::domain::NoTables;
use spanwise_lang::{ConstantId, Domain, FrameId, Meaning, Terms, TypeId};
use std::collections::{BTreeMap, BTreeSet};

/// A generator of its own, so that cases are the same on every machine.
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    pub fn score(&mut self) -> f32 {
        self.below(4001) as f32 / 1000.0 - 2.0
    }
}

/// Signatures that random constants have. Each constant stands on one run of words only, so a program tells
/// which words it came from.
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
];

pub struct Case {
    pub domain: Domain,
    pub grammar: Grammar,
    pub lattice: Lattice,
    pub leaves: Vec<f32>,
    pub rules: Vec<f32>,
    pub joins: Vec<f32>,
    signatures: Vec<String>,
}

/// Some cases for a seed: up to eight constants on up to six words.
pub fn cases(seed: u64, options: Options) -> Vec<Case> {
    let mut rng = Rng(seed ^ 0x9e37_79b9_7f4a_7c15);
    (0..4).map(|_| case(&mut rng, options, false)).collect()
}

/// The same, but constants may stand on several runs of words, so programs have several derivations.
pub fn repeated_cases(seed: u64, options: Options) -> Vec<Case> {
    let mut rng = Rng(seed ^ 0x1234_5678_9abc_def1);
    (0..4).map(|_| case(&mut rng, options, true)).collect()
}

/// Cases with constants of a built-in domain on up to six words.
pub fn built_in_cases(seed: u64, name: &str, options: Options) -> Vec<Case> {
    let mut rng = Rng(seed ^ 0x5bd1_e995_9d1b_54a5);
    let domain = spanwise_domains::load::load(name).unwrap();
    let grammar = Grammar::new(&domain, options);
    let n_predicates = domain.predicate_names().count();
    (0..6)
        .map(|_| {
            let n_tokens = 1 + rng.below(6);
            let leaves: Vec<Leaf> = (0..n_tokens + rng.below(3))
                .map(|at| {
                    let start = if at < n_tokens { at } else { rng.below(n_tokens) } as u32;
                    let end = (start + 1 + rng.below(2) as u32).min(n_tokens as u32);
                    // Mostly predicates, now and then an entity.
                    let all = if rng.below(4) == 0 { domain.constants().len() } else { n_predicates };
                    Leaf { start, end, constant: ConstantId(rng.below(all) as u32) }
                })
                .collect();
            let n_leaves = leaves.len();
            let lattice = Lattice::new(n_tokens, leaves).unwrap();
            Case {
                leaves: (0..n_leaves * N_USAGES).map(|_| rng.score()).collect(),
                rules: (0..grammar.n_rules()).map(|_| rng.score()).collect(),
                joins: Vec::new(),
                signatures: Vec::new(),
                domain: domain.clone(),
                grammar: grammar.clone(),
                lattice,
            }
        })
        .collect()
}

fn case(rng: &mut Rng, options: Options, is_repeated: bool) -> Case {
    let n_tokens = 1 + rng.below(6);
    let n_constants = 1 + rng.below(8);
    let signatures: Vec<String> =
        (0..n_constants).map(|_| SIGNATURES[rng.below(SIGNATURES.len())].to_owned()).collect();
    let mut source = String::from(
        "name = \"random\"\ntypes = [\"A\", \"B < A\", \"S\", \"E\", \"R\"]\n[root]\ntypes = [\"A\", \"R\"]\nwrap = \"do({})\"\n\
         [[accumulators]]\nhead = \"pick\"\nelements = [\"E\"]\nover = \"S\"\nresult = \"R\"\ndefault = \"any()\"\n\
         [constants]\nq = { type = \"B -> A\", implicit = true }\nw = { type = [\"A -> S\", \"R -> A\"], implicit = true }\n",
    );
    for (at, signature) in signatures.iter().enumerate() {
        source += &format!("k{at} = \"{signature}\"\n");
    }
    let domain =
        Domain::load(&source, "random.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"));
    let grammar = Grammar::new(&domain, options);
    let leaves: Vec<Leaf> = (0..n_constants)
        .map(|at| {
            // Most words get a constant of their own, some several.
            let start = if at < n_tokens { at } else { rng.below(n_tokens) } as u32;
            let end = (start + 1 + rng.below(2) as u32).min(n_tokens as u32);
            let which = if is_repeated { rng.below(n_constants) } else { at };
            Leaf { start, end, constant: domain.predicate(&format!("k{which}")).unwrap() }
        })
        .collect();
    let lattice = Lattice::new(n_tokens, leaves).unwrap();
    let leaf_scores = (0..n_constants * N_USAGES).map(|_| rng.score()).collect();
    let rules = (0..grammar.n_rules()).map(|_| rng.score()).collect();
    let joins =
        if rng.below(2) == 0 { Vec::new() } else { (0..lattice.n_cells()).map(|_| rng.score()).collect() };
    Case { domain, grammar, lattice, leaves: leaf_scores, rules, joins, signatures }
}

impl Case {
    pub fn scores(&self) -> Scores<'_> {
        Scores { leaves: &self.leaves, rules: &self.rules, joins: &self.joins }
    }

    pub fn input(&self) -> Input<'_> {
        Input::new(&self.domain, &self.grammar, &self.lattice, self.scores()).unwrap()
    }

    pub fn describe(&self) -> String {
        let spans: Vec<_> =
            self.lattice.leaves().iter().map(|leaf| format!("{}..{}", leaf.start, leaf.end)).collect();
        format!("{:?} on {:?} of {}", self.signatures, spans, self.lattice.n_tokens())
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
            signatures: self.signatures.clone(),
        }
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
        for p in 0..n {
            for free in self.free(&mut terms, p, n) {
                if let Some(program) = self.domain.program(&mut terms, &free.meaning) {
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
            add(Free { meaning, is_leaf: true, is_implicit: false });
        }
        for split in p + 1..q {
            let (left, right) = (self.free(terms, p, split), self.free(terms, split, q));
            for l in &left {
                for r in &right {
                    for meaning in self.combine(terms, l, r) {
                        add(Free { meaning, is_leaf: false, is_implicit: false });
                    }
                }
            }
        }
        if self.grammar.options().implicit {
            for base in found.clone() {
                for meaning in self.implicit(terms, &base.meaning).into_iter().map(|(meaning, _)| meaning) {
                    found.push(Free { meaning, is_leaf: false, is_implicit: true });
                }
            }
        }
        found
    }

    fn combine(&self, terms: &mut Terms, l: &Free, r: &Free) -> Vec<Meaning> {
        let domain = &self.domain;
        let mut made = Vec::new();
        // Values are leaves: what a function gives does not gather.
        let is_value = |free: &Free| free.is_leaf || matches!(free.meaning, Meaning::Gathered { .. });
        let can_apply = |f: &Free| matches!(f.meaning, Meaning::Open { .. }) || is_value(f);
        if can_apply(l) && self.is_argument(r) {
            made.extend(domain.apply(terms, &l.meaning, &r.meaning));
        }
        if can_apply(r) && self.is_argument(l) {
            made.extend(domain.apply(terms, &r.meaning, &l.meaning));
        }
        if is_value(l) && is_value(r) {
            made.extend(domain.gather(&l.meaning, &r.meaning));
        }
        for (outer, inner) in [(l, r), (r, l)] {
            let is_open = |free: &Free| matches!(free.meaning, Meaning::Open { .. });
            let allowed = match self.grammar.options().discontinuity {
                Discontinuity::None => false,
                Discontinuity::Ternary => inner.is_leaf,
                Discontinuity::Open => true,
            };
            if outer.is_leaf && allowed && is_open(outer) && is_open(inner) {
                made.extend(domain.compose(&outer.meaning, &inner.meaning));
            }
        }
        made
    }

    /// A complete term, or values that close by themselves.
    fn is_argument(&self, free: &Free) -> bool {
        !matches!(free.meaning, Meaning::Open { .. })
    }

    /// What implicit constants make of a complete term.
    fn implicit(&self, terms: &mut Terms, meaning: &Meaning) -> Vec<(Meaning, FrameId)> {
        let mut made = Vec::new();
        for (id, constant) in
            self.domain.constants().iter_enumerated().filter(|(_, constant)| constant.implicit)
        {
            for raw in constant.frames.clone() {
                let function = self.domain.leaf(terms, id, FrameId(raw)).unwrap();
                let result = self.domain.apply(terms, &function, meaning);
                made.extend(result.map(|result| (result, FrameId(raw))));
            }
        }
        made
    }

    fn leaf_frames(&self, p: usize, q: usize) -> Vec<(Leaf, FrameId)> {
        let span = self.lattice.span(p, q);
        let leaves =
            self.lattice.leaves().iter().filter(|leaf| leaf.start == span.start && leaf.end <= span.end);
        leaves
            .flat_map(|leaf| {
                self.domain.constants()[leaf.constant].frames.clone().map(|raw| (*leaf, FrameId(raw)))
            })
            .collect()
    }

    /// Every derivation in normal form with its score, by a recursion that shares nothing with the chart.
    pub fn enumerate(&self) -> Vec<(f64, String)> {
        let slow = Slow::new(self);
        slow.all()
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
        for part in 0..3 {
            let n = [self.leaves.len(), self.rules.len(), self.joins.len()][part];
            let expected = [&gradient.leaves, &gradient.rules, &gradient.joins][part].clone();
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
                        _ => &mut shifted.joins,
                    };
                    let old = scores[at];
                    scores[at] = old + delta;
                    let moved = f64::from(scores[at]) - f64::from(old);
                    let z = log_z(&shifted);
                    match part {
                        0 => shifted.leaves[at] = old,
                        1 => shifted.rules[at] = old,
                        _ => shifted.joins[at] = old,
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
    is_leaf: bool,
    is_implicit: bool,
}

/// What an item of the slow enumeration is.
#[derive(Clone, Debug)]
enum Kind {
    /// A leaf that has not been used yet.
    Leaf(usize),
    Closed,
    List,
    /// Slots, which are filled, the slot of the last argument if that came from the left.
    Partial(Vec<TypeId>, u16, Option<usize>, TypeId),
    Composite(Side),
}

#[derive(Clone, Debug)]
struct Item {
    meaning: Meaning,
    kind: Kind,
    score: f64,
}

struct Slow<'a> {
    case: &'a Case,
    rule_at: BTreeMap<RuleKey, usize>,
}

impl<'a> Slow<'a> {
    fn new(case: &'a Case) -> Self {
        let rule_at = case.grammar.rules().iter().enumerate().map(|(at, key)| (*key, at)).collect();
        Self { case, rule_at }
    }

    fn rule(&self, kind: RuleKind, input: TypeId, output: TypeId, side: Side) -> f64 {
        f64::from(self.case.rules[self.rule_at[&RuleKey { kind, input, output, side }]])
    }

    fn usage(&self, leaf: usize, usage: Usage) -> f64 {
        f64::from(self.case.leaves[leaf * N_USAGES + usage.index()])
    }

    fn all(&self) -> Vec<(f64, String)> {
        let case = self.case;
        let mut terms = case.domain.new_terms();
        let n = case.lattice.n_positions();
        let mut found = Vec::new();
        for p in 0..n {
            for item in self.closed(&mut terms, p, n) {
                let ty = self.closed_type(&item);
                let is_root =
                    case.domain.root_types().iter().any(|&root| case.domain.types().is_subtype(ty, root));
                if is_root {
                    let program = case.domain.program(&mut terms, &item.meaning).unwrap();
                    let score = item.score + self.rule(RuleKind::Root, ty, ty, Side::Right);
                    found.push((score, terms.display(program).to_string()));
                }
            }
        }
        found
    }

    fn accumulator(&self, ty: TypeId) -> bool {
        let types = &self.case.domain.accumulator_types();
        types.iter().any(|acc| acc.elements.iter().any(|&e| self.case.domain.types().is_subtype(ty, e)))
    }

    /// The type of a complete item; closed lists have that of the accumulator.
    fn closed_type(&self, item: &Item) -> TypeId {
        match (&item.kind, &item.meaning) {
            (Kind::Closed, Meaning::Done { ty, .. }) => *ty,
            _ => self.case.domain.accumulator_types().iter().next().unwrap().result,
        }
    }

    fn is_below(&self, ty: TypeId, slot: TypeId) -> bool {
        self.case.domain.types().is_subtype(ty, slot)
    }

    /// Items of a cell that are not finished: leaves, lists, partial functions, composites, and raw terms.
    fn items(&self, terms: &mut Terms, p: usize, q: usize) -> Vec<Item> {
        let case = self.case;
        let mut found = Vec::new();
        for (at, leaf) in case.lattice.leaves().iter().enumerate() {
            let span = case.lattice.span(p, q);
            if leaf.start != span.start || leaf.end > span.end {
                continue;
            }
            for raw in case.domain.constants()[leaf.constant].frames.clone() {
                let meaning = case.domain.leaf(terms, leaf.constant, FrameId(raw)).unwrap();
                if case.domain.state_id_of(&meaning).is_none() {
                    continue;
                }
                if let Meaning::Done { ty, .. } = meaning {
                    let score = self.usage(at, Usage::Closed);
                    found.push(Item { meaning: meaning.clone(), kind: Kind::Closed, score });
                    if self.accumulator(ty) {
                        found.push(Item { meaning, kind: Kind::List, score });
                    }
                } else {
                    found.push(Item { meaning, kind: Kind::Leaf(at), score: 0.0 });
                }
            }
        }
        let join = case.joins.get(case.lattice.cell(p, q).min(case.joins.len().wrapping_sub(1)));
        let join = if case.joins.is_empty() { 0.0 } else { f64::from(*join.unwrap()) };
        for split in p + 1..q {
            let left = self.items(terms, p, split);
            let right = self.items(terms, split, q);
            let left_closed = self.finish(terms, left.clone());
            let right_closed = self.finish(terms, right.clone());
            let mut made = Vec::new();
            self.applications(terms, &left, &right_closed, Side::Right, &mut made);
            self.applications(terms, &right, &left_closed, Side::Left, &mut made);
            self.compositions(&left, &right, Side::Right, &mut made);
            self.compositions(&right, &left, Side::Left, &mut made);
            self.gatherings(p, split, &left, &right, &mut made);
            found.extend(made.into_iter().map(|item| Item { score: item.score + join, ..item }));
        }
        found
    }

    /// Complete items of a cell, implicit constants included.
    fn closed(&self, terms: &mut Terms, p: usize, q: usize) -> Vec<Item> {
        let items = self.items(terms, p, q);
        self.finish(terms, items)
    }

    fn finish(&self, terms: &mut Terms, items: Vec<Item>) -> Vec<Item> {
        let mut raw: Vec<Item> = Vec::new();
        for item in items {
            match item.kind {
                Kind::Closed => raw.push(item),
                Kind::List => {
                    let acc = self.case.domain.accumulator_types().iter().next().unwrap();
                    let close = self.rule(RuleKind::Close, acc.elements[0], acc.result, Side::Right);
                    raw.push(Item { score: item.score + close, ..item });
                }
                _ => {}
            }
        }
        let mut all = raw.clone();
        if self.case.grammar.options().implicit {
            for item in &raw {
                let ty = self.closed_type(item);
                for (constant, known) in
                    self.case.domain.constants().iter_enumerated().filter(|(_, c)| c.implicit)
                {
                    for frame in known.frames.clone().map(FrameId) {
                        let used = self.case.domain.frame(frame);
                        if used.state.is_some() && used.slots.len() == 1 && self.is_below(ty, used.slots[0]) {
                            let function = self.case.domain.leaf(terms, constant, frame).unwrap();
                            let meaning = self.apply_as(terms, &function, item);
                            let rule =
                                self.rule(RuleKind::Implicit(frame), used.slots[0], used.result, Side::Right);
                            all.push(Item { meaning, kind: Kind::Closed, score: item.score + rule });
                        }
                    }
                }
            }
        }
        all
    }

    /// Applies to a complete item, as the closed list where it is one.
    fn apply_as(&self, terms: &mut Terms, function: &Meaning, argument: &Item) -> Meaning {
        let meaning = match (&argument.kind, &argument.meaning) {
            (Kind::List, values) => {
                let term = self.case.domain.sketch(terms, &gathered(&self.case.domain, values));
                Meaning::Done { term, ty: self.closed_type(argument) }
            }
            (_, meaning) => meaning.clone(),
        };
        self.case.domain.apply(terms, function, &meaning).unwrap()
    }

    fn applications(
        &self,
        terms: &mut Terms,
        functions: &[Item],
        arguments: &[Item],
        side: Side,
        made: &mut Vec<Item>,
    ) {
        for function in functions {
            for argument in arguments {
                let ty = self.closed_type(argument);
                match &function.kind {
                    Kind::Leaf(leaf) => {
                        let usage = if side == Side::Left { Usage::ApplyLeft } else { Usage::ApplyRight };
                        let (slots, result) = self.shape(&function.meaning);
                        let bare = Kind::Partial(slots, 0, None, result);
                        let score = function.score + self.usage(*leaf, usage);
                        self.fill(
                            terms,
                            &Item { kind: bare, score, ..function.clone() },
                            argument,
                            side,
                            made,
                        );
                    }
                    Kind::Partial(..) => self.fill(terms, function, argument, side, made),
                    Kind::Composite(own) if *own == side => {
                        let (slots, result) = self.shape(&function.meaning);
                        if self.is_below(ty, slots[0]) {
                            let meaning = self.apply_as(terms, &function.meaning, argument);
                            let rule = self.rule(RuleKind::Finish, slots[0], result, side);
                            made.push(Item {
                                meaning,
                                kind: Kind::Closed,
                                score: function.score + argument.score + rule,
                            });
                        }
                    }
                    Kind::List => {
                        let acc = self.case.domain.accumulator_types().iter().next().unwrap();
                        if self.is_below(ty, acc.over) {
                            let values = gathered(&self.case.domain, &function.meaning);
                            let meaning = self.case.domain.apply(terms, &values, &argument.meaning).unwrap();
                            let rule = self.rule(RuleKind::Apply, acc.over, acc.result, side);
                            made.push(Item {
                                meaning,
                                kind: Kind::Closed,
                                score: function.score + argument.score + rule,
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn shape(&self, meaning: &Meaning) -> (Vec<TypeId>, TypeId) {
        match self.case.domain.state_of(meaning) {
            spanwise_lang::State::Wants { slots, result } => (slots.to_vec(), result),
            other => panic!("not a function: {other:?}"),
        }
    }

    fn fill(&self, terms: &mut Terms, function: &Item, argument: &Item, side: Side, made: &mut Vec<Item>) {
        let Kind::Partial(slots, filled, last_left, result) = &function.kind else { return };
        let ty = self.closed_type(argument);
        let first =
            |filled: u16| (0..slots.len()).find(|&s| filled >> s & 1 == 0 && self.is_below(ty, slots[s]));
        let Some(slot) = first(*filled) else { return };
        // Where two arguments from different sides would fill the same slots in either order, right comes first.
        if let (Side::Right, Some(last)) = (side, last_left) {
            if first(filled & !(1 << last)) == Some(slot) {
                return;
            }
        }
        let meaning = self.apply_as(terms, &function.meaning, argument);
        let score = function.score + argument.score + self.rule(RuleKind::Apply, slots[slot], *result, side);
        let filled = filled | 1 << slot;
        let kind = if filled.count_ones() as usize == slots.len() {
            Kind::Closed
        } else {
            Kind::Partial(slots.clone(), filled, (side == Side::Left).then_some(slot), *result)
        };
        made.push(Item { meaning, kind, score });
    }

    fn compositions(&self, functions: &[Item], inners: &[Item], side: Side, made: &mut Vec<Item>) {
        let discontinuity = self.case.grammar.options().discontinuity;
        if discontinuity == Discontinuity::None {
            return;
        }
        let own = if side == Side::Left { Side::Right } else { Side::Left };
        for function in functions {
            let Kind::Leaf(leaf) = function.kind else { continue };
            let (slots, result) = self.shape(&function.meaning);
            let [wanted] = *slots else { continue };
            for inner in inners {
                let usage = match &inner.kind {
                    Kind::Leaf(inner) => self.usage(*inner, Usage::Inner),
                    Kind::Composite(_) | Kind::Partial(..) if discontinuity == Discontinuity::Open => 0.0,
                    _ => continue,
                };
                let (inner_slots, given) = self.shape(&inner.meaning);
                if inner_slots.len() != 1 || !self.is_below(given, wanted) {
                    continue;
                }
                let meaning = self.case.domain.compose(&function.meaning, &inner.meaning).unwrap();
                let outer = if side == Side::Left { Usage::ComposeLeft } else { Usage::ComposeRight };
                let rule = self.rule(RuleKind::Compose, wanted, result, side);
                let score = function.score + self.usage(leaf, outer) + inner.score + usage + rule;
                made.push(Item { meaning, kind: Kind::Composite(own), score });
            }
        }
    }

    /// A value that is a leaf of its own joins the list on its right.
    fn gatherings(&self, p: usize, split: usize, left: &[Item], right: &[Item], made: &mut Vec<Item>) {
        let span = self.case.lattice.span(p, split);
        let is_leaf = |item: &&Item| {
            matches!(item.kind, Kind::List)
                && matches!(item.meaning, Meaning::Done { .. })
                && self.case.lattice.leaves().iter().any(|leaf| leaf.start == span.start)
        };
        for element in left.iter().filter(is_leaf) {
            for list in right.iter().filter(|item| matches!(item.kind, Kind::List)) {
                let acc = self.case.domain.accumulator_types().iter().next().unwrap();
                let rule = self.rule(RuleKind::Gather, acc.elements[0], acc.result, Side::Right);
                let meaning = self.case.domain.gather(&element.meaning, &list.meaning).unwrap();
                made.push(Item { meaning, kind: Kind::List, score: element.score + list.score + rule });
            }
        }
    }
}

/// A single value as a run of one.
fn gathered(domain: &Domain, meaning: &Meaning) -> Meaning {
    match meaning {
        Meaning::Done { term, .. } => {
            let accumulator = domain.accumulators().iter_enumerated().next().unwrap().0;
            Meaning::Gathered { accumulator, elements: vec![*term] }
        }
        other => other.clone(),
    }
}

pub fn constant(domain: &Domain, name: &str) -> ConstantId {
    domain.constants().iter_enumerated().find(|(_, known)| known.name == name).unwrap().0
}
