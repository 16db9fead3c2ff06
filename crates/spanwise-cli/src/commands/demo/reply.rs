//! The demo's answer to a question, as text for a terminal.
//!
//! The text names unknown words, gives the answer in plain words, then program, probability and tree.

use crate::commands::format::limits;
use crate::commands::withhold::refusal;
use anyhow::Result;
use spanwise_core::Utterance;
use spanwise_lang::diag::closest;
use spanwise_model::{Parser, Question, Withhold};
use spanwise_nn::Tokenizer;
use spanwise_nn::tokenizer::WordTable;
use spanwise_reading::Reading;
use spanwise_render::{Screen, visible_lines, with_unit};

/// Programs below this probability are shown with their alternatives.
const SURE: f64 = 0.7;
/// Most alternatives that are shown.
const OTHERS: usize = 3;

/// An answer as text, and the reading it was made from.
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) reading: Reading,
}

/// Who is asked, how answers are shown, and which are withheld.
#[derive(Clone, Copy)]
pub(super) struct Answers<'a> {
    pub(super) parser: &'a Parser,
    pub(super) screen: Screen,
    pub(super) withhold: Withhold,
}

impl Answers<'_> {
    /// Reads a question and answers it.
    pub(super) fn answer(&self, question: &str) -> Result<Reply> {
        let question = Question { alternatives: OTHERS, withhold: self.withhold, ..Question::new(question) };
        let reading = self.parser.read(&question);
        shown(&unknown_words(self.parser, &question.utterance, &reading), reading, self.screen)
    }
}

/// A reading as the demo shows it, after what there is to say about its unknown words.
fn shown(unknown: &str, mut reading: Reading, screen: Screen) -> Result<Reply> {
    if !reading.is_found() {
        let lines = refusal(&reading, "`:guess` shows my best guess; with --always-answer I always answer");
        // The first line says what matters; the words come after it.
        let (first, rest) = lines.split_at(1);
        let text = [first, &[visible_lines(unknown.trim_end()).into_owned()], rest].concat();
        let lines = text.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n"));
        return Ok(Reply { text: lines.collect(), reading });
    }
    let mut text = visible_lines(unknown).into_owned();
    if reading.probability.is_some_and(|probability| probability >= SURE) {
        reading.alternatives.clear();
    } else {
        text += "I am not sure of this; other readings are at the end.\n";
    }
    text += &visible_lines(&in_words(&reading));
    text += &format!("\n{}", spanwise_render::ascii(&reading, screen)?);
    Ok(Reply { text, reading })
}

/// A line for every word that neither training nor the domain's names and phrases have, and that was not corrected.
fn unknown_words(parser: &Parser, utterance: &Utterance, reading: &Reading) -> String {
    let model = parser.model();
    let Tokenizer::Words(words) = model.family.tokenizer() else { return String::new() };
    let mut is_named = vec![false; utterance.len()];
    for found in model.domain.lexicon().matches(utterance) {
        is_named[found.span.start as usize..found.span.end as usize].fill(true);
    }
    for correction in &reading.corrections {
        let [start, end] = correction.span.map(|at| (at as usize).min(is_named.len()));
        is_named[start..end.max(start)].fill(true);
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

/// The answer in plain words, or why there is none.
fn in_words(reading: &Reading) -> String {
    if let Some(error) = &reading.error {
        return format!("The program has no value: {error}\n");
    }
    match &reading.answer {
        Some(answer) if !answer.is_empty() => {
            match spanwise_render::table(answer, &reading.answer_info, limits()) {
                Some(table) => table,
                None => {
                    let number = with_unit(answer, &reading.answer_info);
                    format!("{}\n", number.unwrap_or_else(|| answer.to_string()))
                }
            }
        }
        _ if reading.denotation.is_none() => String::new(),
        _ => {
            let why = reading.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("Nothing: the program is a proper one, but nothing in the facts fits it{why}.\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_reading::{Answer, Guess};

    #[test]
    fn a_refusal_comes_first_and_names_the_ways_to_the_guess() {
        let reading = Reading {
            reason: Some("nothing is known about `egg`".to_owned()),
            guess: Some(Guess {
                program: Some("elevation(all)".to_owned()),
                answer: None,
                probability: 0.01,
                posterior: 0.5,
            }),
            ..Reading::default()
        };
        let screen = Screen { width: 80, color: false };
        let unknown = "I don't know the word 'egg'; I can only guess\n";
        let expected = "I cannot answer this: nothing is known about `egg`.\n\
            I don't know the word 'egg'; I can only guess\n\
            `:guess` shows my best guess; with --always-answer I always answer\n";
        assert_eq!(shown(unknown, reading.clone(), screen).unwrap().text, expected);
        let nothing = Reading { guess: None, ..reading };
        assert_eq!(
            shown("", nothing, screen).unwrap().text,
            "I cannot answer this: nothing is known about `egg`.\n"
        );
    }

    #[test]
    fn answers_are_given_in_plain_words() {
        let reading = |answer, note: Option<&str>, error: Option<&str>| Reading {
            answer,
            denotation: error.is_none().then(|| "[..]".to_owned()),
            note: note.map(str::to_owned),
            error: error.map(str::to_owned),
            ..Reading::default()
        };
        let cities: Answer = ["new york (ny)", "austin"].into_iter().collect();
        assert_eq!(in_words(&reading(Some(cities), None, None)), "new york (ny), austin\n");
        let empty = reading(Some(Answer::List(Vec::new())), Some("no such river"), None);
        let expected =
            "Nothing: the program is a proper one, but nothing in the facts fits it (no such river).\n";
        assert_eq!(in_words(&empty), expected);
        let failed = reading(None, None, Some("too many steps"));
        assert_eq!(in_words(&failed), "The program has no value: too many steps\n");
        assert_eq!(in_words(&Reading::default()), "");
    }
}
