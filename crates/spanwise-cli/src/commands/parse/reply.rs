//! A reading as human-readable text.

use crate::output::Columns;
use spanwise_reading::Reading;
use std::fmt::Write as _;

/// Program, answer, probability, tree, and other programs; or why there is no program.
pub(super) fn text(reading: &Reading) -> String {
    let mut out = format!("{}\n", reading.utterance);
    let Some(program) = &reading.program else {
        let reason = reading.reason.as_deref().unwrap_or_default();
        return match &reading.guess {
            Some(guess) => format!("{out}  no answer    {reason}\n  best guess   {}\n", guess.program),
            None => format!("{out}  no program: {reason}\n"),
        };
    };
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<11}  {value}");
    };
    line("program", program);
    if let Some(answer) = &reading.denotation {
        line("answer", if answer.is_empty() { "(empty)" } else { answer });
    }
    reading.note.iter().for_each(|note| line("note", note));
    reading.error.iter().for_each(|error| line("no answer", error));
    if let Some(probability) = reading.probability {
        line("probability", &format!("{probability:.3}"));
    }
    if !reading.unknown_words.is_empty() {
        line("out-of-domain", &format!("nothing is known about {}", reading.unknown_words.join(", ")));
    }
    if let Some(tree) = &reading.tree {
        out.push('\n');
        for line in tree.outline().lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    if !reading.alternatives.is_empty() {
        let mut table = Columns::new(["other programs", "probability"]);
        for other in &reading.alternatives {
            table.row([other.program.clone(), format!("{:.3}", other.probability)]);
        }
        out += &format!("\n{}", table.render());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(text(&reading), expected);
    }
}
