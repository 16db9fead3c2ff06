//! Matching by meaning: words that no phrase has, compared with phrases in the embeddings of a pretrained encoder.
//!
//! The embeddings of word-pieces are never trained, so a phrase has the same vector during training and after it, and no
//! pass of the encoder is needed.

use super::SpanModel;
use spanwise_core::{Span, Utterance};
use spanwise_lang::lexicon::Source;
use spanwise_lang::matching::{Approximate, MatchKind};
use spanwise_lang::{ConstantId, Domain};
use spanwise_nn::pretrained::Architecture;
use spanwise_nn::{Network, Pieces, Tokenizer};

/// The least cosine of two vectors that says anything about meaning.
const MIN_SIMILARITY: f32 = 0.25;
/// Most constants that a span is similar to.
const MAX_CONSTANTS: usize = 2;
/// Words of the longest span.
const MAX_WORDS: usize = 2;

/// The phrases of predicates with their vectors.
#[derive(Debug)]
pub(super) struct Meanings {
    phrases: Vec<(ConstantId, Vec<f32>)>,
}

impl Meanings {
    /// The vectors of a domain's phrases; `None` without phrases or for an encoder that is not pretrained.
    pub(super) fn new(domain: &Domain, tokenizer: &Tokenizer, network: &Network) -> Option<Self> {
        if !is_pretrained(network) {
            return None;
        }
        let (constants, pieces): (Vec<ConstantId>, Vec<Pieces>) = domain
            .lexicon()
            .phrases()
            .map(|(phrase, constant)| (constant, tokenizer.encode(&Utterance::new(phrase))))
            .unzip();
        let texts: Vec<&[u32]> =
            pieces.iter().map(|pieces| of_words(pieces, 0, pieces.words.len())).collect();
        let phrases: Vec<_> = constants.into_iter().zip(network.static_vectors(&texts)).collect();
        (!phrases.is_empty()).then_some(Self { phrases })
    }

    /// The constants whose phrases mean about the same as words of an utterance that nothing else matches, for each span
    /// the most similar ones. The cost of a match is one less its similarity.
    ///
    /// Cost: one dot product for each such span and phrase.
    pub(super) fn matches(
        &self,
        network: &Network,
        pieces: &Pieces,
        is_open: impl Fn(usize) -> bool,
    ) -> Vec<Approximate> {
        let n = pieces.words.len();
        let is_open: Vec<bool> = (0..n).map(is_open).collect();
        let spans: Vec<(usize, usize)> = (0..n)
            .flat_map(|start| (start + 1..=n.min(start + MAX_WORDS)).map(move |end| (start, end)))
            .filter(|&(start, end)| is_open[start..end].iter().all(|open| *open))
            .collect();
        let texts: Vec<&[u32]> = spans.iter().map(|&(start, end)| of_words(pieces, start, end)).collect();
        let vectors = network.static_vectors(&texts);
        spans.iter().zip(&vectors).flat_map(|(&span, vector)| self.similar(span, vector)).collect()
    }

    /// The constants that a vector is most similar to.
    fn similar(&self, (start, end): (usize, usize), vector: &[f32]) -> Vec<Approximate> {
        let similarities = self.phrases.iter().map(|(constant, phrase)| (*constant, dot(vector, phrase)));
        let mut best: Vec<(ConstantId, f32)> = similarities.filter(|(_, it)| *it >= MIN_SIMILARITY).collect();
        best.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        best.dedup_by_key(|(constant, _)| *constant);
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        best.truncate(MAX_CONSTANTS);
        let matched = |(constant, similarity)| Approximate {
            span: Span::new(start as u32, end as u32),
            constant,
            source: Source::Phrase,
            kind: MatchKind::Meaning,
            cost: 1.0 - similarity,
        };
        best.into_iter().map(matched).collect()
    }
}

impl SpanModel {
    /// The largest similarity of a word to others, from 0 to 1. Zero for an encoder that is not pretrained.
    pub(crate) fn similarity(&self, word: &str, others: &[&str]) -> f64 {
        if others.is_empty() || !is_pretrained(&self.network) {
            return 0.0;
        }
        let pieces: Vec<Pieces> = std::iter::once(&word)
            .chain(others)
            .map(|word| self.tokenizer.encode(&Utterance::new(*word)))
            .collect();
        let texts: Vec<&[u32]> =
            pieces.iter().map(|pieces| of_words(pieces, 0, pieces.words.len())).collect();
        let vectors = self.network.static_vectors(&texts);
        let similarities = vectors[1..].iter().map(|other| dot(&vectors[0], other));
        f64::from(similarities.fold(0.0, f32::max)).min(1.0)
    }
}

impl SpanModel {
    /// The vector of each word of an utterance in the table of word-piece embeddings.
    pub(crate) fn embeddings(&self, utterance: &Utterance) -> Vec<Vec<f32>> {
        let pieces = self.tokenizer.encode(utterance);
        let texts: Vec<&[u32]> = (0..pieces.words.len()).map(|at| of_words(&pieces, at, at + 1)).collect();
        self.network.static_vectors(&texts)
    }
}

/// Whether the embeddings are those of a pretrained encoder.
fn is_pretrained(network: &Network) -> bool {
    network.encoder().architecture != Architecture::Compact
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The ids of the pieces of some words.
fn of_words(pieces: &Pieces, start: usize, end: usize) -> &[u32] {
    match pieces.words.get(start..end) {
        Some([first, .., last]) => &pieces.ids[first.0 as usize..=last.1 as usize],
        Some([word]) => &pieces.ids[word.0 as usize..=word.1 as usize],
        _ => &[],
    }
}
