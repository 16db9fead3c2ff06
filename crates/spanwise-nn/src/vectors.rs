//! Pretrained static word vectors, in the text format of GloVe: a word and its numbers on each line.

use crate::files::open_regular;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use thiserror::Error;

/// Most bytes of a file of vectors, and most numbers of one.
const MAX_BYTES: u64 = 16 << 30;
const MAX_WIDTH: usize = 4_096;

/// Vectors of words, the most frequent word first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WordVectors {
    /// The words with their vectors, which have the same length.
    pub words: Vec<(String, Vec<f32>)>,
}

/// Why there are no vectors.
#[derive(Debug, Error)]
pub enum VectorsError {
    /// The file cannot be read.
    #[error(
        "cannot read {file}: {reason}; expected word vectors, such as `tools/fetch_encoders.py glove` writes"
    )]
    Read {
        /// The file.
        file: String,
        /// The error of the system.
        reason: io::Error,
    },
    /// A line is no word with its vector.
    #[error("{file}:{line}: expected a word and as many finite numbers as in the first line")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// There is no line at all.
    #[error("{file} has no word vectors")]
    Empty {
        /// The file.
        file: String,
    },
}

impl WordVectors {
    /// Reads the first `n_first` vectors of a file, and those of all other words that `is_wanted`.
    ///
    /// # Errors
    /// A file that cannot be read or holds something else.
    pub fn read(path: &Path, n_first: usize, is_wanted: impl Fn(&str) -> bool) -> Result<Self, VectorsError> {
        let file = path.display().to_string();
        let open = open_regular(path, MAX_BYTES);
        let open = open.map_err(|reason| VectorsError::Read { file: file.clone(), reason })?;
        let mut words = Vec::new();
        let mut width = None;
        for (at, line) in BufReader::new(open).lines().enumerate() {
            let line = line.map_err(|reason| VectorsError::Read { file: file.clone(), reason })?;
            let wrong = || VectorsError::Line { file: file.clone(), line: at + 1 };
            let (word, numbers) = line.split_once(' ').ok_or_else(wrong)?;
            if at >= n_first && !is_wanted(word) {
                continue;
            }
            let numbers = numbers.split_ascii_whitespace().map(str::parse::<f32>);
            let vector: Vec<f32> = numbers.collect::<Result<_, _>>().map_err(|_| wrong())?;
            let expected = *width.get_or_insert(vector.len());
            let is_good = (1..=MAX_WIDTH).contains(&expected) && vector.iter().all(|value| value.is_finite());
            if vector.len() != expected || !is_good {
                return Err(wrong());
            }
            words.push((word.to_owned(), vector));
        }
        if words.is_empty() { Err(VectorsError::Empty { file }) } else { Ok(Self { words }) }
    }

    /// The numbers of each vector.
    #[must_use]
    pub fn width(&self) -> usize {
        self.words.first().map_or(0, |(_, vector)| vector.len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn read(text: &str, n_first: usize) -> Result<WordVectors, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let found = WordVectors::read(file.path(), n_first, |word| word == "texas");
        found.map_err(|error| error.to_string().replace(&file.path().display().to_string(), "FILE"))
    }

    #[test]
    fn the_first_words_are_read_and_those_that_are_wanted() {
        let text = "the 0.5 -1\n, 2 3\nriver 1 1\ntexas 1e-1 0\n";
        let found = read(text, 2).unwrap();
        let words: Vec<_> = found.words.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!((words, found.width()), (vec!["the", ",", "texas"], 2));
        assert_eq!(found.words[2].1, [0.1, 0.0]);
    }

    #[test]
    fn what_is_no_vector_is_named_by_its_line() {
        for text in ["the 1 2\nof 1\n", "the 1 2\nof 1 NaN\n", "the 1 2\nof\n", "the 1 2\nof 1 x\n"] {
            assert!(read(text, 9).unwrap_err().starts_with("FILE:2: expected a word"), "{text}");
        }
        assert!(read("", 9).unwrap_err().contains("no word vectors"));
        let missing = WordVectors::read(Path::new("/no/such"), 1, |_| true).unwrap_err().to_string();
        assert!(missing.contains("/no/such") && missing.contains("fetch_encoders.py"), "{missing}");
    }
}
