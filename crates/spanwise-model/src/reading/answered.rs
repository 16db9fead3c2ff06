//! Readings of models that give answers without programs.

use super::withheld::withheld_answer;
use crate::outcome::Answered;
use serde_json::Number;
use spanwise_reading::{Answer, Guess, Reading};

/// Puts an answer into a reading, or why it is withheld.
pub(super) fn fill(reading: &mut Reading, answered: &Answered, threshold: Option<f64>) {
    reading.unknown_words = answered.unknown().map(str::to_owned).collect();
    let answer = Some(typed(&answered.answer));
    let (probability, posterior) = (answered.probability, answered.posterior);
    if let Some(threshold) = threshold.filter(|&threshold| probability < threshold) {
        let why = withheld_answer(answered, threshold);
        (reading.cause, reading.reason) = (Some(why.cause), Some(why.reason));
        reading.guess = Some(Guess { program: None, answer, probability, posterior });
        return;
    }
    (reading.answer, reading.denotation) = (answer, Some(answered.answer.clone()));
    reading.probability = Some(probability);
    reading.posterior = Some(posterior);
    reading.in_domain = Some(answered.in_domain);
}

/// The value that an answer is the text of: yes or no, a number, or a text.
fn typed(text: &str) -> Answer {
    match text {
        "yes" => Answer::Boolean(true),
        "no" => Answer::Boolean(false),
        _ => text.parse::<Number>().map_or_else(|_| text.into(), Answer::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_core::Utterance;
    use spanwise_reading::Cause;

    fn reading(answered: &Answered, threshold: Option<f64>) -> Reading {
        let mut reading = Reading::default();
        fill(&mut reading, answered, threshold);
        reading
    }

    #[test]
    fn an_answer_is_typed_as_executors_type_theirs() {
        let two: Answer = 2u64.into();
        for (text, expected) in [
            ("yes", true.into()),
            ("no", false.into()),
            ("2", two),
            ("red", "red".into()),
            ("2 red", "2 red".into()),
        ] {
            assert_eq!(typed(text), expected);
            assert_eq!(typed(text).to_string(), text);
        }
    }

    #[test]
    fn an_answer_has_no_program_and_one_below_the_threshold_is_a_guess_with_a_reason() {
        let answered = Answered::new(Utterance::new("how many cubes"), "2".to_owned(), 0.4);
        let told = reading(&answered, None);
        assert_eq!((told.answer, told.denotation.as_deref()), (Some(2u64.into()), Some("2")));
        assert_eq!((told.probability, told.in_domain, told.program), (Some(0.4), Some(1.0), None));
        assert!(told.reason.is_none() && told.cause.is_none() && told.guess.is_none());
        assert_eq!(reading(&answered, Some(0.4)).denotation.as_deref(), Some("2"));
        let withheld = reading(&answered, Some(0.5));
        assert_eq!((&withheld.answer, &withheld.denotation, withheld.probability), (&None, &None, None));
        assert_eq!((withheld.cause, withheld.is_withheld()), (Some(Cause::Unsure), true));
        let expected = "the best answer is doubtful (probability 0.40, the threshold is 0.5)";
        assert_eq!(withheld.reason.as_deref(), Some(expected));
        assert_eq!(withheld.guess.unwrap().answer, Some(2u64.into()));
    }

    #[test]
    fn unknown_words_are_why_an_answer_is_withheld() {
        let answered = Answered::new(Utterance::new("how many eggs"), "2".to_owned(), 0.4);
        let novel = Answered { in_domain: 0.1, unknown_words: vec![2], ..answered };
        let withheld = reading(&novel, Some(0.5));
        assert_eq!(
            (withheld.cause, withheld.unknown_words),
            (Some(Cause::OutOfDomain), vec!["eggs".to_owned()])
        );
        assert!(
            withheld.reason.unwrap().starts_with("this looks out-of-domain: nothing is known about `eggs` (")
        );
    }
}
