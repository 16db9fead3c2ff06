#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]
use super::*;
use proptest::prelude::*;
use serde_json::json;
use spanwise_domains::exec::Denotation;
use spanwise_domains::load::load;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

fn example(program: Option<&str>, answer: Option<&str>) -> Example {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Example { program: owned(program), answer: owned(answer), ..Example::new("words") }
}

/// The score of a predicted program, or of a missing prediction.
fn scored(evaluator: &mut Evaluator<'_>, example: &Example, program: Option<&str>) -> ScoredExample {
    let mut terms = evaluator.domain.new_terms();
    let program = program.map(|text| terms.parse(text).unwrap());
    let prediction =
        program.map(|program| Prediction { terms: &terms, program, probability: 0.5, tree: None });
    evaluator.score(example, true, prediction.as_ref(), None)
}

/// Exact, lenient and strict.
fn columns(scored: ScoredExample) -> [Option<bool>; 3] {
    [scored.exact, scored.denotation, scored.denotation_strict]
}

#[test]
fn an_answer_without_a_program_is_compared_with_the_gold_denotation_and_never_exact() {
    let domain = load("scan").unwrap();
    let mut evaluator = Evaluator::new(&domain, None).unwrap();
    let gold = example(Some("i_twice(i_walk())"), Some("not looked at"));
    let mut score = |example: &Example, answer: Option<&str>| {
        let scored = evaluator.score_answer(example, answer.map(|answer| (answer, 0.75)));
        assert_eq!((scored.found, scored.covered), (answer.is_some(), false));
        assert_eq!(scored.probability, if answer.is_some() { 0.75 } else { 0.0 });
        columns(scored)
    };
    assert_eq!(score(&gold, Some("I_WALK I_WALK")), [None, Some(true), Some(true)]);
    assert_eq!(score(&gold, Some("I_WALK")), [None, Some(false), Some(false)]);
    assert_eq!(score(&gold, None), [None, Some(false), Some(false)]);
    // Without a program, the answer of the example counts; without both, nothing is known.
    assert_eq!(score(&example(None, Some("yes")), Some("yes")), [None, Some(true), Some(true)]);
    assert_eq!(score(&example(None, Some("[]")), Some("[]")), [None, Some(true), Some(false)]);
    assert_eq!(score(&example(None, None), Some("yes")), [None; 3]);
    let mut without = Evaluator::with_executor(&domain, None);
    assert_eq!(without.score_answer(&gold, Some(("not looked at", 1.0))).denotation, Some(true));
    assert_eq!(
        without.score_answer(&example(gold.program.as_deref(), None), Some(("", 1.0))).denotation,
        None
    );
}

const LAKES: &str = "answer(lake(loc_2(stateid('texas'))))";

#[cfg(feature = "geo")]
#[test]
fn an_empty_prediction_equals_an_empty_answer_leniently_but_not_strictly() {
    let domain = load("geo").unwrap();
    let mut evaluator = Evaluator::new(&domain, None).unwrap();
    let gold = example(Some(LAKES), None);
    let other = scored(&mut evaluator, &gold, Some("answer(lake(loc_2(stateid('ohio'))))"));
    assert_eq!(columns(other), [Some(false), Some(true), Some(false)]);
    let same = scored(&mut evaluator, &gold, Some("answer ( lake ( loc_2 ( stateid ( 'texas' ) ) ) )"));
    assert_eq!(columns(same), [Some(true); 3]);
    let full = example(Some("answer(capital_1(stateid('texas')))"), None);
    assert_eq!(columns(scored(&mut evaluator, &full, Some(LAKES))), [Some(false); 3]);
}

#[cfg(feature = "geo")]
#[test]
fn a_missing_prediction_is_wrong_even_where_the_answer_is_empty() {
    let domain = load("geo").unwrap();
    let mut evaluator = Evaluator::new(&domain, None).unwrap();
    let missing = scored(&mut evaluator, &example(Some(LAKES), None), None);
    assert_eq!((columns(missing), missing.found, missing.probability), ([Some(false); 3], false, 0.0));
}

#[cfg(feature = "geo")]
#[test]
fn another_program_with_the_same_answer_has_the_gold_denotation() {
    let domain = load("geo").unwrap();
    let mut evaluator = Evaluator::new(&domain, None).unwrap();
    let gold = example(Some("answer(capital_1(stateid('texas')))"), None);
    let other = scored(&mut evaluator, &gold, Some("answer(capital(loc_2(stateid('texas'))))"));
    assert_eq!(columns(other), [Some(false), Some(true), Some(true)]);
}

