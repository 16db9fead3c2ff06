//! Search against enumeration, and what a program is written with.

use super::*;
use crate::beam::{Found, Limits, Scorer, search};
use spanwise_core::{Random, Utterance};
use spanwise_lang::domain::NoTables;
use spanwise_nn::seq2seq::Previous;
use std::convert::Infallible;

/// Log-probabilities drawn for every sequence of three symbols; the first one ends it.
struct Toy {
    seed: u64,
}

impl Toy {
    fn next(&self, symbols: &[u32]) -> Vec<f32> {
        let path: Vec<u64> = symbols.iter().map(|&symbol| u64::from(symbol)).collect();
        let mut random = Random::new(self.seed, &path);
        let weights: Vec<f32> = (0..3).map(|_| random.uniform() + 0.01).collect();
        let sum: f32 = weights.iter().sum();
        weights.iter().map(|weight| (weight / sum).ln()).collect()
    }

    /// Every sequence that ends within so many symbols, the most probable first.
    fn all(&self, max_length: usize) -> Vec<Found> {
        let (mut open, mut found) = (vec![(Vec::new(), 0.0)], Vec::new());
        for _ in 0..max_length {
            let mut longer = Vec::new();
            for (symbols, log) in open {
                for (symbol, step) in (0..).zip(self.next(&symbols)) {
                    let log_probability = log + f64::from(step);
                    if symbol == 0 {
                        found.push(Found { symbols: symbols.clone(), log_probability });
                    } else {
                        longer.push(([&symbols[..], &[symbol]].concat(), log_probability));
                    }
                }
            }
            open = longer;
        }
        found.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
        found
    }
}

impl Scorer for Toy {
    type State = Vec<u32>;
    type Stop = Infallible;

    fn start(&self) -> Result<(Vec<u32>, Vec<f32>), Infallible> {
        Ok((Vec::new(), self.next(&[])))
    }

    fn advance(&self, sequences: &[(&Vec<u32>, u32)]) -> Result<Vec<(Vec<u32>, Vec<f32>)>, Infallible> {
        let longer = |(symbols, symbol): &(&Vec<u32>, u32)| {
            let symbols = [&symbols[..], &[*symbol]].concat();
            let next = self.next(&symbols);
            (symbols, next)
        };
        Ok(sequences.iter().map(longer).collect())
    }
}

fn found(toy: &Toy, width: usize, max_length: usize) -> Vec<Found> {
    let Ok(found) = search(toy, Limits { width, max_length, end: 0 });
    found
}

#[test]
fn a_beam_as_wide_as_all_sequences_finds_them_in_order() {
    for seed in 0..20 {
        let toy = Toy { seed };
        let all = toy.all(4);
        assert_eq!(found(&toy, 3usize.pow(4), 4), all);
        // A narrow beam finds real sequences with their probabilities, in order.
        let some = found(&toy, 2, 4);
        assert!(some.iter().all(|one| all.contains(one)) && some.len() <= 2);
        assert!(some.is_sorted_by(|a, b| a.log_probability >= b.log_probability));
    }
}

#[test]
fn a_beam_of_one_is_greedy() {
    for seed in 0..20 {
        let toy = Toy { seed };
        let mut symbols = Vec::new();
        let ends = (0..6).any(|_| {
            let next = toy.next(&symbols);
            let best = (0..3).max_by(|&a, &b| next[a].total_cmp(&next[b])).unwrap_or_default();
            symbols.push(best as u32);
            best == 0
        });
        let expected = ends.then(|| symbols[..symbols.len() - 1].to_vec());
        assert_eq!(found(&toy, 1, 6).first().map(|found| found.symbols.clone()), expected);
    }
}

const DOMAIN: &str = r#"
    name = "places"
    types = ["City", "State", "Size", "Answer"]
    root = { types = ["Answer"], wrap = "answer({})" }
    [constants]
    population = "City -> Answer"
    capital = ["State -> Answer", "City -> Answer"]
    larger = "Size -> Answer"
    [[entities]]
    class = "state"
    type = "State"
    form = "state('{name}')"
    names = ["new york", "utah"]
    [[entities]]
    class = "city"
    type = "City"
    form = "city('{name}')"
    names = ["new york", "york", "provo"]
    [[literals]]
    class = "size"
    type = "Size"
    kind = "integer"
    form = "{value}"
"#;

fn parser(pairs: &[(&str, &str)]) -> Seq2SeqParser {
    let domain = Arc::new(Domain::load(DOMAIN, "places.toml", None, &NoTables).unwrap());
    let mut terms = domain.new_terms();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(text, program)| Pair::new(Utterance::new(*text), terms.parse(program).unwrap()))
        .collect();
    let shape = crate::Compact::default();
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.0 };
    let settings = Seq2SeqSettings { hidden: 8, embedding: 4, ..Seq2SeqSettings::default() };
    Seq2SeqParser::build(settings, Blueprint { domain, terms: &terms, pairs: &pairs, encoder, seed: 1 })
        .unwrap()
}

#[test]
fn only_leaves_that_the_words_do_not_give_are_generated() {
    let parser = parser(&[
        ("capital of utah", "answer(capital(state('utah')))"),
        ("what is the capital here", "answer(capital(city('provo')))"),
    ]);
    let leaves: Vec<String> = parser
        .vocabulary
        .tokens()
        .iter()
        .filter(|token| matches!(token, linear::Token::Leaf(_)))
        .map(ToString::to_string)
        .collect();
    assert_eq!(leaves, ["city('provo')"]);
    // Six tokens of the longer program, half as many more, and the end.
    assert_eq!(parser.max_length, 11);
}

#[test]
fn a_leaf_is_written_from_every_place_that_gives_it_and_its_class_is_what_follows() {
    let parser = parser(&[("here", "answer(population(city('provo')))")]);
    let input = parser.prepare(Utterance::new("provo in new york or provo above 40"));
    let mut terms = parser.domain.new_terms();
    let n = parser.vocabulary.len() as u32;
    let mut last_leaf = |program: &str| {
        let program = terms.parse(program).unwrap();
        let steps = parser.steps(&input, &terms, program)?;
        let at = steps.len() - 4;
        Some((steps[at].choices.clone(), steps[at + 1].previous))
    };
    let copies = |text: &str| -> Vec<u32> {
        let of = |(at, symbol): (u32, &u32)| {
            let token = parser.token(&input, *symbol)?;
            (token.to_string() == text).then_some(n + at)
        };
        (0..).zip(&input.copied).filter_map(of).collect()
    };
    let provo = parser.vocabulary.id("city('provo')").unwrap();
    let expected = [vec![provo], copies("city('provo')")].concat();
    assert_eq!(expected.len(), 3, "it can be generated, and copied from two places");
    assert_eq!(last_leaf("answer(population(city('provo')))"), Some((expected, Previous::Copied(1))));
    let state = copies("state('new york')");
    assert_eq!(last_leaf("answer(capital(state('new york')))"), Some((state.clone(), Previous::Copied(0))));
    assert_ne!(copies("city('new york')"), state, "the same words, of another class");
    assert_eq!(last_leaf("answer(larger(40))"), Some((copies("40"), Previous::Copied(2))));
    assert_eq!(last_leaf("answer(larger(41))"), None, "nothing gives it");
}
