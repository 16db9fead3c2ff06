//! Draws programs: from the root types down, or around a unit that is to be covered.

use super::productions::{Maker, Place, Production, Productions};
use super::tree::{Node, is_related, is_repeated};
use spanwise_core::{Moment, Random, Utterance};
use spanwise_lang::domain::ClassId;
use spanwise_lang::say::{Part, Template};
use spanwise_lang::{FrameId, TypeId};

/// Most nodes of a program, unless it needs more.
const MAX_NODES: usize = 14;
/// Draws of an argument that differs from its neighbors.
const MAX_TRIES: usize = 6;
/// Most constants between a unit and the root, beyond those that it needs.
const MAX_MORE: usize = 2;

/// Draws the parts of one program.
pub(super) struct Draw<'a, 'd> {
    pub(super) all: &'a Productions<'d>,
    /// How often each unit was drawn.
    pub(super) counts: &'a [usize],
    pub(super) random: Random,
    pub(super) now: Option<Moment>,
    pub(super) depth: usize,
    /// Nodes so far.
    n_nodes: usize,
    path: Vec<u32>,
}

impl<'a, 'd> Draw<'a, 'd> {
    pub(super) fn new(
        all: &'a Productions<'d>,
        counts: &'a [usize],
        random: Random,
        now: Option<Moment>,
        depth: usize,
    ) -> Self {
        Self { all, counts, random, now, depth, n_nodes: 0, path: Vec::new() }
    }

    /// A complete program.
    pub(super) fn program(&mut self) -> Option<Node> {
        let roots: Vec<usize> = (0..self.all.units.len())
            .filter(|&at| self.all.is_root(self.all.units[at].result) && self.all.units[at].depth.is_some())
            .collect();
        let unit = self.choose_unit(&roots)?;
        let depth = self.levels(self.all.units[unit].depth?);
        self.unit(unit, depth, 0)
    }

    /// A complete program with a term of this unit.
    pub(super) fn program_with(&mut self, unit: usize) -> Option<Node> {
        let all = self.all;
        let depth = self.levels(all.units[unit].depth?).min(all.units[unit].depth? + 1);
        let mut node = self.unit(unit, depth, 0)?;
        let mut left = all.units[unit].up? + self.random.below(MAX_MORE + 1);
        loop {
            let result = all.units[all.all[node.production].unit].result;
            if all.is_root(result) && (left == 0 || self.random.below(2) == 0) {
                return Some(node);
            }
            let is_near = |place: &Place| {
                let above = &all.units[all.all[place.production].unit];
                above.up.is_some_and(|up| up < left.max(1)) && all.depth_of(place.production).is_some()
            };
            let places: Vec<Place> = all.places(result).filter(is_near).collect();
            if places.is_empty() {
                return all.is_root(result).then_some(node);
            }
            let weights: Vec<f64> =
                places.iter().map(|place| self.production_weight(place.production)).collect();
            let place = places[self.weighted(&weights)?];
            node = self.around(place, node)?;
            left = left.saturating_sub(1);
        }
    }

    /// The term of a place with its argument given.
    fn around(&mut self, place: Place, node: Node) -> Option<Node> {
        let all = self.all;
        let production = &all.all[place.production];
        self.n_nodes += 1;
        if let Maker::Gather(id) = production.maker {
            let is_over = place.slot >= all.n_elements(id);
            return self.gather(place.production, 2, 0, Some((node, is_over)));
        }
        let mut children: Vec<Node> = Vec::new();
        let mut given = Some(node);
        for (slot, &ty) in production.slots.iter().enumerate() {
            let child = match given.take_if(|_| slot == place.slot) {
                Some(node) => node,
                None => {
                    let least = self.least(ty)?;
                    let more = self.random.below(2);
                    self.argument(production, ty, least + more, 0, &children)?
                }
            };
            children.push(child);
        }
        Some(self.node(place.production, children))
    }

    /// A term of a unit, of so many levels at most.
    fn unit(&mut self, unit: usize, depth: usize, chain: usize) -> Option<Node> {
        let all = self.all;
        let fits = |&&it: &&usize| all.depth_of(it).is_some_and(|least| least <= depth);
        let productions: Vec<usize> = all.units[unit].productions.iter().filter(fits).copied().collect();
        // Where there is little space left, what is optional is left out.
        let is_full = self.n_nodes >= MAX_NODES;
        let weight = |&it: &usize| {
            let n_slots = all.all[it].slots.len() as i32;
            all.all[it].weight * if is_full { 0.01_f64.powi(n_slots) } else { 1.0 }
        };
        let weights: Vec<f64> = productions.iter().map(weight).collect();
        let production = productions[self.weighted(&weights)?];
        self.n_nodes += 1;
        match all.all[production].maker {
            Maker::Class(class) => self.member(production, class),
            Maker::Gather(_) => self.gather(production, depth, chain, None),
            Maker::Frame(..) => {
                let mut children = Vec::new();
                self.path.push(all.units[unit].key);
                for &slot in &all.all[production].slots {
                    let child = self.argument(&all.all[production], slot, depth - 1, chain, &children);
                    let Some(child) = child else {
                        self.path.pop();
                        return None;
                    };
                    children.push(child);
                }
                self.path.pop();
                Some(self.node(production, children))
            }
        }
    }

