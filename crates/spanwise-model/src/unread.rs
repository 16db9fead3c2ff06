//! Which words of an utterance its best program leaves out although they carry a meaning, and which it only guesses.

mod without_tree;

use crate::confidence::{Evidence, Familiarity, ReadAs, WordCounts};
use crate::outcome::{Guessed, Parse, Unread};
use spanwise_chart::tree::{Category, SpanTree};
use spanwise_core::{Span, Utterance};
use spanwise_lang::{ConstantId, Domain, Kind};
use spanwise_reading::{CorrectionKind, UnreadKind};

/// What words are compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// All utterances that words were counted in.
    All,
    /// The others: as if this utterance had not been one of them.
    Others,
}

/// What is known about words: the domain, how training utterances read them, and which of them are similar.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The domain.
    pub domain: &'a Domain,
    /// How training utterances read words.
    pub counts: &'a WordCounts,
    /// The largest similarity of a word to others, from 0 to 1.
    pub similarity: &'a dyn Fn(&str, &[&str]) -> f64,
}

/// What the words of an utterance say about its program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WordEvidence {
    /// The words that it leaves out although they carry a meaning.
    pub unread: Vec<Unread>,
    /// The words whose meaning it only guesses.
    pub guessed: Vec<Guessed>,
    /// What that counts against it.
    pub evidence: Evidence,
}

/// The share of its oddness that counts of a word which says little by itself. Of 0.2, 0.5 and 1, the one with which most right
/// answers are kept on splits of GeoQuery's train and dev sets, at the same number of unanswerable questions that are answered.
const LIGHT: f64 = 0.2;
/// A word at least this odd under a predicate is reported as a guess.
const IS_GUESS: f64 = 0.5;

/// The words of one parse, as they were read.
struct Words<'a> {
    known: Known<'a>,
    basis: Basis,
    read: &'a Utterance,
    /// The constant that each word is aligned to.
    aligned: Vec<Option<(ConstantId, Span)>>,
}

/// The words that a parse leaves out although they carry a meaning, those that it guesses, and the evidence against its
/// program. Nothing, where no words were counted. Where the family has no trees, only what can be known without one: names,
/// numbers and second questions. `read` is the utterance as it was read, after corrections.
///
/// Cost: a few look-ups for each word, and one comparison with all words that are read in the same way for each word
/// that training utterances do not read so.
#[must_use]
pub fn unread(known: Known<'_>, parse: &Parse, read: &Utterance, basis: Basis) -> WordEvidence {
    let Some(tree) = &parse.tree else { return without_tree::unread(known, parse, read) };
    if known.counts.is_empty() {
        return WordEvidence::default();
    }
    let mut evidence = Evidence::default();
    let words = Words { known, basis, read, aligned: aligned(tree, read.len()) };
    // Whether a suggestion is right is asked, not estimated.
    for correction in parse.corrections.iter().filter(|it| !parse.suggested.contains(it)) {
        match correction.kind {
            CorrectionKind::Part => evidence.words.parts += 1.0,
            _ if known.domain.is_inflection(parse.utterance.slice(correction.span), &correction.to) => {}
            _ => evidence.words.corrected += f64::from(correction.cost),
        }
    }
    let mut found: Vec<Unread> = Vec::new();
    for (at, is_name) in known.domain.lexicon().is_name(read).into_iter().enumerate() {
        let Some(kind) = words.kind(at, is_name) else { continue };
        let oddness = match kind {
            // A picture is named, but it is no reason to doubt a program.
            _ if words.word(at).chars().all(is_pictograph) => 0.0,
            UnreadKind::Unknown | UnreadKind::Content => words.oddness(at),
            UnreadKind::Number | UnreadKind::Name | UnreadKind::Negation | UnreadKind::Question => 1.0,
        };
        let is_new = add_word(&mut found, at, kind);
        if is_new || matches!(kind, UnreadKind::Unknown | UnreadKind::Content) {
            evidence.add(kind, oddness);
        }
    }
    let guesses = words.guesses();
    evidence.words.guessed = guesses.iter().map(|(_, oddness)| oddness).sum();
    let mut guessed: Vec<Guessed> = Vec::new();
    for (guess, _) in guesses.into_iter().filter(|(_, oddness)| *oddness >= IS_GUESS) {
        let is_next =
            |last: &&mut Guessed| last.constant == guess.constant && last.span.end == guess.span.start;
        match guessed.last_mut().filter(is_next) {
            Some(last) => last.span.end = guess.span.end,
            None => guessed.push(guess),
        }
    }
    WordEvidence { unread: found, guessed, evidence }
}

