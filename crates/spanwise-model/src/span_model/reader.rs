//! Reads the words of an utterance: corrects typing errors, and finds names and phrases, exactly or nearly.

use crate::outcome::{Correction, Crowded, Parse};
use spanwise_chart::lattice::Leaf;
use spanwise_chart::tree::Category;
use spanwise_core::{Span, Token, Utterance};
use spanwise_lang::lexicon::{Match, Source};
use spanwise_lang::matching::{Alternative, Approximate, MatchKind, Matcher, Near, Speller};
use spanwise_lang::{ConstantId, Domain};
use spanwise_nn::Tokenizer;
use spanwise_reading::CorrectionKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most words of the vocabulary of training.
const MAX_VOCABULARY: usize = 20_000;
/// Near words that are looked at for one that is not known, and those that are considered.
const MAX_FOUND: usize = 32;
const MAX_NEAR: usize = 4;
/// A near word is taken for the one that was meant only up to this cost; see `typo_cost`.
const MAX_COST: f32 = 2.0;
/// How much less a near word costs when it is e times as frequent.
const PER_FREQUENCY: f32 = 0.25;
/// Other near words than the one that was taken are matched, too, if they cost at most this much more.
const MAX_MORE: f32 = 0.5;
/// How much more a near word costs that only the language knows.
const ONLY_COMMON: f32 = 0.7;
/// Letters of a misspelt word that may become one which only the language knows.
const MIN_LETTERS: usize = 5;
/// A training word that occurs once may be a typing error for one that occurs at least this often.
const MIN_FREQUENT: u32 = 5;
/// How often a word of a name counts.
const NAME_COUNT: u32 = 3;

/// The words of the training utterances, without those of names, each with its number of occurrences.
pub(super) type Vocabulary = BTreeMap<String, u32>;

/// Counts the words of training utterances outside of names, the most frequent ones. Typing errors are left out, so that
/// they are corrected there, too.
pub(super) fn vocabulary<'a>(
    domain: &Domain,
    tokenizer: &Tokenizer,
    utterances: impl Iterator<Item = &'a Utterance>,
) -> Vocabulary {
    let mut counts = Vocabulary::new();
    // Also a name without its accents is one.
    let matcher = Matcher::new(domain.lexicon(), |_| false);
    for utterance in utterances {
        let mut is_name = vec![false; utterance.len()];
        let typed = |token: &'a Token| vec![Alternative::typed(&token.lower)];
        let tokens: Vec<Vec<Alternative<'_>>> = utterance.tokens().iter().map(typed).collect();
        for found in matcher.matches(domain.lexicon(), &tokens).found {
            if found.source == Source::Name && found.kind <= MatchKind::Folded {
                is_name[found.span.start as usize..found.span.end as usize].fill(true);
            }
        }
        let words = utterance.tokens().iter().zip(is_name).filter(|(_, is_name)| !is_name);
        for (token, _) in words.filter(|(token, _)| token.lower.chars().all(char::is_alphabetic)) {
            *counts.entry(token.lower.clone()).or_default() += 1;
        }
    }
    let errors = errors(domain, tokenizer, &counts);
    let mut words: Vec<(String, u32)> =
        counts.into_iter().filter(|(word, _)| !errors.contains(word)).collect();
    words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    words.into_iter().take(MAX_VOCABULARY).collect()
}

/// The words that are typing errors, by all that is known: they occur once, are no words of the language or of a phrase, and
/// are one edit from a frequent word. None where the language is not known.
fn errors(domain: &Domain, tokenizer: &Tokenizer, counts: &Vocabulary) -> BTreeSet<String> {
    let (common, language) = (tokenizer.common_words(), domain.language());
    if common.is_empty() && language.is_none() {
        return BTreeSet::new();
    }
    let frequent = counts.iter().filter(|(_, n)| **n >= MIN_FREQUENT);
    let speller = Speller::new(frequent.map(|(word, n)| (word.as_str(), *n)));
    let is_error = |word: &str| {
        !is_word(domain, tokenizer, word)
            && !domain.is_no_meaning(word)
            && domain.lexicon().matches(&Utterance::new(word)).is_empty()
            && speller.near(word, 1).iter().any(|near| near.edits == 1)
    };
    let rare = counts.iter().filter(|(word, n)| **n == 1 && word.chars().count() >= MIN_LETTERS);
    rare.map(|(word, _)| word).filter(|word| is_error(word)).cloned().collect()
}

