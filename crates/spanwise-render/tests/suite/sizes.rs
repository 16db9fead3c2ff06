//! Small, large and broken trees.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Builder, chain, projective, reading};
use spanwise_core::Utterance;
use spanwise_reading::{NodeKind, Reading, TreeNode};
use spanwise_render::{Diagram, RenderError, Screen, html, svg, tikz};
use unicode_width::UnicodeWidthStr;

fn ascii(reading: &Reading, screen: Screen) -> String {
    spanwise_render::ascii(reading, screen).unwrap()
}

const SCREEN: Screen = Screen { width: 100, color: false };

/// A flat tree: one constant, then null words.
fn flat(text: &str) -> Reading {
    let mut tree = Builder::new();
    let n_words = Utterance::new(text).len() as u32;
    let first = tree.constant("state", 1, "state(all)", "States");
    let rest = tree.null(n_words - 1);
    tree.join(&[first, rest], "answer(state(all))", "States");
    tree.over(text)
}

#[test]
fn one_word_is_a_tree_in_every_format() {
    let mut tree = Builder::new();
    tree.constant("state", 1, "state(all)", "States");
    let one = tree.over("states");
    assert_eq!(ascii(&one, SCREEN), "state\nstates\n\nstate “states”  States  state(all)\n");
    assert!(svg(&one).unwrap().contains(">states</text>"));
    assert!(html(&one).unwrap().contains(">states</text>"));
    assert!(tikz(&one).unwrap().contains("\\strut states"));
}

#[test]
fn wide_characters_keep_columns_straight() {
    let mut tree = Builder::new();
    let [left, right] = ["Located -> States"; 2].map(|ty| tree.constant("state", 1, "state(_)", ty));
    let pair = tree.join(&[left, right], "state(all)", "States");
    let last = tree.null(1);
    tree.join(&[pair, last], "state(all)", "States");
    let shown = ascii(&tree.over("東京都 cafe\u{301} 😀"), SCREEN);
    let rows: Vec<&str> = shown.lines().take(6).collect();
    // 東京都 has 6 columns, cafe\u{301} 4, 😀 2; labels and lines are centered above them.
    assert_eq!(rows[3], "  ┌───┴───┐    │", "{shown}");
    assert_eq!(rows[4], "state   state  ·", "{shown}");
    assert_eq!(rows[5], "東京都   cafe\u{301}  😀", "{shown}");
}

#[test]
fn control_characters_never_reach_the_output() {
    let nasty = flat("states \u{1b}]0;title\u{7} and\tmore\u{202e} <script>alert(1)</script>");
    let colored = ascii(&nasty, Screen { width: 200, color: true });
    assert!(!colored.contains("\u{1b}]") && !colored.contains(['\u{7}', '\t', '\u{202e}']));
    for picture in [svg(&nasty).unwrap(), html(&nasty).unwrap(), tikz(&nasty).unwrap()] {
        assert!(!picture.contains(['\u{1b}', '\u{7}', '\t', '\u{202e}']) && !picture.contains("<script"));
    }
}

#[test]
fn twice_the_words_are_about_twice_the_text() {
    let sizes = |n: u32| {
        let chain = chain(n);
        [ascii(&chain, SCREEN).len(), svg(&chain).unwrap().len(), html(&chain).unwrap().len()]
    };
    for (small, large) in sizes(200).into_iter().zip(sizes(400)) {
        assert!(large * 2 < small * 5, "{small} for 200 words, {large} for 400");
    }
}

#[test]
fn five_thousand_words_are_drawn_or_outlined() {
    let deep = chain(5000);
    let shown = ascii(&deep, Screen { width: 100_000, color: false });
    assert_eq!(shown.lines().count(), deep.tree.as_ref().unwrap().nodes.len(), "an outline and no drawing");
    let shown = ascii(&deep, SCREEN);
    assert!(shown.lines().all(|line| line.width() <= 100));
    assert!(shown.contains("(4999) state “word”"));
    assert_eq!(svg(&deep).unwrap().matches("class=\"sw-word\"").count(), 5000);
    let wide = flat(&vec!["word"; 5000].join(" "));
    assert!(ascii(&wide, SCREEN).lines().all(|line| line.width() <= 100));
}

#[test]
fn a_tree_too_deep_for_tex_is_refused_with_another_way() {
    let error = tikz(&chain(5000)).unwrap_err();
    assert_eq!(error.to_string(), "the tree has 5000 levels, tikz takes at most 60; try the format svg");
    assert!(tikz(&chain(60)).is_ok());
}

#[test]
fn what_is_no_tree_over_the_words_is_refused() {
    let node = |start, end, children: &[usize]| TreeNode {
        span: [start, end],
        words: String::new(),
        kind: NodeKind::Join,
        constant: None,
        program: None,
        r#type: None,
        probability: None,
        children: children.to_vec(),
    };
    let draw = |nodes: Vec<TreeNode>| Diagram::new(&reading("two words", nodes));
    assert_eq!(draw(Vec::new()), Err(RenderError::NoTree));
    assert_eq!(Diagram::new(&Reading::default()), Err(RenderError::NoTree));
    for (nodes, at) in [
        (vec![node(0, 3, &[])], 0),
        (vec![node(1, 1, &[])], 0),
        (vec![node(0, 1, &[]), node(0, 2, &[1])], 1),
        (vec![node(0, 1, &[]), node(0, 2, &[0, 0])], 1),
        (vec![node(0, 2, &[]), node(1, 2, &[]), node(0, 2, &[0, 1])], 2),
        (vec![node(0, 1, &[]), node(1, 2, &[]), node(0, 2, &[0])], 1),
    ] {
        let error = draw(nodes).unwrap_err();
        assert!(matches!(error, RenderError::Broken { node, .. } if node == at), "{error}");
    }
}

#[test]
fn probabilities_of_nodes_are_shown_at_leaves_and_under_the_pointer() {
    let mut reading = projective();
    reading.tree.as_mut().unwrap().nodes[1].probability = Some(0.875);
    assert!(ascii(&reading, SCREEN).contains("87.5 %"));
    assert_eq!(svg(&reading).unwrap().matches("87.5 %").count(), 1);
}
