//! Declarations to a compiled domain, in passes. Each pass assumes what the ones before it established.

use super::file::{
    self, AccumulatorDecl, At, ConstantDecl, DomainFile, EntityDecl, ExecutorChoice, TypeSystemDecl,
};
use super::{
    Accumulator, Class, ClassId, Constant, ConstantId, Domain, Frame, FrameId, Kind, Table, TableSource,
};
use crate::diag::{Diagnostic, closest};
use crate::form::{Form, parse_at};
use crate::lexicon::{Lexicon, Source};
use crate::signature::{self, Absent, Signature};
use crate::states::{AccumulatorId, AccumulatorTypes, MAX_STATES, State, States};
use crate::term::{Shape, TermId, Terms};
use crate::types::{TypeDecl, TypeId, Types};
use hashbrown::{HashMap, HashSet};
use spanwise_core::IndexVec;
use std::ops::Range;

/// Most optional slots in one signature: each doubles the number of frames.
const MAX_OPTIONAL: usize = 6;
/// Most slots in one signature.
const MAX_SLOTS: usize = 16;

pub(super) fn compile(
    source: &str,
    type_system: Option<&str>,
    tables: &dyn TableSource,
) -> Result<Domain, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let Some(file) = file::read(source, &mut problems) else { return Err(problems) };
    let system = match choose_system(&file, type_system) {
        Ok(system) => system,
        Err(problem) => {
            problems.push(problem);
            return Err(problems);
        }
    };
    // AFTER THIS POINT: the file is well-formed TOML with known keys, or `problems` says otherwise.
    let types = Types::build(&system.types, &mut problems);
    let mut compiler = Compiler {
        tables,
        types,
        base: Terms::new(),
        problems,
        constants: IndexVec::new(),
        frames: IndexVec::new(),
        frame_owner: IndexVec::new(),
        classes: IndexVec::new(),
        predicate_of: HashMap::new(),
        entity_of: HashMap::new(),
        lexicon: Lexicon::default(),
        read_tables: Vec::new(),
    };
    // AFTER THIS POINT: every type name resolves or is reported where it is used.
    for decl in &file.constants {
        compiler.constant(decl, &system);
    }
    compiler.check_listed(&file, &system);
    for decl in &file.entities {
        compiler.entity_class(decl, &system);
    }
    // AFTER THIS POINT: every constant has its frames, every entity its term.
    let (accumulators, accumulator_types) = compiler.accumulators(&system.accumulators);
    compiler.phrases(&file);
    let wrap = compiler.wrap(&file);
    let root_types: Vec<TypeId> = system.root.iter().filter_map(|name| compiler.ty(name)).collect();
    let no_meaning = compiler.no_meaning(&file.no_meaning);
    // AFTER THIS POINT: only the states are missing.
    let states = compiler.states(&accumulator_types, &root_types);
    if !compiler.problems.is_empty() {
        return Err(compiler.problems);
    }
    Ok(compiler.finish(Parts {
        source,
        file,
        type_system,
        accumulators,
        accumulator_types,
        wrap,
        root_types,
        no_meaning,
        states,
    }))
}

/// The types and signatures in use, from the file itself or from one of its alternatives.
struct System {
    types: Vec<TypeDecl>,
    root: Vec<At<String>>,
    /// `None`: constants keep the signatures of their declaration.
    signatures: Option<HashMap<String, Vec<At<String>>>>,
    entity_types: HashMap<String, At<String>>,
    accumulators: Vec<AccumulatorDecl>,
    listed: Vec<At<String>>,
    listed_classes: Vec<At<String>>,
}

fn choose_system(file: &DomainFile, name: Option<&str>) -> Result<System, Diagnostic> {
    let Some(name) = name else {
        return Ok(System {
            types: file.types.clone(),
            root: file.root.clone(),
            signatures: None,
            entity_types: HashMap::new(),
            accumulators: file.accumulators.clone(),
            listed: Vec::new(),
            listed_classes: Vec::new(),
        });
    };
    let Some(decl) = file.type_systems.iter().find(|system| system.name.value == name) else {
        let known: Vec<_> = file.type_systems.iter().map(|system| system.name.value.as_str()).collect();
        let problem = Diagnostic::new(
            file.name.range.clone(),
            format!("there is no type system `{name}` in this file"),
        );
        return Err(match closest(name, known.iter().copied()) {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None if known.is_empty() => problem.hint("declare it under [type_systems]"),
            None => problem.hint(format!("the file has {}", known.join(", "))),
        });
    };
    Ok(alternative(file, decl))
}