/// Whether a word is one of the language.
fn is_word(domain: &Domain, tokenizer: &Tokenizer, word: &str) -> bool {
    tokenizer.is_word(word) || domain.language().is_some_and(|language| language.has_word(word))
}

/// What is needed to read words that are not written as the lexicon and the training utterances have them.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) domain: Arc<Domain>,
    matcher: Matcher,
    speller: Speller,
    pub(super) vocabulary: Vocabulary,
}

/// An utterance as it was read.
#[derive(Clone, Debug)]
pub struct Read {
    /// With typing errors corrected. It has the same number of words.
    pub utterance: Utterance,
    /// The words that were corrected.
    pub corrections: Vec<Correction>,
    /// Names and phrases, exact and inexact.
    pub(super) found: Vec<Approximate>,
    /// Parts of names that too many names have.
    pub crowded: Vec<Crowded>,
}

impl Read {
    /// Exact matches only, and no corrections.
    pub(super) fn exactly(domain: &Domain, utterance: &Utterance) -> Self {
        let exact = |found: &Match| Approximate {
            span: found.span,
            constant: found.constant,
            source: found.source,
            kind: MatchKind::Exact,
            cost: 0.0,
        };
        let found = domain.lexicon().matches(utterance).iter().map(exact).collect();
        Self { utterance: utterance.clone(), corrections: Vec::new(), found, crowded: Vec::new() }
    }

    /// The exact matches.
    pub(super) fn exact(&self) -> Vec<Match> {
        let exact = self.found.iter().filter(|found| found.kind == MatchKind::Exact);
        let plain =
            |found: &Approximate| Match { span: found.span, constant: found.constant, source: found.source };
        exact.map(plain).collect()
    }

    /// Whether a leaf is a name or phrase that was found, exactly or nearly.
    pub(super) fn is_found(&self, leaf: &Leaf) -> bool {
        self.of(leaf.span(), leaf.constant).is_some()
    }

    /// The match of a constant on a span, if there is one.
    pub(super) fn of(&self, span: Span, constant: ConstantId) -> Option<&Approximate> {
        self.found.iter().find(|found| found.span == span && found.constant == constant)
    }

    /// Adds to a parse how its words were read: corrections, names that were matched inexactly, and names that are not
    /// clear.
    pub(super) fn note(&self, domain: &Domain, parse: &mut Parse) {
        parse.corrections.clone_from(&self.corrections);
        let mut covered = vec![false; parse.utterance.len()];
        for node in parse.tree.iter().flat_map(|tree| &tree.nodes) {
            let Category::Constant(constant) = node.category else { continue };
            covered[node.span.start as usize..node.span.end as usize].fill(true);
            let Some(found) = self.of(node.span, constant) else { continue };
            let kind = match found.kind {
                MatchKind::Folded => CorrectionKind::Folded,
                MatchKind::Spelling => CorrectionKind::Spelling,
                MatchKind::Part => CorrectionKind::Part,
                MatchKind::Exact | MatchKind::Meaning => continue,
            };
            // A misspelt word of a name was noted as a word.
            let is_known = self.corrections.iter().any(|it| node.span.contains(it.span));
            if !is_known && found.source == Source::Name {
                let to = domain.constants()[constant].name.clone();
                parse.corrections.push(Correction { span: node.span, to, kind, cost: found.cost });
            }
        }
        parse.corrections.sort_by_key(|it| (it.span.start, it.span.end));
        let is_free = |crowd: &&Crowded| (crowd.span.start..crowd.span.end).all(|at| !covered[at as usize]);
        parse.crowded = self.crowded.iter().filter(is_free).cloned().collect();
    }
}

