//! What can be asked for: nouns for tables and for the values of some columns, and the links between them.

use super::attributes::{self, Attribute, Kind};
use super::english;
use super::names;
use super::paths::Link;
use super::{Options, is_called};
use crate::database::Dialect;
use crate::schema::{ColumnKind, MOST_ROWS, Schema, Table, quoted};
use hashbrown::HashSet;

/// Stands for the alias of the table in an expression.
pub(super) const ALIAS: &str = "\u{1}";

/// The most tables of a domain. The budget of signatures allows fewer where they have many columns.
const MOST_TABLES: usize = 24;
/// The most columns of a table that can be asked about.
const MOST_COLUMNS: usize = 14;
/// The most columns that are shown.
const MOST_SHOWN: usize = 8;
/// The most different values of a column that is a noun of its own.
const MOST_VALUES: u64 = 300;
/// The longest name of a thing.
const LONGEST_NAME: u64 = 80;

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
    let chosen = choose(schema, options, &mut left_out);
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
    values(schema, &number_of, &mut plan, &mut taken);
    plan
}

/// The tables that can be asked about, the most useful ones first.
fn choose(schema: &Schema, options: &Options, left_out: &mut Vec<String>) -> Vec<usize> {
    let mut chosen = Vec::new();
    for (place, table) in schema.tables.iter().enumerate() {
        let wanted = options.tables.is_empty() || options.tables.iter().any(|name| is_called(table, name));
        if !wanted || options.exclude.iter().any(|name| is_called(table, name)) {
            continue;
        }
        let is_named = !options.tables.is_empty();
        if table.is_view && !is_named && schema.tables.iter().any(|table| !table.is_view && table.rows > 0) {
            left_out.push(format!("{}: a view; `--tables` chooses views", table.title()));
        } else if let Some(reason) = unusable(table, schema.dialect) {
            left_out.push(format!("{}: {reason}", table.title()));
        } else {
            chosen.push(place);
        }
    }
    let referred = |place: usize| {
        let keys = schema.tables.iter().flat_map(|table| &table.foreign_keys);
        keys.filter(|key| key.table == place).count()
    };
    let worth = |place: usize| {
        let table = &schema.tables[place];
        let is_small = if table.rows < 3 { 0.0 } else { 1.0 };
        let own = table.foreign_keys.len() as f64;
        2.0 * referred(place) as f64 + own + (table.rows as f64).log10().max(0.0) + is_small
            - if table.is_view { 4.0 } else { 0.0 }
    };
    let mut ranked = chosen.clone();
    ranked.sort_by(|one, other| worth(*other).total_cmp(&worth(*one)).then(one.cmp(other)));
    for place in ranked.split_off(ranked.len().min(MOST_TABLES)) {
        left_out.push(format!(
            "{}: more than {MOST_TABLES} tables; `--tables` chooses others",
            schema.tables[place].title()
        ));
    }
    chosen.retain(|place| ranked.contains(place));
    chosen
}

/// Why a table cannot be asked about.
fn unusable(table: &Table, dialect: Dialect) -> Option<&'static str> {
    let has_brace = |name: &str| name.contains(['{', '}', '\0']) || name.contains(ALIAS);
    if table.rows == 0 {
        Some("it is empty")
    } else if has_brace(&table.name) || table.schema.as_deref().is_some_and(has_brace) {
        Some("its name has braces or control characters")
    } else if key(table, dialect).is_none() {
        Some("a view without a column whose values are all different")
    } else if table.columns.iter().all(|column| column.kind == ColumnKind::Other) {
        Some("it has no column that can be compared")
    } else {
        None
    }
}

/// The expression that tells the rows of a table apart.
fn key(table: &Table, dialect: Dialect) -> Option<String> {
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
    let label = label(table, &words, schema.dialect);
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
        shown: shown(table, &label, &attributes),
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
fn stopped(names: &[String]) -> Vec<String> {
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
fn unused(name: String, taken: &mut HashSet<String>) -> String {
    let mut number = 1;
    let mut candidate = name.clone();
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}_{number}");
    }
    candidate
}

