//! The figures of the paper as golden trees: the chart is given the constants of the figure on their words.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use expect_test::{Expect, expect};
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::{Discontinuity, Grammar, N_USAGES, Options, Usage};
use spanwise_chart::lattice::{Lattice, Leaf, Scores};
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Utterance;

/// Leaves are (first word, one past the last, constant), chosen over every other constant on every word.
fn check(
    spec: &str,
    text: &str,
    leaves: &[(u32, u32, &str)],
    discontinuity: Discontinuity,
    program: &str,
    expected: Expect,
) {
    let domain = spanwise_domains::load::load(spec).unwrap();
    let grammar = Grammar::new(&domain, Options { discontinuity, implicit: false });
    let utterance = Utterance::new(text);
    let wanted: Vec<Leaf> = leaves
        .iter()
        .map(|&(start, end, name)| Leaf::new(start, end, crate::common::constant(&domain, name)))
        .collect();
    let mut all = spanwise_chart::candidates::Candidates::default()
        .lattice(&domain, &utterance)
        .unwrap()
        .leaves()
        .to_vec();
    all.extend(wanted.iter().filter(|leaf| !all.contains(leaf)).copied().collect::<Vec<_>>());
    let mut scores: Vec<f32> =
        all.iter().flat_map(|leaf| [if wanted.contains(leaf) { 10.0 } else { -10.0 }; N_USAGES]).collect();
    // Where a connective could take either side first, the figures take the left one.
    scores.iter_mut().skip(Usage::ApplyLeft.index()).step_by(N_USAGES).for_each(|score| *score += 0.5);
    let lattice = Lattice::new(utterance.len(), all).unwrap();
    let rules = vec![0.0; grammar.n_rules()];
    let scores = Scores { leaves: &scores, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
    let values = RuleValues::new(&grammar, &rules);
    let chart = BestChart::new(input, &values);
    let mut terms = domain.new_terms();
    let (found, tree) = chart.tree(&mut terms, &chart.best().unwrap()).unwrap();
    assert_eq!(terms.display(found).to_string(), program);
    expected.assert_eq(&tree.render(&domain, &terms, &utterance));
}

#[cfg(feature = "geo")]
#[test]
fn figure_1_the_capital_of_states_that_new_york_borders() {
    check(
        "geo",
        "What is the capital of states that New York borders ?",
        &[
            (3, 4, "capital"),
            (4, 5, "loc_2"),
            (5, 6, "state"),
            (7, 9, "stateid('new york')"),
            (9, 10, "next_to_1"),
        ],
        Discontinuity::None,
        "answer(capital(loc_2(state(next_to_1(stateid('new york'))))))",
        expect![[r#"
            0..11                      join                 answer(capital(loc_2(state(next_to_1(stateid('new york'))))))  Cities
              0..3 What is the         -
              3..11                    join                 capital(loc_2(state(next_to_1(stateid('new york')))))          Cities
                3..4 capital           capital              capital(_)                                                     WithinState -> Cities
                4..11                  join                 loc_2(state(next_to_1(stateid('new york'))))                   WithinState
                  4..5 of              loc_2                loc_2(_)                                                       SomeStates -> WithinState
                  5..11                join                 state(next_to_1(stateid('new york')))                          RelatedStates
                    5..7               join                 state(_)                                                       Bordering -> RelatedStates
                      5..6 states      state                state(_)                                                       Bordering -> RelatedStates
                      6..7 that        -
                    7..11              join                 next_to_1(stateid('new york'))                                 Bordering
                      7..9 New York    stateid('new york')  stateid('new york')                                            StateName
                      9..11            join                 next_to_1(_)                                                   SomeStates -> Bordering
                        9..10 borders  next_to_1            next_to_1(_)                                                   SomeStates -> Bordering
                        10..11 ?       -
        "#]],
    );
}

#[cfg(feature = "geo")]
#[test]
fn figure_3_a_function_between_another_and_its_argument() {
    let leaves = [(0, 1, "state"), (4, 5, "largest_one"), (5, 6, "population_1")];
    let text = "State that has the most people ?";
    let program = "answer(largest_one(population_1(state(all))))";
    check(
        "geo",
        text,
        &leaves,
        Discontinuity::Ternary,
        program,
        expect![[r#"
            0..7                   join          answer(largest_one(population_1(state(all))))  TopState
              0..4                 join          state(all)                                     States
                0..1 State         state         state(all)                                     States
                1..4 that has the  -
              4..7                 join          largest_one(population_1(_))                   States -> TopState
                4..5 most          largest_one   largest_one(_)                                 NumbersOfStates -> TopState
                5..7               join          population_1(_)                                States -> NumbersOfStates
                  5..6 people      population_1  population_1(_)                                States -> NumbersOfStates
                  6..7 ?           -
        "#]],
    );
    check(
        "geo@paper",
        text,
        &leaves,
        Discontinuity::Open,
        program,
        expect![[r#"
        0..7                   join          answer(largest_one(population_1(state(all))))  StateCity
          0..4                 join          state(all)                                     State
            0..1 State         state         state(all)                                     State
            1..4 that has the  -
          4..7                 join          largest_one(population_1(_))                   StateCity -> StateCity
            4..5 most          largest_one   largest_one(_)                                 Number -> StateCity
            5..7               join          population_1(_)                                StateCity -> Number
              5..6 people      population_1  population_1(_)                                StateCity -> Number
              6..7 ?           -
    "#]],
    );
}

#[test]
fn figure_4_values_gather_and_close_over_the_scene() {
    check(
        "clevr",
        "Are there any shiny objects that have the same color as the matte block?",
        &[
            (2, 3, "exist"),
            (3, 4, "metal"),
            (8, 9, "relate_attribute_equal"),
            (9, 10, "color"),
            (12, 13, "rubber"),
            (13, 14, "cube"),
        ],
        Discontinuity::None,
        "exist(filter(metal, relate_attribute_equal(color, filter(rubber, cube, scene()))))",
        expect![[r#"
            0..15                               join                    exist(filter(metal, relate_attribute_equal(color, filter(rubber, cube, scene()))))  Answer
              0..2 Are there                    -
              2..15                             join                    exist(filter(metal, relate_attribute_equal(color, filter(rubber, cube, scene()))))  Answer
                2..3 any                        exist                   exist(_)                                                                            Objects -> Answer
                3..15                           join                    filter(metal, relate_attribute_equal(color, filter(rubber, cube, scene())))         Filtered
                  3..8                          join                    metal                                                                               Material
                    3..4 shiny                  metal                   metal                                                                               Material
                    4..8 objects that have the  -
                  8..15                         join                    relate_attribute_equal(color, filter(rubber, cube, scene()))                        Related
                    8..12                       join                    relate_attribute_equal(color, _)                                                    Described -> Related
                      8..9 same                 relate_attribute_equal  relate_attribute_equal(_, _)                                                        Attribute, Described -> Related
                      9..12                     join                    color                                                                               Attribute
                        9..10 color             color                   color                                                                               Attribute
                        10..12 as the           -
                    12..15                      join                    filter(rubber, cube, scene())                                                       filter(..)
                      12..13 matte              rubber                  rubber                                                                              Material
                      13..15                    join                    cube                                                                                Shape
                        13..14 block            cube                    cube                                                                                Shape
                        14..15 ?                -
        "#]],
    );
}

#[test]
fn figure_5_connectives_take_the_left_argument_first() {
    check(
        "scan",
        "Walk right after turn opposite left twice",
        &[
            (0, 1, "i_walk"),
            (1, 2, "i_right"),
            (2, 3, "i_after"),
            (3, 4, "i_turn"),
            (4, 5, "i_opposite"),
            (5, 6, "i_left"),
            (6, 7, "i_twice"),
        ],
        Discontinuity::None,
        "i_after(i_walk(i_right), i_twice(i_turn(i_left, i_opposite)))",
        expect![[r#"
            0..7                   join        i_after(i_walk(i_right), i_twice(i_turn(i_left, i_opposite)))  Sequence
              0..3                 join        i_after(i_walk(i_right), _)                                    Command -> Sequence
                0..2               join        i_walk(i_right)                                                Action
                  0..1 Walk        i_walk      i_walk(_)                                                      Direction -> Action
                  1..2 right       i_right     i_right                                                        Direction
                2..3 after         i_after     i_after(_, _)                                                  Command, Command -> Sequence
              3..7                 join        i_twice(i_turn(i_left, i_opposite))                            Repeated
                3..6               join        i_turn(i_left, i_opposite)                                     Action
                  3..5             join        i_turn(_, i_opposite)                                          Direction -> Action
                    3..4 turn      i_turn      i_turn(_, _)                                                   Direction, Manner -> Action
                    4..5 opposite  i_opposite  i_opposite                                                     Manner
                  5..6 left        i_left      i_left                                                         Direction
                6..7 twice         i_twice     i_twice(_)                                                     Action -> Repeated
        "#]],
    );
}
