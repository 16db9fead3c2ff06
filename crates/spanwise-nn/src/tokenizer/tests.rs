//! Tests of `tokenizer`.

use super::word_pieces::id_of;
use super::word_table::fnv1a;
use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn tiny(name: &str) -> Tokenizer {
    Tokenizer::from_dir(&data().join(name)).unwrap()
}

fn pieces_of(tokenizer: &Tokenizer) -> &WordPieces {
    match tokenizer {
        Tokenizer::WordPiece(pieces) => pieces,
        _ => panic!("expected word pieces"),
    }
}

/// A directory with a tokenizer as files.
fn directory(files: &[(&str, &[u8])]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, content) in files {
        fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

/// The same encoder's tokenizer, but from its `vocab.txt`.
fn from_vocab_txt(encoder: &Path) -> Tokenizer {
    let vocab = fs::read(encoder.join(VOCAB_NAME)).unwrap();
    let directory = directory(&[(VOCAB_NAME, &vocab)]);
    if let Ok(config) = fs::read(encoder.join(VOCAB_CONFIG_NAME)) {
        fs::write(directory.path().join(VOCAB_CONFIG_NAME), config).unwrap();
    }
    Tokenizer::from_dir(directory.path()).unwrap()
}

/// Compares with what the reference implementation gave for lists of words; returns how many lists.
fn agrees_with_reference(tokenizer: &Tokenizer, reference: &Path) -> usize {
    let pieces = pieces_of(tokenizer);
    let reference: Value = serde_json::from_slice(&fs::read(reference).unwrap()).unwrap();
    let lists = reference["words"].as_array().unwrap();
    let mut compared = 0;
    for list in lists {
        let words: Vec<&str> =
            list["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let mut ids: Vec<u32> = list["ids"].as_array().unwrap().iter().map(|id| id_of(id).unwrap()).collect();
        let mut word_ids: Vec<Option<u32>> = list["word_ids"].as_array().unwrap().iter().map(id_of).collect();
        for word in 0..words.len() as u32 {
            if !word_ids.contains(&Some(word)) {
                // The reference leaves the word out; here it is unknown.
                let at = word_ids.iter().rposition(|id| id.is_some_and(|id| id < word)).unwrap_or(0) + 1;
                ids.insert(at, pieces.unknown);
                word_ids.insert(at, Some(word));
            }
        }
        let found = pieces.encode(&words);
        assert_eq!(found.ids, ids, "{words:?}");
        let place = |word: u32| {
            let first = word_ids.iter().position(|id| *id == Some(word)).unwrap();
            let last = word_ids.iter().rposition(|id| *id == Some(word)).unwrap();
            (first as u32, last as u32)
        };
        let places: Vec<(u32, u32)> = (0..words.len() as u32).map(place).collect();
        assert_eq!(found.words, places, "{words:?}");
        assert!(found.ngrams.is_empty());
        compared += 1;
    }
    compared
}

/// What must hold of the pieces of any utterance.
fn assert_sound(tokenizer: &Tokenizer, utterance: &Utterance) {
    let pieces = tokenizer.encode(utterance);
    assert_eq!(pieces.words.len(), utterance.len());
    let mut next = 1;
    for (first, last) in &pieces.words {
        assert_eq!(*first, next);
        assert!(last >= first);
        next = last + 1;
    }
    assert_eq!(pieces.ids.len() as u32, next + 1);
    assert!(pieces.ids.iter().all(|id| (*id as usize) < tokenizer.vocab_size()));
    match tokenizer {
        Tokenizer::WordPiece(_) | Tokenizer::Text(_) => assert!(pieces.ngrams.is_empty()),
        Tokenizer::Words(_) => {
            assert_eq!(pieces.ngrams.len(), pieces.ids.len());
            let inner = &pieces.ngrams[1..pieces.ngrams.len() - 1];
            assert!(inner.iter().all(|buckets| (1..=WordTable::MAX_NGRAMS).contains(&buckets.len())));
            assert!(inner.iter().flatten().all(|bucket| (*bucket as usize) < tokenizer.n_buckets()));
            assert!(pieces.ngrams[0].is_empty() && pieces.ngrams[pieces.ngrams.len() - 1].is_empty());
        }
    }
    assert_eq!(tokenizer.encode(utterance), pieces);
}

fn table(texts: &[&str], min_count: usize) -> WordTable {
    let utterances: Vec<Utterance> = texts.iter().map(|text| Utterance::new(*text)).collect();
    WordTable::from_utterances(&utterances, min_count)
}

fn all() -> Vec<Tokenizer> {
    let words = Tokenizer::Words(table(&["what is the capital of texas ?"], 1));
    vec![tiny("tiny-bert"), tiny("tiny-mpnet"), from_vocab_txt(&data().join("tiny-bert")), words]
}

#[test]
fn ids_and_words_are_those_of_the_reference_implementation() {
    for name in ["tiny-bert", "tiny-mpnet"] {
        let reference = data().join(name).join("reference.json");
        assert!(agrees_with_reference(&tiny(name), &reference) > 3);
    }
}

#[test]
fn vocab_txt_gives_the_same_pieces_as_tokenizer_json() {
    for name in ["tiny-bert", "tiny-mpnet"] {
        let reference = data().join(name).join("reference.json");
        assert!(agrees_with_reference(&from_vocab_txt(&data().join(name)), &reference) > 3);
    }
}

#[test]
fn real_encoders_agree_with_the_reference_implementation() {
    let Some(encoders) = std::env::var_os("SPANWISE_ENCODERS").map(PathBuf::from) else {
        println!("SKIPPED: SPANWISE_ENCODERS is not set");
        return;
    };
    for name in ["all-MiniLM-L6-v2", "all-mpnet-base-v2"] {
        let (encoder, reference) = (encoders.join(name), data().join(format!("{name}.reference.json")));
        assert!(agrees_with_reference(&Tokenizer::from_dir(&encoder).unwrap(), &reference) > 3);
        assert!(agrees_with_reference(&from_vocab_txt(&encoder), &reference) > 3);
    }
}

#[test]
fn an_utterance_is_encoded_word_by_word() {
    let pieces = tiny("tiny-bert").encode(&Utterance::new("Which RIVER ?"));
    assert_eq!(pieces.ids, [2, 86, 93, 77, 3]);
    assert_eq!(pieces.words, [(1, 1), (2, 2), (3, 3)]);
    let pieces = tiny("tiny-mpnet").encode(&Utterance::new("which rivers?"));
    assert_eq!(pieces.ids, [0, 86, 93, 59, 77, 2]);
    assert_eq!(pieces.words, [(1, 1), (2, 3), (4, 4)]);
}

#[test]
fn an_empty_utterance_is_its_two_ends() {
    for tokenizer in all() {
        for text in ["", " \n\t", "\u{0}\u{1}"] {
            let pieces = tokenizer.encode(&Utterance::new(text));
            assert_eq!((pieces.ids.len(), pieces.words.len()), (2, 0));
        }
    }
}

#[test]
fn a_word_without_pieces_is_unknown() {
    let tokenizer = tiny("tiny-bert");
    // A zero-width space is visible to utterances; word pieces drop it.
    let utterance = Utterance::new("a \u{200b} b");
    assert_eq!(utterance.len(), 3);
    let pieces = tokenizer.encode(&utterance);
    assert_eq!(pieces.ids[2], pieces_of(&tokenizer).unknown);
    assert_eq!(pieces.words, [(1, 1), (2, 2), (3, 3)]);
    assert_eq!(pieces_of(&tokenizer).encode(&["\u{0}", "", "\u{fffd}"]).ids, [2, 1, 1, 1, 3]);
}

#[test]
fn special_tokens_cannot_be_smuggled_in_by_an_utterance() {
    for tokenizer in all() {
        let ends = tokenizer.encode(&Utterance::new("")).ids;
        let pieces = tokenizer.encode(&Utterance::new("[SEP] [CLS] <s> </s> [PAD] <pad> <mask> [MASK]"));
        let inner = &pieces.ids[1..pieces.ids.len() - 1];
        assert!(ends.iter().all(|end| !inner.contains(end)), "{inner:?}");
    }
}

#[test]
fn ugly_input_is_encoded() {
    let long = "x".repeat(50_000);
    for tokenizer in all() {
        for text in [
            "",
            "🚀",
            "a🚀b 👩‍👩‍👧 ",
            "\u{0}\u{7}\u{1b}[2J",
            "e\u{301}te\u{301}",
            "İ ẞ ﬁ",
            "\u{feff}x\u{200b}\u{202e}y",
            "東京",
            "\u{301}",
            "\u{fffd}\u{ad}",
            &long,
        ] {
            assert_sound(&tokenizer, &Utterance::new(text));
        }
    }
}

#[test]
fn thousands_of_words_are_not_cut_off() {
    let text = "what rivers ? ".repeat(1_700);
    for tokenizer in all() {
        let utterance = Utterance::new(text.as_str());
        assert!(utterance.len() > 5_000);
        assert_sound(&tokenizer, &utterance);
    }
}

#[test]
fn truncation_and_padding_are_switched_off() {
    let json = fs::read(data().join("tiny-bert/tokenizer.json")).unwrap();
    let mut value: Value = serde_json::from_slice(&json).unwrap();
    value["truncation"] =
        json!({"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"});
    value["padding"] = json!({"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"});
    let tokenizer = Tokenizer::from_bytes(value.to_string().as_bytes()).unwrap();
    for text in ["which", "which river which river which river"] {
        let utterance = Utterance::new(text);
        assert_eq!(tokenizer.encode(&utterance), tiny("tiny-bert").encode(&utterance));
    }
}

#[test]
fn both_kinds_of_post_processor_give_the_ends() {
    let json = fs::read(data().join("tiny-bert/tokenizer.json")).unwrap();
    let mut value: Value = serde_json::from_slice(&json).unwrap();
    for kind in ["BertProcessing", "RobertaProcessing"] {
        value["post_processor"] = json!({"type": kind, "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]});
        let tokenizer = Tokenizer::from_bytes(value.to_string().as_bytes()).unwrap();
        assert_eq!(tokenizer.encode(&Utterance::new("which")).ids, [2, 86, 3]);
    }
}

#[test]
fn a_tokenizer_survives_storing() {
    for tokenizer in all() {
        let bytes = tokenizer.to_bytes();
        let again = Tokenizer::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes(), bytes);
        assert_eq!(again.vocab_size(), tokenizer.vocab_size());
        for text in ["What states border Texas?", "São Paulo 🚀"] {
            let utterance = Utterance::new(text);
            assert_eq!(again.encode(&utterance), tokenizer.encode(&utterance));
        }
    }
}

#[test]
fn sizes_and_padding_are_known() {
    let sizes: Vec<(usize, u32, usize)> = all()
        .iter()
        .map(|tokenizer| (tokenizer.vocab_size(), tokenizer.pad_id(), tokenizer.n_buckets()))
        .collect();
    assert_eq!(sizes, [(113, 0, 0), (114, 1, 0), (113, 0, 0), (11, 0, 4096)]);
}

#[test]
fn case_is_kept_where_the_configuration_says_so() {
    let vocab = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nA\n";
    let ids = |config: &[u8]| {
        let directory = directory(&[(VOCAB_NAME, vocab), (VOCAB_CONFIG_NAME, config)]);
        Tokenizer::from_dir(directory.path()).unwrap().encode(&Utterance::new("a A")).ids
    };
    assert_eq!(ids(b"{}"), [2, 5, 5, 3]);
    assert_eq!(ids(b"{\"do_lower_case\": true}"), [2, 5, 5, 3]);
    assert_eq!(ids(b"{\"do_lower_case\": false}"), [2, 5, 6, 3]);
    assert_eq!(ids(b"{\"do_lower_case\": false, \"cls_token\": {\"content\": \"[MASK]\"}}"), [4, 5, 6, 3]);
}

#[test]
fn a_directory_without_a_tokenizer_says_what_was_expected() {
    let directory = directory(&[]);
    let message = Tokenizer::from_dir(directory.path()).unwrap_err().to_string();
    assert!(message.contains("expected `tokenizer.json` or `vocab.txt`"), "{message}");
    fs::create_dir(directory.path().join(FILE_NAME)).unwrap();
    let message = Tokenizer::from_dir(directory.path()).unwrap_err().to_string();
    assert!(message.starts_with("cannot read "), "{message}");
}

#[test]
fn damaged_vocabularies_are_refused() {
    let cases: [(&[u8], &str); 4] = [
        (b"", "none of its lines is `[UNK]` or `<unk>`"),
        (b"[UNK]\n[SEP]\n", "none of its lines is `[CLS]` or `<s>`"),
        (b"[UNK]\n[CLS]\n", "none of its lines is `[SEP]` or `</s>`"),
        (b"[UNK]\n\xff\n", "invalid utf-8"),
    ];
    for (vocab, expected) in cases {
        let directory = directory(&[(VOCAB_NAME, vocab)]);
        let message = Tokenizer::from_dir(directory.path()).unwrap_err().to_string();
        assert!(
            message.contains("vocab.txt is not a tokenizer: ") && message.contains(expected),
            "{message}"
        );
    }
    let directory = directory(&[(VOCAB_NAME, b"[UNK]\n[CLS]\n[SEP]"), (VOCAB_CONFIG_NAME, b"[")]);
    let message = Tokenizer::from_dir(directory.path()).unwrap_err().to_string();
    assert!(message.contains("tokenizer_config.json is not a tokenizer"), "{message}");
}

#[test]
fn tokenizers_of_another_kind_are_refused() {
    let json = fs::read(data().join("tiny-bert/tokenizer.json")).unwrap();
    let value: Value = serde_json::from_slice(&json).unwrap();
    let refused = |key: &str, part: Value| {
        let mut changed = value.clone();
        changed[key] = part;
        Tokenizer::from_bytes(changed.to_string().as_bytes()).unwrap_err().to_string()
    };
    let message = refused("model", json!({"type": "BPE", "vocab": {}, "merges": []}));
    assert!(message.contains("its model is BPE, expected WordPiece"), "{message}");
    let message = refused("post_processor", Value::Null);
    assert!(message.contains("its post_processor is not there, expected TemplateProcessing"), "{message}");
    let message = refused("post_processor", json!({"type": "ByteLevel"}));
    assert!(message.contains("its post_processor is ByteLevel"), "{message}");
    let message =
        refused("post_processor", json!({"type": "BertProcessing", "sep": ["x", 3], "cls": ["y", 4000]}));
    assert!(message.contains("special token number 4000 is not in its vocabulary"), "{message}");
    let sequence = json!({"Sequence": {"id": "A", "type_id": 0}});
    let message = refused("post_processor", json!({"type": "TemplateProcessing", "single": [sequence]}));
    assert!(message.contains("does not list the special tokens"), "{message}");
    let mut model = value["model"].clone();
    model["unk_token"] = json!("<nothing>");
    let message = refused("model", model);
    assert!(message.contains("lacks its unknown token `<nothing>`"), "{message}");
}

#[test]
fn text_that_is_no_tokenizer_is_refused() {
    for text in ["", "{", "[]", "null", "{}", "{\"model\": 3}", "\u{0}"] {
        assert!(Tokenizer::from_bytes(text.as_bytes()).is_err(), "{text}");
    }
    assert!(Tokenizer::from_bytes("[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn damage_to_any_part_of_a_tokenizer_never_panics() {
    let json = fs::read(data().join("tiny-mpnet/tokenizer.json")).unwrap();
    let value: Value = serde_json::from_slice(&json).unwrap();
    let utterance = Utterance::new("which <mask> rivers 🚀 ?");
    let mut paths = Vec::new();
    collect_paths(&value, &mut String::new(), &mut paths);
    assert!(paths.len() > 50);
    for path in &paths {
        for replacement in [
            Value::Null,
            json!(-1),
            json!(4_294_967_295_u64),
            json!(""),
            json!("x"),
            json!([]),
            json!({}),
            json!(true),
        ] {
            let mut damaged = value.clone();
            *damaged.pointer_mut(path).unwrap() = replacement;
            if let Ok(tokenizer) = Tokenizer::from_bytes(damaged.to_string().as_bytes()) {
                let _ = tokenizer.encode(&utterance);
            }
        }
    }
}

/// The places in a JSON value, but only a few pieces of the vocabulary.
fn collect_paths(value: &Value, at: &mut String, paths: &mut Vec<String>) {
    paths.push(at.clone());
    let length = at.len();
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(object) => object.iter().take(12).map(|(key, part)| (key.clone(), part)).collect(),
        Value::Array(array) => array.iter().enumerate().map(|(key, part)| (key.to_string(), part)).collect(),
        _ => Vec::new(),
    };
    for (key, part) in parts {
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        collect_paths(part, at, paths);
        at.truncate(length);
    }
}

#[test]
fn a_word_table_has_frequent_words_first_and_rare_ones_not_at_all() {
    let table = table(&["b a B c", "a b d"], 2);
    assert_eq!(table.words(), ["b", "a"]);
    assert_eq!((table.id("b"), table.id("a"), table.id("c")), (4, 5, WordTable::UNKNOWN));
    assert_eq!(table.vocab_size(), 6);
    let tokenizer = Tokenizer::Words(table);
    let pieces = tokenizer.encode(&Utterance::new("A zebra, B"));
    assert_eq!(pieces.ids, [2, 5, 1, 1, 4, 3]);
    assert_eq!(pieces.words, [(1, 1), (2, 2), (3, 3), (4, 4)]);
}

#[test]
fn the_order_of_training_utterances_does_not_matter() {
    let forwards = table(&["x y z", "z y", "q"], 1);
    let backwards = table(&["q", "z y", "x y z"], 1);
    assert_eq!(forwards.to_bytes(), backwards.to_bytes());
    assert_eq!(table(&[], 1).vocab_size(), 4);
}

#[test]
fn trigrams_are_hashed_into_the_same_buckets_for_ever() {
    // Published test values of FNV-1a.
    assert_eq!(fnv1a(&[]), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(&['a']), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a(&['f', 'o', 'o', 'b', 'a', 'r']), 0x8594_4171_f739_67e8);
    let table = table(&[], 1);
    let bucket = |text: &str| (fnv1a(&text.chars().collect::<Vec<_>>()) % 4096) as u32;
    assert_eq!(table.ngrams("cat"), [bucket("^ca"), bucket("cat"), bucket("at$")]);
    assert_eq!(table.ngrams("é"), [bucket("^é$")]);
    assert_eq!(table.ngrams(&"x".repeat(1_000)).len(), WordTable::MAX_NGRAMS);
    assert_eq!(table.ngrams(&"x".repeat(32)).len(), 32);
    assert!(table.clone().with_buckets(7).ngrams("capital").iter().all(|bucket| *bucket < 7));
    assert_eq!(table.with_buckets(0).n_buckets(), 1);
}

#[test]
fn damaged_word_tables_are_refused() {
    let table = |version: Value, n_buckets: Value, words: Value| {
        let table =
            json!({"format": WORDS_FORMAT, "version": version, "n_buckets": n_buckets, "words": words});
        Tokenizer::from_bytes(table.to_string().as_bytes())
    };
    assert!(table(json!(1), json!(8), json!(["a", "b"])).is_ok());
    let message = table(json!(2), json!(8), json!([])).unwrap_err().to_string();
    assert!(message.contains("is 2, expected 1"), "{message}");
    for n_buckets in [json!(0), json!(-1), json!(null), json!(4_294_967_297_u64), json!("8"), json!(1.5)] {
        assert!(table(json!(1), n_buckets, json!([])).is_err());
    }
    for words in [json!(["a", "a"]), json!([1]), json!({}), json!(null)] {
        assert!(table(json!(1), json!(8), words).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_is_encoded_soundly(text in any::<String>()) {
        thread_local!(static TOKENIZERS: Vec<Tokenizer> = all());
        let utterance = Utterance::new(text);
        TOKENIZERS.with(|all| all.iter().for_each(|tokenizer| assert_sound(tokenizer, &utterance)));
    }

    #[test]
    fn word_tables_survive_storing(
        texts in prop::collection::vec("\\PC{0,20}", 0..5),
        n_buckets in 1_u32..5000,
    ) {
        let utterances: Vec<Utterance> = texts.into_iter().map(Utterance::new).collect();
        let table = WordTable::from_utterances(&utterances, 1).with_buckets(n_buckets);
        let tokenizer = Tokenizer::from_bytes(&Tokenizer::Words(table.clone()).to_bytes()).unwrap();
        prop_assert!(matches!(&tokenizer, Tokenizer::Words(found) if *found == table));
        for utterance in &utterances {
            let pieces = tokenizer.encode(utterance);
            prop_assert!(pieces.ids[1..=utterance.len()].iter().all(|id| *id >= WordTable::FIRST_WORD));
        }
    }
}

/// The tiny BERT's tokenizer with one part replaced.
fn with(key: &str, part: Value) -> Result<Tokenizer, TokenizerError> {
    let json = fs::read(data().join("tiny-bert/tokenizer.json")).unwrap();
    let mut value: Value = serde_json::from_slice(&json).unwrap();
    value[key] = part;
    Tokenizer::from_bytes(value.to_string().as_bytes())
}

#[test]
fn normalizers_of_unbounded_cost_are_refused_and_named() {
    let replace = json!({"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": "x".repeat(1000)});
    for part in [
        // The map is read as a table of offsets: this one ends the process of a program that builds it.
        json!({"type": "Precompiled", "precompiled_charsmap": "/////wAAAAAAAAAA"}),
        json!({"type": "Prepend", "prepend": "x".repeat(1000)}),
        json!({"type": "ByteLevel"}),
        json!({"type": "Unheard of"}),
        json!({"lowercase": true}),
        json!({"type": "Sequence"}),
        json!({"type": "Sequence", "normalizers": [{"type": "Lowercase"}, replace]}),
        json!({"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": []}]}),
        json!({"type": "Sequence", "normalizers": vec![json!({"type": "NFKD"}); 17]}),
        json!("BertNormalizer"),
        replace,
    ] {
        let message = with("normalizer", part.clone()).unwrap_err().to_string();
        assert!(message.contains("normalizer"), "{part}: {message}");
    }
    for part in [
        Value::Null,
        json!({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]}),
        json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true}),
    ] {
        assert!(with("normalizer", part.clone()).is_ok(), "{part}");
    }
}

#[test]
fn pre_tokenizers_with_rules_of_their_own_are_refused_and_named() {
    let split =
        json!({"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": false});
    for part in [
        json!({"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": true}),
        json!({"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, split]}),
        split,
    ] {
        let message = with("pre_tokenizer", part.clone()).unwrap_err().to_string();
        assert!(message.contains("pre_tokenizer"), "{part}: {message}");
    }
    let both = json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}]});
    assert!(with("pre_tokenizer", both).is_ok());
}

