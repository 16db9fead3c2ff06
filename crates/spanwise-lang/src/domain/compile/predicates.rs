//! Compiles classes of predicates: each row of a table becomes a predicate with the signatures of its class.

use super::super::file::{At, ConstantDecl, ImplicitDecl, PredicateDecl};
use super::super::{Constant, ConstantId, Kind, Omission, PredicateClassId};
use super::entities::columns_in;
use super::tables::Row;
use super::{Compiler, System};
use crate::diag::Diagnostic;
use crate::form::Form;
use crate::lexicon::Source;
use crate::signature::Signature;
use crate::surface::is_name;
use hashbrown::HashMap;
use std::ops::Range;

/// Most classes of predicates of a domain.
const MAX_CLASSES: usize = 1_000;
/// Most frames of a class: its rows, times the frames of each.
const MAX_FRAMES: usize = 200_000;

impl Compiler<'_> {
    pub(super) fn predicate_classes(&mut self, decls: &[PredicateDecl], system: &System) {
        if let Some(first) = decls.get(MAX_CLASSES) {
            let message = format!("more than {MAX_CLASSES} classes of predicates");
            return self.problem(&first.rows.class.range, message);
        }
        for decl in decls {
            self.predicate_class(decl, system);
        }
    }

    fn predicate_class(&mut self, decl: &PredicateDecl, system: &System) {
        let name = &decl.rows.class;
        if self.predicate_classes.contains(&name.value) || self.predicate_of.contains_key(&name.value) {
            return self.problem(&name.range, format!("`{}` is declared twice", name.value));
        }
        let texts = match &system.signatures {
            None => &decl.types,
            Some(signatures) => match signatures.get(&name.value) {
                Some(texts) => texts,
                None => return,
            },
        };
        let like_constant = ConstantDecl {
            sql: None,
            name: name.clone(),
            types: Vec::new(),
            form: None,
            implicit: ImplicitDecl::No,
            omission: Omission::Free,
        };
        let signatures = self.signatures(&like_constant, texts);
        let Some(members) = self.members(&decl.rows) else { return };
        let Some(columns) = columns_in(&decl.rows.form.value) else {
            return self.problem(&decl.rows.form.range, "this form has an unbalanced brace");
        };
        let columns: Vec<&str> = columns.into_iter().filter(|column| !is_hole(column)).collect();
        let n_problems = self.problems.len();
        if columns.is_empty() {
            let message = "the form of a class of predicates names a column, as in `{lemma}({1})`";
            self.problem(&decl.rows.form.range, message);
        }
        columns.iter().for_each(|column| self.check_column(column, &members.columns, &decl.rows.form));
        decl.rows.phrases.iter().for_each(|phrase| self.check_phrase(phrase, &members.columns));
        self.check_said_columns(true, &name.value, &members.columns, false);
        let class = PredicateClassId(self.predicate_classes.len() as u16);
        self.predicate_classes.push(name.value.clone());
        let mut rows = Rows { decl, class, signatures, known: HashMap::new(), n_frames: 0 };
        for row in members.rows() {
            // The same problem in every row would hide all others.
            if self.problems.len() > n_problems || !self.row(&mut rows, &row) {
                return;
            }
        }
        if rows.known.is_empty() {
            let problem =
                Diagnostic::new(name.range.clone(), format!("the class `{}` has no predicates", name.value));
            self.problems.push(problem.hint("its tables have no row that fills the form"));
        }
    }

    /// Adds the predicate of one row; false when something is wrong with the whole class.
    fn row(&mut self, rows: &mut Rows<'_>, row: &Row<'_>) -> bool {
        let written = &rows.decl.rows.form;
        let text = match filled(&written.value, row) {
            Ok(Some(text)) => text,
            // A row in which a cell of the form is empty is not a member.
            Ok(None) => return true,
            Err(cell) => {
                let message =
                    format!("`{cell}` cannot be a name in programs (line {} of the table)", row.line);
                let hint = "use a name without spaces, parentheses, commas and quotes";
                self.problems.push(Diagnostic::new(written.range.clone(), message).hint(hint));
                return false;
            }
        };
        let constant = match rows.known.get(&text) {
            Some(&known) => known,
            None => {
                let id = ConstantId(self.constants.len() as u32);
                let first = self.frames.len() as u32;
                let signatures = std::mem::take(&mut rows.signatures);
                let is_fine = signatures.iter().all(|(range, signature)| {
                    self.row_form(written, &text, signature)
                        .is_some_and(|form| self.frames_of_form(form, range, signature, id))
                });
                rows.signatures = signatures;
                rows.n_frames += self.frames.len() - first as usize;
                if !is_fine {
                    return false;
                }
                if rows.n_frames > MAX_FRAMES {
                    let message = format!("the class has more than {MAX_FRAMES} frames");
                    self.problem(&rows.decl.rows.class.range, message);
                    return false;
                }
                let head = text.split('(').next().unwrap_or_default().trim().to_owned();
                self.constants.push(Constant {
                    name: head,
                    kind: Kind::Predicate,
                    class: Some(rows.class),
                    only_phrases: true,
                    omission: rows.decl.rows.omission,
                    frames: first..self.frames.len() as u32,
                    term: None,
                    implicit: false,
                });
                rows.known.insert(text, id);
                id
            }
        };
        for phrase in rows.decl.rows.phrases.iter().filter_map(|phrase| row.fill(&phrase.value)) {
            self.lexicon.insert(&phrase, constant, Source::Phrase);
        }
        self.say_row(true, &rows.decl.rows.class, constant, row);
        true
    }

    /// The form of a row. Problems are reported at the form of the class.
    fn row_form(&mut self, written: &At<String>, text: &str, signature: &Signature) -> Option<Form> {
        let form = match Form::parse(&mut self.base, text, 0) {
            Ok(form) => form,
            Err(problem) => {
                let message = format!("`{text}` is no form: {}", problem.message);
                self.problem(&written.range, message);
                return None;
            }
        };
        self.check_holes(&form, written, text, signature.slots.len()).then_some(form)
    }
}

/// A class whose rows are read.
struct Rows<'a> {
    decl: &'a PredicateDecl,
    class: PredicateClassId,
    signatures: Vec<(Range<usize>, Signature)>,
    /// Predicates by their form. Rows with one form are one predicate with the phrases of all of them.
    known: HashMap<String, ConstantId>,
    n_frames: usize,
}

/// Whether the text between braces is a hole for an argument: empty, a number, or two of them.
fn is_hole(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

/// A form with the cells of a row for its columns, and its holes as they are. `None` when a cell is empty.
///
/// # Errors
/// A cell that is no name.
fn filled(form: &str, row: &Row<'_>) -> Result<Option<String>, String> {
    let mut out = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((column, tail)) = after.split_once('}') else { break };
        out.push_str(before);
        if is_hole(column) {
            out.push_str(&rest[before.len()..][..column.len() + 2]);
        } else {
            match row.get(column).map(str::trim) {
                None | Some("") => return Ok(None),
                Some(cell) if is_name(cell) && !cell.contains(['{', '}']) => out.push_str(cell),
                Some(cell) => return Err(cell.to_owned()),
            }
        }
        rest = tail;
    }
    out.push_str(rest);
    Ok(Some(out))
}
