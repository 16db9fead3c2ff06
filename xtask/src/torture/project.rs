//! The project that is tortured: a scaffold of `spanwise new` with a small model, in a temporary directory.

use super::options::Options;
use super::process::{End, copy, run};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What any command here may take, also of a debug build on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A question that the model answers.
pub(crate) const QUESTION: &str = "dim the hall lamp and turn off every fan";

/// A small run, quick enough to be repeated a hundred times.
const RUN: &str = "domain = \"domain.toml\"\nencoder = \"compact\"\n[data]\ntrain = \"examples.jsonl\"\n\
    dev = \"examples.jsonl\"\n[model]\nhidden = 16\nrare_below = 1\n[training]\nepochs = 3\nbatch = 4\n\
    rate_encoder = 0.003\nrate_head = 0.01\naugment_from = 0\n\
    [compact]\nhidden = 16\nlayers = 1\nheads = 2\nintermediate = 32\nngram_buckets = 64\n";

pub(crate) struct Project {
    binary: PathBuf,
    /// Everything is below this directory, which is removed in the end.
    root: PathBuf,
    n_copies: AtomicUsize,
}

impl Project {
    /// Makes the project and trains its model.
    pub(crate) fn new(options: &Options) -> io::Result<Self> {
        let root = std::env::temp_dir().join(format!("spanwise-torture-{}", std::process::id()));
        fs::create_dir_all(&root)?;
        let project = Self { binary: options.binary.clone(), root, n_copies: AtomicUsize::new(0) };
        project.must(&project.root, &["new", "home"])?;
        fs::write(project.path("run.toml"), RUN)?;
        project.must(&project.path(""), &["train", "run.toml", "--out", "model"])?;
        Ok(project)
    }

    /// A path of the original, which is never changed.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join("home").join(name)
    }

    /// A copy of the whole project, which is removed when it is dropped.
    pub(crate) fn copied(&self) -> io::Result<Copied> {
        let copied = self.empty()?;
        copy(&self.path(""), copied.path())?;
        Ok(copied)
    }

    /// A copy without the model.
    pub(crate) fn copied_sources(&self) -> io::Result<Copied> {
        let copied = self.copied()?;
        fs::remove_dir_all(copied.path().join("model"))?;
        Ok(copied)
    }

    /// An empty directory, which is removed when it is dropped.
    pub(crate) fn empty(&self) -> io::Result<Copied> {
        let name = format!("copy-{}", self.n_copies.fetch_add(1, Ordering::Relaxed));
        let path = self.root.join(name);
        fs::create_dir_all(&path)?;
        Ok(Copied(path))
    }

    /// The program with these arguments.
    pub(crate) fn command(&self, directory: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(directory);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, directory: &Path, args: &[&str]) -> io::Result<End> {
        run(&mut self.command(directory, args), &[], LIMIT)
    }

    /// Runs the program, which must succeed.
    pub(crate) fn must(&self, directory: &Path, args: &[&str]) -> io::Result<End> {
        let end = self.run(directory, args)?;
        if end.code == Some(0) {
            return Ok(end);
        }
        Err(io::Error::other(format!("`spanwise {}` fails by itself: {}", args.join(" "), end.stderr)))
    }

    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// The tool that kills a command at its N-th file operation; `None` without a C compiler.
    pub(crate) fn kill_at(&self) -> Option<PathBuf> {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/spanwise-cli/tests/data/kill_at.c");
        let tool = self.root.join("kill_at");
        if tool.exists() {
            return Some(tool);
        }
        let status = Command::new("cc").arg("-O1").arg("-o").arg(&tool).arg(source).status().ok()?;
        status.success().then_some(tool)
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A directory that is removed when this is dropped.
pub(crate) struct Copied(PathBuf);

impl Copied {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
