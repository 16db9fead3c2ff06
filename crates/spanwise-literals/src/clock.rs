//! Times of day.

use crate::language::{ENGLISH, number};
use crate::literal::{Found, Value};
use crate::number_words::Words;
use crate::scene::Scene;
use jiff::civil::Time;

/// A time as it was said: the half of the day may be open.
#[derive(Clone, Copy, Debug)]
struct Said {
    end: usize,
    hour: i64,
    minute: i64,
    second: i64,
    /// Whether it may be in either half of the day.
    open: bool,
}

impl Scene<'_> {
    /// All times.
    pub(crate) fn times(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for start in 0..self.atoms.len() {
            let bare = start > 0 && self.atoms.is_any(start - 1, &["at", "@"]);
            for (end, time) in self.times_at(start, bare) {
                found.push(Found::new(start, end, Value::Clock(time)));
            }
        }
        found
    }

    /// The times that begin at `at`; with `bare`, a number alone is an hour.
    pub(crate) fn times_at(&self, at: usize, bare: bool) -> Vec<(usize, Time)> {
        if let Some(hour) = number(ENGLISH.hours, self.atoms.text(at)) {
            return self.readings(Said { end: at + 1, hour, minute: 0, second: 0, open: false });
        }
        let said = [self.written(at), self.relative(at), self.spoken(at), self.full_hour(at, bare)];
        said.into_iter().flatten().next().map_or_else(Vec::new, |said| self.readings(said))
    }

    fn readings(&self, said: Said) -> Vec<(usize, Time)> {
        let half = self.day_half(said.end);
        let end = half.map_or(said.end, |(end, _)| end);
        let hours = match half {
            Some((_, true)) if said.hour <= 12 => vec![said.hour % 12 + 12],
            Some((_, false)) if said.hour <= 12 => vec![said.hour % 12],
            Some((_, false)) => Vec::new(),
            _ if said.open && (1..=12).contains(&said.hour) => vec![said.hour % 12, said.hour % 12 + 12],
            _ => vec![said.hour],
        };
        let time = |hour: i64| {
            let part = |value: i64| i8::try_from(value).ok();
            Time::new(part(hour)?, part(said.minute)?, part(said.second)?, 0).ok()
        };
        hours.into_iter().filter_map(|hour| Some((end, time(hour)?))).collect()
    }

    /// `pm`, `a.m.`, `in the evening`.
    fn day_half(&self, at: usize) -> Option<(usize, bool)> {
        let mut found = ENGLISH.day_halves.iter().filter_map(|(words, second)| {
            // The last point of `p.m.` must not be taken from a sentence: it is glued.
            let dots =
                words.len() < 3 || words[1] != "." || (1..words.len()).all(|i| self.atoms.glued(at + i));
            Some((self.atoms.after(at, words).filter(|_| dots)?, *second))
        });
        found.next()
    }

    /// `4:30`, `16:30:05`, `4.30 pm`, `16h`, `16h30`.
    fn written(&self, at: usize) -> Option<Said> {
        let atoms = &self.atoms;
        let digits = atoms.digits(at).filter(|digits| digits.len() <= 2)?;
        let hour: i64 = digits.parse().ok()?;
        let open = !digits.starts_with('0');
        let minute_at = |at: usize| atoms.digits(at).filter(|digits| digits.len() == 2)?.parse::<i64>().ok();
        if let Some((end, parts)) = self.colons(at) {
            let second = parts.get(2).copied().unwrap_or(0);
            return Some(Said { end, hour, minute: parts[1], second, open });
        }
        if atoms.is(at + 1, ".") && atoms.tight(at + 1) && self.day_half(at + 3).is_some() {
            return Some(Said { end: at + 3, hour, minute: minute_at(at + 2)?, second: 0, open });
        }
        if atoms.is(at + 1, "h") && atoms.get(at + 1).is_some_and(|atom| !atom.first) {
            let minute = minute_at(at + 2).filter(|_| atoms.get(at + 2).is_some_and(|atom| !atom.first));
            let end = if minute.is_some() { at + 3 } else { at + 2 };
            return Some(Said { end, hour, minute: minute.unwrap_or(0), second: 0, open: false });
        }
        None
    }

    /// An hour in digits of up to 24 or in words of up to 12, with its end.
    fn hour(&self, at: usize) -> Option<(usize, i64)> {
        match self.atoms.digits(at) {
            Some(digits) if digits.len() <= 2 => {
                Some((at + 1, digits.parse().ok()?)).filter(|(_, hour)| *hour < 24)
            }
            Some(_) => None,
            None => {
                let words = Words { atoms: &self.atoms };
                words.below_hundred(at).filter(|(_, hour)| (1..=12).contains(hour))
            }
        }
    }

    /// `half past nine`, `quarter to 5`, `twenty minutes past ten`.
    fn relative(&self, at: usize) -> Option<Said> {
        let atoms = &self.atoms;
        let start = atoms.skip(at, ENGLISH.articles);
        let named = match atoms.text(start) {
            "half" => Some((start + 1, 30)),
            "quarter" => Some((start + 1, 15)),
            _ => None,
        };
        let counted = || {
            let (end, minutes) = self.minutes(at)?;
            let unit = atoms.skip(end, &["minutes", "minute", "min", "mins"]);
            ((1..30).contains(&minutes) && (unit > end || minutes % 5 == 0)).then_some((unit, minutes))
        };
        let (end, minutes) = named.or_else(counted)?;
        let past = match atoms.text(end) {
            "past" | "after" => true,
            "to" | "before" | "till" if minutes != 30 => false,
            "of" if minutes == 15 => false,
            _ => return None,
        };
        let noon = number(ENGLISH.hours, atoms.text(end + 1)).map(|hour| (end + 2, hour));
        let open = noon.is_none();
        let (end, hour) = noon.or_else(|| self.hour(end + 1))?;
        let end = self.o_clock(end).unwrap_or(end);
        let total = (hour * 60 + if past { minutes } else { 1440 - minutes }) % 1440;
        // Quarter to one is said with the hour that follows.
        let hour = if open && hour <= 12 && total / 60 == 0 { 12 } else { total / 60 };
        Some(Said { end, hour, minute: total % 60, second: 0, open: open && hour <= 12 })
    }

    fn minutes(&self, at: usize) -> Option<(usize, i64)> {
        match self.atoms.digits(at) {
            Some(digits) if digits.len() <= 2 => Some((at + 1, digits.parse().ok()?)),
            Some(_) => None,
            None => Words { atoms: &self.atoms }.below_hundred(at),
        }
    }

    /// `five thirty`, `seven oh five`.
    fn spoken(&self, at: usize) -> Option<Said> {
        let words = Words { atoms: &self.atoms };
        let (end, hour) = words.below_hundred(at).filter(|(_, hour)| (1..=12).contains(hour))?;
        let at = words.hyphen(end);
        let oh = self.atoms.is_any(at, ENGLISH.oh);
        let (end, minute) = words.below_hundred(if oh { at + 1 } else { at })?;
        let fits = if oh { (1..10).contains(&minute) } else { (10..60).contains(&minute) };
        fits.then_some(Said { end, hour, minute, second: 0, open: true })
    }

    /// `4 pm`, `7 o'clock`, and `5` alone if that is allowed.
    fn full_hour(&self, at: usize, bare: bool) -> Option<Said> {
        let (end, hour) = self.hour(at)?;
        let said = Said { end, hour, minute: 0, second: 0, open: !self.atoms.text(at).starts_with('0') };
        if let Some(end) = self.o_clock(end) {
            return Some(Said { end, ..said });
        }
        (bare || self.day_half(end).is_some()).then_some(said)
    }

    fn o_clock(&self, at: usize) -> Option<usize> {
        let spellings: [&[&str]; 3] = [&["o", "'", "clock"], &["o", "’", "clock"], &["oclock"]];
        spellings.iter().find_map(|words| self.atoms.after(at, words))
    }
}
