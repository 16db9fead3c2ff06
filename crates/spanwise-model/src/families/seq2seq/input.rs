//! An utterance as the model sees it: its word-pieces, and the entities and literals that can be copied from it.

use super::Seq2SeqParser;
use super::vocabulary::Vocabulary;
use crate::leaves::found_leaves;
use spanwise_core::{Idx, Utterance};
use spanwise_lang::linear::{Leaf, Token};
use spanwise_nn::Pieces;
use spanwise_nn::seq2seq::{Copy, Previous};

/// An utterance ready for the network, with all symbols that its program may be written with: the tokens of the vocabulary,
/// and then the leaves that only this utterance has.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) utterance: Utterance,
    pub(super) pieces: Pieces,
    /// What can be copied.
    pub(super) copies: Vec<Copy>,
    /// For each copy, its symbol: several copies may give one.
    pub(super) copied: Vec<u32>,
    /// The leaves beyond the vocabulary.
    leaves: Vec<Leaf>,
}

impl Seq2SeqParser {
    pub(super) fn prepare(&self, utterance: Utterance) -> Input {
        let pieces = self.tokenizer.encode(&utterance);
        let (mut copies, mut copied, mut leaves) = (Vec::new(), Vec::new(), Vec::<Leaf>::new());
        for (span, leaf) in found_leaves(&self.domain, &utterance) {
            copies.push(Copy { span: (span.start, span.end), kind: kind(&leaf) });
            copied.push(self.vocabulary.id(&leaf.text).unwrap_or_else(|| {
                let at = leaves.iter().position(|other| other.text == leaf.text).unwrap_or_else(|| {
                    leaves.push(leaf);
                    leaves.len() - 1
                });
                (self.vocabulary.len() + at) as u32
            }));
        }
        Input { utterance, pieces, copies, copied, leaves }
    }

    /// The number of symbols of an input.
    pub(super) fn n_symbols(&self, input: &Input) -> usize {
        self.vocabulary.len() + input.leaves.len()
    }

    /// The token of a symbol; `None` for the end.
    pub(super) fn token(&self, input: &Input, symbol: u32) -> Option<Token> {
        let n_tokens = self.vocabulary.len();
        match symbol {
            Vocabulary::END => None,
            symbol if (symbol as usize) < n_tokens => {
                Some(self.vocabulary.tokens()[symbol as usize - 1].clone())
            }
            symbol => Some(Token::Leaf(input.leaves[symbol as usize - n_tokens].clone())),
        }
    }

    /// The symbol of a token; `None` if this utterance has none for it.
    pub(super) fn symbol(&self, input: &Input, token: &Token) -> Option<u32> {
        let text = token.to_string();
        let own = || input.leaves.iter().position(|leaf| leaf.text == text);
        self.vocabulary.id(&text).or_else(|| own().map(|at| (self.vocabulary.len() + at) as u32))
    }

    /// What the decoder sees of a symbol when it writes the next one: of a leaf only its class, so that it does not matter
    /// which one it is.
    pub(super) fn previous(&self, input: &Input, symbol: u32) -> Previous {
        match self.token(input, symbol) {
            Some(Token::Leaf(leaf)) if leaf.class.is_some() => Previous::Copied(kind(&leaf)),
            _ => Previous::Token(symbol),
        }
    }
}

/// The number of the class of a leaf.
fn kind(leaf: &Leaf) -> u32 {
    leaf.class.map_or(0, |class| class.index() as u32)
}
