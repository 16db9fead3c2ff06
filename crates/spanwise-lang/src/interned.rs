//! Distinct strings, numbered from zero and found by their text.

use crate::texts::{Texts, hash};
use hashbrown::HashTable;

/// Distinct strings that are found by their text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interned {
    texts: Texts,
    table: HashTable<u32>,
}

impl Interned {
    /// The number of a text, which is added when it is new.
    pub(crate) fn insert(&mut self, text: &str) -> u32 {
        if let Some(id) = self.find(text) {
            return id;
        }
        let id = self.texts.len() as u32;
        self.texts.push(text);
        let texts = &self.texts;
        self.table.insert_unique(hash(text.chars()), id, |&id| hash(texts.get(id).chars()));
        id
    }

    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.table.find(hash(text.chars()), |&id| self.texts.get(id) == text).copied()
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(crate) fn shrink(&mut self) {
        self.texts.shrink();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.texts.bytes() + self.table.allocation_size()
    }
}
