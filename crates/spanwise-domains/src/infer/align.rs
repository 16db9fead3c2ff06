//! Which words go with which constants: IBM model 1, from words to constants, and phrases from its posteriors.

use std::collections::{BTreeMap, BTreeSet};

const ITERATIONS: usize = 25;
/// Added to the count of each word, so that rare words do not explain frequent constants.
const SMOOTHING: f64 = 1.0;
/// A word is evidence for a constant if it is so many times as likely to give it as no word is, or nearly always gives it:
/// a constant that most examples have is likely without any word.
const LIFT: f64 = 2.0;
const SURE: f64 = 0.8;
/// Most words of a phrase.
const MAX_WORDS: usize = 3;
/// What a phrase must explain with all its words, and with the first and the last.
const MIN_POSTERIOR: f64 = 0.2;
const MIN_EDGE: f64 = 0.25;
/// How much a phrase that is the name of the constant is preferred, and a shorter phrase.
const NAME_BONUS: f64 = 1.25;
const WORD_PENALTY: f64 = 0.88;
/// Uses of a constant that a phrase of two words needs, and one of three.
const USES_FOR_WORDS: [usize; 2] = [5, 15];
/// Least precision of a phrase, and least share of the uses that each further one explains.
const MIN_PRECISION: f64 = 0.3;
const MIN_SHARES: [f64; 4] = [0.1, 0.04, 0.04, 0.04];
/// Words that explain less than this share of a constant each time are null words.
const NULL_SHARE: f64 = 0.15;

/// An utterance as numbers of words, without names and punctuation, and its constants.
#[derive(Clone, Debug, Default)]
pub(super) struct Sentence {
    /// `None` where a name or a value stands, and for punctuation.
    pub(super) words: Vec<Option<usize>>,
    pub(super) constants: Vec<usize>,
}

/// A phrase for a constant, with its evidence.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Phrase {
    pub(super) words: Vec<usize>,
    /// The share of the constant's examples that have it and none of the phrases before it.
    pub(super) share: f64,
    /// The share of its examples that have the constant.
    pub(super) precision: f64,
}

/// The outcome for all constants.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Alignment {
    pub(super) phrases: Vec<Vec<Phrase>>,
    /// For each constant, the share of its uses that words explain.
    pub(super) explained: Vec<f64>,
    /// Words that explain no constant, the most frequent first.
    pub(super) null_words: Vec<usize>,
}

/// Aligns sentences. `names` has the words of each constant's own name and how many phrases it may have.
pub(super) fn align(sentences: &[Sentence], names: &[(Vec<usize>, usize)], n_words: usize) -> Alignment {
    let model = Model::fit(sentences, n_words);
    let n_constants = names.len();
    let mut of_constant: Vec<Vec<usize>> = vec![Vec::new(); n_constants];
    for (at, sentence) in sentences.iter().enumerate() {
        sentence.constants.iter().for_each(|&constant| of_constant[constant].push(at));
    }
    let with_word = sentences_with(sentences, n_words);
    let (mut phrases, mut explained) = (Vec::new(), Vec::new());
    for (constant, examples) in of_constant.iter().enumerate() {
        let uses: Vec<Use<'_>> = examples
            .iter()
            .map(|&at| Use {
                words: &sentences[at].words,
                posteriors: model.posteriors(&sentences[at], constant),
            })
            .collect();
        let specific = |one: &Use<'_>| {
            let words = one.words.iter().zip(&one.posteriors);
            let counted =
                words.filter(|(word, _)| word.is_some_and(|word| model.is_evidence(word, constant)));
            counted.map(|(_, posterior)| posterior).sum::<f64>()
        };
        let sum: f64 = uses.iter().map(specific).sum();
        explained.push(if uses.is_empty() { 0.0 } else { sum / uses.len() as f64 });
        let (name, most) = &names[constant];
        let search = Search { sentences, with_word: &with_word, name, most: *most };
        phrases.push(search.phrases(&uses));
    }
    let null_words = null_words(&model, sentences, &phrases, n_words);
    Alignment { phrases, explained, null_words }
}

