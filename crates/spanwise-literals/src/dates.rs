//! Days: written dates, and days relative to today.

use crate::atoms::Shape;
use crate::language::{ENGLISH, number};
use crate::literal::{Found, Value};
use crate::number_words::Words;
use crate::options::{DateOrder, Tense};
use crate::scene::Scene;
use jiff::civil::Date;

/// A day of a month, as it was said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) end: usize,
    pub(crate) year: Option<i16>,
    pub(crate) month: i64,
    pub(crate) day: i64,
    weekday: Option<i64>,
}

/// Words between two dates, of which the first may borrow from the second. Those of ranges come first.
const LINKS: &[&str] = &["to", "until", "till", "through", "thru", "–", "—", "-", "and", "or", ",", "&"];
const RANGE_LINKS: usize = 8;

impl Scene<'_> {
    /// All days.
    pub(crate) fn days(&self) -> Vec<Found> {
        let found = |start| self.dates_at(start).into_iter().map(move |(end, date)| (start, end, date));
        (0..self.atoms.len())
            .flat_map(found)
            .map(|(start, end, date)| Found::new(start, end, Value::Day(date)))
            .collect()
    }

    /// The days that begin at `at`, each with its end.
    pub(crate) fn dates_at(&self, at: usize) -> Vec<(usize, Date)> {
        let mut found = Vec::new();
        self.written_date(at, &mut found);
        if let Some(said) = self.said_day(at) {
            let (end, year) = (said.end, said.year.or_else(|| self.borrowed_year(said)));
            found.extend(self.resolve(said, year).into_iter().map(|date| (end, date)));
        } else {
            found.extend(self.day_alone(at));
        }
        self.relative_days(at, &mut found);
        self.shifted_days(at, &mut found);
        found
    }

    /// The days that a day and a month may be: that of the year, or the last and the next one as seen from today, by the
    /// tense.
    fn resolve(&self, said: Said, year: Option<i16>) -> Vec<Date> {
        let date = |year: i16| {
            let date = Date::new(year, said.month as i8, said.day as i8).ok()?;
            let weekday = i64::from(date.weekday().to_monday_one_offset());
            said.weekday.is_none_or(|wanted| wanted == weekday).then_some(date)
        };
        if let Some(year) = year {
            return date(year).into_iter().collect();
        }
        let Some(today) = self.today() else { return Vec::new() };
        // Leap days are up to eight years apart, those on a given weekday up to forty.
        let past = (0..=40).filter_map(|back| date(today.year() - back)).find(|date| *date <= today);
        let coming = (0..=40).filter_map(|ahead| date(today.year() + ahead)).find(|date| *date >= today);
        let mut days = self.in_tense(past, coming);
        days.dedup();
        days
    }

    /// What is meant of the last one and the next one.
    pub(crate) fn in_tense<T>(&self, past: Option<T>, coming: Option<T>) -> Vec<T> {
        match self.options.tense {
            Tense::Either => past.into_iter().chain(coming).collect(),
            Tense::Past => past.into_iter().collect(),
            Tense::Future => coming.into_iter().collect(),
        }
    }

    /// `2011-03-05`, `03/05/2011`, `3.5.2011`, `3/5`.
    fn written_date(&self, at: usize, found: &mut Vec<(usize, Date)>) {
        let atoms = &self.atoms;
        let Some((first, second)) = atoms.digits(at).zip(atoms.digits(at + 2)) else { return };
        let mark = atoms.text(at + 1);
        if !matches!(mark, "-" | "/" | ".") || !atoms.tight(at + 1) || second.len() > 2 {
            return;
        }
        let third = atoms.digits(at + 4).filter(|_| atoms.is(at + 3, mark) && atoms.tight(at + 3));
        let value = |digits: &str| digits.parse::<i64>().unwrap_or(0);
        let said = |month, day, year| {
            let end = if third.is_some() { at + 5 } else { at + 3 };
            Said { end, year, month, day, weekday: None }
        };
        let mut readings = Vec::new();
        let order = match (self.options.dates, mark) {
            (DateOrder::Either, ".") => DateOrder::DayFirst,
            (order, _) => order,
        };
        let mut both = |a: i64, b: i64, year: Option<i16>| {
            if order != DateOrder::DayFirst {
                readings.push(said(a, b, year));
            }
            if order != DateOrder::MonthFirst && (a != b || order == DateOrder::DayFirst) {
                readings.push(said(b, a, year));
            }
        };
        match (first.len(), third.map(|third| (third, third.len()))) {
            (4, Some((third, 1 | 2))) => {
                readings.push(said(value(second), value(third), Some(value(first) as i16)));
            }
            (1 | 2, Some((third, 4))) => both(value(first), value(second), Some(value(third) as i16)),
            (1 | 2, Some((third, 2))) => both(value(first), value(second), Some(pivoted(value(third)))),
            (1 | 2, None) if mark == "/" => both(value(first), value(second), None),
            _ => {}
        }
        for said in readings.into_iter().filter(|said| said.month <= 12 && said.day <= 31) {
            found.extend(self.resolve(said, said.year).into_iter().map(|date| (said.end, date)));
        }
    }

    /// `the 3rd of may 2011`, `may 3, 2011`, `friday 3 may`, `2011 march 5`.
    pub(crate) fn said_day(&self, at: usize) -> Option<Said> {
        if let Some((place, year)) = self.year_at(at) {
            let said = self.month_first(place).or_else(|| self.day_first(place))?;
            return Some(Said { year: Some(year), ..said });
        }
        let weekday = number(ENGLISH.weekdays, self.atoms.text(at));
        let start = match weekday {
            Some(_) => self.atoms.skip(self.atoms.skip(at + 1, &["."]), &[","]),
            None => at,
        };
        let said = self.day_first(start).or_else(|| self.month_first(start))?;
        let (end, year) = self.year_after(said.end).map_or((said.end, None), |(end, year)| (end, Some(year)));
        Some(Said { end, year, weekday, ..said })
    }

    fn day_first(&self, at: usize) -> Option<Said> {
        let (end, day) = self.day_number(self.atoms.skip(at, &["the"]))?;
        let (end, month) = self.month_name(self.atoms.skip(self.tight_mark(end), ENGLISH.of))?;
        Some(Said { end, year: None, month, day, weekday: None })
    }

    fn month_first(&self, at: usize) -> Option<Said> {
        let (end, month) = self.month_name(at)?;
        let (end, day) = self.day_number(self.atoms.skip(self.tight_mark(end), &["the"]))?;
        Some(Said { end, year: None, month, day, weekday: None })
    }

    /// The name of a month, with the point of its abbreviation.
    pub(crate) fn month_name(&self, at: usize) -> Option<(usize, i64)> {
        let name = self.atoms.text(at);
        let month = number(ENGLISH.months, name)?;
        let dotted = name.len() <= 4 && self.atoms.is(at + 1, ".") && self.atoms.glued(at + 1);
        // At the end of a sentence, the point is not the month's.
        let more = self.atoms.digits(at + 2).is_some();
        Some((if dotted && more { at + 2 } else { at + 1 }, month))
    }

    /// A day from 1 to 31: `3`, `3rd`, `third`.
    fn day_number(&self, at: usize) -> Option<(usize, i64)> {
        let (end, day) = match self.atoms.digits(at) {
            Some(digits) if digits.len() <= 2 => {
                let next = self.atoms.get(at + 1).filter(|next| !next.first);
                let suffix = next.is_some_and(|next| ENGLISH.ordinal_suffixes.contains(&next.text));
                (if suffix { at + 2 } else { at + 1 }, digits.parse().ok()?)
            }
            Some(_) => return None,
            None => {
                let phrase = Words { atoms: &self.atoms }.phrase(at, true).filter(|phrase| phrase.ordinal)?;
                (phrase.end, phrase.value)
            }
        };
        (1..=31).contains(&day).then_some((end, day))
    }

    /// The position after a mark inside `3-may-2011`.
    fn tight_mark(&self, at: usize) -> usize {
        if self.atoms.is_any(at, &["-", "/", "."]) && self.atoms.tight(at) { at + 1 } else { at }
    }

    /// A year after a month or a day.
    pub(crate) fn year_after(&self, at: usize) -> Option<(usize, i16)> {
        let place = self.tight_mark(at);
        let place = if place > at { place } else { self.atoms.skip(at, &[",", "of", "in"]) };
        self.year_at(place).or_else(|| self.short_year(place))
    }

    /// `'11` after a month or a day.
    fn short_year(&self, at: usize) -> Option<(usize, i16)> {
        let quote = self.atoms.is_any(at, &["'", "’"]) && self.atoms.glued(at + 1);
        let digits = self.atoms.digits(at + 1).filter(|digits| quote && digits.len() == 2)?;
        Some((at + 2, pivoted(digits.parse().ok()?)))
    }

    /// A year of four digits, or in words.
    pub(crate) fn year_at(&self, at: usize) -> Option<(usize, i16)> {
        if let Some(digits) = self.atoms.digits(at) {
            let more = self
                .atoms
                .get(at + 1)
                .is_some_and(|next| !next.first && next.shape == Shape::Word && next.text == "s");
            let year =
                digits.parse().ok().filter(|_| digits.len() == 4 && !digits.starts_with('0') && !more)?;
            return Some((at + 1, year));
        }
        let mut numbers = self.numbers.cardinals(at).filter(|number| number.whole && number.words);
        let year = |value: i64| i16::try_from(value).ok().filter(|year| (1500..2100).contains(year));
        numbers.find_map(|number| Some((number.end, year(number.value.to_integer()?)?)))
    }

    /// The link after `at`, and whether it makes a range of what is before and after it.
    pub(crate) fn link(&self, start: usize, at: usize) -> Option<(usize, bool)> {
        let place = LINKS.iter().position(|link| self.atoms.is(at, link))?;
        let between = start > 0 && self.atoms.is_any(start - 1, &["between", "from"]);
        let end = if self.atoms.is(at, ",") { self.atoms.skip(at + 1, ENGLISH.and) } else { at + 1 };
        Some((end, place < RANGE_LINKS || between))
    }

    /// The year of the date that follows `and` or `to`; a range does not go backwards.
    fn borrowed_year(&self, said: Said) -> Option<i16> {
        let mut at = said.end;
        let mut wrapped = 0;
        let mut before = (said.month, said.day);
        for _ in 0..4 {
            at = self.link(at, at)?.0;
            let next = self.said_day(at)?;
            wrapped += i16::from(before > (next.month, next.day));
            if let Some(year) = next.year {
                return Some(year - wrapped);
            }
            (at, before) = (next.end, (next.month, next.day));
        }
        None
    }

    /// `3` in `between 3 and 5 may 2011`.
    fn day_alone(&self, at: usize) -> Vec<(usize, Date)> {
        let Some((end, day)) = self.day_number(self.atoms.skip(at, &["the"])) else { return Vec::new() };
        let borrow = || {
            let place = self.link(at, end)?.0;
            let next = self.day_first(place)?;
            self.said_day(place).filter(|said| said.end >= next.end && day < said.day)
        };
        let Some(next) = borrow() else { return Vec::new() };
        let said = Said { day, weekday: None, ..next };
        let year = next.year.or_else(|| self.borrowed_year(next));
        self.resolve(said, year).into_iter().map(|date| (end, date)).collect()
    }

    /// `today`, `the day after tomorrow`, `friday`, `next friday`.
    fn relative_days(&self, at: usize, found: &mut Vec<(usize, Date)>) {
        let Some(today) = self.today() else { return };
        let mut add = |end, date: Option<Date>| found.extend(date.map(|date| (end, date)));
        let shift = |days: i64| shift_date(today, "days", days);
        if let Some(days) = number(ENGLISH.days, self.atoms.text(at)) {
            add(at + 1, shift(days));
        }
        for (words, days) in ENGLISH.day_phrases {
            if let Some(end) = self.atoms.after(at, words) {
                add(end, shift(*days));
            }
        }
        let weekday = |at| number(ENGLISH.weekdays, self.atoms.text(at));
        let today_is = i64::from(today.weekday().to_monday_one_offset());
        if let Some(day) = weekday(at) {
            let ahead = (day - today_is).rem_euclid(7);
            let back = if ahead == 0 { 0 } else { ahead - 7 };
            let mut days = self.in_tense(Some(back), Some(ahead));
            days.dedup();
            days.into_iter().for_each(|days| add(at + 1, shift(days)));
        }
        let at = self.atoms.skip(at, &["the"]);
        let Some(day) = weekday(at + 1) else { return };
        let offsets = match self.atoms.text(at) {
            "this" => vec![day - today_is],
            "next" => vec![(day - today_is - 1).rem_euclid(7) + 1, day - today_is + 7],
            "coming" | "following" => vec![(day - today_is - 1).rem_euclid(7) + 1],
            "last" => vec![-((today_is - day - 1).rem_euclid(7) + 1), day - today_is - 7],
            "past" | "previous" => vec![-((today_is - day - 1).rem_euclid(7) + 1)],
            _ => return,
        };
        for offset in offsets {
            add(at + 2, shift(offset));
        }
    }

    /// `in three days`, `two weeks ago`, `a month from now`.
    fn shifted_days(&self, at: usize, found: &mut Vec<(usize, Date)>) {
        let Some(today) = self.today() else { return };
        let ahead = self.atoms.is(at, "in");
        for (end, count) in self.count(if ahead { at + 1 } else { at }) {
            let unit_at = self.atoms.skip(end, ENGLISH.of);
            let after = unit_at + 1;
            let (end, count) = match self.atoms.text(after) {
                "time" if ahead => (after + 1, count),
                _ if ahead => (after, count),
                "ago" => (after + 1, count.saturating_neg()),
                "from" if self.atoms.is_any(after + 1, &["now", "today"]) => (after + 2, count),
                _ => continue,
            };
            let date = shift_date(today, self.atoms.text(unit_at), count);
            found.extend(date.map(|date| (end, date)));
        }
    }
}

/// The day that is so many days, weeks, months or years after another.
pub(crate) fn shift_date(date: Date, unit: &str, count: i64) -> Option<Date> {
    let span = jiff::Span::new();
    let span = match unit {
        "day" | "days" => span.try_days(count),
        "week" | "weeks" => span.try_weeks(count),
        "fortnight" | "fortnights" => span.try_weeks(count.checked_mul(2)?),
        "month" | "months" => span.try_months(count),
        "quarter" | "quarters" => span.try_months(count.checked_mul(3)?),
        "year" | "years" => span.try_years(count),
        _ => return None,
    };
    date.checked_add(span.ok()?).ok().filter(|date| date.year() >= 1)
}

/// The year of two digits, from 1969 to 2068.
fn pivoted(digits: i64) -> i16 {
    (if digits < 69 { 2000 + digits } else { 1900 + digits }) as i16
}
