//! The lexicon: phrases that name constants, and the search for them in an utterance.

mod trie;

use crate::domain::ConstantId;
use crate::language::Language;
use spanwise_core::{Span, Utterance};
use trie::Trie;

/// Where a phrase comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// An entity's name or alias.
    Name,
    /// A phrase of a predicate, written by hand.
    Phrase,
    /// A synonym of such a phrase.
    Synonym,
}

/// A lexicon match: a phrase found in an utterance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Match {
    /// The words it covers.
    pub span: Span,
    /// The constant it names.
    pub constant: ConstantId,
    /// Where the phrase comes from.
    pub source: Source,
}

/// The phrases of a domain, in one trie for names, one for phrases of predicates and one for their synonyms.
///
/// Names are compared in lower case. Phrases and synonyms are compared by stem where the domain has inflections.
///
/// ```
/// use spanwise_core::Utterance;
/// use spanwise_lang::lexicon::{Lexicon, Source};
/// use spanwise_lang::{ConstantId, language};
///
/// let (next_to, new_york) = (ConstantId(0), ConstantId(1));
/// let mut lexicon = Lexicon::new(language::find("english"));
/// lexicon.insert("border", next_to, Source::Phrase);
/// lexicon.insert("New York", new_york, Source::Name);
/// let matches = lexicon.matches(&Utterance::new("states bordering new york"));
/// let found: Vec<_> = matches.iter().map(|found| (found.span.to_string(), found.constant)).collect();
/// assert_eq!(found, [("1..2".to_owned(), next_to), ("2..4".to_owned(), new_york)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    names: Trie,
    phrases: Trie,
    synonyms: Trie,
    /// The phrases of predicates as they were written, in the order of insertion.
    written: Vec<(String, ConstantId)>,
    inflections: Option<&'static Language>,
    n_entries: usize,
    longest: usize,
}

impl Lexicon {
    /// An empty lexicon. With a language, phrases match other inflections of their words.
    #[must_use]
    pub fn new(inflections: Option<&'static Language>) -> Self {
        Self { inflections, ..Self::default() }
    }

    /// The form of a lower-case word that phrases are compared by: its stem, or the word itself.
    pub(crate) fn key(&self, word: &str) -> String {
        self.inflections.map_or_else(|| word.to_owned(), |language| (language.stem)(word))
    }

    /// Adds a phrase. Returns false when the phrase has no word in it.
    pub fn insert(&mut self, phrase: &str, constant: ConstantId, source: Source) -> bool {
        let utterance = Utterance::new(phrase);
        if utterance.is_empty() {
            return false;
        }
        let words = utterance.tokens().iter().map(|token| token.lower.as_str());
        let keys: Vec<String> = match source {
            Source::Name => words.map(str::to_owned).collect(),
            Source::Phrase | Source::Synonym => words.map(|word| self.key(word)).collect(),
        };
        let trie = match source {
            Source::Name => &mut self.names,
            Source::Phrase => &mut self.phrases,
            Source::Synonym => &mut self.synonyms,
        };
        let is_new = trie.insert(keys.iter().map(String::as_str), constant);
        if is_new {
            if source == Source::Phrase {
                self.written.push((utterance.text().to_owned(), constant));
            }
            self.n_entries += 1;
            self.longest = self.longest.max(utterance.len());
        }
        true
    }

