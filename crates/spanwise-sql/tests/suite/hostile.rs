//! Values that are made to do harm: each comes back as it is, or is refused.

use crate::databases::{each, json, run, text};
use spanwise_reading::Answer;
use spanwise_sql::database::{DatabaseError, Value};

/// Values that would do harm if they were a part of the statement.
fn hostile() -> Vec<String> {
    let parts = [
        "'",
        "''",
        "\"",
        "`",
        "\\",
        "\\'",
        "--",
        "/*",
        "*/",
        ";",
        "%",
        "_",
        "%s",
        "$1",
        "?1",
        ":x",
        "{1}",
        "}}",
        "\n",
        "\r",
        "\t",
        "\u{1}",
        "é",
        "日本",
        "\u{202e}",
        "👩‍👧",
        "ﬀ",
        "\u{feff}",
        " ",
        "null",
        "or 1=1",
        "; drop table track",
        "' or ''='",
        "$$",
        "E'\\x27'",
        "x'00'",
        "\0",
    ];
    let mut values: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
    for first in parts {
        for second in parts.iter().take(26) {
            values.push(format!("{first}{second}ann{first}"));
        }
    }
    values.extend([
        "".to_owned(),
        "a".repeat(100_000),
        "'".repeat(10_000),
        "9".repeat(400),
        "1e999".to_owned(),
        "NaN".to_owned(),
    ]);
    values
}

#[test]
fn hostile_texts_are_data_and_come_back_unchanged() {
    let values = hostile();
    assert!(values.len() >= 1000);
    each(1, |database, name| {
        for value in &values {
            let result =
                run(database, "select {1:text}, count(*) from track where name <> {1:text}", &[text(value)]);
            match result {
                Ok(rows) => assert_eq!(rows.rows[0][0], Answer::from(value.as_str()), "{name}"),
                Err(DatabaseError::Parameter { number: 1, .. })
                    if value.contains('\0') && name == "PostgreSQL" => {}
                Err(error) => panic!("{name}: {value:?}: {error:?}"),
            }
        }
        assert_eq!(json(&run(database, "select count(*) from track", &[]).unwrap()), "[[100]]", "{name}");
    });
}

#[test]
fn hostile_numbers_are_numbers_or_are_refused() {
    let decimal = |digits: &str| Value::Decimal(digits.to_owned());
    each(1, |database, name| {
        for digits in hostile() {
            let result = run(database, "select {1:numeric}", &[decimal(&digits)]);
            match (digits.as_str(), &result) {
                ("1e999", Ok(_)) => assert_eq!(name, "PostgreSQL"),
                ("1e999", Err(error)) => assert!(error.to_string().contains("too large"), "{name}: {error}"),
                (digits, Ok(_)) if digits.len() == 400 => assert_eq!(name, "PostgreSQL"),
                _ => assert!(
                    matches!(result, Err(DatabaseError::Parameter { number: 1, .. })),
                    "{name}: {digits:?}: {result:?}"
                ),
            }
        }
        for (digits, sqlite, postgres) in [
            ("1.50", "1.5", "1.50"),
            ("-0.000001", "-1e-6", "-0.000001"),
            ("12345678901234567890123", "1.2345678901234568e+22", "12345678901234567890123"),
            ("9007199254740993", "9007199254740992.0", "9007199254740993"),
        ] {
            let rows = run(database, "select {1:numeric}", &[decimal(digits)]).unwrap();
            let expected = if name == "SQLite" { sqlite } else { postgres };
            assert_eq!(json(&rows), format!("[[{expected}]]"), "{name}");
        }
        for number in [i64::MIN, -1, 0, i64::MAX] {
            let rows = run(database, "select {1:bigint}", &[Value::Integer(number)]).unwrap();
            assert_eq!(json(&rows), format!("[[{number}]]"), "{name}");
        }
    });
}
