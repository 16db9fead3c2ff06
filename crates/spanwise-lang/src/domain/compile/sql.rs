//! Compiles `sql`: reads fragments, and checks without a database that they fit together.

mod holes;

use super::super::file::{At, DomainFile, ExecutorChoice, FragmentDecl, SqlDecl};
use super::super::{ClassId, ConstantId, FrameId, Kind};
use super::accumulators::Accumulators;
use super::{Compiler, System};
use crate::diag::{Diagnostic, closest};
use crate::sql::{
    Combine, DomainSql, FieldKind, Flavor, Fragment, Hole, Holes, Piece, Yields, read, starts_with_key,
};
use crate::term::Shape;
use hashbrown::HashSet;
use spanwise_core::IndexVec;
use spanwise_literals::Kind as Literal;
use std::ops::Range;

/// A constant whose fragments are checked.
struct Checked<'a> {
    name: &'a str,
    frames: &'a [FrameId],
    n_slots: usize,
}

impl Compiler<'_> {
    /// The `sql` of the file; `None` if it has none and needs none.
    pub(super) fn sql(
        &mut self,
        file: &DomainFile,
        system: &System,
        accumulators: &Accumulators,
    ) -> Option<DomainSql> {
        let flavor = match &file.executor {
            ExecutorChoice::Sql(settings) => Some(settings.flavor()),
            _ => None,
        };
        let has_sql = file.constants.iter().any(|decl| decl.sql.is_some())
            || file.entities.iter().any(|decl| decl.sql.is_some())
            || !file.show.is_empty();
        if flavor.is_none() && !has_sql {
            return None;
        }
        let is_needed = flavor.is_some();
        let flavor = flavor.unwrap_or(Flavor::Sqlite);
        let mut sql = DomainSql { fields: self.all_fields(), ..DomainSql::default() };
        self.sql_of_constants(file, system, flavor, is_needed, &mut sql);
        self.sql_of_classes(file, flavor, &mut sql);
        self.sql_of_sets(system, accumulators, is_needed, &mut sql);
        self.show(file, system, flavor, &mut sql);
        if is_needed {
            self.no_sql(file, accumulators);
        }
        // Frames without an owner, and the like, would only give more problems.
        if self.problems.is_empty() {
            self.check_holes_of_sql(accumulators, is_needed, &sql);
        }
        sql.units = file.units.iter().map(|(name, unit)| (name.value.clone(), unit.value.clone())).collect();
        sql.prefix = prefix(&sql.fragments);
        Some(sql)
    }

    fn sql_of_constants(
        &mut self,
        file: &DomainFile,
        system: &System,
        flavor: Flavor,
        is_needed: bool,
        sql: &mut DomainSql,
    ) {
        for decl in &file.constants {
            let Some(&id) = self.predicate_of.get(&decl.name.value) else { continue };
            let Some(declared) = &decl.sql else {
                if is_needed {
                    let message = format!("constant `{}` has no `sql`", decl.name.value);
                    let hint = "programs run in a database: say what it selects";
                    self.problems.push(Diagnostic::new(decl.name.range.clone(), message).hint(hint));
                }
                continue;
            };
            let own = system.signatures.as_ref().and_then(|all| all.get(&decl.name.value));
            let texts = own.unwrap_or(&decl.types);
            if let SqlDecl::Each(each) = declared
                && each.len() != texts.len()
            {
                let message = format!(
                    "`{}` has {} fragments of `sql` for {} signatures",
                    decl.name.value,
                    each.len(),
                    texts.len()
                );
                self.problem(&decl.name.range, message);
                continue;
            }
            for (at, text) in texts.iter().enumerate() {
                let fragment = match declared {
                    SqlDecl::All(fragment) => fragment,
                    SqlDecl::Each(each) => &each[at],
                };
                self.sql_of_signature(id, text, fragment, flavor, sql);
            }
        }
    }

    /// Reads the fragment of the frames of one signature, and checks the numbers of its holes.
    fn sql_of_signature(
        &mut self,
        constant: ConstantId,
        text: &At<String>,
        decl: &FragmentDecl,
        flavor: Flavor,
        sql: &mut DomainSql,
    ) {
        // The same fragment for several signatures is one fragment.
        let known = sql.fragments.iter().position(|known| known.range == decl.text.range);
        let at = match known {
            Some(at) => at,
            None => {
                let read = read(&decl.text, decl.yields, Holes::Arguments, flavor);
                let Some(fragment) = self.keep(read) else { return };
                sql.fragments.push(fragment);
                sql.fragments.len() - 1
            }
        };
        let frames = self.constants[constant].frames.clone().map(FrameId);
        let frames: Vec<FrameId> = frames.filter(|&id| self.frames[id].declared == text.range).collect();
        let Some(n_slots) = frames.iter().map(|&id| self.frames[id].given.len()).max() else { return };
        let name = self.constants[constant].name.clone();
        let found =
            self.slot_problems(&sql.fragments[at], &Checked { name: &name, frames: &frames, n_slots });
        self.problems.extend(found);
        sql.frames.extend(frames.into_iter().map(|frame| (frame, at)));
    }

    /// Holes of slots that do not exist or may be left out, and slots without a hole.
    fn slot_problems(&self, fragment: &Fragment, of: &Checked<'_>) -> Vec<Diagnostic> {
        let is_optional = |slot: usize| of.frames.iter().any(|&id| !self.frames[id].given.contains(&slot));
        let mut found = Vec::new();
        let mut check = |slot: usize, range: &Range<usize>, within: Option<(usize, bool)>| {
            if slot >= of.n_slots {
                let message = format!("`{}` has no slot {}", of.name, slot + 1);
                let hint = format!("it has {}", of.n_slots);
                found.push(Diagnostic::new(range.clone(), message).hint(hint));
            } else if is_optional(slot) && within != Some((slot, true)) {
                let n = slot + 1;
                let message = format!("slot {n} of `{}` can be left out", of.name);
                let hint = format!("write `{{?{n}: ..}}` around what is there only if it is filled");
                found.push(Diagnostic::new(range.clone(), message).hint(hint));
            }
        };
        for piece in &fragment.pieces {
            match piece {
                Piece::Text(..) => {}
                Piece::Hole(Hole::Argument { slot, .. }, range) => check(*slot, range, None),
                Piece::Hole(Hole::Column(_), _) => {}
                Piece::If { slot, is_given, pieces, range } => {
                    if *slot >= of.n_slots {
                        check(*slot, range, None);
                    }
                    for piece in pieces {
                        if let Piece::Hole(Hole::Argument { slot: inner, .. }, range) = piece {
                            check(*inner, range, Some((*slot, *is_given)));
                        }
                    }
                }
            }
        }
        if let Some(slot) = (0..of.n_slots).find(|&slot| !fragment.mentions(slot)) {
            let n = slot + 1;
            let message = format!("this `sql` of `{}` does not use its slot {n}", of.name);
            let hint = format!("write `{{{n}}}` where it belongs, or `{{?{n}:}}` if it makes no difference");
            found.push(Diagnostic::new(fragment.range.clone(), message).hint(hint));
        }
        found
    }

    fn sql_of_classes(&mut self, file: &DomainFile, flavor: Flavor, sql: &mut DomainSql) {
        for decl in &file.entities {
            let class = self.classes.iter_enumerated().find(|(_, class)| class.name == decl.class.value);
            let (Some((class, _)), Some(text)) = (class, &decl.sql) else { continue };
            let Some(fragment) = self.keep(read(text, Yields::Keys, Holes::Columns, flavor)) else {
                continue;
            };
            for (hole, range) in fragment.holes(&|_| true) {
                let Hole::Column(column) = hole else { continue };
                let fields = sql.fields(class);
                if fields.iter().any(|(name, _)| name == column) {
                    continue;
                }
                let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                let message = format!("the form of `{}` has no column `{column}`", decl.class.value);
                let problem = Diagnostic::new(range, message);
                self.problems.push(match closest(column, names.iter().copied()) {
                    Some(near) => problem.hint(format!("did you mean `{near}`?")),
                    None => problem.hint(format!("it has {}", names.join(", "))),
                });
            }
            sql.fragments.push(fragment);
            sql.classes.insert(class, sql.fragments.len() - 1);
        }
    }

    fn sql_of_sets(&mut self, system: &System, all: &Accumulators, is_needed: bool, sql: &mut DomainSql) {
        for decl in &system.accumulators {
            let head = self.base.intern(&decl.head.value);
            let found = all.all.iter_enumerated().find(|(_, known)| known.head == head);
            let Some((id, _)) = found.filter(|(id, _)| all.types[*id].is_set()) else { continue };
            match decl.sql.as_ref().map(|text| (text.value.as_str(), text)) {
                Some(("intersect", _)) => drop(sql.sets.insert(id, Combine::Intersect)),
                Some(("union", _)) => drop(sql.sets.insert(id, Combine::Union)),
                Some((_, text)) => {
                    let problem =
                        Diagnostic::new(text.range.clone(), "`sql` of a set is `intersect` or `union`");
                    self.problems.push(problem);
                }
                None if is_needed => {
                    let message = format!("the set `{}` has no `sql`", decl.head.value);
                    let hint =
                        "write `sql = \"intersect\"` or `sql = \"union\"`: how its elements are combined";
                    self.problems.push(Diagnostic::new(decl.head.range.clone(), message).hint(hint));
                }
                None => {}
            }
        }
    }

    fn show(&mut self, file: &DomainFile, system: &System, flavor: Flavor, sql: &mut DomainSql) {
        for (name, text) in &file.show {
            let Some(ty) = self.types.find(&name.value) else {
                // Another type system may not have it.
                if system.signatures.is_none() {
                    let problem = self.types.unknown(&name.value, name.range.clone());
                    self.problems.push(problem);
                }
                continue;
            };
            let Some(fragment) = self.keep(read(text, Yields::Keys, Holes::No, flavor)) else { continue };
            if !starts_with_key(&text.value) {
                let problem =
                    Diagnostic::new(text.range.clone(), "the first column of a shown type is its key");
                self.problems.push(problem.hint("call it `key`, as in `select id as key, name from track`"));
                continue;
            }
            sql.fragments.push(fragment);
            sql.show.push((ty, sql.fragments.len() - 1));
        }
    }

    /// What cannot run in a database.
    fn no_sql(&mut self, file: &DomainFile, accumulators: &Accumulators) {
        for (types, accumulator) in accumulators.types.iter().zip(accumulators.all.iter()) {
            if !types.is_set() {
                let range = accumulator.declared.clone();
                let problem = Diagnostic::new(range, "an accumulator cannot run in a database");
                self.problems.push(problem.hint("a set can: see [[sets]]"));
            }
        }
        for decl in &file.predicates {
            let problem = Diagnostic::new(
                decl.rows.class.range.clone(),
                "a class of predicates cannot run in a database",
            );
            self.problems.push(problem.hint("declare each under [constants], with its `sql`"));
        }
        let lacking =
            self.frames.iter().find(|frame| frame.form.as_ref().is_some_and(crate::form::Form::is_lacking));
        if let Some(frame) = lacking {
            let message = "a term that lacks something cannot run in a database";
            self.problems.push(Diagnostic::new(frame.declared.clone(), message));
        }
    }

    /// The columns of each class with their kinds.
    fn all_fields(&self) -> IndexVec<ClassId, Vec<(String, FieldKind)>> {
        self.classes.ids().map(|class| self.fields(class)).collect()
    }

    fn fields(&self, id: ClassId) -> Vec<(String, FieldKind)> {
        let class = &self.classes[id];
        let kind = class.recognizer.as_ref().map(spanwise_literals::Recognizer::kind);
        if class.reads_fields {
            let names = class.pattern.fields();
            return names
                .map(|name| (name.to_owned(), kind.map_or(FieldKind::Text, |kind| of_literal(kind, name))))
                .collect();
        }
        let mut found: Vec<(String, FieldKind)> = Vec::new();
        for (at, (name, is_quoted)) in class.pattern.quoted_fields().enumerate() {
            let kind = if is_quoted { FieldKind::Text } else { self.kind_of_column(id, at) };
            found.push((name.to_owned(), kind));
        }
        found
    }

    /// The kind of a column that is written without quotes: numbers if all members have one.
    fn kind_of_column(&self, id: ClassId, at: usize) -> FieldKind {
        let class = &self.classes[id];
        let mut kind = FieldKind::Integer;
        let listed = self.constants.iter().filter(|constant| constant.kind == Kind::Entity(id));
        for term in listed.filter_map(|constant| constant.term) {
            let mut args = vec![None; class.form.holes().len()];
            class.form.take_apart(&self.base, term, &mut args);
            let Some(Some(cell)) = args.get(at) else { return FieldKind::Text };
            if self.base.shape(*cell) != Shape::Number {
                return FieldKind::Text;
            }
            if self.base.head_text(*cell).parse::<i64>().is_err() {
                kind = FieldKind::Decimal;
            }
        }
        if class.open { FieldKind::Decimal } else { kind }
    }
}

