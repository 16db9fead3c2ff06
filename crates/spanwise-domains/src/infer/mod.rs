//! A first domain file from examples alone: `spanwise infer-domain`.
//!
//! Types follow from where constants occur in programs, entities from how they are written, phrases from which words occur
//! with which constants. The file loads, types the programs it was made from, and says what is uncertain. It is
//! meant to be edited.

mod align;
mod clusters;
mod corpus;
mod entities;
mod file;
mod guess;
mod literals;
mod signatures;
mod toml;
mod typing;
mod words;

use crate::data::Example;
use crate::table;
use guess::Guess;
use spanwise_lang::domain::TableSource;
use spanwise_lang::{Domain, Table};
use std::collections::BTreeMap;
use typing::COARSEST;

/// A guessed domain file, and what it does with the programs it was made from.
#[derive(Clone, PartialEq, Debug)]
pub struct Inferred {
    /// The text of the domain file.
    pub source: String,
    /// The tables that it names, each with its path and its text.
    pub tables: Vec<(String, String)>,
    /// Types that it declares.
    pub types: usize,
    /// Constants, apart from entities.
    pub constants: usize,
    /// Classes of entities and literals.
    pub classes: usize,
    /// Phrases of constants.
    pub phrases: usize,
    /// Programs that were read.
    pub programs: usize,
    /// Those that are well-typed.
    pub typed: usize,
    /// The share of programs that are well-typed where a part of them was held out; `None` where there are too few.
    pub held_out: Option<f64>,
    /// Constants that are inserted where no words are aligned to them.
    pub implicit: Vec<String>,
    /// Constants that no phrase was found for.
    pub without_phrase: Vec<String>,
}

/// Why nothing can be inferred.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InferError {
    /// No example has a program.
    #[error("no example has a program")]
    NoPrograms,
    /// A program cannot be read.
    #[error("the program cannot be read: {reason}")]
    Program {
        /// The example, from 0.
        example: usize,
        /// The reason, with the column.
        reason: String,
    },
    /// No file could be made that loads.
    #[error("no domain file could be made of these programs: {0}")]
    Unloadable(String),
}

/// What is being worked on, for a progress display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Reading programs, and entities in them.
    Programs,
    /// Finding types.
    Types,
    /// Aligning words.
    Words,
    /// Loading the file, and checking the programs with it.
    Check,
}

/// Guesses a domain file called `name` from the programs of examples, and phrases from their words. Examples without a program
/// are passed over. The same examples give the same file.
///
/// Cost: seconds for ten thousand examples. `report` is told about each stage.
///
/// ```
/// use spanwise_domains::{data::Example, infer::infer};
///
/// let say = |utterance: &str, program: &str| Example { program: Some(program.to_owned()), ..Example::new(utterance) };
/// let examples = [
///     say("lamp on", "on(lamp())"),
///     say("lamp off", "off(lamp())"),
///     say("fan on", "on(fan())"),
///     say("fan off and lamp on", "then(off(fan()), on(lamp()))"),
/// ];
/// let inferred = infer("home", &examples, &mut |_| {})?;
/// assert_eq!((inferred.programs, inferred.typed), (4, 4));
/// assert!(inferred.source.contains("[constants]"));
/// # Ok::<(), spanwise_domains::infer::InferError>(())
/// ```
///
/// # Errors
/// A program that cannot be read, or no program at all.
pub fn infer(
    name: &str,
    examples: &[Example],
    report: &mut dyn FnMut(Stage),
) -> Result<Inferred, InferError> {
    report(Stage::Programs);
    let corpus = corpus::Corpus::read(examples)?;
    let entities = entities::find(&corpus);
    let mut from = 0.0;
    loop {
        report(Stage::Types);
        let choice = guess::types(&corpus, from);
        let mut problem = String::new();
        // Defaults can make two signatures the same.
        for with_defaults in [true, false] {
            report(Stage::Words);
            let guess = Guess::new(&corpus, &entities, &choice, with_defaults);
            let (source, tables) = file::write(name, &guess);
            report(Stage::Check);
            match Domain::load(&source, "domain.toml", None, &Tables(&tables)) {
                Ok(domain) => return Ok(finished(&guess, &domain, source, tables)),
                Err(errors) => problem = errors.to_string(),
            }
        }
        // Fewer types may be within the limits of a domain.
        if choice.threshold >= COARSEST {
            return Err(InferError::Unloadable(problem));
        }
        from = choice.threshold + 0.05;
    }
}

fn finished(
    guess: &Guess<'_>,
    domain: &Domain,
    source: String,
    tables: BTreeMap<String, String>,
) -> Inferred {
    let mut terms = domain.new_terms();
    let programs = &guess.corpus.programs;
    let is_typed = |&&program: &&spanwise_lang::TermId| {
        let copy = terms.import(&guess.corpus.terms, program);
        domain.analyze(&terms, copy).is_ok()
    };
    let typed = programs.iter().filter(is_typed).count();
    Inferred {
        source,
        tables: tables.into_iter().collect(),
        types: guess.types.len(),
        constants: guess.constants.len(),
        classes: guess.classes.len(),
        phrases: guess.constants.iter().map(|one| one.phrases.len()).sum(),
        programs: programs.len(),
        typed,
        held_out: guess.held_out,
        implicit: guess.constants.iter().filter(|one| one.implicit).map(|one| one.key.clone()).collect(),
        without_phrase: guess
            .constants
            .iter()
            .filter(|one| one.phrases.is_empty())
            .map(|one| one.key.clone())
            .collect(),
    }
}

/// The tables of a guess, which are not written yet.
struct Tables<'a>(&'a BTreeMap<String, String>);

impl TableSource for Tables<'_> {
    fn read(&self, path: &str) -> Result<Table, String> {
        let text = self.0.get(path).ok_or_else(|| format!("there is no table `{path}`"))?;
        if path.ends_with(".json") { table::json(path, text) } else { table::tsv(path, text) }
    }
}
