//! What is learned, what counts as a program, and what is refused.

use super::*;
use crate::family::{Objective, Pair, Request, Task};
use crate::outcome::{Details, Parse, Predicted, Refused};
use spanwise_chart::budget::Meter;
use spanwise_lang::domain::NoTables;
use spanwise_nn::{AdamW, AdamWConfig, Noise, Rates};
use spanwise_reading::Cause;
use std::path::PathBuf;

const DOMAIN: &str = r#"
    name = "places"
    types = ["City", "State", "Answer"]
    root = { types = ["Answer"], wrap = "answer({})" }
    [constants]
    population = "City -> Answer"
    capital = "State -> Answer"
    [[entities]]
    class = "state"
    type = "State"
    form = "state('{name}')"
    names = ["new york", "utah"]
    [[entities]]
    class = "city"
    type = "City"
    form = "city('{name}')"
    names = ["york", "provo"]
"#;

const PAIRS: [(&str, &str); 2] = [
    ("what is the capital of utah?", "answer(capital(state('utah')))"),
    ("people in provo", "answer(population(city('provo')))"),
];

fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spanwise-nn/tests/data").join(name)
}

fn domain() -> Arc<Domain> {
    Arc::new(Domain::load(DOMAIN, "places.toml", None, &NoTables).unwrap())
}

fn build(settings: BartSettings, encoder: EncoderSource<'_>) -> Result<BartParser, BuildError> {
    let domain = domain();
    let mut terms = domain.new_terms();
    let pairs: Vec<_> = PAIRS
        .iter()
        .map(|(text, program)| Pair::new(Utterance::new(*text), terms.parse(program).unwrap()))
        .collect();
    BartParser::build(settings, Blueprint { domain, terms: &terms, pairs: &pairs, encoder, seed: 1 })
}

fn parser(name: &str, settings: BartSettings) -> BartParser {
    let directory = dir(name);
    build(settings, EncoderSource::Pretrained { directory: &directory, frozen_layers: 0 }).unwrap()
}

/// The best program, or why there is none.
fn program(parsed: Parsed) -> Result<Box<Parse>, Refused> {
    parsed.predicted.map(|predicted| match predicted {
        Predicted::Program(parse) => parse,
        Predicted::Answer(_) => panic!("it writes programs"),
    })
}

fn parse(parser: &BartParser, text: &str) -> Parsed {
    let details = Details { alternatives: 3, ..Details::default() };
    let request = Request { details, ..Request::new(Utterance::new(text)) };
    parser.parse_batch(vec![request], true).remove(0)
}

/// Trains on the pairs until they are known by heart.
fn train(parser: &mut BartParser, steps: usize) -> (f64, f64) {
    let mut terms = parser.domain.new_terms();
    let pairs: Vec<Pair> = PAIRS
        .iter()
        .map(|(text, program)| Pair::new(Utterance::new(*text), terms.parse(program).unwrap()))
        .collect();
    let tasks: Vec<Task<'_>> = pairs.iter().map(|pair| Task { pair, lower: None, weight: 1.0 }).collect();
    let mut adam = AdamW::new(AdamWConfig::default(), parser.params());
    let mut losses = Vec::new();
    for _ in 0..steps {
        let shard = Shard {
            terms: &terms,
            tasks: &tasks,
            objective: Objective::Crf,
            noise: Noise { dropout: 0.0, seed: 0 },
            scale: 0.5,
            encoder_only: false,
        };
        let found = parser.gradients(&shard);
        assert_eq!(found.n_learned, 2);
        losses.push(found.loss);
        let rates = Rates { encoder: 2e-2, head: 0.0, table: 0.0 };
        adam.step(parser.params_mut(), &found.gradients, rates);
    }
    (losses[0], losses[steps - 1])
}

#[test]
fn programs_are_learned_as_text_and_written_again() {
    for (name, trimmed) in [("tiny-bart", false), ("tiny-marian", true)] {
        let mut parser = parser(name, BartSettings { trimmed, ..BartSettings::default() });
        let (before, after) = train(&mut parser, 300);
        assert!(after < 0.3 && after < before / 100.0, "{name}: {before} {after}");
        for (text, expected) in PAIRS {
            let parsed = parse(&parser, text);
            let n_vectors = parsed.word_vectors.len();
            let parse = program(parsed).unwrap();
            assert_eq!(parser.domain.display(&parse.terms, parse.program).to_string(), expected);
            assert!(parse.posterior > 0.5 && parse.posterior <= 1.0 && parse.tree.is_none());
            let width = parser.encoder().hidden;
            assert_eq!(n_vectors, Utterance::new(text).len() * width);
            // Other texts of the beam are programs too or are left out, and none is more probable.
            assert!(parse.alternatives.iter().all(|other| other.posterior <= parse.posterior));
        }
    }
}

#[test]
fn a_beam_of_one_is_greedy() {
    let mut parser = parser("tiny-marian", BartSettings { beam: 1, ..BartSettings::default() });
    train(&mut parser, 60);
    for (text, _) in PAIRS {
        let pieces = parser.tokenizer.encode(&Utterance::new(text));
        let decoding = parser.network.read(&[&pieces]).remove(0);
        let (mut state, mut piece) = decoding.start();
        let (mut written, mut total) = (Vec::new(), 0.0);
        for _ in 0..parser.max_length {
            let (next, scores) = decoding.step(&[(&state, piece)]).remove(0);
            let allowed = (0..).zip(&scores).filter(|(at, _)| !parser.silent.contains(at));
            let (best, score) = allowed.max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
            (state, piece) = (next, best);
            total += f64::from(*score);
            if piece == parser.network.config().end {
                break;
            }
            written.push(piece);
        }
        let mut terms = parser.domain.new_terms();
        let program = terms.parse(&parser.pieces().text(&written)).ok();
        let found = self::program(parse(&parser, text)).ok();
        assert_eq!(
            found.as_ref().map(|parse| parse.terms.display(parse.program).to_string()),
            program.map(|program| terms.display(program).to_string())
        );
        assert!(found.is_none_or(|parse| (parse.posterior.ln() - total).abs() < 1e-3));
    }
}

