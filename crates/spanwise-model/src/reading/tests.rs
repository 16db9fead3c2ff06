//! Readings of a model of SCAN with random weights: what it finds does not matter, what it reports does.

use super::withheld::{rounded_down, withheld};
use super::*;
use crate::families::chart::ChartSettings;
use crate::outcome::{Guessed, Rival};
use crate::{Blueprint, Compact, EncoderSource, FamilySettings as _, Model, Pair};
use spanwise_domains::exec::{ExecError, Executor};
use spanwise_domains::scan::ScanExecutor;
use spanwise_reading::{AnswerInfo, Cause};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const TEXT: &str = "Walk left twice";

fn model() -> Model {
    let domain = Arc::new(spanwise_domains::load::load("scan").unwrap());
    let mut terms = domain.new_terms();
    let program = terms.parse("i_twice(i_walk(i_left))").unwrap();
    let pairs = [Pair::new(Utterance::new(TEXT), program)];
    let shape =
        Compact { hidden: 16, layers: 1, heads: 2, intermediate: 32, ngram_buckets: 16, min_count: 1 };
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.1 };
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &pairs, encoder, seed: 1 };
    let settings = ChartSettings { hidden: 16, rare_below: 0, ..ChartSettings::default() };
    Model::new(domain, settings.build(blueprint).unwrap(), None)
}

/// Counts the programs that are evaluated, and fails on all but the first `n_good`.
struct Counting {
    n_evaluated: Arc<AtomicUsize>,
    n_good: usize,
}

impl Executor for Counting {
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
    ) -> Result<Denotation, ExecError> {
        if self.n_evaluated.fetch_add(1, Ordering::SeqCst) >= self.n_good {
            return Err(ExecError::NoValue("no value,\n  in two lines".to_owned()));
        }
        let info = AnswerInfo { total_rows: Some(7), ..AnswerInfo::default() };
        Ok(ScanExecutor::new().execute(terms, program, context)?.with_info(info))
    }

    fn explain(&self, terms: &Terms, program: TermId) -> Option<String> {
        Some(format!("select {}", terms.head_text(program)))
    }
}

fn counting(n_good: usize) -> (Parser, Arc<AtomicUsize>) {
    let n_evaluated = Arc::new(AtomicUsize::new(0));
    let executor = Counting { n_evaluated: Arc::clone(&n_evaluated), n_good };
    (Parser::new(model(), Some(Box::new(executor))), n_evaluated)
}

#[test]
fn a_reading_has_program_tree_answer_alternatives_and_tokens() {
    let (parser, n_evaluated) = counting(9);
    let question =
        Question { alternatives: 2, execute_alternatives: true, chart: true, ..Question::new(TEXT) };
    let reading = parser.read(&question);
    assert_eq!(reading.utterance, TEXT);
    let (program, tree) = (reading.program.as_ref().unwrap(), reading.tree.as_ref().unwrap());
    let root = tree.root().unwrap();
    assert_eq!((&root.program, root.words.as_str(), root.span), (&reading.program, TEXT, [0, 3]));
    assert_eq!(root.probability, reading.probability);
    assert!(reading.lines.as_ref().unwrap().starts_with(program.split(' ').next().unwrap()));
    assert!(root.r#type.is_some() && reading.posterior.is_some() && reading.in_domain == Some(1.0));
    let Some(Answer::List(actions)) = &reading.answer else { panic!("{reading:?}") };
    assert_eq!(actions.len(), reading.denotation.as_ref().unwrap().split(' ').count());

    // What the executor says beside the answer.
    assert_eq!(reading.answer_info.total_rows, Some(7));
    assert_eq!(reading.sql, program.split('(').next().map(|head| format!("select {}", head.trim())));
    assert!(reading.alternatives.iter().all(|other| other.answer_info.total_rows == Some(7)));

    assert_eq!(reading.alternatives.len(), 2);
    assert!(reading.alternatives.iter().all(|other| other.answer.is_some() && other.program != *program));
    assert_eq!(n_evaluated.load(Ordering::SeqCst), 3);

    let texts: Vec<&str> = reading.tokens.iter().map(|token| token.text.as_str()).collect();
    assert_eq!(texts, ["Walk", "left", "twice"]);
    assert_eq!((reading.tokens[1].start, reading.tokens[1].end), (5, 9));
    assert!(reading.tokens.iter().all(|token| token.span.is_some() && token.probability.is_some()));
    assert!(!reading.chart.as_ref().unwrap().is_empty());
    assert!(reading.reason.is_none() && reading.guess.is_none() && reading.error.is_none());
}

#[test]
fn a_reading_survives_a_round_trip_through_json() {
    let (parser, _) = counting(1);
    let reading = parser.read(&Question { alternatives: 3, chart: true, ..Question::new(TEXT) });
    let text = serde_json::to_string(&reading).unwrap();
    assert_eq!(serde_json::from_str::<Reading>(&text).unwrap(), reading);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["tree"]["program"], value["program"]);
    assert_eq!(value["tree"]["category"], "join");
}

