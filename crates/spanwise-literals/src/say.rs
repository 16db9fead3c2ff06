//! The inverse of reading: words for values, made up for examples.
//!
//! Values are drawn at random, and each is said in one of several ways: digits or words, one unit or another, an absolute or
//! a relative date. Words are only given if a recognizer reads them, alone, as this value and as nothing else.

mod forms;
mod values;

use crate::literal::{Literal, Value};
use crate::recognizer::Recognizer;
use spanwise_core::{Moment, Random, Span, Utterance};

/// Draws of a value until one can be said.
const MAX_DRAWS: usize = 20;

impl Recognizer {
    /// Words for a random value, with that value. Read alone and at that moment, the words have no other one. `None` where no
    /// words were found, as with a unit that has no name.
    ///
    /// ```
    /// use spanwise_core::Random;
    /// use spanwise_literals::{Kind, Options, Recognizer};
    ///
    /// let duration = Recognizer::new(Kind::Duration, Options::default())?;
    /// let (words, value) = duration.say(&mut Random::new(1, &[]), None).ok_or("nothing to say")?;
    /// assert_eq!(duration.only_reading(&words, None), Some(value));
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn say(&self, random: &mut Random, now: Option<Moment>) -> Option<(String, Literal)> {
        for _ in 0..MAX_DRAWS {
            let Some(value) = self.drawn(random, now) else { continue };
            if let Some((words, literal)) = self.said(&value, random, now) {
                return Some((words, literal));
            }
        }
        None
    }

    /// Other words for the value of some words, or these words again. `None` where they have no value, or several.
    #[must_use]
    pub fn say_again(
        &self,
        words: &str,
        random: &mut Random,
        now: Option<Moment>,
    ) -> Option<(String, Literal)> {
        let known = self.only_reading(words, now)?;
        let found = self.value_of(&known).and_then(|value| self.said(&value, random, now));
        let found = found.filter(|(_, literal)| literal.value() == known.value());
        Some(found.unwrap_or_else(|| (words.to_owned(), known)))
    }

    /// The value that words have as a whole; `None` if they have none, or several.
    #[must_use]
    pub fn only_reading(&self, words: &str, now: Option<Moment>) -> Option<Literal> {
        let utterance = Utterance::new(words).said_at(now);
        let whole = Span::new(0, utterance.len() as u32);
        let mut found = self.read(&utterance).into_iter().filter(|literal| literal.span == whole);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The first of the forms of a value, in random order, that is read as this value.
    fn said(&self, value: &Value, random: &mut Random, now: Option<Moment>) -> Option<(String, Literal)> {
        let expected = value.fields()?;
        let mut forms = self.forms(value, now);
        random.shuffle(&mut forms);
        forms.into_iter().find_map(|words| {
            let literal = self.only_reading(&words, now)?;
            // With `verbatim`, the words are the value. Those of a text may be written in another way.
            let is_free = self.options().verbatim || self.kind() == crate::options::Kind::Text;
            let is_it = is_free || literal.fields == expected;
            is_it.then_some((words, literal))
        })
    }
}
