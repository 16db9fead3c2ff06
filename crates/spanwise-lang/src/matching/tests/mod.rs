//! The matcher by examples, against its plain definition, and at scale.

mod plain;
mod scale;

use super::*;
use crate::language;
use crate::lexicon::Lexicon;
use plain::{Entry, plain_matches};
use proptest::collection::vec;
use proptest::prelude::*;
use spanwise_core::Utterance;

fn lexicon(names: &[&str], phrases: &[&str]) -> Lexicon {
    let mut lexicon = Lexicon::new(language::find("english"));
    for (id, name) in names.iter().enumerate() {
        lexicon.insert(name, ConstantId(id as u32), Source::Name);
    }
    for (id, phrase) in phrases.iter().enumerate() {
        lexicon.insert(phrase, ConstantId((100 + id) as u32), Source::Phrase);
    }
    lexicon
}

fn is_content(word: &str) -> bool {
    !["the", "of", "in"].contains(&word)
}

/// What is found in a text whose unknown words are corrected against the names and some more words.
fn shown(lexicon: &Lexicon, more: &[&str], text: &str) -> Vec<String> {
    let matcher = Matcher::new(lexicon, is_content);
    let more = more.iter().map(|word| (*word, 1));
    let speller = Speller::new(matcher.name_words().chain(more));
    let utterance = Utterance::new(text);
    let alternatives = |word| {
        let n_near = if speller.count(word).is_some() { 0 } else { 5 };
        let near = speller.near(word, n_near).into_iter().map(Alternative::from);
        std::iter::once(Alternative::typed(word)).chain(near).collect()
    };
    let words: Vec<Vec<Alternative<'_>>> =
        utterance.tokens().iter().map(|token| alternatives(token.lower.as_str())).collect();
    let matches = matcher.matches(lexicon, &words);
    let found =
        matches.found.iter().map(|m| format!("{} {} {:?} {:.1}", m.span, m.constant.0, m.kind, m.cost));
    found
        .chain(matches.crowded.iter().map(|crowd| format!("{} {} x{}", crowd.span, crowd.text, crowd.n)))
        .collect()
}

#[test]
fn accents_and_marks_are_folded_either_way() {
    let lexicon = lexicon(&["Beyoncé", "St. Louis", "O'Brien", "Zoe", "ACDC", "U.S."], &[]);
    assert_eq!(shown(&lexicon, &[], "beyonce"), ["0..1 0 Folded 0.0"]);
    assert_eq!(shown(&lexicon, &[], "Beyoncé"), ["0..1 0 Exact 0.0"]);
    assert_eq!(shown(&lexicon, &[], "st louis"), ["0..2 1 Folded 0.0"]);
    assert_eq!(shown(&lexicon, &[], "st. louis"), ["0..3 1 Exact 0.0"]);
    assert_eq!(shown(&lexicon, &[], "obrien"), ["0..1 2 Folded 0.0"]);
    assert_eq!(shown(&lexicon, &[], "o\u{2019}brien"), ["0..3 2 Folded 0.0"]);
    assert_eq!(shown(&lexicon, &[], "zoë ?"), ["0..1 3 Folded 0.0"]);
    assert_eq!(shown(&lexicon, &[], "AC/DC"), ["0..3 4 Folded 0.0"]);
    assert_eq!(shown(&lexicon, &[], "the us"), ["1..2 5 Folded 0.0"]);
}

#[test]
fn typing_errors_and_spaces_are_spelling() {
    let lexicon = lexicon(&["New York", "Metallica", "Blackbird"], &["border", "how many"]);
    assert_eq!(shown(&lexicon, &[], "newyork"), ["0..1 0 Spelling 0.5"]);
    assert_eq!(shown(&lexicon, &[], "new yrok"), ["0..2 0 Spelling 0.6"]);
    assert_eq!(shown(&lexicon, &[], "metalica"), ["0..1 1 Spelling 0.5"]);
    assert_eq!(shown(&lexicon, &[], "black bird"), ["0..2 2 Spelling 0.5"]);
    assert_eq!(shown(&lexicon, &["borders"], "brodering bordesr"), ["1..2 100 Spelling 0.6"]);
    assert_eq!(shown(&lexicon, &[], "howmany"), ["0..1 101 Spelling 0.5"]);
}

#[test]
fn a_border_at_a_mark_is_free_and_the_next_one_is_not() {
    let lexicon = lexicon(&["Obrienlee"], &[]);
    assert_eq!(shown(&lexicon, &[], "o'brien lee"), ["0..4 0 Spelling 0.5"]);
    assert_eq!(shown(&lexicon, &[], "o'brien-lee"), ["0..5 0 Folded 0.0"]);
}