#[test]
fn a_withheld_answer_is_a_guess_with_a_reason_and_is_not_evaluated() {
    let (parser, n_evaluated) = counting(9);
    let told = parser.read(&Question::new(TEXT));
    assert_eq!(n_evaluated.swap(0, Ordering::SeqCst), 1);
    let question =
        Question { alternatives: 2, withhold: Withhold::Below(1.1), chart: true, ..Question::new(TEXT) };
    let withheld = parser.read(&question);
    assert_eq!(n_evaluated.load(Ordering::SeqCst), 0);
    assert!(withheld.program.is_none() && withheld.lines.is_none() && withheld.tree.is_none());
    assert!(withheld.answer.is_none() && withheld.denotation.is_none() && withheld.probability.is_none());
    assert!(withheld.alternatives.is_empty() && withheld.sql.is_none() && withheld.answer_info.is_empty());
    assert!(withheld.tokens.iter().all(|token| token.constant.is_none() && token.span.is_none()));
    let guess = withheld.guess.unwrap();
    assert_eq!((guess.program, Some(guess.probability)), (told.program, told.probability));
    assert!(guess.answer.is_none());
    let reason = withheld.reason.unwrap();
    assert!(reason.contains("(probability 0.") && reason.ends_with("the threshold is 1.1)"), "{reason}");
    assert!(withheld.chart.is_some());
}

#[test]
fn only_programs_whose_value_is_wanted_are_evaluated() {
    let (parser, n_evaluated) = counting(9);
    for (execute, execute_alternatives, expected) in
        [(true, false, 1), (true, true, 3), (false, false, 0), (false, true, 0)]
    {
        let question = Question { alternatives: 2, execute, execute_alternatives, ..Question::new(TEXT) };
        let reading = parser.read(&question);
        assert_eq!(n_evaluated.swap(0, Ordering::SeqCst), expected);
        assert_eq!(reading.answer.is_some(), execute);
        assert_eq!((reading.program.is_some(), reading.alternatives.len()), (true, 2));
        let n_answers = reading.alternatives.iter().filter(|other| other.answer.is_some()).count();
        assert_eq!(n_answers, expected.saturating_sub(1));
        assert!(reading.error.is_none() && reading.note.is_none());
    }
}

#[test]
fn a_model_without_an_executor_has_programs_and_no_answers() {
    let parser = Parser::new(model(), None);
    let reading = parser.read(&Question { alternatives: 1, ..Question::new(TEXT) });
    assert!(reading.program.is_some() && reading.tree.is_some());
    assert!(reading.answer.is_none() && reading.denotation.is_none());
    assert!(reading.error.is_none() && reading.chart.is_none());
    assert!(reading.alternatives.iter().all(|other| other.answer.is_none() && other.denotation.is_none()));
}

#[test]
fn a_program_without_a_value_has_an_error_on_one_line() {
    let (parser, _) = counting(0);
    let reading = parser.read(&Question::new(TEXT));
    assert!(reading.program.is_some() && reading.answer.is_none() && reading.denotation.is_none());
    assert_eq!(reading.error.as_deref(), Some("no value, in two lines"));
}

#[test]
fn an_utterance_without_words_has_a_reason_and_nothing_else() {
    let parser = Parser::new(model(), None);
    let expected = Reading {
        utterance: " ".to_owned(),
        reason: Some("the utterance has no words".to_owned()),
        cause: Some(Cause::NoProgram),
        ..Reading::default()
    };
    assert_eq!(parser.read(&Question::new(" ")), expected);
}

