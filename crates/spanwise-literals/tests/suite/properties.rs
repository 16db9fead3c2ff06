//! What holds for every text.

use proptest::prelude::*;
use spanwise_core::{Moment, Utterance};
use spanwise_literals::{DecimalMark, Kind, Options, Recognizer, Unit};
use std::time::{Duration, Instant};

fn recognizers() -> Vec<Recognizer> {
    let unit =
        Unit { names: vec!["parsec".into(), "light year".into()], base: "ly".into(), factor: "3.26".into() };
    let mut all = Vec::new();
    for kind in Kind::ALL {
        for (decimal, verbatim) in [(DecimalMark::Either, false), (DecimalMark::Point, true)] {
            let units = if *kind == Kind::Quantity && verbatim { vec![unit.clone()] } else { Vec::new() };
            let currency = (*kind == Kind::Money).then(|| "EUR".to_owned());
            let options = Options { decimal, verbatim, units, currency, ..Options::default() };
            all.push(Recognizer::new(*kind, options).unwrap());
        }
    }
    all
}

fn check(text: &str, now: Option<Moment>) -> Result<(), TestCaseError> {
    let utterance = Utterance::new(text).said_at(now);
    for recognizer in recognizers() {
        let literals = recognizer.read(&utterance);
        prop_assert!(literals.is_sorted() && literals.windows(2).all(|pair| pair[0] != pair[1]));
        for literal in &literals {
            prop_assert!(!literal.span.is_empty() && literal.span.end as usize <= utterance.len());
            let names: Vec<&str> = literal.fields.iter().map(|(name, _)| *name).collect();
            prop_assert_eq!(&names[..], recognizer.fields());
            for (field, value) in &literal.fields {
                let kind = recognizer.kind();
                prop_assert!(recognizer.accepts(field, value), "{kind} {field}: {value:?} of {text:?}");
            }
        }
    }
    Ok(())
}

/// Words and marks that literals consist of, so that random texts contain many.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "5",
        "30",
        "12",
        "2011",
        "1,000",
        "1.5",
        "007",
        "99999999999",
        "½",
        "a",
        "an",
        "half",
        "quarter",
        "past",
        "to",
        "and",
        "hundred",
        "thousand",
        "million",
        "two",
        "nineteen",
        "ninety",
        "third",
        "second",
        "the",
        "of",
        "may",
        "march",
        "friday",
        "last",
        "next",
        "in",
        "ago",
        "days",
        "weeks",
        "month",
        "year",
        "Q3",
        "at",
        "pm",
        "'",
        "\"",
        "-",
        "/",
        ":",
        ".",
        ",",
        "$",
        "€",
        "%",
        "°",
        "C",
        "km",
        "h",
        "min",
        "feet",
        "cents",
        "dozen",
        "minus",
        "between",
        "century",
        "90s",
        "today",
        "tomorrow",
        "now",
        "from",
        "oh",
        "point",
        "o",
        "clock",
        "T",
        "W",
        "é",
        "日本",
    ];
    let piece = (prop::sample::select(words.to_vec()), prop::bool::ANY);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| {
        pieces.into_iter().map(|(word, space)| format!("{word}{}", if space { " " } else { "" })).collect()
    })
}

fn moments() -> impl Strategy<Value = Option<Moment>> {
    let dates = ["2011-03-09T14:20", "9999-12-31T23:59:59", "0001-01-01", "2012-02-29"];
    prop::option::of(prop::sample::select(dates.to_vec()).prop_map(|text| text.parse().unwrap()))
}

/// A number in words, written independently of the recognizer.
fn in_words(number: u64, and: bool, hyphen: bool) -> String {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] =
        ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let below = |n: u64| in_words(n, and, hyphen);
    let joined = |head: String, rest: u64| match rest {
        0 => head,
        rest if rest < 100 && and => format!("{head} and {}", below(rest)),
        rest => format!("{head} {}", below(rest)),
    };
    match number {
        0..20 => SMALL[number as usize].to_owned(),
        20..100 if number.is_multiple_of(10) => TENS[number as usize / 10].to_owned(),
        20..100 => {
            let link = if hyphen { "-" } else { " " };
            format!("{}{link}{}", TENS[number as usize / 10], SMALL[number as usize % 10])
        }
        100..1000 => joined(format!("{} hundred", below(number / 100)), number % 100),
        _ => {
            let (scale, name) = match number {
                0..1_000_000 => (1_000, "thousand"),
                1_000_000..1_000_000_000 => (1_000_000, "million"),
                _ => (1_000_000_000, "billion"),
            };
            joined(format!("{} {name}", below(number / scale)), number % scale)
        }
    }
}