    /// An argument that differs from its neighbors.
    fn argument(
        &mut self,
        of: &Production,
        slot: TypeId,
        depth: usize,
        chain: usize,
        others: &[Node],
    ) -> Option<Node> {
        for _ in 0..MAX_TRIES {
            let unit = self.fitting_unit(of, slot, depth, chain)?;
            let is_chain = is_related(self.all, self.all.units[unit].result, self.all.units[of.unit].result);
            let from = if is_chain { chain } else { self.path.len() };
            let Some(node) = self.unit(unit, depth, from) else { continue };
            if !others.iter().any(|other| other.is_same(&node)) {
                return Some(node);
            }
        }
        None
    }

    /// A unit for a slot.
    fn fitting_unit(&mut self, of: &Production, slot: TypeId, depth: usize, chain: usize) -> Option<usize> {
        let all = self.all;
        let outer = all.units[of.unit].result;
        let can_be = |unit: usize| {
            let unit = &all.units[unit];
            let from = if is_related(all, unit.result, outer) { chain } else { self.path.len() };
            unit.depth.is_some_and(|least| least <= depth)
                && (unit.depth == Some(1) || !is_repeated(unit.key, &self.path, from.min(self.path.len())))
        };
        let mut units: Vec<usize> = all.fitting(slot).iter().copied().filter(|&unit| can_be(unit)).collect();
        if self.n_nodes >= MAX_NODES {
            let least = units.iter().filter_map(|&unit| all.units[unit].depth).min();
            units.retain(|&unit| all.units[unit].depth == least);
        }
        self.choose_unit(&units)
    }

    /// A set or a list: two or three elements of different units, with one of them or its last argument given.
    fn gather(
        &mut self,
        production: usize,
        depth: usize,
        chain: usize,
        given: Option<(Node, bool)>,
    ) -> Option<Node> {
        let all = self.all;
        let Maker::Gather(id) = all.all[production].maker else { return None };
        let slots = &all.all[production].slots;
        let (elements, over) = slots.split_at(all.n_elements(id));
        let is_set = all.domain.accumulator_types()[id].is_set();
        let least = if is_set { 2 } else { 1 };
        let wanted = least
            + usize::from(self.random.below(3) == 0)
            + usize::from(!is_set && self.random.below(2) == 0);
        let (mut children, mut last) = (Vec::new(), None);
        match given {
            Some((node, true)) => last = Some(node),
            Some((node, false)) => children.push(node),
            None => {}
        }
        let depth = depth.max(all.units[all.all[production].unit].depth?);
        for _ in 0..3 * MAX_TRIES {
            if children.len() >= wanted {
                break;
            }
            let used: Vec<usize> =
                children.iter().map(|child: &Node| all.all[child.production].unit).collect();
            let fits = |unit: &usize| {
                all.units[*unit].depth.is_some_and(|least| least <= depth) && !used.contains(unit)
            };
            let units: Vec<usize> =
                elements.iter().flat_map(|&ty| all.fitting(ty)).copied().filter(fits).collect();
            let Some(unit) = self.choose_unit(&units) else { break };
            children.extend(self.unit(unit, depth, chain.min(self.path.len())));
        }
        if children.len() < least {
            return None;
        }
        // The first place of an element that was given need not be the first one said.
        if is_set {
            self.random.shuffle(&mut children);
        }
        if let (Some(&ty), None) = (over.first(), &last) {
            let depth = depth.max(self.least(ty)?);
            last = Some(self.argument(&all.all[production], ty, depth, chain.min(self.path.len()), &[])?);
        }
        children.extend(last.filter(|_| !over.is_empty()));
        Some(self.node(production, children))
    }

    /// A member of a class, or a value.
    fn member(&mut self, production: usize, class: ClassId) -> Option<Node> {
        let all = self.all;
        let recognizer = all.domain.classes()[class].recognizer();
        let members = all.members.get(&class);
        let is_listed = members.is_some() && (recognizer.is_none() || self.random.below(5) > 0);
        if let Some(members) = members.filter(|_| is_listed) {
            let (member, _) = members[self.random.below(members.len())];
            let node = self.node(production, Vec::new());
            return Some(Node { member: Some(member), ..node });
        }
        let value = self.value(class)?;
        let node = self.node(production, Vec::new());
        Some(Node { value: Some(value), ..node })
    }

