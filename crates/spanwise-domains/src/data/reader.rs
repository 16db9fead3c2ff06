//! Reads examples, one JSON object per line, without holding the file in memory.
//!
//! The task lines of SCAN's own release, `IN: .. OUT: ..`, are examples too. A byte order mark, Windows line ends and
//! blank lines are tolerated. After a line that is not an example, reading continues with the next, so a caller may
//! collect all errors of a file; after an error of the file itself the iterator ends.

use super::error::DataError;
use super::example::Example;
use super::import;
use super::message::json_reason;
use crate::text;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// Longest line that is read.
pub const MAX_LINE_BYTES: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Opens a file of examples, which may be a pipe.
///
/// # Errors
/// When the file cannot be opened, or is a device or a directory.
pub fn open(path: &Path) -> Result<Examples<BufReader<File>>, DataError> {
    let file = path.display().to_string();
    match text::open(path, text::Kind::Stream) {
        Ok(source) => Ok(Examples::new(BufReader::new(source), file)),
        Err(reason) => Err(DataError::Open { file, reason }),
    }
}

/// Reads a whole file of examples.
///
/// # Errors
/// The first error of the file.
pub fn read(path: &Path) -> Result<Vec<Example>, DataError> {
    open(path)?.collect()
}

/// An iterator over the examples of a file.
#[derive(Debug)]
pub struct Examples<R> {
    source: R,
    file: String,
    line: usize,
    max_line_bytes: usize,
    buffer: Vec<u8>,
    /// Whether nothing but blank lines was seen.
    is_empty: bool,
    is_done: bool,
}

impl<R: BufRead> Examples<R> {
    /// The examples of `source`; `file` is its name in error messages.
    pub fn new(source: R, file: impl Into<String>) -> Self {
        Self {
            source,
            file: file.into(),
            line: 0,
            max_line_bytes: MAX_LINE_BYTES,
            buffer: Vec::new(),
            is_empty: true,
            is_done: false,
        }
    }

    /// The same with another bound on the length of a line.
    #[must_use]
    pub fn with_max_line_bytes(mut self, max_line_bytes: usize) -> Self {
        self.max_line_bytes = max_line_bytes;
        self
    }

    /// The line that the last example or error came from, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Reads the next line into the buffer, without its end. `false` at the end of the file.
    fn next_line(&mut self) -> Result<bool, DataError> {
        self.buffer.clear();
        // Two more than allowed: either they are the end of the line, or the line is too long.
        let at_most = self.max_line_bytes as u64 + 2;
        let n_read = self
            .source
            .by_ref()
            .take(at_most)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|reason| DataError::Read { file: self.file.clone(), line: self.line, reason })?;
        self.line += usize::from(n_read > 0);
        for end in [b'\n', b'\r'] {
            if self.buffer.last() == Some(&end) {
                self.buffer.pop();
            }
        }
        if self.buffer.len() > self.max_line_bytes {
            let (file, limit) = (self.file.clone(), self.max_line_bytes);
            return Err(DataError::LineTooLong { file, line: self.line, limit });
        }
        if self.line == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(n_read > 0)
    }

    /// The example on the line in the buffer, `None` for a blank line.
    fn example(&mut self) -> Result<Option<Example>, DataError> {
        let (file, line) = (|| self.file.clone(), self.line);
        let text = match std::str::from_utf8(&self.buffer) {
            Ok(text) => text.trim_end(),
            Err(error) => {
                return Err(DataError::NotUtf8 { file: file(), line, column: error.valid_up_to() + 1 });
            }
        };
        let n_indent = text.len() - text.trim_start().len();
        let text = &text[n_indent..];
        if text.is_empty() {
            return Ok(None);
        }
        if self.is_empty && text.starts_with('[') {
            self.is_done = true;
            return Err(DataError::Array { file: file(), line });
        }
        if text.starts_with("IN:") {
            return import::task(text).map(Some).map_err(|reason| DataError::Task {
                file: file(),
                line,
                reason,
            });
        }
        let value = serde_json::from_str(text).map_err(|error| DataError::Json {
            file: file(),
            line,
            column: n_indent + error.column(),
            reason: reason(&error),
        })?;
        Example::from_json(value).map(Some).map_err(|reason| DataError::Field { file: file(), line, reason })
    }
}

impl<R: BufRead> Iterator for Examples<R> {
    type Item = Result<Example, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_done {
            match self.next_line() {
                Ok(true) => {}
                Ok(false) => {
                    self.is_done = true;
                    return self.is_empty.then(|| Err(DataError::Empty { file: self.file.clone() }));
                }
                Err(error) => {
                    self.is_done = true;
                    return Some(Err(error));
                }
            }
            if let Some(outcome) = self.example().transpose() {
                self.is_empty = false;
                return Some(outcome);
            }
        }
        None
    }
}

