//! Promises of the executor, one small program each. The expected answers are the reference executor's.

use super::GeoExecutor;
use crate::exec::{Denotation, ExecError, Executor};
use spanwise_lang::Terms;

fn run(program: &str) -> Result<Denotation, ExecError> {
    let mut terms = Terms::new();
    let id = terms.parse(program).unwrap_or_else(|error| panic!("{}", error.render("program", program)));
    GeoExecutor::new().execute(&terms, id, None)
}

/// Each program, inside `answer(..)`, has this answer and does not fail on the way to it.
fn check(cases: &[(&str, &str)]) {
    for (query, expected) in cases {
        let denotation = run(&format!("answer({query})")).unwrap();
        let found = (denotation.text.as_str(), denotation.is_empty, denotation.note.as_deref());
        assert_eq!(found, (*expected, *expected == "[]", None), "for {query}");
    }
}

/// Each program, inside `answer(count(..))`, fails for this reason: it denotes nothing, not even zero.
fn check_fails(cases: &[(&str, &str)]) {
    for (query, reason) in cases {
        let denotation = run(&format!("answer(count({query}))")).unwrap();
        let found = (denotation.text.as_str(), denotation.is_empty, denotation.note.as_deref());
        assert_eq!(found, ("[]", true, Some(*reason)), "for {query}");
    }
}

fn bad_program(program: &str) -> String {
    match run(program) {
        Err(ExecError::BadProgram(message)) => message,
        other => panic!("{program} gave {other:?}"),
    }
}

#[test]
fn ids_denote_themselves_whether_or_not_the_facts_know_them() {
    check(&[
        ("stateid('texas')", "[stateid(texas)]"),
        ("stateid(texas)", "[stateid(texas)]"),
        ("stateid('new york')", "[stateid('new york')]"),
        ("stateid('no such place')", "[stateid('no such place')]"),
        ("stateid('o''brien')", r"[stateid('o\'brien')]"),
        ("riverid('ohio')", "[riverid(ohio)]"),
        ("placeid(007)", "[placeid(7)]"),
        ("placeid('7')", "[placeid('7')]"),
        ("countryid('usa')", "[countryid(usa)]"),
        ("cityid('austin', 'tx')", "[cityid(austin,tx)]"),
        ("cityid('austin', _)", "[cityid(austin,_)]"),
        ("stateid(city(all))", "[stateid(city(all))]"),
    ]);
}

#[test]
fn kinds_filter_and_all_lists_everything() {
    check(&[
        ("state(loc_2(countryid('usa')))", &text_of("state(all)")),
        ("count(state(all))", "[51]"),
        ("count(city(all))", "[386]"),
        ("count(river(all))", "[46]"),
        ("count(capital(all))", "[51]"),
        ("count(place(all))", "[79]"),
        ("count(mountain(all))", "[79]"),
        ("count(lake(all))", "[22]"),
        ("count(loc_2(countryid('usa')))", "[562]"),
        ("city(stateid('texas'))", "[]"),
        ("capital(loc_2(stateid('texas')))", "[cityid(austin,tx)]"),
        ("mountain(loc_2(stateid('alaska')))", "[placeid('mount mckinley'),placeid('pacific ocean')]"),
    ]);
}

fn text_of(query: &str) -> String {
    run(query).unwrap().text
}

#[test]
fn a_hole_in_place_of_all_means_all() {
    check(&[("count(lake(_))", "[22]"), ("count(state(_))", "[51]"), ("count(state('all'))", "[51]")]);
}

#[test]
fn major_means_large_cities_and_long_rivers() {
    check(&[
        (
            "major(river(loc_2(stateid('texas'))))",
            "[riverid(canadian),riverid(pecos),riverid(red),riverid('rio grande'),riverid(washita)]",
        ),
        ("count(major(city(loc_2(stateid('texas')))))", "[9]"),
        ("major(state(all))", "[]"),
    ]);
}

#[test]
fn numbers_of_things_are_written_as_the_facts_have_them() {
    check(&[
        ("area_1(stateid('texas'))", "[266807.0]"),
        ("area_1(stateid('delaware'))", "[2044.0]"),
        ("population_1(stateid('montana'))", "[786.7]"),
        ("population_1(cityid('austin', _))", "[345496]"),
        ("density_1(stateid('texas'))", "[53.33068472716233]"),
        ("len(riverid('ohio'))", "[1569]"),
        ("elevation_1(placeid('mount mckinley'))", "[6194]"),
        ("size(stateid('delaware'))", "[2044.0]"),
        ("size(cityid('austin', _))", "[345496]"),
        ("size(riverid('ohio'))", "[1569]"),
        ("size(placeid('mount mckinley'))", "[6194]"),
        ("size(loc_2(stateid('hawaii')))", "[0,4205,109373,190037,762874]"),
    ]);
}

