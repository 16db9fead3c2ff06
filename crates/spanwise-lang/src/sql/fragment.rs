//! Fragments: SQL with holes.

use std::ops::Range;

/// What a fragment yields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Yields {
    /// One column: keys, or a value for a type of single values.
    Keys,
    /// Two columns: a key and its value.
    Values,
    /// Two columns: a key and its rank, 1 first.
    Ranks,
}

impl Yields {
    /// The name of the second column.
    #[must_use]
    pub fn second(self) -> Option<&'static str> {
        match self {
            Self::Keys => None,
            Self::Values => Some("value"),
            Self::Ranks => Some("rank"),
        }
    }

    /// The columns as a list.
    #[must_use]
    pub fn columns(self) -> &'static str {
        match self {
            Self::Keys => "key",
            Self::Values => "key, value",
            Self::Ranks => "key, rank",
        }
    }
}

/// A place in a fragment for something of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hole {
    /// An argument: `{2}`, `{2:value}`, `{2:number}`.
    Argument {
        /// The slot, from 0, in the signature.
        slot: usize,
        /// What is behind the colon.
        part: Option<String>,
    },
    /// A column of the form of a class: `{name}`.
    Column(String),
}

/// A part of a fragment. Ranges are bytes of the domain file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Text that is copied, with the position of its first byte.
    Text(String, usize),
    /// A hole.
    Hole(Hole, Range<usize>),
    /// Text that is there only if a slot was filled, or only if it was left out: `{?2: ..}`, `{!2: ..}`.
    If {
        /// The slot, from 0, in the signature.
        slot: usize,
        /// Whether it must be filled.
        is_given: bool,
        /// The text with its holes.
        pieces: Vec<Piece>,
        /// The whole.
        range: Range<usize>,
    },
}

/// One `select` with holes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// What it yields.
    pub yields: Yields,
    /// Its parts in order.
    pub pieces: Vec<Piece>,
    /// Its bytes in the domain file.
    pub range: Range<usize>,
    /// Whether it has an `order by` of its own, outside of parentheses.
    pub is_ordered: bool,
}

impl Fragment {
    /// The holes that count where these slots are filled, in order.
    pub fn holes<'a>(&'a self, is_given: &dyn Fn(usize) -> bool) -> Vec<(&'a Hole, Range<usize>)> {
        let mut found = Vec::new();
        for piece in self.active(is_given) {
            if let Piece::Hole(hole, range) = piece {
                found.push((hole, range.clone()));
            }
        }
        found
    }

    /// The pieces that count where these slots are filled; no conditions are among them.
    #[must_use]
    pub fn active<'a>(&'a self, is_given: &dyn Fn(usize) -> bool) -> Vec<&'a Piece> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            match piece {
                // Conditions are never nested.
                Piece::If { slot, is_given: wanted, pieces, .. } if is_given(*slot) == *wanted => {
                    found.extend(pieces);
                }
                Piece::If { .. } => {}
                other => found.push(other),
            }
        }
        found
    }

    /// The slots that the fragment mentions, in holes or in conditions.
    #[must_use]
    pub fn mentions(&self, slot: usize) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Text(..) => false,
            Piece::Hole(hole, _) => is_of(hole, slot),
            Piece::If { slot: other, pieces, .. } => {
                *other == slot
                    || pieces.iter().any(|piece| matches!(piece, Piece::Hole(hole, _) if is_of(hole, slot)))
            }
        })
    }
}

fn is_of(hole: &Hole, slot: usize) -> bool {
    matches!(hole, Hole::Argument { slot: other, .. } if *other == slot)
}