#[test]
fn a_batch_is_read_in_order_whatever_each_question_requests() {
    let parser = Parser::new(model(), Some(Box::new(ScanExecutor::new())));
    let question = |text: &str, alternatives, chart| Question { alternatives, chart, ..Question::new(text) };
    let questions = [
        question("walk left", 2, false),
        question("", 0, false),
        question(TEXT, 0, true),
        question("left walk twice", 2, false),
    ];
    let batch = parser.read_batch(&questions);
    for (question, reading) in questions.iter().zip(&batch) {
        let alone = parser.read(question);
        assert_eq!((&reading.utterance, &reading.program), (&alone.utterance, &alone.program));
        assert_eq!(reading.chart.is_some(), question.chart);
        assert!(reading.alternatives.len() <= question.alternatives);
    }
}

#[test]
fn a_probability_just_below_the_threshold_is_written_as_lower() {
    assert_eq!(rounded_down(0.493, 0.5), "0.49");
    assert_eq!(rounded_down(0.4999, 0.5), "0.4999");
    assert_eq!(rounded_down(0.049_999_9, 0.05), "0.0499999");
}

/// A parse to change.
fn parsed() -> (Model, Parse) {
    let model = model();
    let Outcome::Found(parse) = model.parse(Utterance::new(TEXT), Details::default()) else {
        panic!("no parse")
    };
    (model, *parse)
}

#[test]
fn two_programs_that_are_equally_likely_are_asked_about_however_probable() {
    let (model, mut parse) = parsed();
    (parse.probability, parse.posterior) = (0.52, 0.5);
    parse.rival = Some(Rival { program: parse.program, posterior: 0.4 });
    assert!(!parse.must_ask());
    parse.rival = Some(Rival { program: parse.program, posterior: 0.5 });
    assert!(parse.must_ask());
    let asked = withheld(&model.domain, &parse, 0.5);
    assert_eq!((asked.cause, asked.reason.as_str()), (Cause::Ambiguous, "two readings are about as likely"));
    assert_eq!(asked.clarification.unwrap().choices.len(), 2);
}

#[test]
fn a_reason_names_the_words_that_are_guessed_and_says_what_an_utterance_resembles() {
    let (model, mut parse) = parsed();
    parse.probability = 0.3;
    let reason = |parse: &Parse| {
        let found = withheld(&model.domain, parse, 0.5);
        (found.cause, found.reason)
    };
    assert_eq!(reason(&parse).0, Cause::Unsure);
    parse.answerable = -1.0;
    let (cause, text) = reason(&parse);
    assert_eq!(cause, Cause::Unanswerable);
    assert!(text.starts_with("it resembles questions that cannot be answered (probability 0.30"), "{text}");
    let constant = ConstantId(0);
    parse.guessed = vec![Guessed { span: Span::new(0, 1), constant }];
    let (cause, text) = reason(&parse);
    assert_eq!(cause, Cause::UnknownWords);
    let meaning = &model.domain.constants()[constant].name;
    assert!(text.starts_with(&format!("it is only a guess that `Walk` means `{meaning}`")), "{text}");
}

/// A model with random weights that was made for one pair.
fn untrained(
    source: &str,
    pair: [&str; 2],
    family: impl Fn(Blueprint<'_>) -> Box<dyn crate::Family>,
) -> Model {
    let domain = Domain::load(source, "lamps.toml", None, &spanwise_lang::domain::NoTables).unwrap();
    let domain = Arc::new(domain);
    let mut terms = domain.new_terms();
    let pairs = [Pair::new(Utterance::new(pair[0]), terms.parse(pair[1]).unwrap())];
    let shape =
        Compact { hidden: 16, layers: 1, heads: 2, intermediate: 32, ngram_buckets: 16, min_count: 1 };
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.0 };
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &pairs, encoder, seed: 1 };
    Model::new(domain, family(blueprint), None)
}

