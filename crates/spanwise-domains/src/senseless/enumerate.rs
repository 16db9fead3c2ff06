//! Builds well-typed programs bottom-up, and observes what they give.
//!
//! Round n builds programs of n constants in depth: every way to make a term, with arguments of which at least one is new.
//! There are too many of them, so the choice is spread. Programs are grouped by composition (maker, slot, outermost constant
//! of the argument); a round takes one program of each group in turn, within its share of the limit. A group prefers arguments that differ in their
//! inner constants, and combines them with few choices for the other slots, so that programs differ in one argument only.
//!
//! Of programs with the same type, outermost constants (two levels) and results, only the first becomes an argument.
//! All programs that were run count as evidence, the others would give no different argument.

use super::evidence::{Observation, Outcome};
use super::runner::Runner;
use super::{Composition, Limits, Maker, Top};
use hashbrown::{HashMap, HashSet};
use spanwise_lang::domain::ClassId;
use spanwise_lang::{Domain, Kind, TermId, Terms, TypeId};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::rc::Rc;

/// Most members of a class that a finding is tried on in addition.
const MAX_MORE: usize = 200;

/// A term that can be an argument.
#[derive(Clone)]
struct Item {
    term: TermId,
    ty: TypeId,
    top: Top,
    /// The outermost constants of its arguments.
    inner: Rc<[Top]>,
    outcomes: Rc<[Outcome]>,
}

/// What two items share of which only the first is kept: type, outermost constants, outcomes.
type Likeness = (TypeId, Top, Rc<[Top]>, Rc<[Outcome]>);

/// A way to make terms, with its types.
struct Rule {
    maker: Maker,
    slots: Vec<TypeId>,
    result: TypeId,
}

/// Programs of one composition that a round may run: all pairs of an argument and arguments of the other slots.
struct Group {
    rule: usize,
    slot: usize,
    arguments: Vec<usize>,
    others: Vec<Vec<usize>>,
}

impl Group {
    fn len(&self) -> usize {
        self.arguments.len() * self.others.len()
    }

    /// The arguments of a program: one choice for the other slots after the other, so that early programs make whole lines.
    fn program(&self, at: usize) -> Vec<usize> {
        let mut items = self.others[at / self.arguments.len()].clone();
        items.insert(self.slot, self.arguments[at % self.arguments.len()]);
        items
    }
}

/// The programs of a search.
pub(super) struct Enumeration<'a, F> {
    pub(super) domain: &'a Domain,
    pub(super) terms: Terms,
    pub(super) runner: Runner<'a, F>,
    pub(super) observations: Vec<Observation>,
    /// Whether the search ended before all programs were run.
    pub(super) is_cut_short: bool,
    /// Whether the caller has ended it.
    is_stopped: bool,
    limits: Limits,
    rules: Vec<Rule>,
    items: Vec<Item>,
    known: HashSet<Likeness>,
    /// Rules with their arguments that were run.
    built: HashSet<(usize, Vec<usize>)>,
}

impl<'a, F: FnMut(usize) -> bool> Enumeration<'a, F> {
    pub(super) fn new(domain: &'a Domain, limits: Limits, terms: Terms, runner: Runner<'a, F>) -> Self {
        Self {
            domain,
            terms,
            runner,
            observations: Vec::new(),
            is_cut_short: false,
            is_stopped: false,
            limits,
            rules: rules(domain),
            items: Vec::new(),
            known: HashSet::new(),
            built: HashSet::new(),
        }
    }

    /// The terms without arguments: entities, a sample of each class, then literals and constants without slots.
    pub(super) fn leaves(&mut self, literals: &[(ClassId, TermId)]) {
        for (class, members) in members(self.domain) {
            for &term in &sample(&members, self.limits.entities) {
                self.entity(class, term);
            }
        }
        for &(class, term) in literals {
            self.entity(class, term);
        }
        for at in 0..self.rules.len() {
            if self.rules[at].slots.is_empty() && !self.is_over(self.limits.programs) {
                self.apply(at, &[]);
            }
        }
    }

    /// Makes an entity an item, and gives its number. An entity that cannot be run stands for itself.
    fn entity(&mut self, class: ClassId, term: TermId) -> Option<usize> {
        if self.is_over(self.limits.programs) {
            return None;
        }
        let ty = self.domain.classes()[class].ty;
        let outcomes = self.run(term, ty)?;
        let own = self.runner.value(&self.terms.display(term).to_string());
        let is_value = |outcome: &Outcome| matches!(outcome, Outcome::Value(_));
        let outcomes = outcomes.iter().map(|it| if is_value(it) { *it } else { own }).collect();
        self.items.push(Item { term, ty, top: Top::Class(class), inner: Rc::new([]), outcomes });
        Some(self.items.len() - 1)
    }

