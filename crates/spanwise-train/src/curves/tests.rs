use super::*;
use expect_test::{expect, expect_file};
use proptest::prelude::*;

fn row(epoch: usize, loss: f64, dev: f64) -> EpochRow {
    EpochRow { epoch, loss, derivable_share: 99.0, dev_exact: dev, dev_denotation: Some(dev + 2.0), lr: 1e-3 }
}

/// The first tag that is not closed, or closed out of order.
fn unbalanced(svg: &str) -> Option<String> {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, content) = tag.split_once('>').expect("a tag has an end");
        assert!(!content.contains('&') && tag.matches('"').count() % 2 == 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
        if tag.starts_with('/') {
            if open.pop() != Some(name.clone()) {
                return Some(name);
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.pop()
}

fn check(rows: &[EpochRow]) -> String {
    let svg = svg(rows);
    assert_eq!(unbalanced(&svg), None);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    svg
}

#[test]
fn two_epochs_look_like_this() {
    expect_file!["two_epochs.svg"].assert_eq(&check(&[row(1, 2.5, 60.0), row(2, 0.75, 71.5)]));
}

#[test]
fn nothing_to_draw_is_said() {
    assert_eq!(check(&[]).matches("no values").count(), 2);
    let nothing = EpochRow {
        loss: f64::NAN,
        derivable_share: f64::NAN,
        dev_exact: f64::INFINITY,
        dev_denotation: None,
        ..EpochRow::default()
    };
    assert_eq!(check(&[nothing; 3]).matches("no values").count(), 2);
}

#[test]
fn one_epoch_is_a_dot_per_curve() {
    let svg = check(&[row(1, 2.5, 60.0)]);
    assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (4, 2));
}

#[test]
fn what_is_no_number_leaves_a_gap() {
    let losses = [3.0, 2.0, f64::NAN, 1.5, 1.0, f64::INFINITY, 0.5];
    let rows: Vec<EpochRow> = losses.iter().zip(1..).map(|(&loss, epoch)| row(epoch, loss, 50.0)).collect();
    let svg = check(&rows);
    // Two axes, two runs of the loss, three level curves.
    assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (7, 5 + 14));
}

#[test]
fn level_curves_run_through_the_middle() {
    let svg = check(&[row(1, 4.0, 50.0), row(2, 4.0, 50.0)]);
    assert!(svg.contains("points=\"62.0,176.0 408.0,176.0\""), "{svg}");
}

#[test]
fn the_best_epoch_is_the_first_of_the_highest() {
    let svg = check(&[row(1, 1.0, 60.0), row(2, 1.0, 80.0), row(3, 1.0, 80.0)]);
    assert!(svg.contains("denotation (best 82.0 in 2)") && svg.contains("exact match (best 80.0 in 2)"));
}

#[test]
fn without_an_executor_there_is_no_curve_of_denotations() {
    let rows = [EpochRow { dev_denotation: None, ..row(1, 1.0, 60.0) }];
    assert!(!check(&rows).contains("denotation"));
}

#[test]
fn axes_have_round_ticks() {
    let shown = |values: &[f64], whole: bool| {
        let axis = Axis::new(values.iter().copied(), whole);
        let ticks: Vec<String> = axis.ticks().map(|tick| axis.shown(tick)).collect();
        ticks.join(" ")
    };
    let lines = [
        shown(&[0.0, 1.0], false),
        shown(&[0.0137, 2.4], false),
        shown(&[-3e-5, 2e-5], false),
        shown(&[62.0, 99.3], false),
        shown(&[1.0, 3.0], true),
        shown(&[1.0, 1000.0], true),
        shown(&[7.0], true),
        shown(&[1e9, 3e9], false),
        shown(&[0.0, f64::MIN_POSITIVE], false),
        shown(&[100.0], false),
        shown(&[], false),
    ];
    expect![[r#"
        0.0 0.2 0.4 0.6 0.8 1.0
        0.0 0.5 1.0 1.5 2.0 2.5
        -3.0e-5 -2.0e-5 -1.0e-5 0 1.0e-5 2.0e-5
        60 70 80 90 100
        1 2 3
        200 400 600 800 1000
        6 7 8
        1.0e9 1.5e9 2.0e9 2.5e9 3.0e9
        -1.0 -0.5 0.0 0.5 1.0
        90 95 100 105 110
        0.0 0.2 0.4 0.6 0.8 1.0
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        -1e3..1e3,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        any::<f64>()
    ]
}

proptest! {
    #[test]
    fn any_numbers_give_a_well_formed_picture(
        rows in prop::collection::vec(
            (0usize..100_000, any_number(), any_number(), prop::option::of(any_number())),
            0..60,
        ),
    ) {
        let rows: Vec<EpochRow> = rows
            .into_iter()
            .map(|(epoch, loss, dev, denotation)| EpochRow {
                epoch,
                loss,
                derivable_share: dev,
                dev_exact: dev,
                dev_denotation: denotation,
                lr: loss,
            })
            .collect();
        let picture = check(&rows);
        prop_assert_eq!(&picture, &svg(&rows));
        prop_assert!(picture.len() < 100_000);
    }
}