#[test]
fn the_answer_is_used_if_there_is_no_gold_program() {
    let domain = load("scan").unwrap();
    let mut evaluator = Evaluator::new(&domain, None).unwrap();
    let gold = example(None, Some("I_TURN_LEFT I_WALK"));
    assert_eq!(
        columns(scored(&mut evaluator, &gold, Some("i_walk(i_left)"))),
        [None, Some(true), Some(true)]
    );
    assert_eq!(
        columns(scored(&mut evaluator, &gold, Some("i_walk(i_right)"))),
        [None, Some(false), Some(false)]
    );
    assert_eq!(columns(scored(&mut evaluator, &example(None, None), Some("i_walk()"))), [None; 3]);
}

#[cfg(feature = "geo")]
#[test]
fn without_an_executor_or_a_scene_denotations_are_unknown() {
    let domain = load("geo").unwrap();
    let mut evaluator = Evaluator::with_executor(&domain, None);
    let gold = example(Some(LAKES), None);
    assert_eq!(columns(scored(&mut evaluator, &gold, Some(LAKES))), [Some(true), None, None]);
    let domain = load("clevr").unwrap();
    let mut evaluator = Evaluator::new(&domain, None).unwrap();
    let gold = example(Some("count(filter(red, scene()))"), None);
    let wrong = scored(&mut evaluator, &gold, Some("count(filter(blue, scene()))"));
    assert_eq!(columns(wrong), [Some(false), None, None]);
    let report = Report::new(&[wrong]);
    assert_eq!((report.exact_match, report.n_denotation, report.denotation), (Some(0.0), 0, None));
}

#[cfg(feature = "geo")]
#[test]
fn no_prediction_matches_a_gold_program_that_cannot_be_read() {
    let domain = load("geo").unwrap();
    let mut evaluator = Evaluator::new(&domain, None).unwrap();
    let gold = example(Some("answer((("), None);
    assert_eq!(columns(scored(&mut evaluator, &gold, Some(LAKES))), [Some(false), None, None]);
    assert_eq!(columns(scored(&mut evaluator, &gold, None)), [Some(false), None, None]);
}

/// An executor that returns the program itself, and counts its calls.
struct Counting(AtomicUsize);

impl Executor for Counting {
    fn execute(&self, terms: &Terms, program: TermId, _: Option<&Value>) -> Result<Denotation, ExecError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Denotation::value(terms.display(program).to_string()))
    }
}

#[cfg(feature = "geo")]
#[test]
fn no_program_is_evaluated_twice_without_a_context() {
    let domain = load("geo").unwrap();
    let executor = Arc::new(Counting(AtomicUsize::new(0)));
    let mut evaluator = Evaluator::with_executor(&domain, Some(executor.clone()));
    let other = "answer(lake(all))";
    for program in [Some(LAKES), Some(other), Some(LAKES), Some(other), None] {
        let found = scored(&mut evaluator, &example(Some(LAKES), None), program);
        assert_eq!(found.denotation, Some(program == Some(LAKES)));
    }
    assert_eq!(executor.0.load(Ordering::Relaxed), 2);
    let scene = Example { context: Some(json!({})), ..example(Some(LAKES), None) };
    scored(&mut evaluator, &scene, Some(LAKES));
    assert_eq!(executor.0.load(Ordering::Relaxed), 3);
}

#[test]
fn evaluators_can_be_handed_to_threads() {
    fn check<T: Send + Clone>(_: &T) {}
    let domain = load("scan").unwrap();
    check(&Evaluator::new(&domain, None).unwrap());
}

#[test]
fn gold_programs_are_correct_by_every_metric() {
    let files = [
        #[cfg(feature = "geo")]
        ("geo", "geo/splits/test.json"),
        ("scan", "scan_sp/dev_right.json"),
        ("clevr", "clevr/test_closure.jsonl"),
    ];
    for (name, file) in files {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(file);
        if !path.exists() {
            let _ = writeln!(std::io::stderr(), "SKIPPED: {file} of the benchmark data is not here");
            return;
        }
        let domain = load(name).unwrap();
        let mut evaluator = Evaluator::new(&domain, None).unwrap();
        let examples = spanwise_domains::data::open(&path).unwrap().map(Result::unwrap).take(600);
        let found: Vec<ScoredExample> = examples
            .map(|example| {
                let program = example.program.clone();
                scored(&mut evaluator, &example, program.as_deref())
            })
            .collect();
        let report = Report::new(&found);
        assert_eq!(report.n_denotation, report.n, "{name}");
        let shares = [report.exact_match, report.denotation, report.denotation_strict, report.coverage];
        assert_eq!((shares, report.no_parse), ([Some(100.0); 4], Some(0.0)), "{name}");
    }
}

#[test]
fn a_report_of_no_examples_has_no_metrics() {
    assert_eq!(Report::new(&[]), Report::default());
    assert_eq!(Report::default().to_json()["exact_match"], Value::Null);
}

