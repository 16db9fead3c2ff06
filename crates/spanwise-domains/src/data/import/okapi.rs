//! Okapi: calls of a calendar's interface, `GET event FILTER event.start gt next Friday TOP 3`.
//!
//! The clauses become arguments in their order: `get(event, filter(event.start, gt, 'next Friday'), top(3))`. Values are
//! texts in quotes, except those of properties that have only a few.

use super::tabular::{leaf, word};
use crate::data::message::shown;
use spanwise_lang::surface::is_name;
use spanwise_lang::{Shape, TermId, Terms};

/// The properties whose values are fixed names.
const ENUMERATIONS: [&str; 2] = ["event.hasAttachments", "event.importance"];

/// A clause of a request.
struct Clause {
    keyword: &'static str,
    /// The number of single words after the keyword.
    n_words: usize,
    /// Whether a text of any length follows these.
    has_text: bool,
}

const CLAUSES: [Clause; 5] = [
    Clause { keyword: "COUNT", n_words: 0, has_text: false },
    Clause { keyword: "FILTER", n_words: 2, has_text: true },
    Clause { keyword: "ORDERBY", n_words: 2, has_text: false },
    Clause { keyword: "SEARCH", n_words: 0, has_text: true },
    Clause { keyword: "TOP", n_words: 1, has_text: false },
];

/// The term of an official program.
pub(super) fn program(terms: &mut Terms, official: &str) -> Result<TermId, String> {
    let Some(request) = official.strip_prefix("GET ") else {
        return Err(format!("expected a request `GET ..`, found `{}`", shown(official)));
    };
    let words: Vec<&str> = request.split(' ').collect();
    let is_keyword = |word: &&str| CLAUSES.iter().any(|clause| clause.keyword == *word);
    let mut clauses = words.chunk_by(|_, next| !is_keyword(next));
    let resource = match clauses.next() {
        Some(&[resource]) => leaf(terms, resource),
        _ => return Err("expected one word between `GET` and the first clause".to_owned()),
    };
    let mut args = vec![resource];
    for words in clauses {
        args.push(clause(terms, words)?);
    }
    Ok(terms.call("get", &args))
}

fn clause(terms: &mut Terms, words: &[&str]) -> Result<TermId, String> {
    let (keyword, words) = words.split_first().ok_or("there is an empty clause")?;
    let found = CLAUSES.iter().find(|clause| clause.keyword == *keyword);
    let &Clause { n_words, has_text, .. } = found.ok_or_else(|| no_clause(keyword))?;
    let n_least = n_words + usize::from(has_text);
    if words.len() < n_least || (words.len() > n_least && !has_text) {
        let more = if has_text { " or more" } else { "" };
        return Err(format!("`{keyword}` has {} words after it, expected {n_least}{more}", words.len()));
    }
    let (words, text) = words.split_at(n_words);
    let mut args: Vec<TermId> = words.iter().map(|word| leaf(terms, word)).collect();
    if has_text {
        let text = text.join(" ");
        let is_fixed = words.first().is_some_and(|property| ENUMERATIONS.contains(property));
        args.push(match is_fixed && is_name(&text) {
            true => leaf(terms, &text),
            false => terms.leaf(Shape::Quoted, &text),
        });
    }
    let head = keyword.to_lowercase();
    Ok(if args.is_empty() { leaf(terms, &head) } else { terms.call(&head, &args) })
}

/// A term as an official program.
pub(super) fn official(terms: &Terms, root: TermId) -> Result<String, String> {
    let ("get", [resource, clauses @ ..]) = (terms.head_text(root), terms.args(root)) else {
        return Err("expected `get` with a resource".to_owned());
    };
    let mut words = vec!["GET", word(terms, *resource)?];
    for &clause in clauses {
        let (head, args) = (terms.head_text(clause), terms.args(clause));
        let found = CLAUSES.iter().find(|clause| clause.keyword.to_lowercase() == head);
        let &Clause { keyword, n_words, has_text } = found.ok_or_else(|| no_clause(head))?;
        let n_args = n_words + usize::from(has_text);
        if args.len() != n_args {
            return Err(format!("`{head}` has {} arguments, expected {n_args}", args.len()));
        }
        words.push(keyword);
        for (at, &arg) in args.iter().enumerate() {
            words.push(if at < n_words { word(terms, arg)? } else { text(terms, arg)? });
        }
    }
    Ok(words.join(" "))
}

fn no_clause(name: &str) -> String {
    format!("there is no clause `{}`", shown(name))
}

/// The text of a value, which may have several words.
fn text(terms: &Terms, term: TermId) -> Result<&str, String> {
    match terms.shape(term) {
        Shape::Call => Err(format!("expected a text, found a call of `{}`", shown(terms.head_text(term)))),
        _ => Ok(terms.head_text(term)),
    }
}
