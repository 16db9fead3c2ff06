//! What holds for every tree.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::random;
use proptest::prelude::*;
use roxmltree::Document;
use spanwise_reading::Reading;
use spanwise_render::{Diagram, Layout, Screen, ascii, html, svg, svg_layout, tikz};
use unicode_width::UnicodeWidthStr;

fn slot_texts(diagram: &Diagram) -> Vec<&str> {
    diagram.slots().iter().map(|slot| slot.text.as_str()).collect()
}

/// The drawn tree as rows; the screen is wide enough for any tree here.
fn drawn(reading: &Reading) -> Vec<String> {
    let shown = ascii(reading, Screen { width: 1000, color: false }).unwrap();
    shown.split("\n\n").next().unwrap().lines().map(str::to_owned).collect()
}

/// Which ways the lines of a character go: up, down, left, right.
fn arms(ch: char) -> Option<[bool; 4]> {
    let arms = match ch {
        '│' => "ud",
        '─' | '═' => "lr",
        '┌' | '╔' => "dr",
        '┐' | '╗' => "dl",
        '└' | '╚' => "ur",
        '┘' | '╝' => "ul",
        '┬' | '╦' => "dlr",
        '┴' | '╩' => "ulr",
        '├' | '╠' => "udr",
        '┤' | '╣' => "udl",
        '┼' | '╬' | '╪' => "udlr",
        _ => return None,
    };
    Some(['u', 'd', 'l', 'r'].map(|arm| arms.contains(arm)))
}

/// Every line ends at another line or, up and down, at a label.
fn check_lines(rows: &[String]) -> Result<(), TestCaseError> {
    let cells: Vec<Vec<char>> = rows.iter().map(|row| row.chars().collect()).collect();
    let at =
        |row: usize, column: usize| cells.get(row).and_then(|row| row.get(column)).copied().unwrap_or(' ');
    for (row, line) in cells.iter().enumerate() {
        for (column, &ch) in line.iter().enumerate() {
            let Some([up, down, left, right]) = arms(ch) else { continue };
            let meets = |other: char, back: usize| arms(other).map_or(other != ' ', |arms| arms[back]);
            let context = || rows.join("\n");
            prop_assert!(!up || meets(at(row - 1, column), 1), "up at {row}, {column}\n{}", context());
            prop_assert!(!down || meets(at(row + 1, column), 0), "down at {row}, {column}\n{}", context());
            prop_assert!(!left || arms(at(row, column - 1)).is_some_and(|arms| arms[3]), "{}", context());
            prop_assert!(!right || arms(at(row, column + 1)).is_some_and(|arms| arms[2]), "{}", context());
        }
    }
    Ok(())
}

fn check_layout(diagram: &Diagram, layout: &Layout) -> Result<(), TestCaseError> {
    for pair in layout.slots.windows(2) {
        prop_assert!(pair[0].1 < pair[1].0);
    }
    let places = &layout.nodes;
    for (at, one) in places.iter().enumerate() {
        prop_assert!(0 <= one.left && one.left <= one.x && one.x < one.right && one.right <= layout.width);
        for other in places[..at].iter().filter(|other| other.level == one.level) {
            prop_assert!(other.right < one.left || one.right < other.left, "{one:?} {other:?}");
        }
        let children = &diagram.nodes()[at].children;
        for &child in children {
            let child = &places[child];
            prop_assert!(child.level < one.level);
            let crossed = places.iter().find(|label| {
                child.level < label.level
                    && label.level < one.level
                    && label.left <= child.x
                    && child.x < label.right
            });
            prop_assert_eq!(crossed, None, "the line from {:?} to {:?}", child, one);
        }
        prop_assert_eq!(one.joint.is_some(), children.len() == 3);
        if let Some(joint) = one.joint {
            let [first, between, last] = [0, 1, 2].map(|nth| places[children[nth]]);
            prop_assert!(first.x < joint.x && joint.x < last.x && joint.x != between.x);
            prop_assert!(
                joint.level < one.level && joint.level > first.level.max(between.level).max(last.level)
            );
            let covered = places
                .iter()
                .find(|label| label.level == joint.level && label.left <= last.x && first.x < label.right);
            prop_assert_eq!(covered, None);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn labels_and_words_do_not_overlap_and_lines_avoid_them(seed in any::<u64>(), odd in any::<bool>()) {
        let diagram = Diagram::new(&random(seed, odd)).unwrap();
        check_layout(&diagram, &svg_layout(&diagram))?;
    }

    #[test]
    fn a_drawn_tree_has_every_word_once_in_order_below_lines_that_meet(seed in any::<u64>()) {
        let reading = random(seed, false);
        let rows = drawn(&reading);
        prop_assert_eq!(rows.len() % 2, 0);
        let words: Vec<&str> = rows[rows.len() - 1].split_whitespace().collect();
        let expected = slot_texts(&Diagram::new(&reading).unwrap()).join(" ");
        prop_assert_eq!(words, expected.split(' ').collect::<Vec<_>>());
        check_lines(&rows)?;
    }

    #[test]
    fn nothing_is_wider_than_the_screen(seed in any::<u64>(), width in 20usize..120) {
        let shown = ascii(&random(seed, true), Screen { width, color: false }).unwrap();
        for line in shown.lines() {
            prop_assert!(line.width() <= width, "{} > {width}: {line}", line.width());
        }
    }

    #[test]
    fn a_picture_is_well_formed_and_has_every_word_and_node_once(seed in any::<u64>()) {
        let reading = random(seed, true);
        let diagram = Diagram::new(&reading).unwrap();
        let picture = svg(&reading).unwrap();
        let document = Document::parse(&picture).unwrap();
        let words: Vec<&str> = document
            .descendants()
            .filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("sw-word")))
            .filter_map(|node| node.text())
            .collect();
        prop_assert_eq!(words, slot_texts(&diagram));
        let titles = document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")));
        prop_assert_eq!(titles.count(), diagram.nodes().len());
        let n_arcs = document.descendants().filter(|node| node.attribute("class") == Some("sw-arc")).count();
        let n_around = diagram.nodes().iter().filter(|node| node.is_discontinuous()).count();
        prop_assert_eq!(n_arcs, 2 * n_around);
    }

    #[test]
    fn a_page_is_well_formed(seed in any::<u64>()) {
        let page = html(&random(seed, true)).unwrap();
        let parsed = Document::parse(page.strip_prefix("<!DOCTYPE html>\n").unwrap());
        prop_assert!(parsed.is_ok(), "{:?}", parsed.err());
    }

    #[test]
    fn a_latex_document_has_balanced_brackets_and_every_slot_once(seed in any::<u64>()) {
        let reading = random(seed, true);
        let diagram = Diagram::new(&reading).unwrap();
        let document = tikz(&reading).unwrap();
        let tree = &document[document.find("\\Tree").unwrap()..];
        let mut open: Vec<char> = Vec::new();
        let mut chars = tree.chars();
        while let Some(ch) = chars.next() {
            match ch {
                // What follows a backslash is a letter or a character that stands for itself.
                '\\' => drop(chars.next()),
                // A bracket alone in braces is text.
                '{' => open.push('}'),
                '[' if open.last() != Some(&'}') => open.push(']'),
                '}' => prop_assert_eq!(open.pop(), Some('}')),
                ']' if open.last() != Some(&'}') => prop_assert_eq!(open.pop(), Some(']')),
                _ => {}
            }
        }
        prop_assert!(open.is_empty());
        prop_assert_eq!(tree.matches("\\strut ").count(), diagram.slots().len());
        prop_assert_eq!(tree.matches("\\node (n").count(), diagram.nodes().len());
    }
}
