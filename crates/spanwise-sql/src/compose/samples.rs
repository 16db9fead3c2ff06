//! A statement for every fragment, to be prepared and not run.
//!
//! A database checks the types of columns too, so holes are filled with real fragments: the smallest term of each type.

use super::plan::{Part, Plan, What};
use super::writer::{Origin, Writer};
use crate::database::{Dialect, Statement};
use hashbrown::HashMap;
use spanwise_core::IndexVec;
use spanwise_lang::domain::{ClassId, Domain};
use spanwise_lang::sql::{DomainSql, Fragment, Yields};
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{FrameId, Kind, TypeId};
use std::ops::Range;

/// A fragment with the statement that tests it.
pub struct Sample<'a> {
    /// The fragment.
    pub fragment: &'a Fragment,
    /// What it belongs to: a constant, a class, or the type that it shows.
    pub name: String,
    /// The number of columns that it must yield; `None` where any number will do.
    pub n_columns: Option<usize>,
    /// The statement.
    pub statement: Statement,
    /// The fragments that fill its holes, by their places in the file.
    pub uses: Vec<Range<usize>>,
    origins: Vec<Origin>,
}

impl Sample<'_> {
    /// The byte of the domain file that a byte of the statement comes from.
    #[must_use]
    pub fn origin(&self, at: usize) -> Option<usize> {
        let found = self.origins.iter().find(|(range, _)| range.contains(&at));
        found.map(|(range, start)| start + (at - range.start))
    }
}

/// What makes a term of some type, with its size.
#[derive(Clone, Copy, Debug)]
enum Maker {
    Frame(FrameId),
    Class(ClassId),
    Set(AccumulatorId),
}

/// A statement for every fragment of a domain, those with the smallest terms first. Fragments that no term can use are left
/// out.
#[must_use]
pub fn samples(domain: &Domain, dialect: Dialect) -> Vec<Sample<'_>> {
    let Some(sql) = domain.sql() else { return Vec::new() };
    let makers = Makers::new(domain, sql);
    let mut found: Vec<(u64, Sample<'_>)> = Vec::new();
    let mut add = |maker: Maker, fragment, name: &str| {
        let Some(size) = makers.size(maker) else { return };
        let Some(sample) = makers.sample(maker, fragment, name, dialect) else { return };
        if !found.iter().any(|(_, known)| known.statement == sample.statement && known.fragment == fragment) {
            found.push((size, sample));
        }
    };
    for (id, constant) in domain.predicates() {
        for (frame, _) in domain.frames_of(id) {
            if let Some(fragment) = sql.of_frame(frame) {
                add(Maker::Frame(frame), fragment, &constant.name);
            }
        }
    }
    for (id, class) in domain.classes().iter_enumerated() {
        if let Some(fragment) = sql.of_class(id) {
            add(Maker::Class(id), fragment, &class.name);
        }
    }
    found.sort_by_key(|(size, _)| *size);
    let shown = sql.shown().map(|(ty, fragment)| show(domain, ty, fragment));
    found.into_iter().map(|(_, sample)| sample).chain(shown).collect()
}

fn show<'a>(domain: &'a Domain, ty: TypeId, fragment: &'a Fragment) -> Sample<'a> {
    let mut sql = String::from("select * from (\n");
    let mut origins = Vec::new();
    for piece in &fragment.pieces {
        if let spanwise_lang::sql::Piece::Text(text, at) = piece {
            origins.push((sql.len()..sql.len() + text.len(), *at));
            sql.push_str(text);
        }
    }
    sql.push_str("\n) as checked");
    let statement = Statement { sql, parameters: Vec::new() };
    let name = domain.types().name(ty).to_owned();
    Sample { fragment, name, n_columns: None, statement, uses: Vec::new(), origins }
}

/// The smallest term of each type.
struct Makers<'a> {
    domain: &'a Domain,
    sql: &'a DomainSql,
    best: IndexVec<TypeId, Option<(u64, Maker)>>,
}

