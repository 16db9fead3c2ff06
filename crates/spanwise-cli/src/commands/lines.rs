//! Reads lines of standard input, one by one or in windows.

use serde_json::{Map, Value};
use spanwise_core::{Moment, Utterance};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest input line.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 20;
/// Bytes that are read at once.
pub(crate) const INPUT_BYTES: usize = 64 << 10;
/// Most lines of a window.
pub(crate) const WINDOW: usize = 256;
/// Bytes after which a window is full.
const WINDOW_BYTES: usize = 16 << 20;
/// How long a window waits for one more line.
const PAUSE: Duration = Duration::from_millis(10);

/// Reads a line without its end; `false` when there is none. Of a line that is too long the first
/// [`MAX_LINE_BYTES`] and one more are kept, and the rest is passed over.
pub(crate) fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let n_read = input.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if n_read > MAX_LINE_BYTES {
        input.skip_until(b'\n')?;
    }
    Ok(n_read > 0)
}

/// The line without the byte order mark that the first one may have.
pub(crate) fn without_mark(line: &[u8], number: usize) -> &[u8] {
    let text = if number == 1 { line.strip_prefix("\u{feff}".as_bytes()) } else { None };
    text.unwrap_or(line)
}

/// A line as text, or why it is not valid.
pub(crate) fn text_of(line: &[u8]) -> Result<&str, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err(format!("longer than {MAX_LINE_BYTES} bytes"));
    }
    std::str::from_utf8(line).map_err(|_| "not valid UTF-8".to_owned())
}

/// A line as a JSON object, or why it is not one; the message asks for a field `wanted`.
pub(crate) fn read_object(text: &str, wanted: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("expected a JSON object with the field `{wanted}` ({error})"))
}

/// A line that is an utterance.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its text.
    pub(crate) text: String,
    /// What its program is evaluated in.
    pub(crate) context: Option<Value>,
    /// The date that its relative dates refer to.
    pub(crate) now: Option<Moment>,
}

impl Line {
    /// The utterance, said at the date of the line, or else at another.
    pub(crate) fn utterance(&self, now: Option<Moment>) -> Utterance {
        Utterance::new(self.text.as_str()).said_at(self.now.or(now))
    }
}

/// Reads the utterance of a line: from a JSON object, or the line as it is.
pub(crate) fn utterance_of(text: &str) -> Result<Line, String> {
    if !text.trim_start().starts_with('{') {
        return Ok(Line { text: text.to_owned(), context: None, now: None });
    }
    let mut object = read_object(text, "utterance")?;
    let context = context_of(&object).cloned();
    let now = now_of(&object)?;
    let field = |name: &&str| object.get(*name).is_some_and(|value| !value.is_null());
    let name = ["utterance", "question"].into_iter().find(field);
    match name.and_then(|name| object.remove(name)) {
        Some(Value::String(text)) => Ok(Line { text, context, now }),
        _ => Err("expected a text in the field `utterance` or `question`".to_owned()),
    }
}

/// The date that the relative dates of a line refer to: its `now`.
fn now_of(object: &Map<String, Value>) -> Result<Option<Moment>, String> {
    let Some(value) = object.get("now").filter(|value| !value.is_null()) else { return Ok(None) };
    let text = value.as_str().ok_or("expected a date in the field `now`, such as \"2011-03-05\"")?;
    text.parse().map(Some).map_err(|error| format!("in the field `now`: {error}"))
}

/// The context that the program of a line is evaluated in: its `context` or `scene`.
pub(crate) fn context_of(object: &Map<String, Value>) -> Option<&Value> {
    let field = |name: &str| object.get(name).filter(|value| !value.is_null());
    field("context").or_else(|| field("scene"))
}

/// Lines that a separate thread reads ahead, by at most a window.
pub(crate) struct Windows {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    n_bytes: usize,
    /// How the input has ended, if it has.
    end: Option<Result<(), io::Error>>,
}

