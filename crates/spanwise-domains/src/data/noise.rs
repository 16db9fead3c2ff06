//! Typing errors: noisy copies of utterances, for training and to measure how well a parser reads them.

use spanwise_core::{Random, Utterance};

/// Words with fewer letters get no errors.
const MIN_LETTERS: usize = 4;

/// What a typing error does to a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slip {
    /// A letter is left out.
    Drop,
    /// A letter is typed twice.
    Double,
    /// Another letter is typed instead.
    Exchange,
    /// Two neighbours change places.
    Swap,
}

/// The utterance with `n` typing errors, each in a random word of four letters or more, and in different words as long as
/// there are any. Without such a word nothing changes. A word with a digit is left as it is.
///
/// ```
/// use spanwise_core::Random;
/// use spanwise_domains::data::noise::with_typing_errors;
///
/// let mut random = Random::new(1, &[]);
/// let noisy = with_typing_errors("what is the capital of texas", 1, &mut random);
/// assert_ne!(noisy, "what is the capital of texas");
/// assert_eq!(noisy.split(' ').count(), 6);
/// ```
#[must_use]
pub fn with_typing_errors(text: &str, n: usize, random: &mut Random) -> String {
    let utterance = Utterance::new(text);
    let mut words: Vec<_> = utterance
        .tokens()
        .iter()
        .filter(|token| {
            let word = &text[token.bytes.clone()];
            word.chars().count() >= MIN_LETTERS && word.chars().all(char::is_alphabetic)
        })
        .map(|token| token.bytes.clone())
        .collect();
    random.shuffle(&mut words);
    words.truncate(n);
    words.sort_by_key(|word| word.start);
    let mut noisy = String::with_capacity(text.len() + n);
    let mut done = 0;
    for word in words {
        noisy += &text[done..word.start];
        noisy += &misspelt(&text[word.clone()], random);
        done = word.end;
    }
    noisy + &text[done..]
}

/// A word with one typing error; never the word itself.
fn misspelt(word: &str, random: &mut Random) -> String {
    let letters: Vec<char> = word.chars().collect();
    loop {
        let slip = [Slip::Drop, Slip::Double, Slip::Exchange, Slip::Swap][random.below(4)];
        let mut typed = letters.clone();
        let at = random.below(letters.len());
        match slip {
            Slip::Drop => {
                typed.remove(at);
            }
            Slip::Double => typed.insert(at, letters[at]),
            Slip::Exchange => typed[at] = char::from(b'a' + random.below(26) as u8),
            Slip::Swap => typed.swap(at, (at + 1).min(letters.len() - 1)),
        }
        if typed != letters {
            return typed.into_iter().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_words_and_numbers_keep_their_letters() {
        let mut random = Random::new(7, &[]);
        for _ in 0..50 {
            assert_eq!(with_typing_errors("the 1978 b2bb of 12", 3, &mut random), "the 1978 b2bb of 12");
        }
    }

    #[test]
    fn every_kind_of_error_occurs() {
        let mut random = Random::new(3, &[]);
        let seen: std::collections::BTreeSet<usize> =
            (0..200).map(|_| with_typing_errors("river", 1, &mut random).len()).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [4, 5, 6]);
    }

    proptest! {
        #[test]
        fn as_many_words_change_as_there_are_errors(seed in 0u64..1000, n in 0usize..4) {
            let text = "which rivers flow through the Largest state?";
            let noisy = with_typing_errors(text, n, &mut Random::new(seed, &[]));
            let changed = text.split(' ').zip(noisy.split(' ')).filter(|(a, b)| a != b).count();
            prop_assert_eq!(changed, n);
            prop_assert_eq!(noisy.split(' ').count(), 7);
        }
    }
}
