//! Reads and writes `model.safetensors`.
//!
//! The format is eight bytes with the length of a header, the header as a JSON object (name to type, shape
//! and place), and the values. Only the header is read when a file is opened; every number in it is checked
//! against the length of the file before anything is reserved, and each tensor is read when it is asked for.
//!
//! The header is parsed here rather than by the crate `safetensors`, which wants the whole file in memory (or
//! mapped, which is `unsafe`) before it looks at anything, and whose errors name neither file nor numbers.
//! Tests compare both.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// The name of the weights in an encoder's directory.
pub const FILE_NAME: &str = "model.safetensors";
/// The format that cannot be read, since reading it means running what is in it.
const PYTORCH_NAME: &str = "pytorch_model.bin";
/// What training code puts before the names of an encoder's tensors.
const PREFIXES: [&str; 4] = ["", "bert.", "mpnet.", "model."];
/// Names of old checkpoints.
const OLD_NAMES: [(&str, &str); 2] =
    [("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta")];
/// The key of the header that is no tensor.
const METADATA: &str = "__metadata__";
/// The longest header the format allows.
const MAX_HEADER: u64 = 100_000_000;
/// Bytes before the header.
const LENGTH_BYTES: u64 = 8;
/// Values are read and written in blocks of so many bytes.
const BLOCK: usize = 1 << 16;
/// Similar names that an error lists, and how many names are compared for it.
const NEAR_NAMES: usize = 3;
const MAX_COMPARED: usize = 5_000;

/// Why weights cannot be used.
#[derive(Debug, Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("cannot read {file}: {reason}; expected the weights of an encoder, `model.safetensors`")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        reason: io::Error,
    },
    /// Only weights in the format of PyTorch are there.
    #[error(
        "{file} is in the format of PyTorch, which cannot be read safely; expected `model.safetensors` \
         beside it; convert it, for example with `model.save_pretrained(dir, safe_serialization=True)` in \
         Python"
    )]
    Pytorch {
        /// The file that is there.
        file: String,
    },
    /// The file is not what it should be.
    #[error("{file} is not a complete safetensors file: {reason}; fetch it again")]
    Format {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no tensor of this name.
    #[error(
        "{file} has no tensor `{name}`{}; the weights and config.json may not belong together",
        near_text(.near)
    )]
    Missing {
        /// The file.
        file: String,
        /// The name that was asked for.
        name: String,
        /// Similar names that are there.
        near: Vec<String>,
    },
    /// A tensor has another shape.
    #[error(
        "{file}: tensor `{name}` has shape {found:?}, expected {expected:?}; config.json and the weights do \
         not belong together"
    )]
    Shape {
        /// The file.
        file: String,
        /// The tensor.
        name: String,
        /// The shape that the configuration asks for.
        expected: Vec<usize>,
        /// The shape in the file.
        found: Vec<usize>,
    },
    /// A tensor holds something other than floating-point numbers.
    #[error(
        "{file}: tensor `{name}` holds values of type {found}, expected F32, F16, BF16 or F64; convert the \
         weights to F32"
    )]
    Type {
        /// The file.
        file: String,
        /// The tensor.
        name: String,
        /// The type in the file.
        found: String,
    },
    /// A tensor holds a value that is no number.
    #[error(
        "{file}: value {index} of tensor `{name}` is {found}, expected a finite number; the file is damaged \
         or its training diverged"
    )]
    NotFinite {
        /// The file.
        file: String,
        /// The tensor.
        name: String,
        /// Which value, counted from 0.
        index: usize,
        /// The value, as an `f32`.
        found: f32,
    },
}

fn near_text(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (similar names: `{}`)", near.join("`, `")) }
}

/// How the values of a tensor are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Float {
    F16,
    Bf16,
    F32,
    F64,
}

impl Float {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "F16" => Self::F16,
            "BF16" => Self::Bf16,
            "F32" => Self::F32,
            "F64" => Self::F64,
            _ => return None,
        })
    }

    const fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The values in `block`, whose length is a multiple of the size of one.
    fn read(self, block: &[u8], values: &mut Vec<f32>) {
        match self {
            Self::F16 => {
                values.extend(block.as_chunks().0.iter().map(|b| half_to_f32(u16::from_le_bytes(*b))))
            }
            Self::Bf16 => {
                let widen = |b: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16);
                values.extend(block.as_chunks().0.iter().map(widen));
            }
            Self::F32 => values.extend(block.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b))),
            #[allow(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
            Self::F64 => values.extend(block.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32)),
        }
    }
}