/// The sentences that have each word, in order.
fn sentences_with(sentences: &[Sentence], n_words: usize) -> Vec<Vec<usize>> {
    let mut with_word = vec![Vec::new(); n_words];
    for (at, sentence) in sentences.iter().enumerate() {
        let words: BTreeSet<usize> = sentence.words.iter().flatten().copied().collect();
        words.into_iter().for_each(|word| with_word[word].push(at));
    }
    with_word
}

/// Frequent words that explain little, unless they are in a phrase.
fn null_words(model: &Model, sentences: &[Sentence], phrases: &[Vec<Phrase>], n_words: usize) -> Vec<usize> {
    let (mut uses, mut explains) = (vec![0.0; n_words], vec![0.0; n_words]);
    for sentence in sentences {
        sentence.words.iter().flatten().for_each(|&word| uses[word] += 1.0);
        for &constant in &sentence.constants {
            for (word, posterior) in sentence.words.iter().zip(model.posteriors(sentence, constant)) {
                if let Some(word) = word.filter(|&word| model.is_evidence(word, constant)) {
                    explains[word] += posterior;
                }
            }
        }
    }
    let in_phrases: BTreeSet<usize> =
        phrases.iter().flatten().flat_map(|phrase| phrase.words.iter().copied()).collect();
    let enough = (sentences.len() as f64 / 200.0).max(8.0);
    let is_null = |&word: &usize| {
        uses[word] >= enough && explains[word] < NULL_SHARE * uses[word] && !in_phrases.contains(&word)
    };
    let mut words: Vec<usize> = (0..n_words).filter(is_null).collect();
    words.sort_by(|&a, &b| uses[b].total_cmp(&uses[a]).then(a.cmp(&b)));
    words
}

/// IBM model 1: the probability of each constant for each word, and for no word.
struct Model {
    /// The number of each pair of a constant and a word, in the order of both.
    pairs: BTreeMap<(usize, usize), usize>,
    probabilities: Vec<f64>,
    /// The number of the word that is not there.
    no_word: usize,
}

impl Model {
    fn fit(sentences: &[Sentence], n_words: usize) -> Self {
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut of_sentence: Vec<Vec<(usize, usize)>> = Vec::with_capacity(sentences.len());
        for sentence in sentences {
            let mut numbers = Vec::new();
            for &constant in &sentence.constants {
                let words = sentence.words.iter().flatten().copied();
                for word in words.chain([n_words]) {
                    let fresh = pairs.len();
                    numbers.push((*pairs.entry((constant, word)).or_insert(fresh), word));
                }
            }
            of_sentence.push(numbers);
        }
        let mut probabilities = vec![1.0; pairs.len()];
        for _ in 0..ITERATIONS {
            let mut counts = vec![0.0; pairs.len()];
            let mut totals = vec![SMOOTHING; n_words + 1];
            for (sentence, numbers) in sentences.iter().zip(&of_sentence) {
                let width = numbers.len() / sentence.constants.len().max(1);
                for row in numbers.chunks(width.max(1)) {
                    let sum: f64 = row.iter().map(|(pair, _)| probabilities[*pair]).sum();
                    for &(pair, word) in row {
                        let share = probabilities[pair] / sum.max(f64::MIN_POSITIVE);
                        counts[pair] += share;
                        totals[word] += share;
                    }
                }
            }
            for (&(_, word), &pair) in &pairs {
                probabilities[pair] = counts[pair] / totals[word];
            }
        }
        Self { pairs, probabilities, no_word: n_words }
    }

    fn probability(&self, constant: usize, word: usize) -> f64 {
        self.pairs.get(&(constant, word)).map_or(0.0, |&pair| self.probabilities[pair])
    }

