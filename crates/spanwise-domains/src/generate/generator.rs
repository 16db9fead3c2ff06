//! The loop: draws batches of candidates, has them judged, and keeps what is good, new and unambiguous.

use super::draw::{Draw, opposite};
use super::productions::{Maker, Productions, Unit};
use super::render::Render;
use super::report::{Coverage, Report};
use super::tree::{Node, is_related};
use super::{Candidate, Check, Settings, Verdict};
use crate::data::Example;
use hashbrown::{HashMap, HashSet};
use spanwise_core::{Moment, Random, Utterance};
use spanwise_lang::{Domain, Terms};
use std::collections::BTreeMap;

/// Candidates in a batch.
const BATCH: usize = 256;
/// Batches without a new example after which the rules are relaxed, and after which there is nothing more.
const STUCK: usize = 4;
const HOPELESS: usize = 24;
/// One in this many examples may have an answer that its argument has, too.
const NO_DIFFERENCE_PART: usize = 50;
/// Candidates around a unit after which it is given up for a while.
const MAX_TRIES: usize = 60;
/// Examples with an empty answer that stand for a unit without any other.
const MAX_EMPTY: usize = 5;
/// Wordings of one program, at first.
const WORDINGS: usize = 2;

/// A candidate with what it was made of.
struct Drawn {
    candidate: Candidate,
    key: String,
    units: Vec<usize>,
    /// The pair of opposites and the number of the two candidates, for one that has a twin.
    pair: Option<(usize, usize)>,
    /// The unit that it was drawn for.
    target: Option<usize>,
}

/// An example that is kept.
struct Kept {
    example: Example,
    units: Vec<usize>,
    pair: Option<(usize, usize)>,
    is_empty: bool,
}

struct Generator<'a, 'd> {
    all: &'a Productions<'d>,
    settings: &'a Settings,
    /// How often each unit was drawn or kept.
    counts: Vec<usize>,
    tries: Vec<usize>,
    /// What was kept, and dropped again because it was ambiguous.
    kept: Vec<Option<Kept>>,
    n_kept: usize,
    by_key: HashMap<String, usize>,
    ambiguous: HashSet<String>,
    wordings: HashMap<String, usize>,
    most_wordings: usize,
    /// Candidates with empty answers, for units without others.
    empty: Vec<Vec<Drawn>>,
    n_no_difference: usize,
    n_drawn: u64,
    n_pairs: usize,
    report: Report,
}

/// Generates examples of a domain. `watch` is called with the number of examples so far; `false` ends the work.
///
/// Cost: some microseconds for each candidate, besides what `judge` takes.
pub fn generate(
    domain: &Domain,
    settings: &Settings,
    judge: &mut Check<'_>,
    watch: &mut dyn FnMut(usize) -> bool,
) -> (Vec<Example>, Report) {
    let all = Productions::new(domain);
    let n_units = all.units.len();
    let mut generator = Generator {
        all: &all,
        settings,
        counts: vec![0; n_units],
        tries: vec![0; n_units],
        kept: Vec::new(),
        n_kept: 0,
        by_key: HashMap::new(),
        ambiguous: HashSet::new(),
        wordings: HashMap::new(),
        most_wordings: WORDINGS,
        empty: (0..n_units).map(|_| Vec::new()).collect(),
        n_no_difference: 0,
        n_drawn: 0,
        n_pairs: 0,
        report: Report::default(),
    };
    generator.run(judge, watch);
    generator.finish()
}

impl Generator<'_, '_> {
    fn run(&mut self, judge: &mut Check<'_>, watch: &mut dyn FnMut(usize) -> bool) {
        let mut n_idle = 0;
        while self.n_kept < self.settings.n {
            let before = self.n_kept;
            let drawn = self.batch();
            let candidates: Vec<Candidate> = drawn.iter().map(|drawn| drawn.candidate.clone()).collect();
            let verdicts = if candidates.is_empty() { Vec::new() } else { judge(&candidates) };
            for (drawn, verdict) in drawn.into_iter().zip(verdicts) {
                self.take(drawn, verdict);
            }
            self.give_up();
            n_idle = if self.n_kept > before { 0 } else { n_idle + 1 };
            if n_idle > 0 && n_idle % STUCK == 0 {
                self.most_wordings = self.most_wordings.saturating_mul(2);
            }
            if !watch(self.n_kept.min(self.settings.n)) {
                self.report.short_of = Some("it was stopped, or its time was over".to_owned());
                return;
            }
            if n_idle >= HOPELESS {
                let reason = "no new example was found: the language has no more programs of this depth, or no more words for them";
                self.report.short_of = Some(reason.to_owned());
                return;
            }
        }
    }