    /// Number of (phrase, constant) pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_entries
    }

    /// Whether there is no phrase at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_entries == 0
    }

    /// The constant and source of every (phrase, constant) pair.
    pub fn entries(&self) -> impl Iterator<Item = (ConstantId, Source)> + '_ {
        let names = self.names.all_constants().map(|constant| (constant, Source::Name));
        let phrases = self.phrases.all_constants().map(|constant| (constant, Source::Phrase));
        names.chain(phrases).chain(self.synonyms.all_constants().map(|constant| (constant, Source::Synonym)))
    }

    /// The phrases of predicates as they were written, without those that differ only by inflection from an earlier one.
    pub fn phrases(&self) -> impl Iterator<Item = (&str, ConstantId)> {
        self.written.iter().map(|(phrase, constant)| (phrase.as_str(), *constant))
    }

    /// Calls `visit` with the words and the constants of every entry from this source, in the order of first insertion.
    /// The words of phrases and synonyms are stems where the domain has inflections.
    pub(crate) fn for_each(&self, source: Source, visit: impl FnMut(&[&str], &[ConstantId])) {
        match source {
            Source::Name => self.names.for_each(visit),
            Source::Phrase => self.phrases.for_each(visit),
            Source::Synonym => self.synonyms.for_each(visit),
        }
    }

    /// Gives spare memory back, once nothing more is added.
    pub(crate) fn shrink(&mut self) {
        self.names.shrink();
        self.phrases.shrink();
        self.synonyms.shrink();
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.names.bytes() + self.phrases.bytes() + self.synonyms.bytes()
    }

    /// Words in the longest phrase.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Every phrase that occurs in an utterance, sorted by start, then by length. Of the same span, names come before
    /// phrases, and those before synonyms, each in the order of insertion.
    ///
    /// Cost: three trie walks per token, at most `longest` steps each.
    #[must_use]
    pub fn matches(&self, utterance: &Utterance) -> Vec<Match> {
        let words: Vec<&str> = utterance.tokens().iter().map(|token| token.lower.as_str()).collect();
        self.matches_in(&words)
    }

    /// For each word of an utterance, whether it is part of a name.
    #[must_use]
    pub fn is_name(&self, utterance: &Utterance) -> Vec<bool> {
        let mut is_name = vec![false; utterance.len()];
        for found in self.matches(utterance).iter().filter(|found| found.source == Source::Name) {
            is_name[found.span.start as usize..found.span.end as usize].fill(true);
        }
        is_name
    }

    /// Whether a lower-case word is part of a name or, in any inflection, of a phrase or synonym.
    #[must_use]
    pub fn has_word(&self, word: &str) -> bool {
        let names = self.names.numbers(&[word]);
        let key = [self.key(word)];
        let phrases = self.phrases.numbers(&key).into_iter().chain(self.synonyms.numbers(&key));
        names.into_iter().chain(phrases).any(|number| number.is_some())
    }

    /// [`Lexicon::matches`] for words in lower case.
    pub(crate) fn matches_in(&self, words: &[&str]) -> Vec<Match> {
        let stems: Vec<String> = words.iter().map(|word| self.key(word)).collect();
        let names = self.names.numbers(words);
        let (phrases, synonyms) = (self.phrases.numbers(&stems), self.synonyms.numbers(&stems));
        let mut found: Vec<Match> = Vec::new();
        for start in 0..words.len() {
            let first = found.len();
            let a_match = |n: usize, constant, source| Match {
                span: Span::new(start as u32, (start + n) as u32),
                constant,
                source,
            };
            self.names
                .prefixes(&names[start..], |n, constant| found.push(a_match(n, constant, Source::Name)));
            self.phrases
                .prefixes(&phrases[start..], |n, constant| found.push(a_match(n, constant, Source::Phrase)));
            self.synonyms.prefixes(&synonyms[start..], |n, constant| {
                found.push(a_match(n, constant, Source::Synonym))
            });
            found[first..].sort_by_key(|found| found.span.end);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_every_phrase_at_every_place() {
        let mut lexicon = Lexicon::default();
        let (york, new_york, border) = (ConstantId(0), ConstantId(1), ConstantId(2));
        assert!(lexicon.insert("York", york, Source::Name));
        assert!(lexicon.insert("new york", new_york, Source::Name));
        assert!(lexicon.insert("new york", new_york, Source::Name));
        assert!(lexicon.insert("borders", border, Source::Phrase));
        assert!(!lexicon.insert("  ", border, Source::Phrase));
        let found = lexicon.matches(&Utterance::new("New York borders york"));
        let shown: Vec<_> = found.iter().map(|m| (m.span.to_string(), m.constant.0)).collect();
        let expected = [("0..2", 1), ("1..2", 0), ("2..3", 2), ("3..4", 0)];
        assert_eq!(shown, expected.map(|(span, id)| (span.to_owned(), id)));
        assert_eq!((lexicon.len(), lexicon.longest()), (3, 2));
    }

    #[test]
    fn phrases_match_inflected_words_and_names_do_not() {
        let mut lexicon = Lexicon::new(crate::language::find("english"));
        lexicon.insert("run through", ConstantId(0), Source::Phrase);
        lexicon.insert("rivers", ConstantId(1), Source::Phrase);
        lexicon.insert("little run", ConstantId(2), Source::Name);
        lexicon.insert("streams", ConstantId(1), Source::Synonym);
        assert_eq!(lexicon.matches(&Utterance::new("a stream")).len(), 1);
        let found = lexicon.matches(&Utterance::new("Little runs running through the river Little Run"));
        let shown: Vec<_> = found.iter().map(|m| (m.span.to_string(), m.constant.0)).collect();
        let expected = [("2..4", 0), ("5..6", 1), ("6..8", 2)];
        assert_eq!(shown, expected.map(|(span, id)| (span.to_owned(), id)));
        let has = |word| lexicon.has_word(word);
        assert!(has("little") && has("river") && has("running") && !has("littles") && !has("lake"));
        let mut exact = Lexicon::new(None);
        exact.insert("rivers", ConstantId(1), Source::Phrase);
        assert_eq!(exact.matches(&Utterance::new("river rivers")).len(), 1);
    }

    const SOURCES: [Source; 3] = [Source::Name, Source::Phrase, Source::Synonym];

    /// Every span compared with every phrase, in the order that is promised.
    fn scan(phrases: &[(Vec<&str>, ConstantId, Source)], words: &[&str]) -> Vec<Match> {
        let mut found = Vec::new();
        for start in 0..words.len() {
            for end in start + 1..=words.len() {
                for wanted in SOURCES {
                    let is_it = |(phrase, _, source): &&(Vec<&str>, _, _)| {
                        *source == wanted && phrase[..] == words[start..end]
                    };
                    let span = Span::new(start as u32, end as u32);
                    let same = phrases.iter().filter(is_it);
                    found.extend(same.map(|&(_, constant, source)| Match { span, constant, source }));
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn matching_agrees_with_comparing_every_span_with_every_phrase(
            phrases in proptest::collection::vec(("[abc]( [abc]){0,3}", 0u32..4, 0..SOURCES.len()), 0..25),
            text in "[abcd]( [abcd]){0,9}",
        ) {
            let mut lexicon = Lexicon::default();
            let mut kept: Vec<(Vec<&str>, ConstantId, Source)> = Vec::new();
            for (phrase, id, source) in &phrases {
                let source = SOURCES[*source];
                prop_assert!(lexicon.insert(phrase, ConstantId(*id), source));
                let entry = (phrase.split(' ').collect(), ConstantId(*id), source);
                if !kept.contains(&entry) {
                    kept.push(entry);
                }
            }
            lexicon.shrink();
            let words: Vec<&str> = text.split(' ').collect();
            prop_assert_eq!(lexicon.matches(&Utterance::new(text.as_str())), scan(&kept, &words));
            prop_assert_eq!(lexicon.len(), kept.len());
            let mut visited: Vec<(Vec<String>, ConstantId, Source)> = Vec::new();
            let mut listed = Vec::new();
            for source in SOURCES {
                lexicon.for_each(source, |words, constants| {
                    listed.extend(constants.iter().map(|&constant| (constant, source)));
                    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
                    visited.extend(constants.iter().map(|&constant| (words.clone(), constant, source)));
                });
            }
            prop_assert_eq!(listed, lexicon.entries().collect::<Vec<_>>());
            let owned = |(words, constant, source): &(Vec<&str>, ConstantId, Source)| {
                (words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), *constant, *source)
            };
            let mut kept: Vec<_> = kept.iter().map(owned).collect();
            kept.sort();
            visited.sort();
            prop_assert_eq!(visited, kept);
        }
    }
}