fn of_literal(kind: Literal, field: &str) -> FieldKind {
    match (kind, field) {
        (Literal::Integer | Literal::Ordinal, _) => FieldKind::Integer,
        (Literal::Decimal, _) | (_, "number") => FieldKind::Decimal,
        (Literal::Date, _) | (Literal::Period, "begin" | "end") => FieldKind::Date,
        (Literal::Time, _) => FieldKind::Time,
        (Literal::DateTime, _) => FieldKind::DateTime,
        _ => FieldKind::Text,
    }
}

/// What the names of common table expressions can start with: no word of a fragment is this and a number.
fn prefix(fragments: &[Fragment]) -> String {
    let mut words: HashSet<String> = HashSet::new();
    for text in fragments.iter().flat_map(|fragment| &fragment.pieces).flat_map(texts) {
        let split = text.split(|ch: char| !ch.is_alphanumeric() && ch != '_');
        words.extend(
            split.filter(|word| word.ends_with(|ch: char| ch.is_ascii_digit())).map(str::to_lowercase),
        );
    }
    let is_free = |prefix: &String| {
        let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        #[allow(clippy::iter_over_hash_type, reason = "whether any of them is, in whatever order")]
        let taken = words.iter().any(|word| word.strip_prefix(prefix.as_str()).is_some_and(is_number));
        !taken
    };
    let longer = std::iter::successors(Some("n".to_owned()), |prefix| Some(format!("{prefix}_")));
    longer.into_iter().find(is_free).unwrap_or_default()
}

fn texts(piece: &Piece) -> Vec<&str> {
    match piece {
        Piece::Text(text, _) => vec![text],
        Piece::Hole(..) => Vec::new(),
        Piece::If { pieces, .. } => pieces.iter().flat_map(texts).collect(),
    }
}
