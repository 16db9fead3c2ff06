//! Every derivation in normal form, by a recursion that shares nothing with the chart.

use super::{Case, set};
use spanwise_chart::grammar::{Discontinuity, N_USAGES, RuleKey, RuleKind, Side, Usage};
use spanwise_lang::meaning::Partial;
use spanwise_lang::{Domain, FrameId, Meaning, Terms, TypeId};
use std::collections::BTreeMap;

/// The kind of an item.
#[derive(Clone, Debug)]
enum Kind {
    /// A leaf that has not been used yet.
    Leaf(usize),
    Closed,
    List,
    /// Several elements of a set, with the constants that make at most one of them.
    Set(u32),
    /// A function with some elements of its set, with the same.
    Spread(u32),
    /// Slots, which are filled, the slot of the last argument if that came from the left.
    Partial(Vec<TypeId>, u16, Option<usize>, TypeId),
    Composite(Side),
    /// A function without words: the number of its constant, and the slots that are filled.
    Inserted(usize, u16),
}

#[derive(Clone, Debug)]
struct Item {
    meaning: Meaning,
    kind: Kind,
    score: f64,
}

pub struct Enumeration<'a> {
    case: &'a Case,
    rule_at: BTreeMap<RuleKey, usize>,
}

impl<'a> Enumeration<'a> {
    pub fn new(case: &'a Case) -> Self {
        let rule_at = case.grammar.rules().iter().enumerate().map(|(at, key)| (*key, at)).collect();
        Self { case, rule_at }
    }

    fn rule(&self, kind: RuleKind, input: TypeId, output: TypeId, side: Side) -> f64 {
        let base = |ty| self.case.domain.types().base(ty);
        let key = RuleKey { kind, input: base(input), output: base(output), side };
        f64::from(self.case.rules[self.rule_at[&key]])
    }

    fn usage(&self, leaf: usize, usage: Usage) -> f64 {
        f64::from(self.case.leaves[leaf * N_USAGES + usage.index()])
    }

    pub fn all(&self) -> Vec<(f64, String)> {
        let case = self.case;
        let mut terms = case.domain.new_terms();
        let n = case.lattice.n_positions();
        let mut found = Vec::new();
        for p in (0..n).filter(|&p| case.can_omit(0, case.lattice.span(p, n).start)) {
            for item in self.closed(&mut terms, p, n) {
                let ty = self.closed_type(&item);
                let accepts = |root: &&TypeId| case.domain.types().is_subtype(ty, **root);
                if let Some(&root) = case.domain.root_types().iter().find(accepts) {
                    let program = case.domain.program(&mut terms, &item.meaning).unwrap();
                    let score = item.score + self.rule(RuleKind::Root, root, root, Side::Right);
                    found.push((score, terms.display(program).to_string()));
                }
            }
        }
        found
    }

