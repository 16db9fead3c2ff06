//! The catalog of SQLite.

use super::catalog::{Reader, flag, name, number, text};
use super::{Column, ColumnKind, ForeignKey, Schema, Table, figures};
use crate::database::{DatabaseError, Dialect};
use hashbrown::HashMap;

/// Reads tables, columns and keys. What the columns hold is read later, from the values.
pub(super) fn read(asker: &Reader<'_>) -> Result<Schema, DatabaseError> {
    let mut schema = Schema { dialect: Dialect::Sqlite, tables: Vec::new(), notes: Vec::new() };
    let found = asker.rows(
        "select l.name, l.type, l.wr from pragma_table_list as l join sqlite_master as m on m.name = l.name and m.type = l.type \
         where l.schema = 'main' and l.type in ('table', 'view') and l.name not like 'sqlite~_%' escape '~' \
         order by m.rowid",
    )?;
    for row in &found {
        let mut table = Table {
            schema: None,
            name: name(row, 0),
            is_view: name(row, 1) == "view",
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            foreign_keys: Vec::new(),
            has_row_ids: name(row, 1) == "table" && !flag(row, 2),
            rows: 0,
        };
        // A view over a table that is gone has no columns.
        match columns(asker, &mut table) {
            Ok(()) => schema.tables.push(table),
            Err(error) => schema.notes.push(format!("{}: its columns cannot be read: {error}", table.name)),
        }
    }
    foreign_keys(asker, &mut schema)?;
    Ok(schema)
}

fn columns(asker: &Reader<'_>, table: &mut Table) -> Result<(), DatabaseError> {
    let of = figures::literal(&table.name);
    let rows = asker.rows(format!(
        "select name, type, \"notnull\", pk from pragma_table_xinfo({of}) where hidden <> 1 order by cid"
    ))?;
    let mut key = Vec::new();
    for row in rows {
        let place = number(&row, 3);
        if place > 0 {
            key.push((place, table.columns.len()));
        }
        let declared = name(&row, 1);
        let kind = kind(&declared);
        let is_nullable = !flag(&row, 2) && place == 0;
        table.columns.push(Column { name: name(&row, 0), declared, kind, is_nullable, figures: None });
    }
    key.sort_unstable();
    table.primary_key = key.into_iter().map(|(_, column)| column).collect();
    // A column called `rowid` hides the number of the row.
    table.has_row_ids &= table.columns.iter().all(|column| !column.name.eq_ignore_ascii_case("rowid"));
    let unique = asker.rows(format!(
        "select l.name, i.name from pragma_index_list({of}) as l, pragma_index_info(l.name) as i \
         where l.\"unique\" = 1 and l.partial = 0 order by l.seq, i.seqno"
    ))?;
    let mut last = None;
    for row in &unique {
        let column = text(&row[1]).and_then(|name| place(table, &name));
        if last.replace(name(row, 0)) != Some(name(row, 0)) {
            table.unique.push(Vec::new());
        }
        if let Some(columns) = table.unique.last_mut() {
            // An index over an expression says nothing about columns.
            columns.push(column.unwrap_or(usize::MAX));
        }
    }
    let primary = table.primary_key.clone();
    table.unique.retain(|columns| !columns.contains(&usize::MAX) && *columns != primary);
    Ok(())
}

fn foreign_keys(asker: &Reader<'_>, schema: &mut Schema) -> Result<(), DatabaseError> {
    let tables: HashMap<String, usize> =
        schema.tables.iter().enumerate().map(|(number, table)| (table.name.to_lowercase(), number)).collect();
    for number in 0..schema.tables.len() {
        let of = figures::literal(&schema.tables[number].name);
        let rows = asker.rows(format!(
            "select id, \"table\", \"from\", \"to\" from pragma_foreign_key_list({of}) order by id, seq"
        ))?;
        for rows in rows.chunk_by(|one, other| one[0] == other[0]) {
            let Some(&target) = tables.get(&name(&rows[0], 1).to_lowercase()) else {
                let (table, missing) = (&schema.tables[number].name, name(&rows[0], 1));
                schema.notes.push(format!("{table}: refers to the table {missing}, which is not there"));
                continue;
            };
            let table = &schema.tables[number];
            let other = &schema.tables[target];
            let columns = rows.iter().filter_map(|row| place(table, &name(row, 2))).collect::<Vec<_>>();
            // Without columns, the primary key is meant.
            let named = rows.iter().map(|row| text(&row[3]).and_then(|name| place(other, &name)));
            let referenced = named.collect::<Option<Vec<_>>>().unwrap_or_else(|| other.primary_key.clone());
            if columns.len() == referenced.len() && columns.len() == rows.len() {
                let key = ForeignKey { columns, table: target, referenced, is_guessed: false };
                schema.tables[number].foreign_keys.push(key);
            }
        }
        // The list is the wrong way round.
        schema.tables[number].foreign_keys.sort_by(|one, other| one.columns.cmp(&other.columns));
    }
    Ok(())
}

fn place(table: &Table, name: &str) -> Option<usize> {
    table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
}

/// What a declared type promises; SQLite accepts any name.
fn kind(declared: &str) -> ColumnKind {
    let lower = declared.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["bool"]) {
        ColumnKind::Boolean
    } else if has(&["datetime", "timestamp"]) {
        ColumnKind::Timestamp
    } else if has(&["date"]) {
        ColumnKind::Date
    } else if has(&["blob", "json", "bytea", "geometry"]) {
        ColumnKind::Other
    } else if has(&["uuid"]) {
        ColumnKind::Uuid
    } else if has(&["char", "text", "clob", "string", "enum"]) {
        ColumnKind::Text
    } else if has(&["int", "serial"]) && !has(&["point"]) {
        ColumnKind::Integer
    } else if has(&["real", "floa", "doub", "num", "dec", "money"]) {
        ColumnKind::Decimal
    } else {
        // Nothing is known; the values tell.
        ColumnKind::Text
    }
}