/// The expression for the name of a row, with its columns: a column that says so and whose values are nearly all different, or
/// first and last name.
fn label(table: &Table, noun: &[String], dialect: Dialect) -> Option<(String, Vec<usize>)> {
    let text = |place: &usize| attributes::text_of(&table.columns[*place].name, noun).0;
    // Names of enumerated types are compared as text.
    let cast = if dialect == Dialect::Postgres { "::text" } else { "" };
    let column = |place: &usize| format!("{ALIAS}.{}{cast}", ident(&table.columns[*place].name));
    let usable = |place: &usize| {
        let column = &table.columns[*place];
        let figures = column.figures.as_ref();
        column.kind == ColumnKind::Text
            && !column.name.contains(['{', '}', '\0'])
            && figures.is_some_and(|figures| figures.values > 0 && figures.longest <= LONGEST_NAME)
    };
    let texts: Vec<usize> = (0..table.columns.len()).filter(usable).collect();
    let find = |wanted: &[&str]| texts.iter().copied().find(|place| wanted.contains(&text(place).as_str()));
    let first = find(&["first name", "given name", "forename", "firstname"]);
    let last = find(&["last name", "family name", "surname", "lastname"]);
    if let (Some(first), Some(last)) = (first, last) {
        let (one, other) = (column(&first), column(&last));
        return Some((
            format!("trim(coalesce({one}, '') || ' ' || coalesce({other}, ''))"),
            vec![first, last],
        ));
    }
    let varied = |place: &usize| {
        let figures = table.columns[*place].figures.as_ref();
        figures
            .is_some_and(|figures| figures.distinct * 2 >= figures.values && figures.values * 2 > table.rows)
    };
    let one = noun.join(" ");
    let wanted = [
        "name",
        "title",
        "full name",
        "label",
        "display name",
        "caption",
        &one,
        "username",
        "user name",
        "login",
    ];
    let named = wanted.iter().find_map(|name| find(&[name]).filter(varied));
    let ends = || {
        texts.iter().copied().find(|place| {
            varied(place) && (text(place).ends_with(" name") || text(place).ends_with(" title"))
        })
    };
    let is_key = || {
        let refers = |place: &usize| table.foreign_keys.iter().any(|key| key.columns.contains(place));
        texts.iter().copied().find(|place| table.primary_key == [*place] && !refers(place))
    };
    // A single column of words in another language: what it is called cannot be known.
    let only = || {
        let unknown =
            |place: &usize| varied(place) && table.is_unique(&[*place]) && !looks_coded(table, *place);
        let mut left = texts.iter().copied().filter(unknown);
        left.next().filter(|_| left.next().is_none())
    };
    named.or_else(ends).or_else(is_key).or_else(only).map(|place| (column(&place), vec![place]))
}

/// Whether the values of a column are codes, addresses and such rather than names.
fn looks_coded(table: &Table, place: usize) -> bool {
    let (text, _) = attributes::text_of(&table.columns[place].name, &[]);
    let words = names::words(&text);
    let code = [
        "code",
        "email",
        "mail",
        "phone",
        "url",
        "sku",
        "isbn",
        "uuid",
        "hash",
        "path",
        "note",
        "description",
        "body",
        "text",
        "street",
        "address",
        "key",
        "number",
        "website",
        "id",
        "password",
        "token",
    ];
    let sampled =
        table.columns[place].figures.as_ref().map(|figures| figures.common.as_slice()).unwrap_or_default();
    english::has_any(&words, &code)
        || sampled
            .iter()
            .any(|value| value.contains('@') || value.contains("://") || !value.contains(char::is_alphabetic))
}

