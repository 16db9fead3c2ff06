//! Every expression of `expressions/*.txt` has exactly the readings that are written there.
//!
//! A header `[kind option=value ...]` holds for the lines after it. A line is `text => readings`, separated by semicolons. A
//! reading is a value, for the whole text, or `[words] value`. No reading after `=>` means that the text has none. Lines
//! that begin with `#` are comments.

use spanwise_core::{Moment, Utterance};
use spanwise_literals::{Options, Recognizer, Unit};
use std::fmt::Write;

const TABLES: &[(&str, &str)] = &[
    ("numbers.txt", include_str!("expressions/numbers.txt")),
    ("money.txt", include_str!("expressions/money.txt")),
    ("quantities.txt", include_str!("expressions/quantities.txt")),
    ("dates.txt", include_str!("expressions/dates.txt")),
    ("times.txt", include_str!("expressions/times.txt")),
    ("periods.txt", include_str!("expressions/periods.txt")),
    ("texts.txt", include_str!("expressions/texts.txt")),
];

/// The kind, options and reference date of a header.
fn settings(header: &str) -> (Recognizer, Option<Moment>) {
    let mut words = header.split_whitespace();
    let kind = words.next().unwrap().parse().unwrap();
    let (mut options, mut now) = (Options::default(), None);
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "now" => now = Some(value.parse().unwrap()),
            "decimal" => options.decimal = value.parse().unwrap(),
            "dates" => options.dates = value.parse().unwrap(),
            "tense" => options.tense = value.parse().unwrap(),
            "currencies" => options.currencies = value.split(',').map(str::to_owned).collect(),
            "measure" => options.measure = Some(value.parse().unwrap()),
            "currency" => options.currency = Some(value.to_owned()),
            "max-words" => options.max_words = value.parse().unwrap(),
            "verbatim" => options.verbatim = true,
            "unit" => {
                let parts: Vec<&str> = value.split(',').collect();
                let names = parts[2..].iter().map(|name| name.replace('_', " ")).collect();
                options.units.push(Unit { names, base: parts[0].to_owned(), factor: parts[1].to_owned() });
            }
            _ => panic!("unknown option `{key}` in [{header}]"),
        }
    }
    (Recognizer::new(kind, options).unwrap(), now)
}

#[test]
fn every_expression_has_exactly_the_readings_of_the_tables() {
    let (mut problems, mut count) = (String::new(), 0);
    for (name, table) in TABLES {
        let mut current = None;
        for (index, line) in table.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                current = Some(settings(header));
                continue;
            }
            let (recognizer, now) = current.as_ref().expect("a header comes first");
            let (text, expected) =
                line.split_once(" =>").unwrap_or_else(|| panic!("{name}:{}: no =>", index + 1));
            count += 1;
            let utterance = Utterance::new(text).said_at(*now);
            let mut found: Vec<String> = Vec::new();
            for literal in recognizer.read(&utterance) {
                let words = utterance.slice(literal.span);
                let whole = words == text.trim();
                found.push(if whole {
                    literal.value().to_owned()
                } else {
                    format!("[{words}] {}", literal.value())
                });
                for (field, value) in &literal.fields {
                    assert!(recognizer.accepts(field, value), "{name}:{}: {field} {value}", index + 1);
                }
            }
            let mut expected: Vec<String> =
                expected.split(';').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect();
            found.sort();
            expected.sort();
            if found != expected {
                writeln!(problems, "{name}:{}: {text} => {}", index + 1, found.join("; ")).unwrap();
            }
        }
    }
    assert!(problems.is_empty(), "these read differently:\n{problems}");
    assert!(count >= 420, "only {count} expressions");
}
