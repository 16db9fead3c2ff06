//! The ways to make terms, as the generator draws them: grouped into units, with depths and weights.
//!
//! A unit is what a report counts and what is to be covered: a signature of a constant, a class of entities, literals or
//! predicates, a set. Its productions differ in the arguments that are left out, and in the predicate of a class.

use hashbrown::HashMap;
use spanwise_core::Idx as _;
use spanwise_lang::domain::{ClassId, PredicateClassId};
use spanwise_lang::say::{Template, Wordings};
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{ConstantId, Domain, FrameId, TypeId};
use std::collections::{BTreeMap, BTreeSet};

/// How much less often each further optional argument is there.
const OPTIONAL: f64 = 0.4;

/// How a term is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Maker {
    Frame(ConstantId, FrameId),
    Class(ClassId),
    Gather(AccumulatorId),
}

/// One way to make terms of a unit.
pub(super) struct Production {
    pub(super) maker: Maker,
    pub(super) unit: usize,
    /// For a set or an accumulator: the types of elements, then that of its last argument, if it is given.
    pub(super) slots: Vec<TypeId>,
    pub(super) weight: f64,
    pub(super) wordings: Vec<Template>,
}

/// What is to be covered.
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) signature: String,
    pub(super) result: TypeId,
    pub(super) weight: f64,
    pub(super) productions: Vec<usize>,
    /// The least number of levels of its terms; `None` if none can be said.
    pub(super) depth: Option<usize>,
    /// The least number of constants above it in a program; `None` if it can be in none.
    pub(super) up: Option<usize>,
    /// What must not be repeated in a chain: the constant, where opposites count as one.
    pub(super) key: u32,
    /// The constant, if it is declared by itself.
    pub(super) constant: Option<ConstantId>,
}

/// A place where a term can be an argument.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) production: usize,
    pub(super) slot: usize,
}

/// All ways to make terms.
pub(super) struct Productions<'a> {
    pub(super) domain: &'a Domain,
    pub(super) all: Vec<Production>,
    pub(super) units: Vec<Unit>,
    /// The members of each class, with their names.
    pub(super) members: BTreeMap<ClassId, Vec<(ConstantId, Vec<String>)>>,
    pub(super) roots: BTreeMap<TypeId, Vec<Template>>,
    /// For each type, the units whose terms fit.
    fitting: Vec<Vec<usize>>,
    /// For each type of a slot, its places.
    places: BTreeMap<TypeId, Vec<Place>>,
}

impl<'a> Productions<'a> {
    pub(super) fn new(domain: &'a Domain) -> Self {
        let wordings = Wordings::new(domain);
        let mut new = Self {
            domain,
            all: Vec::new(),
            units: Vec::new(),
            members: wordings.names(),
            roots: BTreeMap::new(),
            fitting: vec![Vec::new(); domain.types().ids().count()],
            places: BTreeMap::new(),
        };
        new.frames(&wordings);
        new.classes();
        new.gathered(&wordings);
        new.index();
        new.measure_depth();
        new.measure_up();
        let results: BTreeSet<TypeId> = new.units.iter().map(|unit| unit.result).collect();
        let roots = results.into_iter().filter(|&ty| new.is_root(ty));
        new.roots = roots.map(|ty| (ty, wordings.root(ty))).collect();
        new
    }

    /// Whether terms of a type are complete programs.
    pub(super) fn is_root(&self, ty: TypeId) -> bool {
        self.domain.root_types().iter().any(|&root| self.domain.types().is_subtype(ty, root))
    }

    /// The units whose terms can be arguments of a slot.
    pub(super) fn fitting(&self, slot: TypeId) -> &[usize] {
        &self.fitting[slot.index()]
    }

