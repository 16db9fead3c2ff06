//! The words of a natural language that recognizers know: numbers, units, currencies, months, days.
//!
//! A language is data. To add one, write a table like `english.rs`; phrases such as `next friday` or `half past nine` are
//! code, beside what they mean.

mod english;
mod units;

pub(crate) use english::ENGLISH;
pub(crate) use units::{BuiltinUnit, ENGLISH_UNITS};

/// Words with the number they mean.
pub(crate) type Numbers = &'static [(&'static str, i64)];

/// Lists of words.
pub(crate) type Words = &'static [&'static str];

/// The tables of a language, all in lower case.
pub(crate) struct Language {
    /// From zero to nineteen.
    pub(crate) small: Numbers,
    /// Twenty to ninety.
    pub(crate) tens: Numbers,
    /// What multiplies a number below a hundred.
    pub(crate) hundred: Words,
    /// Thousand and more.
    pub(crate) scales: Numbers,
    /// Letters after digits that multiply: `3k`.
    pub(crate) suffixes: Numbers,
    /// The same, in amounts of money only: `$5m`.
    pub(crate) money_suffixes: Numbers,
    /// Groups: a dozen.
    pub(crate) groups: Numbers,
    /// First to nineteenth.
    pub(crate) small_ordinals: Numbers,
    /// Twentieth to ninetieth.
    pub(crate) tens_ordinals: Numbers,
    /// Hundredth and more.
    pub(crate) scale_ordinals: Numbers,
    /// Letters after digits that make an ordinal: `3rd`.
    pub(crate) ordinal_suffixes: Words,
    /// Denominators in the singular: a quarter.
    pub(crate) parts: Numbers,
    /// Denominators in the plural: three quarters.
    pub(crate) plural_parts: Numbers,
    pub(crate) half: Words,
    pub(crate) articles: Words,
    pub(crate) and: Words,
    pub(crate) of: Words,
    pub(crate) point: Words,
    pub(crate) minus: Words,
    /// Zero in a year or a time: nineteen oh five.
    pub(crate) oh: Words,
    /// Signs, codes and names of currencies with their code. A name may have several words.
    pub(crate) currencies: &'static [(&'static str, &'static str)],
    /// Names of hundredths of a currency.
    pub(crate) cents: &'static [(&'static str, &'static str)],
    /// Currencies that are called dollar, and those whose hundredths are called cent.
    pub(crate) dollars: Words,
    pub(crate) months: Numbers,
    /// Monday is 1.
    pub(crate) weekdays: Numbers,
    /// Days that a word names relative to today.
    pub(crate) days: Numbers,
    /// Phrases for the same.
    pub(crate) day_phrases: &'static [(&'static [&'static str], i64)],
    /// Decades that a word names: the nineties.
    pub(crate) decades: Numbers,
    /// Hours that a word names: noon.
    pub(crate) hours: Numbers,
    /// Phrases after an hour that name its half of the day. True is the second.
    pub(crate) day_halves: &'static [(&'static [&'static str], bool)],
}

/// The number of a word in a table.
pub(crate) fn number(table: Numbers, word: &str) -> Option<i64> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}