    /// Builds deeper and deeper programs until `budget` programs were run. What is left is shared by the rounds that are left.
    pub(super) fn grow(&mut self, budget: usize) {
        let mut first_new = 0;
        for round in 1..self.limits.depth {
            let groups = self.groups(first_new);
            first_new = self.items.len();
            let left = budget.saturating_sub(self.runner.n_run);
            self.round(&groups, self.runner.n_run + left / (self.limits.depth - round));
        }
    }

    /// Runs the first program of each group, then the second of each, and so on until `budget` programs were run.
    fn round(&mut self, groups: &[Group], budget: usize) {
        let longest = groups.iter().map(Group::len).max().unwrap_or(0);
        for lap in 0..longest {
            for group in groups.iter().filter(|group| lap < group.len()) {
                if self.is_over(budget) {
                    return;
                }
                self.apply(group.rule, &group.program(lap));
            }
        }
    }

    /// Tries compositions on more members of the classes that are arguments of theirs.
    pub(super) fn look_again(&mut self, suspects: impl Iterator<Item = Composition>, budget: usize) {
        let members = members(self.domain);
        let mut more: BTreeMap<ClassId, Vec<usize>> = BTreeMap::new();
        for Composition { maker, slot, argument } in suspects {
            let Some(Top::Class(class)) = argument else { continue };
            let Some(members) = members.get(&class) else { continue };
            let arguments = more.entry(class).or_insert_with(|| {
                let extra = sample(members, self.limits.entities.saturating_add(MAX_MORE));
                extra.iter().filter_map(|&term| self.entity(class, term)).collect()
            });
            let arguments: Vec<usize> = arguments.clone();
            let Some(rule) = self.rules.iter().position(|rule| rule.maker == maker) else { continue };
            let group = Group { rule, slot, arguments, others: self.others(rule, slot) };
            self.round(&[group], budget);
        }
    }

    /// The text of a term as a complete program.
    pub(super) fn written(&mut self, term: TermId) -> String {
        let program = self.domain.wrap().map_or(term, |form| form.build(&mut self.terms, &[term]));
        self.domain.display(&self.terms, program).to_string()
    }

    /// The programs of a round, whose arguments are new from `first_new` on.
    fn groups(&self, first_new: usize) -> Vec<Group> {
        let mut groups = Vec::new();
        for (rule, Rule { slots, .. }) in self.rules.iter().enumerate() {
            for (slot, &ty) in slots.iter().enumerate() {
                let others = self.others(rule, slot);
                let mut by_top: BTreeMap<Top, Vec<usize>> = BTreeMap::new();
                for item in self.fitting(ty).filter(|&item| item >= first_new) {
                    by_top.entry(self.items[item].top).or_default().push(item);
                }
                for arguments in by_top.into_values() {
                    let inner = |&item: &usize| Rc::clone(&self.items[item].inner);
                    let arguments = self.choose(arguments, inner, self.limits.arguments);
                    groups.push(Group { rule, slot, arguments, others: others.clone() });
                }
            }
        }
        groups
    }

