//! One file per subcommand.

pub(crate) mod check;
pub(crate) mod data;
pub(crate) mod exec;

use crate::output::WrongCall;
use anyhow::{Context, Result};
use spanwise_domains::load::{LoadError, load};
use spanwise_lang::Domain;
use std::path::{Path, PathBuf};

/// Help text shared by every argument that names a domain.
pub(crate) const DOMAIN_HELP: &str =
    "A built-in domain (geo, clevr, scan) or a domain file; NAME@SYSTEM picks one of its type systems";

/// The domain an argument names.
pub(crate) fn domain(spec: &str) -> Result<Domain> {
    load(spec).map_err(|error| match error {
        LoadError::Unreadable { .. } => WrongCall(error.to_string()).into(),
        LoadError::Invalid(_) => error.into(),
    })
}

/// The folder of the domain file an argument names, where its executor runs.
pub(crate) fn directory_of(spec: &str) -> Option<PathBuf> {
    Path::new(spec.rsplit_once('@').map_or(spec, |(path, _)| path)).parent().map(Path::to_path_buf)
}

/// The whole text of an input file.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| missing(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
        anyhow::anyhow!("{}:{line}: not valid UTF-8", path.display())
    })
}

fn missing(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    WrongCall(format!("cannot read {}: {reason}", path.display())).into()
}

/// Makes a folder for outputs.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))
}
