//! Moments: a day with a time, and moments relative to now.

use crate::literal::{Found, Value};
use crate::scene::Scene;
use jiff::civil::{Date, DateTime};

impl Scene<'_> {
    /// All moments.
    pub(crate) fn moments(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for start in 0..self.atoms.len() {
            self.date_then_time(start, &mut found);
            self.time_then_date(start, &mut found);
            self.near_moments(start, &mut found);
        }
        found.into_iter().map(|(start, end, moment)| Found::new(start, end, Value::Moment(moment))).collect()
    }

    /// `tomorrow at 5 pm`, `2011-03-05T16:30`, `tonight at 8`.
    fn date_then_time(&self, start: usize, found: &mut Vec<(usize, usize, DateTime)>) {
        let mut dates: Vec<(usize, Date, bool)> =
            self.dates_at(start).into_iter().map(|(end, date)| (end, date, false)).collect();
        let tonight = self.today().filter(|_| self.atoms.is(start, "tonight"));
        dates.extend(tonight.map(|today| (start + 1, today, true)));
        for (end, date, evening) in dates {
            let attached = self.atoms.is(end, "t") && self.atoms.tight(end);
            let at = if attached { end + 1 } else { self.atoms.skip(end, &[","]) };
            let place = self.atoms.skip(at, &["at", "@"]);
            for (end, time) in self.times_at(place, place > at) {
                if !evening || time.hour() >= 12 {
                    found.push((start, end, date.to_datetime(time)));
                }
            }
        }
    }

    /// `5 pm tomorrow`, `noon on friday`.
    fn time_then_date(&self, start: usize, found: &mut Vec<(usize, usize, DateTime)>) {
        let bare = start > 0 && self.atoms.is_any(start - 1, &["at", "@"]);
        for (end, time) in self.times_at(start, bare) {
            let place = self.atoms.skip(self.atoms.skip(end, &[","]), &["on"]);
            for (end, date) in self.dates_at(place) {
                found.push((start, end, date.to_datetime(time)));
            }
        }
    }

    /// `now`, `in two hours`, `half an hour ago`, `90 minutes from now`.
    fn near_moments(&self, start: usize, found: &mut Vec<(usize, usize, DateTime)>) {
        let Some(now) = self.now else { return };
        if self.atoms.is(start, "now") && !(start > 0 && self.atoms.is(start - 1, "from")) {
            found.push((start, start + 1, now));
        }
        let ahead = self.atoms.is(start, "in");
        for measured in self.measures(if ahead { start + 1 } else { start }) {
            let scale = self.units.get(measured.unit);
            let Some(seconds) = measured.value.to_integer().filter(|_| scale.base == "s") else { continue };
            // Days are days of the calendar: they have no time of their own.
            if scale.factor.to_integer().is_some_and(|factor| factor >= 86_400) {
                continue;
            }
            let end = measured.end;
            let (end, seconds) = match (ahead, self.atoms.text(end)) {
                (true, _) => (end, seconds),
                (false, "ago") => (end + 1, seconds.saturating_neg()),
                (false, "from") if self.atoms.is(end + 1, "now") => (end + 2, seconds),
                _ => continue,
            };
            let span = jiff::Span::new().try_seconds(seconds).ok();
            let moment = span.and_then(|span| now.checked_add(span).ok()).filter(|moment| moment.year() >= 1);
            found.extend(moment.map(|moment| (start, end, moment)));
        }
    }
}
