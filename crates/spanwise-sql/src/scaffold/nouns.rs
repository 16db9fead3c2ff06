//! What can be asked for: nouns for tables and for the values of some columns, and the links between them.

use super::attributes::{self, Attribute};
use super::english;
use super::names;
use super::paths::Link;
use super::{Options, choose, derived, labels};
use crate::database::Dialect;
use crate::schema::{ColumnKind, MOST_ROWS, Schema, Table, quoted};
use hashbrown::HashSet;

/// Stands for the alias of the table in an expression.
pub(super) const ALIAS: &str = "\u{1}";

/// The most columns of a table that can be asked about.
const MOST_COLUMNS: usize = 14;

/// What a noun stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NounKind {
    /// Rows of a table.
    Rows,
    /// Rows that only connect others. They are no noun of their own.
    Junction,
    /// Values of a column.
    Values,
    /// Months or years of a column with days, to count by.
    Periods,
}

/// A noun.
#[derive(Clone, Debug)]
pub(super) struct Noun {
    pub(super) kind: NounKind,
    /// The table as people know it.
    pub(super) title: String,
    /// The begin of the names of its types: `OrderLine`.
    pub(super) ty: String,
    /// The begin of the names of its constants: `order_lines`.
    pub(super) name: String,
    pub(super) one: String,
    pub(super) many: String,
    /// Where its rows come from, as SQL.
    pub(super) source: String,
    /// The key of a row, with [`ALIAS`] for the table.
    pub(super) key: String,
    /// The name of a row.
    pub(super) label: Option<String>,
    /// A whole number that people use instead of a name: *order 17*.
    pub(super) number: Option<String>,
    /// The columns that are shown, with their headings.
    pub(super) shown: Vec<(String, String)>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) rows: u64,
    pub(super) is_person: bool,
    /// Whether its rows are parts of others: lines of orders.
    pub(super) is_detail: bool,
    /// Names that are words of any sentence, and are not read.
    pub(super) stopped: Vec<String>,
    /// Examples of names, for comments.
    pub(super) samples: Vec<String>,
}

/// What the language is made from.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) dialect: Dialect,
    pub(super) nouns: Vec<Noun>,
    pub(super) links: Vec<Link>,
    pub(super) left_out: Vec<String>,
}

impl Plan {
    /// Nouns for tables.
    pub(super) fn listed(&self) -> impl Iterator<Item = &Noun> {
        self.nouns.iter().filter(|noun| noun.kind == NounKind::Rows)
    }
}

/// A name as SQL in a fragment.
pub(super) fn ident(name: &str) -> String {
    quoted(name)
}

/// Chooses tables and columns.
pub(super) fn plan(schema: &Schema, options: &Options) -> Plan {
    let mut left_out = schema.notes.clone();
    let chosen = choose::choose(schema, options, &mut left_out);
    let prefix = names::common_prefix(schema.tables.iter().map(|table| table.name.as_str()));
    let mut plan = Plan { dialect: schema.dialect, nouns: Vec::new(), links: Vec::new(), left_out };
    let mut taken = HashSet::new();
    let mut number_of = vec![None; schema.tables.len()];
    for &place in &chosen {
        let table = &schema.tables[place];
        if let Some(key) = key(table, schema.dialect) {
            number_of[place] = Some(plan.nouns.len());
            let noun = table_noun(schema, place, key, &prefix, &mut taken, &mut plan.left_out);
            plan.nouns.push(noun);
        }
    }
    links(schema, &number_of, &mut plan);
    shorten(&mut plan, options.budget);
    derived::values(schema, &number_of, &mut plan, &mut taken);
    plan
}

