//! Moments: a date with a time of day, as a calendar and a clock show it.

use std::fmt;
use std::str::FromStr;

/// A date and a time of day, without a time zone. `last month` and `tomorrow` are relative to one.
///
/// ```
/// use spanwise_core::Moment;
///
/// let moment: Moment = "2011-03-05T14:30".parse()?;
/// assert_eq!((moment.year, moment.month, moment.day, moment.hour, moment.minute), (2011, 3, 5, 14, 30));
/// assert_eq!("2011-03-05".parse::<Moment>()?.to_string(), "2011-03-05");
/// assert!("2011-02-30".parse::<Moment>().is_err());
/// # Ok::<(), spanwise_core::MomentError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Moment {
    /// From 1 to 9999.
    pub year: u16,
    /// From 1 to 12.
    pub month: u8,
    /// From 1 to 31.
    pub day: u8,
    /// From 0 to 23.
    pub hour: u8,
    /// From 0 to 59.
    pub minute: u8,
    /// From 0 to 59.
    pub second: u8,
}

/// A text that is not a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MomentError(String);

impl fmt::Display for MomentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a date; expected one like 2011-03-05 or 2011-03-05T14:30", self.0)
    }
}

impl std::error::Error for MomentError {}

impl Moment {
    /// The days of a month; zero for a month that does not exist.
    #[must_use]
    pub const fn days_in_month(year: u16, month: u8) -> u8 {
        match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
            2 => 28,
            _ => 0,
        }
    }

    /// Whether it is on the calendar and on the clock.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        1 <= self.year
            && self.year <= 9999
            && 1 <= self.day
            && self.day <= Self::days_in_month(self.year, self.month)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
    }
}

impl FromStr for Moment {
    type Err = MomentError;

    /// Reads `2011-03-05`, `2011-03-05T14:30` or `2011-03-05T14:30:59`; a space instead of the `T` is fine. A date alone is its
    /// midnight.
    fn from_str(text: &str) -> Result<Self, MomentError> {
        read(text.trim()).filter(Self::is_valid).ok_or_else(|| MomentError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Moment> {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let number = |text: &str, digits: usize| -> Option<u16> {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse().ok() } else { None }
    };
    let mut days = date.split('-');
    let (year, month, day) =
        (number(days.next()?, 4)?, number(days.next()?, 2)? as u8, number(days.next()?, 2)? as u8);
    let mut clock = [0u8; 3];
    if let Some(time) = time {
        let parts: Vec<&str> = time.split(':').collect();
        if !(2..=3).contains(&parts.len()) {
            return None;
        }
        for (slot, part) in clock.iter_mut().zip(&parts) {
            *slot = number(part, 2)? as u8;
        }
    }
    let [hour, minute, second] = clock;
    days.next().is_none().then_some(Moment { year, month, day, hour, minute, second })
}

impl fmt::Display for Moment {
    /// The date alone at midnight, else date and time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)?;
        match (self.hour, self.minute, self.second) {
            (0, 0, 0) => Ok(()),
            (hour, minute, 0) => write!(f, "T{hour:02}:{minute:02}"),
            (hour, minute, second) => write!(f, "T{hour:02}:{minute:02}:{second:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_on_no_calendar_is_refused() {
        for text in ["", "2011", "2011-3-5", "2011-13-01", "2011-02-29", "0000-01-01", "2011-03-05T24:00"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
        for text in
            ["2011-03-05T", "2011-03-05T10", "2011-03-05T10:00:00:00", "2011-03-05-01", "２０１１-03-05"]
        {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
        assert!("2012-02-29".parse::<Moment>().is_ok() && "1900-02-29".parse::<Moment>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(year in 1u16..=9999, month in 1u8..=12, day in 1u8..=28,
            hour in 0u8..24, minute in 0u8..60, second in 0u8..60) {
            let moment = Moment { year, month, day, hour, minute, second };
            prop_assert_eq!(moment.to_string().parse::<Moment>(), Ok(moment));
        }
    }
}
