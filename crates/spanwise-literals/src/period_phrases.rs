//! Periods relative to today: `last month`, `the next 7 days`, `this weekend`, `year to date`.

use crate::dates::shift_date;
use crate::language::ENGLISH;
use crate::options::Tense;
use crate::periods::{Range, months_of};
use crate::scene::Scene;
use jiff::ToSpan;
use jiff::civil::Date;

/// Where a period is, seen from today.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Last,
    /// Like last, but not of the calendar alone.
    Past,
    This,
    Next,
}

/// The words for it.
const SIDES: &[(&str, Side)] = &[
    ("last", Side::Last),
    ("previous", Side::Last),
    ("past", Side::Past),
    ("this", Side::This),
    ("current", Side::This),
    ("next", Side::Next),
    ("coming", Side::Next),
    ("following", Side::Next),
];

const TO_DATE: &[(&[&str], &str)] = &[
    (&["year", "to", "date"], "year"),
    (&["ytd"], "year"),
    (&["quarter", "to", "date"], "quarter"),
    (&["month", "to", "date"], "month"),
    (&["mtd"], "month"),
    (&["week", "to", "date"], "week"),
];

impl Scene<'_> {
    pub(crate) fn relative_periods(&self, start: usize, found: &mut Vec<(usize, Range)>) {
        let Some(today) = self.today() else { return };
        for (words, unit) in TO_DATE {
            if let Some(end) = self.atoms.after(start, words) {
                let range =
                    calendar(today, unit, 0).and_then(|range| Some((range.0, today.tomorrow().ok()?)));
                found.extend(range.map(|range| (end, range)));
            }
        }
        let at = self.atoms.skip(start, &["the"]);
        if self.atoms.is(at, "weekend") {
            let is_ahead = |range: &Range| range.0 > today;
            let coming = calendar(today, "weekend", 0);
            let is_over = self.options.tense == Tense::Past && coming.as_ref().is_some_and(is_ahead);
            let range = if is_over { calendar(today, "weekend", -1) } else { coming };
            found.extend(range.map(|range| (at + 1, range)));
        }
        let Some((_, side)) = SIDES.iter().find(|(word, _)| self.atoms.is(at, word)) else { return };
        let unit = self.atoms.text(at + 1);
        let shift = match side {
            Side::Last | Side::Past => -1,
            Side::This => 0,
            Side::Next => 1,
        };
        found.extend(calendar(today, unit, shift).map(|range| (at + 2, range)));
        if *side == Side::Past {
            found.extend(rolling(today, unit, -1).map(|range| (at + 2, range)));
        }
        if let Some((end, month)) = self.month_name(at + 1) {
            found.extend(named_month(today, month, *side).map(|range| (end, range)));
        }
        if *side != Side::This {
            self.counted(at + 1, today, shift, found);
        }
    }

    /// `7 days` of `the last 7 days`.
    fn counted(&self, at: usize, today: Date, direction: i64, found: &mut Vec<(usize, Range)>) {
        for (end, count) in self.count(at).filter(|(_, count)| (1..=100_000).contains(count)) {
            if self.atoms.is_any(at, ENGLISH.articles) && end == at + 1 {
                continue;
            }
            let end = self.atoms.skip(end, ENGLISH.of);
            let unit = self.atoms.text(end);
            found.extend(rolling(today, unit, count * direction).map(|range| (end + 1, range)));
            if !matches!(unit, "day" | "days") {
                found.extend(whole_units(today, unit, count * direction).map(|range| (end + 1, range)));
            }
        }
    }
}

/// The week, month, quarter, year, decade or weekend that is `shift` after the current one.
fn calendar(today: Date, unit: &str, shift: i64) -> Option<Range> {
    let month = i64::from(today.month());
    let from = |first: i64, count: i64| {
        let months = i64::from(today.year()) * 12 + first - 1 + shift * count;
        months_of(i16::try_from(months.div_euclid(12)).ok()?, (months.rem_euclid(12) + 1) as i8, count)
    };
    let monday =
        today.checked_add((1 - i64::from(today.weekday().to_monday_one_offset()) + 7 * shift).days());
    match unit {
        "day" => {
            let begin = today.checked_add(shift.days()).ok()?;
            Some((begin, begin.tomorrow().ok()?))
        }
        "week" => Some((monday.clone().ok()?, monday.ok()?.checked_add(1.week()).ok()?)),
        "weekend" => {
            let begin = monday.ok()?.checked_add(5.days()).ok()?;
            Some((begin, begin.checked_add(2.days()).ok()?))
        }
        "month" => from(month, 1),
        "quarter" => from((month - 1) / 3 * 3 + 1, 3),
        "year" => from(1, 12),
        "decade" => {
            let begin =
                Date::new(today.year() / 10 * 10, 1, 1).ok()?.checked_add((10 * shift).years()).ok()?;
            Some((begin, begin.checked_add(10.years()).ok()?))
        }
        _ => None,
    }
    .filter(|(begin, _)| begin.year() >= 1)
}

/// So many units up to today, or from today on. Today counts.
fn rolling(today: Date, unit: &str, count: i64) -> Option<Range> {
    let far = shift_date(today, unit, count)?;
    if count < 0 { Some((far.tomorrow().ok()?, today.tomorrow().ok()?)) } else { Some((today, far)) }
}

/// So many whole weeks, months, quarters or years of the calendar before or after the current one.
fn whole_units(today: Date, unit: &str, count: i64) -> Option<Range> {
    let singular = unit.strip_suffix('s').unwrap_or(unit);
    let near = calendar(today, singular, count.signum())?;
    let far = calendar(today, singular, count)?;
    (singular != "weekend").then_some(if count < 0 { (far.0, near.1) } else { (near.0, far.1) })
}

/// `last march`, `next march`, `this march`.
fn named_month(today: Date, month: i64, side: Side) -> Option<Range> {
    let current = i64::from(today.month());
    let shift = match side {
        Side::This => 0,
        Side::Next => i16::from(month <= current),
        Side::Last | Side::Past => -i16::from(month >= current),
    };
    months_of(today.year() + shift, month as i8, 1)
}
