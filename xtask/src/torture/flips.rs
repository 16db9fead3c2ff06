//! Flips single bits in every file of a model, of a checkpoint and of the data.

use super::Setting;
use super::process::{End, copy};
use super::project::{Copied, Project, QUESTION};
use super::random::Random;
use super::report::Counts;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flips in each file, unless the time is over before.
const PER_FILE: usize = 200;

/// What a damaged file is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A file that `model.json` names, or `model.json` itself: every flip must be noticed.
    Model,
    /// A checkpoint, from which a run is resumed: every flip must be noticed.
    Checkpoint,
    /// A file beside the model that parsing does not need.
    Beside,
    /// A source, which has no digest: what becomes of it is recorded.
    Source,
}

/// A file to damage, below a directory that is copied for every case.
struct Target {
    name: String,
    directory: PathBuf,
    part: Part,
}

pub(crate) fn run(setting: &Setting<'_>, counts: &Counts) -> io::Result<()> {
    let project = setting.project;
    let unfinished = unfinished(project)?;
    let targets = targets(project, unfinished.as_ref())?;
    if unfinished.is_none() {
        counts.figure("checkpoints", "skipped: no run can be interrupted here");
    }
    let reference = Reference {
        reply: parse(project, &project.path(""))?.stdout,
        manifest: fs::read(project.path("model/model.json"))?,
    };
    let all = targets.len() * PER_FILE;
    counts.of(all);
    setting.each(all, |at| {
        // Every file in turn, so that a short run has looked at each of them.
        let target = &targets[at % targets.len()];
        let mut random = Random::new(setting.options.seed, "flips", at as u64);
        let copied = project.empty()?;
        copy(&target.directory, copied.path())?;
        let path = copied.join(&target.name);
        let mut bytes = fs::read(&path)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let bit = random.below(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, bytes)?;
        let case = format!("{} with bit {bit} flipped", target.name);
        let outcome = outcome(project, target.part, copied.path(), &reference, counts, &case)?;
        counts.count(&case, outcome);
        Ok(())
    })
}

/// What undamaged files give.
struct Reference {
    reply: Vec<u8>,
    manifest: Vec<u8>,
}

fn outcome(
    project: &Project,
    part: Part,
    directory: &Path,
    reference: &Reference,
    counts: &Counts,
    case: &str,
) -> io::Result<Result<&'static str, String>> {
    let end = match part {
        Part::Model | Part::Beside => parse(project, directory)?,
        Part::Checkpoint => project.run(directory, &["train", "run.toml", "--out", "model", "--resume"])?,
        Part::Source => project.run(directory, &["check", "domain.toml", "examples.jsonl"])?,
    };
    counts.measure(case, &end);
    if let Some(fault) = end.fault() {
        return Ok(Err(fault));
    }
    if end.code != Some(0) {
        return Ok(Ok("refused with a message"));
    }
    let is_same = match part {
        Part::Model | Part::Beside => end.stdout == reference.reply,
        Part::Checkpoint => {
            fs::read(directory.join("model/model.json")).ok().as_ref() == Some(&reference.manifest)
        }
        Part::Source => return Ok(Ok("read: sources have no digest")),
    };
    Ok(match (is_same, part) {
        (true, Part::Beside) => Ok("without effect"),
        (true, _) => Ok("unnoticed, without effect"),
        (false, _) => Err("unnoticed: the result has changed".to_owned()),
    })
}

fn parse(project: &Project, directory: &Path) -> io::Result<End> {
    project.run(directory, &["parse", "model", "--json", "--k", "3", QUESTION])
}

/// The files of the project: those of the model, of an unfinished run, and the sources.
fn targets(project: &Project, unfinished: Option<&Copied>) -> io::Result<Vec<Target>> {
    let mut targets = Vec::new();
    let mut add = |directory: &Path, name: String, part: Part| {
        targets.push(Target { name, directory: directory.to_owned(), part });
    };
    let home = project.path("");
    for name in names(&home.join("model"))? {
        let is_part = name == "model.json" || name.starts_with("weights-") || name.starts_with("tokenizer-");
        add(&home, format!("model/{name}"), if is_part { Part::Model } else { Part::Beside });
    }
    for name in ["domain.toml", "places.tsv", "examples.jsonl"] {
        if home.join(name).exists() {
            add(&home, name.to_owned(), Part::Source);
        }
    }
    if let Some(directory) = unfinished {
        for name in names(&directory.join("model"))?.into_iter().filter(|name| name.starts_with("checkpoint"))
        {
            add(directory.path(), format!("model/{name}"), Part::Checkpoint);
        }
    }
    Ok(targets)
}

fn names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A run that was killed after its first checkpoint; `None` where nothing can be traced.
fn unfinished(project: &Project) -> io::Result<Option<Copied>> {
    let Some(tool) = project.kill_at() else { return Ok(None) };
    for n in (1..200).step_by(5) {
        let copied = project.copied_sources()?;
        let mut command = Command::new(&tool);
        command.arg(n.to_string()).arg(project.binary()).args(["train", "run.toml", "--out", "model"]);
        let end = super::process::run(command.current_dir(copied.path()), &[], super::project::LIMIT)?;
        if end.code == Some(0) || end.code == Some(78) {
            return Ok(None);
        }
        if copied.join("model/checkpoint.safetensors").exists() {
            return Ok(Some(copied));
        }
    }
    Ok(None)
}
