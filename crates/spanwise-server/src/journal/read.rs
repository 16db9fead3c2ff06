//! Reads a log of questions again. A damaged line never hides the others.

use super::entry::{Judgement, Question, VERSION};
use super::sink::before;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Longest line that is read. Entries are far shorter.
const MAX_LINE: u64 = 4 << 20;

/// What a log holds, in the order of its lines.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Log {
    /// The files that were read, the oldest first.
    pub files: Vec<PathBuf>,
    /// The questions.
    pub questions: Vec<Question>,
    /// The judgements.
    pub judgements: Vec<Judgement>,
    /// The lines that could not be read.
    pub skipped: Vec<Skipped>,
}

/// A line that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a log, and before it the file that it took the place of, if that is there.
///
/// # Errors
/// A file that cannot be read.
pub fn read(path: &Path) -> io::Result<Log> {
    let mut log = Log::default();
    let older = before(path);
    if older.is_file() {
        log.add(&older)?;
    }
    log.add(path)?;
    Ok(log)
}

enum Entry {
    Question(Question),
    Judgement(Judgement),
}

impl Log {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let mut source = BufReader::new(File::open(path)?);
        self.files.push(path.to_owned());
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            if source.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            number += 1;
            let is_whole = line.last() == Some(&b'\n');
            let is_long = !is_whole && line.len() as u64 == MAX_LINE;
            if is_long {
                source.skip_until(b'\n')?;
            }
            let text = line.trim_ascii();
            let outcome = match text {
                _ if is_long => Err("it is too long".to_owned()),
                b"" => continue,
                text => {
                    entry(text).map_err(|why| if is_whole { why } else { format!("it is incomplete: {why}") })
                }
            };
            match outcome {
                Ok(Entry::Question(question)) => self.questions.push(question),
                Ok(Entry::Judgement(judgement)) => self.judgements.push(judgement),
                Err(reason) => self.skipped.push(Skipped { file: path.to_owned(), line: number, reason }),
            }
        }
    }
}

fn entry(line: &[u8]) -> Result<Entry, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    match value.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(format!("its version is {other}; this build reads version {VERSION}")),
        None => return Err("it has no version; expected a line of `spanwise serve --log`".to_owned()),
    }
    let wrong = |error: serde_json::Error| format!("not an entry: {error}");
    match value.get("kind").and_then(Value::as_str) {
        Some("question") => serde_json::from_value(value).map(Entry::Question).map_err(wrong),
        Some("judgement") => serde_json::from_value(value).map(Entry::Judgement).map_err(wrong),
        other => Err(format!("there is no kind of entry `{}`", other.unwrap_or_default())),
    }
}