#[test]
fn things_without_such_a_number_are_left_out() {
    check(&[
        ("population_1(countryid('usa'))", "[]"),
        ("area_1(countryid('usa'))", "[]"),
        ("density_1(cityid('austin', _))", "[]"),
        ("len(stateid('texas'))", "[]"),
        ("elevation_1(loc_2(stateid('maine')))", "[0,1606]"),
    ]);
}

#[test]
fn capitals_go_both_ways() {
    check(&[
        ("capital_1(stateid('texas'))", "[cityid(austin,tx)]"),
        ("capital_2(cityid('austin', _))", "[stateid(texas)]"),
        ("capital_2(cityid('houston', _))", "[]"),
    ]);
}

#[test]
fn points_go_both_ways_and_the_country_has_its_own() {
    check(&[
        ("high_point_1(countryid('usa'))", "[placeid('mount mckinley')]"),
        ("low_point_1(countryid('usa'))", "[placeid('death valley')]"),
        ("high_point_1(stateid('new hampshire'))", "[placeid('mount washington')]"),
        ("high_point_2(placeid('mount mckinley'))", "[countryid(usa),stateid(alaska)]"),
        ("low_point_2(placeid('death valley'))", "[countryid(usa),stateid(california)]"),
        (
            "low_point_2(placeid('pacific ocean'))",
            "[stateid(alaska),stateid(hawaii),stateid(oregon),stateid(washington)]",
        ),
    ]);
}

#[test]
fn a_place_with_several_elevations_has_the_first_and_compares_by_all() {
    check(&[
        // The Colorado is lowest in Arizona at 21 meters and in Nevada at 143.
        ("elevation_1(placeid('colorado river'))", "[21]"),
        (
            "intersection(placeid('colorado river'), lower_2(placeid('colorado river')))",
            "[placeid('colorado river')]",
        ),
        ("elevation_2(elevation_1(placeid('colorado river')))", "[placeid('colorado river')]"),
        ("highest(placeid(_))", "[placeid('gulf of mexico')]"),
    ]);
}

#[test]
fn higher_and_lower_read_in_both_directions() {
    check(&[
        ("higher_2(placeid('mount whitney'))", "[placeid('mount mckinley')]"),
        ("lower_1(placeid('mount whitney'))", "[placeid('mount mckinley')]"),
        ("higher_1(placeid('new orleans'))", "[placeid('death valley')]"),
        ("lower_2(placeid('new orleans'))", "[placeid('death valley')]"),
        ("higher_1(placeid('death valley'))", "[]"),
        ("longer(riverid('mississippi'))", "[riverid(missouri)]"),
    ]);
}

#[test]
fn places_are_in_states_and_in_the_country() {
    check(&[
        (
            "loc_1(placeid('gulf of mexico'))",
            "[countryid(usa),stateid(alabama),stateid(mississippi),stateid(texas)]",
        ),
        ("loc_1(stateid('texas'))", "[countryid(usa)]"),
        ("loc_1(countryid('usa'))", "[]"),
        ("loc_1(lake(all))", "[]"),
        ("lake(loc_2(stateid('michigan')))", "[]"),
        (
            "loc_2(stateid('hawaii'))",
            "[placeid('mauna kea'),placeid('pacific ocean'),cityid(ewa,hi),cityid(honolulu,hi),cityid(koolaupoko,hi)]",
        ),
    ]);
}

#[test]
fn neighbors_and_rivers_go_both_ways() {
    check(&[
        ("next_to_1(stateid('maine'))", "[stateid('new hampshire')]"),
        ("next_to_2(stateid('maine'))", "[stateid('new hampshire')]"),
        ("next_to_2(stateid('alaska'))", "[]"),
        (
            "traverse_1(riverid('delaware'))",
            "[stateid(delaware),stateid('new jersey'),stateid('new york'),stateid(pennsylvania)]",
        ),
        ("traverse_2(stateid('delaware'))", "[riverid(delaware)]"),
    ]);
}