fn only_value(kind: Kind, text: &str) -> Option<String> {
    let utterance = Utterance::new(text);
    let literals = Recognizer::new(kind, Options::default()).unwrap().read(&utterance);
    let [literal] = &literals[..] else { return None };
    (literal.span.len() == utterance.len()).then(|| literal.value().to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_without_a_panic_and_only_to_canonical_values(text in "\\PC{0,60}", now in moments()) {
        check(&text, now)?;
    }

    #[test]
    fn texts_of_pieces_of_literals_are_read_to_canonical_values(text in pieces(), now in moments()) {
        check(&text, now)?;
    }

    #[test]
    fn numbers_in_words_are_read_back_whole(number in 0u64..1_000_000_000_000, digits in 1u32..13, and: bool, hyphen: bool) {
        let number = number % 10u64.pow(digits);
        let text = in_words(number, and, hyphen);
        prop_assert_eq!(only_value(Kind::Integer, &text), Some(number.to_string()), "{}", text);
    }

    #[test]
    fn numbers_with_separators_have_the_value_of_their_digits(number in 0u64..1_000_000_000_000) {
        let digits = number.to_string();
        for separator in [",", "'"] {
            let mut text = String::new();
            for (place, digit) in digits.chars().enumerate() {
                if place > 0 && (digits.len() - place).is_multiple_of(3) {
                    text.push_str(separator);
                }
                text.push(digit);
            }
            prop_assert_eq!(only_value(Kind::Integer, &text), Some(digits.clone()), "{}", text);
        }
    }

    #[test]
    fn what_is_glued_to_digits_never_yields_a_shorter_number(a in 1u32..10_000, b in 1u32..10_000, mark in "[.,:/'-]") {
        let text = format!("x {a}{mark}{b} y");
        let utterance = Utterance::new(text.clone());
        for literal in Recognizer::new(Kind::Decimal, Options::default()).unwrap().read(&utterance) {
            prop_assert_eq!(utterance.slice(literal.span), format!("{a}{mark}{b}"));
        }
    }

    #[test]
    fn accepted_numbers_are_those_that_are_written_so(text in "-?[0-9]{1,4}(\\.[0-9]{1,3})?") {
        let decimal = Recognizer::new(Kind::Decimal, Options::default()).unwrap();
        let read = only_value(Kind::Decimal, &text);
        prop_assert_eq!(decimal.accepts("value", &text), read == Some(text.clone()) , "{}", text);
    }
}

#[test]
fn values_that_are_not_canonical_are_refused() {
    let cases = [
        (Kind::Integer, "value", "01"),
        (Kind::Integer, "value", "1.5"),
        (Kind::Integer, "value", "-0"),
        (Kind::Decimal, "value", "1.50"),
        (Kind::Decimal, "value", "1e3"),
        (Kind::Ordinal, "value", "-1"),
        (Kind::Money, "value", "5USD"),
        (Kind::Money, "value", "5 XXX"),
        (Kind::Quantity, "value", "5 km"),
        (Kind::Date, "value", "2011-3-5"),
        (Kind::Date, "value", "2011-02-29"),
        (Kind::Time, "value", "4:30"),
        (Kind::Time, "value", "24:00"),
        (Kind::Time, "value", "16:30:00"),
        (Kind::Time, "value", "16:30:xx"),
        (Kind::DateTime, "value", "2011-03-05"),
        (Kind::Period, "value", "2011-03-05/2011-03-05"),
        (Kind::Period, "value", "2011-03-05"),
        (Kind::Date, "begin", "2011-03-05"),
        (Kind::Text, "value", " a"),
        (Kind::Text, "value", ""),
        (Kind::Duration, "unit", "min"),
        (Kind::Integer, "number", "1"),
    ];
    for (kind, field, text) in cases {
        let recognizer = Recognizer::new(kind, Options::default()).unwrap();
        assert!(!recognizer.accepts(field, text), "{kind} {field} {text}");
    }
}

#[test]
fn texts_are_canonical_when_their_words_are_written_as_the_options_say() {
    let spellings = [("office".to_owned(), "office".to_owned()), ("xml".to_owned(), "XML".to_owned())].into();
    let options = Options { spellings, capitals: true, ..Options::default() };
    let recognizer = Recognizer::new(Kind::Text, options).unwrap();
    let texts = recognizer.read(&Utterance::new("  ida's   Office xml"));
    assert!(texts.iter().any(|text| text.field("value") == Some("Ida's office XML")), "{texts:?}");
    for text in &texts {
        assert!(recognizer.accepts("value", text.field("value").unwrap()), "{text:?}");
    }
    for text in ["ida's office", "Ida's Office", "Xml"] {
        assert!(!recognizer.accepts("value", text), "{text}");
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let unit = |names: &[&str], base: &str, factor: &str| Options {
        units: vec![Unit {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            base: base.to_owned(),
            factor: factor.to_owned(),
        }],
        ..Options::default()
    };
    for options in [
        unit(&[], "m", "1"),
        unit(&[" "], "m", "1"),
        unit(&["x"], "", "1"),
        unit(&["x"], "m", "0"),
        unit(&["x"], "m", "a"),
    ] {
        assert!(Recognizer::new(Kind::Quantity, options).is_err());
    }
    assert!(
        Recognizer::new(Kind::Money, Options { currency: Some("dollars".into()), ..Options::default() })
            .is_err()
    );
    assert!(
        Recognizer::new(Kind::Integer, Options { currency: Some("USD".into()), ..Options::default() })
            .is_err()
    );
    assert!(Recognizer::new(Kind::Text, Options { max_words: 0, ..Options::default() }).is_err());
    assert!("number".parse::<Kind>().unwrap_err().contains("integer, decimal"));
    assert!(Kind::ALL.iter().all(|kind| kind.name().parse() == Ok(*kind)));
}

#[test]
fn long_texts_take_linear_time() {
    let now = Some("2011-03-09T14:20".parse().unwrap());
    let words = ["5", "min", "two", "hundred", "and", "march", "\"", "the", "last", "half", ",", "to", "-"];
    for word in words {
        let text = format!("{word} ").repeat(5_000);
        let glued = word.repeat(5_000);
        for recognizer in recognizers() {
            for text in [&text, &glued] {
                let utterance = Utterance::new(text.as_str()).said_at(now);
                let start = Instant::now();
                let _ = recognizer.read(&utterance);
                let took = start.elapsed();
                assert!(took < Duration::from_secs(2), "{} takes {took:?} for {word}", recognizer.kind());
            }
        }
    }
}
