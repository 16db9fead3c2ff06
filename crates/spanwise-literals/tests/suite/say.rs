//! Words that are made up for values.

use spanwise_core::{Moment, Random};
use spanwise_literals::{DateOrder, DecimalMark, Kind, Measure, Options, Recognizer, Tense, Unit};
use std::collections::{BTreeMap, BTreeSet};

const N_DRAWS: u64 = 300;

fn now() -> Option<Moment> {
    "2011-03-09T10:00".parse().ok()
}

/// Recognizers of every kind, and of options that change what is read.
fn recognizers() -> Vec<(String, Recognizer)> {
    let mut all: Vec<(Kind, Options)> = Kind::ALL.iter().map(|&kind| (kind, Options::default())).collect();
    let options = Options::default;
    all.extend(Measure::ALL.iter().map(|&it| (Kind::Quantity, Options { measure: Some(it), ..options() })));
    for decimal in [DecimalMark::Comma, DecimalMark::Either] {
        all.push((Kind::Decimal, Options { decimal, ..options() }));
    }
    for tense in [Tense::Past, Tense::Future] {
        all.push((Kind::Date, Options { tense, dates: DateOrder::DayFirst, ..options() }));
        all.push((Kind::Period, Options { tense, ..options() }));
    }
    all.push((Kind::Money, Options { currency: Some("EUR".to_owned()), ..options() }));
    all.push((Kind::Money, Options { currencies: vec!["USD".to_owned()], ..options() }));
    let steps = Unit { names: vec!["step".into(), "steps".into()], base: "step".into(), factor: "1".into() };
    all.push((Kind::Quantity, Options { units: vec![steps], ..options() }));
    all.push((Kind::Duration, Options { verbatim: true, ..options() }));
    all.push((Kind::Text, Options { capitals: true, max_words: 2, ..options() }));
    let built = |(kind, options): (Kind, Options)| {
        (format!("{kind} {options:?}"), Recognizer::new(kind, options).unwrap())
    };
    all.into_iter().map(built).collect()
}

#[test]
fn made_up_words_are_read_back_as_their_value_and_nothing_else() {
    for (name, recognizer) in recognizers() {
        for now in [None, now()] {
            for seed in 0..N_DRAWS {
                let found = recognizer.say(&mut Random::new(seed, &[]), now);
                let (words, literal) = found.unwrap_or_else(|| panic!("{name}: nothing to say"));
                assert_eq!(recognizer.only_reading(&words, now), Some(literal.clone()), "{name}: {words}");
                for (field, text) in &literal.fields {
                    assert!(recognizer.accepts(field, text), "{name}: {words} has {field} {text}");
                }
            }
        }
    }
}

#[test]
fn a_value_has_many_forms() {
    let forms = |kind: Kind, words: &str, now: Option<Moment>| -> BTreeSet<String> {
        let recognizer = Recognizer::new(kind, Options { tense: Tense::Past, ..Options::default() }).unwrap();
        let say = |seed| recognizer.say_again(words, &mut Random::new(seed, &[]), now).unwrap().0;
        (0..N_DRAWS).map(say).collect()
    };
    let has = |forms: &BTreeSet<String>, wanted: &[&str]| {
        for wanted in wanted {
            assert!(forms.contains(*wanted), "no `{wanted}` in {forms:?}");
        }
    };
    has(&forms(Kind::Duration, "2 hours", None), &["2 hours", "two hours", "120 minutes", "2h"]);
    has(&forms(Kind::Integer, "12", None), &["12", "twelve", "a dozen"]);
    has(&forms(Kind::Integer, "2000", None), &["2000", "2,000", "two thousand", "2k"]);
    has(&forms(Kind::Money, "$1200", None), &["$1200", "$1,200", "1200 dollars", "1,200 bucks"]);
    has(&forms(Kind::Date, "2011-03-08", now()), &["yesterday", "March 8", "the 8th of March 2011"]);
    has(&forms(Kind::Period, "february 2011", now()), &["last month", "Feb 2011", "February"]);
    has(&forms(Kind::Time, "16:30", None), &["4:30 pm", "16:30", "half past four pm"]);
    has(&forms(Kind::Quantity, "5 km", None), &["5 km", "5km", "five kilometers", "5,000 meters"]);
}

#[test]
fn draws_are_the_same_for_a_seed_and_differ_otherwise() {
    for (name, recognizer) in recognizers() {
        let draw = |seed| recognizer.say(&mut Random::new(seed, &[]), now());
        assert_eq!(draw(5), draw(5), "{name}");
        let all: BTreeMap<String, ()> = (0..40).filter_map(|seed| Some((draw(seed)?.0, ()))).collect();
        assert!(all.len() > 10, "{name}: {all:?}");
    }
}

#[test]
fn words_without_one_value_are_not_said_again() {
    let date = Recognizer::new(Kind::Date, Options::default()).unwrap();
    let again = |words: &str, now| date.say_again(words, &mut Random::new(1, &[]), now);
    assert_eq!(again("03/05/2011", None), None, "two days");
    assert_eq!(again("yesterday", None), None, "no today");
    assert_eq!(again("orders in may", now()), None, "more than a date");
    assert!(again("yesterday", now()).is_some());
}
