//! What a Rust program does: load a model, parse, look at the outcome.

use crate::support;
use spanwise::{Config, Details, ModelError, Outcome, Parser, Question, Utterance, train};
use std::fs;
use std::ops::ControlFlow;

/// Everything about an outcome that a program can see.
fn seen(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Nothing { reason, .. } => reason.clone(),
        Outcome::Answered(answered) => answered.answer.clone(),
        Outcome::Found(parse) => {
            let programs: Vec<String> = std::iter::once(parse.program)
                .chain(parse.alternatives.iter().map(|other| other.program))
                .map(|program| parse.terms.display(program).to_string())
                .collect();
            let numbers: Vec<u64> = std::iter::once(parse.probability)
                .chain(parse.alternatives.iter().map(|other| other.probability))
                .chain(parse.provenance.iter().map(|word| word.probability))
                .map(f64::to_bits)
                .collect();
            format!("{programs:?} {numbers:?} {:?} {:?}", parse.score.to_bits(), parse.tree)
        }
    }
}

#[test]
fn a_trained_model_parses_the_same_after_loading() {
    let directory = tempfile::tempdir().unwrap();
    support::write_lamps(directory.path()).unwrap();
    let config = Config::read(directory.path().join("run.toml").to_str().unwrap(), &[]).unwrap();
    let out = directory.path().join("model");
    let watch = &mut |_: spanwise::Event<'_>| ControlFlow::Continue(());
    let trained = train(&config, directory.path(), None, &out, false, watch).unwrap();
    let loaded = Parser::load(&out).unwrap();

    let details = Details { alternatives: 2, provenance: true, chart: false, rival: false };
    for text in ["turn on the hall lamp", "kill the cellar light", "blink the desk lamp three times", "?", ""]
    {
        let [before, after] =
            [&trained.parser, &loaded].map(|parser| parser.parse_with(Utterance::new(text), details));
        assert_eq!(seen(&before), seen(&after), "{text}");
    }
    let outcome = loaded.parse("turn on the spare room lamp");
    let parse = outcome.parse().unwrap();
    assert_eq!(parse.terms.display(parse.program).to_string(), "do(on(lamp('guest room')))");
    assert!(parse.probability > 0.5);
    // Lamps have no executor.
    assert!(loaded.execute(&parse.terms, parse.program, None).is_none());
}

#[test]
fn a_directory_without_a_model_is_an_error_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let error = Parser::load(directory.path()).err().unwrap();
    assert!(matches!(error, ModelError::Missing { .. }));
    assert!(error.to_string().contains("is not a model directory"));
}

#[test]
fn a_misspelt_word_that_may_be_one_of_two_is_asked_about() {
    let directory = tempfile::tempdir().unwrap();
    support::write_lamps(directory.path()).unwrap();
    let table = directory.path().join("lamps.tsv");
    let names = fs::read_to_string(&table).unwrap() + "barn\t\nbark\t\n";
    fs::write(&table, names).unwrap();
    let config = Config::read(directory.path().join("run.toml").to_str().unwrap(), &[]).unwrap();
    let watch = &mut |_: spanwise::Event<'_>| ControlFlow::Continue(());
    let trained =
        train(&config, directory.path(), None, &directory.path().join("model"), false, watch).unwrap();

    let clear = trained.parser.read(&Question::new("turn on the kitchn lamp"));
    assert_eq!(clear.program.as_deref(), Some("do(on(lamp('kitchen')))"));
    let tied = trained.parser.read(&Question::new("turn on the barx lamp"));
    assert_eq!((&tied.program, tied.cause), (&None, Some(spanwise::reading::Cause::Ambiguous)));
    let asked = tied.clarification.unwrap();
    assert!(asked.question.contains("`barn`") && asked.question.contains("`bark`"), "{}", asked.question);
    let mut choices = asked.choices;
    choices.sort();
    assert_eq!(choices, ["turn on the bark lamp", "turn on the barn lamp"]);
}
