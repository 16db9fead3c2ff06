//! What a person should know about how words were read, as short lines: corrections, and words that were left out.

use crate::{Cause, Correction, CorrectionKind, Reading, Unread, UnreadKind};

impl Reading {
    /// A line for everything that was read as something else, and for everything that was not read, in the order of the
    /// words. The lines hold words of the utterance and names of the domain as they are.
    ///
    /// ```
    /// use spanwise_reading::Reading;
    ///
    /// let reading: Reading = serde_json::from_str(
    ///     r#"{"utterance": "metalica songs of 1978", "program": "songs()",
    ///         "corrections": [{"span": [0, 1], "from": "metalica", "to": "Metallica", "kind": "spelling"}],
    ///         "unread": [{"span": [3, 4], "words": "1978", "kind": "number"}]}"#,
    /// )?;
    /// assert_eq!(reading.remarks(), [r#"read "metalica" as "Metallica""#, r#"not read: "1978" (a number)"#]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let corrections = self.corrections.iter().map(|it| (it.span, it.remark()));
        let unread = self.unread.iter().map(|it| (it.span, it.remark()));
        let mut all: Vec<([u32; 2], String)> = corrections.chain(unread).collect();
        all.sort_by_key(|(span, _)| *span);
        all.into_iter().map(|(_, line)| line).collect()
    }

    /// Whether there is a program, or an answer without one, that was withheld because it is too doubtful.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.program.is_none() && self.guess.is_some()
    }

    /// Whether there is an answer of a model that gives no programs.
    #[must_use]
    pub fn is_answer_alone(&self) -> bool {
        self.program.is_none() && self.denotation.is_some()
    }

    /// Whether there is a program, or an answer without one, that was not withheld.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.program.is_some() || self.is_answer_alone()
    }
}

impl Correction {
    /// The correction as a line, such as `read "zeppelin" as "Led Zeppelin" (a part of the name)`.
    #[must_use]
    pub fn remark(&self) -> String {
        let why = match self.kind {
            CorrectionKind::Spelling => "",
            CorrectionKind::Folded => " (apart from case, accents or punctuation)",
            CorrectionKind::Part => " (a part of the name)",
            CorrectionKind::Meaning => " (a similar meaning)",
        };
        format!("read \"{}\" as \"{}\"{why}", self.from, self.to)
    }
}

impl Unread {
    /// The words as a line, such as `not read: "1978" (a number)`.
    #[must_use]
    pub fn remark(&self) -> String {
        format!("not read: \"{}\" ({})", self.words, self.kind.in_words())
    }
}

impl UnreadKind {
    /// The kind with its article: `a number`.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Name => "a name",
            Self::Negation => "a negation",
            Self::Question => "a second question",
            Self::Unknown => "an unknown word",
            Self::Content => "a word with a meaning of its own",
        }
    }
}

impl Cause {
    /// The name of the cause in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownWords => "unknown-words",
            Self::UnreadWords => "unread-words",
            Self::Ambiguous => "ambiguous",
            Self::ManyNames => "many-names",
            Self::OutOfDomain => "out-of-domain",
            Self::Unanswerable => "unanswerable",
            Self::Unsure => "unsure",
            Self::NoProgram => "no-program",
            Self::TooCostly => "too-costly",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Guess;

    #[test]
    fn every_cause_has_its_name_in_json() {
        let all = [
            Cause::UnknownWords,
            Cause::UnreadWords,
            Cause::Ambiguous,
            Cause::ManyNames,
            Cause::OutOfDomain,
            Cause::Unanswerable,
            Cause::Unsure,
            Cause::NoProgram,
            Cause::TooCostly,
        ];
        for cause in all {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.name());
        }
    }

    #[test]
    fn remarks_are_in_the_order_of_the_words_and_say_how_each_was_read() {
        let correction = |at: u32, kind| Correction {
            span: [at, at + 1],
            from: format!("w{at}"),
            to: "X".to_owned(),
            kind,
        };
        let unread = |at: u32, kind| Unread { span: [at, at + 1], words: format!("w{at}"), kind };
        let reading = Reading {
            corrections: vec![
                correction(7, CorrectionKind::Meaning),
                correction(0, CorrectionKind::Folded),
                correction(2, CorrectionKind::Part),
            ],
            unread: vec![unread(5, UnreadKind::Negation), unread(1, UnreadKind::Unknown)],
            ..Reading::default()
        };
        let expected = [
            "read \"w0\" as \"X\" (apart from case, accents or punctuation)",
            "not read: \"w1\" (an unknown word)",
            "read \"w2\" as \"X\" (a part of the name)",
            "not read: \"w5\" (a negation)",
            "read \"w7\" as \"X\" (a similar meaning)",
        ];
        assert_eq!(reading.remarks(), expected);
        assert!(Reading::default().remarks().is_empty());
    }

    #[test]
    fn only_a_reading_with_a_guess_and_without_a_program_is_withheld() {
        let guess = Guess { program: Some("p".to_owned()), answer: None, probability: 0.1, posterior: 0.2 };
        let withheld = Reading { guess: Some(guess), ..Reading::default() };
        assert!(withheld.is_withheld() && !Reading::default().is_withheld());
        assert!(!withheld.is_found() && !Reading::default().is_found());
        let found = Reading { program: Some("p".to_owned()), ..withheld };
        assert!(!found.is_withheld() && found.is_found() && !found.is_answer_alone());
    }

    #[test]
    fn an_answer_of_a_model_without_programs_is_found() {
        let answered = Reading { denotation: Some("yes".to_owned()), ..Reading::default() };
        assert!(answered.is_found() && answered.is_answer_alone() && !answered.is_withheld());
        // A program keeps its own answer.
        assert!(!Reading { program: Some("p".to_owned()), ..answered }.is_answer_alone());
    }
}
