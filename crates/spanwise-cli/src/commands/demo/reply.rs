//! What the demo says to a question.
//!
//! A question comes in, text for a terminal goes out: words that the model has never seen, the answer in plain words,
//! then program, probability and tree. It knows the notation of answers, `kind(name, ..)`, but no name in it.

use super::super::picture::explanation;
use anyhow::Result;
use spanwise_core::Utterance;
use spanwise_lang::diag::closest;
use spanwise_model::{Details, Outcome, Parse, Parser};
use spanwise_nn::Tokenizer;
use spanwise_nn::tokenizer::WordTable;
use spanwise_render::{Explanation, Screen};

/// Programs below this probability come with the ones they were chosen over.
const SURE: f64 = 0.7;
/// Other programs that are shown then.
const OTHERS: usize = 3;

/// An answer, and what a picture of it needs.
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) explanation: Option<Explanation>,
}

/// Reads a question and answers it.
pub(super) fn answer(parser: &Parser, question: &str, screen: Screen) -> Result<Reply> {
    let details = Details { alternatives: OTHERS, provenance: true, chart: false };
    let outcome = parser.parse_with(Utterance::new(question), details);
    let mut text = unknown_words(parser, outcome.utterance());
    let mut parse = match outcome {
        Outcome::Found(parse) => parse,
        Outcome::Nothing { reason, .. } => {
            text += &format!("I found no program for this: {reason}.\n");
            return Ok(Reply { text, explanation: None });
        }
    };
    if parse.probability >= SURE {
        parse.alternatives.clear();
    } else {
        text += "I am not sure of this; other readings are at the end.\n";
    }
    text += &in_words(parser, &parse);
    let explanation = explanation(parser, &parse, None)?;
    text += &format!("\n{}", spanwise_render::ascii(&explanation, screen));
    Ok(Reply { text, explanation: Some(explanation) })
}

/// A line for every word that neither training nor the domain's names and phrases have.
fn unknown_words(parser: &Parser, utterance: &Utterance) -> String {
    let model = parser.model();
    let Tokenizer::Words(words) = model.family.tokenizer() else { return String::new() };
    let mut is_named = vec![false; utterance.len()];
    for found in model.domain.lexicon().matches(utterance) {
        is_named[found.span.start as usize..found.span.end as usize].fill(true);
    }
    let mut lines = String::new();
    for (token, is_named) in utterance.tokens().iter().zip(is_named) {
        let word = token.lower.as_str();
        let is_word = word.chars().any(char::is_alphanumeric);
        if is_named || !is_word || words.id(word) != WordTable::UNKNOWN {
            continue;
        }
        let near = closest(word, words.words().iter().map(String::as_str));
        let hint =
            near.map_or_else(|| "I can only guess".to_owned(), |near| format!("do you mean '{near}'?"));
        lines += &format!("I don't know the word '{word}'; {hint}\n");
    }
    lines
}

/// The answer as people would say it, or why there is none.
fn in_words(parser: &Parser, parse: &Parse) -> String {
    match parser.execute(&parse.terms, parse.program, None) {
        None => String::new(),
        Some(Err(error)) => format!("The program has no value: {error}\n"),
        Some(Ok(found)) if found.is_empty => {
            let why = found.note.map(|note| format!(" ({note})")).unwrap_or_default();
            format!("Nothing: the program is a proper one, but nothing in the facts fits it{why}.\n")
        }
        Some(Ok(found)) => format!("{}\n", plain(&found.text)),
    }
}

/// An answer without its notation: `[cityid('new york',ny),stateid(ohio)]` is `new york (ny), ohio`.
fn plain(text: &str) -> String {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let items = split(inner).into_iter().map(|item| match item.split_once('(') {
        Some((_, names)) if names.ends_with(')') => {
            let names = split(&names[..names.len() - 1]);
            let names: Vec<&str> = names.iter().map(|name| name.trim_matches('\'')).collect();
            match names[..] {
                [name, "_"] => name.to_owned(),
                [name, place] => format!("{name} ({place})"),
                _ => names.join(" "),
            }
        }
        _ => item.to_owned(),
    });
    items.collect::<Vec<_>>().join(", ")
}

/// The parts between commas that stand in no parentheses and no quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut start) = (0usize, false, 0);
    let mut parts = Vec::new();
    for (at, ch) in text.char_indices() {
        match ch {
            '\'' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_lose_their_notation_and_keep_their_names() {
        for (text, expected) in [
            ("[cityid(topeka,ks)]", "topeka (ks)"),
            ("[stateid(arkansas),stateid('new mexico')]", "arkansas, new mexico"),
            ("[cityid('new york',ny),cityid(austin,_)]", "new york (ny), austin"),
            ("[1688210]", "1688210"),
            ("[placeid('a, b (c)')]", "a, b (c)"),
            ("no list", "no list"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
