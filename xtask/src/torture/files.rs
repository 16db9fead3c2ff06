//! Malformed files of every kind, given to the commands that read them.

use super::Setting;
use super::mutate::{mutate, mutate_tensors};
use super::process::{self, End};
use super::project::{Copied, LIMIT, Project, QUESTION};
use super::random::Random;
use super::report::Counts;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Most memory that a command may have for a malformed file of a few megabytes, in KiB.
const MOST_MEMORY: u64 = 1 << 20;

/// A kind of file, with the calls that read it.
struct Kind {
    file: &'static str,
    calls: &'static [&'static [&'static str]],
    /// Whether a command may take as long as it likes, since the file may ask for it.
    may_be_slow: bool,
    /// Whether the file may be a pipe, for which a command waits.
    may_be_pipe: bool,
}

const KINDS: &[Kind] = &[
    kind("domain.toml", &[CHECK, &["exec", "domain.toml", "on(lamp())"]]),
    kind("places.tsv", &[CHECK]),
    kind("table.json", &[&["check", "json.toml", "examples.jsonl", "--quick"]]),
    data(
        "examples.jsonl",
        &[
            &["check", "domain.toml", "examples.jsonl"],
            &["data", "stats", "examples.jsonl", "--domain", "domain.toml"],
            &["data", "split", "examples.jsonl", "--by", "template", "--out", "parts"],
            &["data", "annotate", "domain.toml", "examples.jsonl", "--out", "trees.jsonl"],
            &["eval", "model", "examples.jsonl"],
            &["calibrate", "model", "examples.jsonl", "--out", "calibrated"],
        ],
    ),
    kind(
        "phrases.toml",
        &[&["data", "annotate", "domain.toml", "examples.jsonl", "--phrases", "phrases.toml"]],
    ),
    data("scene.json", &[&["exec", "clevr", "count(scene())", "--context", "scene.json"]]),
    Kind { may_be_slow: true, ..kind("run.toml", &[&["train", "run.toml", "--quick", "--out", "new"]]) },
    kind("model/model.json", &[PARSE, &["eval", "model", "examples.jsonl"]]),
    kind("model/tokenizer", &[PARSE]),
    kind("model/weights", &[PARSE]),
    kind("model/checkpoint.safetensors", &[&["train", "run.toml", "--out", "model", "--resume"]]),
    kind("stdin", &[&["parse", "model"], &["exec", "scan"]]),
];

const CHECK: &[&str] = &["check", "domain.toml", "examples.jsonl", "--quick"];
const PARSE: &[&str] = &["parse", "model", "--json", QUESTION];

const fn kind(file: &'static str, calls: &'static [&'static [&'static str]]) -> Kind {
    Kind { file, calls, may_be_slow: false, may_be_pipe: false }
}

const fn data(file: &'static str, calls: &'static [&'static [&'static str]]) -> Kind {
    Kind { may_be_pipe: true, ..kind(file, calls) }
}

pub(crate) fn run(setting: &Setting<'_>, counts: &Counts) -> io::Result<()> {
    let project = setting.project;
    let base = base(project)?;
    setting.each(usize::MAX, |at| {
        let mut random = Random::new(setting.options.seed, "files", at as u64);
        let kind = &KINDS[at % KINDS.len()];
        let copied = project.empty()?;
        process::copy(base.path(), copied.path())?;
        let (name, input) = damage(&mut random, kind, copied.path())?;
        let args = random.pick(kind.calls);
        let case = format!("case {at}: `{}`, {} with {name}", args.join(" "), kind.file);
        let end = process::run(&mut project.command(copied.path(), args), &input, LIMIT)?;
        counts.measure(&case, &end);
        counts.count(&case, outcome(kind, &end));
        Ok(())
    })
}

fn outcome(kind: &Kind, end: &End) -> Result<&'static str, String> {
    if end.peak > MOST_MEMORY {
        return Err(format!("{} MiB of memory", end.peak >> 10));
    }
    if end.is_late && kind.may_be_slow {
        return Ok("long, as the file asks");
    }
    match end.fault() {
        Some(fault) => Err(fault),
        None if end.code == Some(0) => Ok("read"),
        None => Ok("refused with a message"),
    }
}

/// The project with files that it does not have by itself. The digests of the model are taken out, so that what is behind
/// them is reached.
fn base(project: &Project) -> io::Result<Copied> {
    let copied = project.copied()?;
    let domain = fs::read_to_string(copied.join("domain.toml"))?;
    fs::write(copied.join("json.toml"), domain.replace("places.tsv", "table.json"))?;
    fs::write(
        copied.join("table.json"),
        r#"[{"name": "kitchen", "aliases": ["galley"]}, {"name": "hall", "id": 3}]"#,
    )?;
    fs::write(copied.join("phrases.toml"), "[phrases]\non = [\"on\", \"light\"]\n")?;
    fs::write(copied.join("scene.json"), SCENE)?;
    fs::write(copied.join("stdin"), STDIN)?;
    without_digests(&copied.join("model/model.json"))?;
    // Otherwise only the first check would be tortured.
    project.must(copied.path(), PARSE)?;
    project.must(copied.path(), &["check", "json.toml"])?;
    Ok(copied)
}

