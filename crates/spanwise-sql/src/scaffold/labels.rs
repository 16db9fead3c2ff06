//! Names of rows, and what is shown of them.

use super::attributes::{self, Attribute};
use super::english;
use super::names;
use super::nouns::{ALIAS, ident, unused};
use crate::database::Dialect;
use crate::schema::{ColumnKind, Table};
use hashbrown::HashSet;

/// The most columns that are shown.
const MOST_SHOWN: usize = 8;
/// The longest name of a thing.
const LONGEST_NAME: u64 = 80;

/// The expression for the name of a row, with its columns: a column that says so and whose values are nearly all different, or
/// first and last name.
pub(super) fn label(table: &Table, noun: &[String], dialect: Dialect) -> Option<(String, Vec<usize>)> {
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
pub(super) fn shown(
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
