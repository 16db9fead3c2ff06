//! An utterance prepared for reading: its atoms, its numbers, and when it was said.

use crate::atoms::Atoms;
use crate::numbers::Numbers;
use crate::options::Options;
use crate::units::Units;
use jiff::civil::{Date, DateTime};
use spanwise_core::Utterance;

pub(crate) struct Scene<'a> {
    pub(crate) atoms: Atoms<'a>,
    pub(crate) numbers: Numbers,
    pub(crate) now: Option<DateTime>,
    pub(crate) options: &'a Options,
    pub(crate) units: &'a Units,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(utterance: &'a Utterance, options: &'a Options, units: &'a Units) -> Self {
        let atoms = Atoms::new(utterance);
        let numbers = Numbers::new(&atoms, options.decimal);
        let now = utterance.now().and_then(|now| {
            let (year, month, day) = (i16::try_from(now.year).ok()?, now.month as i8, now.day as i8);
            DateTime::new(year, month, day, now.hour as i8, now.minute as i8, now.second as i8, 0).ok()
        });
        Self { atoms, numbers, now, options, units }
    }

    pub(crate) fn today(&self) -> Option<Date> {
        self.now.map(DateTime::date)
    }

    /// A whole number of things, in digits or words, or an article for one, with its end.
    pub(crate) fn count(&self, at: usize) -> impl Iterator<Item = (usize, i64)> {
        let article = self.atoms.is_any(at, crate::language::ENGLISH.articles).then_some((at + 1, 1));
        let numbers = self.numbers.cardinals(at).filter(|number| !number.decimal);
        numbers.filter_map(|number| Some((number.end, number.value.to_integer()?))).chain(article)
    }
}
