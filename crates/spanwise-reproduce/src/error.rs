//! Errors of a grid as a whole. A cell that fails is a result, not an error.

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
        /// The name that was given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The selection is empty.
    #[error("no row has a cell left: {0}; choose other --rows, --splits or --only")]
    Empty(String),
    /// A folder holds cells of the other kind.
    #[error(
        "{out} holds cells made {}; choose another --out, so that quick cells never mix with real ones",
        if *quick { "with --quick" } else { "without --quick" }
    )]
    Mixed {
        /// The folder.
        out: String,
        /// Whether its cells are quick ones.
        quick: bool,
    },
    /// Another process works in the folder.
    #[error("another `spanwise reproduce` is running in {out}; wait for it, or choose another --out")]
    Busy {
        /// The folder.
        out: String,
    },
    /// The folder holds no grid.
    #[error("{out} holds no grid; run `spanwise reproduce --data DIR --out {out}` first")]
    NoGrid {
        /// The folder.
        out: String,
    },
    /// Quick cells are no results.
    #[error("cells made with --quick only show that everything runs; --export takes real ones")]
    QuickExport,
    /// A result file or the list of claims is wrong.
    #[error("{path}: {reason}")]
    Result {
        /// The file.
        path: String,
        /// Why.
        reason: String,
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