    /// For each place of a sentence, how much of a constant its word explains.
    fn posteriors(&self, sentence: &Sentence, constant: usize) -> Vec<f64> {
        let of_word = |word: &Option<usize>| word.map_or(0.0, |word| self.probability(constant, word));
        let raw: Vec<f64> = sentence.words.iter().map(of_word).collect();
        let sum = raw.iter().sum::<f64>() + self.probability(constant, self.no_word);
        raw.into_iter().map(|p| if sum > 0.0 { p / sum } else { 0.0 }).collect()
    }

    fn is_evidence(&self, word: usize, constant: usize) -> bool {
        let p = self.probability(constant, word);
        p >= SURE || p >= LIFT * self.probability(constant, self.no_word)
    }
}

/// An example of a constant: its words, and how much of the constant each explains.
struct Use<'a> {
    words: &'a [Option<usize>],
    posteriors: Vec<f64>,
}

/// The search for phrases of one constant.
struct Search<'a> {
    sentences: &'a [Sentence],
    with_word: &'a [Vec<usize>],
    name: &'a [usize],
    most: usize,
}

impl Search<'_> {
    /// The best phrase, then the best for the examples without it, and so on.
    fn phrases(&self, uses: &[Use<'_>]) -> Vec<Phrase> {
        let mut found: Vec<Phrase> = Vec::new();
        for min_share in MIN_SHARES.into_iter().take(self.most) {
            let rest: Vec<&Use<'_>> =
                uses.iter().filter(|one| !found.iter().any(|known| has(one.words, &known.words))).collect();
            let Some(words) = self.best(&rest, uses.len(), min_share, &found) else { break };
            let n_with = |uses: &mut dyn Iterator<Item = &Use<'_>>| {
                uses.filter(|one| has(one.words, &words)).count() as f64
            };
            let share = n_with(&mut rest.iter().copied()) / uses.len() as f64;
            let precision = n_with(&mut uses.iter()) / self.count(&words, &[]) as f64;
            found.push(Phrase { words, share, precision });
        }
        found
    }

    fn best(&self, rest: &[&Use<'_>], n: usize, min_share: f64, known: &[Phrase]) -> Option<Vec<usize>> {
        let mut explained: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for one in rest {
            for (words, sum) in candidates(one) {
                *explained.entry(words).or_default() += sum;
            }
        }
        let enough = if n < 4 { 0.5 } else { 2.0 };
        let scored = explained.into_iter().filter_map(|(words, sum)| {
            let is_name = words == self.name;
            let is_long = words.len() > 1 && n < USES_FOR_WORDS[words.len() - 2];
            if (sum < enough || is_long) && !is_name {
                return None;
            }
            let n_all = self.count(&words, known) as f64;
            let (share, precision) = (sum / n as f64, (sum / n_all).min(1.0));
            let is_good = precision >= MIN_PRECISION && share >= min_share;
            let length = WORD_PENALTY.powi(words.len() as i32 - 1);
            let bonus = if is_name { NAME_BONUS } else { 1.0 };
            // What the model explains leaves out what other constants explain; what occurs together is sharper where it is right.
            let together = rest.iter().filter(|one| has(one.words, &words)).count() as f64;
            let occurring = f_score(together / n_all, together / n as f64);
            let score = (f_score(precision, share) * occurring).sqrt() * length * bonus;
            (is_good || is_name && precision > 0.1).then_some((score, words))
        });
        scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, words)| words)
    }

    /// The sentences that have these words and none of the known phrases.
    fn count(&self, words: &[usize], known: &[Phrase]) -> usize {
        let rarest = words.iter().min_by_key(|word| self.with_word[**word].len());
        let all = rarest.map_or(&[][..], |word| &self.with_word[*word]);
        let is_one = |at: &&usize| {
            let sentence = &self.sentences[**at].words;
            has(sentence, words) && !known.iter().any(|phrase| has(sentence, &phrase.words))
        };
        all.iter().filter(is_one).count().max(1)
    }
}

