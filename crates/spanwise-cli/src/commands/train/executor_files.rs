//! Copies the files of an external executor into the model directory.
//!
//! The executor of a model runs in the model directory, so the files that its command names have to be there too.

use anyhow::{Context as _, Result};
use spanwise_domains::data::write_atomic;
use spanwise_domains::load::Spec;
use spanwise_lang::Domain;
use spanwise_lang::domain::ExecutorChoice;
use std::fs;
use std::path::{Component, Path};

/// Copies every file that the command of the domain's executor names, relative to the domain file, into `out`.
pub(super) fn take_along(domain: &Domain, spec: &str, out: &Path) -> Result<()> {
    let ExecutorChoice::Command { argv, .. } = domain.executor() else { return Ok(()) };
    let folder = Spec::parse(spec).directory().unwrap_or(Path::new(""));
    for word in argv {
        let path = Path::new(word);
        // `./run.sh` is meant, `/bin/sh` and `../shared.py` stay where they are.
        let is_inside =
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let (from, to) = (folder.join(path), out.join(path));
        if !is_inside || !from.is_file() || is_same(&from, &to) {
            continue;
        }
        copy(&from, &to)
            .with_context(|| format!("cannot copy the executor's {} into the model", from.display()))?;
    }
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from)?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    write_atomic(to, |file| file.write_all(&bytes))?;
    // A script that can be run must stay so.
    Ok(fs::set_permissions(to, fs::metadata(from)?.permissions())?)
}
