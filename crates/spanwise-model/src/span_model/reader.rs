//! Reads the words of an utterance: corrects typing errors, and finds names and phrases, exactly or nearly.

use crate::outcome::{Correction, Crowded, Parse};
use spanwise_chart::tree::Category;
use spanwise_core::{Span, Utterance};
use spanwise_lang::lexicon::{Match, Source};
use spanwise_lang::matching::{Alternative, Approximate, MatchKind, Matcher, Near, Speller};
use spanwise_lang::{ConstantId, Domain};
use spanwise_nn::Tokenizer;
use spanwise_reading::CorrectionKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most words of the vocabulary of training.
const MAX_VOCABULARY: usize = 20_000;
/// Near words that are considered for one that is not known.
const MAX_NEAR: usize = 4;
/// A near word is taken for the one that was meant only up to this cost; see `typo_cost`.
const MAX_COST: f32 = 2.0;
/// How much less a near word costs when it is e times as frequent.
const PER_FREQUENCY: f32 = 0.25;
/// A word of the language is doubted only if a near word costs at most this: about one typing error.
const MAX_DOUBT: f32 = 1.2;
/// How often a word of a name counts.
const NAME_COUNT: u32 = 3;

/// The words of the training utterances, without those of names, each with its number of occurrences.
pub(super) type Vocabulary = BTreeMap<String, u32>;

/// Counts the words of training utterances outside of names, the most frequent ones.
pub(super) fn vocabulary<'a>(domain: &Domain, utterances: impl Iterator<Item = &'a Utterance>) -> Vocabulary {
    let mut counts = Vocabulary::new();
    for utterance in utterances {
        let mut is_name = vec![false; utterance.len()];
        for found in domain.lexicon().matches(utterance).iter().filter(|found| found.source == Source::Name) {
            is_name[found.span.start as usize..found.span.end as usize].fill(true);
        }
        let words = utterance.tokens().iter().zip(is_name).filter(|(_, is_name)| !is_name);
        for (token, _) in words.filter(|(token, _)| token.lower.chars().all(char::is_alphabetic)) {
            *counts.entry(token.lower.clone()).or_default() += 1;
        }
    }
    let mut words: Vec<(String, u32)> = counts.into_iter().collect();
    words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    words.into_iter().take(MAX_VOCABULARY).collect()
}

