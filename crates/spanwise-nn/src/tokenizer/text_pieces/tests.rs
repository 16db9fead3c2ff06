//! Tests of pieces of whole texts.

use super::*;
use crate::tokenizer::Tokenizer;
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn tiny(name: &str) -> TextPieces {
    TextPieces::from_dir(&data().join(name)).unwrap()
}

const NAMES: [&str; 2] = ["tiny-bart", "tiny-marian"];

/// All pieces, and only those of a few texts.
fn all() -> Vec<TextPieces> {
    let trimmed = |name| tiny(name).trimmed(["what states"], ["answer('x')"], &[]).0;
    NAMES.into_iter().flat_map(|name| [tiny(name), trimmed(name)]).collect()
}

/// What must hold of the pieces of any utterance.
fn assert_sound(pieces: &TextPieces, utterance: &Utterance) {
    let found = pieces.encode(utterance);
    assert_eq!(found.words.len(), utterance.len());
    assert!(found.ids.iter().all(|id| (*id as usize) < pieces.vocab_size()));
    let n = found.ids.len() as u32;
    assert!(found.words.iter().all(|(first, last)| first <= last && *last < n), "{found:?}");
    assert!(found.words.is_sorted(), "{found:?}");
}

#[test]
fn ids_are_those_of_the_reference_implementation() {
    for name in NAMES {
        let pieces = tiny(name);
        let reference: Value =
            serde_json::from_slice(&fs::read(data().join(name).join("reference.json")).unwrap()).unwrap();
        let ids = |value: &Value| -> Vec<u32> {
            value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
        };
        for words in reference["words"].as_array().unwrap() {
            let text = words["text"].as_str().unwrap();
            assert_eq!(pieces.encode(&Utterance::new(text)).ids, ids(&words["read"]), "{text}");
            if let Some(written) = pieces.written(text) {
                assert_eq!(written, ids(&words["written"]), "{text}");
            }
        }
    }
}

#[test]
fn words_know_their_pieces() {
    let pieces = tiny("tiny-marian");
    let utterance = Utterance::new("what states in new?");
    let found = pieces.encode(&utterance);
    // Each word is one piece, and one piece ends the text.
    assert_eq!(found.words, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]);
    assert_eq!(found.ids.len(), 6);
    let found = tiny("tiny-bart").encode(&Utterance::new("or states or"));
    // A piece begins the text, and `\u{120}or` has two pieces.
    assert_eq!(found.words, [(1, 1), (2, 2), (3, 4)]);
}

#[test]
fn what_is_written_is_the_text_that_was_taken_apart() {
    for pieces in all() {
        for text in ["answer(capital(state('new york')), 12)", "x", "a_b - c's", "volcano ( z )"] {
            let ids = pieces.written(text).unwrap();
            assert_eq!(pieces.text(&ids), text);
        }
    }
    // All bytes can be written, but not all characters.
    assert_eq!(
        tiny("tiny-bart").written("東 京|").map(|ids| tiny("tiny-bart").text(&ids)),
        Some("東 京|".into())
    );
    assert_eq!(tiny("tiny-marian").written("a|b"), None);
}

#[test]
fn a_trimmed_vocabulary_has_what_its_texts_need_and_spells_the_rest() {
    for name in NAMES {
        let full = tiny(name);
        let (trimmed, rows) = full.clone().trimmed(["what states"], ["state('x')"], &[2]);
        assert!(rows.is_sorted() && rows.len() < full.vocab_size(), "{}", rows.len());
        assert_eq!(trimmed.vocab_size(), rows.len());
        let before = |ids: &[u32]| -> Vec<u32> { ids.iter().map(|&id| rows[id as usize]).collect() };
        let utterance = Utterance::new("what states");
        assert_eq!(before(&trimmed.encode(&utterance).ids), full.encode(&utterance).ids);
        assert_eq!(before(&trimmed.written("state('x')").unwrap()), full.written("state('x')").unwrap());
        // `or`, `er` or `\u{2581}new` is left out: the letters are still there.
        let utterance = Utterance::new("what new order");
        let spelled = trimmed.encode(&utterance);
        assert!(spelled.ids.len() > full.encode(&utterance).ids.len());
        assert_eq!(trimmed.text(&spelled.ids), "what new order");
        assert!(!spelled.ids.contains(&trimmed.number(trimmed.unknown)));
    }
}

