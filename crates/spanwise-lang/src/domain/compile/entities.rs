//! Compiles entity classes: turns rows of tables into members with terms and phrases.

use super::super::file::{At, EntityDecl};
use super::super::{Class, ClassId, Constant, ConstantId, Frame, Kind};
use super::tables::{Members, Row, column_list};
use super::{Compiler, System};
use crate::diag::Diagnostic;
use crate::form::{Form, parse_at};
use crate::lexicon::Source;
use crate::pattern::Pattern;
use crate::term::{Shape, TermId, Terms};
use hashbrown::{HashMap, HashSet};
use spanwise_core::Utterance;
use spanwise_literals::{Options, Recognizer};
use std::collections::BTreeMap;

/// Most entity classes of a domain.
const MAX_CLASSES: usize = 1_000;

impl Compiler<'_> {
    pub(super) fn entity_classes(&mut self, decls: &[EntityDecl], system: &System) {
        if let Some(first) = decls.get(MAX_CLASSES) {
            return self.problem(&first.class.range, format!("more than {MAX_CLASSES} entity classes"));
        }
        for decl in decls {
            self.entity_class(decl, system);
        }
    }

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
        let n_problems = self.problems.len();
        let Some(ty) = self.ty(ty_name) else { return };
        let Some(members) = self.members(decl) else { return };
        self.check_said_columns(false, &decl.class.value, &members.columns, decl.recognizer.is_some());
        let Some(template) = self.entity_form(decl, &members.columns) else { return };
        let class = ClassId(self.classes.len() as u16);
        let declared = ty_name.range.clone();
        let frame = self.frames.push(Frame {
            slots: Vec::new(),
            given: Vec::new(),
            sides: Vec::new(),
            places: Vec::new(),
            lacks: Vec::new(),
            result: ty,
            form: None,
            state: None,
            implicit: false,
            declared,
        });
        self.frame_owner.push(ConstantId(self.constants.len() as u32));
        let form = self.open_form(template);
        let is_quoted = self.base.shape(template) == Shape::Quoted;
        let name = decl.class.value.clone();
        let pattern = Pattern::new(&self.base, template);
        let reads_fields = decl.recognizer.is_some();
        let recognizer = match (&decl.recognizer, &decl.text) {
            (Some(recognizer), _) => Some(recognizer.clone()),
            (None, Some(text)) => self.text_recognizer(decl, text, &pattern, &members),
            (None, None) => open_recognizer(decl, &pattern, is_quoted),
        };
        if let Some(other) = self.classes.iter().find(|class| reads_fields && class.form == form) {
            let message = format!("values of `{}` are written like those of `{name}`", other.name);
            return self.problem(&decl.form.range, message);
        }
        self.classes.push(Class {
            name,
            ty,
            frame,
            open: decl.open,
            holder: None,
            recognizer,
            reads_fields,
            pattern,
            listed: HashSet::new(),
            form,
            is_quoted,
        });
        let n_constants = self.constants.len();
        for row in members.rows() {
            self.entity(decl, class, template, &row);
        }
        if decl.open {
            let members = self.constants.iter().skip(n_constants).map(|constant| constant.name.clone());
            self.classes[class].listed = members.collect();
            self.hold(class, decl);
        }
        // A class without tables and names was reported by the reader.
        let is_listed = !decl.tables.is_empty() || !decl.names.is_empty();
        let is_empty = self.constants.len() == n_constants && self.problems.len() == n_problems;
        if is_listed && is_empty {
            let message = format!("entity class `{}` has no members", decl.class.value);
            let problem = Diagnostic::new(decl.class.range.clone(), message);
            self.problems.push(problem.hint("its tables have no row that fills the form"));
        }
        self.aliases(decl, &members, template);
    }

    /// What reads any text as a member of an open class. Words of listed members are written as there, unless these differ.
    fn text_recognizer(
        &mut self,
        decl: &EntityDecl,
        text: &Options,
        pattern: &Pattern,
        members: &Members,
    ) -> Option<Recognizer> {
        let Some(column) = pattern.only_quoted() else {
            let message = "text fills a form with one column, in quotes";
            let problem = Diagnostic::new(decl.form.range.clone(), message);
            self.problems.push(problem.hint("as in `place('{name}')`, or leave out `open`"));
            return None;
        };
        let mut spellings: BTreeMap<String, Option<String>> = BTreeMap::new();
        for word in members.rows().filter_map(|row| row.get(column)).flat_map(str::split_whitespace) {
            let known = spellings.entry(word.to_lowercase()).or_insert_with(|| Some(word.to_owned()));
            if known.as_deref() != Some(word) {
                *known = None;
            }
        }
        let spellings = spellings.into_iter().filter_map(|(word, known)| Some((word, known?))).collect();
        let options = Options { spellings, ..text.clone() };
        Recognizer::new(spanwise_literals::Kind::Text, options).ok()
    }

    /// Adds the constant that stands for members of an open class which no table lists.
    fn hold(&mut self, class: ClassId, decl: &EntityDecl) {
        let frame = self.classes[class].frame.0;
        let holder = self.constants.push(Constant {
            name: self.classes[class].name.clone(),
            kind: Kind::Entity(class),
            class: None,
            only_phrases: true,
            omission: decl.omission,
            frames: frame..frame + 1,
            term: None,
            implicit: false,
        });
        self.classes[class].holder = Some(holder);
    }

    /// The form of a class as a term whose `{column}` leaves are placeholders for cells.
    fn entity_form(&mut self, decl: &EntityDecl, known: &[String]) -> Option<TermId> {
        let parsed = parse_at(&mut self.base, &decl.form.value, decl.form.range.start);
        let template = self.keep(parsed)?;
        let leaves = self.base.bottom_up(template);
        let columns: Vec<String> = leaves
            .into_iter()
            .filter_map(|id| column_of(self.base.head_text(id)).map(str::to_owned))
            .collect();
        for column in &columns {
            self.check_column(column, known, &decl.form);
        }
        if columns.is_empty() {
            let message = "the form of an entity class names a column, as in `stateid('{name}')`";
            self.problem(&decl.form.range, message);
            return None;
        }
        // A column that no table has was reported above.
        let other = columns.iter().find(|&column| column != "name" && known.contains(column));
        if let (Some(column), Some(name)) = (other, decl.names.first()) {
            let message = format!("members in `names` have no column `{column}`, which the form needs");
            let hint = "put them into a table";
            self.problems.push(Diagnostic::new(name.range.clone(), message).hint(hint));
        }
        for phrase in &decl.phrases {
            self.check_phrase(phrase, known);
        }
        Some(template)
    }

    /// Checks that the columns in a phrase of a class exist, that its braces are balanced, and that it has a word.
    pub(super) fn check_phrase(&mut self, phrase: &At<String>, known: &[String]) {
        let Some(columns) = columns_in(&phrase.value) else {
            let problem = Diagnostic::new(phrase.range.clone(), "this phrase has an unbalanced brace");
            return self.problems.push(problem.hint("write columns as `{name}`"));
        };
        for column in columns {
            self.check_column(column, known, phrase);
        }
        if Utterance::new(phrase.value.as_str()).is_empty() {
            self.problem(&phrase.range, "a phrase needs at least one word");
        }
    }

    pub(super) fn check_column(&mut self, column: &str, known: &[String], at: &At<String>) {
        if !known.iter().any(|known| known == column) {
            let message = format!("there is no column `{column}`");
            let hint = column_list(known);
            self.problems.push(Diagnostic::new(at.range.clone(), message).hint(hint));
        }
    }

    /// The form of a class with a hole for every column, to recognize members that no table lists.
    fn open_form(&self, template: TermId) -> Form {
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
        convert(&self.base, template, &mut 0)
    }

    fn entity(&mut self, decl: &EntityDecl, class: ClassId, template: TermId, row: &Row<'_>) {
        // A row in which a cell of the form is empty is not a member.
        let Some(term) = self.fill(decl, template, row) else { return };
        if let Some(&constant) = self.written.get(&term) {
            let constant = &self.constants[constant].name;
            let member = self.base.display(term);
            let message = format!("the member `{member}` is written like the constant `{constant}`");
            let hint = "give the class another form, or remove one of the two";
            return self.problems.push(Diagnostic::new(decl.class.range.clone(), message).hint(hint));
        }
        let constant = match self.entity_of.get(&term) {
            Some(&known) if self.constants[known].kind == Kind::Entity(class) => known,
            Some(_) => {
                let message = format!("two classes have the member `{}`", self.base.display(term));
                return self.problem(&decl.class.range, message);
            }
            None => {
                let frame = self.classes[class].frame.0;
                let mut name = self.base.display(term).to_string();
                name.shrink_to_fit();
                let id = self.constants.push(Constant {
                    name,
                    kind: Kind::Entity(class),
                    class: None,
                    only_phrases: true,
                    omission: decl.omission,
                    frames: frame..frame + 1,
                    term: Some(term),
                    implicit: false,
                });
                self.entity_of.insert(term, id);
                id
            }
        };
        if decl.phrases.is_empty()
            && let Some(name) = row.name()
        {
            self.lexicon.insert(name, constant, Source::Name);
        }
        for phrase in decl.phrases.iter().filter_map(|phrase| row.fill(&phrase.value)) {
            self.lexicon.insert(&phrase, constant, Source::Name);
        }
        self.say_row(false, &decl.class, constant, row);
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
                    let message = format!("`{cell}` must be quoted{place}");
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

    fn aliases(&mut self, decl: &EntityDecl, members: &Members, template: TermId) {
        if decl.aliases.is_empty() {
            return;
        }
        let mut by_name: HashMap<&str, Vec<Row<'_>>> = HashMap::new();
        for row in members.rows() {
            if let Some(name) = row.name() {
                by_name.entry(name).or_default().push(row);
            }
        }
        for (name, phrases) in &decl.aliases {
            let Some(rows) = by_name.get(name.value.as_str()) else {
                let message = format!("class `{}` has no member `{}`", decl.class.value, name.value);
                self.problem(&name.range, message);
                continue;
            };
            if !self.has_space(0, rows.len().saturating_mul(phrases.len()), &name.range) {
                return;
            }
            for row in rows {
                let Some(constant) =
                    self.fill(decl, template, row).and_then(|t| self.entity_of.get(&t).copied())
                else {
                    continue;
                };
                for phrase in phrases {
                    self.phrase(phrase, constant, Source::Name);
                }
            }
        }
    }

    pub(super) fn phrase(&mut self, phrase: &At<String>, constant: ConstantId, source: Source) {
        if !self.lexicon.insert(&phrase.value, constant, source) {
            self.problem(&phrase.range, "a phrase needs at least one word");
        }
    }
}

/// What reads members of an open class that no table lists: text in quotes, or numbers where the form has no quotes. `None`
/// for a form with several columns, which words cannot fill.
fn open_recognizer(decl: &EntityDecl, pattern: &Pattern, is_quoted: bool) -> Option<Recognizer> {
    if !decl.open || pattern.fields().count() != 1 {
        return None;
    }
    let is_bare = pattern.is_bare() && !is_quoted;
    let kind = if is_bare { spanwise_literals::Kind::Decimal } else { spanwise_literals::Kind::Quoted };
    Recognizer::new(kind, Options::default()).ok()
}

/// The column that `{column}` names.
fn column_of(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}').filter(|inner| !inner.contains(['{', '}']))
}

/// The columns that a phrase template names; `None` when a brace is unbalanced.
pub(super) fn columns_in(template: &str) -> Option<Vec<&str>> {
    let mut pieces = template.split('{');
    let before = pieces.next().unwrap_or_default();
    let columns = pieces.map(|piece| {
        let (column, after) = piece.split_once('}')?;
        (!after.contains('}')).then_some(column)
    });
    if before.contains('}') { None } else { columns.collect() }
}
