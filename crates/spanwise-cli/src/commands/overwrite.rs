//! Refuses to overwrite a file that the same command reads.

use crate::output::WrongCall;
use anyhow::Result;
use serde_json::Value;
use spanwise_domains::load::Spec;
use spanwise_domains::text::{self, Kind};
use spanwise_lang::Domain;
use std::fs;
use std::path::{Path, PathBuf};

/// Most bytes of a `model.json` that is searched for names of files.
const MAX_MANIFEST: u64 = 1 << 30;

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
            let message =
                format!("will not overwrite {output}{same}: this command reads it; write to another file");
            return Err(WrongCall(message).into());
        }
    }
    Ok(())
}

/// The files that make a model: `model.json` and those that it names.
pub(crate) fn model_files(directory: &Path) -> Vec<PathBuf> {
    let manifest = directory.join("model.json");
    let text = text::read_text(&manifest, Kind::Regular, MAX_MANIFEST).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    // Before version 3, files had fixed names.
    let mut files = vec![manifest, directory.join("weights.safetensors"), directory.join("tokenizer.json")];
    let mut open = vec![&value["files"]];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(object) => {
                files.extend(object.get("path").and_then(Value::as_str).map(|name| directory.join(name)));
                open.extend(object.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    files
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
