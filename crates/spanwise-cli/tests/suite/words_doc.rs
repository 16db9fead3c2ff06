//! `docs/words.md` names every kind and every cause that a reading can have.

use spanwise_reading::{Cause, CorrectionKind, Reading, UnreadKind};

const PAGE: &str = include_str!("../../../../docs/words.md");

/// What is in backticks at the start of the rows of the table with this heading.
fn rows(heading: &str) -> Vec<&'static str> {
    let rows = PAGE.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| row.split(" | ").next().unwrap().split('`').skip(1).step_by(2)).collect()
}

/// The name in JSON.
macro_rules! names {
    ($($value:expr),+) => { [$(serde_json::json!($value).as_str().unwrap().to_owned()),+] };
}

#[test]
fn the_page_names_all_kinds_causes_and_fields() {
    use Cause::{
        Ambiguous, ManyNames, NoProgram, OutOfDomain, TooCostly, Unanswerable, UnknownWords, UnreadWords,
        Unsure,
    };
    use UnreadKind::{Content, Name, Negation, Number, Question, Unknown};
    let kinds = names![Number, Name, Negation, Question, Unknown, Content];
    assert_eq!(rows("| kind |"), kinds);
    let causes = rows("| cause |");
    for cause in names![UnknownWords, UnreadWords, Ambiguous, ManyNames, OutOfDomain, Unanswerable, Unsure] {
        assert!(causes.contains(&cause.as_str()), "{cause}");
    }
    for cause in causes {
        assert!(serde_json::from_value::<Cause>(cause.into()).is_ok(), "{cause}");
    }
    for cause in names![NoProgram, TooCostly] {
        assert!(PAGE.contains(&format!("`{cause}`")), "{cause}");
    }
    use CorrectionKind::{Folded, Meaning, Part, Spelling};
    for kind in names![Folded, Spelling, Part, Meaning] {
        assert!(PAGE.contains(&format!("`{kind}`")), "{kind}");
    }
    let reading = Reading {
        reason: Some(String::new()),
        cause: Some(Unsure),
        clarification: Some(spanwise_reading::Clarification { question: String::new(), choices: Vec::new() }),
        guess: Some(spanwise_reading::Guess {
            program: Some(String::new()),
            answer: None,
            probability: 0.0,
            posterior: 0.0,
        }),
        ..Reading::default()
    };
    let reading = serde_json::to_value(reading).unwrap();
    for field in rows("| field |") {
        assert!(reading.get(field).is_some(), "{field}");
    }
}
