//! The examples and settings of the demo, which are compiled into this binary.
//!
//! All questions were written for the demo. `test_compositions` has only programs whose shape, names aside, is neither in
//! `train` nor in `dev`; the tests check this.

use anyhow::Result;
use spanwise_domains::data::{Example, Examples};

pub(super) const TRAIN: &str = include_str!("data/train.jsonl");
pub(super) const DEV: &str = include_str!("data/dev.jsonl");
pub(super) const TEST_IID: &str = include_str!("data/test_iid.jsonl");
pub(super) const TEST_COMPOSITIONS: &str = include_str!("data/test_compositions.jsonl");
pub(super) const QUESTIONS: &str = include_str!("data/questions.jsonl");
pub(super) const SETTINGS: &str = include_str!("data/demo.toml");

/// The domain of the questions.
pub(super) const DOMAIN: &str = "geo";

/// The file of the settings.
pub(super) const SETTINGS_FILE: &str = "demo.toml";

/// Every file, by name.
pub(super) const FILES: [(&str, &str); 6] = [
    ("train.jsonl", TRAIN),
    ("dev.jsonl", DEV),
    ("test_iid.jsonl", TEST_IID),
    ("test_compositions.jsonl", TEST_COMPOSITIONS),
    ("questions.jsonl", QUESTIONS),
    (SETTINGS_FILE, SETTINGS),
];

/// The examples of a file.
pub(super) fn examples(name: &str, text: &str) -> Result<Vec<Example>> {
    Ok(Examples::new(text.as_bytes(), name).collect::<Result<_, _>>()?)
}

/// Questions to try.
pub(super) fn questions() -> Result<Vec<Example>> {
    examples("questions.jsonl", QUESTIONS)
}

#[cfg(all(test, feature = "geo"))]
mod tests;
