//! What can be wrong before any cell runs. A cell that fails is no error here, but a result.

/// Why a grid cannot be run or reported.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The tables are wrong.
    #[error("tables.toml: {0}")]
    Tables(String),
    /// A name that does not exist.
    #[error("there is no {kind} `{name}`; expected one of {}", known.join(", "))]
    Unknown {
        /// What it should be.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The selection leaves nothing.
    #[error("no row has a cell left: {0}; choose other --rows, --splits or --only")]
    Empty(String),
    /// A folder holds cells of the other kind.
    #[error(
        "{out} holds cells made {}; choose another --out, so that numbers that mean nothing never mix with real ones",
        if *quick { "with --quick" } else { "without --quick" }
    )]
    Mixed {
        /// The folder.
        out: String,
        /// What is in it.
        quick: bool,
    },
    /// Someone else is at work.
    #[error("another `spanwise reproduce` works in {out}; wait for it, or choose another --out")]
    Busy {
        /// The folder.
        out: String,
    },
    /// There is nothing to report on.
    #[error("{out} holds no grid; run `spanwise reproduce --data DIR --out {out}` first")]
    NoGrid {
        /// The folder.
        out: String,
    },
    /// A file that cannot be read, written or removed.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl ReproduceError {
    /// A problem with a file.
    pub(crate) fn file(path: &std::path::Path, reason: impl ToString) -> Self {
        Self::File { path: path.display().to_string(), reason: reason.to_string() }
    }
}