    /// Choices of arguments for all slots but one.
    fn others(&self, rule: usize, slot: usize) -> Vec<Vec<usize>> {
        let mut choices = vec![Vec::new()];
        let slots = self.rules[rule].slots.iter().enumerate().filter(|(at, _)| *at != slot);
        for (_, &ty) in slots {
            let items =
                self.choose(self.fitting(ty).collect(), |&item| self.items[item].top, self.limits.others);
            let longer = |choice: &Vec<usize>| {
                let choice = choice.clone();
                items.iter().map(move |&item| [&choice[..], &[item]].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(longer).collect();
            choices.truncate(self.limits.others.saturating_mul(self.limits.others));
        }
        choices
    }

    fn fitting(&self, slot: TypeId) -> impl Iterator<Item = usize> + '_ {
        let fits = move |item: &Item| self.domain.types().is_subtype(item.ty, slot);
        (0..self.items.len()).filter(move |&at| fits(&self.items[at]))
    }

    /// At most `n` items, spread over keys, and one more that is empty in all contexts: what tells something from nothing
    /// makes sense.
    fn choose<K: Eq + Hash>(&self, items: Vec<usize>, key: impl Fn(&usize) -> K, n: usize) -> Vec<usize> {
        let is_empty = |&item: &usize| self.items[item].outcomes.iter().all(|&it| it == Outcome::Empty);
        let (empty, items): (Vec<usize>, Vec<usize>) = items.into_iter().partition(is_empty);
        let mut chosen = spread(items, key, n);
        chosen.extend(empty.first());
        chosen
    }

    /// Makes a term, runs it, and notes what it gave.
    fn apply(&mut self, rule: usize, args: &[usize]) {
        if !self.built.insert((rule, args.to_vec())) {
            return;
        }
        let (maker, ty) = (self.rules[rule].maker, self.rules[rule].result);
        let arg_terms: Vec<TermId> = args.iter().map(|&item| self.items[item].term).collect();
        let Some(term) = build(self.domain, &mut self.terms, maker, &arg_terms) else { return };
        let Some(mut outcomes) = self.run(term, ty) else { return };
        if args.is_empty() && outcomes.contains(&Outcome::Unknown) {
            // A constant that is no program by itself stands for itself.
            let own = self.runner.value(&self.terms.display(term).to_string());
            outcomes = outcomes.iter().map(|&it| if it == Outcome::Unknown { own } else { it }).collect();
        }
        self.observe(maker, args, term, &outcomes);
        let top = maker.top(self.domain);
        let inner: Rc<[Top]> = args.iter().map(|&item| self.items[item].top).collect();
        // What cannot be run by itself cannot be compared with others.
        let is_new = outcomes.contains(&Outcome::Unknown)
            || self.known.insert((ty, top, Rc::clone(&inner), Rc::clone(&outcomes)));
        if is_new {
            self.items.push(Item { term, ty, top, inner, outcomes });
        }
    }

    fn observe(&mut self, maker: Maker, args: &[usize], program: TermId, outcomes: &[Outcome]) {
        for (context, &outcome) in outcomes.iter().enumerate() {
            let given: Vec<Outcome> = args.iter().map(|&item| self.items[item].outcomes[context]).collect();
            let says_nothing = outcome == Outcome::Empty && given.contains(&Outcome::Empty);
            if outcome == Outcome::Unknown || says_nothing {
                continue;
            }
            for (slot, &item) in args.iter().enumerate() {
                let mut others = given.clone();
                let argument_outcome = others.remove(slot);
                let (argument, top) = (self.items[item].term, self.items[item].top);
                self.observations.push(Observation {
                    composition: Composition { maker, slot, argument: Some(top) },
                    others: others.into(),
                    context,
                    argument,
                    argument_outcome,
                    program,
                    outcome,
                });
            }
        }
    }

    fn run(&mut self, term: TermId, ty: TypeId) -> Option<Rc<[Outcome]>> {
        let outcomes = self.runner.run(&mut self.terms, term, ty);
        self.is_stopped |= outcomes.is_none();
        outcomes
    }

    /// Whether no other program may be run.
    fn is_over(&mut self, budget: usize) -> bool {
        let is_over = self.is_stopped || self.runner.n_run >= budget;
        self.is_cut_short |= is_over;
        is_over
    }
}

/// All ways to make a term, in the order of the file.
fn rules(domain: &Domain) -> Vec<Rule> {
    let frames = domain.predicates().flat_map(|(id, _)| domain.frames_of(id));
    // No complete program contains the others.
    let frames = frames.filter(|(_, frame)| frame.state.is_some()).map(|(id, _)| Maker::Frame(id));
    // A set of a single element is no program.
    let lists = domain.accumulator_types().iter_enumerated().filter(|(_, types)| !types.is_set());
    let gathered = lists.flat_map(|(accumulator, types)| {
        let ways = [types.has_default.then_some(false), Some(true)].into_iter().flatten();
        ways.flat_map(move |has_over| {
            types.elements.iter().map(move |&element| Maker::Gather { accumulator, element, has_over })
        })
    });
    let rule = |maker: Maker| {
        let (slots, result) = maker.types(domain);
        Rule { maker, slots, result }
    };
    frames.chain(gathered).map(rule).collect()
}

fn build(domain: &Domain, terms: &mut Terms, maker: Maker, args: &[TermId]) -> Option<TermId> {
    match maker {
        Maker::Frame(id) => Some(domain.frame(id).form.as_ref()?.build(terms, args)),
        Maker::Gather { accumulator, has_over, .. } => {
            let accumulator = &domain.accumulators()[accumulator];
            let over = if has_over { *args.get(1)? } else { accumulator.default? };
            Some(terms.term(spanwise_lang::Shape::Call, accumulator.head, &[*args.first()?, over]))
        }
    }
}

/// The listed members of each class.
fn members(domain: &Domain) -> BTreeMap<ClassId, Vec<TermId>> {
    let mut members: BTreeMap<ClassId, Vec<TermId>> = BTreeMap::new();
    for constant in domain.constants().iter() {
        if let (Kind::Entity(class), Some(term)) = (constant.kind, constant.term) {
            members.entry(class).or_default().push(term);
        }
    }
    members
}

/// At most `n` elements, spread evenly.
fn sample<T: Copy>(all: &[T], n: usize) -> Vec<T> {
    let n = n.min(all.len());
    (0..n).map(|at| all[at * all.len() / n]).collect()
}

/// At most `n` elements, taken from those of each key in turn.
fn spread<T, K: Eq + Hash>(all: Vec<T>, key: impl Fn(&T) -> K, n: usize) -> Vec<T> {
    let mut seen: HashMap<K, usize> = HashMap::new();
    let mut ranked: Vec<(usize, T)> = Vec::with_capacity(all.len());
    for element in all {
        let rank = seen.entry(key(&element)).or_default();
        ranked.push((*rank, element));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, element)| element).take(n).collect()
}