/// An IEEE half in single precision, exactly.
fn half_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 0x1f;
    let fraction = u32::from(bits) & 0x3ff;
    match exponent {
        // Zero or subnormal: a multiple of 2^-24.
        0 => {
            #[allow(clippy::cast_precision_loss, reason = "ten bits")]
            let magnitude = fraction as f32 * (1.0 / 16_777_216.0);
            f32::from_bits(sign | magnitude.to_bits())
        }
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// Where a tensor is and what it holds.
#[derive(Clone, Debug)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    /// From the start of the file.
    at: u64,
    bytes: u64,
}

/// The tensors of a `model.safetensors`, read one at a time.
#[derive(Debug)]
pub struct Weights {
    path: String,
    file: File,
    entries: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
}

impl Weights {
    /// Opens a file of weights, or the `model.safetensors` in a directory, and checks its header.
    ///
    /// # Errors
    /// When there is no such file, or its header is not that of a complete file.
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let name = path.display().to_string();
        let read = |reason| WeightsError::Read { file: name.clone(), reason };
        let found = match fs::metadata(&path) {
            Ok(found) => found,
            Err(reason) => {
                let pytorch = path.with_file_name(PYTORCH_NAME);
                if reason.kind() == io::ErrorKind::NotFound && pytorch.is_file() {
                    return Err(WeightsError::Pytorch { file: pytorch.display().to_string() });
                }
                return Err(read(reason));
            }
        };
        if !found.is_file() {
            return Err(read(io::Error::other("it is not a regular file")));
        }
        let mut file = File::open(&path).map_err(read)?;
        let length = found.len();
        let header = read_header(&mut file, length).map_err(|fault| match fault {
            Fault::Io(reason) => WeightsError::Read { file: name.clone(), reason },
            Fault::Format(reason) => WeightsError::Format { file: name.clone(), reason },
        })?;
        Ok(Self { path: name, file, entries: header.entries, metadata: header.metadata })
    }

    /// Takes the tensor `name`, which must have the shape `shape`, as single-precision values in row-major
    /// order.
    ///
    /// The name may have one of the prefixes that training code adds (`bert.`, `mpnet.`, `model.`) and the
    /// old spelling of layer norms (`gamma`, `beta`). Half and double precision are converted.
    ///
    /// # Errors
    /// When there is no such tensor, or it was taken before; when its shape or its type is another; when a
    /// value is not finite; when the file cannot be read.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, WeightsError> {
        let Some(stored) = self.stored_name(name) else {
            let near = self.near(name);
            return Err(WeightsError::Missing { file: self.path.clone(), name: name.to_owned(), near });
        };
        let entry = &self.entries[&stored];
        if entry.shape != shape {
            let (expected, found) = (shape.to_vec(), entry.shape.clone());
            return Err(WeightsError::Shape { file: self.path.clone(), name: stored, expected, found });
        }
        let Some(float) = Float::parse(&entry.dtype) else {
            let found = entry.dtype.clone();
            return Err(WeightsError::Type { file: self.path.clone(), name: stored, found });
        };
        let values = read_values(&mut self.file, entry, float)
            .map_err(|reason| WeightsError::Read { file: self.path.clone(), reason })?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let found = values[index];
            return Err(WeightsError::NotFinite { file: self.path.clone(), name: stored, index, found });
        }
        self.entries.remove(&stored);
        Ok(values)
    }

    /// Whether [`Weights::take`] would find a tensor of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.stored_name(name).is_some()
    }

    /// The shape of a tensor that [`Weights::take`] would find.
    #[must_use]
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        let stored = self.stored_name(name)?;
        self.entries.get(&stored).map(|entry| entry.shape.as_slice())
    }

    /// The tensors that have not been taken, by the names they have in the file, in order.
    pub fn remaining(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// What the writer of the file noted in it.
    #[must_use]
    pub const fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The file, as errors name it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.path
    }

    fn stored_name(&self, name: &str) -> Option<String> {
        let old = OLD_NAMES.iter().find_map(|(new, old)| Some(format!("{}{old}", name.strip_suffix(new)?)));
        [Some(name), old.as_deref()].into_iter().flatten().find_map(|name| {
            PREFIXES
                .iter()
                .map(|prefix| format!("{prefix}{name}"))
                .find(|stored| self.entries.contains_key(stored))
        })
    }

    /// The names most like `name`, best first.
    fn near(&self, name: &str) -> Vec<String> {
        let bare =
            |full: &str| PREFIXES[1..].iter().find_map(|prefix| full.strip_prefix(prefix)).map(str::to_owned);
        let mut near: Vec<(usize, &String)> = self
            .entries
            .keys()
            .filter(|key| key.len() <= 4 * name.len().max(16))
            .take(MAX_COMPARED)
            .map(|key| (edits(name, bare(key).as_deref().unwrap_or(key)), key))
            .filter(|(edits, _)| *edits <= name.len() / 2)
            .collect();
        near.sort();
        near.into_iter().take(NEAR_NAMES).map(|(_, key)| key.clone()).collect()
    }
}

