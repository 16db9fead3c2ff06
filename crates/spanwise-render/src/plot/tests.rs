use super::*;
use expect_test::{expect, expect_file};
use proptest::prelude::*;

fn plot(points: Vec<(f64, f64)>) -> Plot {
    Plot {
        title: "accuracy <by> length".to_owned(),
        x_label: "length".to_owned(),
        series: vec![Series { name: "a & b".to_owned(), style: 1, points }],
        x: AxisBounds::at_least(0.0, 1.0),
        y: AxisBounds::at_least(80.0, 100.0),
        diagonal: true,
        ..Plot::default()
    }
}

/// A picture that a reader of XML takes, without anything that is no number.
fn check(svg: &str) {
    roxmltree::Document::parse(svg).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn a_plot_looks_like_this() {
    let svg = plot(vec![(0.0, 85.0), (0.5, 90.0), (1.0, 100.0)]).svg();
    check(&svg);
    expect_file!["example.svg"].assert_eq(&svg);
}

#[test]
fn long_labels_at_the_ends_stay_inside_of_the_picture() {
    let mut plot = plot(vec![(0.0, 85.0), (1.0, 90.0)]);
    plot.names = vec!["from 1 to 10 words".to_owned(), "11 words or more".to_owned()];
    let svg = plot.svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let labels =
        document.descendants().filter(|node| plot.names.iter().any(|name| node.text() == Some(name)));
    let ends: Vec<(f64, f64)> = labels
        .filter(roxmltree::Node::is_element)
        .map(|node| {
            let (at, half) = (node.attribute("x").unwrap(), node.text().unwrap().len() as f64 * LETTER / 2.0);
            let at: f64 = at.parse().unwrap();
            (at - half, at + half)
        })
        .collect();
    assert_eq!(ends.len(), 2);
    assert!(ends[0].0 >= 0.0 && ends[1].1 <= WIDTH, "{ends:?}");
}

#[test]
fn axes_have_round_ticks_and_hold_all_values() {
    let shown = |values: &[f64], reach: AxisBounds| {
        let axis = Axis::new(values.iter().copied(), reach);
        let ticks: Vec<String> = axis.ticks().map(|tick| axis.shown(tick)).collect();
        ticks.join(" ")
    };
    let (free, whole) = (AxisBounds::default(), AxisBounds { whole: true, ..AxisBounds::default() });
    let lines = [
        shown(&[], AxisBounds::at_least(0.0, 100.0)),
        shown(&[63.6], AxisBounds::at_least(90.0, 100.0)),
        shown(&[0.3, f64::NAN], AxisBounds::at_least(0.0, 0.3)),
        shown(&[62.0, 99.3], AxisBounds { at_most: Some((0.0, 100.0)), ..free }),
        shown(&[0.0, 1.0], free),
        shown(&[0.0137, 2.4], free),
        shown(&[-3e-5, 2e-5], free),
        shown(&[1.0, 3.0], whole),
        shown(&[1.0, 1000.0], whole),
        shown(&[7.0], whole),
        shown(&[1e9, 3e9], free),
        shown(&[0.0, f64::MIN_POSITIVE], free),
        shown(&[100.0], free),
        shown(&[], free),
    ];
    expect![[r#"
        0 20 40 60 80 100
        60 70 80 90 100
        0.0 0.1 0.2 0.3
        60 70 80 90 100
        0.0 0.2 0.4 0.6 0.8 1.0
        0.0 0.5 1.0 1.5 2.0 2.5
        -3.0e-5 -2.0e-5 -1.0e-5 0 1.0e-5 2.0e-5
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

#[test]
fn what_is_no_number_leaves_a_gap() {
    let values = [3.0, 2.0, f64::NAN, 1.5, 1.0, f64::INFINITY, 0.5];
    let svg = plot(values.iter().zip(0u8..).map(|(&y, x)| (f64::from(x), y)).collect()).svg();
    check(&svg);
    // The axes, the diagonal, the name in the legend, and two runs; the last value has no neighbor.
    assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (5, 5));
}

#[test]
fn nothing_to_draw_is_said() {
    for points in [vec![], vec![(f64::NAN, 1.0)], vec![(0.5, f64::INFINITY)]] {
        let svg = plot(points).svg();
        check(&svg);
        assert_eq!(svg.matches("no values").count(), 1);
    }
}

#[test]
fn level_curves_run_through_the_middle() {
    let level = Plot { y: AxisBounds::default(), ..plot(vec![(0.0, 4.0), (1.0, 4.0)]) };
    assert!(level.svg().contains("points=\"46.0,124.0 428.0,124.0\""), "{}", level.svg());
}

#[test]
fn styles_beyond_the_colors_are_dashed_and_have_no_dots() {
    let mut dashed = plot(vec![(0.0, 85.0), (1.0, 95.0)]);
    dashed.series[0].style = 7;
    let svg = dashed.svg();
    assert_eq!((svg.matches("<circle").count(), svg.matches("5 3").count()), (0, 2));
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
        points in prop::collection::vec((any_number(), any_number()), 0..60),
        whole in any::<bool>(),
    ) {
        let free = Plot { x: AxisBounds { whole, ..AxisBounds::default() }, y: AxisBounds::default(), ..plot(points) };
        let svg = side_by_side("two", &[free.clone(), free]);
        check(&svg);
        prop_assert!(svg.len() < 100_000);
    }
}
