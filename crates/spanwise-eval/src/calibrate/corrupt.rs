//! Corrupted utterances: what a question looks like when words are added, replaced or missing.
//!
//! They teach what it means that a program leaves words out. Whoever adds `in 1950` to a question asks for something else.

use hashbrown::HashSet;
use spanwise_core::{Random, Utterance};
use spanwise_domains::data::noise::with_typing_errors;
use spanwise_lang::lexicon::Source;
use spanwise_model::Model;
use spanwise_model::confidence::Familiarity;

/// What the answer to a corrupted utterance should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Truth {
    /// That of the utterance before.
    Same,
    /// None: the question has another meaning, or none.
    Unanswerable,
}

/// Words to put into utterances.
pub(super) struct Words {
    /// Real words that the domain does not know.
    unknown: Vec<String>,
    /// Words of training that usually mean nothing.
    null: Vec<String>,
    /// Names, from training utterances.
    names: Vec<String>,
    negations: &'static [&'static str],
    numbers: &'static [&'static str],
    conjunctions: &'static [&'static str],
    question_words: &'static [&'static str],
}

impl Words {
    pub(super) fn new(model: &Model, train: &[Utterance]) -> Self {
        let counts = &model.confidence.words;
        let mut in_lexicon: HashSet<String> = HashSet::new();
        let mut names = Vec::new();
        for utterance in train {
            for found in model.domain.lexicon().matches(utterance) {
                let words = utterance.slice(found.span);
                in_lexicon.extend(words.split(' ').map(str::to_lowercase));
                if found.source == Source::Name {
                    names.push(words.to_owned());
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        let is_unknown = |word: &String| {
            word.len() >= 4
                && word.is_ascii()
                && counts.familiarity(word) == Familiarity::Unknown
                && !in_lexicon.contains(word)
                && model.domain.lexicon().matches(&Utterance::new(word.as_str())).is_empty()
        };
        let mut unknown: Vec<String> = model.family.tokenizer().common_words();
        if let (true, Some(language)) = (unknown.is_empty(), model.domain.language()) {
            unknown = (language.words)().iter().map(|word| (*word).to_owned()).collect();
        }
        unknown.retain(is_unknown);
        let is_null = |word: &str| {
            counts.familiarity(word) == Familiarity::Null && word.chars().all(char::is_alphabetic)
        };
        let null = counts.iter().filter(|word| is_null(word)).map(str::to_owned);
        let language = model.domain.language();
        Self {
            unknown,
            null: null.collect(),
            names,
            negations: language.map_or(&[], |language| language.negations),
            numbers: language.map_or(&[], |language| language.number_words),
            conjunctions: language.map_or(&[], |language| language.conjunctions),
            question_words: language.map_or(&[], |language| language.question_words),
        }
    }

    /// One corruption of an utterance; `None` where the one that was drawn is not possible. `aligned` says which words
    /// have a meaning.
    pub(super) fn corrupt(
        &self,
        utterance: &Utterance,
        aligned: &[bool],
        random: &mut Random,
    ) -> Option<(String, Truth)> {
        let number = |random: &mut Random| match random.below(4) {
            0 => pick(self.numbers, random).map(|word| (*word).to_owned()),
            1 => Some((1800 + random.below(230)).to_string()),
            _ => Some((2 + random.below(400)).to_string()),
        };
        let (word, truth) = match random.below(13) {
            0 | 1 => (pick(&self.unknown, random)?.clone(), Truth::Unanswerable),
            2 => (number(random)?, Truth::Unanswerable),
            3 => (pick(&self.names, random)?.clone(), Truth::Unanswerable),
            4 => ((*pick(self.negations, random)?).to_owned(), Truth::Unanswerable),
            5 => (pick(&self.null, random)?.clone(), Truth::Same),
            6 | 10 | 11 => return replaced(utterance, aligned, pick(&self.unknown, random)?, random),
            7 => {
                let noisy = with_typing_errors(utterance.text(), 1, random);
                return (noisy != utterance.text()).then_some((noisy, Truth::Same));
            }
            8 => {
                let (a, b) = (pick(&self.unknown, random)?, pick(&self.unknown, random)?);
                (format!("{a} {b}"), Truth::Unanswerable)
            }
            12 => {
                let (and, when) = (pick(self.conjunctions, random)?, pick(self.question_words, random)?);
                (format!("{and} {when}"), Truth::Unanswerable)
            }
            _ => return replaced(utterance, aligned, "", random),
        };
        Some((inserted(utterance, &word, random), truth))
    }
}

fn pick<'a, T>(all: &'a [T], random: &mut Random) -> Option<&'a T> {
    (!all.is_empty()).then(|| &all[random.below(all.len())])
}

/// The utterance with more words at a random place between two of its own.
fn inserted(utterance: &Utterance, words: &str, random: &mut Random) -> String {
    let text = utterance.text();
    let at = random.below(utterance.len() + 1);
    match utterance.tokens().get(at) {
        Some(token) => [&text[..token.bytes.start], words, " ", &text[token.bytes.start..]].concat(),
        None => [text.trim_end_matches(['?', '.', ' ']), " ", words].concat(),
    }
}

/// The utterance with one of its words that have a meaning replaced, or left out.
fn replaced(
    utterance: &Utterance,
    aligned: &[bool],
    word: &str,
    random: &mut Random,
) -> Option<(String, Truth)> {
    let places: Vec<usize> = (0..utterance.len()).filter(|&at| aligned.get(at) == Some(&true)).collect();
    let bytes = &utterance.tokens()[*pick(&places, random)?].bytes;
    let text = [&utterance.text()[..bytes.start], word, &utterance.text()[bytes.end..]].concat();
    // A word that is left out may have been one too many.
    Some((text, if word.is_empty() { Truth::Same } else { Truth::Unanswerable }))
}