impl<'a> Makers<'a> {
    fn new(domain: &'a Domain, sql: &'a DomainSql) -> Self {
        let best = domain.types().ids().map(|_| None).collect();
        let mut makers = Self { domain, sql, best };
        let all = makers.all();
        // Each round finds terms that are one level deeper; a type has its smallest term at last after one for each type.
        for _ in 0..=domain.types().len() {
            let mut is_better = false;
            for &(ty, maker) in &all {
                let Some(size) = makers.size(maker) else { continue };
                for above in domain.types().above(ty) {
                    if makers.best[above].is_none_or(|(least, _)| size < least) {
                        makers.best[above] = Some((size, maker));
                        is_better = true;
                    }
                }
            }
            if !is_better {
                break;
            }
        }
        makers
    }

    /// Everything that makes a term, with its type.
    fn all(&self) -> Vec<(TypeId, Maker)> {
        let domain = self.domain;
        let frames = domain.predicates().flat_map(|(id, constant)| {
            debug_assert_eq!(constant.kind, Kind::Predicate);
            domain.frames_of(id).map(|(frame, declared)| (declared.result, Maker::Frame(frame)))
        });
        let classes = domain.classes().iter_enumerated().map(|(id, class)| (class.ty, Maker::Class(id)));
        let sets = domain.accumulator_types().iter_enumerated().filter(|(_, types)| types.is_set());
        let sets = sets.map(|(id, types)| (types.result, Maker::Set(id)));
        frames.chain(classes).chain(sets).collect()
    }

    /// The types of the arguments.
    fn arguments(&self, maker: Maker) -> Vec<TypeId> {
        match maker {
            Maker::Frame(frame) => self.domain.frame(frame).slots.clone(),
            Maker::Class(_) => Vec::new(),
            Maker::Set(set) => {
                self.domain.accumulator_types()[set].elements.iter().copied().take(1).collect()
            }
        }
    }

    /// The size of its smallest term, as far as that is known.
    fn size(&self, maker: Maker) -> Option<u64> {
        let arguments = self.arguments(maker).into_iter();
        arguments
            .map(|ty| self.best[ty].map(|(size, _)| size))
            .try_fold(1u64, |sum, size| Some(sum.saturating_add(size?)))
    }

    fn sample(
        &self,
        maker: Maker,
        fragment: &'a Fragment,
        name: &str,
        dialect: Dialect,
    ) -> Option<Sample<'a>> {
        let mut parts = Vec::new();
        self.push(maker, &mut parts, &mut HashMap::new())?;
        let terms = self.domain.new_terms();
        let ty = match maker {
            Maker::Frame(frame) => self.domain.frame(frame).result,
            Maker::Class(class) => self.domain.classes()[class].ty,
            Maker::Set(set) => self.domain.accumulator_types()[set].result,
        };
        let plan = Plan::of(self.domain, &terms, self.sql, parts, ty).ok()?;
        let used = plan.order().into_iter().filter(|&part| part != plan.root());
        let uses = used.filter_map(|part| plan.fragment(part)).map(|used| used.range.clone()).collect();
        let (statement, origins) = Writer::new(self.domain, &terms, &plan, dialect).bare().ok()?;
        let n_columns = Some(if fragment.yields == Yields::Keys { 1 } else { 2 });
        Some(Sample { fragment, name: name.to_owned(), n_columns, statement, uses, origins })
    }

    /// Adds the parts of a smallest term, those of each type once, and returns the number of the last. Smallest terms never
    /// contain themselves.
    fn push(&self, maker: Maker, parts: &mut Vec<Part>, known: &mut HashMap<TypeId, usize>) -> Option<usize> {
        let mut args = Vec::new();
        for ty in self.arguments(maker) {
            if let Some(&part) = known.get(&ty) {
                args.push(part);
                continue;
            }
            let (_, maker) = self.best[ty]?;
            let part = self.push(maker, parts, known)?;
            known.insert(ty, part);
            args.push(part);
        }
        let what = match maker {
            Maker::Frame(frame) => What::Frame(frame),
            Maker::Class(class) => What::Sample(class),
            Maker::Set(set) => What::Set(set),
        };
        parts.push(Part { what, args });
        Some(parts.len() - 1)
    }
}