impl Waiting {
    fn is_full(&self) -> bool {
        self.lines.len() >= WINDOW || self.n_bytes >= WINDOW_BYTES
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code panics while it holds the lock, and the state would be valid even then.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(&self, mut input: impl BufRead) {
        loop {
            let mut line = Vec::new();
            let read = next_line(&mut input, &mut line);
            let mut waiting = self.lock();
            while waiting.is_full() {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            }
            match read {
                Ok(true) => {
                    waiting.n_bytes += line.len();
                    waiting.lines.push_back(line);
                }
                ended => waiting.end = Some(ended.map(drop)),
            }
            let is_over = waiting.end.is_some();
            drop(waiting);
            self.changed.notify_all();
            if is_over {
                return;
            }
        }
    }
}

impl Windows {
    /// Starts to read. The thread ends with the input, or with the program.
    pub(crate) fn new(input: impl Read + Send + 'static) -> Self {
        let queue = Arc::new(Queue::default());
        let filled = Arc::clone(&queue);
        std::thread::spawn(move || filled.fill(BufReader::with_capacity(INPUT_BYTES, input)));
        Self { queue }
    }

    /// The next lines: as many as make a window, fewer where the input pauses, none at its end.
    ///
    /// # Errors
    /// The error of reading, after all lines before it.
    pub(crate) fn next(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut waiting = self.queue.lock();
        while waiting.lines.is_empty() && waiting.end.is_none() {
            waiting = self.queue.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let mut n_seen = waiting.lines.len();
        let mut deadline = Instant::now() + PAUSE;
        while !waiting.is_full() && waiting.end.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let (next, _) =
                self.queue.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner);
            waiting = next;
            if waiting.lines.len() > n_seen {
                n_seen = waiting.lines.len();
                deadline = Instant::now() + PAUSE;
            }
        }
        let lines: Vec<Vec<u8>> = waiting.lines.drain(..).collect();
        waiting.n_bytes = 0;
        let end = if lines.is_empty() { waiting.end.take() } else { None };
        drop(waiting);
        self.queue.changed.notify_all();
        end.unwrap_or(Ok(())).map(|()| lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_line_may_say_when_it_was_said() {
        let at = |text: &str| utterance_of(text).map(|line| line.utterance("2020-01-01".parse().ok()).now());
        assert_eq!(at("yesterday").unwrap().unwrap().to_string(), "2020-01-01");
        assert_eq!(at(r#"{"utterance": "x", "now": null}"#).unwrap().unwrap().to_string(), "2020-01-01");
        let own = at(r#"{"utterance": "x", "now": "2011-03-05T14:30"}"#).unwrap().unwrap();
        assert_eq!(own.to_string(), "2011-03-05T14:30");
        for wrong in ["\"2011-02-30\"", "\"soon\"", "2011"] {
            let error = at(&format!(r#"{{"utterance": "x", "now": {wrong}}}"#)).unwrap_err();
            assert!(error.contains("`now`") && error.contains("2011-03-05"), "{error}");
        }
    }

    #[test]
    fn windows_hold_all_lines_in_order_and_end_with_an_empty_one() {
        let text: String = (0..1000).map(|at| format!("line {at}\n")).collect();
        let mut windows = Windows::new(io::Cursor::new(text));
        let mut all = Vec::new();
        loop {
            let window = windows.next().unwrap();
            assert!(window.len() <= WINDOW);
            if window.is_empty() {
                break;
            }
            all.extend(window);
        }
        let expected: Vec<Vec<u8>> = (0..1000).map(|at| format!("line {at}").into_bytes()).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn a_pause_closes_a_window() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut windows = Windows::new(reader);
        writer.write_all(b"one\ntwo\nhal").unwrap();
        let mut got = Vec::new();
        while got.len() < 2 {
            got.extend(windows.next().unwrap());
        }
        assert_eq!(got, [b"one".to_vec(), b"two".to_vec()]);
        writer.write_all(b"f\n").unwrap();
        assert_eq!(windows.next().unwrap(), [b"half".to_vec()]);
        drop(writer);
        assert!(windows.next().unwrap().is_empty());
    }

    #[test]
    fn the_reader_waits_when_a_window_is_full() {
        let long = vec![b'x'; WINDOW_BYTES / 2];
        let text = [long.as_slice(), b"\n"].concat().repeat(20);
        let mut windows = Windows::new(io::Cursor::new(text));
        let mut n = 0;
        loop {
            let window = windows.next().unwrap();
            assert!(window.len() <= 3, "{}", window.len());
            if window.is_empty() {
                break;
            }
            n += window.len();
        }
        assert_eq!(n, 20);
    }

    #[test]
    fn an_error_comes_after_the_lines_before_it() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("no more"))
            }
        }
        let mut windows = Windows::new(io::Cursor::new("one\n").chain(Broken));
        assert_eq!(windows.next().unwrap().len(), 1);
        assert_eq!(windows.next().unwrap_err().to_string(), "no more");
    }
}
