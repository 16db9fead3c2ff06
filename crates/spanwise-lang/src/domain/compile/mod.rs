//! The domain compiler: turns declarations into a [`Domain`], in passes. Each pass relies on those before it.

mod accumulators;
mod constants;
mod entities;
mod gaps;
mod lacking;
mod phrases;
mod predicates;
mod says;
mod sql;
mod tables;

use super::file::{self, AccumulatorDecl, At, DomainFile, TypeSystemDecl};
use super::{Class, ClassId, Constant, ConstantId, Domain, Frame, FrameId, Table, TableSource};
use crate::diag::{Diagnostic, closest};
use crate::form::Form;
use crate::lexicon::Lexicon;
use crate::say::Say;
use crate::sql::{DomainSql, Flavor};
use crate::states::{AccumulatorId, AccumulatorTypes, State, States, TooMany};
use crate::term::{TermId, Terms};
use crate::types::{TypeDecl, TypeId, Types};
use accumulators::Accumulators;
use hashbrown::{HashMap, HashSet};
use spanwise_core::IndexVec;
use std::ops::Range;
use std::sync::Arc;
pub use tables::QUERY;

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
    // AFTER THIS POINT: the file is well-formed TOML with known keys, or `problems` is not empty.
    let mut types = system.types.clone();
    types.extend(gaps::types(&file, &system, &mut problems));
    let types = Types::build(&types, &mut problems);
    let gap = file.gap.as_ref().and_then(|gap| types.find(&gap.value));
    let mut compiler = Compiler {
        tables,
        types,
        gap,
        base: Terms::new(),
        problems,
        constants: IndexVec::new(),
        frames: IndexVec::new(),
        frame_owner: IndexVec::new(),
        classes: IndexVec::new(),
        predicate_of: HashMap::new(),
        parts: Vec::new(),
        predicate_classes: Vec::new(),
        entity_of: HashMap::new(),
        written: HashMap::new(),
        lexicon: Lexicon::new(file.inflections),
        read_tables: Vec::new(),
        n_rows: 0,
        n_cells: 0,
        n_unknown: 0,
        flavor: match &file.executor {
            file::ExecutorChoice::Sql(settings) => settings.flavor(),
            _ => Flavor::Sqlite,
        },
        saying: says::Saying::default(),
    };
    // Before any term is built, since this decides how terms with these heads are stored.
    for set in system.accumulators.iter().filter(|decl| decl.over.is_none()) {
        compiler.base.keep_unordered(&set.head.value);
    }
    // AFTER THIS POINT: every type name resolves, or is reported where it is used.
    for decl in &file.constants {
        compiler.constant(decl, &system);
    }
    compiler.check_listed(&file, &system);
    compiler.say_classes(&file);
    compiler.predicate_classes(&file.predicates, &system);
    compiler.entity_classes(&file.entities, &system);
    // AFTER THIS POINT: every constant has its frames, every entity its term.
    let accumulators = compiler.accumulators(&system.accumulators);
    compiler.lexicon(&file);
    compiler.only_phrases(&file);
    compiler.must_be_used(&file);
    let phrases = compiler.phrases(&file);
    let say = compiler.say(&file, &system, &accumulators);
    let wrap = compiler.wrap(&file);
    let root_types: Vec<TypeId> = system.root.iter().filter_map(|name| compiler.ty(name)).collect();
    let no_meaning = compiler.no_meaning(&file.no_meaning);
    let contrasts = compiler.contrasts(&file);
    let lacking = compiler.lacking(&accumulators, &system.root, file.gap.as_ref());
    let sql = compiler.sql(&file, &system, &accumulators);
    // AFTER THIS POINT: only the states are missing.
    let states = compiler.states(&accumulators.types, &root_types, system.at.clone());
    if !compiler.problems.is_empty() {
        return Err(compiler.problems);
    }
    Ok(compiler.finish(Parts {
        source,
        file,
        type_system,
        accumulators,
        wrap,
        root_types,
        no_meaning,
        contrasts,
        phrases,
        say,
        lacking,
        sql,
        states,
    }))
}

/// The type system in use: the types and signatures of the file itself, or one of its alternatives.
struct System {
    /// The position of its name in the file.
    at: Range<usize>,
    types: Vec<TypeDecl>,
    root: Vec<At<String>>,
    /// `None`: constants keep the signatures of their declaration.
    signatures: Option<HashMap<String, Vec<At<String>>>>,
    entity_types: HashMap<String, At<String>>,
    /// Accumulators, then sets.
    accumulators: Vec<AccumulatorDecl>,
    listed: Vec<At<String>>,
    listed_classes: Vec<At<String>>,
}