/// Number of characters to insert, delete or replace to make `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

struct Header {
    entries: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
}

enum Fault {
    Io(io::Error),
    Format(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the header of a file that is `length` bytes long and checks it.
fn read_header(file: &mut File, length: u64) -> Result<Header, Fault> {
    let format = |reason: String| Err(Fault::Format(reason));
    if length < LENGTH_BYTES {
        return format(format!("it has {length} bytes, expected at least {LENGTH_BYTES}"));
    }
    let mut prefix = [0; LENGTH_BYTES as usize];
    file.read_exact(&mut prefix)?;
    let claimed = u64::from_le_bytes(prefix);
    if claimed > MAX_HEADER {
        return format(format!("its header claims {claimed} bytes, expected at most {MAX_HEADER}"));
    }
    if claimed > length - LENGTH_BYTES {
        return format(format!("its header claims {claimed} bytes, but the whole file has {length}"));
    }
    let mut bytes = Vec::new();
    file.take(claimed).read_to_end(&mut bytes)?;
    let header: Map<String, Value> = match serde_json::from_slice(&bytes) {
        Ok(header) => header,
        Err(error) => return format(format!("its header is not a JSON object: {error}")),
    };
    let start = LENGTH_BYTES + claimed;
    let available = length - start;
    let mut entries = BTreeMap::new();
    let mut metadata = BTreeMap::new();
    let mut end = 0;
    for (name, value) in header {
        if name == METADATA {
            if let Value::Object(notes) = value {
                metadata = notes.into_iter().filter_map(|(k, v)| Some((k, v.as_str()?.to_owned()))).collect();
            }
            continue;
        }
        let (entry, entry_end) = read_entry(&value, available)
            .map_err(|reason| Fault::Format(format!("its tensor `{}` {reason}", short(&name))))?;
        end = end.max(entry_end);
        entries.insert(name, Entry { at: start + entry.at, ..entry });
    }
    if end != available {
        return format(format!("{} bytes follow its last tensor", available - end));
    }
    Ok(Header { entries, metadata })
}

/// Reads what the header says of one tensor; its place is relative to the end of the header. Also gives its
/// end.
fn read_entry(value: &Value, available: u64) -> Result<(Entry, u64), String> {
    let dtype = value.get("dtype").and_then(Value::as_str).ok_or("has no `dtype`")?;
    let numbers =
        |key: &str| -> Option<Vec<u64>> { value.get(key)?.as_array()?.iter().map(Value::as_u64).collect() };
    let shape = numbers("shape").ok_or("has no `shape` of whole numbers")?;
    let offsets = numbers("data_offsets").ok_or("has no `data_offsets` of whole numbers")?;
    let [at, end] = offsets[..] else {
        return Err(format!("has {} `data_offsets`, expected 2", offsets.len()));
    };
    if at > end {
        return Err(format!("ends at {end}, before its start at {at}"));
    }
    if end > available {
        return Err(format!(
            "ends at byte {end} of the values, but the file has only {available} (cut short?)"
        ));
    }
    let shape: Option<Vec<usize>> = shape.into_iter().map(|size| usize::try_from(size).ok()).collect();
    let shape = shape.ok_or("has a shape that is too large")?;
    if let Some(float) = Float::parse(dtype) {
        let size = shape.iter().try_fold(float.bytes(), |product, size| product.checked_mul(*size));
        if size.map(|size| size as u64) != Some(end - at) {
            return Err(format!(
                "has {} bytes, which is not what {dtype} of shape {shape:?} takes",
                end - at
            ));
        }
    }
    Ok((Entry { dtype: short(dtype), shape, at, bytes: end - at }, end))
}

/// A name from a file that may hold anything, cut to what fits an error.
fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

fn read_values(file: &mut File, entry: &Entry, float: Float) -> io::Result<Vec<f32>> {
    file.seek(SeekFrom::Start(entry.at))?;
    // The header was checked against the length of the file, so this is no more than the file holds.
    let mut values = Vec::with_capacity(entry.shape.iter().product());
    let mut left = entry.bytes;
    let mut block = vec![0; BLOCK];
    while left > 0 {
        let size = BLOCK.min(usize::try_from(left).unwrap_or(BLOCK));
        file.read_exact(&mut block[..size])?;
        float.read(&block[..size], &mut values);
        left -= size as u64;
    }
    Ok(values)
}

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
pub fn write_safetensors(
    path: &Path,
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
    write_in_place(path, |writer| {
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
    })
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
fn write_in_place(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tempfile::TempDir;

    fn raw(header: &str, values: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    /// Opens bytes as a file of weights.
    fn open(bytes: &[u8]) -> Result<Weights, WeightsError> {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join(FILE_NAME);
        fs::write(&path, bytes).unwrap();
        // The open file outlives its name.
        Weights::open(&path)
    }

    fn one(dtype: &str, shape: &[usize], values: &[u8]) -> Weights {
        let header =
            format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[0,{}]}}}}"#, values.len());
        open(&raw(&header, values)).unwrap()
    }