#[test]
fn superlatives_pick_the_first_of_equals() {
    check(&[
        ("largest(state(all))", "[stateid(alaska)]"),
        ("smallest(state(all))", "[stateid('district of columbia')]"),
        ("highest(mountain(all))", "[placeid('mount mckinley')]"),
        ("lowest(place(all))", "[placeid('death valley')]"),
        ("longest(river(all))", "[riverid(missouri)]"),
        ("shortest(river(loc_2(stateid('texas'))))", "[riverid(pecos)]"),
        ("shortest(river(all))", "[riverid(delaware)]"),
        ("largest(population_1(state(all)))", "[23670000.0]"),
        ("largest(lake(all))", "[]"),
        // Kansas and Kentucky have the same area in the facts, and Kansas comes first.
        ("largest(intersection(state(all), next_to_2(stateid('missouri'))))", "[stateid(kansas)]"),
    ]);
}

#[test]
fn the_second_reading_judges_items_by_their_list_or_number() {
    check(&[
        ("most(state(next_to_2(state(all))))", "[stateid(missouri)]"),
        ("most(river(loc_2(state(all))))", "[stateid(colorado)]"),
        ("fewest(next_to_2(state(all)))", "[stateid(alaska)]"),
        ("fewest(lake(loc_2(state(all))))", "[stateid(alabama)]"),
        ("fewest(city(loc_2(state(all))))", "[stateid(vermont)]"),
        ("most(state(traverse_1(river(all))))", "[riverid(mississippi)]"),
        ("most(city(loc_2(stateid('nowhere'))))", "[stateid(nowhere)]"),
        ("largest_one(population_1(state(all)))", "[stateid(california)]"),
        ("smallest_one(density_1(state(all)))", "[stateid(montana)]"),
        ("highest_one(elevation_1(place(all)))", "[placeid('mount mckinley')]"),
        ("lowest_one(elevation_1(place(all)))", "[placeid('death valley')]"),
        ("longest_one(len(river(all)))", "[riverid(missouri)]"),
        ("shortest_one(len(river(all)))", "[riverid(delaware)]"),
    ]);
}

#[test]
fn one_list_wins_without_comparison_and_more_cannot_be_compared() {
    check(&[
        ("largest_one(next_to_2(stateid('texas')))", "[stateid(texas)]"),
        ("largest_one(next_to_2(city(stateid('texas'))))", "[]"),
    ]);
    check_fails(&[("largest_one(next_to_2(state(all)))", "lists cannot be compared by size")]);
}

#[test]
fn numbers_cannot_be_counted_unless_there_are_none() {
    check(&[("most(population_1(stateid('nowhere')))", "[]")]);
    check_fails(&[("most(area_1(stateid('texas')))", "a number is no list whose items can be counted")]);
}

#[test]
fn a_filter_over_numbers_in_the_second_reading_leaves_nothing() {
    check(&[
        ("count(largest_one(state(population_1(stateid('texas')))))", "[0]"),
        ("count(most(city(state(population_1(state(all))))))", "[0]"),
    ]);
}

#[test]
fn counts_ignore_duplicates_and_sums_do_not() {
    check(&[
        // The Missouri lists the state of Missouri twice.
        ("count(traverse_1(riverid('missouri')))", "[6]"),
        ("sum(size(traverse_1(riverid('missouri'))))", "[567816.0]"),
        ("sum(population_1(city(loc_2(stateid('alaska')))))", "[174431]"),
        ("sum(population_1(city(stateid('texas'))))", "[0]"),
        ("sum(count(state(all)))", "[51]"),
        ("each(count(each(state(all))))", "[51]"),
    ]);
    check_fails(&[("sum(state(all))", "only numbers can be added")]);
}

#[test]
fn open_cities_settle_on_the_first_fact_that_fits() {
    check(&[
        ("city(cityid('springfield', _))", "[cityid(springfield,il)]"),
        ("capital(cityid('springfield', _))", "[cityid(springfield,il)]"),
        ("major(cityid('springfield', _))", "[cityid(springfield,ma)]"),
        ("population_1(cityid('springfield', _))", "[100054]"),
        ("largest(cityid('springfield', _))", "[cityid(springfield,il)]"),
        ("largest_one(population_1(cityid('springfield', _)))", "[cityid(springfield,il)]"),
        ("state(stateid(_))", "[stateid(alabama)]"),
        ("place(placeid(_))", "[placeid('cheaha mountain')]"),
        ("elevation_1(placeid(_))", "[0]"),
        ("len(river(riverid(_)))", "[3778]"),
    ]);
}