fn choose_system(file: &DomainFile, name: Option<&str>) -> Result<System, Diagnostic> {
    let Some(name) = name else {
        return Ok(System {
            at: 0..0,
            types: file.types.clone(),
            root: file.root.clone(),
            signatures: None,
            entity_types: HashMap::new(),
            accumulators: [&file.accumulators[..], &file.sets].concat(),
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
        at: decl.name.range.clone(),
        types: decl.types.clone(),
        root: decl.root.clone(),
        signatures: Some(signatures.collect()),
        entity_types: entity_types.collect(),
        accumulators: [
            &decl.accumulators.as_ref().unwrap_or(&file.accumulators)[..],
            decl.sets.as_ref().unwrap_or(&file.sets),
        ]
        .concat(),
        listed: decl.constants.iter().map(|(name, _)| name.clone()).collect(),
        listed_classes: decl.entities.iter().map(|(class, _)| class.clone()).collect(),
    }
}

struct Parts<'a> {
    source: &'a str,
    file: DomainFile,
    type_system: Option<&'a str>,
    accumulators: Accumulators,
    wrap: Option<Form>,
    root_types: Vec<TypeId>,
    no_meaning: HashSet<String>,
    contrasts: Vec<[ConstantId; 2]>,
    phrases: Lexicon,
    say: Say,
    lacking: Vec<bool>,
    sql: Option<DomainSql>,
    states: States,
}

struct Compiler<'a> {
    tables: &'a dyn TableSource,
    types: Types,
    /// The type of what can be missing.
    gap: Option<TypeId>,
    base: Terms,
    problems: Vec<Diagnostic>,
    constants: IndexVec<ConstantId, Constant>,
    frames: IndexVec<FrameId, Frame>,
    frame_owner: IndexVec<FrameId, ConstantId>,
    classes: IndexVec<ClassId, Class>,
    predicate_of: HashMap<String, ConstantId>,
    /// For constants that make at most one element of a set: the type of the file, and the type that nothing else has.
    parts: Vec<(ConstantId, TypeId, TypeId)>,
    predicate_classes: Vec<String>,
    entity_of: HashMap<TermId, ConstantId>,
    /// Predicates by their terms without arguments.
    written: HashMap<TermId, ConstantId>,
    lexicon: Lexicon,
    read_tables: Vec<(String, Arc<Table>)>,
    /// Rows of all entity classes so far.
    n_rows: usize,
    /// Cells, names and phrases of all entity classes so far.
    n_cells: usize,
    /// Unknown constants so far.
    n_unknown: usize,
    /// The notation of SQL.
    flavor: Flavor,
    /// How things are said, as far as it is known.
    saying: says::Saying,
}

impl Compiler<'_> {
    fn problem(&mut self, range: &Range<usize>, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(range.clone(), message));
    }

    /// Returns the value, or records the problem.
    fn keep<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn ty(&mut self, name: &At<String>) -> Option<TypeId> {
        let found =
            self.types.find(&name.value).ok_or_else(|| self.types.unknown(&name.value, name.range.clone()));
        self.keep(found)
    }

    /// Pairs of constants that mean opposites. Pairs with a constant that another type system leaves out are left out.
    fn contrasts(&mut self, file: &DomainFile) -> Vec<[ConstantId; 2]> {
        let mut found = Vec::new();
        for pair in &file.contrasts {
            let ids: Vec<Option<ConstantId>> = pair
                .iter()
                .map(|name| {
                    let id = self.predicate_of.get(&name.value).copied();
                    if id.is_none() && !file.constants.iter().any(|decl| decl.name.value == name.value) {
                        self.unknown_constant(name);
                    }
                    id
                })
                .collect();
            if let [Some(a), Some(b)] = ids[..] {
                found.push([a, b]);
            }
        }
        found
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
        if form.holes() == [0]
            && !form.is_lacking()
            && !matches!(form, Form::Hole(_) | Form::Completed { .. })
        {
            return Some(form);
        }
        self.problem(&text.range, "`wrap` needs exactly one hole, inside a call, as in `answer({})`");
        None
    }

    fn states(
        &mut self,
        accumulators: &IndexVec<AccumulatorId, AccumulatorTypes>,
        root: &[TypeId],
        at: Range<usize>,
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
            Err(TooMany { what, limit }) => {
                let message = format!("the types and signatures give more than {limit} {what}");
                let hint = "use fewer or coarser types, or fewer slots per constant";
                self.problems.push(Diagnostic::new(at, message).hint(hint));
                States::default()
            }
        }
    }

    fn finish(mut self, parts: Parts<'_>) -> Domain {
        self.lexicon.shrink();
        let mut by_top: HashMap<_, Vec<FrameId>> = HashMap::new();
        for (id, frame) in self.frames.iter_enumerated() {
            if let Some(top) = frame.form.as_ref().and_then(|form| form.top(&self.base)) {
                by_top.entry(top).or_default().push(id);
            }
        }
        let DomainFile {
            name,
            about,
            language,
            style,
            implicit_chain,
            executor,
            executor_range,
            type_systems,
            ..
        } = parts.file;
        Domain {
            name: name.value,
            about,
            language,
            type_system: parts.type_system.map(str::to_owned),
            type_systems: type_systems.into_iter().map(|system| system.name.value).collect(),
            source: parts.source.to_owned(),
            tables: self
                .read_tables
                .into_iter()
                .map(|(path, table)| (path, Arc::unwrap_or_clone(table)))
                .collect(),
            types: self.types,
            base: self.base.shared(),
            constants: self.constants,
            frames: self.frames,
            frame_owner: self.frame_owner,
            classes: self.classes,
            accumulators: parts.accumulators.all,
            accumulator_types: parts.accumulators.types,
            root_types: parts.root_types,
            wrap: parts.wrap,
            style,
            no_meaning: parts.no_meaning,
            contrasts: parts.contrasts,
            implicit_chain,
            lexicon: self.lexicon,
            phrases: parts.phrases,
            say: parts.say,
            states: parts.states,
            executor,
            executor_range,
            by_top,
            entity_of: self.entity_of,
            predicate_of: self.predicate_of,
            predicate_classes: self.predicate_classes,
            lacking: parts.lacking,
            sql: parts.sql,
        }
    }
}
