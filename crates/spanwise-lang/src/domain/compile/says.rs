//! Compiles how things are said: checks that every argument has its hole, and fills the columns of classes.

use super::super::file::{At, DomainFile, SayDecl};
use super::super::{ClassId, ConstantId, FrameId, PredicateClassId};
use super::accumulators::Accumulators;
use super::tables::{Row, column_list};
use super::{Compiler, System};
use crate::diag::Diagnostic;
use crate::say::{Part, Place, Said, Say, Template, within};
use crate::states::AccumulatorId;
use hashbrown::HashMap;
use spanwise_core::{Moment, Utterance};
use std::ops::Range;

/// Most texts that rows of classes give.
const MAX_NAMES: usize = 4_000_000;
/// The day of examples whose words are relative to today, when they are checked.
const SOME_DAY: Moment = Moment { year: 2020, month: 6, day: 15, hour: 12, minute: 0, second: 0 };

/// A class: whether it is one of predicates, and its name.
pub(super) type ClassKey = (bool, String);

/// What is known of how things are said while a domain is compiled.
#[derive(Default)]
pub(super) struct Saying {
    say: Say,
    /// Templates of classes, whose columns rows fill.
    rows: HashMap<ClassKey, Vec<(At<String>, Template)>>,
    n_names: usize,
}