/// The expression that tells the rows of a table apart.
pub(super) fn key(table: &Table, dialect: Dialect) -> Option<String> {
    let column = |place: &usize| format!("{ALIAS}.{}", ident(&table.columns[*place].name));
    let has_brace = |place: &usize| table.columns[*place].name.contains(['{', '}', '\0']);
    let of = |columns: &[usize]| {
        if columns.is_empty() || columns.iter().any(has_brace) {
            return None;
        }
        let list: Vec<String> = columns.iter().map(column).collect();
        Some(match (&list[..], dialect) {
            ([one], _) => one.clone(),
            (_, Dialect::Sqlite) => format!("json_array({})", list.join(", ")),
            (_, Dialect::Postgres) => format!("jsonb_build_array({})::text", list.join(", ")),
        })
    };
    let unique = || {
        let known = table
            .unique
            .iter()
            .find(|columns| columns.iter().all(|place| !table.columns[*place].is_nullable));
        known.and_then(|columns| of(columns))
    };
    let rows = || {
        let name = if dialect == Dialect::Sqlite { "rowid" } else { "ctid::text" };
        table.has_row_ids.then(|| format!("{ALIAS}.{name}"))
    };
    let counted = || {
        let is_key = |place: &usize| {
            table.rows < MOST_ROWS
                && table.is_unique(&[*place])
                && table.columns[*place].kind != ColumnKind::Other
        };
        let mut places = (0..table.columns.len()).filter(is_key);
        let named =
            |place: &usize| names::words(&table.columns[*place].name).last().is_some_and(|word| word == "id");
        let place = places.clone().find(named).or_else(|| places.next())?;
        of(&[place])
    };
    // In SQLite the number of a row is found faster than a key of several columns.
    let is_composite = table.primary_key.len() > 1 && dialect == Dialect::Sqlite;
    let numbered = || if is_composite { rows() } else { None };
    numbered().or_else(|| of(&table.primary_key)).or_else(unique).or_else(rows).or_else(counted)
}

fn table_noun(
    schema: &Schema,
    place: usize,
    key: String,
    prefix: &Option<String>,
    taken: &mut HashSet<String>,
    left_out: &mut Vec<String>,
) -> Noun {
    let table = &schema.tables[place];
    let mut words = names::singular(&names::table_words(&table.name, prefix));
    if words.is_empty() {
        words = vec!["table".to_owned(), (place + 1).to_string()];
    }
    // Two schemas may have a table of one name.
    if let Some(schema) = table.schema.as_ref().filter(|_| taken.contains(&names::camel(&words, "T"))) {
        words.splice(0..0, names::words(schema));
    }
    let label = labels::label(table, &words, schema.dialect);
    let label_columns = label.as_ref().map(|(_, columns)| columns.clone()).unwrap_or_default();
    let refers = |column: &usize| table.foreign_keys.iter().any(|key| key.columns.contains(column));
    let mut attributes = Vec::new();
    for column in 0..table.columns.len() {
        let is_key = table.primary_key.contains(&column) && !label_columns.contains(&column);
        let shape = &table.columns[column];
        if shape.name.contains(['{', '}', '\0']) || shape.kind == ColumnKind::Other {
            let reason = if shape.kind == ColumnKind::Other { "its type" } else { "its name" };
            left_out.push(format!("{}.{}: left out for {reason}", table.title(), shape.name));
        } else if !is_key && !refers(&column) {
            attributes.extend(attributes::attribute(table, column, &words, schema.dialect));
        }
    }
    distinct(&mut attributes);
    for dropped in attributes.split_off(attributes.len().min(MOST_COLUMNS)) {
        left_out.push(format!("{}: more than {MOST_COLUMNS} columns: {}", table.title(), dropped.text));
    }
    attributes::choose_main(&mut attributes, &words);
    let is_junction = attributes.is_empty() && table.foreign_keys.len() >= 2;
    let ty = unused(names::camel(&words, &format!("Table{}", place + 1)), taken);
    let number = (label.is_none() && table.primary_key.len() == 1)
        .then(|| &table.columns[table.primary_key[0]])
        .filter(|column| column.kind == ColumnKind::Integer)
        .map(|column| format!("{ALIAS}.{}", ident(&column.name)));
    let samples = label_columns.first().and_then(|column| table.columns[*column].figures.as_ref());
    Noun {
        kind: if is_junction { NounKind::Junction } else { NounKind::Rows },
        title: table.title(),
        name: names::snake(&names::plural(&words), &format!("table_{}", place + 1)),
        one: words.join(" "),
        many: names::plural(&words).join(" "),
        ty,
        source: table.sql(),
        shown: labels::shown(table, &label, &attributes),
        label: label.map(|(label, _)| label),
        key,
        number,
        is_person: words.last().is_some_and(|word| english::PEOPLE.contains(&word.as_str())),
        is_detail: is_detail(table),
        attributes,
        rows: table.rows,
        stopped: stopped(samples.map(|figures| figures.common.as_slice()).unwrap_or_default()),
        samples: samples.map(|figures| figures.common.iter().take(3).cloned().collect()).unwrap_or_default(),
    }
}