/// The columns to show: the name, then what is short.
fn shown(
    table: &Table,
    label: &Option<(String, Vec<usize>)>,
    attributes: &[Attribute],
) -> Vec<(String, String)> {
    let mut shown = Vec::new();
    if let Some((label, columns)) = label {
        let heading =
            if columns.len() > 1 { "name".to_owned() } else { table.columns[columns[0]].name.clone() };
        shown.push((heading, label.clone()));
    } else {
        for &place in &table.primary_key {
            let name = &table.columns[place].name;
            shown.push((name.clone(), format!("{ALIAS}.{}", ident(name))));
        }
    }
    let used: Vec<usize> = label.as_ref().map(|(_, columns)| columns.clone()).unwrap_or_default();
    for attribute in attributes {
        let is_used = used.iter().any(|place| attribute.shown.ends_with(&ident(&table.columns[*place].name)));
        if shown.len() < MOST_SHOWN && !is_used && attribute.longest <= 60 {
            shown.push((attribute.text.clone(), attribute.shown.clone()));
        }
    }
    if shown.is_empty() {
        let first = &table.columns[0].name;
        shown.push((first.clone(), format!("{ALIAS}.{}", ident(first))));
    }
    let mut taken = HashSet::new();
    shown.into_iter().map(|(heading, value)| (unused(heading, &mut taken), value)).collect()
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

/// Nouns for the values of columns, and for months and years.
fn values(schema: &Schema, number_of: &[Option<usize>], plan: &mut Plan, taken: &mut HashSet<String>) {
    for base in 0..plan.nouns.len() {
        let Some(place) = number_of.iter().position(|number| *number == Some(base)) else { continue };
        if plan.nouns[base].kind != NounKind::Rows {
            continue;
        }
        for attribute in plan.nouns[base].attributes.clone() {
            let table = &schema.tables[place];
            let column = table
                .columns
                .iter()
                .find(|column| attribute.shown.ends_with(&format!(".{}", ident(&column.name))));
            let Some(figures) = column.and_then(|column| column.figures.as_ref()) else { continue };
            let few = figures.distinct >= 2
                && figures.distinct <= MOST_VALUES
                && (figures.distinct * 3 <= figures.values
                    || figures.distinct <= 12 && figures.distinct < figures.values
                    || english::has_any(&names::words(&attribute.text), english::PLACES))
                && figures.longest <= 40;
            let labels =
                plan.nouns[base].label.as_ref().is_some_and(|label| label.contains(&attribute.value));
            if attribute.kind == Kind::Text && few && !labels && !is_coded(&attribute.text) {
                value_noun(plan, base, &attribute, &figures.common, figures.distinct, taken);
            }
            if attribute.kind == Kind::Date && attribute.is_main && plan.nouns[base].rows > 20 {
                period_nouns(
                    plan,
                    base,
                    &attribute,
                    column.is_some_and(|column| column.kind == ColumnKind::Integer),
                    taken,
                );
            }
        }
    }
}

fn is_coded(text: &str) -> bool {
    let words = names::words(text);
    english::has_any(
        &words,
        &[
            "code",
            "email",
            "mail",
            "phone",
            "fax",
            "url",
            "street",
            "postal",
            "description",
            "note",
            "body",
            "name",
            "comment",
            "text",
            "number",
            "address",
        ],
    ) && !matches!(text, "brand name" | "category name")
        || text == "title"
}

fn value_noun(
    plan: &mut Plan,
    base: usize,
    attribute: &Attribute,
    common: &[String],
    count: u64,
    taken: &mut HashSet<String>,
) {
    let noun = &plan.nouns[base];
    let words = names::singular(&names::words(&attribute.text));
    let own: Vec<String> = names::words(&noun.one).into_iter().chain(words.clone()).collect();
    let ty = unused(names::camel(&own, &format!("{}Value", noun.ty)), taken);
    let base_value = attribute.value.replace(ALIAS, "b");
    let source = format!(
        "(select distinct {base_value} as v from {} as b where {base_value} is not null)",
        noun.source
    );
    let value = format!("{ALIAS}.v");
    let number = plan.nouns.len();
    let link = Link {
        child: base,
        parent: number,
        on: vec![(attribute.value.clone(), value.clone())],
        role: attribute.text.clone(),
        has_role: false,
        is_nullable: attribute.is_nullable,
        is_guessed: false,
    };
    let noun = Noun {
        kind: NounKind::Values,
        title: format!("{}.{}", noun.title, attribute.text),
        name: names::snake(&names::plural(&words), &format!("values_{number}")),
        one: words.join(" "),
        many: names::plural(&words).join(" "),
        ty,
        source,
        key: value.clone(),
        label: Some(value.clone()),
        number: None,
        shown: vec![(attribute.text.clone(), value)],
        attributes: Vec::new(),
        rows: count,
        is_person: false,
        is_detail: false,
        stopped: stopped(common),
        samples: common.iter().take(3).cloned().collect(),
    };
    plan.nouns.push(noun);
    plan.links.push(link);
}

fn period_nouns(
    plan: &mut Plan,
    base: usize,
    attribute: &Attribute,
    is_year: bool,
    taken: &mut HashSet<String>,
) {
    for (one, width) in [("month", 7), ("year", 4)] {
        if is_year && one == "month" {
            continue;
        }
        let noun = &plan.nouns[base];
        let on = |alias: &str| {
            let value = attribute.value.replace(ALIAS, alias);
            match plan.dialect {
                Dialect::Sqlite => format!("substr({value}, 1, {width})"),
                Dialect::Postgres if one == "month" => format!("to_char({value}, 'YYYY-MM')"),
                Dialect::Postgres => format!("to_char({value}, 'YYYY')"),
            }
        };
        let source =
            format!("(select distinct {0} as v from {1} as b where {0} is not null)", on("b"), noun.source);
        let ty = unused(format!("{}{}", noun.ty, names::camel(&[one.to_owned()], "P")), taken);
        let value = format!("{ALIAS}.v");
        let number = plan.nouns.len();
        let link = Link {
            child: base,
            parent: number,
            on: vec![(on(ALIAS), value.clone())],
            role: one.to_owned(),
            has_role: false,
            is_nullable: true,
            is_guessed: false,
        };
        let noun = Noun {
            kind: NounKind::Periods,
            title: format!("{} of {}", one, noun.title),
            name: format!("{one}s"),
            one: one.to_owned(),
            many: format!("{one}s"),
            ty,
            source,
            key: value.clone(),
            label: None,
            number: None,
            shown: vec![(one.to_owned(), value)],
            attributes: Vec::new(),
            rows: 12,
            is_person: false,
            is_detail: false,
            stopped: Vec::new(),
            samples: Vec::new(),
        };
        plan.nouns.push(noun);
        plan.links.push(link);
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
