//! Where and when a report was made: version, machine, date. The only place that asks the system for them.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What stands at the head of a report.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The day, `2021-04-19`.
    pub date: String,
    /// The processor.
    pub cpu: String,
    /// Its cores, as far as this program may use them.
    pub cores: usize,
    /// Memory in bytes, where the system tells.
    pub memory: Option<u64>,
}

impl About {
    /// Here and now.
    #[must_use]
    pub fn now() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { version: version(), date: date(seconds), cpu: cpu(), cores: cores(), memory: memory() }
    }
}

/// The machine in words.
pub(crate) fn machine() -> String {
    About { cpu: cpu(), cores: cores(), memory: memory(), ..About::default() }.machine()
}

impl About {
    /// The machine in words.
    #[must_use]
    pub fn machine(&self) -> String {
        let gibibytes = |bytes: u64| format!(", {:.0} GiB", bytes as f64 / f64::from(1 << 30));
        format!("{} cores, {}{}", self.cores, self.cpu, self.memory.map(gibibytes).unwrap_or_default())
    }
}

/// The commit of the source tree that the executable lies in, or the version of the package where there is none.
#[must_use]
pub fn version() -> String {
    let package = concat!("spanwise ", env!("CARGO_PKG_VERSION"));
    let commit = std::env::current_exe().ok().and_then(|exe| commit(exe.parent()?));
    commit.map_or_else(|| package.to_owned(), |commit| format!("{package}, commit {commit}"))
}

fn commit(folder: &Path) -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(folder).args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // The executable may lie in a tree that is not ours.
    let root = git(&["rev-parse", "--show-toplevel"])?;
    if !Path::new(&root).join("crates/spanwise-reproduce/Cargo.toml").exists() {
        return None;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_changed { format!("{commit} with changes") } else { commit })
}

/// Cores that this program may use.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Memory of the machine in bytes; Linux tells.
#[must_use]
pub fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// The day of a moment, in the calendar of everyday life and in universal time.
fn date(seconds: u64) -> String {
    // Years that begin in March end with the day that comes and goes, so months have fixed places.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year)
}

/// An argument as a shell reads it.
#[must_use]
pub fn quoted(arg: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !arg.is_empty() && arg.chars().all(is_plain) {
        return arg.to_owned();
    }
    format!("'{}'", arg.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // Reference: `date -u -d @N +%F`.
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (1_735_689_600, "2025-01-01"),
            (4_107_542_399, "2100-02-28"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(seconds), day, "{seconds}");
        }
    }

    #[test]
    fn arguments_survive_a_shell() {
        assert_eq!(quoted("model.search=paper"), "model.search=paper");
        assert_eq!(quoted("my data"), "'my data'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
