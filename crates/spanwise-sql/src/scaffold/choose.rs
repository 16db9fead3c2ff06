//! Which tables can be asked about.

use super::nouns::{ALIAS, key};
use super::{Options, is_called};
use crate::database::Dialect;
use crate::schema::{ColumnKind, Schema, Table};

/// The most tables of a domain. The budget of signatures allows fewer where they have many columns.
const MOST_TABLES: usize = 24;

/// The tables that can be asked about, the most useful ones first.
pub(super) fn choose(schema: &Schema, options: &Options, left_out: &mut Vec<String>) -> Vec<usize> {
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