impl Reader {
    /// Indexes the names and phrases of a domain, a vocabulary, and the common words that a pretrained encoder knows.
    pub(super) fn new(domain: Arc<Domain>, vocabulary: Vocabulary, tokenizer: &Tokenizer) -> Self {
        let is_content = |word: &str| !domain.is_no_meaning(word) && !vocabulary.contains_key(word);
        let matcher = Matcher::new(domain.lexicon(), is_content);
        let names = matcher.name_words().map(|(word, n)| (word, n.min(NAME_COUNT)));
        let words = vocabulary.iter().map(|(word, &n)| (word.as_str(), n));
        // The domain does not know them, so they count nothing.
        let common = tokenizer.common_words();
        let common = common.iter().map(|word| (word.as_str(), 0));
        let speller = Speller::new(names.chain(words).chain(common));
        Self { matcher, speller, vocabulary, domain }
    }

    /// Reads an utterance. Cost: tens of microseconds, and as much again for every word that is not known.
    pub(super) fn read(&self, tokenizer: &Tokenizer, utterance: &Utterance) -> Read {
        let near: Vec<Vec<Near<'_>>> = utterance
            .tokens()
            .iter()
            .map(|token| {
                let is_known = self.is_known(&token.lower) || self.is_word(tokenizer, &token.lower);
                if is_known { Vec::new() } else { self.near(&token.lower) }
            })
            .collect();
        let corrections: Vec<Correction> = near
            .iter()
            .enumerate()
            .filter_map(|(at, near)| {
                near.first().filter(|best| self.is_error(best)).map(|best| correction(at, best))
            })
            .collect();
        let words: Vec<Vec<Alternative<'_>>> = utterance
            .tokens()
            .iter()
            .zip(&near)
            .map(|(token, near)| alternatives(&token.lower, near))
            .collect();
        let mut matches = self.matcher.matches(self.domain.lexicon(), &words);
        // Words that are a name or a phrase of their own are not meant as a part of another.
        let exact: Vec<Span> = matches
            .found
            .iter()
            .filter(|found| found.kind == MatchKind::Exact)
            .map(|found| found.span)
            .collect();
        let is_own = |span: Span| exact.iter().any(|whole| whole.contains(span));
        matches.found.retain(|found| found.kind != MatchKind::Part || !is_own(found.span));
        matches.crowded.retain(|crowd| !is_own(crowd.span));
        let crowd =
            |crowd: &spanwise_lang::matching::Crowd| Crowded { span: crowd.span, n_names: crowd.n as usize };
        let read = match corrections.as_slice() {
            [] => utterance.clone(),
            some => utterance.with_words(some.iter().map(|it| (it.span.start as usize, it.to.as_str()))),
        };
        // A word that cannot stand for one token was not replaced.
        let corrections = if read.len() == utterance.len() { corrections } else { Vec::new() };
        let read = if read.len() == utterance.len() { read } else { utterance.clone() };
        Read {
            utterance: read,
            corrections,
            found: matches.found,
            crowded: matches.crowded.iter().map(crowd).collect(),
        }
    }

    /// Whether a word is one of the language. Then it is probably what was meant, even if the domain does not know it.
    pub(super) fn is_word(&self, tokenizer: &Tokenizer, word: &str) -> bool {
        is_word(&self.domain, tokenizer, word)
    }

    /// Whether a near word is taken for the one that was meant. One that differs by accents alone is found as it was written,
    /// if it is of a name.
    fn is_error(&self, best: &Near<'_>) -> bool {
        best.cost <= MAX_COST && (best.edits > 0 || self.vocabulary.contains_key(best.word))
    }