#[test]
fn special_pieces_cannot_be_smuggled_in_by_an_utterance_and_are_never_text() {
    for pieces in all() {
        let n_ends = pieces.read.begin.len() + pieces.read.end.len();
        let found = pieces.encode(&Utterance::new("<s> </s> <pad> <mask> x</s>"));
        let special: Vec<u32> = pieces.special.iter().map(|&id| pieces.number(id)).collect();
        assert_eq!(found.ids.iter().filter(|id| special.contains(id)).count(), n_ends, "{found:?}");
        assert!(pieces.silent().iter().all(|id| special.contains(id)));
        assert_eq!(pieces.text(&special), "");
    }
}

#[test]
fn ugly_input_is_encoded() {
    let long = "x".repeat(50_000);
    for pieces in all() {
        for text in [
            "",
            " ",
            "🚀",
            "\u{0}\u{7}\u{1b}[2J",
            "e\u{301}te\u{301}",
            "İ ẞ ﬁ",
            "\u{feff}x\u{200b} y",
            "東京",
            &long,
        ] {
            assert_sound(&pieces, &Utterance::new(text));
        }
        assert!(pieces.text(&[u32::MAX]).is_empty());
    }
}

proptest! {
    #[test]
    fn any_text_is_encoded_soundly(text in "\\PC{0,40}") {
        for pieces in all() {
            assert_sound(&pieces, &Utterance::new(text.as_str()));
            if let Some(ids) = pieces.written(&text) {
                let _ = pieces.text(&ids);
            }
        }
    }
}

#[test]
fn a_tokenizer_survives_storing() {
    for pieces in all() {
        let stored = Tokenizer::Text(Box::new(pieces.clone())).to_bytes();
        let Tokenizer::Text(restored) = Tokenizer::from_bytes(&stored).unwrap() else {
            panic!("another kind")
        };
        let utterance = Utterance::new("what states border texas ?");
        assert_eq!(restored.encode(&utterance), pieces.encode(&utterance));
        assert_eq!(restored.written("state('x')"), pieces.written("state('x')"));
        assert_eq!(Tokenizer::Text(restored).to_bytes(), stored);
    }
}

#[test]
fn common_words_are_pieces_of_the_language_that_is_read() {
    assert_eq!(tiny("tiny-marian").common_words(), ["in", "new", "states", "what"]);
    assert!(tiny("tiny-marian").is_word("what") && !tiny("tiny-marian").is_word("answer"));
    assert_eq!(tiny("tiny-bart").common_words(), ["stat", "states"]);
}

#[test]
fn damaged_tokenizers_are_refused_and_never_panic() {
    for name in NAMES {
        let stored = Tokenizer::Text(Box::new(tiny(name).trimmed(["what"], ["x"], &[]).0)).to_bytes();
        let value: Value = serde_json::from_slice(&stored).unwrap();
        for path in [
            "/read",
            "/write",
            "/kept",
            "/kept/0",
            "/read/model",
            "/read/model/vocab",
            "/read/model/vocab/0",
            "/read/model/unk_id",
            "/read/model/merges",
            "/read/pre_tokenizer",
            "/read/pre_tokenizer/type",
            "/read/post_processor",
            "/read/added_tokens",
            "/read/normalizer",
            "/read/added_tokens/0/id",
        ] {
            for replacement in [
                Value::Null,
                json!(-1),
                json!(4_294_967_295_u64),
                json!(""),
                json!([]),
                json!({}),
                json!([5]),
            ] {
                let mut damaged = value.clone();
                let Some(place) = damaged.pointer_mut(path) else { continue };
                *place = replacement;
                if let Ok(tokenizer) = Tokenizer::from_bytes(damaged.to_string().as_bytes()) {
                    let _ = tokenizer.encode(&Utterance::new("which 🚀 ?"));
                }
            }
        }
        let refused = |path: &str, to: Value, expected: &str| {
            let mut damaged = value.clone();
            *damaged.pointer_mut(path).unwrap() = to;
            let error = Tokenizer::from_bytes(damaged.to_string().as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        refused("/read/model/type", json!("WordLevel"), "its model is WordLevel");
        refused("/kept", json!([1]), "kept");
        refused("/kept/0", json!(9_999_999), "kept");
        refused("/read/normalizer", json!({"type": "Replace"}), "its normalizer is Replace");
    }
    let error = TextPieces::from_dir(&data().join("tiny-bert")).unwrap_err().to_string();
    assert!(error.contains("pre_tokenizer"), "{error}");
}
