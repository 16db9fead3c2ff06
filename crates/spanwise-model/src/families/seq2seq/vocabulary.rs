//! The tokens that a model can generate.

use crate::family::Pair;
use crate::leaves::found_leaves;
use serde::{Deserialize, Serialize};
use spanwise_lang::linear::{Leaf, Token, leaf, linearize, vocabulary};
use spanwise_lang::{Domain, Terms};
use std::collections::HashMap;

/// The tokens that can be generated, numbered. The first one, [`Vocabulary::END`], ends a program.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// All but the end.
    tokens: Vec<Token>,
    /// By text: that of a bracket is no name, and that of a leaf no name that stands alone.
    ids: HashMap<String, u32>,
}

/// A token as `model.json` writes it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoredToken {
    Open,
    Comma,
    Close,
    Name(String),
    Leaf(String),
}

impl Vocabulary {
    /// The end of a program.
    pub(super) const END: u32 = 0;

    /// The tokens of the domain and of training programs. A leaf is among them only if some training program has it
    /// although nothing in the utterance gives it: all others are copied, so that the model learns to.
    pub(super) fn learn(domain: &Domain, terms: &Terms, pairs: &[Pair]) -> Self {
        let mut tokens = vocabulary(domain);
        for pair in pairs {
            let found = found_leaves(domain, &pair.utterance);
            let is_found = |token: &Token| match token {
                Token::Leaf(leaf) => found.iter().any(|(_, found)| found.text == leaf.text),
                _ => false,
            };
            let written = pair.program().map(|program| linearize(domain, terms, program));
            tokens.extend(written.into_iter().flatten().filter(|token| !is_found(token)));
        }
        Self::new(tokens)
    }

    fn new(all: Vec<Token>) -> Self {
        let (mut tokens, mut ids) = (Vec::new(), HashMap::new());
        for token in all {
            ids.entry(token.to_string()).or_insert_with(|| {
                tokens.push(token);
                tokens.len() as u32
            });
        }
        Self { tokens, ids }
    }

    pub(super) fn restore(domain: &Domain, stored: Vec<StoredToken>) -> Self {
        let mut terms = domain.new_terms();
        let mut token = |stored| match stored {
            StoredToken::Open => Token::Open,
            StoredToken::Comma => Token::Comma,
            StoredToken::Close => Token::Close,
            StoredToken::Name(name) => Token::Name(name),
            StoredToken::Leaf(text) => {
                let known = leaf(domain, &mut terms, &text);
                known.unwrap_or(Token::Leaf(Leaf { text, class: None }))
            }
        };
        Self::new(stored.into_iter().map(&mut token).collect())
    }

    pub(super) fn stored(&self) -> Vec<StoredToken> {
        let stored = |token: &Token| match token {
            Token::Open => StoredToken::Open,
            Token::Comma => StoredToken::Comma,
            Token::Close => StoredToken::Close,
            Token::Name(name) => StoredToken::Name(name.clone()),
            Token::Leaf(leaf) => StoredToken::Leaf(leaf.text.clone()),
        };
        self.tokens.iter().map(stored).collect()
    }

    /// Number of tokens, with the end.
    pub(super) fn len(&self) -> usize {
        self.tokens.len() + 1
    }

    /// The number of a token with this text.
    pub(super) fn id(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied()
    }

    /// All tokens in the order of their numbers, without the end, whose number is the first.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }
}