#[test]
fn what_is_no_program_of_the_domain_is_no_reading() {
    // Without training, nothing that is written is a program.
    let parser = parser("tiny-bart", BartSettings::default());
    let refused = program(parse(&parser, "what is the capital of utah?")).unwrap_err();
    assert_eq!(refused.cause, Cause::NoProgram);
    assert!(refused.reason.contains("text"), "{}", refused.reason);
    // Only texts that parse and are well-typed count, and those of one program add up.
    let decoding = parser.network.read(&[&parser.tokenizer.encode(&Utterance::new("x"))]).remove(0);
    let writer = decode::Writer::new(&parser, decoding, Meter::unlimited());
    let found = |text: &str, probability: f64| {
        let symbols = parser.pieces().written(text).unwrap();
        crate::beam::Found { symbols, log_probability: probability.ln() }
    };
    let mut terms = parser.domain.new_terms();
    let programs = writer.programs(
        &mut terms,
        vec![
            found("answer(capital(city('provo')))", 0.4),
            found("answer(population(city('york')))", 0.2),
            found("answer(capital(state('utah'))", 0.15),
            found("answer(capital(state('utah')))", 0.125),
            found("answer( capital( state('utah')))", 0.125),
            found("answer(unknown(state('utah')))", 0.05),
        ],
    );
    let texts: Vec<_> = programs
        .iter()
        .map(|(program, log_probability)| (terms.display(*program).to_string(), log_probability.exp()))
        .collect();
    assert_eq!(texts.len(), 2);
    assert!(texts[0].0 == "answer(capital(state('utah')))" && (texts[0].1 - 0.25).abs() < 1e-9, "{texts:?}");
    assert_eq!(texts[1].0, "answer(population(city('york')))");
}

#[test]
fn an_utterance_that_is_empty_or_longer_than_all_positions_is_refused() {
    let parser = parser("tiny-marian", BartSettings::default());
    assert_eq!(program(parse(&parser, "")).unwrap_err().reason, "the utterance has no words");
    let refused = program(parse(&parser, &"what ".repeat(60))).unwrap_err();
    assert_eq!(refused.cause, Cause::TooCostly);
    assert_eq!(refused.reason, "the utterance has 61 word-pieces, the encoder takes at most 48");
    // Unknown words and characters are only unknown.
    for text in ["東京 🚀", "\u{0}", "|||", "<pad> </s>"] {
        assert_eq!(parse(&parser, text).utterance.text(), text);
    }
}

#[test]
fn a_program_that_cannot_be_written_teaches_nothing() {
    let parser = parser("tiny-marian", BartSettings::default());
    let mut terms = parser.domain.new_terms();
    let mut target = |text: &str| {
        let program = terms.parse(text).unwrap();
        parser.target(&terms, program)
    };
    assert!(target("answer(capital(state('utah')))").is_some());
    assert_eq!(target("answer(capital(state('a|b')))"), None, "no piece has this character");
    assert_eq!(target(&format!("answer(capital(state('{}')))", "long name ".repeat(10))), None, "too long");
}

#[test]
fn the_vocabulary_has_what_the_domain_needs() {
    let full = parser("tiny-marian", BartSettings { trimmed: false, ..BartSettings::default() });
    let trimmed = parser("tiny-marian", BartSettings::default());
    assert!(trimmed.tokenizer.vocab_size() < full.tokenizer.vocab_size());
    assert_eq!(trimmed.tokenizer.vocab_size(), trimmed.encoder().vocab_size);
    assert!(trimmed.params().n_trained() < full.params().n_trained());
    // `\u{2581}new` is part of a name, and no training utterance has it.
    let new = |parser: &BartParser| parser.tokenizer.encode(&Utterance::new("new")).ids.len();
    assert_eq!((new(&full), new(&trimmed)), (2, 2));
    let other = |parser: &BartParser| parser.tokenizer.encode(&Utterance::new("states")).ids.len();
    assert_eq!((other(&full), other(&trimmed)), (2, 4));
}

#[test]
fn encoders_of_another_kind_are_refused() {
    let shape = crate::Compact::default();
    let error = build(BartSettings::default(), EncoderSource::Compact { shape: &shape, dropout: 0.1 });
    assert!(error.unwrap_err().to_string().contains("tools/fetch_encoders.py marian"));
    for (name, expected) in [("tiny-bert", "`bart` or `marian`"), ("no-such-model", "config.json")] {
        let directory = dir(name);
        let source = EncoderSource::Pretrained { directory: &directory, frozen_layers: 0 };
        let error = build(BartSettings::default(), source).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    use crate::family::FamilySettings as _;
    for beam in [0, 101] {
        let error = BartSettings { beam, ..BartSettings::default() }.check().unwrap_err();
        assert!(error.contains("`model.beam`"), "{error}");
    }
    assert_eq!(BartSettings::default().check(), Ok(()));
}