/// The names that are words of any sentence, unless all names are.
pub(super) fn stopped(names: &[String]) -> Vec<String> {
    let is_stop = |name: &&String| english::STOP.contains(&name.trim().to_lowercase().as_str());
    let found: Vec<String> = names.iter().filter(is_stop).cloned().collect();
    if found.len() < names.len() { found } else { Vec::new() }
}

/// Whether the key of a table consists of references to several others.
fn is_detail(table: &Table) -> bool {
    let refers = |column: &usize| table.foreign_keys.iter().any(|key| key.columns.contains(column));
    table.primary_key.len() > 1 && table.primary_key.iter().filter(|column| refers(column)).count() > 1
}

/// Gives attributes of one name different ones.
fn distinct(attributes: &mut [Attribute]) {
    let mut taken = HashSet::new();
    for attribute in attributes {
        attribute.name = unused(attribute.name.clone(), &mut taken);
    }
}

/// A name that nothing has yet.
pub(super) fn unused(name: String, taken: &mut HashSet<String>) -> String {
    let mut number = 1;
    let mut candidate = name.clone();
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}_{number}");
    }
    candidate
}

fn links(schema: &Schema, number_of: &[Option<usize>], plan: &mut Plan) {
    for (place, table) in schema.tables.iter().enumerate() {
        for key in &table.foreign_keys {
            let (Some(child), Some(parent)) = (number_of[place], number_of[key.table]) else { continue };
            let other = &schema.tables[key.table];
            let column =
                |table: &Table, place: usize| format!("{ALIAS}.{}", ident(&table.columns[place].name));
            let pair = |(own, theirs): (&usize, &usize)| (column(table, *own), column(other, *theirs));
            let on: Vec<(String, String)> = key.columns.iter().zip(&key.referenced).map(pair).collect();
            if on.iter().any(|(own, other)| own.contains(['{', '}']) || other.contains(['{', '}'])) {
                continue;
            }
            let role = match key.columns[..] {
                [column] => names::reference_words(&table.columns[column].name).join(" "),
                _ => plan.nouns[parent].one.clone(),
            };
            let is_nullable = key.columns.iter().any(|column| table.columns[*column].is_nullable);
            let is_guessed = key.is_guessed;
            let has_role = false;
            plan.links.push(Link { child, parent, on, role, has_role, is_nullable, is_guessed });
        }
    }
    for place in 0..plan.links.len() {
        let link = &plan.links[place];
        let same = plan
            .links
            .iter()
            .filter(|other| (other.child, other.parent) == (link.child, link.parent))
            .count();
        let has_role = same > 1 || link.child == link.parent;
        plan.links[place].has_role = has_role;
    }
}

/// Leaves out columns of tables that would exceed the budget, the last ones first.
fn shorten(plan: &mut Plan, budget: usize) {
    let cost = |noun: &Noun| 40 + 6 * noun.attributes.len();
    let total: usize = plan.nouns.iter().map(cost).sum();
    if total <= budget {
        return;
    }
    let nouns = plan.nouns.iter().filter(|noun| noun.kind == NounKind::Rows).count().max(1);
    let most = (budget.saturating_sub(40 * nouns) / (6 * nouns)).max(3);
    for noun in &mut plan.nouns {
        for dropped in noun.attributes.split_off(noun.attributes.len().min(most)) {
            plan.left_out
                .push(format!("{}: {}: beyond the budget of {budget} signatures", noun.title, dropped.text));
        }
    }
}
