//! Tests of `config`.

use super::*;
use serde_json::json;

fn bert() -> Value {
    json!({
        "model_type": "bert", "vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.25, "hidden_act": "gelu"
    })
}

fn mpnet() -> Value {
    with(with(bert(), "model_type", json!("mpnet")), "type_vocab_size", Value::Null)
}

fn with(mut config: Value, key: &str, value: Value) -> Value {
    config[key] = value;
    config
}

fn parse(config: &Value) -> Result<EncoderConfig, ConfigError> {
    EncoderConfig::from_json(config.to_string().as_bytes(), "config.json")
}

fn error(config: &Value) -> String {
    parse(config).unwrap_err().to_string()
}

#[test]
fn a_bert_configuration_is_read() {
    let config = parse(&bert()).unwrap();
    assert_eq!(
        config,
        EncoderConfig {
            architecture: Architecture::Bert,
            vocab_size: 100,
            hidden: 32,
            layers: 2,
            heads: 4,
            intermediate: 64,
            max_positions: 64,
            type_vocab: 2,
            layer_norm_eps: 1e-12,
            dropout: 0.25,
            position_offset: 0,
            relative_buckets: 0,
            activation: Activation::Gelu,
        }
    );
    assert_eq!(config.max_pieces(), 64);
}

#[test]
fn mpnet_counts_positions_from_two_and_has_relative_buckets_but_no_types() {
    let config = parse(&mpnet()).unwrap();
    assert_eq!((config.position_offset, config.relative_buckets, config.type_vocab), (2, 32, 0));
    assert_eq!(config.max_pieces(), 62);
    let config = parse(&with(mpnet(), "relative_attention_num_buckets", json!(64))).unwrap();
    assert_eq!(config.relative_buckets, 64);
}

#[test]
fn activations_are_told_apart() {
    let of = |name: &str| parse(&with(bert(), "hidden_act", json!(name))).map(|config| config.activation);
    assert_eq!(of("gelu").unwrap(), Activation::Gelu);
    assert_eq!(of("gelu_new").unwrap(), Activation::GeluTanh);
    assert_eq!(of("gelu_pytorch_tanh").unwrap(), Activation::GeluTanh);
    assert_eq!(of("relu").unwrap(), Activation::Relu);
    let error = of("swish").unwrap_err().to_string();
    assert!(error.contains("`hidden_act` is `swish`, expected `gelu`"), "{error}");
}

#[test]
fn an_unknown_architecture_is_refused_by_name() {
    let message = error(&with(bert(), "model_type", json!("roberta")));
    assert!(
        message.contains("config.json: `model_type` is `roberta`, expected `bert` or `mpnet`"),
        "{message}"
    );
    let message = error(&with(bert(), "model_type", Value::Null));
    assert!(message.contains("`model_type` is null"), "{message}");
    assert!(matches!(parse(&json!({})), Err(ConfigError::UnknownArchitecture { .. })));
}

#[test]
fn missing_numbers_are_named() {
    let keys = [
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
    ];
    for key in keys {
        let message = error(&with(bert(), key, Value::Null));
        assert!(message.contains(&format!("has no `{key}`")), "{message}");
    }
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    for value in [json!(0), json!(-4), json!(10_000_001), json!(1.5), json!("8"), json!(u64::MAX), json!([1])]
    {
        for key in
            ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "type_vocab_size"]
        {
            let message = error(&with(bert(), key, value.clone()));
            assert!(message.contains(&format!("`{key}` is {}", brief(&value))), "{message}");
            assert!(message.contains("expected a whole number from 1 to "), "{message}");
        }
    }
    // Attention takes memory for each head, and for each pair of positions.
    for (key, value, most) in
        [("num_attention_heads", 1024, 256), ("max_position_embeddings", 20_000, 16_384)]
    {
        let message = error(&with(bert(), key, json!(value)));
        assert!(message.contains(&format!("`{key}` is {value}")), "{message}");
        assert!(message.contains(&format!("to {most}")), "{message}");
    }
    let huge = bert().to_string().replace("\"vocab_size\":100", "\"vocab_size\":1e400");
    assert!(EncoderConfig::from_json(huge.as_bytes(), "x").is_err());
}

#[test]
fn inconsistent_numbers_are_refused() {
    let message = error(&with(bert(), "num_attention_heads", json!(5)));
    assert!(message.contains("`num_attention_heads` is 5, expected a divisor of `hidden_size`"), "{message}");
    for (key, value) in [
        ("layer_norm_eps", json!(0)),
        ("layer_norm_eps", json!(-1e-5)),
        ("layer_norm_eps", json!("small")),
        ("hidden_dropout_prob", json!(1)),
        ("hidden_dropout_prob", json!(-0.1)),
        ("max_position_embeddings", json!(1)),
        ("position_embedding_type", json!("relative_key")),
        ("is_decoder", json!(true)),
    ] {
        let message = error(&with(bert(), key, value.clone()));
        assert!(message.contains(&format!("`{key}` is ")), "{key} {value}: {message}");
    }
    for buckets in [0, 2, 16, 31, 33] {
        assert!(parse(&with(mpnet(), "relative_attention_num_buckets", json!(buckets))).is_err());
    }
}

#[test]
fn text_that_is_no_configuration_is_refused() {
    for text in ["", "{", "[]", "null", "\u{0}", "{\"model_type\": \"bert\"} x"] {
        let error = EncoderConfig::from_json(text.as_bytes(), "c.json").unwrap_err();
        assert!(matches!(error, ConfigError::Json { .. }), "{error}");
        assert!(error.to_string().starts_with("c.json is not a JSON object"), "{error}");
    }
    assert!(EncoderConfig::from_json(b"\xff\xfe", "c.json").is_err());
    let deep = "[".repeat(100_000);
    assert!(EncoderConfig::from_json(deep.as_bytes(), "c.json").is_err());
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let error = EncoderConfig::read(Path::new("/nowhere/config.json")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nowhere/config.json"), "{error}");
    assert!(EncoderConfig::read(Path::new("/")).is_err());
    if cfg!(target_os = "linux") {
        let error = EncoderConfig::read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}

#[test]
fn a_configuration_survives_serialisation() {
    for config in [parse(&bert()).unwrap(), parse(&mpnet()).unwrap()] {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<EncoderConfig>(&text).unwrap(), config);
    }
    let text = serde_json::to_string(&parse(&bert()).unwrap()).unwrap();
    assert!(text.starts_with(r#"{"architecture":"bert","vocab_size":100,"#), "{text}");
}

#[test]
fn the_tiny_encoders_are_understood() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let config = EncoderConfig::read(&data.join("tiny-bert/config.json")).unwrap();
    assert_eq!((config.architecture, config.hidden, config.layers), (Architecture::Bert, 32, 3));
    let config = EncoderConfig::read(&data.join("tiny-mpnet/config.json")).unwrap();
    assert_eq!((config.architecture, config.layer_norm_eps), (Architecture::Mpnet, 1e-5));
}
