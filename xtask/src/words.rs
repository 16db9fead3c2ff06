//! Rejects words that only this project would understand, where the field has a word of its own.
//!
//! The list is data: what is not written, and what to write instead.

use crate::File;

/// A word or phrase with its replacement. A part that begins with a capital letter is a type and matches only as written;
/// other parts match in any case. Identifiers are taken apart: `strange_word` and `StrangeWord` are the phrase `strange word`.
struct Rejected {
    phrases: &'static [&'static str],
    instead: &'static str,
    place: Place,
}

#[derive(PartialEq, Eq)]
enum Place {
    Everywhere,
    /// The lines of a file that begin with `//!`.
    ModuleDocs,
}

const fn everywhere(phrases: &'static [&'static str], instead: &'static str) -> Rejected {
    Rejected { phrases, instead, place: Place::Everywhere }
}

const REJECTED: &[Rejected] = &[
    everywhere(&["room", "rooms"], "crate, module, directory, width or space"),
    everywhere(&["arrows"], "dependencies"),
    everywhere(&["strange"], "unknown word"),
    everywhere(&["foreign"], "out-of-domain (an utterance), external (a text)"),
    everywhere(
        &[
            "says a constant",
            "say a constant",
            "says which constant",
            "say which constant",
            "says the constant",
            "carries a constant",
            "no word says",
            "no words say",
            "said by no word",
            "words can say",
        ],
        "a word is aligned to a constant",
    ),
    everywhere(&["goes without saying", "go without saying"], "is implicit, is inserted"),
    everywhere(&["stand on", "stands on"], "is aligned to, is anchored on"),
    everywhere(&["may stand"], "is allowed"),
    everywhere(&["speaks for", "speak for"], "lexicon match, evidence for"),
    everywhere(&["the make of"], "hyper-parameters, settings"),
    everywhere(&["numbers to train", "numbers that are trained", "trained numbers"], "trainable parameters"),
    everywhere(&["for people"], "human-readable"),
    everywhere(&["Workshop"], "RunContext"),
    everywhere(&["Done Well"], "Status::Success"),
    everywhere(&["Reach"], "AxisBounds"),
    everywhere(&["Licence"], "PredicatePlacement, or License"),
    everywhere(&["Asker"], "the name of what it does"),
    everywhere(&["Judge", "Judged"], "evaluator, scored example"),
    Rejected {
        phrases: &[
            "come in",
            "comes in",
            "go out",
            "goes out",
            "go in",
            "goes in",
            "come out",
            "comes out",
            "in go",
            "out come",
        ],
        instead: "one plain sentence that says what the module is for",
        place: Place::ModuleDocs,
    },
];

/// Texts in which a rejected word is right: rooms of houses in examples, an option that older scripts use, keys of databases.
const ALLOWED: &[&str] = &[
    "living room",
    "dining room",
    "guest room",
    "spare room",
    "kids room",
    "children's room",
    "cook's room",
    "alias = \"foreign\"",
    "--foreign",
    "foreign key",
    "foreign_key",
    "foreignkey",
    "\"room\"",
];

/// This file, which has to name what it rejects.
const LIST: &str = "xtask/src/words.rs";

/// Every use of a rejected word, one line each, with its place and what to write instead.
pub(crate) fn check(files: &[File]) -> Vec<String> {
    files.iter().filter(|file| file.path != LIST).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<String> {
    let tokens = tokens(&file.text);
    let mut problems = Vec::new();
    for Rejected { phrases, instead, place } in REJECTED {
        let mut last = 0;
        for phrase in *phrases {
            let parts: Vec<&str> = phrase.split(' ').collect();
            for run in tokens.windows(parts.len()) {
                let fits = parts.iter().zip(run).all(|(part, token)| is_same(part, &token.text));
                let is_place = *place == Place::Everywhere || run.iter().all(|token| token.in_module_docs);
                if fits && is_place && run[0].line != last {
                    last = run[0].line;
                    problems.push((last, format!("{}:{last}: `{phrase}`: write {instead}", file.path)));
                }
            }
        }
    }
    problems.sort();
    problems.into_iter().map(|(_, text)| text).collect()
}

fn is_same(part: &str, token: &str) -> bool {
    if part.starts_with(char::is_uppercase) { part == token } else { part.eq_ignore_ascii_case(token) }
}

/// A word of a text, or a part of an identifier.
struct Token {
    text: String,
    line: usize,
    in_module_docs: bool,
}

/// The words of a text, so that a phrase is found across the end of a line.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let in_module_docs = content.trim_start().starts_with("//!");
        let content = ALLOWED.iter().fold(content.to_owned(), |content, allowed| without(&content, allowed));
        for word in content.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let parts = parts(word).into_iter().map(str::to_owned);
            tokens.extend(parts.map(|text| Token { text, line, in_module_docs }));
        }
    }
    tokens
}

/// The text with every `allowed` in it, in any case, replaced by something that no phrase contains.
fn without(text: &str, allowed: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in lower.match_indices(allowed) {
        out += &text[from..at];
        out += " 0 ";
        from = at + allowed.len();
    }
    out + &text[from..]
}

/// `StrangeWord` as `Strange` and `Word`.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    for pair in chars.windows(2) {
        if pair[0].1.is_lowercase() && pair[1].1.is_uppercase() {
            parts.push(&word[start..pair[1].0]);
            start = pair[1].0;
        }
    }
    parts.push(&word[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let file = File { path: "f".to_owned(), text: text.to_owned() };
        let number = |problem: &String| problem.split(':').nth(1).and_then(|number| number.parse().ok());
        check_file(&file).iter().filter_map(number).collect()
    }

    #[test]
    fn words_are_found_in_texts_and_identifiers_and_across_lines() {
        assert_eq!(
            lines("The ROOM\nlet strange_words = 1;\nStrangeWord\n/// numbers\n/// to train"),
            [1, 2, 3, 4]
        );
        assert_eq!(lines("bedroom mushrooms\nestranged"), [0; 0]);
    }

    #[test]
    fn types_match_as_they_are_written() {
        assert_eq!(lines("struct Reach;\nout of reach\nDone::Well\ndone well"), [1, 3]);
    }

    #[test]
    fn allowed_phrases_hide_the_word_in_them_and_no_other() {
        assert_eq!(lines("the Living Room lamp\nthe living room of a room"), [2]);
    }

    #[test]
    fn the_formula_is_rejected_in_the_documentation_of_modules_only() {
        assert_eq!(lines("//! Words come in,\n//! programs go\n//! out.\n// lights go out"), [1, 2]);
    }

    #[test]
    fn a_problem_names_the_place_and_the_replacement() {
        let file = File { path: "docs/x.md".to_owned(), text: "\nfor people".to_owned() };
        assert_eq!(check_file(&file), ["docs/x.md:2: `for people`: write human-readable"]);
    }
}
