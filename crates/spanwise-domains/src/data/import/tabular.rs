//! Benchmarks that are released as lines of tab-separated fields: COGS, ATIS, Overnight and Okapi.
//!
//! Each line becomes one example and can be restored from it, character by character. Every program is checked for this
//! when it is imported, so that no example is written that has lost anything.

use super::{ImportError, atis, cogs, okapi, overnight};
use crate::data::example::Example;
use crate::data::message::shown;
use serde_json::Value;
use spanwise_lang::surface::is_name;
use spanwise_lang::{Shape, TermId, Terms};
use std::fmt;

/// A benchmark whose programs are converted to our syntax, and back.
///
/// ```
/// use spanwise_domains::data::import::Benchmark;
///
/// let line = "which airlines fly to bergen\tanswer _airline _to_2 city_name bergen";
/// let example = Benchmark::Atis.example(line)?;
/// assert_eq!(example.program.as_deref(), Some("answer(_airline(_to_2(city_name(bergen))))"));
/// assert_eq!(Benchmark::Atis.line(&example)?, line);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Benchmark {
    /// Sentences, logical forms with variables, kinds of generalization.
    Cogs,
    /// Questions about flights, in FunQL with brackets around conjunctions.
    Atis,
    /// Questions about small databases, in lambda DCS.
    Overnight,
    /// Requests to a calendar, as calls of its interface.
    Okapi,
}

/// The field with the official program of an example that does not give it back.
const OFFICIAL: &str = "official";

/// A field of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Utterance,
    Program,
    /// Kept as it is, under this name.
    Extra(&'static str),
}

impl Benchmark {
    /// All benchmarks.
    pub const ALL: [Self; 4] = [Self::Cogs, Self::Atis, Self::Overnight, Self::Okapi];

