//! A reading as human-readable text.

use crate::commands::withhold::refusal;
use crate::output::Columns;
use spanwise_reading::{Reading, Tree};
use spanwise_render::{NO_PROGRAM, TableLimits, visible, with_unit};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Program, answer, probability, tree, and other programs; or why there is nothing.
pub(super) fn text(reading: &Reading, limits: TableLimits) -> String {
    let mut out = format!("{}\n", visible(&reading.utterance));
    if !reading.is_found() {
        for line in refusal(reading, "--always-answer shows the best guess") {
            let _ = writeln!(out, "  {line}");
        }
        return out;
    }
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<11}  {}", visible(value));
    };
    line("program", reading.program.as_deref().unwrap_or(NO_PROGRAM));
    let table = table(reading, limits);
    match &reading.denotation {
        _ if table.is_some() => {}
        Some(answer) if answer.is_empty() => line("answer", "(empty)"),
        Some(answer) => {
            let number = reading.answer.as_ref().and_then(|it| with_unit(it, &reading.answer_info));
            line("answer", number.as_ref().unwrap_or(answer));
        }
        None => {}
    }
    reading.note.iter().for_each(|note| line("note", note));
    reading.error.iter().for_each(|error| line("no answer", error));
    if let Some(probability) = reading.probability {
        line("probability", &format!("{probability:.3}"));
    }
    if !reading.unknown_words.is_empty() {
        line("out-of-domain", &format!("nothing is known about {}", reading.unknown_words.join(", ")));
    }
    for remark in reading.remarks() {
        let _ = writeln!(out, "  {}", visible(&remark));
    }
    out += &table.unwrap_or_default();
    if let Some(tree) = &reading.tree {
        out.push('\n');
        for line in shown(tree).outline().lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    if !reading.alternatives.is_empty() {
        let mut table = Columns::new(["other programs", "probability"]);
        for other in &reading.alternatives {
            table.row([visible(&other.program).into_owned(), format!("{:.3}", other.probability)]);
        }
        out += &format!("\n{}", table.render());
    }
    out
}

/// The answer as a table below the rest, if it is one.
fn table(reading: &Reading, limits: TableLimits) -> Option<String> {
    let limits = TableLimits { width: limits.width.map(|width| width.saturating_sub(2)), ..limits };
    let table = spanwise_render::table(reading.answer.as_ref()?, &reading.answer_info, limits)?;
    let lines = table.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n");
    Some(std::iter::once("\n".to_owned()).chain(lines).collect())
}