#[test]
fn sizes_without_a_bound_are_refused() {
    let json = fs::read(data().join("tiny-bert/tokenizer.json")).unwrap();
    let whole: Value = serde_json::from_slice(&json).unwrap();
    let added = |n: usize, content: &str| {
        let token = json!({"id": 1, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true});
        json!(vec![token; n])
    };
    let model = |key: &str, value: Value| {
        let mut model = whole["model"].clone();
        model[key] = value;
        model
    };
    let mut ends = whole["post_processor"].clone();
    let begin = json!({"SpecialToken": {"id": "[CLS]", "type_id": 0}});
    let sequence = json!({"Sequence": {"id": "A", "type_id": 0}});
    let end = json!({"SpecialToken": {"id": "[SEP]", "type_id": 0}});
    ends["type"] = json!("TemplateProcessing");
    ends["special_tokens"] = json!({"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
        "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}});
    ends["single"] = json!([vec![begin; 1000], vec![sequence], vec![end]].concat());
    for (key, part, text) in [
        ("added_tokens", added(3_000, "x"), "3000 added tokens"),
        ("added_tokens", added(2, &"x".repeat(40_000)), "80000 bytes of added tokens"),
        ("added_tokens", json!("many"), "added_tokens"),
        ("model", model("max_input_chars_per_word", json!(1_000_000)), "max_input_chars_per_word"),
        ("model", model("continuing_subword_prefix", json!("#".repeat(1_000))), "continuing_subword_prefix"),
        ("model", model("type", json!("Unigram")), "its model is Unigram"),
        ("model", Value::Null, "its model"),
        ("post_processor", ends, "1000 special tokens"),
    ] {
        let message = with(key, part).unwrap_err().to_string();
        assert!(message.contains(text), "{text}: {message}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Tokenizer::from_bytes(format!("{{\"normalizer\": {deep}}}").as_bytes()).is_err());
}

#[test]
fn a_word_of_a_megabyte_is_unknown_at_once() {
    let tokenizer = tiny("tiny-bert");
    let pieces = tokenizer.encode(&Utterance::new("é".repeat(1 << 20)));
    assert_eq!(pieces.ids, [2, pieces_of(&tokenizer).unknown, 3]);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_tokenizer_is_refused_at_once() {
    for name in [FILE_NAME, VOCAB_NAME] {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let message = Tokenizer::from_dir(directory.path()).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("not a regular file"), "{message}");
    }
}