    /// Draws candidates: half of them around what is rare, one in eight with an opposite, the others freely.
    fn batch(&mut self) -> Vec<Drawn> {
        let mut terms = self.all.domain.new_terms();
        let mut batch = Vec::with_capacity(BATCH);
        let contrasts = self.contrasts();
        for at in 0..BATCH {
            let random = Random::new(self.settings.seed, &[self.n_drawn]);
            self.n_drawn += 1;
            if at % 8 == 1 && !contrasts.is_empty() {
                let pair = contrasts[(self.n_drawn as usize / 8) % contrasts.len()];
                self.twins(pair, random, &mut terms, &mut batch);
                continue;
            }
            let target = if at % 2 == 0 { self.rarest() } else { None };
            let mut draw =
                Draw::new(self.all, &self.counts, random.clone(), self.settings.now, self.settings.depth);
            let node = match target {
                Some(unit) => draw.program_with(unit),
                None => draw.program(),
            };
            if let Some(unit) = target {
                self.tries[unit] += 1;
            }
            let Some(node) = node.filter(|node| !node.is_degenerate(self.all)) else { continue };
            batch.extend(self.drawn(&node, &mut terms, random.clone().next(), target, None));
        }
        batch
    }

    /// The pairs of opposites that can both be said.
    fn contrasts(&self) -> Vec<usize> {
        let contrasts = self.all.domain.contrasts();
        let is_there =
            |constant| self.all.units.iter().any(|unit| unit.constant == Some(constant) && unit.up.is_some());
        (0..contrasts.len()).filter(|&at| contrasts[at].iter().all(|&it| is_there(it))).collect()
    }

    /// A program with a constant, and the same with its opposite.
    fn twins(&mut self, pair: usize, random: Random, terms: &mut Terms, batch: &mut Vec<Drawn>) {
        let [a, b] = self.all.domain.contrasts()[pair];
        let units: Vec<usize> = (0..self.all.units.len())
            .filter(|&at| self.all.units[at].constant == Some(a) && self.all.units[at].up.is_some())
            .collect();
        let mut order = random.clone();
        let unit = units[order.below(units.len())];
        let seed = order.next();
        let mut draw = Draw::new(self.all, &self.counts, random, self.settings.now, self.settings.depth);
        let Some(node) = draw.program_with(unit).filter(|node| !node.is_degenerate(self.all)) else { return };
        let Some(twin) = opposite(self.all, &node, [a, b]).filter(|twin| !twin.is_degenerate(self.all))
        else {
            return;
        };
        self.n_pairs += 1;
        let name = Some((pair, self.n_pairs));
        let first = self.drawn(&node, terms, seed, Some(unit), name);
        let second = self.drawn(&twin, terms, seed, None, name);
        if let (Some(first), Some(second)) = (first, second) {
            batch.extend([first, second]);
        }
    }

    /// The unit with the fewest examples for its weight, without those that were given up.
    fn rarest(&self) -> Option<usize> {
        let units = self.all.units.iter().enumerate();
        let open = units.filter(|(at, unit)| unit.up.is_some() && self.tries[*at] < MAX_TRIES);
        let rank = |at: usize, weight: f64| (self.counts[at] as f64 + self.tries[at] as f64 / 4.0) / weight;
        let rarest =
            open.min_by(|(a, left), (b, right)| rank(*a, left.weight).total_cmp(&rank(*b, right.weight)));
        rarest.map(|(at, _)| at)
    }

