//! The digest of `model.json` inside of it: any byte that changes is noticed.
//!
//! The digest is the SHA-256 of the file as it is, with zeros in the place of the digest itself.

use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of a digest.
const DIGITS: usize = 64;

/// What stands in the place of a digest until it is known.
pub(super) fn blank() -> String {
    "0".repeat(DIGITS)
}

/// Puts the digest in the place of the first [`blank`].
pub(super) fn seal(mut text: Vec<u8>) -> Vec<u8> {
    let digest = hash(&text);
    if let Some(at) = find(&text, blank().as_bytes()) {
        text[at..at + DIGITS].copy_from_slice(digest.as_bytes());
    }
    text
}

/// Whether a text with this digest in it is the one that was sealed.
pub(super) fn is_intact(text: &[u8], digest: &str) -> bool {
    if digest.len() != DIGITS {
        return false;
    }
    let Some(at) = find(text, digest.as_bytes()) else { return false };
    let mut before = text.to_vec();
    before[at..at + DIGITS].fill(b'0');
    hash(&before) == digest
}

fn hash(text: &[u8]) -> String {
    format!("{:x}", Sha256::digest(text))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn every_changed_bit_is_noticed() {
        let text = format!("{{\"digest\": \"{}\", \"zeros\": \"{}\"}}\n", blank(), blank());
        let sealed = seal(text.clone().into_bytes());
        assert_eq!(sealed.len(), text.len());
        let digest = str::from_utf8(&sealed[12..76]).unwrap().to_owned();
        assert!(is_intact(&sealed, &digest));
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            // Whatever a reader takes for the digest afterwards, it does not fit.
            let found = String::from_utf8_lossy(&changed[12..76]).into_owned();
            assert!(!is_intact(&changed, &found) && !is_intact(&changed, &digest), "bit {bit}");
        }
        assert!(!is_intact(&sealed, "") && !is_intact(&sealed, &blank()));
    }
}
