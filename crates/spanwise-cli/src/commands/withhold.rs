//! Which answers are withheld: the options, and what people are told in place of an answer.

use crate::output::say;
use spanwise_model::{Model, Withhold};
use spanwise_reading::Reading;
use spanwise_render::visible;

/// The options of commands that answer.
#[derive(clap::Args)]
pub(crate) struct WithholdArgs {
    /// Withhold answers that are less probable than P, from 0 to 1 [default: the threshold of the model, which calibration
    /// fitted]
    #[arg(long, value_name = "P", value_parser = super::probability, conflicts_with = "always_answer")]
    abstain_below: Option<f64>,
    /// Withhold nothing: answer with the most probable program, however doubtful it is
    #[arg(long)]
    always_answer: bool,
}

impl WithholdArgs {
    pub(crate) fn choice(&self) -> Withhold {
        match self.abstain_below {
            Some(least) => Withhold::Below(least),
            None if self.always_answer => Withhold::Never,
            None => Withhold::Default,
        }
    }

    /// Says that nothing is withheld, where that is because the model has no threshold.
    pub(crate) fn say_uncalibrated(&self, model: &Model) {
        if self.choice() == Withhold::Default && model.confidence.threshold.is_none() {
            say(&format!("note: {UNCALIBRATED}"));
        }
    }
}

/// What is said once about a model without a threshold.
pub(crate) const UNCALIBRATED: &str =
    "this model was never calibrated; nothing is withheld; run `spanwise calibrate MODEL dev.jsonl`";

/// What a person is told in place of an answer, line by line: that there is none and why, the question back, how the words
/// were read, and how to see the best guess.
pub(crate) fn refusal(reading: &Reading, how_to_see: &str) -> Vec<String> {
    let reason = reading.reason.as_deref().unwrap_or("there is no program");
    let mut lines = vec![format!("I cannot answer this: {}.", visible(reason))];
    if let Some(clarification) = &reading.clarification {
        lines.push(visible(&clarification.question).into_owned());
        let is_said = |choice: &&String| clarification.question.contains(choice.as_str());
        let unsaid: Vec<_> =
            clarification.choices.iter().filter(|choice| !is_said(choice)).map(|it| visible(it)).collect();
        if !unsaid.is_empty() {
            lines.push(format!("to choose from: {}", unsaid.join(", ")));
        }
    }
    lines.extend(reading.remarks().iter().map(|line| visible(line).into_owned()));
    if reading.guess.is_some() {
        lines.push(how_to_see.to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_reading::{Clarification, Correction, CorrectionKind, Guess};

    #[test]
    fn a_refusal_says_why_asks_back_and_tells_how_to_see_the_guess() {
        let reading = Reading {
            reason: Some("two readings are about as likely".to_owned()),
            clarification: Some(Clarification {
                question: "do you mean `a` or `b`?".to_owned(),
                choices: vec!["a".to_owned(), "b".to_owned()],
            }),
            corrections: vec![Correction {
                span: [0, 1],
                from: "texsa".to_owned(),
                to: "texas".to_owned(),
                kind: CorrectionKind::Spelling,
            }],
            guess: Some(Guess {
                program: Some("a".to_owned()),
                answer: None,
                probability: 0.4,
                posterior: 0.5,
            }),
            ..Reading::default()
        };
        let expected = [
            "I cannot answer this: two readings are about as likely.",
            "do you mean `a` or `b`?",
            "read \"texsa\" as \"texas\"",
            "see the guess",
        ];
        assert_eq!(refusal(&reading, "see the guess"), expected);
        let clarification = Clarification {
            question: "which one?".to_owned(),
            choices: vec!["x".to_owned(), "y".to_owned()],
        };
        let named = Reading { clarification: Some(clarification), guess: None, ..reading };
        assert_eq!(refusal(&named, "see the guess")[1..3], ["which one?", "to choose from: x, y"]);
        assert_eq!(refusal(&named, "see the guess").len(), 4);
    }
}