const SCENE: &str = r#"{"image_index": 0, "objects": [{"color": "red", "size": "large", "shape": "cube",
"material": "metal", "3d_coords": [0.1, 0.2, 0.3], "pixel_coords": [1, 2, 3]}],
"relationships": {"left": [[]], "right": [[]], "front": [[]], "behind": [[]]}, "directions": {}}"#;
const STDIN: &str = "dim the hall lamp\n{\"utterance\": \"all lamps on\", \"context\": {\"a\": [1, 2]}}\n\
    {\"program\": \"i_twice(i_walk(i_left))\"}\nhow many fans are there\n";

/// Turns `model.json` into one of format version 3, whose digests are optional, and leaves them out.
fn without_digests(path: &Path) -> io::Result<()> {
    let mut manifest: Value = serde_json::from_slice(&fs::read(path)?)?;
    if let Some(object) = manifest.as_object_mut() {
        object.remove("digest");
        object.insert("version".to_owned(), 3.into());
    }
    let mut open: Vec<&mut Value> = manifest.get_mut("files").into_iter().collect();
    while let Some(value) = open.pop() {
        if let Some(object) = value.as_object_mut() {
            object.remove("sha256");
            open.extend(object.values_mut());
        }
    }
    fs::write(path, serde_json::to_vec_pretty(&manifest)?)
}

/// Damages the file of a kind below `directory`; gives the name of the damage, and what comes on standard input.
fn damage(random: &mut Random, kind: &Kind, directory: &Path) -> io::Result<(String, Vec<u8>)> {
    let path = find(directory, kind.file)?;
    let bytes = fs::read(&path)?;
    if kind.file == "stdin" {
        let (bytes, name) = mutate(random, &bytes);
        return Ok((name, bytes));
    }
    if random.percent(8) {
        return Ok((special(random, kind, &path)?.to_owned(), Vec::new()));
    }
    let wide = if random.percent(10) { wide(random, kind.file) } else { None };
    let (bytes, name) = match wide {
        Some(text) => (text, "very many columns or keys".to_owned()),
        None if path.extension().is_some_and(|end| end == "safetensors") => mutate_tensors(random, &bytes),
        None => mutate(random, &bytes),
    };
    fs::write(&path, bytes)?;
    Ok((name, Vec::new()))
}

/// The file of this name, or the first whose name begins so.
fn find(directory: &Path, name: &str) -> io::Result<PathBuf> {
    let path = directory.join(name);
    if path.exists() {
        return Ok(path);
    }
    let parent = path.parent().unwrap_or(directory);
    let start = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&start) {
            return Ok(entry.path());
        }
    }
    // A finished run may have no checkpoint: then it is a new file.
    fs::write(&path, "")?;
    Ok(path)
}

/// Puts something in the place of a file that is no file.
fn special(random: &mut Random, kind: &Kind, path: &Path) -> io::Result<&'static str> {
    fs::remove_file(path)?;
    Ok(match random.below(5) {
        0 if !kind.may_be_pipe => {
            let _ = Command::new("mkfifo").arg(path).status()?;
            "a pipe in its place"
        }
        1 => {
            fs::create_dir(path)?;
            "a directory in its place"
        }
        2 => {
            link("/dev/zero", path)?;
            "a device in its place"
        }
        3 => {
            fs::write(path, "")?;
            "nothing in it"
        }
        _ => "nothing in its place",
    })
}

#[cfg(unix)]
fn link(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &str, path: &Path) -> io::Result<()> {
    fs::write(path, "")
}

/// A file with very many columns, keys or lines.
fn wide(random: &mut Random, file: &str) -> Option<Vec<u8>> {
    let n = [2_000, 20_000, 100_000][random.below(3)];
    let list = |item: &dyn Fn(usize) -> String, gap: &str| (0..n).map(item).collect::<Vec<_>>().join(gap);
    let text = match file {
        "places.tsv" if random.percent(50) => format!("name\t{}\n", list(&|at| format!("c{at}"), "\t")),
        "places.tsv" => format!("name\n{}\n", list(&|at| format!("place {at}"), "\n")),
        "table.json" => format!("[{}]", list(&|at| format!("{{\"name\": \"p{at}\", \"k{at}\": 1}}"), ",")),
        "domain.toml" => list(&|at| format!("key{at} = {at}"), "\n"),
        "examples.jsonl" => {
            let keys = list(&|at| format!("\"k{at}\": {at}"), ",");
            format!("{{\"utterance\": \"a\", \"program\": \"on(lamp())\", {keys}}}\n")
        }
        "scene.json" => format!("{{\"objects\": [{}]}}", list(&|_| "{}".to_owned(), ",")),
        _ => return None,
    };
    Some(text.into_bytes())
}
