//! The model directory of the demo, and the training that fills it.
//!
//! The directory is named by the caller or lies in the cache directory of the system; the data is in a folder of it. A
//! file `demo.json` marks it as a demo: only marked directories are ever reused or replaced.

use super::super::progress::Shown;
use super::data;
use crate::commands::{make_directory, parser};
use crate::output::{WrongCall, say};
use crate::signals;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use spanwise_domains::data::write_atomic;
use spanwise_model::{DirectoryLock, ExecutorPolicy, FORMAT_VERSION, Parser};
use spanwise_train::{Config, TrainError, train};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The folder of the data, inside the directory.
pub(super) const DATA: &str = "data";
/// The file that marks a directory as a demo, with the data and settings it was trained with.
const MARK: &str = "demo.json";
/// Hexadecimal digits of an identity: enough to tell versions apart.
const DIGITS: usize = 12;

/// The directory of the demo.
pub(super) struct Home {
    pub(super) directory: PathBuf,
    /// A hash of everything that the model depends on: version, data and settings.
    identity: String,
    quick: bool,
}

/// A model, and how it was obtained.
pub(super) struct Trained {
    pub(super) parser: Parser,
    /// Whether it was there already.
    pub(super) reused: bool,
    /// Seconds it trained, whenever that was.
    pub(super) seconds: f64,
}

impl Home {
    /// The directory for this build's data. It may not be there yet.
    pub(super) fn new(out: Option<&Path>, quick: bool) -> Self {
        let mut hash = Sha256::new();
        hash.update(format!("{} {FORMAT_VERSION} {quick}", env!("CARGO_PKG_VERSION")));
        for (name, text) in data::FILES {
            hash.update(format!("\n{name} {}\n{text}", text.len()));
        }
        let identity: String = format!("{:x}", hash.finalize()).chars().take(DIGITS).collect();
        let directory = match out {
            Some(out) => out.to_path_buf(),
            None => cache().join("spanwise").join(format!("demo-{identity}")),
        };
        Self { directory, identity, quick }
    }

    /// The trained model of the directory, or one trained now. `fresh` trains in any case; `verbose` shows a progress
    /// bar.
    pub(super) fn model(&self, fresh: bool, verbose: bool) -> Result<Trained> {
        let mark = self.mark()?;
        if fresh && mark.is_some() {
            self.clear()?;
        } else if let Some(mark) = mark {
            let seconds = mark.get("seconds").and_then(Value::as_f64);
            if let Some(seconds) = seconds.filter(|_| self.directory.join("model.json").exists()) {
                let parser = parser(&self.directory, ExecutorPolicy::Off)
                    .context("the demo's model is damaged; --fresh trains it again")?;
                return Ok(Trained { parser, reused: true, seconds });
            }
        }
        self.train(verbose)
    }

    /// The content of the mark; `None` for a new or empty directory.
    ///
    /// # Errors
    /// A directory with other files, or with a demo of other data; neither is touched.
    fn mark(&self) -> Result<Option<Value>> {
        let place = self.directory.display();
        let mark = match fs::read_to_string(self.directory.join(MARK)) {
            Ok(text) => serde_json::from_str::<Value>(&text).unwrap_or_default(),
            Err(_) if is_empty(&self.directory) => return Ok(None),
            Err(_) => {
                let text = format!("{place} holds something that is not the demo; choose another --out");
                return Err(WrongCall(text).into());
            }
        };
        if mark.get("identity").and_then(Value::as_str) == Some(self.identity.as_str()) {
            return Ok(Some(mark));
        }
        let text =
            format!("{place} holds a demo of other data or settings; choose another --out, or remove it");
        Err(WrongCall(text).into())
    }

    /// Removes the model and the checkpoint, so that training starts from scratch; other files are overwritten.
    fn clear(&self) -> Result<()> {
        let _lock = DirectoryLock::take(&self.directory)?;
        for name in ["model.json", "checkpoint.safetensors"] {
            let path = self.directory.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove {}", path.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn write_mark(&self, seconds: Option<f64>) -> Result<()> {
        let mark = json!({ "identity": self.identity, "seconds": seconds });
        Ok(write_atomic(&self.directory.join(MARK), |file| writeln!(file, "{mark}"))?)
    }

    /// Trains, or continues a run that was stopped.
    fn train(&self, verbose: bool) -> Result<Trained> {
        let config = self.prepare()?;
        let stop = signals::stop_flag();
        let started = Instant::now();
        let mut shown = verbose.then(|| Shown::new(false));
        let outcome = train(&config, &self.directory.join(DATA), None, &self.directory, true, &mut |event| {
            if let Some(shown) = &mut shown {
                shown.event(&event);
            }
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // From here on, an interrupt ends the demo at once.
        stop.store(true, Ordering::Relaxed);
        if let Some(shown) = shown {
            shown.finish();
        }
        let trained = outcome.map_err(|error| match error {
            TrainError::Stopped { epoch, epochs } => {
                anyhow::anyhow!("stopped after {epoch} of {epochs} epochs; the next demo goes on from there")
            }
            _ => error.into(),
        })?;
        let seconds = started.elapsed().as_secs_f64();
        self.write_mark(Some(seconds))?;
        Ok(Trained { parser: trained.parser, reused: false, seconds })
    }

    /// Makes the directory, writes the data into it, and reads the settings.
    fn prepare(&self) -> Result<Config> {
        let folder = self.directory.join(DATA);
        make_directory(&folder)?;
        self.write_mark(None)?;
        for (name, text) in data::FILES {
            write_atomic(&folder.join(name), |file| file.write_all(text.as_bytes()))?;
        }
        let mut config = Config::read(&folder.join(data::SETTINGS_FILE).display().to_string(), &[])?;
        if self.quick {
            (config.data.limit, config.data.dev_limit) = (100, 20);
            (config.training.epochs, config.training.augment_from) = (2, 0);
        }
        Ok(config)
    }
}

fn is_empty(directory: &Path) -> bool {
    match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The cache directory of the system, or the directory of temporary files where there is none.
fn cache() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = std::env::home_dir().filter(|path| path.is_absolute());
    let own = if cfg!(target_os = "macos") {
        home.map(|home| home.join("Library").join("Caches"))
    } else if cfg!(windows) {
        set("LOCALAPPDATA")
    } else {
        home.map(|home| home.join(".cache"))
    };
    set("XDG_CACHE_HOME").or(own).unwrap_or_else(|| {
        let temporary = std::env::temp_dir();
        say(&format!("there is no cache directory; the model is kept in {}", temporary.display()));
        temporary
    })
}
