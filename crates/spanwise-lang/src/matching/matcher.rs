//! The search for names and phrases in an utterance whose words have alternatives.

use super::candidates::{Hit, Offers, Places};
use super::fold::{fold, is_mark, push_letters};
use super::sequences::{Border, Sequences};
use super::{Alternative, MatchKind, Matches};
use crate::lexicon::{Lexicon, Match, Source};
use spanwise_core::Span;
use std::ops::Range;

/// Cost of a space too many or missing.
pub const JOIN: f32 = 0.5;
/// Fewest letters of words that are run together or torn apart: shorter ones are other words.
pub const MIN_JOINED: usize = 5;
/// Most typed words that are read as other words run together or torn apart.
pub const MAX_TORN: usize = 6;
/// Most sequences of alternatives that are followed from one word; the worst are given up.
const MAX_STATES: usize = 32;

/// Finds names and phrases of a lexicon that a text has exactly, folded, misspelt, or in part.
///
/// Words are compared in their folded form ([`fold`]). Marks such as `.`, `'` and `-` are skipped on both sides, except in
/// exact matches. The matcher is built once per lexicon and holds indexes only.
///
/// 100,000 made-up names with 72,000 different words, 5,000 with a common one: the indexes take 5.5 MB and are built in
/// 60 ms; a text of twelve words with up to six alternatives each costs 30 microseconds (a test build, one core).
///
/// ```
/// use spanwise_lang::ConstantId;
/// use spanwise_lang::lexicon::{Lexicon, Source};
/// use spanwise_lang::matching::{Alternative, MatchKind, Matcher};
///
/// let mut lexicon = Lexicon::default();
/// lexicon.insert("St. Louis", ConstantId(0), Source::Name);
/// lexicon.insert("Led Zeppelin", ConstantId(1), Source::Name);
/// let matcher = Matcher::new(&lexicon, |word| word != "the");
/// let words = ["zeppelin", "in", "st", "louis"].map(|word| vec![Alternative::typed(word)]);
/// let found = matcher.matches(&lexicon, &words).found;
/// let kinds: Vec<_> = found.iter().map(|found| (found.constant.0, found.kind)).collect();
/// assert_eq!(kinds, [(1, MatchKind::Part), (0, MatchKind::Folded)]);
/// ```
#[derive(Clone, Debug)]
pub struct Matcher {
    names: Sequences,
    phrases: Sequences,
    synonyms: Sequences,
    /// By number of a word of the names: whether it can be a part of a name alone.
    is_content: Vec<bool>,
}

impl Matcher {
    /// Indexes a lexicon. A part of a name has at least one word that `is_content` accepts; it is asked once about each
    /// folded word of the names. Words of one character or without a letter never count.
    ///
    /// Cost: sorting the words of all names.
    #[must_use]
    pub fn new(lexicon: &Lexicon, is_content: impl Fn(&str) -> bool) -> Self {
        let names = Sequences::new(lexicon, Source::Name, true);
        let counts = |word: &str| {
            word.chars().nth(1).is_some() && word.chars().any(char::is_alphabetic) && is_content(word)
        };
        let words = names.vocabulary().map(|word| counts(names.word(word)));
        let is_content = std::iter::once(false).chain(words).collect();
        let [phrases, synonyms] =
            [Source::Phrase, Source::Synonym].map(|source| Sequences::new(lexicon, source, false));
        Self { names, phrases, synonyms, is_content }
    }

    /// The folded words of names, each with the number of its occurrences in them: a vocabulary for a [`super::Speller`].
    pub fn name_words(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names.vocabulary().map(|word| (self.names.word(word), self.names.places_of(word).len() as u32))
    }

