//! Periods: months, quarters, years and decades of the calendar.

use crate::language::{ENGLISH, number};
use crate::literal::{Found, Value};
use crate::scene::Scene;
use jiff::ToSpan;
use jiff::civil::{Date, ISOWeekDate, Weekday};

/// A begin and an end, which is the day after the last.
pub(crate) type Range = (Date, Date);

/// Some months of a year that was said or is open.
#[derive(Clone, Copy, Debug)]
struct Months {
    end: usize,
    first: i8,
    count: i64,
    year: Option<i16>,
}

impl Scene<'_> {
    /// All periods. A day is one, too.
    pub(crate) fn periods(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for start in 0..self.atoms.len() {
            let mut ranges: Vec<(usize, Range)> = Vec::new();
            ranges.extend(
                self.dates_at(start)
                    .into_iter()
                    .filter_map(|(end, date)| Some((end, (date, date.tomorrow().ok()?)))),
            );
            self.named_months(start, &mut ranges);
            self.written_month(start, &mut ranges);
            self.years(start, &mut ranges);
            self.decades(start, &mut ranges);
            self.week_of_year(start, &mut ranges);
            self.relative_periods(start, &mut ranges);
            found.extend(
                ranges
                    .into_iter()
                    .map(|(end, (begin, after))| Found::new(start, end, Value::Period(begin, after))),
            );
        }
        found
    }

    /// `march 2011`, `Q3 2012`, `third quarter of 2012`, `first half of 2012`, and each without its year.
    fn named_months(&self, start: usize, found: &mut Vec<(usize, Range)>) {
        if let Some((end, year, months)) = self.year_then_quarter(start) {
            found.extend(months_of(year, months.first, months.count).map(|range| (end, range)));
            return;
        }
        let Some(months) = self.months_at(start) else { return };
        let year = months.year.or_else(|| self.lent_year(start, months));
        if let Some(year) = year {
            found.extend(months_of(year, months.first, months.count).map(|range| (months.end, range)));
            return;
        }
        let Some(today) = self.today() else { return };
        let near = |year: i16| months_of(year, months.first, months.count);
        let past =
            [0, 1].into_iter().filter_map(|back| near(today.year() - back)).find(|range| range.0 <= today);
        let coming =
            [0, 1].into_iter().filter_map(|ahead| near(today.year() + ahead)).find(|range| range.1 > today);
        // The one that has begun and not ended is meant.
        let ranges = match coming.filter(|range| range.0 <= today) {
            Some(current) => vec![current],
            None => self.in_tense(past, coming),
        };
        found.extend(ranges.into_iter().map(|range| (months.end, range)));
    }

    /// Months with their year, if one follows.
    fn months_at(&self, at: usize) -> Option<Months> {
        let months =
            self.month_name(at).map(|(end, month)| Months { end, first: month as i8, count: 1, year: None });
        let months = months.or_else(|| self.quarter(at))?;
        let year = self.year_after(months.end);
        Some(Months {
            end: year.map_or(months.end, |(end, _)| end),
            year: year.map(|(_, year)| year),
            ..months
        })
    }

    /// `Q3`, `H1`, `the third quarter`, `first half`.
    fn quarter(&self, at: usize) -> Option<Months> {
        let (end, place, count) = match self.atoms.text(at) {
            "q" | "h" => {
                let attached = self.atoms.get(at + 1).is_some_and(|atom| !atom.first);
                let place: i64 = self.atoms.digits(at + 1).filter(|_| attached)?.parse().ok()?;
                (at + 2, place, if self.atoms.is(at, "q") { 3 } else { 6 })
            }
            _ => {
                let at = self.atoms.skip(at, &["the"]);
                let ordinal = self.numbers.at(at).iter().find(|number| number.ordinal)?;
                let count = match self.atoms.text(ordinal.end) {
                    "quarter" => 3,
                    "half" => 6,
                    _ => return None,
                };
                (ordinal.end + 1, ordinal.value.to_integer()?, count)
            }
        };
        // `the first half` of anything else is no period.
        let halves = count == 6 && self.atoms.is(at, "h") || count == 3 || self.year_after(end).is_some();
        let fits = (1..=12 / count).contains(&place) && halves;
        fits.then_some(Months { end, first: ((place - 1) * count + 1) as i8, count, year: None })
    }

    /// `2012 Q3`, `2012 march`.
    fn year_then_quarter(&self, at: usize) -> Option<(usize, i16, Months)> {
        let (end, year) = self.year_at(at)?;
        let tight = self.atoms.is_any(end, &["-", "/"]) && self.atoms.tight(end);
        let place = if tight { end + 1 } else { end };
        let named = || {
            let (end, month) = self.month_name(place)?;
            Some(Months { end, first: month as i8, count: 1, year: None })
        };
        let quarter = self.quarter(place).filter(|_| self.atoms.is_any(place, &["q", "h"]));
        let months = quarter.or_else(|| named().filter(|months| self.year_after(months.end).is_none()))?;
        Some((months.end, year, months))
    }

    /// The year of the months that follow `and` or `to`: `between march and may 2011`.
    fn lent_year(&self, start: usize, said: Months) -> Option<i16> {
        let (mut at, mut before, mut wrapped) = (said.end, said.first, 0);
        for _ in 0..12 {
            let (place, range) = self.link(start, at)?;
            let next = self.months_at(place)?;
            wrapped += i16::from(range && before > next.first);
            if let Some(year) = next.year {
                return Some(year - wrapped);
            }
            (at, before) = (next.end, next.first);
        }
        None
    }

    /// `03/2011`, `2011-03`.
    fn written_month(&self, at: usize, found: &mut Vec<(usize, Range)>) {
        let Some((first, second)) = self.atoms.digits(at).zip(self.atoms.digits(at + 2)) else { return };
        if !self.atoms.is_any(at + 1, &["-", "/"]) || !self.atoms.tight(at + 1) {
            return;
        }
        let (year, month) = match (first.len(), second.len()) {
            (4, 2) => (first, second),
            (1 | 2, 4) => (second, first),
            _ => return,
        };
        let range =
            year.parse().ok().zip(month.parse().ok()).and_then(|(year, month)| months_of(year, month, 1));
        found.extend(range.map(|range| (at + 3, range)));
    }

    /// `2011`, `the year 2011`, `nineteen ninety`.
    fn years(&self, start: usize, found: &mut Vec<(usize, Range)>) {
        let at = self.atoms.skip(start, &["the"]);
        let named = self.atoms.is(at, "year");
        let at = if named { at + 1 } else { start };
        let year = self.year_at(at).filter(|(_, year)| named || (1000..3000).contains(year));
        found.extend(year.and_then(|(end, year)| Some((end, months_of(year, 1, 12)?))));
    }

    /// `the 1990s`, `the 90s`, `the nineties`, `the 19th century`.
    fn decades(&self, start: usize, found: &mut Vec<(usize, Range)>) {
        let at = self.atoms.skip(start, &["the"]);
        let years = |from: i64, count: i64| {
            let begin = Date::new(i16::try_from(from).ok()?, 1, 1).ok()?;
            Some((begin, begin.checked_add(count.years()).ok()?))
        };
        let mut ordinals = self.numbers.at(at).iter().filter(|number| number.ordinal);
        if let Some(ordinal) = ordinals.next().filter(|number| self.atoms.is(number.end, "century")) {
            let century = ordinal.value.to_integer().filter(|century| (1..100).contains(century));
            let range = century.and_then(|century| years(century * 100 - 99, 100));
            found.extend(range.map(|range| (ordinal.end + 1, range)));
        }
        if let Some(decade) = number(ENGLISH.decades, self.atoms.text(at)) {
            found.extend(short_decade(decade).filter_map(|from| Some((at + 1, years(from, 10)?))));
            return;
        }
        let quote = self.atoms.is_any(at, &["'", "’"]) && self.atoms.glued(at + 1);
        let at = if quote { at + 1 } else { at };
        let Some(digits) = self.atoms.digits(at).filter(|digits| digits.ends_with('0')) else { return };
        let apostrophe = self.atoms.is_any(at + 1, &["'", "’"]) && self.atoms.tight(at + 1);
        let end = if apostrophe { at + 3 } else { at + 2 };
        let attached = self.atoms.is(end - 1, "s") && self.atoms.glued(end - 1);
        let Some(from) = digits.parse::<i64>().ok().filter(|_| attached) else { return };
        match digits.len() {
            4 => {
                // The 1800s are ten years or a hundred.
                let lengths: &[i64] = if from % 100 == 0 { &[10, 100] } else { &[10] };
                found.extend(lengths.iter().filter_map(|count| Some((end, years(from, *count)?))));
            }
            2 if from >= 20 => {
                found.extend(short_decade(from).filter_map(|from| Some((end, years(from, 10)?))))
            }
            _ => {}
        }
    }

    /// `week 12 of 2011`, `2011-W12`.
    fn week_of_year(&self, at: usize, found: &mut Vec<(usize, Range)>) {
        let spoken = || {
            let week = self.atoms.digits(at + 1).filter(|_| self.atoms.is_any(at, &["week", "w"]))?;
            let (end, year) = self.year_after(at + 2)?;
            Some((end, year, week))
        };
        let written = || {
            let (end, year) =
                self.year_at(at).filter(|(end, _)| self.atoms.is(*end, "-") && self.atoms.tight(*end))?;
            let week = self
                .atoms
                .digits(end + 2)
                .filter(|_| self.atoms.is(end + 1, "w") && self.atoms.glued(end + 2))?;
            Some((end + 3, year, week))
        };
        let Some((end, year, week)) = spoken().or_else(written) else { return };
        let monday = week.parse().ok().and_then(|week| ISOWeekDate::new(year, week, Weekday::Monday).ok());
        let begin = monday.map(ISOWeekDate::date);
        let range = begin.and_then(|begin| Some((begin, begin.checked_add(1.week()).ok()?)));
        found.extend(range.map(|range| (end, range)));
    }
}

/// The years that a decade of two digits may begin with: the twenties are those of either century.
fn short_decade(decade: i64) -> impl Iterator<Item = i64> {
    let both = [Some(1900 + decade), (decade == 20).then_some(2000 + decade)];
    both.into_iter().flatten()
}

/// So many months from one on.
pub(crate) fn months_of(year: i16, first: i8, count: i64) -> Option<Range> {
    let begin = Date::new(year, first, 1).ok().filter(|_| year >= 1)?;
    Some((begin, begin.checked_add(count.months()).ok()?))
}
