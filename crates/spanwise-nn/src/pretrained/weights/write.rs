//! Writes weights: all of a file or nothing, the same bytes for the same tensors.

use super::{BLOCK, METADATA};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes tensors as a safetensors file, all of it or nothing.
///
/// The same tensors and metadata give the same bytes, in whatever order they are listed. The file is written
/// under a temporary name in the same directory, forced to the disk and renamed; a link is followed, and a
/// device is written to directly.
///
/// # Errors
/// When a name occurs twice or is reserved, or a tensor does not have as many values as its shape says
/// ([`io::ErrorKind::InvalidInput`]); when the file cannot be written, and then what was there before is
/// still there.
pub fn write_safetensors<W: Write + ?Sized>(
    writer: &mut W,
    tensors: &[(&str, &[usize], &[f32])],
    metadata: &BTreeMap<String, String>,
) -> io::Result<()> {
    let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidInput, message);
    let mut sorted = tensors.to_vec();
    sorted.sort_by_key(|(name, ..)| *name);
    let mut seen = BTreeSet::new();
    for (name, shape, values) in &sorted {
        if *name == METADATA || !seen.insert(name) {
            return Err(invalid(format!(
                "tensor name `{name}` is reserved or used twice; rename the tensor"
            )));
        }
        let expected = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
        if expected != Some(values.len()) {
            let message =
                format!("tensor `{name}` has {} values, which is not shape {shape:?}", values.len());
            return Err(invalid(message));
        }
    }
    let header = header_text(&sorted, metadata)?;
    writer.write_all(&(header.len() as u64).to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    let mut block = Vec::with_capacity(BLOCK);
    for (.., values) in &sorted {
        for chunk in values.chunks(BLOCK / size_of::<f32>()) {
            block.clear();
            block.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
            writer.write_all(&block)?;
        }
    }
    Ok(())
}

/// The header, padded so that the values are aligned.
fn header_text(
    sorted: &[(&str, &[usize], &[f32])],
    metadata: &BTreeMap<String, String>,
) -> io::Result<String> {
    let mut text = String::from("{");
    if !metadata.is_empty() {
        let _ = write!(text, "\"{METADATA}\":{},", serde_json::to_string(metadata)?);
    }
    let mut at = 0;
    for (name, shape, values) in sorted {
        let end = at + size_of_val(*values);
        let (name, shape) = (serde_json::to_string(name)?, serde_json::to_string(shape)?);
        let _ = write!(text, "{name}:{{\"dtype\":\"F32\",\"shape\":{shape},\"data_offsets\":[{at},{end}]}},");
        at = end;
    }
    if text.ends_with(',') {
        text.pop();
    }
    text.push('}');
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    Ok(text)
}

/// Writes a file so that a reader sees the old content or the new, never a half.
pub(super) fn write_in_place(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let found = match fs::metadata(&target) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match found {
        Some(found) if found.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
        }
        // A rename would replace the device by a file.
        Some(found) if !found.is_file() => {
            fill(OpenOptions::new().write(true).open(&target)?, write).map(|_| ())
        }
        found => {
            let (file, temporary) = Temporary::beside(&target)?;
            if let Some(found) = found {
                file.set_permissions(found.permissions())?;
            }
            fill(file, write)?.sync_all()?;
            fs::rename(&temporary.0, &target)?;
            // Best effort: on systems where a directory can be opened, the new name reaches the disk too.
            if let Ok(directory) = File::open(directory_of(&target)) {
                let _ = directory.sync_all();
            }
            Ok(())
        }
    }
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut writer = BufWriter::with_capacity(BLOCK, file);
    write(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// A file under a temporary name. After a rename nothing of this name is left; else it is removed.
struct Temporary(PathBuf);

impl Temporary {
    fn beside(target: &Path) -> io::Result<(File, Self)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = target
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = format!(".{}.{}-{number}.tmp", name.to_string_lossy(), process::id());
            let path = directory_of(target).join(temporary);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, Self(path))),
                // Left behind by a process of the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