    /// Every match of a text whose words have alternatives, by start, then end, then kind and cost; exact ones in the
    /// order of [`Lexicon::matches`].
    ///
    /// `lexicon` is the one that the matcher was built from. The first [`MatchKind::Exact`] alternative of a word is the
    /// word as it was typed, in lower case. Exact matches are those of [`Lexicon::matches`], all of them. The others:
    ///
    /// - A name or phrase matches word by word if each word has an alternative with the same folded form. Its cost is the
    ///   sum of their costs.
    /// - It matches with other spaces if the letters of the typed words are the same; of a single word, those of any alternative.
    ///   Borders at a mark are free (`obrien` is `O'Brien` folded); others cost [`JOIN`] each and make it a
    ///   [`MatchKind::Spelling`] of at least [`MIN_JOINED`] letters (`newyork`).
    /// - Consecutive words of a longer name match as [`MatchKind::Part`]. The share of the name's words that are missing
    ///   is added to the cost.
    ///
    /// A span and a constant have one inexact match at most, the best, and none beside an exact one. Inexact candidates
    /// of a span are taken in groups of equal kind and cost of the words, the best first. A group with which there would be more
    /// than [`super::CAP`] is left out with all after it; where the span has no match then, it is listed in
    /// [`Matches::crowded`]. An inexact match inside a longer match of the same constant that is no worse in kind is left
    /// out; so is a crowd inside a longer match of a name or a longer crowd.
    ///
    /// Cost: per word, a walk over at most 32 sequences of alternatives, two binary searches per step;
    /// independent of how many names share a word.
    #[must_use]
    pub fn matches(&self, lexicon: &Lexicon, words: &[Vec<Alternative<'_>>]) -> Matches {
        let typed: Vec<&str> = words.iter().map(|word| typed_word(word)).collect();
        let exact = lexicon.matches_in(&typed);
        let by_stem = |table| Column::new(table, words, |word| fold(&lexicon.key(word)).into_owned());
        let names = Column::new(&self.names, words, |word| fold(word).into_owned());
        let columns = [names, by_stem(&self.phrases), by_stem(&self.synonyms)];
        let mut offers = Offers::default();
        let mut hits: Vec<Vec<Hit<'_>>> = Vec::new();
        let mut from = 0;
        for start in 0..words.len() {
            hits.clear();
            hits.resize_with(words.len() - start, Vec::new);
            for column in &columns {
                self.walk(column, start, &mut hits);
                column.join(start, &mut hits);
            }
            let n_exact = exact[from..].iter().take_while(|found| found.span.start as usize == start).count();
            let here = &exact[from..from + n_exact];
            from += n_exact;
            for (n, hits) in hits.iter_mut().enumerate() {
                let span = Span::new(start as u32, (start + n + 1) as u32);
                let same: Vec<Match> = here.iter().filter(|found| found.span == span).copied().collect();
                offers.add(span, &same, hits);
            }
        }
        offers.finish()
    }

    /// Adds what matches word by word from `start` on, by end.
    fn walk<'a>(&self, column: &Column<'a>, start: usize, hits: &mut [Vec<Hit<'a>>]) {
        let table = column.table;
        let mut states = vec![State::default()];
        for (at, token) in column.tokens.iter().enumerate().skip(start) {
            if token.is_mark {
                match at == start {
                    true => return,
                    false => continue,
                }
            }
            let mut next = Vec::new();
            for state in &states {
                next.extend(token.choices.iter().filter_map(|choice| self.step(table, state, choice)));
            }
            next.sort_by(|a, b| a.kind.cmp(&b.kind).then(a.cost.total_cmp(&b.cost)));
            next.truncate(MAX_STATES);
            if next.is_empty() {
                return;
            }
            let here = &mut hits[at - start];
            for state in &next {
                let hit = |kind, places| Hit { table, kind, cost: state.cost, places };
                let whole = table.whole(state.places.clone(), state.depth);
                let rest = whole.end..state.places.end;
                if !whole.is_empty() {
                    let places = Places::Words { places: whole, depth: state.depth };
                    here.push(hit(state.kind.max(MatchKind::Folded), places));
                }
                if table.source == Source::Name && state.has_content && !rest.is_empty() {
                    here.push(hit(MatchKind::Part, Places::Words { places: rest, depth: state.depth }));
                }
            }
            states = next;
        }
    }

    fn step(&self, table: &Sequences, state: &State, choice: &Choice) -> Option<State> {
        let word = choice.word?;
        let places = match state.depth {
            0 => table.places_of(word),
            depth => table.narrow(state.places.clone(), depth, word),
        };
        let is_content = table.source == Source::Name && self.is_content[word as usize];
        (!places.is_empty()).then(|| State {
            places,
            depth: state.depth + 1,
            kind: state.kind.max(choice.kind),
            cost: state.cost + choice.cost,
            has_content: state.has_content || is_content,
        })
    }

    /// Bytes of memory that the indexes take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.names.bytes() + self.phrases.bytes() + self.synonyms.bytes() + self.is_content.capacity()
    }
}

