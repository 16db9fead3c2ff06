//! The names or the phrases of a lexicon as sequences of folded words, indexed by every word in them.
//!
//! The index is a suffix array over words: the places where the words of a span occur, in any name, are one range of it, and
//! one more word narrows the range by binary search. Five thousand names with a common word are a range like any other.

use super::fold::{fold, is_mark, push_letters};
use crate::domain::ConstantId;
use crate::interned::Interned;
use crate::lexicon::{Lexicon, Source};
use crate::texts::hash32;
use std::cmp::Ordering;
use std::ops::Range;

/// Closes a sequence; words are numbered from one.
const END: u32 = 0;

/// Sequences of words with the constants they name.
#[derive(Clone, Debug)]
pub(super) struct Sequences {
    pub(super) source: Source,
    vocabulary: Interned,
    /// The words of all sequences, each closed by [`END`].
    words: Vec<u32>,
    /// Whether a mark was left out before a word.
    after_mark: Vec<bool>,
    /// Where each sequence begins in `words`, and its constants in `constants`; one more at the end.
    starts: Vec<(u32, u32)>,
    constants: Vec<ConstantId>,
    /// Places in `words`, sorted by the words from there on; whole sequences before the ends of others.
    places: Vec<u32>,
    /// Where the places of each word begin in `places`.
    of_word: Vec<u32>,
    /// Constants of the places before each one, with repetition.
    n_before: Vec<u32>,
    /// Hashes of the letters of whole sequences, with the sequence, sorted.
    joined: Vec<(u32, u32)>,
}

/// A border between two words: where it is in the letters, and whether there is a mark.
pub(super) type Border = (usize, bool);

impl Sequences {
    /// Indexes the names or the phrases of a lexicon. With `parts`, every word of them is a place, else the first only.
    pub(super) fn new(lexicon: &Lexicon, source: Source, parts: bool) -> Self {
        let mut all = Self {
            source,
            vocabulary: Interned::default(),
            words: Vec::new(),
            after_mark: Vec::new(),
            starts: Vec::new(),
            constants: Vec::new(),
            places: Vec::new(),
            of_word: Vec::new(),
            n_before: Vec::new(),
            joined: Vec::new(),
        };
        lexicon.for_each(source, |words, constants| all.push(words, constants));
        all.starts.push((all.words.len() as u32, all.constants.len() as u32));
        all.sort_places(parts);
        all.sort_joined();
        all.vocabulary.shrink();
        all.words.shrink_to_fit();
        all.after_mark.shrink_to_fit();
        all.starts.shrink_to_fit();
        all.constants.shrink_to_fit();
        all
    }

    fn push(&mut self, words: &[&str], constants: &[ConstantId]) {
        if words.iter().all(|word| is_mark(word)) {
            return;
        }
        self.starts.push((self.words.len() as u32, self.constants.len() as u32));
        let mut mark = false;
        for word in words {
            if is_mark(word) {
                mark = true;
                continue;
            }
            self.words.push(self.vocabulary.insert(&fold(word)) + 1);
            self.after_mark.push(mark);
            mark = false;
        }
        self.words.push(END);
        self.after_mark.push(false);
        self.constants.extend_from_slice(constants);
    }

    fn sort_places(&mut self, parts: bool) {
        let is_place = |&at: &u32| self.words[at as usize] != END && (parts || self.is_start(at));
        let mut places: Vec<u32> = (0..self.words.len() as u32).filter(is_place).collect();
        places.sort_unstable_by(|&a, &b| self.compare(a, b));
        places.shrink_to_fit();
        self.of_word = vec![0; self.vocabulary.texts().len() + 2];
        self.n_before = Vec::with_capacity(places.len() + 1);
        let mut n_before = 0;
        for &place in &places {
            self.n_before.push(n_before);
            n_before += self.constants_of(self.sequence_at(place)).len() as u32;
            self.of_word[self.words[place as usize] as usize + 1] += 1;
        }
        self.n_before.push(n_before);
        for at in 1..self.of_word.len() {
            self.of_word[at] += self.of_word[at - 1];
        }
        self.places = places;
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (left, right) = (&self.words[a as usize..], &self.words[b as usize..]);
        for (x, y) in left.iter().zip(right) {
            match x.cmp(y) {
                Ordering::Equal if *x == END => break,
                Ordering::Equal => {}
                order => return order,
            }
        }
        (!self.is_start(a), a).cmp(&(!self.is_start(b), b))
    }

    fn sort_joined(&mut self) {
        let mut letters = String::new();
        let mut joined = Vec::with_capacity(self.starts.len());
        for sequence in 0..self.len() as u32 {
            letters.clear();
            for &word in self.words_of(sequence) {
                push_letters(&mut letters, self.word(word));
            }
            joined.push((hash32(letters.chars()), sequence));
        }
        joined.sort_unstable();
        self.joined = joined;
    }

    /// Number of sequences.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of a folded word.
    pub(super) fn find(&self, folded: &str) -> Option<u32> {
        self.vocabulary.find(folded).map(|id| id + 1)
    }

