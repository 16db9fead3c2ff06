//! Kills commands right before each of their file operations, and looks at what they leave.

use super::Setting;
use super::process::{self, End};
use super::project::{Copied, LIMIT, Project, QUESTION};
use super::random::Random;
use super::report::Counts;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// What `kill_at` exits with when it killed the command, and when it cannot trace.
const KILLED: i32 = 77;
const CANNOT_TRACE: i32 = 78;
/// More operations than any command has.
const NEVER: usize = 1_000_000;

/// A command, and how to tell what it has left.
struct Scenario {
    name: &'static str,
    args: &'static [&'static str],
    /// Whether the directory holds a model before.
    has_model: bool,
    /// Files that must be as before or as after, whole.
    files: &'static [&'static str],
    /// A call that must succeed afterwards and give what an undisturbed call gives.
    again: Option<&'static [&'static str]>,
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "train",
        args: &["train", "run.toml", "--out", "model"],
        has_model: false,
        files: &["model/model.json", "model/metrics.jsonl", "model/config.toml", "examples.jsonl"],
        again: Some(&["train", "run.toml", "--out", "model", "--resume"]),
    },
    Scenario {
        name: "calibrate",
        args: &["calibrate", "model", "examples.jsonl", "--train", "examples.jsonl"],
        has_model: true,
        files: &["model/model.json", "examples.jsonl"],
        again: Some(&["calibrate", "model", "examples.jsonl", "--train", "examples.jsonl"]),
    },
    Scenario {
        name: "data split",
        args: &["data", "split", "examples.jsonl", "--by", "random", "--out", "parts"],
        has_model: false,
        files: &["parts/train.jsonl", "parts/dev.jsonl", "parts/test.jsonl", "examples.jsonl"],
        again: None,
    },
    Scenario {
        name: "eval --predictions",
        args: &["eval", "model", "examples.jsonl", "--predictions", "predictions.jsonl"],
        has_model: true,
        files: &["predictions.jsonl", "model/model.json", "examples.jsonl"],
        again: None,
    },
    Scenario {
        name: "explain --out",
        args: &["explain", "model", QUESTION, "--always-answer", "--format", "svg", "--out", "tree.svg"],
        has_model: true,
        files: &["tree.svg", "model/model.json"],
        again: None,
    },
];

/// A scenario with what it gives undisturbed.
struct Prepared {
    scenario: &'static Scenario,
    n_operations: usize,
    before: Vec<Option<Vec<u8>>>,
    after: Vec<Option<Vec<u8>>>,
    /// Replies of the model before and after; `None` where there is none.
    replies: [Option<Vec<u8>>; 2],
}

pub(crate) fn run(setting: &Setting<'_>, counts: &Counts) -> io::Result<()> {
    let project = setting.project;
    let Some(tool) = project.kill_at() else {
        counts.skip("there is no C compiler");
        return Ok(());
    };
    let mut prepared = Vec::new();
    for scenario in SCENARIOS {
        match prepare(project, &tool, scenario)? {
            Some(ready) => prepared.push(ready),
            None => {
                counts.skip("processes cannot be traced here");
                return Ok(());
            }
        }
    }
    let mut cases: Vec<(&Prepared, usize)> =
        prepared.iter().flat_map(|ready| (1..=ready.n_operations).map(move |n| (ready, n))).collect();
    counts.of(cases.len());
    Random::new(setting.options.seed, "kills", 0).shuffle(&mut cases);
    setting.each(cases.len(), |at| {
        let (ready, n) = cases[at];
        let case = format!("{} killed at operation {n} of {}", ready.scenario.name, ready.n_operations);
        let outcome = kill(setting, &tool, ready, n, counts)?;
        counts.count(&case, outcome);
        Ok(())
    })
}

fn start(project: &Project, scenario: &Scenario) -> io::Result<Copied> {
    if scenario.has_model { project.copied() } else { project.copied_sources() }
}

/// Runs a scenario to its end; `None` where nothing can be traced.
fn prepare(project: &Project, tool: &Path, scenario: &'static Scenario) -> io::Result<Option<Prepared>> {
    let directory = start(project, scenario)?;
    let before = contents(directory.path(), scenario.files);
    let old = reply(project, directory.path())?;
    let end = traced(project, tool, directory.path(), NEVER, scenario.args)?;
    if end.code == Some(CANNOT_TRACE) {
        return Ok(None);
    }
    if end.code != Some(0) {
        return Err(io::Error::other(format!("{} fails by itself: {}", scenario.name, end.stderr)));
    }
    let n_operations = end.stderr.lines().last().and_then(|line| line.parse().ok()).unwrap_or(0);
    let after = contents(directory.path(), scenario.files);
    let replies = [old, reply(project, directory.path())?];
    Ok(Some(Prepared { scenario, n_operations, before, after, replies }))
}

/// Runs the program until its N-th file operation.
fn traced(project: &Project, tool: &Path, directory: &Path, n: usize, args: &[&str]) -> io::Result<End> {
    let mut command = Command::new(tool);
    command.arg(n.to_string()).arg(project.binary()).args(args).current_dir(directory);
    process::run(&mut command, &[], LIMIT)
}

/// What became of a command that was killed at operation `n`.
fn kill(
    setting: &Setting<'_>,
    tool: &Path,
    ready: &Prepared,
    n: usize,
    counts: &Counts,
) -> io::Result<Result<&'static str, String>> {
    let (project, scenario) = (setting.project, ready.scenario);
    let directory = start(project, scenario)?;
    let end = traced(project, tool, directory.path(), n, scenario.args)?;
    counts.measure(scenario.name, &end);
    if end.is_late || !matches!(end.code, Some(KILLED | 0)) {
        return Ok(Err(format!("ended with {:?}: {}", end.code, end.stderr.trim())));
    }
    let found = contents(directory.path(), scenario.files);
    for (at, name) in scenario.files.iter().enumerate() {
        // The metrics grow with every epoch, and are whole lines at any time.
        let is_growing = *name == "model/metrics.jsonl";
        let is_whole = found[at].as_ref().is_none_or(|text| text.is_empty() || text.ends_with(b"\n"));
        let is_known = found[at] == ready.before[at] || found[at] == ready.after[at];
        if !(is_known || is_growing && is_whole) {
            return Ok(Err(format!("{name} is neither the old file nor the new one")));
        }
    }
    let found = reply(project, directory.path())?;
    if !ready.replies.contains(&found) {
        return Ok(Err("the model answers in another way than before and after".to_owned()));
    }
    let Some(again) = scenario.again else { return Ok(Ok("old or new")) };
    let end = project.run(directory.path(), again)?;
    counts.measure(scenario.name, &end);
    if let Some(fault) = end.fault().or_else(|| (end.code != Some(0)).then(|| end.stderr.clone())) {
        return Ok(Err(format!("cannot be repeated: {fault}")));
    }
    if reply(project, directory.path())? != ready.replies[1] {
        return Ok(Err("repeated, it gives another model".to_owned()));
    }
    Ok(Ok("old or new, and repeated"))
}

fn contents(directory: &Path, files: &[&str]) -> Vec<Option<Vec<u8>>> {
    files.iter().map(|name| fs::read(directory.join(name)).ok()).collect()
}

/// What the model in a directory replies; `None` where there is none. A model that does not load is an empty reply.
fn reply(project: &Project, directory: &Path) -> io::Result<Option<Vec<u8>>> {
    if !directory.join("model/model.json").exists() {
        return Ok(None);
    }
    let end = project.run(directory, &["parse", "model", "--json", "--k", "3", QUESTION])?;
    Ok(Some(end.stdout))
}