fn typed_word<'a>(alternatives: &[Alternative<'a>]) -> &'a str {
    alternatives.iter().find(|word| word.kind == MatchKind::Exact).map_or("", |word| word.word)
}

/// Words read so far, from some start.
#[derive(Clone, Debug, Default)]
struct State {
    places: Range<u32>,
    depth: usize,
    kind: MatchKind,
    cost: f32,
    has_content: bool,
}

/// An alternative of a word as a table has it.
struct Choice {
    folded: String,
    word: Option<u32>,
    kind: MatchKind,
    cost: f32,
}

struct Token {
    is_mark: bool,
    /// One per folded form, the best.
    choices: Vec<Choice>,
    /// The choice that was typed.
    typed: Option<usize>,
}

/// The text as a table has it.
struct Column<'a> {
    table: &'a Sequences,
    tokens: Vec<Token>,
}

impl<'a> Column<'a> {
    fn new(table: &'a Sequences, words: &[Vec<Alternative<'_>>], key: impl Fn(&str) -> String) -> Self {
        let token = |alternatives: &Vec<Alternative<'_>>| {
            let mut token =
                Token { is_mark: is_mark(typed_word(alternatives)), choices: Vec::new(), typed: None };
            for &Alternative { word, kind, cost } in alternatives {
                let folded = key(word);
                let same = token.choices.iter().position(|choice| choice.folded == folded);
                let at = same.unwrap_or(token.choices.len());
                if same.is_none() {
                    let word = table.find(&folded);
                    token.choices.push(Choice { folded, word, kind, cost });
                }
                let choice = &mut token.choices[at];
                if kind.cmp(&choice.kind).then(cost.total_cmp(&choice.cost)).is_lt() {
                    (choice.kind, choice.cost) = (kind, cost);
                }
                if kind == MatchKind::Exact && token.typed.is_none() {
                    token.typed = Some(at);
                }
            }
            token
        };
        Self { table, tokens: words.iter().map(token).collect() }
    }

    /// Adds what has the same letters from `start` on and other spaces, by end.
    fn join(&self, start: usize, hits: &mut [Vec<Hit<'a>>]) {
        let first = &self.tokens[start];
        if first.is_mark || self.table.len() == 0 {
            return;
        }
        let mut letters = String::new();
        for choice in &first.choices {
            letters.clear();
            push_letters(&mut letters, &choice.folded);
            self.add_joined(&letters, &[], (choice.kind, choice.cost), &mut hits[0]);
        }
        letters.clear();
        let (mut borders, mut mark, mut n_words): (Vec<Border>, _, _) = (Vec::new(), false, 0);
        let mut score = (MatchKind::Exact, 0.0);
        for (at, token) in self.tokens.iter().enumerate().skip(start) {
            if token.is_mark {
                mark = true;
                continue;
            }
            let Some(typed) = token.typed else { return };
            let choice = &token.choices[typed];
            n_words += 1;
            if n_words > MAX_TORN {
                return;
            }
            if n_words > 1 {
                borders.push((letters.len(), mark));
            }
            mark = false;
            push_letters(&mut letters, &choice.folded);
            score = (score.0.max(choice.kind), score.1 + choice.cost);
            if n_words > 1 {
                self.add_joined(&letters, &borders, score, &mut hits[at - start]);
            }
        }
    }

    fn add_joined(
        &self,
        letters: &str,
        borders: &[Border],
        (kind, cost): (MatchKind, f32),
        hits: &mut Vec<Hit<'a>>,
    ) {
        for (sequence, n_plain) in self.table.joined(letters, borders) {
            let by_spaces = if n_plain == 0 { MatchKind::Folded } else { MatchKind::Spelling };
            if n_plain == 0 || letters.chars().nth(MIN_JOINED - 1).is_some() {
                let cost = cost + JOIN * n_plain as f32;
                let places = Places::Sequence(sequence);
                hits.push(Hit { table: self.table, kind: kind.max(by_spaces), cost, places });
            }
        }
    }
}