    fn refusal(bytes: &[u8]) -> String {
        let error = open(bytes).unwrap_err();
        assert!(matches!(error, WeightsError::Format { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("is not a complete safetensors file: "), "{message}");
        message
    }

    #[test]
    fn tensors_are_found_under_the_prefixes_of_training_code() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("w.safetensors");
        let tensors: [(&str, &[usize], &[f32]); 5] = [
            ("a", &[1], &[1.0]),
            ("bert.b", &[1], &[2.0]),
            ("mpnet.c", &[1], &[3.0]),
            ("model.d", &[1], &[4.0]),
            ("bert.e.LayerNorm.gamma", &[1], &[5.0]),
        ];
        write_safetensors(&path, &tensors, &BTreeMap::new()).unwrap();
        let mut weights = Weights::open(&path).unwrap();
        assert!(weights.contains("b") && !weights.contains("f"));
        assert_eq!(weights.shape("b"), Some(&[1][..]));
        for (name, value) in [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0), ("e.LayerNorm.weight", 5.0)] {
            assert_eq!(weights.take(name, &[1]).unwrap(), [value]);
        }
        assert_eq!(weights.remaining().count(), 0);
    }

    #[test]
    fn a_tensor_can_be_taken_once() {
        let mut weights = one("F32", &[1], &1_f32.to_le_bytes());
        weights.take("x", &[1]).unwrap();
        assert!(matches!(weights.take("x", &[1]), Err(WeightsError::Missing { .. })));
    }

    #[test]
    fn half_and_double_precision_become_single() {
        let half: Vec<u8> =
            [0x3c00_u16, 0xc000, 0x0001, 0x8000, 0x7bff].iter().flat_map(|b| b.to_le_bytes()).collect();
        let values = one("F16", &[5], &half).take("x", &[5]).unwrap();
        assert_eq!(values, [1.0, -2.0, 2_f32.powi(-24), -0.0, 65504.0]);
        assert!(values[3].is_sign_negative());
        let brain: Vec<u8> = [0x3f80_u16, 0xc040].iter().flat_map(|b| b.to_le_bytes()).collect();
        assert_eq!(one("BF16", &[2], &brain).take("x", &[2]).unwrap(), [1.0, -3.0]);
        let double: Vec<u8> = [0.1_f64, -7.0].iter().flat_map(|b| b.to_le_bytes()).collect();
        assert_eq!(one("F64", &[1, 2], &double).take("x", &[1, 2]).unwrap(), [0.1, -7.0]);
    }

