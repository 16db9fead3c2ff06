//! Checks that whatever can fill a hole of a fragment yields what the hole needs.

use super::super::super::{ClassId, Kind};
use super::super::Compiler;
use super::super::accumulators::Accumulators;
use crate::diag::Diagnostic;
use crate::sql::{DomainSql, Hole, Yields};
use crate::types::TypeId;
use hashbrown::HashSet;
use spanwise_core::IndexVec;

/// What the terms of a type are made of.
#[derive(Clone, Debug, Default)]
struct Makers {
    /// A constant or class with `sql`, for each kind that its fragment yields.
    yields: [Option<String>; 3],
    /// Classes without `sql`.
    bare: Vec<ClassId>,
    /// All classes.
    classes: Vec<ClassId>,
    /// A constant, if there is one.
    constant: Option<String>,
}

impl Compiler<'_> {
    /// Checks for every frame that whatever can fill a hole yields what the hole needs.
    pub(super) fn check_holes_of_sql(
        &mut self,
        accumulators: &Accumulators,
        is_needed: bool,
        sql: &DomainSql,
    ) {
        let makers = self.makers(accumulators, sql);
        let mut known = HashSet::new();
        let mut found = Vec::new();
        for (id, frame) in self.frames.iter_enumerated() {
            let Some(fragment) = sql.of_frame(id) else { continue };
            for (hole, range) in fragment.holes(&|slot| frame.given.contains(&slot)) {
                let Hole::Argument { slot, part } = hole else { continue };
                let Some(at) = frame.given.iter().position(|given| given == slot) else { continue };
                let makers = &makers[frame.slots[at]];
                if let Some(problem) = self.hole_problem(*slot, part.as_deref(), makers, sql)
                    && known.insert((range.start, problem.message.clone()))
                {
                    found.push(Diagnostic { range, ..problem });
                }
            }
        }
        if is_needed {
            for (set, types) in accumulators.types.iter_enumerated().filter(|(_, types)| types.is_set()) {
                let bare = types.elements.iter().find_map(|&ty| makers[ty].bare.first());
                if let Some(&class) = bare {
                    let name = &self.classes[class].name;
                    let message = format!("an element of this set can be a `{name}`, which has no `sql`");
                    found.push(Diagnostic::new(accumulators.all[set].declared.clone(), message));
                }
            }
        }
        self.problems.extend(found);
    }

    fn hole_problem(
        &self,
        slot: usize,
        part: Option<&str>,
        makers: &Makers,
        sql: &DomainSql,
    ) -> Option<Diagnostic> {
        let n = slot + 1;
        let problem = |message: String| Diagnostic::new(0..0, message);
        let fields = |class: ClassId| {
            let names = sql.fields(class).iter().map(|(name, _)| format!("`{{{n}:{name}}}`"));
            names.collect::<Vec<_>>().join(", ")
        };
        let [keys, values, ranks] = &makers.yields;
        let wanted = match part {
            None => None,
            Some("value") if keys.is_some() || values.is_some() || ranks.is_some() => {
                Some((Yields::Values, values))
            }
            Some("rank") if keys.is_some() || values.is_some() || ranks.is_some() => {
                Some((Yields::Ranks, ranks))
            }
            Some(column) => {
                if let Some(name) = &makers.constant {
                    return Some(problem(format!(
                        "`{name}` can fill this hole, and has no column `{column}`"
                    )));
                }
                let without = makers.classes.iter().find(|&&class| sql.field(class, column).is_none());
                return without.map(|&class| {
                    let message = format!(
                        "`{}` can fill this hole, and has no column `{column}`",
                        self.classes[class].name
                    );
                    problem(message).hint(format!("it has {}", fields(class)))
                });
            }
        };
        if let Some(&class) = makers.bare.first() {
            let message = format!("`{}` can fill this hole, and has no `sql`", self.classes[class].name);
            return Some(
                problem(message).hint(format!("write {}, or give the class an `sql`", fields(class))),
            );
        }
        let (yields, _) = wanted?;
        let others = [(Yields::Keys, keys), (Yields::Values, values), (Yields::Ranks, ranks)];
        others.into_iter().find_map(|(other, name)| {
            let name = name.as_ref().filter(|_| other != yields)?;
            let second = yields.second().unwrap_or("key");
            let message = format!("`{name}` can fill this hole, and its `sql` yields no {second}");
            let hint =
                format!("write `sql = {{ {second} = \"..\" }}` there, or use types that tell them apart");
            Some(problem(message).hint(hint))
        })
    }

    /// What the terms of each type, or of a subtype, are made of.
    fn makers(&self, accumulators: &Accumulators, sql: &DomainSql) -> IndexVec<TypeId, Makers> {
        let mut own: IndexVec<TypeId, Makers> = self.types.ids().map(|_| Makers::default()).collect();
        let number = |yields: Yields| match yields {
            Yields::Keys => 0,
            Yields::Values => 1,
            Yields::Ranks => 2,
        };
        for (id, frame) in self.frames.iter_enumerated() {
            let owner = &self.constants[self.frame_owner[id]];
            if owner.kind != Kind::Predicate {
                continue;
            }
            let makers = &mut own[frame.result];
            makers.constant.get_or_insert_with(|| owner.name.clone());
            if let Some(fragment) = sql.of_frame(id) {
                makers.yields[number(fragment.yields)].get_or_insert_with(|| owner.name.clone());
            }
        }
        for (id, class) in self.classes.iter_enumerated() {
            let makers = &mut own[class.ty];
            makers.classes.push(id);
            match sql.of_class(id) {
                Some(_) => drop(makers.yields[0].get_or_insert_with(|| class.name.clone())),
                None => makers.bare.push(id),
            }
        }
        for (types, accumulator) in accumulators.types.iter().zip(accumulators.all.iter()) {
            let makers = &mut own[types.result];
            let name = self.base.text(accumulator.head);
            makers.constant.get_or_insert_with(|| name.to_owned());
            makers.yields[0].get_or_insert_with(|| name.to_owned());
        }
        let below = |ty: TypeId| {
            let mut all = Makers::default();
            for sub in self.types.ids().filter(|&sub| self.types.is_subtype(sub, ty)) {
                let makers = &own[sub];
                for (known, new) in all.yields.iter_mut().zip(&makers.yields) {
                    *known = known.take().or_else(|| new.clone());
                }
                all.constant = all.constant.take().or_else(|| makers.constant.clone());
                all.bare.extend(&makers.bare);
                all.classes.extend(&makers.classes);
            }
            all
        };
        self.types.ids().map(below).collect()
    }
}