impl Compiler<'_> {
    /// Reads the templates of classes, which are needed when their rows are read.
    pub(super) fn say_classes(&mut self, file: &DomainFile) {
        let predicates = file.says.predicates.iter().map(|decl| (true, decl));
        for (is_predicate, decl) in predicates.chain(file.says.classes.iter().map(|decl| (false, decl))) {
            if decl.is_by_signature && !is_predicate {
                self.problem(&decl.name.range, "`say` of a class is one list of texts");
            }
            let templates = self.templates(decl.texts.iter().flatten());
            self.saying.rows.insert((is_predicate, decl.name.value.clone()), templates);
        }
    }

    fn templates<'d>(&mut self, texts: impl Iterator<Item = &'d At<String>>) -> Vec<(At<String>, Template)> {
        let mut found = Vec::new();
        for text in texts {
            if let Some(template) = self.keep(Template::parse_at(text)) {
                found.push((text.clone(), template));
            }
        }
        found
    }

    /// Checks the columns that `say` of a class names.
    pub(super) fn check_said_columns(
        &mut self,
        is_predicate: bool,
        class: &str,
        known: &[String],
        is_literal: bool,
    ) {
        let Some(templates) = self.saying.rows.remove(&(is_predicate, class.to_owned())) else { return };
        for (text, template) in &templates {
            if is_literal {
                continue;
            }
            for column in template.columns() {
                if !known.iter().any(|known| known == column) {
                    let message = format!("unknown hole `{{{column}}}`: there is no such column");
                    let range = hole_range(text, column);
                    self.problems.push(Diagnostic::new(range, message).hint(column_list(known)));
                }
            }
            if !is_predicate && !template.holes().is_empty() {
                let problem = Diagnostic::new(text.range.clone(), "an entity has no arguments to be said");
                self.problems.push(problem.hint("name a column, as in `{name}`"));
            }
            if template.is_blank() {
                self.problem(&text.range, "a text needs at least one word");
            }
        }
        self.saying.rows.insert((is_predicate, class.to_owned()), templates);
    }

    /// Adds how the member of a row is said.
    pub(super) fn say_row(
        &mut self,
        is_predicate: bool,
        class: &At<String>,
        constant: ConstantId,
        row: &Row<'_>,
    ) {
        let Some(templates) = self.saying.rows.get(&(is_predicate, class.value.clone())) else { return };
        let cell = |column: &str| {
            let cell = row.get(column).map(str::trim).filter(|cell| !cell.is_empty());
            cell.map(str::to_owned)
        };
        let filled: Vec<Template> =
            templates.iter().filter_map(|(_, template)| template.filled(&cell)).collect();
        self.saying.n_names += filled.len();
        if self.saying.n_names > MAX_NAMES {
            if self.saying.n_names - filled.len() <= MAX_NAMES {
                self.problem(
                    &class.range,
                    format!("`say` gives the rows of classes more than {MAX_NAMES} texts"),
                );
            }
            return;
        }
        if is_predicate {
            let all = self.saying.say.constants.entry(constant).or_default();
            match all.first_mut() {
                Some(said) => said.templates.extend(filled),
                None => all.push(Said { declared: None, templates: filled }),
            }
        } else {
            let names = self.saying.say.names.entry(constant).or_default();
            names.extend(filled.iter().flat_map(variants));
        }
    }

    /// All that the file says, once constants, classes and sets are known.
    pub(super) fn say(&mut self, file: &DomainFile, system: &System, accumulators: &Accumulators) -> Say {
        for decl in &file.says.constants {
            self.say_constant(decl, file, system);
        }
        for decl in &file.says.predicates {
            let position = self.predicate_classes.iter().position(|name| *name == decl.name.value);
            let Some(class) = position else { continue };
            self.check_rows(decl, PredicateClassId(class as u16));
            let weights = &mut self.saying.say.predicate_weights;
            decl.weight.map(|weight| weights.insert(PredicateClassId(class as u16), weight));
        }
        for decl in &file.says.classes {
            let class = self.classes.iter_enumerated().find(|(_, class)| class.name == decl.name.value);
            let Some((class, _)) = class else { continue };
            decl.weight.map(|weight| self.saying.say.class_weights.insert(class, weight));
            self.say_literal(decl, class);
        }
        for decl in &file.says.gathered {
            self.say_gathered(decl, accumulators);
        }
        self.say_roots(file, system);
        std::mem::take(&mut self.saying.say)
    }

    fn say_constant(&mut self, decl: &SayDecl, file: &DomainFile, system: &System) {
        let Some(&constant) = self.predicate_of.get(&decl.name.value) else { return };
        decl.weight.map(|weight| self.saying.say.weights.insert(constant, weight));
        if decl.texts.is_empty() {
            return;
        }
        let declared = file.constants.iter().find(|known| known.name.value == decl.name.value);
        let types: Vec<Range<usize>> =
            declared.into_iter().flat_map(|decl| &decl.types).map(|text| text.range.clone()).collect();
        let n_lists = decl.texts.len();
        if decl.is_by_signature && n_lists != types.len() {
            let message =
                format!("`say` of `{}` has {n_lists} lists for {} signatures", decl.name.value, types.len());
            let hint = "write one list of texts for all of them, or one for each";
            self.problems.push(Diagnostic::new(decl.name.range.clone(), message).hint(hint));
            return;
        }
        // An alternative type system has signatures of its own.
        let is_own = system.signatures.is_none();
        let mut all = Vec::new();
        for (at, texts) in decl.texts.iter().enumerate() {
            let declared = types.get(at).filter(|_| decl.is_by_signature && is_own).cloned();
            let templates = self.templates(texts.iter());
            if is_own {
                self.check_holes_said(&decl.name.value, constant, declared.as_ref(), &templates);
            }
            let templates = templates.into_iter().map(|(_, template)| template).collect();
            all.push(Said { declared, templates });
        }
        self.saying.say.constants.insert(constant, all);
    }

    /// Checks the templates of a class of predicates by those of its first member.
    fn check_rows(&mut self, decl: &SayDecl, class: PredicateClassId) {
        let member = self.constants.iter_enumerated().find(|(_, constant)| constant.class == Some(class));
        let (Some((member, _)), Some(templates)) =
            (member, self.saying.rows.remove(&(true, decl.name.value.clone())))
        else {
            return;
        };
        let filled = |(text, template): (At<String>, Template)| {
            let template = template.filled(&|_| Some(String::new()))?;
            Some((text, template))
        };
        let templates: Vec<_> = templates.into_iter().filter_map(filled).collect();
        self.check_holes_said(&decl.name.value, member, None, &templates);
    }

    /// Checks that holes have slots, and that each signature can be said with all of its arguments.
    fn check_holes_said(
        &mut self,
        name: &str,
        constant: ConstantId,
        declared: Option<&Range<usize>>,
        templates: &[(At<String>, Template)],
    ) {
        let frames: Vec<FrameId> = self.constants[constant].frames.clone().map(FrameId).collect();
        let suits = |id: &&FrameId| declared.is_none_or(|declared| self.frames[**id].declared == *declared);
        let frames: Vec<FrameId> = frames.iter().filter(suits).copied().collect();
        let n_slots = |id: FrameId| {
            let frame = &self.frames[id];
            frame.places.iter().chain(&frame.lacks).map(|slot| slot + 1).max().unwrap_or(0)
        };
        let most = frames.iter().map(|&id| n_slots(id)).max().unwrap_or(0);
        let mut problems = Vec::new();
        for (text, template) in templates {
            if let Some(column) = template.columns().first() {
                let message = format!("unknown hole `{{{column}}}`");
                let hint = "holes for arguments are `{1}`, `{2}` and so on; `{{` is a brace";
                problems.push(Diagnostic::new(hole_range(text, column), message).hint(hint));
            }
            if let Some(hole) = template.holes().into_iter().find(|&hole| hole >= most) {
                let message = format!("no slot for the hole `{{{}}}`: `{name}` has {most}", hole + 1);
                problems.push(Diagnostic::new(hole_range(text, &(hole + 1).to_string()), message));
            }
            if template.is_blank() && template.holes().is_empty() && !self.constants[constant].implicit {
                problems.push(Diagnostic::new(text.range.clone(), "a text needs at least one word"));
            }
        }
        // Frames without an argument that could be given are checked only where they are all that there is.
        let unsaid = frames.iter().find(|&&id| self.is_full(id) && !self.can_say(id, templates));
        if let (Some(&frame), true, Some((text, _))) = (unsaid, problems.is_empty(), templates.first()) {
            let message = format!(
                "no text of `say` of `{name}` has a hole for each of its {} arguments",
                n_slots(frame)
            );
            let hint =
                "write all of them, `[..]` around those that can be left out, or a list for each signature";
            problems.push(Diagnostic::new(text.range.clone(), message).hint(hint));
        }
        self.problems.extend(problems);
    }

    /// Whether no argument of the signature was left out.
    fn is_full(&self, id: FrameId) -> bool {
        let frame = &self.frames[id];
        let n_slots = frame.places.iter().chain(&frame.lacks).map(|slot| slot + 1).max().unwrap_or(0);
        frame.places.len() + frame.lacks.len() == n_slots
    }

    fn can_say(&self, id: FrameId, templates: &[(At<String>, Template)]) -> bool {
        let frame = &self.frames[id];
        let place = |slot: usize| match frame.places.iter().position(|&place| place == slot) {
            Some(arg) => Place::Argument(arg),
            None if frame.lacks.contains(&slot) => Place::Lacking,
            None => Place::Absent,
        };
        templates.iter().any(|(_, template)| {
            template.holes().is_empty() || template.for_slots(frame.slots.len(), &place).is_some()
        })
    }

    /// How literals are said: with one hole for words that have the value, or as such words.
    fn say_literal(&mut self, decl: &SayDecl, class: ClassId) {
        if !self.classes[class].is_literal() {
            return;
        }
        let templates = self.saying.rows.remove(&(false, decl.name.value.clone())).unwrap_or_default();
        let mut kept = Vec::new();
        for (text, template) in templates {
            let holes = template.holes();
            if let Some(column) = template.columns().first() {
                let message = format!("unknown hole `{{{column}}}`: the hole for a value is `{{}}`");
                let range = hole_range(&text, column);
                self.problem(&range, message);
            } else if holes.iter().any(|&hole| hole > 0) {
                self.problem(&text.range, "a value has one hole, `{}`");
            } else if holes.is_empty() {
                let words: String = template.parts.iter().filter_map(words_of).collect();
                let utterance = Utterance::new(words).said_at(Some(SOME_DAY));
                if self.classes[class].only_value(&utterance).is_none() {
                    let name = &self.classes[class].name;
                    let message = format!("these words are not one value of `{name}`, or more than one");
                    let hint = "write words such as users do, or `{}` for words that are made up";
                    self.problems.push(Diagnostic::new(text.range.clone(), message).hint(hint));
                }
            }
            kept.push(template);
        }
        if !kept.is_empty() {
            self.saying.say.literals.insert(class, kept);
        }
    }

    /// How neighbors in a list are joined: with two holes, or with the text between them.
    fn say_gathered(&mut self, decl: &SayDecl, accumulators: &Accumulators) {
        let head = self.base.intern(&decl.name.value);
        let found = accumulators.all.iter_enumerated().find(|(_, accumulator)| accumulator.head == head);
        let Some(id) = found.map(|(id, _)| id) else { return };
        let id: AccumulatorId = id;
        decl.weight.map(|weight| self.saying.say.gathered_weights.insert(id, weight));
        if decl.is_by_signature {
            self.problem(&decl.name.range, "`say` of a set is one list of texts");
        }
        let mut kept = Vec::new();
        for (text, template) in self.templates(decl.texts.iter().flatten()) {
            let mut holes = template.holes();
            holes.sort_unstable();
            if let Some(column) = template.columns().first() {
                let range = hole_range(&text, column);
                self.problem(&range, format!("unknown hole `{{{column}}}`"));
            } else if holes.is_empty() {
                let mut parts = vec![Part::Hole(0), Part::Text(" ".to_owned())];
                parts.extend(template.parts);
                parts.extend([Part::Text(" ".to_owned()), Part::Hole(1)]);
                kept.push(Template { parts });
            } else if holes == [0, 1] {
                kept.push(template);
            } else {
                let problem = Diagnostic::new(text.range, "two neighbors are joined, so there are two holes");
                self.problems.push(problem.hint("as in `{1} and {2}`, or write the text between them"));
            }
        }
        if !kept.is_empty() {
            self.saying.say.gathered.insert(id, kept);
        }
    }

    /// How complete programs are said.
    fn say_roots(&mut self, file: &DomainFile, system: &System) {
        let roots: Vec<_> = system.root.iter().filter_map(|name| self.types.find(&name.value)).collect();
        for (name, texts) in &file.says.roots {
            let Some(ty) = self.types.find(&name.value) else {
                if system.signatures.is_none() {
                    let problem = self.types.unknown(&name.value, name.range.clone());
                    self.problems.push(problem);
                }
                continue;
            };
            let is_root =
                roots.iter().any(|&root| self.types.is_subtype(ty, root) || self.types.is_subtype(root, ty));
            if !is_root && system.signatures.is_none() {
                let message = format!("no complete program has the type `{}`", name.value);
                let problem = Diagnostic::new(name.range.clone(), message);
                self.problems.push(problem.hint("[say] is for the types in [root]"));
            }
            let mut kept = Vec::new();
            for (text, template) in self.templates(texts.iter()) {
                if let Some(column) = template.columns().first() {
                    let range = hole_range(&text, column);
                    self.problem(&range, format!("unknown hole `{{{column}}}`"));
                } else if template.holes() != [0] {
                    self.problem(&text.range, "a sentence has one hole for the program, `{}`");
                }
                kept.push(template);
            }
            self.saying.say.roots.push((ty, kept));
        }
    }
}

/// The words of a part without holes.
fn words_of(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(text.clone()),
        Part::Optional(parts) => Some(parts.iter().filter_map(words_of).collect()),
        Part::Hole(_) | Part::Column(_) => None,
    }
}

/// A text with and without its optional parts, as two names.
fn variants(template: &Template) -> Vec<String> {
    let has_optional = template.parts.iter().any(|part| matches!(part, Part::Optional(_)));
    let all: String = template.parts.iter().filter_map(words_of).collect();
    let fixed = |part: &Part| if matches!(part, Part::Optional(_)) { None } else { words_of(part) };
    let short: String = template.parts.iter().filter_map(fixed).collect();
    let trimmed = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if has_optional { vec![trimmed(all), trimmed(short)] } else { vec![trimmed(all)] }
}

/// Where a hole stands in the file, or else the text.
fn hole_range(text: &At<String>, name: &str) -> Range<usize> {
    let written = format!("{{{name}}}");
    match text.value.find(&written) {
        Some(at) => within(text, at..at + written.len()),
        None => text.range.clone(),
    }
}
