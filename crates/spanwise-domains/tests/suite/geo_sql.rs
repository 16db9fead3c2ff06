//! GeoQuery in a database: `examples/geo-sql`, with the facts as tables, against the reference denotations.
//!
//! The reference data is not part of the repository; without it that test prints a note and passes.

#![allow(clippy::print_stderr, clippy::print_stdout)]

use rusqlite::Connection;
use serde_json::Value;
use spanwise_domains::exec::sql::check_fragments;
use spanwise_domains::exec::{Executor, open};
use spanwise_domains::load::load;
use spanwise_lang::Domain;
use spanwise_reading::Answer;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[cfg(all(feature = "postgres", unix))]
#[allow(dead_code, reason = "the tests of another crate need more of it")]
#[path = "../../../spanwise-sql/tests/suite/server.rs"]
mod server;

const DENOTATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/geo/denotations.jsonl");
const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/geo-sql");
const USA: &str = "countryid(usa)";

/// A table of facts: its rows by column.
fn facts(name: &str) -> Vec<BTreeMap<&'static str, &'static str>> {
    let text = spanwise_geobase::table(&format!("facts/{name}.tsv")).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t'));
    let header: Vec<&str> = lines.next().unwrap().collect();
    lines.map(|cells| header.iter().copied().zip(cells).collect()).collect()
}

/// A name as the reference writes it.
fn shown(name: &str) -> String {
    let is_plain = name.chars().next().is_some_and(|ch| ch.is_ascii_lowercase())
        && name.chars().all(|ch| ch == '_' || ch.is_ascii_alphanumeric());
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "\\'")) }
}

fn id(kind: &str, name: &str) -> String {
    format!("{kind}({})", shown(name))
}

fn city(name: &str, abbrev: &str) -> String {
    format!("cityid({},{})", shown(name), shown(abbrev))
}

/// A text in SQL.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// The statements that make and fill the tables, for either database.
fn statements() -> String {
    let mut sql = std::fs::read_to_string(Path::new(DIRECTORY).join("schema.sql")).unwrap();
    let mut add = |table: &str, values: &[String]| {
        let _ = writeln!(sql, "insert into {table} values ({});", values.join(", "));
    };
    add("country", &[text(USA), text("usa")]);
    let mut abbrevs = BTreeMap::new();
    let mut capitals = BTreeMap::new();
    for (nr, row) in facts("states").iter().enumerate() {
        let (state, capital) = (id("stateid", row["name"]), city(row["capital"], row["abbrev"]));
        add(
            "state",
            &[
                text(&state),
                nr.to_string(),
                text(row["name"]),
                text(row["abbrev"]),
                text(&capital),
                row["population"].to_owned(),
                row["area"].to_owned(),
            ],
        );
        add("located", &[text(&state), text(USA)]);
        abbrevs.insert(row["name"], row["abbrev"]);
        capitals.insert(capital, (row["capital"], row["abbrev"]));
    }
    let mut n_cities = 0;
    for row in facts("cities") {
        let own = city(row["name"], row["abbrev"]);
        let is_capital = u8::from(capitals.remove(&own).is_some());
        add(
            "city",
            &[
                text(&own),
                n_cities.to_string(),
                text(row["name"]),
                text(row["abbrev"]),
                row["population"].to_owned(),
                is_capital.to_string(),
            ],
        );
        add("located", &[text(&own), text(USA)]);
        add("located", &[text(&own), text(&id("stateid", row["state"]))]);
        n_cities += 1;
    }
    for (own, (name, abbrev)) in capitals {
        add(
            "city",
            &[text(&own), n_cities.to_string(), text(name), text(abbrev), "null".to_owned(), "1".to_owned()],
        );
        n_cities += 1;
    }
    for (nr, row) in facts("rivers").iter().enumerate() {
        let river = id("riverid", row["name"]);
        add("river", &[nr.to_string(), text(&river), text(row["name"]), row["length"].to_owned()]);
        add("located", &[text(&river), text(USA)]);
        for state in row["states"].split('|').filter(|state| !state.is_empty()) {
            let state = id("stateid", state);
            add("course", &[text(&river), text(&state)]);
            add("located", &[text(&river), text(&state)]);
        }
    }
    for row in facts("borders") {
        for neighbor in row["neighbors"].split('|').filter(|state| !state.is_empty()) {
            add("border", &[text(&id("stateid", row["state"])), text(&id("stateid", neighbor))]);
        }
    }
    for row in facts("lakes") {
        add("lake", &[text(&shown(row["name"])), text(row["name"])]);
    }
    places(&mut add);
    sql
}

/// Points of states and of the country, and the places that they are. The elevation of a place with several is its lowest.
fn places(add: &mut dyn FnMut(&str, &[String])) {
    let rows = facts("highlow");
    let mut elevations: BTreeMap<&str, &str> = BTreeMap::new();
    for (place, elevation) in [("lowest", "lowest_elevation"), ("highest", "highest_elevation")] {
        for row in &rows {
            elevations.entry(row[place]).or_insert(row[elevation]);
        }
    }
    let mut order: Vec<&str> = Vec::new();
    for (is_high, place, elevation) in
        [("1", "highest", "highest_elevation"), ("0", "lowest", "lowest_elevation")]
    {
        for row in &rows {
            let (own, state) = (text(&id("placeid", row[place])), id("stateid", row["state"]));
            add("point", &[text(&state), own.clone(), is_high.to_owned(), row[elevation].to_owned()]);
            add("located", &[own.clone(), text(&state)]);
            add("located", &[own, text(USA)]);
            if !order.contains(&row[place]) {
                order.push(row[place]);
            }
        }
        let of_usa = if is_high == "1" { "mount mckinley" } else { "death valley" };
        let place = text(&id("placeid", of_usa));
        add("point", &[text(USA), place, is_high.to_owned(), elevations[of_usa].to_owned()]);
    }
    for (nr, name) in order.iter().enumerate() {
        add("place", &[text(&id("placeid", name)), nr.to_string(), text(name), elevations[name].to_owned()]);
    }
}