#[test]
fn a_report_averages_each_metric_over_the_examples_that_allow_it() {
    let right = ScoredExample {
        exact: Some(true),
        denotation: Some(true),
        denotation_strict: Some(true),
        covered: true,
        found: true,
        probability: 0.95,
        tree: Some(TreeCounts { matched: 3, predicted: 4, gold: 3 }),
        one_tree: true,
        tree_any: Some(TreeCounts { matched: 4, predicted: 4, gold: 4 }),
    };
    let unknown = ScoredExample { denotation: None, denotation_strict: None, ..right };
    let missing = ScoredExample {
        exact: Some(false),
        denotation: Some(false),
        denotation_strict: Some(false),
        tree: Some(TreeCounts { matched: 0, predicted: 0, gold: 5 }),
        tree_any: Some(TreeCounts { matched: 0, predicted: 0, gold: 4 }),
        ..ScoredExample::default()
    };
    let only_answer =
        ScoredExample { exact: None, covered: false, tree: None, one_tree: false, tree_any: None, ..right };
    let report = Report::new(&[right, unknown, missing, only_answer]);
    expect_test::expect![[r#"
        {
          "n": 4,
          "exact_match": 66.66666666666667,
          "n_denotation": 3,
          "denotation": 66.66666666666667,
          "denotation_strict": 66.66666666666667,
          "coverage": 66.66666666666667,
          "no_parse": 25.0,
          "ece": 0.03750000000000009,
          "risk_at_80": 25.0,
          "risk_at_90": 25.0,
          "risk_at_95": 25.0,
          "n_trees": 3,
          "tree_f1": 63.1578947368421,
          "tree_f1_one_tree": 85.71428571428571,
          "n_trees_any": 3,
          "tree_f1_any": 80.0
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&Value::Object(report.to_json())).unwrap());
}

#[test]
fn overconfident_and_underconfident_predictions_have_a_calibration_error() {
    let ece = |points: &[(f64, bool)]| Calibration::new(points.iter().copied()).ece().unwrap();
    assert!((ece(&[(0.9, true); 7]) - 0.1).abs() < 1e-12);
    assert!((ece(&[(1.0, false); 7]) - 1.0).abs() < 1e-12);
    assert_eq!(ece(&[(0.0, false), (1.0, true), (f64::NAN, false), (7.0, true)]), 0.0);
}

#[test]
fn risk_falls_with_coverage_if_errors_are_the_least_probable() {
    let points = (0..10).map(|n| (1.0 - f64::from(n) / 10.0, n < 8));
    let calibration = Calibration::new(points);
    let risk = |coverage| calibration.risk_at(coverage).unwrap();
    assert_eq!([80.0, 90.0, 100.0].map(risk), [0.0, 100.0 / 9.0, 20.0]);
}

#[test]
fn equally_probable_predictions_share_the_risk() {
    let calibration = Calibration::new([(0.5, true), (0.5, false), (0.5, true), (0.5, true)]);
    assert_eq!(calibration.risk_at(50.0), Some(25.0));
}

fn points() -> impl Strategy<Value = Vec<(f64, bool)>> {
    let probability = prop_oneof![0.0..=1.0, Just(0.5), Just(f64::NAN)];
    prop::collection::vec((probability, any::<bool>()), 1..40)
}

proptest! {
    #[test]
    fn predictions_that_are_correct_as_often_as_predicted_have_no_calibration_error(
        groups in prop::collection::vec((1u32..30, 0u32..30), 1..8),
    ) {
        let mut points = Vec::new();
        for (n, right) in groups {
            let right = right.min(n);
            points.extend((0..n).map(|at| (f64::from(right) / f64::from(n), at < right)));
        }
        prop_assert!(Calibration::new(points).ece().unwrap() < 1e-9);
    }

    #[test]
    fn calibration_does_not_depend_on_the_order(mut points in points(), coverage in 0.0..=100.0) {
        let first = Calibration::new(points.clone());
        points.reverse();
        let second = Calibration::new(points.clone());
        prop_assert_eq!(first.risk_at(coverage), second.risk_at(coverage));
        prop_assert!((first.ece().unwrap() - second.ece().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn calibration_stays_within_bounds(points in points(), coverage in 0.0..=100.0) {
        let calibration = Calibration::new(points.clone());
        prop_assert!((0.0..=1.0).contains(&calibration.ece().unwrap()));
        prop_assert!((0.0..=100.0 + 1e-9).contains(&calibration.risk_at(coverage).unwrap()));
        let wrong = points.iter().filter(|(_, right)| !right).count();
        let all = 100.0 * wrong as f64 / points.len() as f64;
        prop_assert!((calibration.risk_at(100.0).unwrap() - all).abs() < 1e-9);
    }
}