/// The harmonic mean of precision and recall, with more weight on precision.
fn f_score(precision: f64, recall: f64) -> f64 {
    1.49 * precision * recall / (0.49 * precision + recall).max(f64::MIN_POSITIVE)
}

/// Whether these words are side by side.
fn has(sentence: &[Option<usize>], words: &[usize]) -> bool {
    let is_here = |run: &[Option<usize>]| run.iter().zip(words).all(|(a, b)| *a == Some(*b));
    sentence.windows(words.len()).any(is_here)
}

/// Runs of words that explain something at both ends, each once with the most that it explains.
fn candidates(one: &Use<'_>) -> BTreeMap<Vec<usize>, f64> {
    let mut found: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    for start in 0..one.words.len() {
        for end in start + 1..=one.words.len().min(start + MAX_WORDS) {
            let words: Option<Vec<usize>> = one.words[start..end].iter().copied().collect();
            let Some(words) = words else { break };
            let posteriors = &one.posteriors[start..end];
            let sum = posteriors.iter().sum::<f64>().min(1.0);
            let has_edges =
                end - start == 1 || posteriors[0] >= MIN_EDGE && posteriors[end - start - 1] >= MIN_EDGE;
            if sum >= MIN_POSTERIOR && has_edges {
                let known = found.entry(words).or_default();
                *known = known.max(sum);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences of words and constants, each by number.
    fn aligned(sentences: &[(&[usize], &[usize])], n_constants: usize) -> Alignment {
        let sentences: Vec<Sentence> = sentences
            .iter()
            .map(|(words, constants)| Sentence {
                words: words.iter().map(|&word| Some(word)).collect(),
                constants: constants.to_vec(),
            })
            .collect();
        align(&sentences, &vec![(Vec::new(), 2); n_constants], 10)
    }

    #[test]
    fn words_that_occur_with_a_constant_are_its_phrase_and_others_explain_nothing() {
        // The word 0 is everywhere, and so is the constant 3; 1 goes with the constant 0, 2 and 3 together with 1.
        let data: Vec<(&[usize], &[usize])> = [
            (&[0, 1][..], &[0, 3][..]),
            (&[0, 2, 3], &[1, 3]),
            (&[1, 4, 0], &[0, 3]),
            (&[2, 3, 0, 5], &[1, 3]),
            (&[0, 6, 7], &[2, 3]),
            (&[7, 1, 0], &[0, 2, 3]),
        ]
        .repeat(10);
        let found = aligned(&data, 4);
        let words =
            |constant: usize| found.phrases[constant].iter().map(|one| one.words.clone()).collect::<Vec<_>>();
        assert_eq!((words(0), words(1), words(2)), (vec![vec![1]], vec![vec![2, 3]], vec![vec![7]]));
        assert_eq!((found.phrases[0][0].share, found.phrases[0][0].precision), (1.0, 1.0));
        assert!(found.explained[..3].iter().all(|&share| share > 0.6), "{:?}", found.explained);
    }

    #[test]
    fn a_frequent_word_that_goes_with_no_constant_is_a_null_word() {
        let data: Vec<(&[usize], &[usize])> =
            [(&[0, 1][..], &[0][..]), (&[0, 2], &[1]), (&[3, 0], &[2]), (&[4, 0], &[3])].repeat(10);
        let found = aligned(&data, 4);
        assert_eq!(found.null_words, [0]);
    }

    #[test]
    fn a_constant_that_occurs_with_everything_is_explained_by_no_word() {
        let data: Vec<(&[usize], &[usize])> =
            [(&[1, 5][..], &[0, 3][..]), (&[2, 6], &[1, 3]), (&[3, 7], &[2, 3]), (&[1, 6], &[0, 1, 3])]
                .repeat(10);
        let found = aligned(&data, 4);
        assert_eq!(found.phrases[0][0].words, [1]);
        assert!(found.explained[3] < found.explained[0] / 2.0, "{:?}", found.explained);
    }
}
