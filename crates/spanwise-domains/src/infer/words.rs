//! Utterances as numbered words, and what alignment says about constants and entities.

use super::align::{Alignment, Phrase, Sentence, align};
use super::corpus::{Corpus, Head};
use super::entities::{Class, Mention};
use spanwise_lang::Language;
use spanwise_lang::language::english::ENGLISH;
use std::collections::{BTreeMap, BTreeSet};

/// By how much more phrases must explain for stems to be compared.
const STEM_GAIN: f64 = 1.02;

/// Most phrases of a constant, and most aliases of an entity.
const MAX_PHRASES: usize = 2;
const MAX_ALIASES: usize = 4;

/// What the words say about a corpus.
pub(super) struct Words {
    alignment: Alignment,
    texts: Vec<String>,
    /// Whether phrases match other forms of their words.
    pub(super) has_stems: bool,
    /// The entities that are aligned because their name is not in the words, in the order of their numbers.
    unnamed: Vec<(usize, usize)>,
    n_heads: usize,
}

/// A phrase as text, with its evidence.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) share: f64,
    pub(super) precision: f64,
}

impl Words {
    /// Aligns the corpus, with stems where they help. `own_names` are heads that are entities with names of their own.
    pub(super) fn read(corpus: &Corpus, mentions: &[Vec<Mention>], own_names: &BTreeSet<usize>) -> Self {
        let plain = Self::aligned(corpus, mentions, own_names, None);
        let stemmed = Self::aligned(corpus, mentions, own_names, Some(&ENGLISH));
        if stemmed.strength(corpus) > STEM_GAIN * plain.strength(corpus) { stemmed } else { plain }
    }

    fn aligned(
        corpus: &Corpus,
        mentions: &[Vec<Mention>],
        own_names: &BTreeSet<usize>,
        language: Option<&'static Language>,
    ) -> Self {
        let mut vocabulary = Vocabulary { language, numbers: BTreeMap::new(), surfaces: Vec::new() };
        let n_heads = corpus.heads.len();
        let mut unnamed: Vec<(usize, usize)> = Vec::new();
        let mut numbers: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut sentences = Vec::with_capacity(corpus.graphs.len());
        for ((graph, utterance), mentions) in corpus.graphs.iter().zip(&corpus.utterances).zip(mentions) {
            let mut words: Vec<Option<usize>> = Vec::with_capacity(utterance.len());
            for (at, token) in utterance.tokens().iter().enumerate() {
                let is_named = mentions.iter().any(|mention| {
                    mention.span.is_some_and(|span| (span.start..span.end).contains(&(at as u32)))
                });
                let is_word = token.lower.chars().any(char::is_alphanumeric);
                words.push((is_word && !is_named).then(|| vocabulary.number(&token.lower)));
            }
            let is_constant =
                |head: &usize| !matches!(corpus.heads[*head], Head::Class(_)) && !own_names.contains(head);
            let mut constants: BTreeSet<usize> =
                graph.iter().map(|node| node.head).filter(is_constant).collect();
            for mention in mentions.iter().filter(|mention| mention.span.is_none()) {
                let key = (mention.class, mention.member);
                let at = *numbers.entry(key).or_insert(unnamed.len());
                if at == unnamed.len() {
                    unnamed.push(key);
                }
                constants.insert(n_heads + at);
            }
            sentences.push(Sentence { words, constants: constants.into_iter().collect() });
        }
        let own_name = |head: usize| (vocabulary.known(&plain_name(corpus.name(head))), MAX_PHRASES);
        let mut names: Vec<(Vec<usize>, usize)> = (0..n_heads).map(own_name).collect();
        names.resize(n_heads + unnamed.len(), (Vec::new(), MAX_ALIASES));
        let alignment = align(&sentences, &names, vocabulary.surfaces.len());
        let texts = vocabulary.texts();
        Self { alignment, texts, has_stems: language.is_some(), unnamed, n_heads }
    }

    /// How many uses the phrases of all constants explain.
    fn strength(&self, corpus: &Corpus) -> f64 {
        let uses = corpus.uses();
        let of_head =
            |head: usize| self.alignment.phrases[head].iter().map(|phrase| phrase.share).sum::<f64>();
        (0..self.n_heads).map(|head| of_head(head) * uses[head] as f64).sum()
    }

    /// The phrases of a head.
    pub(super) fn phrases(&self, head: usize) -> Vec<Said> {
        self.alignment.phrases[head].iter().map(|phrase| self.said(phrase)).collect()
    }

    /// The share of the uses of a head that words explain.
    pub(super) fn explained(&self, head: usize) -> f64 {
        self.alignment.explained[head]
    }

    fn said(&self, phrase: &Phrase) -> Said {
        let words: Vec<&str> = phrase.words.iter().map(|&word| self.texts[word].as_str()).collect();
        Said { text: words.join(" "), share: phrase.share, precision: phrase.precision }
    }

    /// Gives entities whose names are not in the words other phrases.
    pub(super) fn add_aliases(&self, classes: &mut [Class]) {
        for (at, &(class, member)) in self.unnamed.iter().enumerate() {
            if classes[class].literal.is_some() {
                continue;
            }
            let phrases = &self.alignment.phrases[self.n_heads + at];
            classes[class].members[member].aliases =
                phrases.iter().map(|phrase| self.said(phrase).text).collect();
        }
    }

    /// Words that explain no constant and are in no name.
    pub(super) fn null_words(&self, classes: &[Class]) -> Vec<String> {
        let members = classes.iter().flat_map(|class| class.members.iter());
        let cells = members.flat_map(|member| member.cells.iter().chain(&member.aliases));
        let in_names: BTreeSet<String> = cells
            .flat_map(|cell| cell.to_lowercase().split([' ', '_']).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let words = self.alignment.null_words.iter().map(|&word| self.texts[word].clone());
        words.filter(|word| !in_names.contains(word)).collect()
    }
}

/// The words in the name of a constant, without numbers and single letters.
fn plain_name(name: &str) -> Vec<String> {
    let words = name.split(|ch: char| !ch.is_alphabetic()).filter(|word| word.chars().count() > 1);
    words.map(str::to_lowercase).collect()
}

struct Vocabulary {
    language: Option<&'static Language>,
    numbers: BTreeMap<String, usize>,
    /// For each number, the words that have it, with their counts.
    surfaces: Vec<BTreeMap<String, usize>>,
}

impl Vocabulary {
    fn key(&self, word: &str) -> String {
        self.language.map_or_else(|| word.to_owned(), |language| (language.stem)(word))
    }

    fn number(&mut self, word: &str) -> usize {
        let fresh = self.surfaces.len();
        let number = *self.numbers.entry(self.key(word)).or_insert(fresh);
        if number == fresh {
            self.surfaces.push(BTreeMap::new());
        }
        *self.surfaces[number].entry(word.to_owned()).or_default() += 1;
        number
    }

    /// The numbers of words, or nothing if one is not known.
    fn known(&self, words: &[String]) -> Vec<usize> {
        let numbers: Option<Vec<usize>> =
            words.iter().map(|word| self.numbers.get(&self.key(word)).copied()).collect();
        numbers.unwrap_or_default()
    }

    /// The most frequent word of each number.
    fn texts(self) -> Vec<String> {
        let commonest = |words: BTreeMap<String, usize>| {
            let best = words.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
            best.map_or_else(String::new, |(word, _)| word)
        };
        self.surfaces.into_iter().map(commonest).collect()
    }
}