fn reason(error: &serde_json::Error) -> String {
    let hint = if error.is_eof() { " (hint: each example must be on one line)" } else { "" };
    format!("{}{hint}", json_reason(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> Vec<Result<String, String>> {
        let examples = Examples::new(bytes, "f.jsonl").with_max_line_bytes(200);
        examples.map(|outcome| outcome.map(|it| it.utterance).map_err(|error| error.to_string())).collect()
    }

    fn check_error(bytes: &[u8], message: &str) {
        let outcomes = read_all(bytes);
        assert_eq!(outcomes.last(), Some(&Err(message.to_owned())), "{outcomes:?}");
    }

    #[test]
    fn byte_order_marks_windows_line_ends_and_blank_lines_are_tolerated() {
        let bytes =
            b"\xef\xbb\xbf{\"question\": \"a\"}\r\n\r\n \n\t{\"question\": \"b\"} \r\n{\"utterance\": \"c\"}";
        assert_eq!(read_all(bytes), ["a", "b", "c"].map(|name| Ok(name.to_owned())));
    }

    #[test]
    fn errors_name_file_line_and_column() {
        check_error(b"", "f.jsonl is empty; expected one JSON object per line");
        check_error(b"\n \r\n", "f.jsonl is empty; expected one JSON object per line");
        check_error(
            b"\n[\n {\"utterance\": \"a\"}\n]",
            "f.jsonl:2: this is a JSON array; expected one JSON object per line \
             (hint: `jq -c '.[]'` turns one into the other)",
        );
        check_error(
            b"{\"utterance\": \"a\"}\n  {\"utterance\": x}",
            "f.jsonl:2:17: not valid JSON: expected value",
        );
        check_error(
            b"{",
            "f.jsonl:1:1: not valid JSON: EOF while parsing an object \
             (hint: each example must be on one line)",
        );
        check_error(
            b"{\"utterance\": \"a\"}\n{\"utterance\": \"\xff\"}",
            "f.jsonl:2:16: not UTF-8 (hint: save the file as UTF-8)",
        );
        check_error(
            b"\n{\"utterance\": 1}",
            "f.jsonl:2: the field `utterance` must be a string, found a number",
        );
        let long = format!("{{}}\n{{\"utterance\": \"{}\"}}", "x".repeat(200));
        check_error(
            long.as_bytes(),
            "f.jsonl:2: the line is longer than 200 bytes; expected one example per line",
        );
    }

    #[test]
    fn task_lines_of_scan_are_examples() {
        let text = b"IN: run left OUT: I_TURN_LEFT I_RUN\r\n{\"utterance\": \"a\"}\n";
        assert_eq!(read_all(text), ["run left", "a"].map(|name| Ok(name.to_owned())));
        check_error(b"IN: run left", "f.jsonl:1: expected `IN: command OUT: actions`");
        let words = "`walk`, `look`, `run`, `jump` or `turn`";
        let expected = format!("f.jsonl:2: word 1 of the command must be {words}, found `fly`");
        check_error(b"\nIN: fly OUT: I_FLY", &expected);
    }

    #[test]
    fn reading_goes_on_after_a_bad_line() {
        let outcomes = read_all(b"{\"utterance\": \"a\"}\nnonsense\n\xff\n{\"utterance\": \"b\"}\n[]\n");
        let good: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
        assert_eq!(good, [true, false, false, true, false]);
    }

    #[test]
    fn lines_of_several_megabytes_are_read() {
        let line = format!("{{\"utterance\": \"a\", \"context\": \"{}\"}}\n", "x".repeat(3 << 20));
        let examples: Vec<_> =
            Examples::new(line.repeat(2).as_bytes(), "f").collect::<Result<_, _>>().unwrap();
        assert_eq!(examples.len(), 2);
    }

    #[test]
    fn a_line_of_exactly_the_longest_length_is_read() {
        let line = format!("{{\"utterance\":\"{}\"}}", "x".repeat(184));
        assert_eq!(line.len(), 200);
        assert!(read_all(line.as_bytes())[0].is_ok());
        assert!(read_all(format!("{line}\r\n").as_bytes())[0].is_ok());
    }

    #[test]
    fn json_nested_too_deep_is_an_error_and_not_a_crash() {
        let line = format!("{{\"utterance\": \"a\", \"x\": {}", "[".repeat(100_000));
        let error = Examples::new(line.as_bytes(), "f").next().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "f:1:151: not valid JSON: recursion limit exceeded");
    }
}
