//! Writes tensors in the safetensors format: the same tensors give the same bytes.
//!
//! The crate `safetensors` is not used for writing: it keeps metadata in a hash table, so that a file with two
//! notes has different bytes in every process, and it accepts a name that occurs twice.

use super::{BLOCK, Entry, METADATA};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Writes tensors (name, shape, values) and metadata in the safetensors format.
///
/// The same tensors and metadata give the same bytes, in whatever order they are listed. Values are streamed in
/// blocks, never copied as a whole. Nothing is written before all names and shapes have been checked.
///
/// ```
/// use spanwise_nn::pretrained::write_safetensors;
///
/// let mut file = Vec::new();
/// write_safetensors(&mut file, &[("bias", &[2], &[0.5, -1.0])], &Default::default())?;
/// assert_eq!(file.len(), 8 + 64 + 2 * 4); // length of the header, padded header, values
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When a name occurs twice or is reserved, or a tensor does not have as many values as its shape requires
/// ([`io::ErrorKind::InvalidInput`]); those of `writer`.
pub fn write_safetensors<W: Write + ?Sized>(
    writer: &mut W,
    tensors: &[(&str, &[usize], &[f32])],
    metadata: &BTreeMap<String, String>,
) -> io::Result<()> {
    let mut sorted = tensors.to_vec();
    sorted.sort_by_key(|(name, ..)| *name);
    check(&sorted).map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?;
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

fn check(tensors: &[(&str, &[usize], &[f32])]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for (name, shape, values) in tensors {
        if *name == METADATA || !seen.insert(name) {
            return Err(format!("tensor name `{name}` is reserved or used twice; rename the tensor"));
        }
        let expected = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
        if expected != Some(values.len()) {
            return Err(format!("tensor `{name}` has {} values, which is not shape {shape:?}", values.len()));
        }
    }
    Ok(())
}

/// The header, padded so that the values are aligned.
fn header_text(
    sorted: &[(&str, &[usize], &[f32])],
    metadata: &BTreeMap<String, String>,
) -> io::Result<String> {
    let mut header: Map<String, Value> = Map::new();
    if !metadata.is_empty() {
        header.insert(METADATA.to_owned(), serde_json::to_value(metadata)?);
    }
    let mut at = 0;
    for (name, shape, values) in sorted {
        let end = at + size_of_val(*values) as u64;
        let entry = Entry { dtype: "F32".to_owned(), shape: shape.to_vec(), data_offsets: [at, end] };
        header.insert((*name).to_owned(), serde_json::to_value(entry)?);
        at = end;
    }
    let mut text = serde_json::to_string(&header)?;
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    Ok(text)
}