/// Adds a word to those that are left out, or to the last span if it continues it; whether it begins a new one.
fn add_word(found: &mut Vec<Unread>, at: usize, kind: UnreadKind) -> bool {
    let here = at as u32;
    let last = found.last_mut().filter(|last| last.kind == kind && last.span.end == here);
    let is_new = last.is_none();
    match last {
        Some(last) => last.span.end = here + 1,
        None => found.push(Unread { span: Span::new(here, here + 1), kind }),
    }
    is_new
}

/// The constant that each word is aligned to.
fn aligned(tree: &SpanTree, n_words: usize) -> Vec<Option<(ConstantId, Span)>> {
    let mut aligned = vec![None; n_words];
    for node in &tree.nodes {
        if let Category::Constant(constant) = node.category {
            aligned[node.span.start as usize..node.span.end as usize].fill(Some((constant, node.span)));
        }
    }
    aligned
}

/// For each word, whether it is part of a value that is known by its form: a number, a date.
#[must_use]
pub fn is_known_by_form(domain: &Domain, tree: &SpanTree, n_words: usize) -> Vec<bool> {
    let is_known = |(constant, _): (ConstantId, Span)| match domain.constants()[constant].kind {
        Kind::Entity(class) => domain.classes()[class].is_known_by_form(),
        Kind::Predicate => false,
    };
    aligned(tree, n_words).into_iter().map(|aligned| aligned.is_some_and(is_known)).collect()
}

/// Every word, and what a tree aligns it to.
#[must_use]
pub fn read_words<'a>(
    domain: &'a Domain,
    tree: &SpanTree,
    read: &'a Utterance,
) -> Vec<(&'a str, ReadAs<'a>)> {
    let aligned = aligned(tree, read.len());
    let words = read.tokens().iter().zip(aligned);
    words.map(|(token, aligned)| (token.lower.as_str(), read_as(domain, aligned))).collect()
}

/// For each word, whether it is part of a phrase of the predicate that it is aligned to.
#[must_use]
pub fn is_in_phrase(domain: &Domain, tree: &SpanTree, read: &Utterance) -> Vec<bool> {
    in_phrase(domain, &aligned(tree, read.len()), read)
}

fn in_phrase(domain: &Domain, aligned: &[Option<(ConstantId, Span)>], read: &Utterance) -> Vec<bool> {
    let mut found = vec![false; read.len()];
    for it in domain.lexicon().matches(read) {
        let is_predicate = domain.constants()[it.constant].kind == Kind::Predicate;
        let here = aligned[it.span.start as usize];
        if is_predicate
            && here.is_some_and(|(constant, span)| constant == it.constant && span.contains(it.span))
        {
            found[it.span.start as usize..it.span.end as usize].fill(true);
        }
    }
    found
}

fn read_as(domain: &Domain, aligned: Option<(ConstantId, Span)>) -> ReadAs<'_> {
    match aligned.map(|(constant, _)| &domain.constants()[constant]) {
        None => ReadAs::Null,
        Some(constant) if constant.kind == Kind::Predicate => ReadAs::Predicate(&constant.name),
        Some(_) => ReadAs::Value,
    }
}