/// What is needed to read words that are not written as the lexicon and the training utterances have them.
#[derive(Debug)]
pub(super) struct Reader {
    domain: Arc<Domain>,
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
    /// Words of the language that the domain does not know, with a near word that it knows. They may be what was meant.
    pub doubtful: Vec<Correction>,
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
        Self {
            utterance: utterance.clone(),
            corrections: Vec::new(),
            doubtful: Vec::new(),
            found,
            crowded: Vec::new(),
        }
    }

    /// The exact matches.
    pub(super) fn exact(&self) -> Vec<Match> {
        let exact = self.found.iter().filter(|found| found.kind == MatchKind::Exact);
        let plain =
            |found: &Approximate| Match { span: found.span, constant: found.constant, source: found.source };
        exact.map(plain).collect()
    }

    /// The match of a constant on a span, if there is one.
    pub(super) fn of(&self, span: Span, constant: ConstantId) -> Option<&Approximate> {
        self.found.iter().find(|found| found.span == span && found.constant == constant)
    }

    /// Whether a parse aligns a word to a constant that the lexicon has there.
    fn is_matched(&self, parse: &Parse, word: Span) -> bool {
        let nodes = parse.tree.iter().flat_map(|tree| &tree.nodes);
        nodes.filter(|node| node.span.contains(word)).any(|node| match node.category {
            Category::Constant(constant) => self.of(node.span, constant).is_some(),
            _ => false,
        })
    }

    /// Adds to a parse how its words were read: corrections, names that were matched inexactly, and names that are not
    /// clear.
    pub(super) fn note(&self, domain: &Domain, parse: &mut Parse) {
        parse.corrections.clone_from(&self.corrections);
        parse.doubtful =
            self.doubtful.iter().filter(|it| !self.is_matched(parse, it.span)).cloned().collect();
        let mut covered = vec![false; parse.utterance.len()];
        for node in parse.tree.iter().flat_map(|tree| &tree.nodes) {
            let Category::Constant(constant) = node.category else { continue };
            covered[node.span.start as usize..node.span.end as usize].fill(true);
            let Some(found) = self.of(node.span, constant) else { continue };
            let kind = match found.kind {
                MatchKind::Folded => CorrectionKind::Folded,
                MatchKind::Spelling => CorrectionKind::Spelling,
                MatchKind::Part => CorrectionKind::Part,
                MatchKind::Exact => continue,
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
    /// Indexes the names and phrases of a domain and a vocabulary.
    pub(super) fn new(domain: Arc<Domain>, vocabulary: Vocabulary) -> Self {
        let is_content = |word: &str| !domain.is_no_meaning(word) && !vocabulary.contains_key(word);
        let matcher = Matcher::new(domain.lexicon(), is_content);
        let names = matcher.name_words().map(|(word, n)| (word, n.min(NAME_COUNT)));
        let words = vocabulary.iter().map(|(word, &n)| (word.as_str(), n));
        let speller = Speller::new(names.chain(words));
        Self { matcher, speller, vocabulary, domain }
    }

    /// Reads an utterance. Cost: tens of microseconds, and as much again for every word that is not known.
    pub(super) fn read(&self, tokenizer: &Tokenizer, utterance: &Utterance) -> Read {
        let mut doubtful = Vec::new();
        let mut near: Vec<Vec<Near<'_>>> = Vec::with_capacity(utterance.len());
        for (at, token) in utterance.tokens().iter().enumerate() {
            let found = self.near(&token.lower);
            if found.is_empty() || !self.is_word(tokenizer, &token.lower) {
                near.push(found);
                continue;
            }
            near.push(Vec::new());
            let best = found.first().filter(|best| best.cost <= MAX_DOUBT && best.edits == 1);
            doubtful.extend(best.map(|best| correction(at, best)));
        }
        let corrections: Vec<Correction> = near
            .iter()
            .enumerate()
            .filter_map(|(at, near)| {
                near.first().filter(|best| best.cost <= MAX_COST).map(|best| correction(at, best))
            })
            .collect();
        let words: Vec<Vec<Alternative<'_>>> = utterance
            .tokens()
            .iter()
            .zip(&near)
            .map(|(token, near)| {
                let typed = Alternative::typed(&token.lower);
                std::iter::once(typed).chain(near.iter().copied().map(Alternative::from)).collect()
            })
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
            doubtful,
            found: matches.found,
            crowded: matches.crowded.iter().map(crowd).collect(),
        }
    }

    /// Whether a word is one of the language. Then it is probably what was meant, even if the domain does not know it.
    fn is_word(&self, tokenizer: &Tokenizer, word: &str) -> bool {
        tokenizer.is_word(word) || self.domain.language().is_some_and(|language| (language.is_word)(word))
    }

    /// The words that may have been meant by one that neither the domain nor training knows, the most likely first.
    fn near(&self, word: &str) -> Vec<Near<'_>> {
        let is_plain = word.chars().count() >= 3 && word.chars().all(char::is_alphabetic);
        if !is_plain || self.speller.count(word).is_some() || self.domain.is_no_meaning(word) {
            return Vec::new();
        }
        let mut near = self.speller.near(word, MAX_NEAR);
        let likelihood = |near: &Near<'_>| near.cost - PER_FREQUENCY * (near.count as f32).ln_1p();
        near.sort_by(|a, b| likelihood(a).total_cmp(&likelihood(b)));
        near
    }
}

fn correction(at: usize, near: &Near<'_>) -> Correction {
    let (span, kind) = (Span::new(at as u32, at as u32 + 1), CorrectionKind::Spelling);
    Correction { span, to: near.word.to_owned(), kind, cost: near.cost }
}