    fn accumulator(&self, ty: TypeId) -> bool {
        let types = &self.case.domain.accumulator_types();
        let mut lists = types.iter().filter(|acc| !acc.is_set());
        lists.any(|acc| acc.elements.iter().any(|&e| self.case.domain.types().is_subtype(ty, e)))
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
            if leaf.start != span.start || !case.can_reach(leaf, span.end) {
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
                    self.unsaid(terms, at, &meaning, &mut found);
                    found.push(Item { meaning, kind: Kind::Leaf(at), score: 0.0 });
                }
            }
        }
        let join = case.joins.get(case.lattice.cell(p, q).min(case.joins.len().wrapping_sub(1)));
        let join = if case.joins.is_empty() { 0.0 } else { f64::from(*join.unwrap()) };
        for split in p + 1..q {
            let left = self.items(terms, p, split);
            let right = self.items(terms, split, q);
            let left_closed = self.finish(terms, left.clone(), (p, split));
            let right_closed = self.finish(terms, right.clone(), (split, q));
            let mut made = Vec::new();
            self.insertions(terms, &left, &left_closed, &right_closed, (p, q), &mut made);
            self.applications(terms, &left, &right_closed, Side::Right, &mut made);
            self.applications(terms, &right, &left_closed, Side::Left, &mut made);
            self.compositions(&left, &right, Side::Right, &mut made);
            self.compositions(&right, &left, Side::Left, &mut made);
            self.gatherings(p, split, &left, &right, &mut made);
            if case.domain.accumulator_types().iter().any(spanwise_lang::states::AccumulatorTypes::is_set) {
                let elements = [(&left, &left_closed), (&right, &right_closed)]
                    .map(|(items, closed)| self.elements(items, closed));
                self.sets(terms, &left, &right, &elements, &mut made);
            }
            found.extend(made.into_iter().map(|item| Item { score: item.score + join, ..item }));
        }
        found
    }

    /// Complete items of a cell, implicit constants included.
    fn closed(&self, terms: &mut Terms, p: usize, q: usize) -> Vec<Item> {
        let items = self.items(terms, p, q);
        self.finish(terms, items, (p, q))
    }

    /// The score of the constant with this number, inserted in a cell.
    fn inserted_score(&self, (p, q): (usize, usize), number: usize) -> f64 {
        let cell = self.case.lattice.cell(p, q);
        let at = self.case.grammar.implicit_at_cell(cell, number);
        self.case.implicit.get(at).map_or(0.0, |&score| f64::from(score))
    }

    /// A function on words with an argument without words, in each of its slots.
    fn unsaid(&self, terms: &mut Terms, leaf: usize, function: &Meaning, found: &mut Vec<Item>) {
        let (slots, result) = self.shape(function);
        for (number, frame) in self.case.inserted(0) {
            let owner = self.case.domain.frame_owner(frame);
            let argument = self.case.domain.leaf(terms, owner, frame).unwrap();
            let at = self.case.grammar.implicit_at_leaf(&self.case.lattice, leaf, number);
            let own = self.case.implicit.get(at).map_or(0.0, |&score| f64::from(score));
            for (slot, &ty) in slots.iter().enumerate() {
                if !self.is_below(self.case.domain.frame(frame).result, ty) {
                    continue;
                }
                let meaning = self.case.domain.fill_slot(terms, function, slot, &argument).unwrap();
                let rule = self.rule(RuleKind::Implicit(frame), ty, result, Side::Right);
                let kind = match slots.len() {
                    1 => Kind::Closed,
                    _ => Kind::Partial(slots.clone(), 1 << slot, None, result),
                };
                found.push(Item { meaning, kind, score: self.usage(leaf, Usage::Closed) + rule + own });
            }
        }
    }

    /// Functions without words: their first argument is on the left, the others follow it.
    fn insertions(
        &self,
        terms: &mut Terms,
        left: &[Item],
        left_closed: &[Item],
        right_closed: &[Item],
        cell: (usize, usize),
        made: &mut Vec<Item>,
    ) {
        let mut functions: Vec<Item> =
            left.iter().filter(|item| matches!(item.kind, Kind::Inserted(..))).cloned().collect();
        for (number, frame) in self.case.inserted(2) {
            let function = self.case.domain.leaf(terms, self.case.domain.frame_owner(frame), frame).unwrap();
            let bare = Item { meaning: function, kind: Kind::Inserted(number, 0), score: 0.0 };
            for argument in left_closed {
                self.insert(terms, &bare, argument, None, &mut functions);
            }
        }
        for function in &functions {
            for argument in right_closed {
                self.insert(terms, function, argument, Some(cell), made);
            }
        }
    }

    /// A function without words gets an argument: the first one, or another that completes words to this cell.
    fn insert(
        &self,
        terms: &mut Terms,
        function: &Item,
        argument: &Item,
        cell: Option<(usize, usize)>,
        made: &mut Vec<Item>,
    ) {
        let Kind::Inserted(number, filled) = function.kind else { return };
        let Meaning::Open { inner: Partial::Constant { frame, .. }, .. } = function.meaning else { return };
        let used = self.case.domain.frame(frame);
        let ty = self.closed_type(argument);
        let takes = |slot: &usize| {
            filled >> slot & 1 == 0
                && self.is_below(ty, used.slots[*slot])
                && used.sides[*slot] != Some(Side::Left)
        };
        let Some(slot) = (0..used.slots.len()).find(takes) else { return };
        let kind = if cell.is_none() { RuleKind::Implicit(frame) } else { RuleKind::Fill(slot as u8) };
        let rule = self.rule(kind, used.slots[slot], used.result, Side::Right);
        let meaning = self.apply_on(terms, &function.meaning, argument, Side::Right);
        let filled = filled | 1 << slot;
        let is_done = filled.count_ones() as usize == used.slots.len();
        let own = cell.filter(|_| is_done).map_or(0.0, |cell| self.inserted_score(cell, number));
        let kind = if is_done { Kind::Closed } else { Kind::Inserted(number, filled) };
        made.push(Item { meaning, kind, score: function.score + argument.score + rule + own });
    }

    fn finish(&self, terms: &mut Terms, items: Vec<Item>, cell: (usize, usize)) -> Vec<Item> {
        let mut raw: Vec<Item> = Vec::new();
        for item in items {
            match item.kind {
                Kind::Closed => raw.push(item),
                Kind::Set(_) => {
                    let (_, set) = set(&self.case.domain);
                    let close = self.rule(RuleKind::Close, set.elements[0], set.result, Side::Right);
                    let term = self.case.domain.sketch(terms, &item.meaning);
                    let meaning = Meaning::Done { term, ty: set.result };
                    raw.push(Item { meaning, kind: Kind::Closed, score: item.score + close });
                }
                Kind::List => {
                    let acc = self.case.domain.accumulator_types().iter().next().unwrap();
                    let close = self.rule(RuleKind::Close, acc.elements[0], acc.result, Side::Right);
                    raw.push(Item { score: item.score + close, ..item });
                }
                _ => {}
            }
        }
        let mut all = raw.clone();
        let mut below = raw;
        for _ in 0..self.case.domain.implicit_chain() {
            let mut above = Vec::new();
            for item in &below {
                let ty = self.closed_type(item);
                for (number, frame) in self.case.inserted(1) {
                    let used = self.case.domain.frame(frame);
                    if used.state.is_some() && self.is_below(ty, used.slots[0]) {
                        let owner = self.case.domain.frame_owner(frame);
                        let function = self.case.domain.leaf(terms, owner, frame).unwrap();
                        let meaning = self.apply_as(terms, &function, item);
                        let rule =
                            self.rule(RuleKind::Implicit(frame), used.slots[0], used.result, Side::Right);
                        let score = item.score + rule + self.inserted_score(cell, number);
                        above.push(Item { meaning, kind: Kind::Closed, score });
                    }
                }
            }
            all.extend(above.iter().cloned());
            below = above;
        }
        all
    }

    /// Applies to a complete item, as the closed list where it is one.
    fn apply_as(&self, terms: &mut Terms, function: &Meaning, argument: &Item) -> Meaning {
        let meaning = self.closed_meaning(terms, argument);
        self.case.domain.apply(terms, function, &meaning).unwrap()
    }

    fn apply_on(&self, terms: &mut Terms, function: &Meaning, argument: &Item, side: Side) -> Meaning {
        let meaning = self.closed_meaning(terms, argument);
        self.case.domain.apply_on(terms, function, &meaning, Some(side)).unwrap()
    }

    fn closed_meaning(&self, terms: &mut Terms, argument: &Item) -> Meaning {
        match (&argument.kind, &argument.meaning) {
            (Kind::List, values) => {
                let term = self.case.domain.sketch(terms, &gathered(&self.case.domain, values));
                Meaning::Done { term, ty: self.closed_type(argument) }
            }
            (_, meaning) => meaning.clone(),
        }
    }

    /// The sides that the slots of a function require.
    fn sides(&self, meaning: &Meaning) -> Vec<Option<Side>> {
        match meaning {
            Meaning::Open { inner: Partial::Constant { frame, .. }, .. } => {
                self.case.domain.frame(*frame).sides.clone()
            }
            other => panic!("no constant: {other:?}"),
        }
    }

    /// Whether the argument of a slot that is not filled has to be on one side.
    fn is_directed(&self, meaning: &Meaning) -> bool {
        let Meaning::Open { inner: Partial::Constant { args, .. }, .. } = meaning else { return false };
        self.sides(meaning).iter().zip(args).any(|(side, arg)| side.is_some() && arg.is_none())
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
                        let usage = Usage::applied(side);
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
                        let over = acc.over.unwrap();
                        if self.is_below(ty, over) {
                            let values = gathered(&self.case.domain, &function.meaning);
                            let meaning = self.case.domain.apply(terms, &values, &argument.meaning).unwrap();
                            let rule = self.rule(RuleKind::Apply, over, acc.result, side);
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
        let sides = self.sides(&function.meaning);
        let first = |filled: u16| {
            (0..slots.len()).find(|&s| {
                filled >> s & 1 == 0
                    && self.is_below(ty, slots[s])
                    && (sides[s].is_none() || sides[s] == Some(side))
            })
        };
        let Some(slot) = first(*filled) else { return };
        // Where two arguments from different sides would fill the same slots in either order, right comes first.
        if let (Side::Right, Some(last)) = (side, last_left) {
            if first(filled & !(1 << last)) == Some(slot) {
                return;
            }
        }
        let meaning = self.apply_on(terms, &function.meaning, argument, side);
        let kind = if slots.len() == 1 { RuleKind::Apply } else { RuleKind::Fill(slot as u8) };
        let score = function.score + argument.score + self.rule(kind, slots[slot], *result, side);
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
        let own = side.other();
        for function in functions {
            let Kind::Leaf(leaf) = function.kind else { continue };
            let (slots, result) = self.shape(&function.meaning);
            let [wanted] = *slots else { continue };
            if self.is_directed(&function.meaning) {
                continue;
            }
            for inner in inners.iter().filter(|inner| !self.is_directed(&inner.meaning)) {
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
                let outer = Usage::composed(side);
                let rule = self.rule(RuleKind::Compose, wanted, result, side);
                let score = function.score + self.usage(leaf, outer) + inner.score + usage + rule;
                made.push(Item { meaning, kind: Kind::Composite(own), score });
            }
        }
    }

    /// Elements of a set, one or several.
    fn elements(&self, items: &[Item], closed: &[Item]) -> Vec<Item> {
        let (_, set) = set(&self.case.domain);
        let single = closed.iter().filter(|item| matches!(item.meaning, Meaning::Done { .. }));
        let single = single.filter(|item| self.is_below(self.closed_type(item), set.elements[0]));
        single.chain(items.iter().filter(|item| matches!(item.kind, Kind::Set(_)))).cloned().collect()
    }

    /// The constants of which an item has an element, where a set has at most one of theirs.
    fn used(&self, item: &Item) -> u32 {
        let (_, set) = set(&self.case.domain);
        match item.kind {
            Kind::Set(used) | Kind::Spread(used) => used,
            _ => set.unique_number(self.closed_type(item)).map_or(0, |number| 1 << number),
        }
    }

    /// An element joins those on its right; a function takes elements from its right, then from its left.
    fn sets(
        &self,
        terms: &mut Terms,
        left: &[Item],
        right: &[Item],
        [left_elements, right_elements]: &[Vec<Item>; 2],
        made: &mut Vec<Item>,
    ) {
        let (domain, (_, set)) = (&self.case.domain, set(&self.case.domain));
        for element in left_elements.iter().filter(|item| matches!(item.kind, Kind::Closed)) {
            for others in right_elements {
                let used = (self.used(element), self.used(others));
                if used.0 & used.1 != 0 {
                    continue;
                }
                let kind = Kind::Set(used.0 | used.1);
                let rule = self.rule(RuleKind::Gather, set.elements[0], set.result, Side::Right);
                let meaning = domain.gather(&element.meaning, &others.meaning).unwrap();
                made.push(Item { meaning, kind, score: element.score + others.score + rule });
            }
        }
        for function in left {
            let usage = match function.kind {
                Kind::Leaf(leaf) => self.usage(leaf, Usage::ApplyRight),
                Kind::Composite(_) | Kind::Partial(..) => 0.0,
                _ => continue,
            };
            let (slots, result) = self.shape(&function.meaning);
            let [slot] = *slots else { continue };
            if self.is_directed(&function.meaning) {
                continue;
            }
            for elements in right_elements.iter().filter(|_| self.is_below(set.result, slot)) {
                let rule = self.rule(RuleKind::Spread, slot, result, Side::Right);
                let meaning = domain.spread(&function.meaning, &elements.meaning).unwrap();
                let score = function.score + usage + elements.score + rule;
                made.push(Item { meaning, kind: Kind::Spread(self.used(elements)), score });
            }
        }
        for function in right.iter().filter(|item| matches!(item.kind, Kind::Spread(_))) {
            let (_, result) = self.shape(&function.meaning);
            for elements in left_elements.iter().filter(|it| self.used(it) & self.used(function) == 0) {
                let rule = self.rule(RuleKind::Settle, set.result, result, Side::Left);
                let meaning = domain.apply(terms, &function.meaning, &elements.meaning).unwrap();
                let score = function.score + elements.score + rule;
                made.push(Item { meaning, kind: Kind::Closed, score });
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