    fn drawn(
        &mut self,
        node: &Node,
        terms: &mut Terms,
        seed: u64,
        target: Option<usize>,
        pair: Option<(usize, usize)>,
    ) -> Option<Drawn> {
        let domain = self.all.domain;
        let Some(program) = node.program(self.all, terms) else { return self.drop("a value is no term") };
        if domain.analyze(terms, program).is_err() {
            return self.drop("not well-typed");
        }
        let utterance = Render { all: self.all, is_varied: self.settings.is_varied }.utterance(node, seed);
        let now = self.settings.now.filter(|_| self.needs_now(node));
        let key = key(&utterance, now);
        if key.is_empty() {
            return self.drop("no words");
        }
        let argument = self.argument(node, terms);
        let mut units = Vec::new();
        node.visit(&mut |node| units.push(self.all.all[node.production].unit));
        units.sort_unstable();
        units.dedup();
        let program = domain.display(terms, program).to_string();
        let candidate = Candidate { utterance, program, now, argument };
        Some(Drawn { candidate, key, units, pair, target })
    }

    /// Whether some words have no value, or another one, without today.
    fn needs_now(&self, node: &Node) -> bool {
        let mut needs = false;
        node.visit(&mut |node| {
            let Maker::Class(class) = self.all.all[node.production].maker else { return };
            if let Some((words, value)) = &node.value {
                let without = Utterance::new(words.as_str());
                let declared = &self.all.domain.classes()[class];
                needs |= declared.only_value(&without).as_ref() != Some(value);
            }
        });
        needs
    }

    /// The part of a program that its outermost constant modifies, if it could be a program.
    fn argument(&self, node: &Node, terms: &mut Terms) -> Option<String> {
        let result = |node: &Node| self.all.units[self.all.all[node.production].unit].result;
        let is_part = |child: &&Node| {
            is_related(self.all, result(child), result(node)) && self.all.is_root(result(child))
        };
        let part = node.children.iter().find(is_part)?.program(self.all, terms)?;
        Some(self.all.domain.display(terms, part).to_string())
    }

    fn drop<T>(&mut self, reason: &str) -> Option<T> {
        *self.report.dropped.entry(reason.to_owned()).or_default() += 1;
        None
    }

    fn take(&mut self, drawn: Drawn, verdict: Verdict) {
        match verdict {
            Verdict::Good => self.keep(drawn, false),
            Verdict::Underivable(kind) => {
                self.drop::<()>(&format!("not derivable from its words: {kind}"));
            }
            Verdict::Failed(reason) => {
                self.report.first_failure.get_or_insert(format!("{}: {reason}", drawn.candidate.program));
                self.drop::<()>("could not be evaluated");
            }
            Verdict::Empty => {
                self.drop::<()>("empty answer");
                if let Some(unit) = drawn.target.filter(|&unit| self.empty[unit].len() < MAX_EMPTY) {
                    self.empty[unit].push(drawn);
                }
            }
            // A few are kept: people do ask what makes no difference.
            Verdict::NoDifference if self.n_no_difference * NO_DIFFERENCE_PART < self.n_kept => {
                self.n_no_difference += 1;
                self.keep(drawn, false);
            }
            Verdict::NoDifference => {
                self.drop::<()>("same answer as without its outermost part");
            }
        }
    }

    /// Keeps an example, unless it is known or ambiguous.
    fn keep(&mut self, drawn: Drawn, is_empty: bool) {
        if self.n_kept >= self.settings.n {
            return;
        }
        if self.ambiguous.contains(&drawn.key) {
            self.drop::<()>("ambiguous words");
            return;
        }
        if let Some(&known) = self.by_key.get(&drawn.key) {
            let other = self.kept[known].as_ref().and_then(|kept| kept.example.program.clone());
            if other.as_ref() == Some(&drawn.candidate.program) {
                self.drop::<()>("known already");
                return;
            }
            // Nobody could know which of the two is meant.
            self.drop::<()>("ambiguous words");
            if let Some(kept) = self.kept[known].take() {
                self.drop::<()>("ambiguous words");
                self.n_kept -= 1;
                kept.units.iter().for_each(|&unit| self.counts[unit] -= 1);
            }
            self.by_key.remove(&drawn.key);
            self.ambiguous.insert(drawn.key);
            return;
        }
        let wordings = self.wordings.entry_ref(drawn.candidate.program.as_str()).or_insert(0);
        // The twin of an example that is kept is kept.
        if *wordings >= self.most_wordings && drawn.pair.is_none() {
            self.drop::<()>("program known already");
            return;
        }
        *wordings += 1;
        for &unit in &drawn.units {
            self.counts[unit] += 1;
            self.tries[unit] = 0;
        }
        let Candidate { utterance, program, now, .. } = drawn.candidate;
        let example = Example { program: Some(program), now, ..Example::new(utterance) };
        self.by_key.insert(drawn.key, self.kept.len());
        self.kept.push(Some(Kept { example, units: drawn.units, pair: drawn.pair, is_empty }));
        self.n_kept += 1;
    }