impl Words<'_> {
    fn word(&self, at: usize) -> &str {
        &self.read.tokens()[at].lower
    }

    /// What is known about a word.
    fn familiarity(&self, at: usize) -> Familiarity {
        let word = self.word(at);
        let left_out = match self.basis {
            Basis::All => [0, 0],
            Basis::Others => {
                let same = || (0..self.read.len()).filter(|&other| self.word(other) == word);
                let n_null = same().filter(|&other| self.aligned[other].is_none()).count();
                [same().count() as u32, n_null as u32]
            }
        };
        self.known.counts.without(word, left_out)
    }

    /// Whether a word is left out although a conjunction, which is left out too, joins it to others: `area` in `the capital
    /// and the area of ohio`. Elsewhere such a word may say nothing new, as `city` before the name of one.
    fn is_joined(&self, at: usize) -> bool {
        let Some(language) = self.known.domain.language() else { return false };
        let joins = |at: usize| self.aligned[at].is_none() && language.conjunctions.contains(&self.word(at));
        let means_something = |at: &usize| !self.known.domain.is_no_meaning(self.word(*at));
        self.aligned[at].is_none()
            && self.familiarity(at) == Familiarity::Content
            && ((0..at).rev().find(means_something).is_some_and(joins)
                || (at + 1..self.read.len()).find(means_something).is_some_and(joins))
    }

    /// Why a word counts as unread; `None` if it is read, or carries no meaning.
    fn kind(&self, at: usize, is_name: bool) -> Option<UnreadKind> {
        // Whichever question a program answers, it leaves the other one out.
        if is_second_question(self.known.domain, self.read, at) {
            return Some(UnreadKind::Question);
        }
        let word = self.word(at);
        let language = self.known.domain.language();
        let is_negation = language.is_some_and(|language| language.negations.contains(&word));
        // Single letters are what is left of `what's` and of initials.
        let is_word = has_digit(word)
            || word.chars().filter(|c| c.is_alphabetic()).count() > 1
            || word.chars().all(is_symbol);
        if self.aligned[at].is_some() || !(is_word || is_negation) || self.known.domain.is_no_meaning(word) {
            return None;
        }
        let familiarity = self.familiarity(at);
        // Digits say something, whatever they said before.
        if familiarity == Familiarity::Null && !has_digit(word) {
            return None;
        }
        if is_negation {
            return Some(UnreadKind::Negation);
        }
        if has_digit(word) || language.is_some_and(|language| language.number_words.contains(&word)) {
            return Some(UnreadKind::Number);
        }
        if is_name {
            return Some(UnreadKind::Name);
        }
        match familiarity {
            Familiarity::Unknown => Some(UnreadKind::Unknown),
            Familiarity::Content => Some(UnreadKind::Content),
            Familiarity::Null => None,
        }
    }

    /// How often this utterance reads a word in some way: that many occurrences do not count.
    fn left_out(&self, word: &str, reading: ReadAs<'_>) -> u32 {
        if self.basis == Basis::All {
            return 0;
        }
        let here = |&at: &usize| self.word(at) == word && self.read_as(at) == reading;
        (0..self.read.len()).filter(here).count() as u32
    }

    fn read_as(&self, at: usize) -> ReadAs<'_> {
        read_as(self.known.domain, self.aligned[at])
    }

    /// How unusual it is that a word is read as it is: zero if training utterances read it so, too, and otherwise one less
    /// its similarity to the words that they do.
    fn oddness(&self, at: usize) -> f64 {
        if self.is_joined(at) {
            return 1.0;
        }
        let (word, reading) = (self.word(at), self.read_as(at));
        let counts = self.known.counts;
        if counts.count(word, reading) > self.left_out(word, reading) {
            return 0.0;
        }
        let is_left = |&(other, n): &(&str, u32)| n > self.left_out(other, reading);
        let others: Vec<&str> =
            counts.read_as(reading).into_iter().filter(is_left).map(|(other, _)| other).collect();
        if others.iter().any(|other| self.known.domain.is_inflection(word, other)) {
            return 0.0;
        }
        let oddness = 1.0 - (self.known.similarity)(word, &others);
        let is_light = self.known.domain.language().is_some_and(|it| it.light_words.contains(&word));
        if is_light { LIGHT * oddness } else { oddness }
    }

    /// The words under predicates that the lexicon does not have there, each with its oddness. A number is always odd: a
    /// predicate that was learned on one number says nothing of another.
    fn guesses(&self) -> Vec<(Guessed, f64)> {
        let in_phrase = in_phrase(self.known.domain, &self.aligned, self.read);
        let guess = |at: usize| {
            let (constant, _) = self.aligned[at]?;
            let is_predicate = self.known.domain.constants()[constant].kind == Kind::Predicate;
            let here = Span::new(at as u32, at as u32 + 1);
            let oddness = match self.word(at) {
                word if !is_predicate || !word.chars().any(char::is_alphanumeric) || in_phrase[at] => 0.0,
                word if has_digit(word) => 1.0,
                _ => self.oddness(at),
            };
            (oddness > 0.0).then_some((Guessed { span: here, constant }, oddness))
        };
        (0..self.read.len()).filter_map(guess).collect()
    }
}

