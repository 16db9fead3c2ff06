//! Three trees as every format shows them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Builder, discontinuous, implicit, projective};
use expect_test::{Expect, expect};
use spanwise_reading::{Alternative, AnswerInfo, Reading};
use spanwise_render::{Screen, ascii, html, svg, tikz};

fn check_ascii(reading: &Reading, width: usize, expected: &Expect) {
    expected.assert_eq(&ascii(reading, Screen { width, color: false }).unwrap());
}

/// A picture without its style.
fn bare(svg: &str) -> String {
    let (start, end) = (svg.find("<style>").unwrap(), svg.find("</style>").unwrap());
    format!("{}{}", &svg[..start], &svg[end + "</style>".len()..])
}

fn answered() -> Reading {
    let mut reading = Reading {
        program: Some("answer(x<y)".to_owned()),
        lines: Some("answer(\n  x<y\n)\n".to_owned()),
        probability: Some(0.5),
        denotation: Some("[texas]".to_owned()),
        note: Some("a & b".to_owned()),
        alternatives: vec![Alternative {
            program: "answer(z)".to_owned(),
            probability: 0.25,
            posterior: 0.3,
            score: 1.0,
            answer: None,
            answer_info: AnswerInfo::default(),
            denotation: None,
        }],
        ..projective()
    };
    reading.tokens[0].probability = Some(0.98);
    reading.tokens[1].probability = Some(0.9997);
    reading.tokens[1].constant = Some("state".to_owned());
    reading
}