    /// Words with one value, and that value as programs write it.
    fn value(&mut self, class: ClassId) -> Option<(String, String)> {
        let declared = &self.all.domain.classes()[class];
        let recognizer = declared.recognizer()?;
        let said = self.all.domain.say().literals(class);
        let (holes, samples): (Vec<&Template>, Vec<&Template>) =
            said.iter().partition(|template| !template.holes().is_empty());
        for _ in 0..MAX_TRIES {
            // Values that a file gives, where it gives some, in one form or another.
            let words = if samples.is_empty() || (!holes.is_empty() && self.random.below(2) == 0) {
                recognizer.say(&mut self.random, self.now)?.0
            } else {
                let sample = text_of(&samples[self.random.below(samples.len())].parts);
                match self.random.below(2) {
                    0 => sample.trim().to_owned(),
                    _ => match recognizer.say_again(sample.trim(), &mut self.random, self.now) {
                        Some((words, _)) => words,
                        None => continue,
                    },
                }
            };
            let value = declared.only_value(&Utterance::new(words.as_str()).said_at(self.now));
            let Some(value) = value else { continue };
            let words = match holes.is_empty() {
                true => words,
                false => {
                    let around = holes[self.random.below(holes.len())];
                    around
                        .parts
                        .iter()
                        .map(|part| {
                            if *part == Part::Hole(0) {
                                words.clone()
                            } else {
                                text_of(std::slice::from_ref(part))
                            }
                        })
                        .collect()
                }
            };
            return Some((words, value));
        }
        None
    }

    fn node(&mut self, production: usize, children: Vec<Node>) -> Node {
        Node { production, member: None, value: None, seed: self.random.next(), children }
    }

    /// How many levels a program gets: few more often than many.
    fn levels(&mut self, least: usize) -> usize {
        let span = self.depth.saturating_sub(least) + 1;
        least + self.random.below(span).min(self.random.below(span))
    }

    fn least(&self, slot: TypeId) -> Option<usize> {
        self.all.fitting(slot).iter().filter_map(|&unit| self.all.units[unit].depth).min()
    }

    fn choose_unit(&mut self, units: &[usize]) -> Option<usize> {
        let weights: Vec<f64> = units.iter().map(|&unit| self.unit_weight(unit)).collect();
        Some(units[self.weighted(&weights)?])
    }

    /// What was drawn often is drawn less.
    fn unit_weight(&self, unit: usize) -> f64 {
        self.all.units[unit].weight / (1.0 + self.counts[unit] as f64).sqrt()
    }

    fn production_weight(&self, production: usize) -> f64 {
        let known = &self.all.all[production];
        let n = self.all.units[known.unit].productions.len() as f64;
        self.unit_weight(known.unit) * known.weight / n
    }

    /// A position, drawn by weight.
    fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        if weights.is_empty() || total <= 0.0 {
            return None;
        }
        let mut rest = f64::from(self.random.uniform()) * total;
        for (at, weight) in weights.iter().enumerate() {
            rest -= weight;
            if rest < 0.0 {
                return Some(at);
            }
        }
        weights.iter().rposition(|&weight| weight > 0.0)
    }
}

/// The words of parts without holes.
fn text_of(parts: &[Part]) -> String {
    let of = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Optional(parts) => text_of(parts),
        Part::Hole(_) | Part::Column(_) => String::new(),
    };
    parts.iter().map(of).collect()
}

/// The program with the opposite of a constant, worded alike; `None` where that has no such signature.
pub(super) fn opposite(
    all: &Productions<'_>,
    node: &Node,
    [from, to]: [spanwise_lang::ConstantId; 2],
) -> Option<Node> {
    // With both of them, the twin would differ in more than one word.
    let mut has_both = false;
    node.visit(&mut |node| {
        has_both |= matches!(all.all[node.production].maker, Maker::Frame(constant, _) if constant == to);
    });
    if has_both {
        return None;
    }
    let mut is_there = false;
    let twin = exchanged(all, node, [from, to], &mut is_there)?;
    is_there.then_some(twin)
}

fn exchanged(
    all: &Productions<'_>,
    node: &Node,
    [from, to]: [spanwise_lang::ConstantId; 2],
    is_there: &mut bool,
) -> Option<Node> {
    let mut twin = node.clone();
    if let Maker::Frame(constant, frame) = all.all[node.production].maker
        && constant == from
    {
        *is_there = true;
        let alike = all.all.iter().enumerate().filter_map(|(at, other)| match other.maker {
            Maker::Frame(constant, other) if constant == to && are_alike(all, frame, other) => {
                Some((at, other))
            }
            _ => None,
        });
        // Results differ where a set has at most one element of each: then a program that is not well-typed is dropped later.
        let result = all.domain.frame(frame).result;
        twin.production = alike.min_by_key(|(_, other)| all.domain.frame(*other).result != result)?.0;
    }
    twin.children = node
        .children
        .iter()
        .map(|child| exchanged(all, child, [from, to], is_there))
        .collect::<Option<_>>()?;
    Some(twin)
}

fn are_alike(all: &Productions<'_>, a: FrameId, b: FrameId) -> bool {
    let (a, b) = (all.domain.frame(a), all.domain.frame(b));
    a.slots == b.slots && a.places == b.places
}