/// Whether a word is part of what joins a second question to a first one: `and when`.
fn is_second_question(domain: &Domain, read: &Utterance, at: usize) -> bool {
    let Some(language) = domain.language() else { return false };
    let word = |at: usize| read.tokens()[at].lower.as_str();
    let is_start = |at: usize| {
        at > 0
            && at + 1 < read.len()
            && language.conjunctions.contains(&word(at))
            && language.question_words.contains(&word(at + 1))
    };
    is_start(at) || at > 0 && is_start(at - 1)
}

/// Whether a character is neither of a word nor the punctuation of a sentence: `<`, `%`, `€`, an emoji.
fn is_symbol(ch: char) -> bool {
    const PUNCTUATION: &str = ".,;:!?'\"()[]{}-/\\_`«»¡¿·";
    // Typographic quotes and dashes, ideographic punctuation, and what only changes the character before it.
    let is_mark = matches!(ch, '\u{2000}'..='\u{206F}' | '\u{3000}'..='\u{303F}')
        || matches!(ch, '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}');
    !ch.is_alphanumeric() && !PUNCTUATION.contains(ch) && !is_mark
}

/// Whether a character is an emoji or another picture.
fn is_pictograph(ch: char) -> bool {
    matches!(ch, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}')
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_lang::domain::NoTables;

    /// A parse of `sketch the growth of texas` that aligns `growth` to `people` or to nothing.
    fn words<'a>(
        domain: &'a Domain,
        counts: &'a WordCounts,
        read: &'a Utterance,
        growth: Option<&str>,
    ) -> Words<'a> {
        let similarity = &|word: &str, others: &[&str]| {
            if word == "sketch" && others.contains(&"list") { 0.75 } else { 0.25 }
        };
        let id = |name: &str| domain.constants().iter().position(|it| it.name == name).unwrap();
        let mut aligned = vec![None; read.len()];
        aligned[2] = growth.map(|name| (ConstantId(id(name) as u32), Span::new(2, 3)));
        Words { known: Known { domain, counts, similarity }, basis: Basis::All, read, aligned }
    }

    fn guessed(words: &Words<'_>) -> f64 {
        words.guesses().iter().map(|(_, oddness)| oddness).sum()
    }

    #[test]
    fn symbols_are_words_and_the_punctuation_of_a_sentence_is_not() {
        assert!(['<', '>', '=', '%', '€', '&', '°', '🙂'].into_iter().all(is_symbol));
        assert!(!['.', '?', '\'', '’', '–', '…', 'a', '7', '\u{200D}'].into_iter().any(is_symbol));
        assert!(is_pictograph('🙂') && is_pictograph('☀') && !is_pictograph('%'));
    }

    #[test]
    fn a_second_question_begins_with_a_conjunction_and_a_question_word() {
        let text = r#"
            name = "places"
            types = ["State", "Answer"]
            language = "english"
            root = { types = ["Answer"] }
            constants = { people = "State -> Answer" }
        "#;
        let domain = Domain::load(text, "places.toml", None, &NoTables).unwrap();
        let mut counts = WordCounts::default();
        "how many people and where what is it".split(' ').for_each(|word| counts.add(word, ReadAs::Null));
        let marked = |text: &str| {
            let read = Utterance::new(text);
            let words = words(&domain, &counts, &read, None);
            let is_second = |&at: &usize| words.kind(at, false) == Some(UnreadKind::Question);
            (0..read.len()).filter(is_second).collect::<Vec<_>>()
        };
        assert_eq!(marked("how many people, and where"), [4, 5]);
        assert_eq!(marked("what is it and how many people and where"), [3, 4, 7, 8]);
        assert!(marked("and what is it").is_empty(), "it begins with a conjunction");
        assert!(marked("what is it, how many people and").is_empty());
    }

    #[test]
    fn a_word_that_is_joined_to_others_must_be_read_and_a_light_word_hardly() {
        let text = r#"
            name = "places"
            types = ["State", "Answer"]
            language = "english"
            no_meaning = ["the"]
            root = { types = ["Answer"] }
            constants = { people = "State -> Answer" }
        "#;
        let domain = Domain::load(text, "places.toml", None, &NoTables).unwrap();
        let mut counts = WordCounts::default();
        // Usually `area` means something, but not always.
        for read_as in [ReadAs::Null, ReadAs::Value, ReadAs::Value] {
            counts.add("area", read_as);
        }
        let oddness = |text: &str, at: usize| {
            let read = Utterance::new(text);
            words(&domain, &counts, &read, Some("people")).oddness(at)
        };
        assert_eq!(oddness("show the people and the area", 5), 1.0);
        assert_eq!(oddness("area and people of texas", 0), 1.0);
        assert_eq!(oddness("area of people and texas", 0), 0.0);
        // No word resembles `show` or `draw` by more than a quarter.
        assert_eq!(oddness("draw the people of texas", 0), 0.75);
        assert_eq!(oddness("show the people of texas", 0), LIGHT * 0.75);
    }

    #[test]
    fn a_word_is_odd_by_how_little_it_resembles_those_that_are_read_in_the_same_way() {
        let text = r#"
            name = "places"
            types = ["State", "Answer"]
            language = "english"
            root = { types = ["Answer"] }
            lexicon = { area = "area" }
            [constants]
            people = "State -> Answer"
            area = "State -> Answer"
            [[entities]]
            class = "state"
            type = "State"
            form = "state('{name}')"
            names = ["texas"]
        "#;
        let domain = Domain::load(text, "places.toml", None, &NoTables).unwrap();
        let mut counts = WordCounts::default();
        for (word, read_as) in [
            ("list", ReadAs::Null),
            ("the", ReadAs::Null),
            ("of", ReadAs::Null),
            ("people", ReadAs::Predicate("people")),
            ("growths", ReadAs::Predicate("people")),
        ] {
            counts.add(word, read_as);
        }
        let read = Utterance::new("sketch the growth of texas");
        let null = words(&domain, &counts, &read, None);
        assert_eq!((null.oddness(0), null.oddness(1), null.oddness(2)), (0.25, 0.0, 0.75));
        assert_eq!(guessed(&null), 0.0);
        // Another form of a word that is read so is not odd; with another predicate, it is.
        assert_eq!(guessed(&words(&domain, &counts, &read, Some("people"))), 0.0);
        assert_eq!(guessed(&words(&domain, &counts, &read, Some("area"))), 0.75);
        // What the lexicon has is no guess.
        let read = Utterance::new("sketch the area of texas");
        assert_eq!(guessed(&words(&domain, &counts, &read, Some("area"))), 0.0);
    }
}