/// A parser of a domain with these phrases. The lexicon has one word of `switch on`.
fn lamps(phrases: &str, family: impl Fn(Blueprint<'_>) -> Box<dyn crate::Family>) -> Parser {
    let source = format!(
        "name = 'lamps'\ntypes = ['Lamp', 'Action']\nroot = {{ types = ['Action'] }}\n\
         lexicon = {{ on = 'on', hall = 'hall' }}\n{phrases}\n[constants]\non = 'Lamp -> Action'\nhall = 'Lamp'\n"
    );
    let mut model = untrained(&source, ["switch on hall", "on(hall)"], family);
    let counts = ["switch", "on", "hall"].map(|word| (word.to_owned(), [9, 0]));
    model.confidence.words = crate::confidence::WordCounts::from_parts(counts.into(), Default::default());
    Parser::new(model, None)
}

#[test]
fn a_literal_that_the_program_takes_is_not_among_the_unknown_words_unless_it_can_be_any_text() {
    let percent = "kind = 'quantity'\nmeasure = 'percent'\nform = 'percent({number})'";
    let text = "kind = 'text'\nmax_words = 4\nform = \"text('{value}')\"";
    let unknown = |literal: &str, utterance: &str, program: &str| {
        let source = format!(
            "name = 'lamps'\ntypes = ['Value', 'Action']\nroot = {{ types = ['Action'] }}\nlanguage = 'english'\n\
             lexicon = {{ dim = 'dim' }}\n[constants]\ndim = 'Value -> Action'\n\
             [[literals]]\nclass = 'value'\ntype = 'Value'\n{literal}\n"
        );
        let chart = ChartSettings { hidden: 16, rare_below: 0, ..ChartSettings::default() };
        let family = |blueprint: Blueprint<'_>| chart.build(blueprint).unwrap();
        let mut model = untrained(&source, [utterance, program], family);
        // Without prototypes, every word that counts is far from all of them.
        let scale = crate::confidence::Scale { center: 1.0, width: 0.1 };
        let (prototypes, vocabulary) = Default::default();
        let novelty = crate::confidence::Novelty { width: 16, prototypes, scale, vocabulary };
        model.confidence.novelty = Some(novelty);
        let reading = Parser::new(model, None).read(&Question::new(utterance));
        assert_eq!(reading.program.as_deref(), Some(program));
        reading.unknown_words
    };
    assert_eq!(unknown(percent, "dim twelve percent", "dim(percent(12))"), ["dim"]);
    assert_eq!(unknown(text, "dim boiled eggs", "dim(text('boiled eggs'))"), ["dim", "boiled", "eggs"]);
}

#[test]
fn a_tree_that_is_shown_has_whole_phrases_and_the_program_is_as_probable_as_without() {
    use crate::families::paper::PaperSettings;
    let chart = ChartSettings { hidden: 16, rare_below: 0, ..ChartSettings::default() };
    let paper = PaperSettings { hidden: 16, ..PaperSettings::default() };
    let families: [&dyn crate::FamilySettings; 2] = [&chart, &paper];
    for family in families {
        let parser = |phrases: &str| lamps(phrases, |blueprint| family.build(blueprint).unwrap());
        let read = |phrases: &str| parser(phrases).read(&Question::new("switch on hall"));
        let (plain, whole) = (read(""), read("phrases = { on = 'switch on' }"));
        let constants = |reading: &Reading| {
            let nodes = reading.tree.as_ref().unwrap().nodes.iter();
            let constants = nodes.filter(|node| node.kind == NodeKind::Constant);
            constants.map(|node| node.words.clone()).collect::<Vec<_>>()
        };
        assert_eq!(constants(&plain), ["on", "hall"]);
        assert_eq!(constants(&whole), ["switch on", "hall"]);
        assert_eq!((&plain.program, plain.score), (&whole.program, whole.score));
        assert_eq!((plain.probability, plain.posterior), (whole.probability, whole.posterior));
        // A word that the tree has is not shown as one that is left out.
        assert!(plain.tokens[0].unread && plain.unread[0].words == "switch");
        assert!(!whole.tokens[0].unread && whole.unread.is_empty());
        assert_eq!(whole.tokens[0].constant.as_deref(), Some("on"));
        assert!(whole.tokens[0].probability >= plain.tokens[1].probability);
    }
}
