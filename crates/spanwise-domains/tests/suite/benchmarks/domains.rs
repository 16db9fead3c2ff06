//! Programs of the benchmarks are terms that a domain file can describe.

use spanwise_lang::Terms;
use spanwise_lang::domain::{Domain, NoTables};

/// A domain file without tables, and programs that it types.
fn check(types: &str, constants: &str, programs: &[&str]) {
    let file =
        format!("name = \"d\"\ntypes = {types}\nroot = {{ types = [\"Root\"] }}\n[constants]\n{constants}");
    let domain = Domain::load(&file, "d.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"));
    for program in programs {
        let mut terms: Terms = domain.new_terms();
        let term = terms.parse(program).unwrap();
        let typed = domain.analyze(&terms, term).map_err(|problem| problem.describe(&domain, &terms));
        assert!(typed.is_ok(), "{program}: {typed:?}");
    }
}

#[test]
fn nested_events_are_typed_by_their_roles() {
    check(
        r#"["Root", "Passive < Root", "Infinitive", "Phrase", "Noun, Name, Some < Phrase", "Agent, Theme, Clause"]"#,
        r#"
        fox = "Noun"
        kite = "Noun"
        Nora = "Name"
        the = "Noun -> Some"
        "nmod.on" = "N, Phrase -> N where N in [Noun, Some]"
        agent = "Phrase -> Agent"
        theme = "Phrase -> Theme"
        ccomp = "Root -> Clause"
        xcomp = "Infinitive -> Clause"
        mend = ["Agent, Theme? -> Root", "Theme, Agent -> Passive", "Theme? -> Infinitive"]
        hope = "Agent, Clause -> Root"
        "#,
        &[
            "hope(agent(the(fox)), xcomp(mend(theme(nmod.on(kite, the(fox))))))",
            "hope(agent(Nora), ccomp(mend(theme(nmod.on(the(kite), fox)), agent(Nora))))",
            "hope(agent(fox), xcomp(mend()))",
        ],
    );
}

#[test]
fn conjunctions_and_values_of_atis_are_typed() {
    check(
        r#"["Root", "Flight, Airline", "City"]"#,
        r#"
        answer = "T -> Root where T in [Flight, Airline]"
        intersection = ["Flight, Flight -> Flight", "Flight, Flight, Flight -> Flight"]
        _from_2 = "City -> Flight"
        _to_2 = "City -> Flight"
        "_<_fare_2" = "City -> Flight"
        _airline_1 = "Flight -> Airline"
        oslo = { type = "City", form = "city_name(oslo)" }
        "#,
        &[
            "answer(_airline_1(intersection(_from_2(city_name(oslo)), _to_2(city_name(oslo)), _<_fare_2(city_name(oslo)))))",
        ],
    );
}

#[test]
fn properties_and_comparisons_of_overnight_are_typed() {
    check(
        r#"["Root", "Values", "Set, Entity < Values", "Property, Relation", "Number"]"#,
        r#"
        listValue = "Values -> Root"
        getProperty = ["Set, Property -> Values", "Set, Relation -> Set"]
        singleton = "Entity -> Set"
        countComparative = "Set, Property, Relation, Number -> Set"
        ".size" = "Values -> Root"
        "!type" = "Relation"
        ">=" = "Relation"
        park = "Property"
        "en.city" = "Entity"
        two = { type = "Number", form = "number(2)" }
        "#,
        &[
            "listValue(countComparative(getProperty(singleton(en.city), !type), park, >=, number(2)))",
            ".size(getProperty(singleton(en.city), park))",
        ],
    );
}

#[test]
fn clauses_of_okapi_are_typed() {
    check(
        r#"["Root", "Resource", "Filter, Order, Limit", "Day, Flag", "DayProperty, FlagProperty", "Operator", "Direction", "Number"]"#,
        r#"
        get = "Resource, Filter?, Order?, Limit? -> Root"
        event = "Resource"
        filter = ["DayProperty, Operator, Day -> Filter", "FlagProperty, Operator, Flag -> Filter"]
        orderby = "DayProperty, Direction -> Order"
        top = "Number -> Limit"
        "event.start" = "DayProperty"
        "event.hasAttachments" = "FlagProperty"
        True = "Flag"
        today = { type = "Day", form = "'today'" }
        gt = "Operator"
        asc = "Direction"
        one = { type = "Number", form = "1" }
        "#,
        &[
            "get(event, filter(event.start, gt, 'today'), orderby(event.start, asc), top(1))",
            "get(event, filter(event.hasAttachments, gt, True))",
        ],
    );
}