#[test]
fn relations_look_at_all_facts_that_fit_and_leave_the_id_open() {
    check(&[
        (
            "loc_1(cityid('springfield', _))",
            "[countryid(usa),stateid(illinois),stateid(massachusetts),stateid(missouri),stateid(ohio)]",
        ),
        ("most(loc_1(cityid('springfield', _)))", "[cityid(springfield,_)]"),
        ("count(loc_2(countryid(_)))", "[562]"),
        ("count(loc_2(stateid(_)))", "[511]"),
    ]);
}

#[test]
fn exclude_removes_all_that_could_be_the_same() {
    check(&[
        (
            "exclude(loc_2(stateid('maine')), loc_2(stateid('new hampshire')))",
            "[placeid('mount katahdin'),cityid(portland,me)]",
        ),
        ("count(exclude(state(all), next_to_2(stateid('texas'))))", "[47]"),
        ("count(exclude(city(all), cityid('springfield', _)))", "[382]"),
        ("exclude(city(all), cityid(_, _))", "[]"),
        ("exclude(cityid('austin', _), city(loc_2(stateid('texas'))))", "[]"),
        ("exclude(cityid('austin', _), cityid(_, 'ny'))", "[]"),
        ("exclude(stateid(city(_)), stateid(city(all)))", "[]"),
        ("exclude(stateid(city(_)), stateid(lake(all)))", "[stateid(city(_))]"),
    ]);
}

#[test]
fn intersection_fills_in_open_ids_from_the_first_match_on_either_side() {
    check(&[
        (
            "intersection(loc_2(stateid('maine')), loc_2(stateid('new hampshire')))",
            "[placeid('atlantic ocean')]",
        ),
        ("intersection(cityid('springfield', _), city(all))", "[cityid(springfield,il)]"),
        ("intersection(city(all), cityid('springfield', _))", "[cityid(springfield,il)]"),
        ("intersection(state(all), stateid(_))", "[stateid(alabama)]"),
        ("intersection(cityid('austin', _), cityid(_, 'tx'))", "[cityid(austin,tx)]"),
        ("intersection(cityid('austin', _), cityid('austin', _))", "[cityid(austin,_)]"),
        ("intersection(stateid(cityid(_, a)), stateid(cityid(b, _)))", "[stateid(cityid(b,a))]"),
        ("intersection(size(loc_2(stateid('delaware'))), size(placeid('atlantic ocean')))", "[0]"),
        ("count(intersection(area_1(state(all)), population_1(state(all))))", "[0]"),
    ]);
}

#[test]
fn a_failure_anywhere_is_the_failure_of_the_whole_query() {
    check_fails(&[
        ("elevation_2(0)", "`0` is where a query must be"),
        ("state(texas)", "`texas` is where a query must be"),
        ("major(all)", "`all` is where a query must be"),
        ("exclude(state(all), _)", "`_` is where a query must be"),
        ("most(state(all))", "`all` gives nothing to compare its items by"),
        ("most(capital_1(state(all)))", "`capital_1` gives nothing to compare its items by"),
        ("fewest(city(stateid('texas')))", "`stateid` gives nothing to compare its items by"),
    ]);
}

#[test]
fn the_program_null_denotes_null() {
    let denotation = run("null").unwrap();
    assert_eq!((denotation.text.as_str(), denotation.is_empty), ("null", true));
}

#[test]
fn what_is_not_funql_is_refused_by_name() {
    assert_eq!(
        bad_program("answer(lagest(state(all)))"),
        "unknown predicate `lagest` (did you mean `largest`?)"
    );
    assert_eq!(bad_program("answer(scene())"), "unknown predicate `scene`");
    assert_eq!(bad_program("answer(stateid(filter(x)))"), "unknown predicate `filter`");
    assert_eq!(bad_program("answer(cityid('austin'))"), "`cityid` takes 2 arguments, found 1");
    assert_eq!(bad_program("answer(state(all, all))"), "`state` takes 1 argument, found 2");
    assert_eq!(bad_program("state()"), "`state` takes 1 argument, found 0");
    assert!(bad_program(&format!("{}(all)", "x".repeat(1 << 20))).len() < 100);
}
