//! What is read: kinds of literals, and options that a domain sets.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

macro_rules! named {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let names: Vec<&str> = Self::ALL.iter().map(|one| one.name()).collect();
                let found = Self::ALL.iter().find(|one| one.name() == text);
                found.copied().ok_or_else(|| {
                    format!("`{text}` is not {}; expected one of {}", $what, names.join(", "))
                })
            }
        }
    };
}

named! {
    /// A kind of literal.
    Kind, "a kind of literal" {
        /// A whole number: `1000`.
        Integer = "integer",
        /// A number with or without a fraction: `4.25`.
        Decimal = "decimal",
        /// A place in an order: `twenty-first` is `21`.
        Ordinal = "ordinal",
        /// An amount with its currency: `40 USD`.
        Money = "money",
        /// A number with a unit, converted to the base unit of its measure: `5000 m`.
        Quantity = "quantity",
        /// A length of time: `330 s`; months and years are `24 month`.
        Duration = "duration",
        /// A day: `2011-03-05`.
        Date = "date",
        /// A time of day: `16:30`.
        Time = "time",
        /// A day with a time: `2011-03-05T16:30`.
        DateTime = "datetime",
        /// Days from a first one to the one after the last: `2011-03-01/2011-04-01`.
        Period = "period",
        /// Text in quotes, without them.
        Quoted = "quoted",
        /// Any span of words, up to a number of words.
        Text = "text",
    }
}

named! {
    /// How numbers with marks are read.
    DecimalMark, "a decimal mark" {
        /// `1,000.5`: commas separate thousands.
        Point = "point",
        /// `1.000,5`: points separate thousands.
        Comma = "comma",
        /// Both readings, where both are possible.
        Either = "either",
    }
}

named! {
    /// The order of day and month in dates such as `03/05/2011`.
    DateOrder, "an order of dates" {
        /// Both readings. With points (`3.5.2011`) the day is first all the same.
        Either = "either",
        /// March 5.
        MonthFirst = "month-first",
        /// The 3rd of May.
        DayFirst = "day-first",
    }
}

named! {
    /// Which day, month or quarter is meant where the words leave it open: `friday`, `may 3`, `in june`.
    Tense, "a tense" {
        /// The last one and the next one.
        Either = "either",
        /// The last one, or today.
        Past = "past",
        /// The next one, or today.
        Future = "future",
    }
}

named! {
    /// What a quantity measures. Each has one base unit.
    Measure, "a measure" {
        /// In `m`.
        Length = "length",
        /// In `s`, or in `month` for months and years.
        Duration = "duration",
        /// In `kg`.
        Weight = "weight",
        /// In `B`, bytes. `kB` is 1000 of them, `KiB` 1024.
        Data = "data",
        /// In `°C`. Degrees without a letter are read as Celsius and as Fahrenheit.
        Temperature = "temperature",
        /// In `%`.
        Percent = "percent",
        /// In `m²`.
        Area = "area",
        /// In `l`.
        Volume = "volume",
        /// In `km/h`.
        Speed = "speed",
    }
}

/// A unit that a domain adds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its names, each of one or more words, in any case.
    pub names: Vec<String>,
    /// The unit that values are given in. It needs no entry of its own, but then it is no name that is read.
    pub base: String,
    /// How many base units it is: a decimal such as `0.0254`, or a fraction such as `1/3`.
    pub factor: String,
}

/// Options of a recognizer. Those of other kinds are ignored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How numbers with marks are read.
    pub decimal: DecimalMark,
    /// How dates such as `03/05/2011` are read.
    pub dates: DateOrder,
    /// Which dates and periods are meant by words that name no year.
    pub tense: Tense,
    /// What a quantity measures. Without it and without `units`, every measure is read.
    pub measure: Option<Measure>,
    /// More units for quantities.
    pub units: Vec<Unit>,
    /// The currency of numbers without one; without it they are no money. If it is a kind of dollar, it is also what `$`,
    /// dollars and bucks mean, which are US dollars otherwise; likewise cents, which are euro cents for `EUR`.
    pub currency: Option<String>,
    /// The currencies of amounts; amounts in others are left alone. Empty for all.
    pub currencies: Vec<String>,
    /// The longest text in words.
    pub max_words: usize,
    /// Whether `value` is the words themselves instead of their canonical value.
    pub verbatim: bool,
    /// How words of a text are written, by their lower case. Others are kept.
    pub spellings: BTreeMap<String, String>,
    /// Whether these others begin with a capital letter.
    pub capitals: bool,
}

impl Options {
    /// Whether amounts in a currency are read.
    pub(crate) fn has_currency(&self, code: &str) -> bool {
        self.currencies.is_empty() || self.currencies.iter().any(|known| known == code)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            decimal: DecimalMark::Point,
            dates: DateOrder::Either,
            tense: Tense::Either,
            measure: None,
            units: Vec::new(),
            currency: None,
            currencies: Vec::new(),
            max_words: 6,
            verbatim: false,
            spellings: BTreeMap::new(),
            capitals: false,
        }
    }
}
