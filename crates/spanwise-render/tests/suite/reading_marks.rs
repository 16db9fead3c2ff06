//! Words that were read as others, and words that were not read, are marked in every picture.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::odd;
use spanwise_reading::{Clarification, Guess, Reading};
use spanwise_render::{Diagram, Screen, ascii, html, svg, tikz};

#[test]
fn on_a_terminal_corrections_show_both_words_and_unread_words_have_marks_and_a_line() {
    let plain = ascii(&odd(), Screen { width: 100, color: false }).unwrap();
    let row = "metalica → Metallica songs ~not~ in ~1978~";
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.lines().any(|line| words(line) == row), "{plain}");
    for line in [
        "read \"metalica\" as \"Metallica\"",
        "not read: \"not\" (a negation)",
        "not read: \"1978\" (a number)",
        "null “~not~ in ~1978~”",
    ] {
        assert!(plain.contains(line), "{line} is not in\n{plain}");
    }
    let colored = ascii(&odd(), Screen { width: 100, color: true }).unwrap();
    assert!(colored.contains("\u{1b}[2;33m~1978~\u{1b}[0m"), "{colored}");
}

#[test]
fn pictures_grey_unread_words_and_show_what_others_were_read_as() {
    let picture = svg(&odd()).unwrap();
    assert!(picture.contains(">metalica → Metallica</text>"), "{picture}");
    assert!(
        picture.contains("sw-word-unread\" x=") && picture.contains("<title>not read</title>1978</text>")
    );
    assert!(picture.contains(">in</text>"));
    roxmltree::Document::parse(&picture).unwrap();
    let document = tikz(&odd()).unwrap();
    assert!(document.contains(r"\textcolor{unread}{\underline{1978}}"), "{document}");
    assert!(document.contains("Metallica"));
    let page = html(&odd()).unwrap();
    assert!(page.contains("<span class=\"unread\">1978</span></td><td><span class=\"soft\">not read</span>"));
    assert!(page.contains("<span class=\"corrected\">metalica</span> → Metallica"));
    assert!(page.contains("<p class=\"soft\">not read: &quot;1978&quot; (a number)</p>"), "{page}");
}

#[test]
fn words_under_one_leaf_are_apart_where_only_some_are_read() {
    let diagram = Diagram::new(&odd()).unwrap();
    let slots: Vec<(&str, bool)> =
        diagram.slots().iter().map(|slot| (slot.text.as_str(), slot.is_unread)).collect();
    assert_eq!(slots, [("metalica", false), ("songs", false), ("not", true), ("in", false), ("1978", true)]);
}

#[test]
fn an_answer_without_a_program_is_shown_and_said_to_have_none() {
    let answered = Reading {
        utterance: "how many cubes".to_owned(),
        denotation: Some("2".to_owned()),
        probability: Some(0.5),
        ..Reading::default()
    };
    let text = ascii(&answered, Screen { width: 80, color: false }).unwrap();
    let expected = "program      none: this model gives answers without a program\nanswer       2\nprobability  50.0 %\n\n";
    assert_eq!(text, expected);
    let page = html(&answered).unwrap();
    assert!(
        page.contains("<p class=\"soft\">none: this model gives answers without a program</p>"),
        "{page}"
    );
    assert!(page.contains(">2</div>") && page.contains("(50.0 %)") && !page.contains("no tree"), "{page}");
    for picture in [svg(&answered), tikz(&answered)] {
        assert_eq!(picture.unwrap_err().to_string(), "the reading has no tree to draw");
    }
}

#[test]
fn a_page_about_a_withheld_answer_says_that_and_asks_back() {
    let withheld = Reading {
        utterance: "a <b>".to_owned(),
        reason: Some("two readings are about as likely".to_owned()),
        clarification: Some(Clarification {
            question: "do you mean `x<y` or `z`?".to_owned(),
            choices: vec![],
        }),
        guess: Some(Guess { program: Some("x".to_owned()), answer: None, probability: 0.1, posterior: 0.1 }),
        ..Reading::default()
    };
    let page = html(&withheld).unwrap();
    assert!(page.contains("<h2>I cannot answer this</h2>") && page.contains("about as likely"), "{page}");
    assert!(page.contains("do you mean `x&lt;y` or `z`?"), "{page}");
}
