use super::*;
use serde_json::Value;

/// A reading with every field set.
fn full() -> Reading {
    let leaf = |at: u32, word: &str, constant: &str| TreeNode {
        span: [at, at + 1],
        words: word.to_owned(),
        kind: NodeKind::Constant,
        constant: Some(constant.to_owned()),
        program: Some(constant.to_owned()),
        r#type: Some("Action".to_owned()),
        probability: Some(0.5),
        children: Vec::new(),
    };
    let root = TreeNode {
        span: [0, 2],
        words: "walk left".to_owned(),
        kind: NodeKind::Join,
        constant: None,
        children: vec![0, 1],
        ..leaf(0, "", "i_walk(i_left)")
    };
    let alternative = Alternative {
        program: "i_walk()".to_owned(),
        probability: 0.125,
        posterior: 0.25,
        score: -1.5,
        answer: Some(["I_WALK"].into_iter().collect()),
        answer_info: AnswerInfo::default(),
        denotation: Some("I_WALK".to_owned()),
    };
    let token = Token {
        text: "walk".to_owned(),
        start: 0,
        end: 4,
        constant: Some("i_walk".to_owned()),
        span: Some([0, 1]),
        probability: Some(0.5),
        in_lexicon: true,
        unread: true,
        read_as: Some("walks".to_owned()),
    };
    let correction = Correction {
        span: [0, 1],
        from: "wlak".to_owned(),
        to: "walk".to_owned(),
        kind: CorrectionKind::Spelling,
    };
    Reading {
        id: Some("0123".to_owned()),
        utterance: "walk left".to_owned(),
        program: Some("i_walk(i_left)".to_owned()),
        lines: Some("i_walk(i_left)\n".to_owned()),
        answer: Some(["I_TURN_LEFT", "I_WALK"].into_iter().collect()),
        answer_info: AnswerInfo {
            truncated: true,
            total_rows: Some(1240),
            units: vec![String::new(), "min".to_owned()],
        },
        denotation: Some("I_TURN_LEFT I_WALK".to_owned()),
        sql: Some("select 1".to_owned()),
        probability: Some(0.875),
        posterior: Some(0.9),
        in_domain: Some(1.0),
        score: Some(3.1),
        tree: Some(Tree { nodes: vec![leaf(0, "walk", "i_walk"), leaf(1, "left", "i_left"), root] }),
        alternatives: vec![alternative],
        tokens: vec![token],
        unknown_words: vec!["left".to_owned()],
        corrections: vec![correction],
        unread: vec![Unread { span: [1, 2], words: "left".to_owned(), kind: UnreadKind::Content }],
        threshold: Some(0.5),
        now: Some("2011-03-05".to_owned()),
        cause: Some(Cause::Ambiguous),
        clarification: Some(Clarification { question: "which?".to_owned(), choices: vec!["a".to_owned()] }),
        chart: Some(vec![ChartSpan { span: [0, 2], constant: None, probability: 0.75 }]),
        reason: Some("unsure".to_owned()),
        guess: Some(Guess {
            program: Some("i_walk()".to_owned()),
            answer: None,
            probability: 0.1,
            posterior: 0.2,
        }),
        error: Some("no value".to_owned()),
        note: Some("nothing fits".to_owned()),
    }
}

#[test]
fn a_reading_is_read_back_from_its_json_as_it_was() {
    for reading in [full(), Reading { utterance: "?".to_owned(), ..Reading::default() }] {
        let text = serde_json::to_string(&reading).expect("a reading is JSON");
        assert_eq!(serde_json::from_str::<Reading>(&text).expect("it is a reading"), reading);
    }
}

fn keys(reading: &Reading) -> Vec<String> {
    let value: Value = serde_json::to_value(reading).expect("a reading is JSON");
    value.as_object().expect("it is an object").keys().cloned().collect()
}

#[test]
fn fields_keep_their_names_and_those_without_a_value_are_null_or_left_out() {
    let always = [
        "utterance",
        "program",
        "lines",
        "answer",
        "denotation",
        "probability",
        "posterior",
        "in_domain",
        "score",
        "tree",
        "alternatives",
        "tokens",
        "unknown_words",
        "corrections",
        "unread",
        "threshold",
    ];
    let sometimes = [
        "now",
        "chart",
        "reason",
        "cause",
        "clarification",
        "guess",
        "error",
        "note",
        "answer_info",
        "sql",
        "id",
    ];
    assert_eq!(keys(&Reading::default()), always);
    assert_eq!(keys(&full()), [&always[..], &sometimes[..]].concat());
}

#[cfg(feature = "openapi")]
#[test]
fn schemas_describe_the_json_of_every_type_and_trees_nest() {
    use utoipa::ToSchema as _;
    let mut schemas = Vec::new();
    Reading::schemas(&mut schemas);
    let schemas: std::collections::BTreeMap<String, Value> = schemas
        .into_iter()
        .map(|(name, schema)| (name, serde_json::to_value(schema).expect("a schema is JSON")))
        .collect();
    for name in ["Alternative", "Answer", "ChartSpan", "Guess", "NodeKind", "Token", "Tree"] {
        assert!(schemas.contains_key(name), "no schema {name} in {:?}", schemas.keys());
    }
    let tree = &schemas["Tree"];
    let fields: Vec<&String> = tree["properties"].as_object().expect("it is an object").keys().collect();
    let expected = ["category", "children", "constant", "probability", "program", "span", "type", "words"];
    assert_eq!(fields.len(), expected.len(), "{fields:?}");
    assert!(expected.iter().all(|name| fields.iter().any(|found| found == name)), "{fields:?}");
    assert_eq!(tree["properties"]["children"]["items"]["$ref"], "#/components/schemas/Tree");
}
