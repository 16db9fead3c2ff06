//! Reads and writes files in the safetensors format, such as `model.safetensors`.
//!
//! A file is eight bytes with the length of a header, the header as a JSON object (name to type, shape and
//! offsets), and the values. Only the header is read when a file is opened; every number in it is checked
//! against the length of the file before memory is reserved, and each tensor is read when it is requested.
//!
//! The header is parsed here rather than by the crate `safetensors`, which needs the whole file in memory (or
//! mapped, which is `unsafe`) before it checks anything, and whose errors name neither the file nor, in most
//! cases, the tensor. A test compares both implementations.

mod write;

pub use write::write_safetensors;

use crate::files::{MAX_VALUES, MAX_WEIGHTS, check_json, open_regular};
use half::{bf16, f16};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
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
        /// The error of the system.
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
        /// The name that was requested.
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
        /// The shape that the configuration requires.
        expected: Vec<usize>,
        /// The shape in the file.
        found: Vec<usize>,
    },
    /// A tensor belongs to a layer that the configuration does not have.
    #[error(
        "{file} has tensor `{name}`, but config.json has only {layers} layers; config.json and \
         the weights do not belong together"
    )]
    Surplus {
        /// The file.
        file: String,
        /// The tensor.
        name: String,
        /// Layers of the configuration.
        layers: usize,
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
            Self::F16 => values.extend(block.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32())),
            Self::Bf16 => values.extend(block.as_chunks().0.iter().map(|b| bf16::from_le_bytes(*b).to_f32())),
            Self::F32 => values.extend(block.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b))),
            #[allow(clippy::cast_possible_truncation, reason = "rounding to single precision is intended")]
            Self::F64 => values.extend(block.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32)),
        }
    }
}

/// What the header holds for one tensor.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    /// First byte and one past the last, counted from the end of the header.
    data_offsets: [u64; 2],
}

/// The tensors of a `model.safetensors`, read one at a time.
#[derive(Debug)]
pub struct Weights {
    path: String,
    file: File,
    header: Header,
}

impl Weights {
    /// Opens a file of weights, or the `model.safetensors` in a directory, and checks its header.
    ///
    /// # Errors
    /// When there is no such file, or its header is not that of a complete file.
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        match open_regular(&path, MAX_WEIGHTS) {
            Ok(file) => Self::from_file(file, &path),
            Err(reason) => {
                let pytorch = path.with_file_name(PYTORCH_NAME);
                if reason.kind() == io::ErrorKind::NotFound && pytorch.is_file() {
                    return Err(WeightsError::Pytorch { file: pytorch.display().to_string() });
                }
                Err(WeightsError::Read { file: path.display().to_string(), reason })
            }
        }
    }

    /// Reads and checks the header of an open file, which errors call `path`.
    ///
    /// # Errors
    /// A file that cannot be read, or whose header is not that of a complete file.
    pub fn from_file(mut file: File, path: &Path) -> Result<Self, WeightsError> {
        let name = path.display().to_string();
        let read = |reason| WeightsError::Read { file: name.clone(), reason };
        let length = file.metadata().map_err(read)?.len();
        let header = read_header(&mut file, length).map_err(|fault| match fault {
            Fault::Io(reason) => WeightsError::Read { file: name.clone(), reason },
            Fault::Format(reason) => WeightsError::Format { file: name.clone(), reason },
        })?;
        Ok(Self { path: name, file, header })
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
        let entry = &self.header.entries[&stored];
        if entry.shape != shape {
            let (expected, found) = (shape.to_vec(), entry.shape.clone());
            return Err(WeightsError::Shape { file: self.path.clone(), name: stored, expected, found });
        }
        let Some(float) = Float::parse(&entry.dtype) else {
            let found = entry.dtype.clone();
            return Err(WeightsError::Type { file: self.path.clone(), name: stored, found });
        };
        let values = read_values(&mut self.file, self.header.values_at, entry, float)
            .map_err(|reason| WeightsError::Read { file: self.path.clone(), reason })?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let found = values[index];
            return Err(WeightsError::NotFinite { file: self.path.clone(), name: stored, index, found });
        }
        self.header.entries.remove(&stored);
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
        self.header.entries.get(&stored).map(|entry| entry.shape.as_slice())
    }

    /// The tensors that have not been taken, by the names they have in the file, in order.
    pub fn remaining(&self) -> impl Iterator<Item = &str> {
        self.header.entries.keys().map(String::as_str)
    }

    /// Checks that no layer was left out: an encoder without its upper layers runs, but it is another one.
    /// `prefix` is what their names begin with.
    pub(crate) fn check_layers(&self, prefix: &str, layers: usize) -> Result<(), WeightsError> {
        let prefix = format!("{prefix}.");
        match self.remaining().find(|name| name.contains(&prefix)) {
            None => Ok(()),
            Some(name) => {
                Err(WeightsError::Surplus { file: self.path.clone(), name: name.to_owned(), layers })
            }
        }
    }

    /// The metadata of the file.
    #[must_use]
    pub const fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// The number of bytes before the values.
    #[must_use]
    pub const fn header_bytes(&self) -> u64 {
        self.header.values_at
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
                .find(|stored| self.header.entries.contains_key(stored))
        })
    }

    /// The names most like `name`, best first.
    fn near(&self, name: &str) -> Vec<String> {
        let bare =
            |full: &str| PREFIXES[1..].iter().find_map(|prefix| full.strip_prefix(prefix)).map(str::to_owned);
        let mut near: Vec<(usize, &String)> = self
            .header
            .entries
            .keys()
            .filter(|key| key.len() <= 4 * name.len().max(16))
            .take(MAX_COMPARED)
            .map(|key| (strsim::levenshtein(name, bare(key).as_deref().unwrap_or(key)), key))
            .filter(|(edits, _)| *edits <= name.len() / 2)
            .collect();
        near.sort();
        near.into_iter().take(NEAR_NAMES).map(|(_, key)| key.clone()).collect()
    }
}

