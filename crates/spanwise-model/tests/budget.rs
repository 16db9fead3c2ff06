//! Bounded work per utterance: what would cost too much has an outcome that says so, and nothing else changes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_core::Utterance;
use spanwise_model::families::chart::ChartSettings;
use spanwise_model::families::paper::PaperSettings;
use spanwise_model::{
    Blueprint, Budget, Compact, Details, EncoderSource, FamilySettings, Model, Outcome, Parser, Question,
    Request,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const TOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spanwise-train/tests/toy/lamps.toml");

/// A model with random weights.
fn model(domain: &str, settings: &dyn FamilySettings) -> Model {
    let domain = Arc::new(spanwise_domains::load::load(domain).unwrap());
    let terms = domain.new_terms();
    let shape =
        Compact { hidden: 16, layers: 1, heads: 2, intermediate: 32, ngram_buckets: 16, min_count: 1 };
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.1 };
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &[], encoder, seed: 1 };
    Model::new(domain, settings.build(blueprint).unwrap(), None)
}

fn chart() -> ChartSettings {
    ChartSettings { hidden: 16, rare_below: 0, ..ChartSettings::default() }
}

fn parse(model: &Model, text: &str, budget: Budget) -> Outcome {
    let details = Details { alternatives: 3, provenance: true, chart: true, rival: false };
    let request = Request { details, budget, ..Request::new(Utterance::new(text)) };
    model.parse_requests(vec![request]).pop().unwrap()
}

fn reason(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Nothing { reason, .. } => reason,
        _ => panic!("there is a program"),
    }
}

#[test]
fn what_exceeds_its_budget_has_no_program_and_the_reason_says_which_limit() {
    let model = model(TOY, &chart());
    let text = "turn on the hall lamp";
    let with = |budget: Budget| reason(&parse(&model, text, budget)).to_owned();
    let work = with(Budget { work: 100, ..Budget::UNLIMITED });
    assert!(work.contains("too long and too ambiguous: 5 words have "), "{work}");
    assert!(work.contains("readings") && work.contains("the limit on work"), "{work}");
    let memory = with(Budget { bytes: 100, ..Budget::UNLIMITED });
    assert!(memory.contains("the limit on memory"), "{memory}");
    let late = with(Budget { deadline: Some(Instant::now()), ..Budget::UNLIMITED });
    assert!(late.contains("the deadline"), "{late}");
    let flag = Some(Arc::new(AtomicBool::new(true)));
    let cancelled = with(Budget { cancelled: flag, ..Budget::UNLIMITED });
    assert!(cancelled.contains("a request to stop"), "{cancelled}");
    let beam = self::model(TOY, &PaperSettings { hidden: 16, ..PaperSettings::default() });
    let work = reason(&parse(&beam, text, Budget { work: 100, ..Budget::UNLIMITED })).to_owned();
    assert!(work.contains("too long and too ambiguous") && work.contains("the limit on work"), "{work}");
}

#[test]
fn a_budget_that_suffices_changes_nothing() {
    let model = model(TOY, &chart());
    for text in ["turn on the hall lamp", "blink the desk twice and light the guest room"] {
        let (free, bounded) =
            (parse(&model, text, Budget::UNLIMITED), parse(&model, text, Budget::default()));
        match (free, bounded) {
            (Outcome::Found(free), Outcome::Found(bounded)) => {
                assert_eq!(free.score, bounded.score);
                assert_eq!((free.posterior, &free.provenance), (bounded.posterior, &bounded.provenance));
                assert_eq!((&free.spans, &free.alternatives), (&bounded.spans, &bounded.alternatives));
            }
            (free, bounded) => assert_eq!(reason(&free), reason(&bounded)),
        }
    }
}

#[test]
fn an_utterance_that_is_refused_takes_nothing_from_its_batch() {
    let parser = Parser::new(model(TOY, &chart()), None);
    let long = "blink on the hall ".repeat(1_200);
    let texts = ["turn on the hall lamp", &long, "light the guest room"];
    let questions: Vec<Question<'_>> = texts.iter().map(|text| Question::new(*text)).collect();
    let together = parser.read_batch(&questions);
    assert!(together[1].program.is_none() && together[1].reason.is_some());
    for (question, reading) in questions.iter().zip(&together) {
        assert_eq!(parser.read(question).program, reading.program);
        assert_eq!(parser.read(question).reason, reading.reason);
    }
}

/// Before there were budgets, this took minutes and gigabytes.
#[cfg(feature = "geo")]
#[test]
fn two_hundred_times_the_same_word_are_refused_at_once() {
    let parser = Parser::new(model("geo", &chart()), None);
    let question = Question::new("state ".repeat(200));
    assert_eq!(parser.estimated_time(&question), Duration::ZERO);
    let reason = parser.read(&question).reason.unwrap();
    assert!(reason.contains("too long and too ambiguous: 200 words have "), "{reason}");
    let short = Question::new("what state borders the most states");
    assert!(parser.estimated_time(&short) < Duration::from_millis(100));
}

#[test]
fn an_utterance_of_thousands_of_words_is_refused_before_memory_is_reserved() {
    let beam = model(TOY, &PaperSettings { hidden: 16, ..PaperSettings::default() });
    let outcome = parse(&beam, &"hall ".repeat(4_900), Budget::default());
    assert!(reason(&outcome).contains("too long"), "{}", reason(&outcome));
    let chart = model(TOY, &chart());
    let outcome = parse(&chart, &"please ".repeat(4_900), Budget::default());
    assert!(!reason(&outcome).is_empty());
}
