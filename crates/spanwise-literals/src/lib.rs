//! Reads literals: numbers, money, quantities, dates, times, periods and quoted text, from the words of an utterance.
//!
//! A [`Recognizer`] maps spans of words to values, exactly and with all readings: `03/05/2011` is two dates. Values are typed
//! text, the same for every way to say them: `a thousand`, `1,000` and `1k` are `1000`.
//!
//! ```
//! use spanwise_core::Utterance;
//! use spanwise_literals::{Kind, Options, Recognizer};
//!
//! let money = Recognizer::new(Kind::Money, Options::default())?;
//! let utterance = Utterance::new("invoices over $1,299.99");
//! let found = money.read(&utterance);
//! assert_eq!(found.len(), 1);
//! assert_eq!(utterance.slice(found[0].span), "$1,299.99");
//! assert_eq!(found[0].value(), "1299.99 USD");
//! assert!(money.accepts("value", "1299.99 USD") && !money.accepts("value", "1299.990 USD"));
//! # Ok::<(), String>(())
//! ```
//!
//! # Rules
//!
//! *Wholes.* What is written without a space is read as a whole or not at all: `4.25` contains no 4, `03/05/2011` no 3,
//! `mp3`, `1.2.3`, `covid-19` and `555-1234` no number. Words after a hyphen or a slash are free: `5-star` contains a 5.
//! More than 30 digits are no number, nor are digits that begin with a zero, such as `007`.
//!
//! *Longest phrases.* Within one kind, a reading inside a longer one is dropped: `two hundred` contains no 2, `next friday` no
//! other friday, `6 feet 2 inches` no 6 feet. Where it is not certain that words belong together, both are kept: `2 500`
//! (2500, 2 and 500), `minus 40`, `5 min 30`, and quantities with *and* between them.
//!
//! *Borrowing.* A number before *and*, *or* or *to* and a quantity has the unit of the second: `between 5 and 10 km`. A date or
//! a month has the year of the second in the same way: `between march and may 2011`, `from november to february 2011`.
//!
//! *Numbers* are exact. One that no decimal equals, such as a third, is rounded to twelve places. Percentages are quantities
//! of the measure `percent`. `hundreds` and `dozens` alone have no value, `a couple` is 2.
//!
//! *Dates* that name no year or week (`may 3`, `friday`, `march`, `Q3`) have two readings: the last one up to today, and the
//! first one from today on; a month or quarter that has begun and not ended is the only one. `next friday` is the first one
//! after today and the one of next week, `last friday` likewise. `last month` is the calendar's; `the last 3 months` are three
//! whole ones or those up to today, which counts. Weeks begin on Monday. Years of two digits are from 1969 to 2068.
//! Without [`now`](spanwise_core::Utterance::now), what is relative to today has no reading. A day is a period, too.
//!
//! *Times* from 1 to 12 o'clock without a part of the day have two readings, unless they have a leading zero (`04:30`).
//!
//! # Cost
//!
//! Linear in the number of words: 0.2 to 0.4 microseconds a word for numbers, money and quantities, up to 0.8 for dates and
//! periods and 1.3 for text of up to six words, measured by the example `speed` on a question that is dense with literals, in a
//! development build on one core of a server.

mod atoms;
mod canonical;
mod clock;
mod dates;
mod datetimes;
mod language;
mod literal;
mod measure;
mod money;
mod number_words;
mod numbers;
mod numeral;
mod options;
mod period_phrases;
mod periods;
mod ratio;
mod recognizer;
mod say;
mod scene;
mod strings;
mod units;

pub use literal::Literal;
pub use options::{DateOrder, DecimalMark, Kind, Measure, Options, Tense, Unit};
pub use recognizer::Recognizer;
