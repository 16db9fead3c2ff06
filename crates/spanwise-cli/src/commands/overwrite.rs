//! Refuses to overwrite a file that the same command reads.

use crate::output::WrongCall;
use anyhow::Result;
use spanwise_domains::load::Spec;
use spanwise_lang::Domain;
use std::fs;
use std::path::{Path, PathBuf};

/// Fails if one of `outputs` is one of `inputs`: the same path in any spelling, a symbolic link or a hard link.
pub(crate) fn refuse<I, O>(outputs: O, inputs: I) -> Result<()>
where
    O: IntoIterator<Item: AsRef<Path>>,
    I: IntoIterator<Item: AsRef<Path>>,
{
    let is_file = |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file());
    let inputs: Vec<_> = inputs.into_iter().filter(|path| is_file(path.as_ref())).collect();
    for output in outputs {
        let output = output.as_ref();
        if !is_file(output) {
            continue;
        }
        if let Some(input) = inputs.iter().find(|input| is_same(output, input.as_ref())) {
            let (output, input) = (output.display().to_string(), input.as_ref().display().to_string());
            let same = if output == input { String::new() } else { format!(", which is {input}") };
            let message = format!(
                "will not overwrite {output}{same}: this command reads it, or it belongs to the model; write to another file"
            );
            return Err(WrongCall(message).into());
        }
    }
    Ok(())
}

/// The files of a model's directory: the model, and what belongs to its training.
pub(crate) fn model_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter(|entry| is_of_run(&entry.file_name().to_string_lossy()));
    names.map(|entry| entry.path()).collect()
}

/// Whether a file of a model's directory is one that training writes.
fn is_of_run(name: &str) -> bool {
    let names = ["model.json", "config.toml", "metrics.jsonl", "curves.svg", "checkpoint.safetensors"];
    let stems = ["weights", "tokenizer", "executor-"];
    names.contains(&name) || stems.iter().any(|stem| name.starts_with(stem))
}

/// The file of a domain and its tables; none for a built-in one.
pub(crate) fn domain_files(spec: Spec<'_>, domain: &Domain) -> Vec<PathBuf> {
    let Some(file) = spec.file() else { return Vec::new() };
    let directory = file.parent().unwrap_or(Path::new(""));
    let tables = domain.tables().iter().map(|(path, _)| directory.join(path));
    std::iter::once(file.to_owned()).chain(tables).collect()
}

#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    place(one).is_some_and(|one| place(other) == Some(one))
}

#[cfg(not(unix))]
fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_recognized_in_another_spelling_and_through_links() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("in"), "").unwrap();
        fs::write(at("other"), "").unwrap();
        fs::hard_link(at("in"), at("hard")).unwrap();
        std::os::unix::fs::symlink("in", at("soft")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        for name in ["in", "./in", "folder/../in", "hard", "soft"] {
            let message = refuse([at(name)], [at("other"), at("in")]).unwrap_err().to_string();
            assert!(message.starts_with("will not overwrite "), "{message}");
        }
        refuse([at("other"), at("new"), at("folder")], [at("in"), at("missing"), at("folder")]).unwrap();
        refuse([Path::new("/dev/null")], [Path::new("/dev/null")]).unwrap();
    }
}
