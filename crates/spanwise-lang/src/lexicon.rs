//! Phrases that name constants, and where they occur in an utterance.

use crate::domain::ConstantId;
use hashbrown::HashMap;
use spanwise_core::{Span, Utterance};

/// Where a phrase comes from; each source can be switched off on its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// An entity's name or alias.
    Name,
    /// A phrase written by hand.
    Phrase,
}

/// A phrase found in an utterance.
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

/// A trie of phrases over lower-case tokens.
#[derive(Clone, Debug)]
pub struct Lexicon {
    nodes: Vec<Node>,
    n_entries: usize,
    longest: usize,
}

impl Default for Lexicon {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], n_entries: 0, longest: 0 }
    }
}

impl Lexicon {
    /// Adds a phrase; returns false when it has no word in it.
    pub fn insert(&mut self, phrase: &str, constant: ConstantId, source: Source) -> bool {
        let utterance = Utterance::new(phrase);
        if utterance.is_empty() {
            return false;
        }
        let mut at = 0usize;
        for token in utterance.tokens() {
            let fresh = self.nodes.len() as u32;
            let next = *self.nodes[at].children.entry_ref(token.lower.as_str()).or_insert(fresh);
            if next == fresh {
                self.nodes.push(Node::default());
            }
            at = next as usize;
        }
        let entry = (constant, source);
        if !self.nodes[at].entries.contains(&entry) {
            self.nodes[at].entries.push(entry);
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

    /// Every (phrase, constant) pair without its words.
    pub fn entries(&self) -> impl Iterator<Item = (ConstantId, Source)> + '_ {
        self.nodes.iter().flat_map(|node| node.entries.iter().copied())
    }

    /// Words in the longest phrase.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Every phrase that occurs, by start, then length, then in the order of insertion.
    ///
    /// Cost: one trie walk per token, at most `longest` steps each.
    #[must_use]
    pub fn matches(&self, utterance: &Utterance) -> Vec<Match> {
        let tokens = utterance.tokens();
        let mut found = Vec::new();
        for start in 0..tokens.len() {
            let mut at = 0usize;
            for (offset, token) in tokens[start..].iter().enumerate() {
                let Some(&next) = self.nodes[at].children.get(token.lower.as_str()) else { break };
                at = next as usize;
                let span = Span::new(start as u32, (start + offset + 1) as u32);
                let entries = self.nodes[at].entries.iter();
                found.extend(entries.map(|&(constant, source)| Match { span, constant, source }));
            }
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