    fn columns(self) -> &'static [Column] {
        use Column::{Extra, Program, Utterance};
        match self {
            Self::Cogs => &[Utterance, Program, Extra("generalization")],
            Self::Overnight => &[Utterance, Extra("canonical_utterance"), Program],
            Self::Atis | Self::Okapi => &[Utterance, Program],
        }
    }

    /// The examples of a file, in its order. Blank lines are passed over, as are a byte order mark and Windows line ends.
    /// An error names the line; the iterator may be continued after it.
    pub fn examples(self, text: &str) -> impl Iterator<Item = Result<Example, ImportError>> + use<'_> {
        let text = text.trim_start_matches('\u{feff}');
        let is_empty = text.trim().is_empty();
        let nothing = is_empty.then(|| Err(ImportError::Nothing { expected: self.expected() }));
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        nothing.into_iter().chain(lines.map(move |(line_idx, line)| {
            self.example(line).map_err(|reason| ImportError::Line { line: line_idx + 1, reason })
        }))
    }

    /// The example on one line.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn example(self, line: &str) -> Result<Example, String> {
        let columns = self.columns();
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.len() != columns.len() {
            return Err(format!("expected {}, found `{}`", self.expected(), shown(line)));
        }
        let mut example = Example::default();
        let mut official = "";
        for (&column, &field) in columns.iter().zip(&fields) {
            match column {
                Column::Utterance => field.clone_into(&mut example.utterance),
                Column::Program => official = field,
                Column::Extra(name) => {
                    example.extra.insert(name.to_owned(), Value::String(field.to_owned()));
                }
            }
        }
        if example.utterance.trim().is_empty() {
            return Err("there is no utterance before the first tab".to_owned());
        }
        let (program, is_exact) = self.program(&example.utterance, official)?;
        if !is_exact {
            example.extra.insert(OFFICIAL.to_owned(), Value::String(official.to_owned()));
        }
        example.program = Some(program);
        Ok(example)
    }

    /// The line that an example was read from, without the line end.
    ///
    /// # Errors
    /// When the example lacks a field, or its program has no official form.
    pub fn line(self, example: &Example) -> Result<String, String> {
        let field = |column: &Column| match *column {
            Column::Utterance => Ok(example.utterance.clone()),
            Column::Program => {
                let program = example.program.as_deref().ok_or("the example has no program")?;
                match example.extra.get(OFFICIAL).and_then(Value::as_str) {
                    // An example whose program was changed later is not what was read.
                    Some(official) if self.converted(official)? == program => Ok(official.to_owned()),
                    _ => self.official_program(&example.utterance, program),
                }
            }
            Column::Extra(name) => match example.extra.get(name).and_then(Value::as_str) {
                Some(text) => Ok(text.to_owned()),
                None => Err(format!("the example has no text in the field `{name}`")),
            },
        };
        let fields: Vec<String> = self.columns().iter().map(field).collect::<Result<_, _>>()?;
        match fields.iter().find(|field| field.contains(['\t', '\n', '\r'])) {
            Some(field) => Err(format!("`{}` has a tab or a line end in it", shown(field))),
            None => Ok(fields.join("\t")),
        }
    }

    /// A program in our syntax as the official text, which official evaluation scripts compare. The variables of COGS are
    /// positions of words, so the utterance is needed.
    ///
    /// # Errors
    /// When the program cannot be read, or has no official form.
    pub fn official_program(self, utterance: &str, program: &str) -> Result<String, String> {
        let mut terms = Terms::new();
        let root = terms
            .parse(program)
            .map_err(|diagnostic| format!("the program cannot be read: {}", diagnostic.one_line(program)))?;
        match self {
            Self::Cogs => cogs::official(&terms, root, utterance),
            Self::Atis => atis::official(&terms, root),
            Self::Overnight => overnight::official(&mut terms, root),
            Self::Okapi => okapi::official(&terms, root),
        }
    }

    /// An official program in our syntax, and whether it gives back the official text. Where it does not, it must be because
    /// repeated conditions are written once: then both texts have the same program. Anything else is an error.
    fn program(self, utterance: &str, official: &str) -> Result<(String, bool), String> {
        let program = self.converted(official)?;
        let restored = self.official_program(utterance, &program)?;
        let is_exact = restored == official;
        if !is_exact && (self != Self::Overnight || self.converted(&restored)? != program) {
            let reason = difference(&restored, official);
            return Err(format!("`{}` cannot be restored to the official text: {reason}", shown(&program)));
        }
        Ok((program, is_exact))
    }

    fn converted(self, official: &str) -> Result<String, String> {
        let mut terms = Terms::new();
        let root = match self {
            Self::Cogs => cogs::program(&mut terms, official),
            Self::Atis => atis::program(&mut terms, official),
            Self::Overnight => overnight::program(&mut terms, official),
            Self::Okapi => okapi::program(&mut terms, official),
        }?;
        // A term may contain another many times: written out it can be exponentially larger than its text.
        if terms.size(root) > 2 * official.len() as u64 {
            return Err("parts of the program are used too often".to_owned());
        }
        Ok(terms.display(root).to_string())
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Cogs => "lines of sentence, tab, logical form, tab, kind of generalization",
            Self::Overnight => "lines of utterance, tab, canonical utterance, tab, program",
            Self::Atis | Self::Okapi => "lines of utterance, tab, program",
        }
    }
}

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cogs => "COGS",
            Self::Atis => "ATIS",
            Self::Overnight => "Overnight",
            Self::Okapi => "Okapi",
        })
    }
}

/// Where two texts part.
fn difference(restored: &str, official: &str) -> String {
    let same = restored.chars().zip(official.chars()).take_while(|(one, other)| one == other).count();
    let rest = |text: &str| text.chars().skip(same).collect::<String>();
    let (restored, official) = (rest(restored), rest(official));
    format!("after {same} characters, it gives `{}` for `{}`", shown(&restored), shown(&official))
}

/// A leaf with this text: a name or a number where it can be written as one, and otherwise in quotes.
pub(super) fn leaf(terms: &mut Terms, text: &str) -> TermId {
    let starts_number = text.starts_with(|ch: char| ch.is_ascii_digit() || ch == '-');
    let shape = match text {
        _ if is_name(text) => Shape::Name,
        _ if starts_number && text.parse::<f64>().is_ok_and(f64::is_finite) => Shape::Number,
        _ => Shape::Quoted,
    };
    terms.leaf(shape, text)
}

/// The text of a leaf, which must be one word of an official program.
pub(super) fn word(terms: &Terms, term: TermId) -> Result<&str, String> {
    let text = terms.head_text(term);
    if terms.shape(term) == Shape::Call {
        return Err(format!("expected a single word, found a call of `{}`", shown(text)));
    }
    if text.is_empty() || text.contains(char::is_whitespace) {
        return Err(format!("expected a single word, found `{}`", shown(text)));
    }
    Ok(text)
}