fn alternative(file: &DomainFile, decl: &TypeSystemDecl) -> System {
    let signatures = decl.constants.iter().map(|(name, types)| (name.value.clone(), types.clone()));
    let entity_types = decl.entities.iter().map(|(class, ty)| (class.value.clone(), ty.clone()));
    System {
        types: decl.types.clone(),
        root: decl.root.clone(),
        signatures: Some(signatures.collect()),
        entity_types: entity_types.collect(),
        accumulators: decl.accumulators.clone().unwrap_or_else(|| file.accumulators.clone()),
        listed: decl.constants.iter().map(|(name, _)| name.clone()).collect(),
        listed_classes: decl.entities.iter().map(|(class, _)| class.clone()).collect(),
    }
}

struct Parts<'a> {
    source: &'a str,
    file: DomainFile,
    type_system: Option<&'a str>,
    accumulators: IndexVec<AccumulatorId, Accumulator>,
    accumulator_types: IndexVec<AccumulatorId, AccumulatorTypes>,
    wrap: Option<Form>,
    root_types: Vec<TypeId>,
    no_meaning: HashSet<String>,
    states: States,
}

struct Compiler<'a> {
    tables: &'a dyn TableSource,
    types: Types,
    base: Terms,
    problems: Vec<Diagnostic>,
    constants: IndexVec<ConstantId, Constant>,
    frames: IndexVec<FrameId, Frame>,
    frame_owner: IndexVec<FrameId, ConstantId>,
    classes: IndexVec<ClassId, Class>,
    predicate_of: HashMap<String, ConstantId>,
    entity_of: HashMap<TermId, ConstantId>,
    lexicon: Lexicon,
    read_tables: Vec<(String, Table)>,
}

