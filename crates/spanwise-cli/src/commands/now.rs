//! The date that relative dates refer to: the option, and the clock. No other module reads the date.

use jiff::Zoned;
use spanwise_core::Moment;

/// The option of commands that answer.
#[derive(clap::Args)]
pub(crate) struct NowArgs {
    /// The date that `yesterday` and `last month` refer to, as 2011-03-05 or 2011-03-05T14:30 [default: today]
    #[arg(long, value_name = "DATE", value_parser = moment)]
    now: Option<Moment>,
}

impl NowArgs {
    /// The date that was given.
    pub(crate) fn given(&self) -> Option<Moment> {
        self.now
    }

    /// The date that was given, or today's.
    pub(crate) fn moment(&self) -> Option<Moment> {
        self.now.or_else(today)
    }
}

/// Today, where this computer is; `None` where its clock is outside of the calendar that moments have.
pub(crate) fn today() -> Option<Moment> {
    let date = Zoned::now().date();
    let year = u16::try_from(date.year()).ok()?;
    let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
    Some(Moment { year, month, day, hour: 0, minute: 0, second: 0 }).filter(Moment::is_valid)
}

fn moment(text: &str) -> Result<Moment, String> {
    text.parse().map_err(|error: spanwise_core::MomentError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_is_a_date_without_a_time() {
        let today = today().unwrap();
        assert!(today.year >= 2024 && today.to_string().len() == "2011-03-05".len(), "{today}");
    }
}