#[test]
fn a_tree_over_neighbors_in_a_terminal() {
    check_ascii(
        &projective(),
        110,
        &expect![[r#"
                  State
          ┌─────────┴──────────┐
          │                  State
          │          ┌─────────┴──────────┐
          │        States           States → State
          │      ┌───┴───┐          ┌─────┴──────┐
          ·    state     ·     largest_one  population_1
        which  state  has the    greatest    population

        join                             State                     answer(largest_one(population_1(state(all))))
        ├─null “which”
        └─join                           State                     largest_one(population_1(state(all)))
          ├─join                         States                    state(all)
          │ ├─state “state”              States                    state(all)
          │ └─null “has the”
          └─join                         States → State            largest_one(population_1(_))
            ├─largest_one “greatest”     NumbersOfStates → State   largest_one(_)
            └─population_1 “population”  States → NumbersOfStates  population_1(_)
    "#]],
    );
}

#[test]
fn a_tree_with_an_arc_over_the_middle_in_a_terminal() {
    check_ascii(
        &discontinuous(),
        110,
        &expect![[r#"
                                 States
                              ┌────┴─────┐
                              │          │
              ╔═══════════════╪══════════╩═════════╗
              │        Crossed → States            │
              │          ┌────┴───┐                │
          traverse_1   state      ·      riverid('yellowstone')
        through which  states  does the       yellowstone

        join (outer two first)                  States                answer(state(traverse_1(riverid('yellowstone'))…
        ╞═traverse_1 “through which”            SomeRivers → Crossed  traverse_1(_)
        ├─join                                  Crossed → States      state(_)
        │ ├─state “states”                      Crossed → States      state(_)
        │ └─null “does the”
        ╘═riverid('yellowstone') “yellowstone”  River                 riverid('yellowstone')
    "#]],
    );
}

#[test]
fn a_tree_with_an_implicit_constant_and_a_word_of_its_own_in_a_terminal() {
    check_ascii(
        &implicit(),
        110,
        &expect![[r#"
                   Rivers
               ┌─────┴──────┐
            [loc_2]         │
               │            │
        countryid('usa')  river
               us         rivers  !

        join                       Rivers                  answer(river(loc_2(countryid('usa'))))
        ├─[loc_2]                  WithinCountry           loc_2(countryid('usa'))
        │ └─countryid('usa') “us”  Country                 countryid('usa')
        └─river “rivers”           WithinCountry → Rivers  river(_)
    "#]],
    );
}

#[test]
fn a_narrow_terminal_has_dots_for_types_and_then_only_the_outline() {
    let mut tree = Builder::new();
    let state = tree.constant("state", 1, "state(all)", "States");
    let null = tree.null(1);
    tree.join(&[state, null], "answer(state(all))", "NumbersOfStates -> States");
    check_ascii(
        &tree.over("any state"),
        22,
        &expect![[r#"
             •
          ┌──┴───┐
        state    ·
         any   state

        join         NumbersO…
        ├─state “a…  States
        └─null “st…
    "#]],
    );
    check_ascii(
        &discontinuous(),
        34,
        &expect![[r#"
        join (outer two …  States
        ╞═traverse_1 “th…  SomeRivers → C…
        ├─join             Crossed → Stat…
        │ ├─state “state…  Crossed → Stat…
        │ └─null “does t…
        ╘═riverid('yello…  River
    "#]],
    );
}

#[test]
fn program_answer_and_other_programs_are_shown_around_the_tree() {
    let shown = ascii(&answered(), Screen { width: 80, color: false }).unwrap();
    let mut around = shown.lines().take(5).collect::<Vec<_>>();
    around.extend(shown.lines().rev().take(2).collect::<Vec<_>>().into_iter().rev());
    expect![[r#"
        program      answer(x<y)
        answer       [texas]
        note         a & b
        probability  50.0 %

        other programs
            25.0 %  answer(z)"#]]
    .assert_eq(&around.join("\n"));
}

#[test]
fn colors_are_by_category_and_change_nothing_else() {
    for tree in [projective(), discontinuous(), implicit()] {
        let [plain, colored] = [false, true].map(|color| ascii(&tree, Screen { width: 110, color }).unwrap());
        assert!(!plain.contains('\u{1b}'));
        let mut stripped = String::new();
        for (at, piece) in colored.split('\u{1b}').enumerate() {
            stripped += if at == 0 { piece } else { piece.split_once('m').unwrap().1 };
        }
        assert_eq!(stripped, plain);
    }
    let colored = ascii(&implicit(), Screen { width: 110, color: true }).unwrap();
    for expected in ["\u{1b}[1;36mriver\u{1b}[0m", "\u{1b}[32mRivers\u{1b}[0m", "\u{1b}[35m[loc_2]\u{1b}[0m"]
    {
        assert!(colored.contains(expected), "{colored}");
    }
}

#[test]
fn a_picture_of_one_word() {
    let mut tree = Builder::new();
    tree.constant("state", 1, "state(all)", "States");
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 101 112" width="101" height="112" role="img" aria-label="states">

        <rect class="sw-back" width="100%" height="100%" rx="8"/>
        <g transform="translate(20.0 0)">
        <g class="sw-constant"><title>state · type: States · program: state(all)</title><rect x="0.0" y="20.0" width="60.7" height="38" rx="9"/><text class="sw-name" x="30.3" y="36.5">state</text><text class="sw-type" x="30.3" y="51.0">States</text></g>
        <path class="sw-edge" d="M30.4 58.0V79.0M3.5 79.0H57.2"/>
        <text class="sw-word" x="30.4" y="98.0">states</text>
        </g>
        </svg>
    "#]].assert_eq(&bare(&svg(&tree.over("states")).unwrap()));
}

#[test]
fn a_picture_has_the_program_and_its_answer_above_the_tree() {
    let picture = svg(&answered()).unwrap();
    assert!(picture.contains(">answer(x&lt;y)</text>"), "{picture}");
    assert!(picture.contains(">= [texas]</text>"), "{picture}");
    assert!(!svg(&projective()).unwrap().contains("sw-program\" x"));
}

#[test]
fn a_latex_document_with_an_arc_over_the_middle() {
    let document = tikz(&discontinuous()).unwrap();
    let from = document.find("\\Tree").unwrap();
    expect![[r#"
        \Tree
        [.\node (n5) {\type{join}\\\type{States}};
          \edge[outer]; [.\node (n0) {\textcolor{constant}{\name{traverse\_1}}\\\type{SomeRivers $\to$ Crossed}};
            {\strut through which}
          ]
          [.\node (n3) {\type{join}\\\type{Crossed $\to$ States}};
            [.\node (n1) {\textcolor{constant}{\name{state}}\\\type{Crossed $\to$ States}};
              {\strut states}
            ]
            [.\node (n2) {\textcolor{null}{\type{null}}};
              {\strut \textcolor{null}{does the}}
            ]
          ]
          \edge[outer]; [.\node (n4) {\textcolor{constant}{\name{riverid(\textquotesingle{}yellowstone\textquotesingle{})}}\\\type{River}};
            {\strut yellowstone}
          ]
        ]
        % the outer two below n5 compose first, over the one between them
        \draw[over] (n0.north) |- ($(n3.north)+(0,10pt)$) -| (n4.north);
        \coordinate (j5) at ($(n3.north)!.5!(n4.north)+(0,10pt)$);
        \draw (n5.south) -- (j5); \fill[arc] (j5) circle (2pt);
        \end{tikzpicture}
        \end{document}
    "#]].assert_eq(&document[from..]);
}

#[test]
fn a_page_shows_all_that_is_known() {
    let page = html(&answered()).unwrap();
    let svg = page.find("<svg").unwrap()..page.find("</svg>").unwrap();
    let body = page.find("<main>").unwrap();
    expect![[r#"
        <main>
        <h1>which state has the greatest population</h1>
        <h2>Program <span class="soft">(50.0 %)</span></h2>
        <pre>answer(
          x&lt;y
        )</pre>
        <h2>Answer</h2>
        <div class="panel answer">[texas]</div>
        <p class="soft">a &amp; b</p>
        <h2>Tree</h2>
        <div class="tree">
        ..</svg>
        </div>
        <h2>Words</h2>
        <table>
        <thead><tr><th>word</th><th>aligned to</th><th class="number">probability</th></tr></thead>
        <tbody>
        <tr><td>which</td><td><span class="soft">nothing</span></td><td class="number">98.0 %</td></tr>
        <tr><td>state</td><td><code>state</code></td><td class="number">&gt; 99.9 %</td></tr>
        <tr><td>has</td><td><span class="soft">nothing</span></td><td class="number"></td></tr>
        <tr><td>the</td><td><span class="soft">nothing</span></td><td class="number"></td></tr>
        <tr><td>greatest</td><td><span class="soft">nothing</span></td><td class="number"></td></tr>
        <tr><td>population</td><td><span class="soft">nothing</span></td><td class="number"></td></tr>
        </tbody>
        </table>
        <h2>Other programs</h2>
        <table>
        <thead><tr><th>program</th><th class="number">probability</th></tr></thead>
        <tbody>
        <tr><td><code>answer(z)</code></td><td class="number">25.0 %</td></tr>
        </tbody>
        </table>
        </main>
        </body>
        </html>
    "#]]
    .assert_eq(&format!("{}..{}", &page[body..svg.start], &page[svg.end..]));
}

#[test]
fn a_reading_without_a_tree_is_shown_as_text_and_refused_as_a_picture() {
    let reading = Reading { tree: None, ..answered() };
    expect![[r#"
        program      answer(x<y)
        answer       [texas]
        note         a & b
        probability  50.0 %

        no tree: this model does not say which words a program rests on

        other programs
            25.0 %  answer(z)
    "#]]
    .assert_eq(&ascii(&reading, Screen { width: 80, color: false }).unwrap());
    let page = html(&reading).unwrap();
    assert!(page.contains("[texas]") && page.contains("no tree") && !page.contains("<svg"), "{page}");
    for error in [svg(&reading).unwrap_err(), tikz(&reading).unwrap_err()] {
        assert_eq!(error.to_string(), "the reading has no tree to draw");
    }
}