/// The tree without characters that would act on a terminal.
fn shown(tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    for node in &mut tree.nodes {
        let texts = [&mut node.constant, &mut node.program, &mut node.r#type].into_iter().flatten();
        for text in texts.chain([&mut node.words]) {
            if let Cow::Owned(written) = visible(text) {
                *text = written;
            }
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_reading::{
        Alternative, AnswerInfo, Clarification, Correction, CorrectionKind, Guess, NodeKind, TreeNode,
        Unread, UnreadKind,
    };

    const WIDE: TableLimits = TableLimits { width: None, rows: Some(2) };

    #[test]
    fn a_table_is_shown_as_one_and_a_number_with_its_unit() {
        let reading = |answer: serde_json::Value, info: serde_json::Value| Reading {
            utterance: "orders".to_owned(),
            program: Some("orders()".to_owned()),
            denotation: Some(answer.to_string()),
            answer: Some(answer.into()),
            answer_info: serde_json::from_value(info).unwrap(),
            ..Reading::default()
        };
        let rows =
            serde_json::json!({ "columns": ["name", "price"], "rows": [["a", 12345.5], ["b", 7], ["c", 8]] });
        let info = serde_json::json!({ "units": ["", "USD"], "total_rows": 1240, "truncated": true });
        let expected = "orders\n  program      orders()\n\n  name         price\n  ----  ------------\n  \
                        a     12,345.5 USD\n  b          7.0 USD\n  2 of 1,240 rows\n";
        assert_eq!(text(&reading(rows, info), WIDE), expected);
        let number = reading(serde_json::json!(42), serde_json::json!({ "units": ["min"] }));
        assert!(text(&number, WIDE).contains("  answer       42 min\n"));
    }

    #[test]
    fn a_reading_without_a_tree_or_an_answer_is_shown_without_them() {
        let reading = Reading {
            utterance: "states".to_owned(),
            program: Some("state(all)".to_owned()),
            probability: Some(0.5),
            unknown_words: vec!["states".to_owned()],
            ..Reading::default()
        };
        let expected = "states\n  program      state(all)\n  probability  0.500\n  \
                        out-of-domain  nothing is known about states\n";
        assert_eq!(text(&reading, WIDE), expected);
    }

    #[test]
    fn an_answer_without_a_program_is_shown_as_one() {
        let reading = Reading {
            utterance: "how many cubes".to_owned(),
            denotation: Some("2".to_owned()),
            probability: Some(0.5),
            ..Reading::default()
        };
        let expected =
            format!("how many cubes\n  program      {NO_PROGRAM}\n  answer       2\n  probability  0.500\n");
        assert_eq!(text(&reading, WIDE), expected);
    }

    #[test]
    fn corrections_and_unread_words_are_said_and_a_withheld_answer_is_not() {
        let correction = Correction {
            span: [0, 1],
            from: "metalica".to_owned(),
            to: "Metallica".to_owned(),
            kind: CorrectionKind::Spelling,
        };
        let unread = Unread { span: [2, 3], words: "1978".to_owned(), kind: UnreadKind::Number };
        let answered = Reading {
            utterance: "metalica in 1978".to_owned(),
            program: Some("songs()".to_owned()),
            corrections: vec![correction],
            unread: vec![unread],
            ..Reading::default()
        };
        let remarks = "  read \"metalica\" as \"Metallica\"\n  not read: \"1978\" (a number)\n";
        assert_eq!(text(&answered, WIDE), format!("metalica in 1978\n  program      songs()\n{remarks}"));
        let withheld = Reading {
            program: None,
            reason: Some("no program here has a place for the number `1978`".to_owned()),
            guess: Some(Guess {
                program: Some("songs()".to_owned()),
                answer: None,
                probability: 0.1,
                posterior: 0.9,
            }),
            ..answered
        };
        let expected = format!(
            "metalica in 1978\n  I cannot answer this: no program here has a place for the number `1978`.\n\
             {remarks}  --always-answer shows the best guess\n"
        );
        assert_eq!(text(&withheld, WIDE), expected);
    }

    #[test]
    fn no_control_character_of_an_utterance_a_model_or_an_executor_reaches_the_terminal() {
        let bad = || "\u{1b}]0;owned\u{7}\r\u{9b}31m\u{202e}\nnext".to_owned();
        let some = |program: Option<String>| Reading {
            utterance: bad(),
            reason: program.is_none().then(bad),
            program,
            denotation: Some(bad()),
            note: Some(bad()),
            error: Some(bad()),
            unknown_words: vec![bad()],
            corrections: vec![Correction {
                span: [0, 1],
                from: bad(),
                to: bad(),
                kind: CorrectionKind::Spelling,
            }],
            unread: vec![Unread { span: [0, 1], words: bad(), kind: UnreadKind::Unknown }],
            clarification: Some(Clarification { question: bad(), choices: vec![bad() + "?"] }),
            guess: Some(Guess {
                program: Some(bad()),
                answer: Some(bad().into()),
                probability: 0.1,
                posterior: 0.1,
            }),
            alternatives: vec![Alternative {
                program: bad(),
                probability: 0.1,
                posterior: 0.1,
                score: 0.0,
                answer: None,
                answer_info: AnswerInfo::default(),
                denotation: None,
            }],
            tree: Some(Tree {
                nodes: vec![TreeNode {
                    span: [0, 1],
                    words: bad(),
                    kind: NodeKind::Constant,
                    constant: Some(bad()),
                    program: Some(bad()),
                    r#type: Some(bad()),
                    probability: None,
                    children: Vec::new(),
                }],
            }),
            ..Reading::default()
        };
        for reading in [some(None), some(Some(bad())), Reading { guess: None, ..some(None) }] {
            let text = text(&reading, WIDE);
            let is_bad = |ch: char| ch != '\n' && (ch.is_control() || ch == '\u{202e}');
            assert!(!text.contains(is_bad), "{text:?}");
            assert!(!text.lines().any(|line| line.trim_start().starts_with("next")), "{text}");
        }
    }
}
