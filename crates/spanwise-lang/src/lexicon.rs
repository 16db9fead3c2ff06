//! The lexicon: phrases that name constants, and the search for them in an utterance.

use crate::domain::ConstantId;
use crate::language::Language;
use hashbrown::{HashMap, HashSet};
use spanwise_core::{Span, Utterance};

/// Where a phrase comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// An entity's name or alias.
    Name,
    /// A phrase of a predicate, written by hand.
    Phrase,
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

#[derive(Clone, Debug, Default)]
struct Node {
    children: HashMap<String, u32>,
    entries: Vec<(ConstantId, Source)>,
}

/// A trie over words.
#[derive(Clone, Debug)]
struct Trie {
    nodes: Vec<Node>,
    /// Every entry with its node: thousands of constants may share a name.
    known: HashSet<(u32, ConstantId, Source)>,
}

impl Default for Trie {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], known: HashSet::new() }
    }
}

impl Trie {
    /// Adds an entry at the end of these words. Returns false when it is there already.
    fn insert(&mut self, words: impl Iterator<Item = String>, entry: (ConstantId, Source)) -> bool {
        let mut at = 0usize;
        for word in words {
            let fresh = self.nodes.len() as u32;
            let next = *self.nodes[at].children.entry(word).or_insert(fresh);
            if next == fresh {
                self.nodes.push(Node::default());
            }
            at = next as usize;
        }
        let is_new = self.known.insert((at as u32, entry.0, entry.1));
        if is_new {
            self.nodes[at].entries.push(entry);
        }
        is_new
    }

    /// Adds every phrase that begins at `start`.
    fn matches_at<W: AsRef<str>>(&self, words: &[W], start: usize, found: &mut Vec<Match>) {
        let mut at = 0usize;
        for (offset, word) in words[start..].iter().enumerate() {
            let Some(&next) = self.nodes[at].children.get(word.as_ref()) else { break };
            at = next as usize;
            let span = Span::new(start as u32, (start + offset + 1) as u32);
            let entries = self.nodes[at].entries.iter();
            found.extend(entries.map(|&(constant, source)| Match { span, constant, source }));
        }
    }

    /// Calls `visit` with the words and the entries of every phrase, in the order of first insertion.
    fn for_each(&self, mut visit: impl FnMut(&[&str], &[(ConstantId, Source)])) {
        let mut above = vec![(0usize, ""); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            #[allow(clippy::iter_over_hash_type, reason = "every child is written to its own place")]
            for (word, &child) in &node.children {
                above[child as usize] = (at, word);
            }
        }
        let mut words = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.entries.is_empty()) {
            words.clear();
            let mut at = at;
            while at != 0 {
                words.push(above[at].1);
                at = above[at].0;
            }
            words.reverse();
            visit(&words, &node.entries);
        }
    }
}

/// The phrases of a domain, in one trie for names and one for phrases of predicates.
///
/// Names are compared in lower case. Phrases are compared by stem where the domain has inflections.
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
        let is_new = match source {
            Source::Name => self.names.insert(words.map(str::to_owned), (constant, source)),
            Source::Phrase => {
                let keys: Vec<String> = words.map(|word| self.key(word)).collect();
                self.phrases.insert(keys.into_iter(), (constant, source))
            }
        };
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
        [&self.names, &self.phrases]
            .into_iter()
            .flat_map(|trie| trie.nodes.iter().flat_map(|node| node.entries.iter().copied()))
    }

    /// The phrases of predicates as they were written, without those that differ only by inflection from an earlier one.
    pub fn phrases(&self) -> impl Iterator<Item = (&str, ConstantId)> {
        self.written.iter().map(|(phrase, constant)| (phrase.as_str(), *constant))
    }

    /// Calls `visit` with the words and the entries of every name or every phrase, in the order of first insertion.
    /// The words of phrases are stems where the domain has inflections.
    pub(crate) fn for_each(&self, source: Source, visit: impl FnMut(&[&str], &[(ConstantId, Source)])) {
        match source {
            Source::Name => self.names.for_each(visit),
            Source::Phrase => self.phrases.for_each(visit),
        }
    }

    /// Words in the longest phrase.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Every phrase that occurs in an utterance, sorted by start, then by length. Of the same span, names come before
    /// phrases, each in the order of insertion.
    ///
    /// Cost: two trie walks per token, at most `longest` steps each.
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

    /// [`Lexicon::matches`] for words in lower case.
    pub(crate) fn matches_in(&self, words: &[&str]) -> Vec<Match> {
        let stems: Vec<String> = words.iter().map(|word| self.key(word)).collect();
        let mut found = Vec::new();
        for start in 0..words.len() {
            let first = found.len();
            self.names.matches_at(words, start, &mut found);
            self.phrases.matches_at(&stems, start, &mut found);
            found[first..].sort_by_key(|found| found.span.end);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = lexicon.matches(&Utterance::new("Little runs running through the river Little Run"));
        let shown: Vec<_> = found.iter().map(|m| (m.span.to_string(), m.constant.0)).collect();
        let expected = [("2..4", 0), ("5..6", 1), ("6..8", 2)];
        assert_eq!(shown, expected.map(|(span, id)| (span.to_owned(), id)));
        let mut exact = Lexicon::new(None);
        exact.insert("rivers", ConstantId(1), Source::Phrase);
        assert_eq!(exact.matches(&Utterance::new("river rivers")).len(), 1);
    }

    #[test]
    fn matching_agrees_with_comparing_every_span_with_every_phrase() {
        let phrases = ["a", "a b", "b", "b a b", "c c", "a b c"];
        let mut lexicon = Lexicon::default();
        for (id, phrase) in phrases.iter().enumerate() {
            lexicon.insert(phrase, ConstantId(id as u32), Source::Phrase);
        }
        let utterance = Utterance::new("a b a b c c a b c");
        let mut naive = Vec::new();
        for start in 0..utterance.len() as u32 {
            for end in start + 1..=utterance.len() as u32 {
                let span = Span::new(start, end);
                let ids = phrases.iter().enumerate().filter(|(_, phrase)| **phrase == utterance.slice(span));
                naive.extend(ids.map(|(id, _)| (span, ConstantId(id as u32))));
            }
        }
        let found: Vec<_> = lexicon.matches(&utterance).iter().map(|m| (m.span, m.constant)).collect();
        assert_eq!(found, naive);
    }
}