    #[test]
    fn every_half_has_the_value_that_its_bits_define() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10) & 0x1f, f64::from(bits & 0x3ff));
            let magnitude = match exponent {
                0 => fraction * 2_f64.powi(-24),
                0x1f if fraction == 0.0 => f64::INFINITY,
                0x1f => f64::NAN,
                _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
            };
            let expected = if bits >> 15 == 1 { -magnitude } else { magnitude };
            let found = f64::from(half_to_f32(bits));
            assert!(
                found == expected || found.is_nan() && expected.is_nan(),
                "{bits:#x}: {found} {expected}"
            );
        }
    }

    #[test]
    fn values_longer_than_a_block_arrive_whole() {
        let values: Vec<f32> = (0..3 * BLOCK).map(|i| i as f32).collect();
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("w");
        write_safetensors(&path, &[("x", &[3, BLOCK], &values)], &BTreeMap::new()).unwrap();
        assert_eq!(Weights::open(&path).unwrap().take("x", &[3, BLOCK]).unwrap(), values);
    }

    #[test]
    fn a_wrong_shape_names_both_shapes_and_the_remedy() {
        let mut weights = one("F32", &[2, 1], &[0; 8]);
        let message = weights.take("x", &[1, 2]).unwrap_err().to_string();
        assert!(message.contains("tensor `x` has shape [2, 1], expected [1, 2]"), "{message}");
        assert!(message.contains("config.json and the weights do not belong together"), "{message}");
        assert!(weights.take("x", &[2]).is_err());
        assert_eq!(weights.take("x", &[2, 1]).unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn a_missing_tensor_lists_similar_names() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("w");
        let names = ["bert.encoder.layer.0.query.weight", "bert.encoder.layer.0.query.bias", "pooler"];
        let tensors: Vec<(&str, &[usize], &[f32])> =
            names.iter().map(|name| (*name, &[0][..], &[][..])).collect();
        write_safetensors(&path, &tensors, &BTreeMap::new()).unwrap();
        let mut weights = Weights::open(&path).unwrap();
        let message = weights.take("encoder.layer.1.query.weight", &[1]).unwrap_err().to_string();
        assert!(
            message.contains("has no tensor `encoder.layer.1.query.weight` (similar names: "),
            "{message}"
        );
        assert!(message.contains(": `bert.encoder.layer.0.query.weight`, `bert."), "{message}");
        assert!(!message.contains("pooler"), "{message}");
    }

    #[test]
    fn values_that_are_not_finite_are_refused() {
        let bytes = |value: f32| [1_f32, value].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let message = one("F32", &[2], &bytes(value)).take("x", &[2]).unwrap_err().to_string();
            assert!(message.contains("value 1 of tensor `x` is "), "{message}");
        }
        assert!(one("F64", &[1], &1e300_f64.to_le_bytes()).take("x", &[1]).is_err());
    }

    #[test]
    fn whole_numbers_are_no_weights_unless_nobody_asks_for_them() {
        let ids = r#""ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}"#;
        let header = format!(r#"{{{ids},"x":{{"dtype":"F32","shape":[],"data_offsets":[8,12]}}}}"#);
        let mut weights = open(&raw(&header, &[0; 12])).unwrap();
        assert_eq!(weights.take("x", &[]).unwrap(), [0.0]);
        let message = weights.take("ids", &[1]).unwrap_err().to_string();
        assert!(message.contains("tensor `ids` holds values of type I64, expected F32"), "{message}");
    }

    #[test]
    fn a_truncated_file_is_refused_at_every_length() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("w");
        write_safetensors(&path, &[("x", &[2, 2], &[1.0, 2.0, 3.0, 4.0])], &BTreeMap::new()).unwrap();
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            refusal(&bytes[..length]);
        }
        assert!(refusal(&bytes[..bytes.len() - 1]).contains("cut short?"));
        let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
        assert!(refusal(&longer).contains("1 bytes follow its last tensor"));
    }

    #[test]
    fn headers_that_lie_are_refused_without_reserving_what_they_claim() {
        assert!(refusal(&u64::MAX.to_le_bytes()).contains("claims 18446744073709551615 bytes"));
        assert!(refusal(&99_000_000_u64.to_le_bytes()).contains("but the whole file has 8"));
        for header in
            ["", "garbage", "[]", "{\"x\":1}", "{\"x\":{}}", "{\u{1}}", "{\"x\":{\"dtype\":\"F32\"}}"]
        {
            refusal(&raw(header, b""));
        }
        let entry = |shape: &str, offsets: &str| {
            raw(&format!(r#"{{"x":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#), &[0; 8])
        };
        for (shape, offsets) in [
            ("[2]", "[0,9]"),
            ("[2]", "[0,18446744073709551615]"),
            ("[2]", "[0,1e3]"),
            ("[2]", "[8,0]"),
            ("[2]", "[-1,8]"),
            ("[2]", "[0]"),
            ("[2]", "[0,4,8]"),
            ("[2]", "{}"),
            ("[3]", "[0,8]"),
            ("[-2]", "[0,8]"),
            ("[18446744073709551615, 18446744073709551615]", "[0,8]"),
            ("[4611686018427387904]", "[0,8]"),
            ("[0.5]", "[0,8]"),
            ("null", "[0,8]"),
        ] {
            assert!(refusal(&entry(shape, offsets)).contains("its tensor `x` "));
        }
        refusal(&raw(&"[".repeat(100_000), b""));
        assert!(open(&entry("[2]", "[0,8]")).is_ok());
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let directory = TempDir::new().unwrap();
        let error = Weights::open(directory.path()).unwrap_err().to_string();
        assert!(error.starts_with("cannot read ") && error.contains("model.safetensors: "), "{error}");
        fs::create_dir(directory.path().join(FILE_NAME)).unwrap();
        let error = Weights::open(directory.path()).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        if cfg!(target_os = "linux") {
            assert!(Weights::open(Path::new("/dev/zero")).is_err());
        }
    }

    #[test]
    fn a_directory_with_only_pytorch_weights_says_how_to_convert_them() {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join(PYTORCH_NAME), b"PK").unwrap();
        for path in [directory.path().to_owned(), directory.path().join(FILE_NAME)] {
            let error = Weights::open(&path).unwrap_err();
            assert!(matches!(error, WeightsError::Pytorch { .. }), "{error}");
            assert!(error.to_string().contains("convert it"), "{error}");
        }
    }

    #[test]
    fn the_tiny_encoders_can_be_read() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        for (name, rows) in [("tiny-bert", 113), ("tiny-mpnet", 114)] {
            let mut weights = Weights::open(&data.join(name)).unwrap();
            let values = weights.take("embeddings.word_embeddings.weight", &[rows, 32]).unwrap();
            assert_eq!(values.len(), rows * 32);
        }
    }

    #[test]
    fn the_same_content_gives_the_same_bytes_in_any_order() {
        let directory = TempDir::new().unwrap();
        let notes =
            BTreeMap::from([("format".to_owned(), "pt".to_owned()), ("a\"b".to_owned(), "\n".to_owned())]);
        let mut tensors: Vec<(&str, &[usize], &[f32])> = vec![("b", &[1], &[1.0]), ("a", &[0, 3], &[])];
        let (first, second) = (directory.path().join("1"), directory.path().join("2"));
        write_safetensors(&first, &tensors, &notes).unwrap();
        tensors.reverse();
        write_safetensors(&second, &tensors, &notes).unwrap();
        let bytes = fs::read(&first).unwrap();
        assert_eq!(bytes, fs::read(&second).unwrap());
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        assert!(header.is_multiple_of(8));
        assert_eq!(Weights::open(&first).unwrap().metadata(), &notes);
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("w");
        write_safetensors(&path, &[("x", &[1], &[1.0])], &BTreeMap::new()).unwrap();
        let header = r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
        let padded = format!("{header:<width$}", width = header.len().next_multiple_of(8));
        assert_eq!(fs::read(&path).unwrap(), raw(&padded, &1_f32.to_le_bytes()));
    }

    #[test]
    fn the_reference_implementation_reads_what_is_written_and_writes_what_is_read() {
        use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
        let directory = TempDir::new().unwrap();
        let path = directory.path().join(FILE_NAME);
        let tensors: [(&str, &[usize], &[f32]); 3] =
            [("b.\"ü\"", &[2, 1], &[1.0, -2.5]), ("a", &[], &[0.1]), ("empty", &[3, 0], &[])];
        let notes = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
        write_safetensors(&path, &tensors, &notes).unwrap();
        let bytes = fs::read(&path).unwrap();
        let read = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(read.len(), tensors.len());
        for (name, shape, values) in tensors {
            let view = read.tensor(name).unwrap();
            assert_eq!((view.dtype(), view.shape()), (Dtype::F32, shape));
            assert_eq!(view.data(), values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        }
        let view = TensorView::new(Dtype::BF16, vec![1, 2], &[0x80, 0x3f, 0, 0xc0]).unwrap();
        let mut weights = open(&serialize([("x", view)], None).unwrap()).unwrap();
        assert_eq!(weights.take("x", &[1, 2]).unwrap(), [1.0, -2.0]);
    }

    #[test]
    fn tensors_that_contradict_themselves_are_not_written() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("w");
        let none = BTreeMap::new();
        let twice: [(&str, &[usize], &[f32]); 2] = [("x", &[1], &[1.0]), ("x", &[1], &[2.0])];
        for tensors in [&[("x", &[2][..], &[1.0][..])][..], &[(METADATA, &[1], &[1.0])], &twice] {
            let error = write_safetensors(&path, tensors, &none).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
        assert!(write_safetensors(&path, &[("x", &[usize::MAX, 2], &[])], &none).is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error() {
        let directory = TempDir::new().unwrap();
        let tensors: [(&str, &[usize], &[f32]); 1] = [("x", &[1], &[1.0])];
        let write = |path: &Path| write_safetensors(path, &tensors, &BTreeMap::new());
        assert!(write(&directory.path().join("no/such/w")).is_err());
        assert!(write(directory.path()).is_err());
        assert!(write(Path::new("")).is_err());
        assert!(write(Path::new("..")).is_err());
        fs::write(directory.path().join("file"), b"").unwrap();
        assert!(write(&directory.path().join("file/w")).is_err());
        if cfg!(target_os = "linux") {
            // Refuses new files even to root.
            assert!(write(Path::new("/proc/spanwise.safetensors")).is_err());
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_read_only_directory_is_an_error() {
        use std::os::unix::fs::PermissionsExt;
        let directory = TempDir::new().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(directory.path().join("probe"), b"").is_ok() {
            println!("SKIPPED: this user may write into read-only directories");
            return;
        }
        let tensors: [(&str, &[usize], &[f32]); 1] = [("x", &[1], &[1.0])];
        let error = write_safetensors(&directory.path().join("w"), &tensors, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_devices_stay_devices() {
        use std::os::unix::fs::FileTypeExt;
        let full = Path::new("/dev/full");
        if !full.exists() {
            println!("SKIPPED: no /dev/full");
            return;
        }
        let values = vec![1.0; 100_000];
        for count in [1, values.len()] {
            let tensors = [("x", &[count][..], &values[..count])];
            let error = write_safetensors(full, &tensors, &BTreeMap::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
        assert!(fs::metadata(full).unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("w");
        fs::write(&path, b"old").unwrap();
        let result = write_in_place(&path, |writer| {
            writer.write_all(&[0; 2 * BLOCK])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(result.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed() {
        let directory = TempDir::new().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        fs::write(&target, b"old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_safetensors(&link, &[("x", &[1], &[1.0])], &BTreeMap::new()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(Weights::open(&target).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read_back(
            tensors in prop::collection::btree_map(
                "[^_]\\PC{0,12}",
                prop::collection::vec(0_usize..4, 0..4).prop_flat_map(|shape| {
                    let count = shape.iter().product::<usize>();
                    (Just(shape), prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::ZERO, count))
                }),
                0..6,
            ),
            notes in prop::collection::btree_map("\\PC{0,8}", "\\PC{0,8}", 0..3),
        ) {
            let directory = TempDir::new().unwrap();
            let path = directory.path().join(FILE_NAME);
            let list: Vec<(&str, &[usize], &[f32])> =
                tensors.iter().map(|(name, (shape, values))| (&name[..], &shape[..], &values[..])).collect();
            write_safetensors(&path, &list, &notes).unwrap();
            let mut weights = Weights::open(directory.path()).unwrap();
            prop_assert_eq!(weights.metadata(), &notes);
            for (name, (shape, values)) in &tensors {
                let found = weights.take(name, shape).unwrap();
                prop_assert_eq!(found.len(), values.len());
                prop_assert!(found.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
            prop_assert_eq!(weights.remaining().count(), 0);
        }

        #[test]
        fn no_bytes_make_opening_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            claimed in 0_u64..300,
        ) {
            let _ = open(&bytes);
            let mut framed = claimed.to_le_bytes().to_vec();
            framed.extend(&bytes);
            let _ = open(&framed);
        }
    }
}
