//! A language like that of a large database, with questions: what `spanwise bench chart` measures large vocabularies on.
//!
//! It has 50 tables with six columns each. A table and a column are types, a column name is shared by several tables, and so
//! is a value, so that most words are ambiguous: 352 types and 2,000 predicates, all on their phrases only.

use spanwise_core::Random;
use spanwise_domains::data::Example;
use std::collections::BTreeMap;
use std::fmt::Write;

const N_TABLES: usize = 50;
const N_COLUMNS: usize = 6;
const N_PREDICATES: usize = 2_000;
/// How many names the columns and the values of all tables share.
const N_COLUMN_NAMES: usize = 60;
const N_VALUES: usize = 200;

/// The source of the domain file.
pub(super) fn source() -> String {
    let mut types: Vec<String> = (0..N_TABLES).map(|table| format!("\"T{table}\"")).collect();
    types.extend((0..N_TABLES).flat_map(|table| (0..N_COLUMNS).map(move |at| format!("\"C{table}_{at}\""))));
    types.extend(["\"Number\"".to_owned(), "\"Answer\"".to_owned()]);
    let roots: Vec<&str> = types.iter().map(String::as_str).filter(|name| !name.contains("Answer")).collect();
    let mut out = format!(
        "name = \"large\"\ntypes = [{}]\nroot = {{ types = [{}] }}\n",
        types.join(", "),
        roots.join(", ")
    );
    let constants = constants();
    out += "only_phrases = [";
    out += &constants.keys().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    out += "]\n[constants]\n";
    for (name, (signature, _)) in &constants {
        let _ = writeln!(out, "{name} = \"{signature}\"");
    }
    out += "[lexicon]\n";
    for (name, (_, phrase)) in &constants {
        let _ = writeln!(out, "{name} = \"{phrase}\"");
    }
    out
}

/// The tables that relation `at` leads from and to.
fn relation(at: usize) -> (usize, usize) {
    let mut random = Random::new(7, &[at as u64]);
    (random.below(N_TABLES), random.below(N_TABLES))
}

fn n_relations() -> usize {
    N_PREDICATES - N_TABLES * (2 + 5 * N_COLUMNS)
}

/// A word that nothing else is.
fn word(kind: char, at: usize) -> String {
    let syllable = |at: usize| {
        let (consonant, vowel) = ("bdfgklmnprstvz".as_bytes()[at / 5 % 14], b"aeiou"[at % 5]);
        [char::from(consonant), char::from(vowel)]
    };
    let syllables = [at % 70, at / 70 % 70].map(syllable);
    syllables.into_iter().flatten().chain([kind]).collect()
}

fn column_name(table: usize, column: usize) -> usize {
    (table * 7 + column * 11) % N_COLUMN_NAMES
}

fn value_name(table: usize, column: usize, value: usize) -> usize {
    (table * 31 + column * 17 + value * 5) % N_VALUES
}

/// Constants with their signatures and phrases.
fn constants() -> BTreeMap<String, (String, String)> {
    let mut all = BTreeMap::new();
    for table in 0..N_TABLES {
        all.insert(format!("all_{table}"), (format!("T{table}"), word('s', table)));
        all.insert(format!("count_{table}"), (format!("T{table} -> Number"), "how many".to_owned()));
        for column in 0..N_COLUMNS {
            let (row, cell) = (format!("T{table}"), format!("C{table}_{column}"));
            let name = word('n', column_name(table, column));
            let mut add = |kind: &str, signature: String, phrase: String| {
                all.insert(format!("{kind}_{table}_{column}"), (signature, phrase));
            };
            add("get", format!("{row} -> {cell}"), format!("{name} of"));
            add("is", format!("{cell}, {row} -> {row}"), format!("with {name}"));
            add("most", format!("{row} -> {row}"), format!("most {name}"));
            for value in 0..2 {
                let phrase = word('l', value_name(table, column, value));
                add(["one", "other"][value], cell.clone(), phrase);
            }
        }
    }
    for at in 0..n_relations() {
        let (from, to) = relation(at);
        all.insert(format!("by_{at}"), (format!("T{from} -> T{to}"), format!("by {}", word('r', at))));
    }
    all
}

/// Questions with their programs, made from the signatures at random.
pub(super) fn questions(n: usize) -> Vec<Example> {
    let mut random = Random::new(11, &[0]);
    let mut one = || {
        let table = random.below(N_TABLES);
        let depth = 1 + random.below(3);
        let (words, program) = rows(&mut random, table, depth);
        let column = random.below(N_COLUMNS);
        match random.below(3) {
            0 => (format!("how many {words}"), format!("count_{table}({program})")),
            1 => {
                let name = word('n', column_name(table, column));
                (format!("what is the {name} of {words}"), format!("get_{table}_{column}({program})"))
            }
            _ => (format!("show {words}"), program),
        }
    };
    let example =
        |(text, program): (String, String)| Example { program: Some(program), ..Example::new(text) };
    (0..n).map(|_| example(one())).collect()
}

/// Words and program for rows of a table.
fn rows(random: &mut Random, table: usize, depth: usize) -> (String, String) {
    let column = random.below(N_COLUMNS);
    let name = word('n', column_name(table, column));
    let choice = if depth == 0 { 3 } else { random.below(3) };
    let leading: Vec<usize> = (0..n_relations()).filter(|&at| relation(at).1 == table).collect();
    match choice {
        0 => {
            let (words, program) = rows(random, table, depth - 1);
            let value = random.below(2);
            let said = word('l', value_name(table, column, value));
            let constant = format!("{}_{table}_{column}", ["one", "other"][value]);
            (format!("{words} with {name} {said}"), format!("is_{table}_{column}({constant}, {program})"))
        }
        1 => {
            let (words, program) = rows(random, table, depth - 1);
            (format!("the most {name} {words}"), format!("most_{table}_{column}({program})"))
        }
        2 if !leading.is_empty() => {
            let at = leading[random.below(leading.len())];
            let (words, program) = rows(random, relation(at).0, depth - 1);
            (format!("by {} {words}", word('r', at)), format!("by_{at}({program})"))
        }
        _ => (word('s', table), format!("all_{table}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_chart::candidates::Candidates;
    use spanwise_chart::gold::{GoldChart, Joins};
    use spanwise_chart::grammar::{Grammar, Options};
    use spanwise_lang::Domain;
    use spanwise_lang::domain::NoTables;

    #[test]
    fn the_large_language_has_what_it_says_and_its_questions_can_be_derived() {
        let domain = Domain::load(&source(), "large.toml", None, &NoTables).unwrap();
        assert_eq!(domain.types().len(), 352);
        assert_eq!(domain.predicate_names().count(), N_PREDICATES);
        let grammar = Grammar::new(&domain, Options::default());
        let mut terms = domain.new_terms();
        for example in questions(50) {
            let program = terms.parse(example.program.as_ref().unwrap()).unwrap();
            let lattice = Candidates::default().lattice(&domain, &example.spoken()).unwrap();
            let gold = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None);
            assert!(gold.is_ok(), "{}", example.utterance);
        }
    }
}