    /// Whether a word is one of the training utterances, names or phrases.
    pub(super) fn is_known(&self, word: &str) -> bool {
        self.domain.is_no_meaning(word) || self.speller.count(word).is_some_and(|n| n > 0)
    }

    /// The other words that may have been meant by one, the most likely first.
    pub(super) fn near(&self, word: &str) -> Vec<Near<'_>> {
        let n_letters = word.chars().count();
        if n_letters < 3 || !word.chars().all(char::is_alphabetic) {
            return Vec::new();
        }
        let mut near = self.speller.near(word, MAX_FOUND);
        let is_likely = |it: &Near<'_>| it.count > 0 || (it.edits <= 1 && n_letters >= MIN_LETTERS);
        near.retain(|it| it.word != word && is_likely(it));
        let likelihood = |near: &Near<'_>| match near.count {
            0 => near.cost + ONLY_COMMON,
            n => near.cost - PER_FREQUENCY * (n as f32).ln_1p(),
        };
        near.sort_by(|a, b| likelihood(a).total_cmp(&likelihood(b)));
        near.truncate(MAX_NEAR);
        near
    }
}

/// The words that names and phrases are matched with, where one was typed. What an error was corrected to counts as typed.
fn alternatives<'a>(typed: &'a str, near: &[Near<'a>]) -> Vec<Alternative<'a>> {
    // A word with other accents is no error: it may be exactly what a name has.
    let best = near.first().filter(|best| best.cost <= MAX_COST && best.edits > 0);
    let first = Alternative::typed(best.map_or(typed, |best| best.word));
    let most = best.map_or(f32::INFINITY, |best| best.cost + MAX_MORE);
    let others = &near[usize::from(best.is_some())..];
    let others = others.iter().filter(|it| it.count > 0 && it.cost <= most);
    std::iter::once(first).chain(others.copied().map(Alternative::from)).collect()
}

pub(super) fn correction(at: usize, near: &Near<'_>) -> Correction {
    let (span, kind) = (Span::new(at as u32, at as u32 + 1), CorrectionKind::Spelling);
    Correction { span, to: near.word.to_owned(), kind, cost: near.cost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_lang::domain::NoTables;
    use spanwise_nn::tokenizer::WordTable;

    const DOMAIN: &str = r#"
        name = "places"
        types = ["State", "City", "Answer"]
        language = "english"
        no_meaning = ["the", "is"]
        root = { types = ["Answer"] }
        lexicon = { capital = "capital", people = "population" }
        [constants]
        capital = "State -> Answer"
        people = "City -> Answer"
        [[entities]]
        class = "state"
        type = "State"
        form = "state('{name}')"
        names = ["texas", "maine", "são paulo", "missouri"]
        [[entities]]
        class = "city"
        type = "City"
        form = "city('{name}')"
        names = ["springfield missouri", "st. louis"]
    "#;

    fn reader() -> (Reader, Tokenizer) {
        let domain = Arc::new(Domain::load(DOMAIN, "places.toml", None, &NoTables).unwrap());
        let texts = ["what is the capital of texas", "what is the population of maine"].map(Utterance::new);
        let tokenizer = Tokenizer::Words(WordTable::from_utterances(texts.iter(), 1));
        let reader =
            Reader::new(Arc::clone(&domain), vocabulary(&domain, &tokenizer, texts.iter()), &tokenizer);
        (reader, tokenizer)
    }

    fn read(text: &str) -> Read {
        let (reader, tokenizer) = reader();
        reader.read(&tokenizer, &Utterance::new(text))
    }

    fn words(corrections: &[Correction]) -> Vec<(u32, &str)> {
        corrections.iter().map(|it| (it.span.start, it.to.as_str())).collect()
    }

    #[test]
    fn words_that_nobody_knows_are_corrected_and_known_ones_and_numbers_are_not() {
        let found = read("whta is the captial of texsa in 1978");
        assert_eq!(words(&found.corrections), [(0, "what"), (3, "capital"), (5, "texas")]);
        assert_eq!(found.utterance.text(), "what is the capital of texas in 1978");
        // What is clear is then read as if it had been written so.
        assert!(found.found.iter().any(|it| it.kind == MatchKind::Exact && it.span == Span::new(5, 6)));
        let clean = read("what is the capital of texas");
        assert!(clean.corrections.is_empty());
        assert!(clean.found.iter().all(|it| it.kind == MatchKind::Exact));
    }

    #[test]
    fn names_without_their_accents_are_no_words_of_the_vocabulary() {
        let domain = Domain::load(DOMAIN, "places.toml", None, &NoTables).unwrap();
        let texts = ["the people of sao paulo", "the people of São Paulo"].map(Utterance::new);
        let words =
            vocabulary(&domain, &Tokenizer::Words(WordTable::from_utterances(texts.iter(), 1)), texts.iter());
        assert_eq!(words.keys().collect::<Vec<_>>(), ["of", "people", "the"]);
        // Nor are accents an error.
        assert_eq!(read("the people of são").corrections, []);
    }

    #[test]
    fn a_typing_error_in_one_training_utterance_is_no_word_of_the_vocabulary() {
        let domain = Domain::load(DOMAIN, "places.toml", None, &NoTables).unwrap();
        let mut texts =
            vec![Utterance::new("the populaton of texas"), Utterance::new("the widgetry of texas")];
        texts.resize(2 + MIN_FREQUENT as usize, Utterance::new("the population of texas"));
        let tokenizer = Tokenizer::Words(WordTable::from_utterances(texts.iter(), 1));
        let words = vocabulary(&domain, &tokenizer, texts.iter());
        assert_eq!(words.keys().collect::<Vec<_>>(), ["of", "population", "the", "widgetry"]);
    }

    #[test]
    fn words_of_the_language_stay() {
        let found = read("what is the population of main");
        assert_eq!(words(&found.corrections), []);
        assert_eq!(found.utterance.text(), "what is the population of main");
    }

    #[test]
    fn other_words_are_offered_for_correct_and_misspelt_words_but_not_for_their_forms() {
        let (reader, tokenizer) = reader();
        let doubts = |word: &str| {
            let doubts = reader.doubts(&tokenizer, 0, word);
            doubts.into_iter().map(|it| (it.correction.to, it.is_word, it.is_known)).collect::<Vec<_>>()
        };
        assert_eq!(doubts("main"), [("maine".to_owned(), true, false)]);
        // The nearest word of an error is what it was read as.
        assert_eq!(doubts("mayne"), []);
        assert_eq!(doubts("capitals"), []);
        assert_eq!((doubts("the"), doubts("of"), doubts("1978")), (vec![], vec![], vec![]));
    }

    #[test]
    fn names_are_found_folded_and_in_part_but_not_in_what_is_a_name_of_its_own() {
        let kinds = |text: &str| read(text).found.iter().map(|it| it.kind).collect::<Vec<_>>();
        assert_eq!(kinds("sao paulo"), [MatchKind::Folded]);
        assert_eq!(kinds("st louis"), [MatchKind::Folded]);
        assert_eq!(kinds("springfield"), [MatchKind::Part]);
        assert_eq!(kinds("missouri"), [MatchKind::Exact]);
    }

    /// What exact matching finds is there whatever else is.
    #[test]
    fn every_exact_match_is_found() {
        for text in ["texas maine", "capital of springfield missouri", "the populaton of são paulo texas"] {
            let domain = Domain::load(DOMAIN, "places.toml", None, &NoTables).unwrap();
            let found = read(text).exact();
            let exact = domain.lexicon().matches(&Utterance::new(text));
            assert!(exact.iter().all(|it| found.contains(it)), "{text}");
        }
    }
}