#[test]
fn parts_of_names_need_a_content_word_and_few_candidates() {
    let mut names = vec!["Led Zeppelin", "John Lee Hooker", "The Lord of the Rings", "Zeppelin"];
    names.extend(["John Cale", "John Cage", "John Prine", "John Coltrane", "John Mayer", "John Lennon"]);
    names.extend(["Elton John", "Olivia Newton-John"]);
    let lexicon = lexicon(&names, &[]);
    assert_eq!(shown(&lexicon, &[], "zeppelin"), ["0..1 3 Exact 0.0", "0..1 0 Part 0.5"]);
    assert_eq!(shown(&lexicon, &[], "lee hooker"), ["0..2 1 Part 0.3"]);
    assert_eq!(shown(&lexicon, &[], "zepelin")[1], "0..1 0 Part 1.0");
    assert_eq!(shown(&lexicon, &[], "the of"), [""; 0]);
    assert_eq!(shown(&lexicon, &[], "of the rings"), ["0..3 2 Part 0.4"]);
    assert_eq!(shown(&lexicon, &[], "john"), ["0..1 john x9"]);
    assert_eq!(shown(&lexicon, &[], "john lee"), ["0..2 1 Part 0.3"]);
    assert_eq!(shown(&lexicon, &[], "newton john"), ["0..2 11 Part 0.3"]);
}

#[test]
fn a_shorter_match_of_the_same_constant_stays_only_if_it_is_better() {
    let mut lexicon = Lexicon::default();
    let hudson = ConstantId(0);
    lexicon.insert("Hudson River", hudson, Source::Name);
    lexicon.insert("Húdson", hudson, Source::Name);
    assert_eq!(shown(&lexicon, &[], "hudson rivver"), ["0..1 0 Folded 0.0", "0..2 0 Spelling 0.5"]);
    assert_eq!(shown(&lexicon, &[], "hudson river"), ["0..2 0 Exact 0.0"]);
}

#[test]
fn a_text_without_words_and_a_lexicon_without_names_match_nothing() {
    let empty = lexicon(&[], &[]);
    assert_eq!(shown(&empty, &["new"], "new york , ."), [""; 0]);
    let marks = lexicon(&["!!!", "New York"], &["?"]);
    assert_eq!(shown(&marks, &[], ""), [""; 0]);
    assert_eq!(shown(&marks, &[], "!!! ?"), ["0..3 0 Exact 0.0", "3..4 100 Exact 0.0"]);
    let matcher = Matcher::new(&marks, is_content);
    assert_eq!(matcher.matches(&marks, &[Vec::new(), Vec::new()]), Matches::default());
}

const WORDS: &[&str] = &[
    "new", "york", "néw", "o", "brien", "'", ".", "lee", "hooker", "the", "newyork", "obrien", "lée",
    "newyor", "k",
];

/// The entries of a random lexicon: names of constants below 30 and phrases of those above.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let text = vec(prop::sample::select(WORDS), 1..5);
    vec((text, 0u32..40), 0..45).prop_map(|entries| {
        let source = |id| if id < 30 { Source::Name } else { Source::Phrase };
        entries.into_iter().map(|(text, id)| (text.join(" "), ConstantId(id), source(id))).collect()
    })
}

fn alternatives() -> impl Strategy<Value = Vec<Vec<Alternative<'static>>>> {
    let kind = prop::sample::select(&[MatchKind::Folded, MatchKind::Spelling][..]);
    let other = (prop::sample::select(WORDS), kind, prop::sample::select(&[0.5f32, 0.75][..]));
    let word = (prop::sample::select(WORDS), vec(other, 0..3)).prop_map(|(typed, others)| {
        let others = others.into_iter().map(|(word, kind, cost)| Alternative { word, kind, cost });
        std::iter::once(Alternative::typed(typed)).chain(others).collect()
    });
    vec(word, 0..7)
}

fn compiled(entries: &[Entry], language: Option<&'static crate::Language>) -> Lexicon {
    let mut lexicon = Lexicon::new(language);
    for (text, constant, source) in entries {
        lexicon.insert(text, *constant, *source);
    }
    lexicon
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_matcher_agrees_with_comparing_every_span_with_every_name(entries in entries(), words in alternatives()) {
        let lexicon = compiled(&entries, None);
        let found = Matcher::new(&lexicon, is_content).matches(&lexicon, &words);
        let expected = plain_matches(&entries, &words, is_content);
        let crowds: Vec<(Span, u32)> = found.crowded.iter().map(|crowd| (crowd.span, crowd.n)).collect();
        prop_assert_eq!(crowds, expected.1);
        let key = |found: &Approximate| (found.span, found.kind, found.cost.to_bits(), found.source, found.constant);
        let mut found = found.found;
        found.sort_by_key(key);
        prop_assert_eq!(found, expected.0);
    }

    #[test]
    fn every_exact_match_is_kept_in_order(entries in entries(), text in vec(prop::sample::select(WORDS), 0..8)) {
        let lexicon = compiled(&entries, language::find("english"));
        let utterance = Utterance::new(text.join(" "));
        let words: Vec<Vec<Alternative<'_>>> =
            utterance.tokens().iter().map(|token| vec![Alternative::typed(&token.lower)]).collect();
        let found = Matcher::new(&lexicon, is_content).matches(&lexicon, &words).found;
        let exact: Vec<(Span, ConstantId, Source)> = found
            .iter()
            .filter(|found| found.kind == MatchKind::Exact)
            .map(|found| (found.span, found.constant, found.source))
            .collect();
        let expected: Vec<(Span, ConstantId, Source)> =
            lexicon.matches(&utterance).iter().map(|found| (found.span, found.constant, found.source)).collect();
        prop_assert_eq!(exact, expected);
    }
}