    /// The text of a word.
    pub(super) fn word(&self, word: u32) -> &str {
        self.vocabulary.texts().get(word - 1)
    }

    /// The numbers of all words.
    pub(super) fn vocabulary(&self) -> Range<u32> {
        1..self.vocabulary.texts().len() as u32 + 1
    }

    /// The places of a word.
    pub(super) fn places_of(&self, word: u32) -> Range<u32> {
        self.of_word[word as usize]..self.of_word[word as usize + 1]
    }

    /// Of places with `depth` words in common, those where `word` follows. Cost: two binary searches.
    pub(super) fn narrow(&self, places: Range<u32>, depth: usize, word: u32) -> Range<u32> {
        let slice = &self.places[places.start as usize..places.end as usize];
        let next = |place: u32| self.words[place as usize + depth];
        let first = slice.partition_point(|&place| next(place) < word);
        let n = slice[first..].partition_point(|&place| next(place) == word);
        places.start + first as u32..places.start + (first + n) as u32
    }

    /// Of places with `depth` words in common, those where a whole sequence of `depth` words begins; they are first.
    pub(super) fn whole(&self, places: Range<u32>, depth: usize) -> Range<u32> {
        let slice = &self.places[places.start as usize..places.end as usize];
        let is_whole = |&place: &u32| self.words[place as usize + depth] == END && self.is_start(place);
        places.start..places.start + slice.partition_point(is_whole) as u32
    }

    /// The words that begin at a place.
    pub(super) fn words_at(&self, place: u32, n: usize) -> impl Iterator<Item = &str> {
        let at = self.places[place as usize] as usize;
        self.words[at..at + n].iter().map(|&word| self.word(word))
    }

    /// The sequence that a place lies in.
    pub(super) fn sequence(&self, place: u32) -> u32 {
        self.sequence_at(self.places[place as usize])
    }

    /// Constants of the sequences that these places lie in, with repetition.
    pub(super) fn n_constants(&self, places: Range<u32>) -> u32 {
        self.n_before[places.end as usize] - self.n_before[places.start as usize]
    }

    /// The constants of a sequence.
    pub(super) fn constants_of(&self, sequence: u32) -> &[ConstantId] {
        let at = sequence as usize;
        &self.constants[self.starts[at].1 as usize..self.starts[at + 1].1 as usize]
    }

    /// The words of a sequence.
    pub(super) fn words_of(&self, sequence: u32) -> &[u32] {
        let at = sequence as usize;
        &self.words[self.starts[at].0 as usize..self.starts[at + 1].0 as usize - 1]
    }

    /// Sequences with these letters and other borders between words than `borders`, each with the number of borders
    /// without a mark that only one side has.
    pub(super) fn joined<'a>(
        &'a self,
        letters: &'a str,
        borders: &'a [Border],
    ) -> impl Iterator<Item = (u32, usize)> + 'a {
        let hash = hash32(letters.chars());
        let first = self.joined.partition_point(|&(other, _)| other < hash);
        let same = self.joined[first..].iter().take_while(move |&&(other, _)| other == hash);
        same.filter_map(move |&(_, sequence)| {
            let own = self.borders(sequence, letters)?;
            let differing = own.iter().filter(|border| borders.iter().all(|other| other.0 != border.0));
            let others = borders.iter().filter(|border| own.iter().all(|other| other.0 != border.0));
            let (mut n, mut plain) = (0, 0);
            for (_, mark) in differing.chain(others) {
                n += 1;
                plain += usize::from(!mark);
            }
            (n > 0).then_some((sequence, plain))
        })
    }

    /// The borders between the words of a sequence, if it has these letters.
    fn borders(&self, sequence: u32, letters: &str) -> Option<Vec<Border>> {
        let start = self.starts[sequence as usize].0 as usize;
        let (mut text, mut borders) = (String::new(), Vec::new());
        for (n, &word) in self.words_of(sequence).iter().enumerate() {
            if n > 0 {
                borders.push((text.len(), self.after_mark[start + n]));
            }
            push_letters(&mut text, self.word(word));
        }
        (text == letters).then_some(borders)
    }

    fn is_start(&self, at: u32) -> bool {
        at == 0 || self.words[at as usize - 1] == END
    }

    fn sequence_at(&self, at: u32) -> u32 {
        self.starts.partition_point(|&(start, _)| start <= at) as u32 - 1
    }

    /// Bytes of memory that the index takes.
    pub(super) fn bytes(&self) -> usize {
        let numbers = [&self.words, &self.places, &self.of_word, &self.n_before];
        self.vocabulary.bytes()
            + numbers.iter().map(|numbers| numbers.capacity() * size_of::<u32>()).sum::<usize>()
            + self.after_mark.capacity()
            + (self.starts.capacity() + self.joined.capacity()) * size_of::<(u32, u32)>()
            + self.constants.capacity() * size_of::<ConstantId>()
    }
}