    /// For units that only give empty answers, keeps a few of these.
    fn give_up(&mut self) {
        for unit in 0..self.all.units.len() {
            if self.counts[unit] == 0 && self.tries[unit] >= MAX_TRIES / 2 {
                for drawn in std::mem::take(&mut self.empty[unit]) {
                    self.keep(drawn, true);
                }
            }
        }
    }

    fn finish(mut self) -> (Vec<Example>, Report) {
        let kept: Vec<&Kept> = self.kept.iter().flatten().collect();
        let mut programs: Vec<&str> =
            kept.iter().filter_map(|kept| kept.example.program.as_deref()).collect();
        programs.sort_unstable();
        programs.dedup();
        let mut twins: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        kept.iter().filter_map(|kept| kept.pair).for_each(|pair| *twins.entry(pair).or_default() += 1);
        let domain = self.all.domain;
        for (at, [a, b]) in domain.contrasts().iter().enumerate() {
            let n = twins.iter().filter(|((pair, _), n)| *pair == at && **n == 2).count();
            let name = |id| domain.constants()[id].name.as_str();
            self.report.contrasts.insert(format!("{}/{}", name(*a), name(*b)), n);
        }
        self.report.examples = kept.len();
        self.report.programs = programs.len();
        self.report.coverage = self.coverage(&kept);
        let examples = self.kept.into_iter().flatten().map(|kept| kept.example).collect();
        (examples, self.report)
    }

    fn coverage(&self, kept: &[&Kept]) -> Vec<Coverage> {
        let mut counts = vec![(0, 0); self.all.units.len()];
        for kept in kept {
            for &unit in &kept.units {
                counts[unit].0 += 1;
                counts[unit].1 += usize::from(kept.is_empty);
            }
        }
        let of = |(at, unit): (usize, &Unit)| {
            let (count, empty) = counts[at];
            let reason = (count == 0).then(|| self.reason(at).to_owned());
            Coverage { name: unit.name.clone(), signature: unit.signature.clone(), count, empty, reason }
        };
        self.all.units.iter().enumerate().map(of).collect()
    }

    /// Why a unit has no example.
    fn reason(&self, at: usize) -> &'static str {
        let unit = &self.all.units[at];
        let is_unreachable = unit.productions.is_empty() && {
            let is_said =
                |constant| self.all.domain.frames_of(constant).any(|(_, frame)| frame.state.is_some());
            unit.constant.is_none_or(|constant| !is_said(constant))
        };
        match (unit.weight <= 0.0, is_unreachable, unit.depth, unit.up) {
            (true, ..) => "its weight is 0",
            (_, true, ..) => "no complete program can contain it, or it has no members with names",
            (_, _, None, _) => "no words for it: no text of `say` suits, or nothing fits an argument",
            (_, _, _, None) => "no program can be said around it",
            _ => "every program that was tried was dropped",
        }
    }
}

/// What tells utterances apart: their words, without case and marks at the end, and when they are said.
fn key(utterance: &str, now: Option<Moment>) -> String {
    let utterance = Utterance::new(utterance);
    let words: Vec<&str> = utterance.tokens().iter().map(|token| token.lower.as_str()).collect();
    let n_words = words.iter().rposition(|word| !matches!(*word, "." | "?" | "!")).map_or(0, |last| last + 1);
    let mut key = words[..n_words].join(" ");
    if let Some(now) = now.filter(|_| !key.is_empty()) {
        key += &format!("\n{now}");
    }
    key
}
