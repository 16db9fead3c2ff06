//! The facts of GeoQuery, read once from the embedded tables into interned, indexed rows.
//!
//! Rows keep the order of their table, also within an index: answers depend on it wherever there is a tie or
//! a first match.

use super::notation;
use super::value::{Name, Number};
use hashbrown::HashMap;
use spanwise_geobase::table;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A state, and the District of Columbia.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) name: Name,
    pub(super) abbrev: Name,
    pub(super) capital: Name,
    pub(super) population: Number,
    pub(super) area: f64,
}

/// A city.
#[derive(Clone, Copy, Debug)]
pub(super) struct City {
    pub(super) state: Name,
    pub(super) abbrev: Name,
    pub(super) name: Name,
    pub(super) population: Number,
}

/// A river.
#[derive(Clone, Copy, Debug)]
pub(super) struct River {
    pub(super) name: Name,
    pub(super) length: Number,
}

/// One state on the way of a river. A river can list a state twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) river: Name,
    pub(super) state: Name,
}

/// One neighbor in the entry of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    pub(super) state: Name,
    pub(super) neighbor: Name,
}

/// The highest or the lowest place of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) state: Name,
    pub(super) place: Name,
    pub(super) elevation: Number,
}

/// All facts, under every name they are looked up by.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) names: Names,
    pub(super) states: Index<State>,
    pub(super) states_by_capital: Index<State>,
    pub(super) cities: Index<City>,
    pub(super) cities_by_state: Index<City>,
    pub(super) rivers: Index<River>,
    pub(super) courses: Index<Course>,
    pub(super) courses_by_state: Index<Course>,
    pub(super) borders: Index<Border>,
    pub(super) borders_by_neighbor: Index<Border>,
    pub(super) highs: Index<Point>,
    pub(super) highs_by_state: Index<Point>,
    pub(super) lows: Index<Point>,
    pub(super) lows_by_state: Index<Point>,
    pub(super) lakes: Index<Name>,
    pub(super) usa: Name,
    pub(super) highest_of_usa: Name,
    pub(super) lowest_of_usa: Name,
}

const USA: &str = "usa";
const HIGHEST_OF_USA: &str = "mount mckinley";
const LOWEST_OF_USA: &str = "death valley";

/// Columns whose cells are names, or lists of names.
const NAME_COLUMNS: &[(&str, &[&str])] = &[
    ("facts/states.tsv", &["name", "abbrev", "capital"]),
    ("facts/cities.tsv", &["state", "abbrev", "name"]),
    ("facts/rivers.tsv", &["name", "states"]),
    ("facts/borders.tsv", &["state", "neighbors"]),
    ("facts/highlow.tsv", &["state", "highest", "lowest"]),
    ("facts/lakes.tsv", &["name"]),
];

impl Facts {
    /// The facts. The first call reads the tables.
    pub(super) fn get() -> &'static Self {
        static FACTS: LazyLock<Facts> = LazyLock::new(Facts::read);
        &FACTS
    }

    fn read() -> Self {
        let names = Names::of_all_columns();
        let states = rows("facts/states.tsv", &names, state);
        let cities = rows("facts/cities.tsv", &names, city);
        let rivers = rows("facts/rivers.tsv", &names, river);
        let lakes = rows("facts/lakes.tsv", &names, |row| row.name("name"));
        let highs = rows("facts/highlow.tsv", &names, |row| point(row, "highest", "highest_elevation"));
        let lows = rows("facts/highlow.tsv", &names, |row| point(row, "lowest", "lowest_elevation"));
        let courses = rows("facts/rivers.tsv", &names, courses).concat();
        let borders = rows("facts/borders.tsv", &names, borders).concat();
        let n = names.len();
        Self {
            states: Index::new(n, &states, |row| row.name),
            states_by_capital: Index::new(n, &states, |row| row.capital),
            cities: Index::new(n, &cities, |row| row.name),
            cities_by_state: Index::new(n, &cities, |row| row.state),
            rivers: Index::new(n, &rivers, |row| row.name),
            courses: Index::new(n, &courses, |row| row.river),
            courses_by_state: Index::new(n, &courses, |row| row.state),
            borders: Index::new(n, &borders, |row| row.state),
            borders_by_neighbor: Index::new(n, &borders, |row| row.neighbor),
            highs: Index::new(n, &highs, |row| row.place),
            highs_by_state: Index::new(n, &highs, |row| row.state),
            lows: Index::new(n, &lows, |row| row.place),
            lows_by_state: Index::new(n, &lows, |row| row.state),
            lakes: Index::new(n, &lakes, |&name| name),
            usa: names.known(USA),
            highest_of_usa: names.known(HIGHEST_OF_USA),
            lowest_of_usa: names.known(LOWEST_OF_USA),
            names,
        }
    }
}

/// The rows of a table under one of their names.
#[derive(Debug)]
pub(super) struct Index<T> {
    in_order: Vec<T>,
    by_name: Vec<T>,
    /// Where the rows of a name start in `by_name`; one more entry than there are names.
    starts: Vec<u32>,
}

