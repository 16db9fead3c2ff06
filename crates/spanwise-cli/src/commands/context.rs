//! The context that programs are evaluated in, such as a scene of CLEVR, from a file.

use super::read_text;
use crate::output::WrongCall;
use anyhow::{Context as _, Result};
use serde_json::Value;
use spanwise_domains::text::MAX_BYTES;
use std::path::{Path, PathBuf};

/// Most bytes of a file with scenes; those of CLEVR have some hundred millions.
const MAX_SCENE_BYTES: u64 = 1 << 30;

/// The options that name a context.
#[derive(clap::Args)]
pub(crate) struct ContextArgs {
    /// The context of utterances and programs that have none of their own: a file with a scene (JSON, or CLEVR's compact text)
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    /// Which scene of a file with many (`scenes`) to take, by its `image_index`
    #[arg(long, value_name = "N", requires = "context")]
    index: Option<u64>,
}

impl ContextArgs {
    /// The file, if there is one.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.context.as_ref()
    }

    pub(crate) fn read(&self) -> Result<Option<Context>> {
        self.context.as_ref().map(|path| Context::read(path, self.index)).transpose()
    }
}

/// The context of programs that have none of their own, and its file.
pub(crate) struct Context {
    pub(crate) value: Value,
    pub(crate) file: String,
}

impl Context {
    fn read(path: &Path, index: Option<u64>) -> Result<Self> {
        let file = path.display().to_string();
        // A pipe or a device has no size and perhaps no end.
        let is_file = path.metadata().is_ok_and(|found| found.is_file());
        let text = read_text(path, if is_file { MAX_SCENE_BYTES } else { MAX_BYTES })?;
        let value = if text.trim_start().starts_with(['{', '[', '"']) {
            let value = serde_json::from_str(&text).with_context(|| format!("{file} is not valid JSON"))?;
            pick_scene(value, &file, index).map_err(WrongCall)?
        } else {
            Value::String(text.trim().to_owned())
        };
        Ok(Self { value, file })
    }
}

/// The requested scene of a file with many; a file without a list of scenes is a scene itself.
fn pick_scene(mut value: Value, file: &str, index: Option<u64>) -> Result<Value, String> {
    let scenes = match (value.get_mut("scenes").and_then(Value::as_array_mut), index) {
        (Some(scenes), _) => scenes,
        (None, Some(_)) => return Err(format!("{file} has no list `scenes` to take --index from")),
        (None, None) => return Ok(value),
    };
    let at = match index {
        Some(index) => scenes
            .iter()
            .position(|scene| scene.get("image_index").and_then(Value::as_u64) == Some(index))
            .ok_or_else(|| format!("{file} has no scene with `image_index` {index}"))?,
        None if scenes.len() == 1 => 0,
        None => return Err(format!("{file} has {} scenes: pick one with --index", scenes.len())),
    };
    Ok(scenes.swap_remove(at))
}
