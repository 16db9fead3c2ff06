//! Other words that may have been meant, for utterances that are not understood as they were read.

use super::SpanModel;
use super::reader::{Reader, correction};
use crate::outcome::{Correction, Parse};
use spanwise_chart::tree::Category;
use spanwise_core::Utterance;
use spanwise_lang::matching::Near;
use spanwise_nn::Tokenizer;

/// A near word is considered instead of another only if it costs at most this: one typing error, even in the first letter.
const MAX_COST: f32 = 2.0;
/// Other near words of a misspelt one are considered up to this additional cost.
const MAX_MORE: f32 = 0.7;

/// Another near word is about as likely as the one that was taken if it costs at most this much more.
const TIE: f32 = 0.3;

/// Most words that may have been meant instead of one.
const MAX_OTHERS: usize = 2;

/// A word that may have been meant.
#[derive(Clone, PartialEq, Debug)]
pub struct Doubt {
    /// What it would change, from the words as they were written.
    pub correction: Correction,
    /// Whether the written word is one of the language. Then whoever wrote it may have meant it.
    pub is_word: bool,
    /// Whether the domain knows the written word.
    pub is_known: bool,
    /// Whether it is about as likely as the word that a misspelt one was corrected to.
    pub is_tie: bool,
}

impl SpanModel {
    /// The words that may have been meant instead of those of an utterance. Words that a parse reads as the lexicon has
    /// them are not doubted.
    ///
    /// Cost: one search of the vocabulary for each word.
    #[must_use]
    pub(crate) fn doubts(&self, utterance: &Utterance, parse: Option<&Parse>) -> Vec<Doubt> {
        let Some(reader) = &self.reader else { return Vec::new() };
        let is_read = match parse {
            Some(parse) => matched(self, parse),
            None => vec![false; utterance.len()],
        };
        let words = utterance.tokens().iter().zip(is_read).enumerate();
        words
            .filter(|(_, (_, is_read))| !is_read)
            .flat_map(|(at, (token, _))| reader.doubts(&self.tokenizer, at, &token.lower))
            .collect()
    }
}

/// For each word, whether a parse aligns it to a constant that the lexicon has there.
fn matched(model: &SpanModel, parse: &Parse) -> Vec<bool> {
    let read = parse.read();
    let found = model.domain.lexicon().matches(&read);
    let mut is_matched = vec![false; read.len()];
    for node in parse.tree.iter().flat_map(|tree| &tree.nodes) {
        let Category::Constant(constant) = node.category else { continue };
        if found.iter().any(|it| it.span == node.span && it.constant == constant) {
            is_matched[node.span.start as usize..node.span.end as usize].fill(true);
        }
    }
    for it in &parse.corrections {
        // A misspelt word that the program uses may still have been another.
        is_matched[it.span.start as usize..it.span.end as usize].fill(false);
    }
    is_matched
}

impl Reader {
    /// The words that may have been meant instead of another one, after the one it is read as.
    pub(super) fn doubts(&self, tokenizer: &Tokenizer, at: usize, word: &str) -> Vec<Doubt> {
        if self.domain.is_no_meaning(word) {
            return Vec::new();
        }
        let near = self.near(word);
        let is_known = self.is_known(word);
        let is_word = is_known || self.is_word(tokenizer, word);
        let (others, most, tie) = match near.split_first() {
            None => return Vec::new(),
            Some(_) if is_word => (near.as_slice(), MAX_COST, f32::NEG_INFINITY),
            Some((first, others)) => (others, first.cost + MAX_MORE, first.cost + TIE),
        };
        let is_likely =
            |near: &&Near<'_>| near.count > 0 && near.cost <= most && (!is_word || near.edits == 1);
        // Names have no inflections: `main` is no form of `maine`.
        let is_form =
            |near: &str| self.vocabulary.contains_key(near) && self.domain.is_inflection(word, near);
        others
            .iter()
            .filter(is_likely)
            .filter(|near| !is_form(near.word))
            .take(MAX_OTHERS)
            .map(|near| Doubt {
                correction: correction(at, near),
                is_word,
                is_known,
                is_tie: near.cost <= tie,
            })
            .collect()
    }
}
