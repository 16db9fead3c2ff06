//! Distinct strings, numbered from zero and found by their text.

use super::texts::{Texts, hash};
use hashbrown::HashTable;

/// Distinct strings that are found by their text.
#[derive(Clone, Debug, Default)]
pub(super) struct Interned {
    texts: Texts,
    table: HashTable<u32>,
}

impl Interned {
    /// The number of a text, which is added when it is new.
    pub(super) fn insert(&mut self, text: &str) -> u32 {
        if let Some(id) = self.find(text) {
            return id;
        }
        let id = self.texts.len() as u32;
        self.texts.push(text);
        let texts = &self.texts;
        self.table.insert_unique(hash(text.chars()), id, |&id| hash(texts.get(id).chars()));
        id
    }

    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.table.find(hash(text.chars()), |&id| self.texts.get(id) == text).copied()
    }

    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(super) fn shrink(&mut self) {
        self.texts.shrink();
    }

    pub(super) fn bytes(&self) -> usize {
        self.texts.bytes() + self.table.allocation_size()
    }
}