/// The checked header of a file.
#[derive(Debug)]
struct Header {
    /// Where the values start in the file.
    values_at: u64,
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
    check_json(&bytes, MAX_VALUES)
        .map_err(|reason| Fault::Format(format!("its header is too large: {reason}")))?;
    let header: Map<String, Value> = match serde_json::from_slice(&bytes) {
        Ok(header) => header,
        Err(error) => return format(format!("its header is not a JSON object: {error}")),
    };
    let values_at = LENGTH_BYTES + claimed;
    let available = length - values_at;
    let mut entries = BTreeMap::new();
    let mut metadata = BTreeMap::new();
    for (name, value) in header {
        if name == METADATA {
            if let Value::Object(notes) = value {
                metadata = notes.into_iter().filter_map(|(k, v)| Some((k, v.as_str()?.to_owned()))).collect();
            }
            continue;
        }
        let entry = read_entry(value, available)
            .map_err(|reason| Fault::Format(format!("its tensor `{}` {reason}", short(&name))))?;
        entries.insert(name, entry);
    }
    check_places(&entries, available)?;
    Ok(Header { values_at, entries, metadata })
}

/// Checks that the tensors lie one after the other and fill the file: where two share bytes, a short file could claim
/// any number of values.
fn check_places(entries: &BTreeMap<String, Entry>, available: u64) -> Result<(), Fault> {
    let mut places: Vec<([u64; 2], &String)> =
        entries.iter().map(|(name, entry)| (entry.data_offsets, name)).collect();
    places.sort_unstable();
    let mut end = 0;
    for ([at, next], name) in places {
        if at != end {
            let (name, problem) = (short(name), if at < end { "overlaps another" } else { "follows a gap" });
            return Err(Fault::Format(format!("its tensor `{name}` {problem}")));
        }
        end = next;
    }
    if end != available {
        return Err(Fault::Format(format!("{} bytes follow its last tensor", available - end)));
    }
    Ok(())
}

/// Reads and checks the description of one tensor, in a file with so many bytes of values.
fn read_entry(value: Value, available: u64) -> Result<Entry, String> {
    let entry: Entry = serde_json::from_value(value)
        .map_err(|error| format!("is not described as it should be: {}", short(&error.to_string())))?;
    let Entry { dtype, shape, data_offsets: [at, end] } = &entry;
    if at > end {
        return Err(format!("ends at {end}, before its start at {at}"));
    }
    if *end > available {
        return Err(format!(
            "ends at byte {end} of the values, but the file has only {available} (cut short?)"
        ));
    }
    if let Some(float) = Float::parse(dtype) {
        let size = shape.iter().try_fold(float.bytes(), |product, size| product.checked_mul(*size));
        if size.map(|size| size as u64) != Some(end - at) {
            return Err(format!(
                "has {} bytes, which is not what {dtype} of shape {shape:?} takes",
                end - at
            ));
        }
    }
    Ok(Entry { dtype: short(dtype), ..entry })
}

/// A text from an untrusted file, cut to what fits an error message.
fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

fn read_values(file: &mut File, values_at: u64, entry: &Entry, float: Float) -> io::Result<Vec<f32>> {
    let [at, end] = entry.data_offsets;
    file.seek(SeekFrom::Start(values_at + at))?;
    // The header was checked against the length of the file, so this is no more than the file holds.
    let mut values = Vec::new();
    values.try_reserve_exact(entry.shape.iter().product()).map_err(io::Error::other)?;
    let mut left = end - at;
    let mut block = vec![0; BLOCK];
    while left > 0 {
        let size = BLOCK.min(usize::try_from(left).unwrap_or(BLOCK));
        file.read_exact(&mut block[..size])?;
        float.read(&block[..size], &mut values);
        left -= size as u64;
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