impl<T: Copy> Index<T> {
    fn new(n_names: usize, rows: &[T], name: impl Fn(&T) -> Name) -> Self {
        let mut by_name = rows.to_vec();
        by_name.sort_by_key(&name);
        let start = |key: usize| by_name.partition_point(|row| (name(row).0 as usize) < key) as u32;
        let starts = (0..=n_names).map(start).collect();
        Self { in_order: rows.to_vec(), by_name, starts }
    }

    /// All rows in the order of the table.
    pub(super) fn all(&self) -> &[T] {
        &self.in_order
    }

    /// The rows of `name` in the order of the table: all of them when the name is open, none when no fact
    /// uses it.
    pub(super) fn get(&self, name: Name) -> &[T] {
        if name == Name::ANY {
            return &self.in_order;
        }
        match self.starts.get(name.0 as usize..).and_then(|starts| starts.get(..2)) {
            Some(bounds) => &self.by_name[bounds[0] as usize..bounds[1] as usize],
            None => &[],
        }
    }
}

/// The names of the facts, numbered alphabetically.
#[derive(Debug)]
pub(super) struct Names {
    /// As answers show them.
    shown: Vec<String>,
    by_text: HashMap<&'static str, Name>,
}

impl Names {
    fn of_all_columns() -> Self {
        let mut texts = BTreeSet::from([USA, HIGHEST_OF_USA, LOWEST_OF_USA]);
        for (path, columns) in NAME_COLUMNS {
            let table = Table::read(path);
            for at in columns.iter().map(|column| table.column(column)) {
                texts.extend(table.rows.iter().flat_map(|cells| list(cells[at])));
            }
        }
        let by_text = texts.iter().zip(0..).map(|(&text, id)| (text, Name(id))).collect();
        let show = |text: &&str| {
            let mut shown = String::new();
            notation::write_name(&mut shown, text);
            shown
        };
        Self { shown: texts.iter().map(show).collect(), by_text }
    }

    /// Number of names; a [`Name`] from there on is in no fact.
    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    /// The name with this text, when a fact uses it.
    pub(super) fn find(&self, text: &str) -> Option<Name> {
        self.by_text.get(text).copied()
    }

    /// The name as answers show it, when a fact uses it.
    pub(super) fn shown(&self, name: Name) -> Option<&str> {
        self.shown.get(name.0 as usize).map(String::as_str)
    }

    fn known(&self, text: &str) -> Name {
        self.find(text).expect("all names of the tables are interned before rows are built")
    }
}

/// The items of a list within a cell; a cell without `|` is a list of one, an empty cell of none.
fn list(cell: &'static str) -> impl Iterator<Item = &'static str> {
    cell.split('|').filter(|item| !item.is_empty())
}

/// A table cut into cells.
struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

impl Table {
    fn read(path: &str) -> Self {
        let text = table(path).expect("only embedded tables are requested");
        let mut lines = text.lines().map(|line| line.split('\t').collect());
        let header = lines.next().expect("every table has a header line");
        Self { header, rows: lines.collect() }
    }

    fn column(&self, name: &str) -> usize {
        self.header.iter().position(|&column| column == name).expect("the column is in the header")
    }
}

/// A row of a table, read by the names of its columns.
struct Row<'a> {
    names: &'a Names,
    table: &'a Table,
    cells: &'a [&'static str],
}

impl Row<'_> {
    fn cell(&self, column: &str) -> &'static str {
        self.cells[self.table.column(column)]
    }

    fn name(&self, column: &str) -> Name {
        self.names.known(self.cell(column))
    }

    fn name_list(&self, column: &str) -> impl Iterator<Item = Name> {
        list(self.cell(column)).map(|text| self.names.known(text))
    }

    /// A number, which is whole when it is written without a decimal point.
    fn number(&self, column: &str) -> Number {
        let cell = self.cell(column);
        match cell.parse() {
            Ok(whole) => Number::Int(whole),
            Err(_) => Number::Float(cell.parse().expect("a cell of a number column is a number")),
        }
    }
}

fn rows<T>(path: &str, names: &Names, read: impl Fn(&Row<'_>) -> T) -> Vec<T> {
    let table = Table::read(path);
    table.rows.iter().map(|cells| read(&Row { names, table: &table, cells })).collect()
}

fn state(row: &Row<'_>) -> State {
    State {
        name: row.name("name"),
        abbrev: row.name("abbrev"),
        capital: row.name("capital"),
        population: row.number("population"),
        area: row.number("area").size(),
    }
}

fn city(row: &Row<'_>) -> City {
    City {
        state: row.name("state"),
        abbrev: row.name("abbrev"),
        name: row.name("name"),
        population: row.number("population"),
    }
}

fn river(row: &Row<'_>) -> River {
    River { name: row.name("name"), length: row.number("length") }
}

fn courses(row: &Row<'_>) -> Vec<Course> {
    let river = row.name("name");
    row.name_list("states").map(|state| Course { river, state }).collect()
}

fn borders(row: &Row<'_>) -> Vec<Border> {
    let state = row.name("state");
    row.name_list("neighbors").map(|neighbor| Border { state, neighbor }).collect()
}

fn point(row: &Row<'_>, place: &str, elevation: &str) -> Point {
    Point { state: row.name("state"), place: row.name(place), elevation: row.number(elevation) }
}
