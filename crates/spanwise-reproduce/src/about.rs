//! Version, machine and date of a report.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// Where and when a report was made.
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
    /// Memory in bytes, where the system reports it.
    pub memory: Option<u64>,
}

impl About {
    /// Here and now.
    #[must_use]
    pub fn now() -> Self {
        Self { version: version(), date: today(), cpu: cpu(), cores: cores(), memory: memory() }
    }
}

/// This machine in words.
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

/// The version of the package, with the commit where it is known.
#[must_use]
pub fn version() -> String {
    let package = concat!("spanwise ", env!("CARGO_PKG_VERSION"));
    commit().map_or_else(|| package.to_owned(), |commit| format!("{package}, commit {commit}"))
}

/// The commit of the source tree that the executable is in.
#[must_use]
pub fn commit() -> Option<String> {
    let executable = std::env::current_exe().ok()?;
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(executable.parent()?).args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // The executable may be in a tree of another project.
    let root = git(&["rev-parse", "--show-toplevel"])?;
    if !Path::new(&root).join("crates/spanwise-reproduce/Cargo.toml").exists() {
        return None;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_changed { format!("{commit} with changes") } else { commit })
}

/// Today in universal time, `2021-04-19`.
#[must_use]
pub fn today() -> String {
    time::OffsetDateTime::now_utc().date().to_string()
}

/// Cores that this program may use.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Memory of the machine in bytes, on Linux.
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
    fn the_day_is_written_year_first() {
        let day = time::Date::from_ordinal_date(2000, 60).unwrap();
        assert_eq!(day.to_string(), "2000-02-29");
        assert_eq!(today().len(), 10);
    }

    #[test]
    fn arguments_survive_a_shell() {
        assert_eq!(quoted("model.search=paper"), "model.search=paper");
        assert_eq!(quoted("my data"), "'my data'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