impl Compiler<'_> {
    fn problem(&mut self, range: &Range<usize>, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(range.clone(), message));
    }

    /// Keeps the value, or the problem.
    fn keep<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn ty(&mut self, name: &At<String>) -> Option<TypeId> {
        let found =
            self.types.find(&name.value).ok_or_else(|| self.types.unknown(&name.value, name.range.clone()));
        self.keep(found)
    }

    // ---- constants --------------------------------------------------------------------------------------

    fn constant(&mut self, decl: &ConstantDecl, system: &System) {
        let texts = match &system.signatures {
            None => &decl.types,
            // A constant that the alternative does not list is not part of it.
            Some(signatures) => match signatures.get(&decl.name.value) {
                Some(texts) => texts,
                None => return,
            },
        };
        let mut signatures = Vec::new();
        for text in texts {
            let parsed = signature::parse(&text.value, text.range.start, &self.types);
            for plain in self.keep(parsed).unwrap_or_default() {
                if signatures.contains(&plain) {
                    self.problem(&text.range, format!("`{}` has this signature twice", decl.name.value));
                } else {
                    signatures.push(plain);
                }
            }
        }
        let id = ConstantId(self.constants.len() as u32);
        let first = self.frames.len() as u32;
        for signature in &signatures {
            self.frames_of_signature(decl, signature, signatures.iter().any(|s| !s.slots.is_empty()), id);
        }
        self.check_frames(decl, first);
        self.constants.push(Constant {
            name: decl.name.value.clone(),
            kind: Kind::Predicate,
            frames: first..self.frames.len() as u32,
            term: None,
            implicit: decl.implicit,
        });
        self.predicate_of.insert(decl.name.value.clone(), id);
    }

    /// One frame for each choice of optional slots to leave empty, the fullest first.
    fn frames_of_signature(
        &mut self,
        decl: &ConstantDecl,
        signature: &Signature,
        is_called: bool,
        owner: ConstantId,
    ) {
        let range = decl.types.first().map_or(&decl.name.range, |first| &first.range);
        let optional: Vec<usize> = (0..signature.slots.len())
            .filter(|&slot| signature.slots[slot].absent != Absent::Required)
            .collect();
        if optional.len() > MAX_OPTIONAL || signature.slots.len() > MAX_SLOTS {
            let message = format!("at most {MAX_SLOTS} slots and {MAX_OPTIONAL} optional ones, please");
            return self.problem(range, message);
        }
        let Some(form) = self.full_form(decl, signature, is_called) else { return };
        let defaults: Vec<Option<Form>> = signature
            .slots
            .iter()
            .map(|slot| match &slot.absent {
                Absent::Default(text) => {
                    let parsed = parse_at(&mut self.base, text, range.start);
                    self.keep(parsed).map(Form::Ground)
                }
                Absent::Required | Absent::Omitted => None,
            })
            .collect();
        for choice in 0..1u32 << optional.len() {
            let is_absent = |slot: usize| {
                optional.iter().position(|&o| o == slot).is_some_and(|bit| choice >> bit & 1 == 1)
            };
            let present: Vec<usize> = (0..signature.slots.len()).filter(|&slot| !is_absent(slot)).collect();
            let fill = |slot: usize| match present.iter().position(|&p| p == slot) {
                Some(position) => Some(Form::Hole(position)),
                None => defaults[slot].clone(),
            };
            let slots = present.iter().map(|&slot| signature.slots[slot].ty).collect();
            let filled = form.refill(&mut self.base, &fill);
            self.frames.push(Frame { slots, result: signature.result, form: filled, state: None });
            self.frame_owner.push(owner);
        }
    }

    fn full_form(&mut self, decl: &ConstantDecl, signature: &Signature, is_called: bool) -> Option<Form> {
        let n_slots = signature.slots.len();
        let Some(written) = &decl.form else {
            return Some(if is_called {
                Form::plain(&mut self.base, &decl.name.value, n_slots)
            } else {
                Form::Ground(self.base.leaf(Shape::Name, &decl.name.value))
            });
        };
        let parsed = Form::parse(&mut self.base, &written.value, written.range.start);
        let form = self.keep(parsed)?;
        let mut holes = form.holes();
        holes.sort_unstable();
        holes.dedup();
        if !holes.iter().copied().eq(0..n_slots) {
            let message =
                format!("the form of `{}` must have a hole for each of its {n_slots} slots", decl.name.value);
            self.problem(&written.range, message);
            return None;
        }
        if matches!(form, Form::Hole(_)) {
            self.problem(&written.range, "a form needs something around its hole");
            return None;
        }
        Some(form)
    }

    /// Two frames that ask for the same slots would make every use ambiguous.
    fn check_frames(&mut self, decl: &ConstantDecl, first: u32) {
        for later in first..self.frames.len() as u32 {
            for earlier in first..later {
                let (a, b) = (&self.frames[FrameId(earlier)], &self.frames[FrameId(later)]);
                if a.slots == b.slots && a.result == b.result {
                    let message =
                        format!("two signatures of `{}` ask for the same and give the same", decl.name.value);
                    return self.problem(&decl.name.range, message);
                }
            }
        }
    }

    /// Names that an alternative type system lists must exist.
    fn check_listed(&mut self, file: &DomainFile, system: &System) {
        for name in &system.listed {
            if !file.constants.iter().any(|decl| decl.name.value == name.value) {
                self.unknown_constant(name);
            }
        }
        for class in &system.listed_classes {
            if !file.entities.iter().any(|decl| decl.class.value == class.value) {
                self.problem(&class.range, format!("unknown entity class `{}`", class.value));
            }
        }
    }

    fn unknown_constant(&mut self, name: &At<String>) {
        let problem = Diagnostic::new(name.range.clone(), format!("unknown constant `{}`", name.value));
        let near = closest(&name.value, self.constants.iter().map(|constant| constant.name.as_str()));
        let problem = match near {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem.hint("declare it under [constants]"),
        };
        self.problems.push(problem);
    }

    // ---- entities ---------------------------------------------------------------------------------------

    fn entity_class(&mut self, decl: &EntityDecl, system: &System) {
        if self.classes.iter().any(|class| class.name == decl.class.value) {
            return self.problem(
                &decl.class.range,
                format!("entity class `{}` is declared twice", decl.class.value),
            );
        }
        let ty_name = match &system.signatures {
            None => &decl.ty,
            Some(_) => match system.entity_types.get(&decl.class.value) {
                Some(name) => name,
                None => return,
            },
        };
        let Some(ty) = self.ty(ty_name) else { return };
        let Some(table) = self.entity_table(decl) else { return };
        let Some(template) = self.entity_form(decl, &table) else { return };
        let class = ClassId(self.classes.len() as u16);
        let frame = self.frames.push(Frame { slots: Vec::new(), result: ty, form: None, state: None });
        self.frame_owner.push(ConstantId(self.constants.len() as u32));
        let form = self.open_form(template);
        self.classes.push(Class { name: decl.class.value.clone(), ty, frame, open: decl.open, form });
        for (line, cells) in &table.rows {
            let row = Row { columns: &table.columns, cells, line: *line };
            self.entity(decl, class, template, &row);
        }
        self.aliases(decl, &table, template);
    }

    /// The rows of a class, from its tables and from the names in the file.
    fn entity_table(&mut self, decl: &EntityDecl) -> Option<Table> {
        let mut all = Table::default();
        for text in &decl.tables {
            let table = self.renamed_table(text)?;
            merge(&mut all, table);
        }
        if !decl.names.is_empty() || decl.tables.is_empty() {
            let rows = decl.names.iter().map(|name| (0, vec![name.value.clone()])).collect();
            merge(&mut all, Table { columns: vec!["name".to_owned()], rows });
        }
        let mut seen = HashSet::new();
        for name in &decl.names {
            if !seen.insert(name.value.as_str()) {
                self.problem(&name.range, format!("`{}` is listed twice", name.value));
            }
        }
        Some(all)
    }

    /// Reads `path new=old ..`: the table with columns renamed. A column whose name is taken is lost.
    fn renamed_table(&mut self, text: &At<String>) -> Option<Table> {
        let mut words = text.value.split_whitespace();
        let path = words.next().unwrap_or_default();
        let known = self.read_tables.iter().find(|(read, _)| read == path).map(|(_, table)| table.clone());
        let table = match known.map_or_else(|| self.tables.read(path), Ok) {
            Ok(table) => table,
            Err(message) => {
                self.problem(&text.range, message);
                return None;
            }
        };
        if !self.read_tables.iter().any(|(read, _)| read == path) {
            self.read_tables.push((path.to_owned(), table.clone()));
        }
        let mut renamed = table.clone();
        for word in words {
            let column = word
                .split_once('=')
                .and_then(|(new, old)| Some((new, table.columns.iter().position(|column| column == old)?)));
            let Some((new, at)) = column else {
                let problem = Diagnostic::new(
                    text.range.clone(),
                    format!("`{word}` is not `new=old` with a column of the table"),
                );
                self.problems.push(problem.hint(format!("the columns are {}", table.columns.join(", "))));
                return None;
            };
            for (other, name) in renamed.columns.iter_mut().enumerate() {
                if other != at && name == new {
                    name.clear();
                }
            }
            new.clone_into(&mut renamed.columns[at]);
        }
        // Aliases belong to the name that the table itself gives.
        if text.value.contains(" name=") && !text.value.contains(" aliases=") {
            renamed.columns.iter_mut().filter(|column| *column == "aliases").for_each(String::clear);
        }
        Some(renamed)
    }

    /// The form of a class as a term whose `{column}` leaves stand for cells.
    fn entity_form(&mut self, decl: &EntityDecl, table: &Table) -> Option<TermId> {
        let parsed = parse_at(&mut self.base, &decl.form.value, decl.form.range.start);
        let template = self.keep(parsed)?;
        let mut n_columns = 0;
        for id in self.base.bottom_up(template) {
            let Some(column) = column_of(self.base.head_text(id)).map(str::to_owned) else { continue };
            n_columns += 1;
            self.check_column(&column, table, &decl.form);
        }
        if n_columns == 0 {
            let message = "the form of an entity class names a column, as in `stateid('{name}')`";
            self.problem(&decl.form.range, message);
            return None;
        }
        for phrase in &decl.phrases {
            for column in columns_in(&phrase.value) {
                self.check_column(column, table, phrase);
            }
        }
        Some(template)
    }

    fn check_column(&mut self, column: &str, table: &Table, at: &At<String>) {
        if !table.columns.iter().any(|known| known == column) {
            let message = format!("there is no column `{column}`");
            let hint = format!("the columns are {}", table.columns.join(", "));
            self.problems.push(Diagnostic::new(at.range.clone(), message).hint(hint));
        }
    }

    /// The form of a class with a hole for every column, to recognise members that no table lists.
    fn open_form(&mut self, template: TermId) -> Option<Form> {
        fn convert(terms: &Terms, id: TermId, next: &mut usize) -> Form {
            if column_of(terms.head_text(id)).is_some() {
                *next += 1;
                return Form::Hole(*next - 1);
            }
            let args: Vec<Form> = terms.args(id).iter().map(|&arg| convert(terms, arg, next)).collect();
            if args.iter().all(|arg| matches!(arg, Form::Ground(_))) {
                return Form::Ground(id);
            }
            Form::Call { head: terms.head(id), args }
        }
        Some(convert(&self.base, template, &mut 0))
    }

    fn entity(&mut self, decl: &EntityDecl, class: ClassId, template: TermId, row: &Row<'_>) {
        // A row without one of the cells that the form names is not a member.
        let Some(term) = self.fill(decl, template, row) else { return };
        let constant = match self.entity_of.get(&term) {
            Some(&known) if self.constants[known].kind == Kind::Entity(class) => known,
            Some(_) => {
                let message = format!("two classes have the member `{}`", self.base.display(term));
                return self.problem(&decl.class.range, message);
            }
            None => {
                let frame = self.classes[class].frame.0;
                let id = self.constants.push(Constant {
                    name: self.base.display(term).to_string(),
                    kind: Kind::Entity(class),
                    frames: frame..frame + 1,
                    term: Some(term),
                    implicit: false,
                });
                self.entity_of.insert(term, id);
                id
            }
        };
        if decl.phrases.is_empty()
            && let Some(name) = row.get("name").or(row.cells.first().map(String::as_str))
        {
            self.lexicon.insert(name, constant, Source::Name);
        }
        for phrase in decl.phrases.iter().filter_map(|phrase| fill_text(&phrase.value, row)) {
            self.lexicon.insert(&phrase, constant, Source::Name);
        }
        for alias in row.get("aliases").into_iter().flat_map(|cell| cell.split('|')) {
            self.lexicon.insert(alias, constant, Source::Name);
        }
    }

    /// The term of one row.
    fn fill(&mut self, decl: &EntityDecl, id: TermId, row: &Row<'_>) -> Option<TermId> {
        let shape = self.base.shape(id);
        if let Some(column) = column_of(self.base.head_text(id)).map(str::to_owned) {
            let cell = row.get(&column).map(str::trim).filter(|cell| !cell.is_empty())?.to_owned();
            if shape == Shape::Quoted {
                return Some(self.base.leaf(Shape::Quoted, &cell));
            }
            return match self.base.parse(&cell) {
                Ok(bare) if self.base.args(bare).is_empty() && self.base.shape(bare) != Shape::Call => {
                    Some(bare)
                }
                _ => {
                    let place = if row.line == 0 {
                        String::new()
                    } else {
                        format!(" (line {} of the table)", row.line)
                    };
                    let message = format!("`{cell}` cannot stand without quotes{place}");
                    let hint = format!("write `'{{{column}}}'` in the form");
                    self.problems.push(Diagnostic::new(decl.form.range.clone(), message).hint(hint));
                    None
                }
            };
        }
        let args: Vec<TermId> = self.base.args(id).to_vec();
        let filled = args.into_iter().map(|arg| self.fill(decl, arg, row)).collect::<Option<Vec<_>>>()?;
        let head = self.base.head(id);
        Some(self.base.term(shape, head, &filled))
    }

    fn aliases(&mut self, decl: &EntityDecl, table: &Table, template: TermId) {
        for (name, phrases) in &decl.aliases {
            let rows: Vec<_> = table
                .rows
                .iter()
                .filter(|(line, cells)| {
                    let row = Row { columns: &table.columns, cells, line: *line };
                    row.get("name").or(cells.first().map(String::as_str)) == Some(name.value.as_str())
                })
                .collect();
            if rows.is_empty() {
                let message = format!("class `{}` has no member `{}`", decl.class.value, name.value);
                self.problem(&name.range, message);
            }
            for (line, cells) in rows {
                let row = Row { columns: &table.columns, cells, line: *line };
                let Some(constant) =
                    self.fill(decl, template, &row).and_then(|t| self.entity_of.get(&t).copied())
                else {
                    continue;
                };
                for phrase in phrases {
                    self.phrase(phrase, constant, Source::Name);
                }
            }
        }
    }

    fn phrase(&mut self, phrase: &At<String>, constant: ConstantId, source: Source) {
        if !self.lexicon.insert(&phrase.value, constant, source) {
            self.problem(&phrase.range, "a phrase needs at least one word");
        }
    }

    // ---- the rest ---------------------------------------------------------------------------------------

    fn accumulators(
        &mut self,
        decls: &[AccumulatorDecl],
    ) -> (IndexVec<AccumulatorId, Accumulator>, IndexVec<AccumulatorId, AccumulatorTypes>) {
        let mut accumulators: IndexVec<AccumulatorId, Accumulator> = IndexVec::new();
        let mut all_types: IndexVec<AccumulatorId, AccumulatorTypes> = IndexVec::new();
        for decl in decls {
            let head = self.base.intern(&decl.head.value);
            if self.predicate_of.contains_key(&decl.head.value)
                || accumulators.iter().any(|acc| acc.head == head)
            {
                self.problem(&decl.head.range, format!("`{}` is declared twice", decl.head.value));
                continue;
            }
            let elements: Vec<TypeId> = decl.elements.iter().filter_map(|name| self.ty(name)).collect();
            let taken = |acc: &AccumulatorTypes| {
                acc.elements.iter().any(|&a| {
                    elements.iter().any(|&b| self.types.is_subtype(a, b) || self.types.is_subtype(b, a))
                })
            };
            if all_types.iter().any(taken) {
                self.problem(&decl.head.range, "a type can gather for one accumulator only");
                continue;
            }
            let (Some(over), Some(result)) = (self.ty(&decl.over), self.ty(&decl.result)) else { continue };
            let default = decl.default.as_ref().and_then(|text| {
                let parsed = parse_at(&mut self.base, &text.value, text.range.start);
                self.keep(parsed)
            });
            self.check_default(decl, default, over, result);
            all_types.push(AccumulatorTypes { elements, over, result, has_default: default.is_some() });
            accumulators.push(Accumulator { head, default });
        }
        (accumulators, all_types)
    }

    /// With a default there must be one way only to say each program.
    fn check_default(
        &mut self,
        decl: &AccumulatorDecl,
        default: Option<TermId>,
        over: TypeId,
        result: TypeId,
    ) {
        let (Some(text), Some(term)) = (&decl.default, default) else { return };
        if self.types.is_subtype(result, over) {
            let message =
                format!("`{}` with a default must not give a type that it is applied to", decl.head.value);
            let hint = "values that stand alone join further values: keep `result` outside `over`";
            self.problems.push(Diagnostic::new(decl.result.range.clone(), message).hint(hint));
        }
        let says = |frame: &&Frame| {
            frame.form == Some(Form::Ground(term)) && self.types.is_subtype(frame.result, over)
        };
        if self.frames.iter().any(|frame| says(&frame)) {
            let message =
                format!("the default `{}` can also be said, of a type that `over` accepts", text.value);
            let hint = "give that constant a type of its own outside `over`";
            self.problems.push(Diagnostic::new(text.range.clone(), message).hint(hint));
        }
    }

    fn phrases(&mut self, file: &DomainFile) {
        for (name, phrases) in &file.lexicon {
            match self.predicate_of.get(&name.value).copied() {
                Some(constant) => {
                    for phrase in phrases {
                        self.phrase(phrase, constant, Source::Phrase);
                    }
                }
                // Constants that another type system leaves out keep their phrases in the file.
                None if file.constants.iter().any(|decl| decl.name.value == name.value) => {}
                None => self.unknown_constant(name),
            }
        }
    }

    fn no_meaning(&mut self, words: &[At<String>]) -> HashSet<String> {
        let mut set = HashSet::new();
        for word in words {
            let tokens = spanwise_core::Utterance::new(word.value.as_str());
            match tokens.tokens() {
                [single] => {
                    if !set.insert(single.lower.clone()) {
                        self.problem(&word.range, format!("`{}` is listed twice", word.value));
                    }
                }
                _ => self.problem(&word.range, format!("`{}` is not one word", word.value)),
            }
        }
        set
    }

    fn wrap(&mut self, file: &DomainFile) -> Option<Form> {
        let text = file.wrap.as_ref()?;
        let parsed = Form::parse(&mut self.base, &text.value, text.range.start);
        let form = self.keep(parsed)?;
        if form.holes() == [0] && !matches!(form, Form::Hole(_)) {
            return Some(form);
        }
        self.problem(
            &text.range,
            "`wrap` needs exactly one hole with something around it, as in `answer({})`",
        );
        None
    }

    fn states(
        &mut self,
        accumulators: &IndexVec<AccumulatorId, AccumulatorTypes>,
        root: &[TypeId],
    ) -> States {
        if !self.problems.is_empty() {
            return States::default();
        }
        let bare = |frame: &Frame| match frame.slots.as_slice() {
            [] => State::Done(frame.result),
            slots => State::Wants { slots: slots.into(), result: frame.result },
        };
        let leaves: Vec<State> = self.frames.iter().map(bare).collect();
        match States::compile(&self.types, accumulators, leaves.iter().cloned(), root) {
            Ok(states) => {
                for (raw, leaf) in leaves.iter().enumerate() {
                    self.frames[FrameId(raw as u32)].state = states.find(leaf);
                }
                states
            }
            Err(_) => {
                let message = format!("the types and signatures give more than {MAX_STATES} meaning states");
                let hint = "use fewer or coarser types, or fewer slots per constant";
                self.problems.push(Diagnostic::new(0..0, message).hint(hint));
                States::default()
            }
        }
    }

    fn finish(self, parts: Parts<'_>) -> Domain {
        let mut by_top: HashMap<_, Vec<FrameId>> = HashMap::new();
        for (id, frame) in self.frames.iter_enumerated() {
            if let Some(top) = frame.form.as_ref().and_then(|form| form.top(&self.base)) {
                by_top.entry(top).or_default().push(id);
            }
        }
        let DomainFile { name, about, style, executor, type_systems, .. } = parts.file;
        let executor: ExecutorChoice = executor;
        Domain {
            name: name.value,
            about,
            type_system: parts.type_system.map(str::to_owned),
            type_systems: type_systems.into_iter().map(|system| system.name.value).collect(),
            source: parts.source.to_owned(),
            tables: self.read_tables,
            types: self.types,
            base: self.base,
            constants: self.constants,
            frames: self.frames,
            frame_owner: self.frame_owner,
            classes: self.classes,
            accumulators: parts.accumulators,
            accumulator_types: parts.accumulator_types,
            root_types: parts.root_types,
            wrap: parts.wrap,
            style,
            no_meaning: parts.no_meaning,
            lexicon: self.lexicon,
            states: parts.states,
            executor,
            by_top,
            entity_of: self.entity_of,
            predicate_of: self.predicate_of,
        }
    }
}