/// A copy of the domain file beside its database.
fn sqlite() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let connection = Connection::open(directory.path().join("geo.db")).unwrap();
    connection.execute_batch(&format!("begin; {} commit; analyze;", statements())).unwrap();
    let file = directory.path().join("domain.toml");
    std::fs::copy(Path::new(DIRECTORY).join("domain.toml"), &file).unwrap();
    (directory, file)
}

/// The items of an answer in the notation of the reference, as a set. Numbers are written alike, whole or not.
fn items(answer: &Answer) -> BTreeSet<String> {
    let item = |answer: &Answer| match answer {
        Answer::Number(number) => number.to_string().parse::<f64>().unwrap().to_string(),
        other => other.to_string(),
    };
    match answer {
        // What was found, without what it was found from.
        Answer::Table { columns, rows } if columns[0] == "Found" => {
            rows.iter().map(|row| item(&row[0])).collect()
        }
        // The numbers of things, without the things.
        Answer::Table { rows, .. } => rows.iter().map(|row| item(&row[1])).collect(),
        Answer::List(items) => items.iter().map(item).collect(),
        Answer::Null => BTreeSet::new(),
        other => BTreeSet::from([item(other)]),
    }
}

/// The items of a reference denotation: `[cityid('new york',ny),3.5]`.
fn reference(text: &str) -> BTreeSet<String> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap();
    let (mut depth, mut is_quoted, mut start) = (0, false, 0);
    let mut found = Vec::new();
    for (at, ch) in inner.char_indices() {
        match ch {
            '\'' if !inner[..at].ends_with('\\') => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            ',' if !is_quoted && depth == 0 => {
                found.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inner[start..]);
    let item = |text: &str| text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string());
    found.into_iter().filter(|text| !text.is_empty()).map(item).collect()
}

/// Programs whose denotation follows from how the reference executor works, and not from the facts; see the README beside the
/// domain file.
const QUIRKS: &[&str] = &[
    // A number is where a query must be, which fails there. In a database it finds the places of that elevation.
    "answer(highest(place(loc_2(state(loc_1(place(elevation_2(0))))))))",
];

/// Compares all reference denotations, and returns the time of each program.
fn compare(domain: &Domain, executor: &dyn Executor) -> Option<Vec<Duration>> {
    let Ok(lines) = std::fs::read_to_string(DENOTATIONS) else {
        eprintln!("skipped: no reference denotations at {DENOTATIONS}");
        return None;
    };
    let (mut times, mut wrong) = (Vec::new(), Vec::new());
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (program, expected) = (case["program"].as_str().unwrap(), case["denotation"].as_str().unwrap());
        let mut terms = domain.new_terms();
        let term = terms.parse(program).unwrap();
        let start = Instant::now();
        let found = executor.execute(&terms, term, None).unwrap_or_else(|error| panic!("{program}: {error}"));
        times.push(start.elapsed());
        let plain = program.replace(' ', "");
        let differs = items(&found.answer) != reference(expected);
        // An exception that is none any more is reported as well.
        if differs != QUIRKS.contains(&plain.as_str()) {
            wrong.push(format!("{plain}\n  expected {expected}\n  found    {}", found.text));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(times.len(), 645);
    Some(times)
}

#[test]
fn all_programs_of_the_corpus_denote_in_sqlite_what_the_reference_says() {
    let (_directory, file) = sqlite();
    let domain = load(file.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
    let executor = open(&domain, file.parent()).unwrap().unwrap();
    let Some(mut times) = compare(&domain, &*executor) else { return };
    times.sort_unstable();
    let median = times[times.len() / 2];
    eprintln!(
        "median {median:?}, 90 % {:?}, longest {:?}",
        times[times.len() * 9 / 10],
        times[times.len() - 1]
    );
    assert!(QUIRKS.len() <= 20);
}

#[cfg(all(feature = "postgres", unix))]
#[test]
fn all_programs_of_the_corpus_denote_in_postgresql_what_the_reference_says() {
    let Some(server) = server::Server::start() else { return };
    server.execute("postgres", "create role reader login");
    server.execute("postgres", "create database geo");
    server.execute(
        "geo",
        &format!("{} analyze; grant select on all tables in schema public to reader", statements()),
    );
    let directory = TempDir::new().unwrap();
    let source = std::fs::read_to_string(Path::new(DIRECTORY).join("domain.toml")).unwrap();
    let file = directory.path().join("domain.toml");
    // The same file, but for the address of the database.
    std::fs::write(&file, source.replace("sqlite:geo.db", &server.url("reader", "geo", ""))).unwrap();
    let domain = load(file.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
    let executor = open(&domain, file.parent()).unwrap().unwrap();
    let Some(mut times) = compare(&domain, &*executor) else { return };
    times.sort_unstable();
    eprintln!("PostgreSQL: median {:?}", times[times.len() / 2]);
}

#[test]
fn a_database_accepts_every_fragment_of_the_file() {
    let (_directory, file) = sqlite();
    let domain = load(file.to_str().unwrap()).unwrap();
    let (problems, n) = check_fragments(&domain, file.parent()).unwrap();
    assert!(problems.is_empty() && n > 60, "{n}: {problems:?}");
}
