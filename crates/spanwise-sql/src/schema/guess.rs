//! References that nothing declares: `customer_id` with values that are all in the table of customers.

use super::catalog::{Reader, number};
use super::{ColumnKind, ForeignKey, Schema, Table, quoted};
use crate::scaffold::names;

/// Rows of a reference that are compared with the other table.
const ROWS: u64 = 20_000;

/// Adds the references that names suggest and values confirm. What cannot be read is no reference.
pub(super) fn foreign_keys(asker: &Reader<'_>, schema: &mut Schema) {
    let prefix = names::common_prefix(schema.tables.iter().map(|table| table.name.as_str()));
    let nouns: Vec<Vec<String>> = schema
        .tables
        .iter()
        .map(|table| names::singular(&names::table_words(&table.name, &prefix)))
        .collect();
    for from in 0..schema.tables.len() {
        for place in 0..schema.tables[from].columns.len() {
            let Some((to, referenced)) = suggested(schema, &nouns, from, place) else { continue };
            if fits(asker, &schema.tables[from], place, &schema.tables[to], referenced) {
                let key = ForeignKey {
                    columns: vec![place],
                    table: to,
                    referenced: vec![referenced],
                    is_guessed: true,
                };
                schema.tables[from].foreign_keys.push(key);
            }
        }
    }
}

/// The table and column that a column seems to refer to, by its name.
fn suggested(schema: &Schema, nouns: &[Vec<String>], from: usize, place: usize) -> Option<(usize, usize)> {
    let table = &schema.tables[from];
    let column = &table.columns[place];
    let is_key = |kind| matches!(kind, ColumnKind::Integer | ColumnKind::Text | ColumnKind::Uuid);
    let known = table.foreign_keys.iter().any(|key| key.columns.contains(&place));
    if known || !is_key(column.kind) || table.primary_key == [place] {
        return None;
    }
    let mut words = names::words(&column.name);
    if !matches!(words.pop()?.as_str(), "id" | "code" | "no" | "key" | "fk") || words.is_empty() {
        return None;
    }
    let words = names::singular(&words);
    let key_of = |other: usize| match schema.tables[other].primary_key[..] {
        [key] if schema.tables[other].columns[key].kind == column.kind && !schema.tables[other].is_view => {
            Some((other, key))
        }
        _ => None,
    };
    if words == ["parent"] {
        return key_of(from);
    }
    let named = |other: &usize| *other != from && (nouns[*other] == words || words.ends_with(&nouns[*other]));
    let mut others: Vec<usize> = (0..schema.tables.len()).filter(named).collect();
    // `order_line_id` is of order lines, not of lines.
    others.sort_by_key(|other| std::cmp::Reverse(nouns[*other].len()));
    others.into_iter().find_map(key_of)
}

/// Whether all values of a column are in another one.
fn fits(asker: &Reader<'_>, table: &Table, place: usize, other: &Table, referenced: usize) -> bool {
    let (column, key) = (quoted(&table.columns[place].name), quoted(&other.columns[referenced].name));
    let sql = format!(
        "select count(*), coalesce(sum(case when exists (select 1 from {} as o where o.{key} = s.v) then 1 else 0 end), 0) \
         from (select {column} as v from {} where {column} is not null limit {ROWS}) as s",
        other.sql(),
        table.sql()
    );
    let Ok(rows) = asker.rows(sql) else { return false };
    rows.first().is_some_and(|row| number(row, 0) > 0 && number(row, 0) == number(row, 1))
}