/// One row of an entity table.
struct Row<'a> {
    columns: &'a [String],
    cells: &'a [String],
    line: usize,
}

impl Row<'_> {
    fn get(&self, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|known| known == column)?;
        self.cells.get(at).map(String::as_str)
    }
}

/// Appends the rows of `more`, matching columns by name. Columns without a name are left behind.
fn merge(all: &mut Table, more: Table) {
    let places: Vec<Option<usize>> = more
        .columns
        .iter()
        .map(|column| {
            let known = all.columns.iter().position(|other| other == column);
            (!column.is_empty()).then(|| {
                known.unwrap_or_else(|| {
                    all.columns.push(column.clone());
                    all.columns.len() - 1
                })
            })
        })
        .collect();
    for (line, cells) in more.rows {
        let mut row = vec![String::new(); all.columns.len()];
        for (cell, place) in cells.into_iter().zip(&places) {
            if let Some(place) = place {
                row[*place] = cell;
            }
        }
        all.rows.push((line, row));
    }
}

/// The column that `{column}` names.
fn column_of(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}').filter(|inner| !inner.contains(['{', '}']))
}

/// The columns that a phrase template names.
fn columns_in(template: &str) -> Vec<&str> {
    template.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(column, _)| column)).collect()
}

/// The phrase of one row; `None` when a cell it names is empty.
fn fill_text(template: &str, row: &Row<'_>) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (column, tail) = after.split_once('}')?;
        out.push_str(row.get(column).filter(|cell| !cell.trim().is_empty())?);
        rest = tail;
    }
    out.push_str(rest);
    Some(out)
}
