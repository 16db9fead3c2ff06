//! Random values, and values from the fields of literals.

use crate::literal::{Literal, Value};
use crate::options::Kind;
use crate::ratio::Ratio;
use crate::recognizer::Recognizer;
use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time};
use spanwise_core::{Moment, Random};

/// The years of dates where there is no today.
const YEARS: std::ops::Range<usize> = 1990..2030;
/// Syllables of words that mean nothing.
const SYLLABLES: &[&str] =
    &["ba", "do", "ki", "lo", "mar", "nel", "po", "ri", "sa", "tem", "u", "ven", "zo", "li"];
/// Amounts that people like.
const ROUND: &[i64] =
    &[5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 90, 100, 120, 150, 200, 250, 300, 500, 1_000, 2_000, 5_000];

impl Recognizer {
    /// A random value.
    pub(super) fn drawn(&self, random: &mut Random, now: Option<Moment>) -> Option<Value> {
        Some(match self.kind() {
            Kind::Integer => Value::Number(Ratio::whole(whole(random))),
            Kind::Decimal => Value::Number(decimal(random)),
            Kind::Ordinal => Value::Number(Ratio::whole(1 + random.below(12) as i64)),
            Kind::Money => self.money(random)?,
            Kind::Quantity | Kind::Duration => self.amount(random)?,
            Kind::Date => Value::Day(day(random, now)?),
            Kind::Time => Value::Clock(clock(random)?),
            Kind::DateTime => Value::Moment(DateTime::from_parts(day(random, now)?, clock(random)?)),
            Kind::Period => period(random, now)?,
            Kind::Quoted => Value::Words(words(random, 2)),
            Kind::Text => Value::Words(words(random, self.options().max_words.min(3))),
        })
    }

    fn money(&self, random: &mut Random) -> Option<Value> {
        let options = self.options();
        let codes: Vec<&str> = match &options.currency {
            Some(own) if options.has_currency(own) => vec![own],
            _ if !options.currencies.is_empty() => options.currencies.iter().map(String::as_str).collect(),
            _ => vec!["USD", "EUR"],
        };
        let code = codes[random.below(codes.len())];
        let amount = match random.below(5) {
            0 => Ratio::new(random.below(10_000) as i128 + 99, 100)?,
            1 => Ratio::whole(1 + random.below(500) as i64),
            _ => Ratio::whole(ROUND[random.below(ROUND.len())]),
        };
        Some(Value::Amount(amount, code.to_owned()))
    }

    /// A number of some unit, as a number of its base unit.
    fn amount(&self, random: &mut Random) -> Option<Value> {
        let units = self.units().named();
        let scale = self.units().get(units.get(random.below(units.len().max(1)))?.0);
        let amount = match random.below(4) {
            0 => Ratio::whole(1 + random.below(10) as i64),
            1 => Ratio::new(1 + random.below(40) as i128, 2)?,
            2 => Ratio::whole(ROUND[random.below(12)]),
            _ => Ratio::whole(1 + random.below(60) as i64),
        };
        Some(Value::Amount(scale.convert(amount)?, scale.base.clone()))
    }

    /// The value of a literal, from its text.
    pub(super) fn value_of(&self, literal: &Literal) -> Option<Value> {
        let date = |text: &str| text.parse::<Date>().ok();
        let text = literal.value();
        Some(match self.kind() {
            Kind::Integer | Kind::Decimal | Kind::Ordinal => Value::Number(Ratio::from_text(text)?),
            Kind::Money | Kind::Quantity | Kind::Duration => {
                Value::Amount(Ratio::from_text(literal.field("number")?)?, literal.field("unit")?.to_owned())
            }
            Kind::Date => Value::Day(date(text)?),
            Kind::Time => Value::Clock(text.parse::<Time>().ok()?),
            Kind::DateTime => Value::Moment(text.parse::<DateTime>().ok()?),
            Kind::Period => Value::Period(date(literal.field("begin")?)?, date(literal.field("end")?)?),
            Kind::Quoted | Kind::Text => Value::Words(text.to_owned()),
        })
    }
}

/// Small numbers are frequent, large ones round.
fn whole(random: &mut Random) -> i64 {
    match random.below(4) {
        0 | 1 => 2 + random.below(11) as i64,
        2 => ROUND[random.below(ROUND.len())],
        _ => 1 + random.below(100) as i64,
    }
}

fn decimal(random: &mut Random) -> Ratio {
    match random.below(3) {
        0 => Ratio::new(1 + random.below(199) as i128, 10).unwrap_or(Ratio::ONE),
        _ => Ratio::whole(whole(random)),
    }
}

pub(super) fn date_of(now: Moment) -> Option<Date> {
    Date::new(i16::try_from(now.year).ok()?, now.month.try_into().ok()?, now.day.try_into().ok()?).ok()
}

fn day(random: &mut Random, now: Option<Moment>) -> Option<Date> {
    let Some(today) = now.and_then(date_of) else {
        let year = YEARS.start + random.below(YEARS.len());
        return Date::new(year as i16, 1 + random.below(12) as i8, 1 + random.below(28) as i8).ok();
    };
    let back = match random.below(3) {
        0 => random.below(8) as i64,
        1 => random.below(100) as i64,
        _ => random.below(1_000) as i64,
    };
    // Most questions are about what was.
    let away = if random.below(4) == 0 { -(back % 60) } else { back };
    today.checked_sub(away.days()).ok()
}

fn clock(random: &mut Random) -> Option<Time> {
    let minute = [0, 0, 0, 15, 30, 45, random.below(60) as i8][random.below(7)];
    Time::new(random.below(24) as i8, minute, 0, 0).ok()
}

/// A day, a week, a month, a quarter, a year, or some months up to today.
fn period(random: &mut Random, now: Option<Moment>) -> Option<Value> {
    let day = day(random, now)?;
    let month = day.first_of_month();
    let (begin, end) = match random.below(6) {
        0 => (day, day.tomorrow().ok()?),
        1 if now.is_some() => {
            let today = now.and_then(date_of)?;
            let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok()?;
            let begin = monday.checked_sub((7 * random.below(2) as i64).days()).ok()?;
            (begin, begin.checked_add(7.days()).ok()?)
        }
        2 => {
            let begin = Date::new(month.year(), (month.month() - 1) / 3 * 3 + 1, 1).ok()?;
            (begin, begin.checked_add(3.months()).ok()?)
        }
        3 | 4 => (month, month.checked_add(1.month()).ok()?),
        _ => (month.first_of_year(), month.first_of_year().checked_add(1.year()).ok()?),
    };
    Some(Value::Period(begin, end))
}

/// Up to `most` words that mean nothing: what a text says is no business of a grammar.
fn words(random: &mut Random, most: usize) -> String {
    let n_words = 1 + random.below(most.max(1));
    let word = |random: &mut Random| -> String {
        (0..2 + random.below(2)).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect()
    };
    (0..n_words).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}