    /// The places that accept terms of a type.
    pub(super) fn places(&self, ty: TypeId) -> impl Iterator<Item = Place> + '_ {
        let accepts = move |slot: &TypeId| self.domain.types().is_subtype(ty, *slot);
        self.places
            .iter()
            .filter(move |(slot, _)| accepts(slot))
            .flat_map(|(_, places)| places.iter().copied())
    }

    fn frames(&mut self, wordings: &Wordings<'_>) {
        let domain = self.domain;
        let opposite: HashMap<ConstantId, ConstantId> =
            domain.contrasts().iter().map(|&[a, b]| (b, a)).collect();
        let mut of_class: BTreeMap<(PredicateClassId, usize), usize> = BTreeMap::new();
        for (constant, declared) in domain.predicates() {
            let mut group: Option<(FrameId, usize, usize)> = None;
            let mut n_groups = 0;
            for (id, frame) in domain.frames_of(constant) {
                // The fullest frame of a signature is its first one.
                let is_new = group.is_none_or(|(first, ..)| {
                    let first = domain.frame(first);
                    (&first.declared, first.result) != (&frame.declared, frame.result)
                        || frame.slots.len() >= first.slots.len()
                });
                if is_new {
                    let known = declared.class.and_then(|class| of_class.get(&(class, n_groups)).copied());
                    let unit = known.unwrap_or_else(|| {
                        let class = declared.class.map(|class| &domain.predicate_classes()[class.index()]);
                        self.units.push(Unit {
                            name: class.unwrap_or(&declared.name).clone(),
                            signature: signature(domain, &frame.slots, frame.result),
                            result: frame.result,
                            weight: domain.say().weight(domain, constant),
                            productions: Vec::new(),
                            depth: None,
                            up: None,
                            key: opposite.get(&constant).unwrap_or(&constant).0,
                            constant: declared.class.is_none().then_some(constant),
                        });
                        self.units.len() - 1
                    });
                    if let Some(class) = declared.class {
                        of_class.insert((class, n_groups), unit);
                    }
                    group = Some((id, unit, frame.slots.len()));
                    n_groups += 1;
                }
                let Some((_, unit, n_full)) = group else { continue };
                let n_left_out = n_full - frame.slots.len();
                let wordings = wordings.of(constant, id);
                if frame.state.is_some() && frame.form.is_some() && !wordings.is_empty() {
                    let (maker, slots) = (Maker::Frame(constant, id), frame.slots.clone());
                    let weight = OPTIONAL.powi(-(n_left_out as i32));
                    self.push(Production { maker, unit, slots, weight, wordings });
                }
            }
        }
    }

    fn classes(&mut self) {
        let domain = self.domain;
        for (id, class) in domain.classes().iter_enumerated() {
            self.units.push(Unit {
                name: class.name.clone(),
                signature: domain.types().name(class.ty).to_owned(),
                result: class.ty,
                weight: domain.say().class_weight(id),
                productions: Vec::new(),
                depth: None,
                up: None,
                key: u32::MAX - id.index() as u32,
                constant: None,
            });
            let can_be_said = self.members.contains_key(&id) || class.recognizer().is_some();
            if domain.frame(class.frame).state.is_some() && can_be_said {
                let (maker, slots, unit) = (Maker::Class(id), Vec::new(), self.units.len() - 1);
                self.push(Production { maker, unit, slots, weight: 1.0, wordings: Vec::new() });
            }
        }
    }

    fn gathered(&mut self, wordings: &Wordings<'_>) {
        let domain = self.domain;
        let terms = domain.new_terms();
        for (id, types) in domain.accumulator_types().iter_enumerated() {
            self.units.push(Unit {
                name: terms.text(domain.accumulators()[id].head).to_owned(),
                signature: signature(domain, &types.elements, types.result),
                result: types.result,
                weight: domain.say().gathered_weight(id),
                productions: Vec::new(),
                depth: None,
                up: None,
                key: u32::MAX / 2 - id.index() as u32,
                constant: None,
            });
            let unit = self.units.len() - 1;
            let over = types.over.map(|over| [&types.elements[..], &[over]].concat());
            let without = (types.is_set() || types.has_default).then(|| types.elements.clone());
            for slots in [over, without].into_iter().flatten() {
                let (maker, wordings) = (Maker::Gather(id), wordings.gathered(id));
                self.push(Production { maker, unit, slots, weight: 1.0, wordings });
            }
        }
    }

    fn push(&mut self, production: Production) {
        self.units[production.unit].productions.push(self.all.len());
        self.all.push(production);
    }

    fn index(&mut self) {
        let types = self.domain.types();
        for (at, unit) in self.units.iter().enumerate() {
            for ty in types.ids().filter(|&ty| types.is_subtype(unit.result, ty)) {
                self.fitting[ty.index()].push(at);
            }
        }
        for (production, known) in self.all.iter().enumerate() {
            for (slot, &ty) in known.slots.iter().enumerate() {
                self.places.entry(ty).or_default().push(Place { production, slot });
            }
        }
    }

    /// The least number of levels that a production needs; `None` while it is not known that there is one.
    pub(super) fn depth_of(&self, production: usize) -> Option<usize> {
        let production = &self.all[production];
        let of_slot =
            |&slot: &TypeId| self.fitting(slot).iter().filter_map(|&unit| self.units[unit].depth).min();
        match production.maker {
            Maker::Class(_) => Some(1),
            Maker::Frame(..) => {
                let deepest =
                    production.slots.iter().map(of_slot).try_fold(0, |most, it| Some(most.max(it?)))?;
                Some(deepest + 1)
            }
            // One type of elements is enough, and it makes no level of its own.
            Maker::Gather(id) => {
                let elements = &production.slots[..self.n_elements(id)];
                let mut over = production.slots[elements.len()..].iter().map(of_slot);
                let element = elements.iter().filter_map(of_slot).min()?;
                over.try_fold(element, |most, it| Some(most.max(it?)))
            }
        }
    }

    /// The number of types of elements.
    pub(super) fn n_elements(&self, id: AccumulatorId) -> usize {
        self.domain.accumulator_types()[id].elements.len()
    }

    fn measure_depth(&mut self) {
        loop {
            let mut is_changed = false;
            for at in 0..self.units.len() {
                if self.units[at].weight <= 0.0 {
                    continue;
                }
                let depths = self.units[at].productions.iter().filter_map(|&it| self.depth_of(it));
                let depth = depths.min();
                is_changed |= depth != self.units[at].depth;
                self.units[at].depth = depth;
            }
            if !is_changed {
                return;
            }
        }
    }

    fn measure_up(&mut self) {
        loop {
            let mut is_changed = false;
            for at in 0..self.units.len() {
                if self.units[at].depth.is_none() {
                    continue;
                }
                let result = self.units[at].result;
                let above = |place: Place| {
                    let unit = &self.units[self.all[place.production].unit];
                    unit.up.filter(|_| self.depth_of(place.production).is_some()).map(|up| up + 1)
                };
                let up =
                    if self.is_root(result) { Some(0) } else { self.places(result).filter_map(above).min() };
                is_changed |= up != self.units[at].up;
                self.units[at].up = up;
            }
            if !is_changed {
                return;
            }
        }
    }
}

fn signature(domain: &Domain, slots: &[TypeId], result: TypeId) -> String {
    let name = |&ty: &TypeId| domain.types().name(ty);
    let slots: Vec<&str> = slots.iter().map(name).collect();
    if slots.is_empty() {
        name(&result).to_owned()
    } else {
        format!("{} -> {}", slots.join(", "), name(&result))
    }
}
