//! The catalog of PostgreSQL.

use super::catalog::{Reader, flag, name};
use super::{Column, ColumnKind, ForeignKey, Schema, Table};
use crate::database::{DatabaseError, Dialect};
use hashbrown::HashMap;

/// Relations of users: no catalogs, no partitions of others.
const OF_USERS: &str = "c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition \
    and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg!_%' escape '!' \
    and has_schema_privilege(n.oid, 'USAGE')";

/// Reads tables, columns and keys.
pub(super) fn read(asker: &Reader<'_>) -> Result<Schema, DatabaseError> {
    let mut schema = Schema { dialect: Dialect::Postgres, tables: Vec::new(), notes: Vec::new() };
    let mut numbers = HashMap::new();
    let rows = asker.rows(format!(
        "select c.oid::text, n.nspname::text, c.relname::text, c.relkind::text, pg_table_is_visible(c.oid), \
         has_table_privilege(c.oid, 'SELECT') from pg_class c \
         join pg_namespace n on n.oid = c.relnamespace where {OF_USERS} \
         order by pg_table_is_visible(c.oid) desc, n.nspname, c.oid"
    ))?;
    for row in &rows {
        let kind = name(row, 3);
        let table = Table {
            schema: (!flag(row, 4)).then(|| name(row, 1)),
            name: name(row, 2),
            is_view: kind == "v",
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            foreign_keys: Vec::new(),
            has_row_ids: matches!(kind.as_str(), "r" | "p" | "m"),
            rows: 0,
        };
        if flag(row, 5) {
            numbers.insert(name(row, 0), schema.tables.len());
            schema.tables.push(table);
        } else {
            schema.notes.push(format!("{}: you may not read it", table.title()));
        }
    }
    let mut places = columns(asker, &mut schema, &numbers)?;
    constraints(asker, &mut schema, &numbers, &mut places)?;
    Ok(schema)
}

/// The number of a column in its table, by the oid of the table and the number of the attribute.
type Places = HashMap<(String, String), usize>;

fn columns(
    asker: &Reader<'_>,
    schema: &mut Schema,
    numbers: &HashMap<String, usize>,
) -> Result<Places, DatabaseError> {
    let mut places = HashMap::new();
    let rows = asker.rows(format!(
        "select c.oid::text, a.attnum::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, \
         t.typtype::text, t.typcategory::text, coalesce(b.typname, t.typname)::text \
         from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped \
         join pg_type t on t.oid = a.atttypid left join pg_type b on b.oid = nullif(t.typbasetype, 0) \
         where {OF_USERS} order by c.oid, a.attnum"
    ))?;
    for row in &rows {
        let Some(&number) = numbers.get(&name(row, 0)) else { continue };
        let table = &mut schema.tables[number];
        places.insert((name(row, 0), name(row, 1)), table.columns.len());
        let declared = name(row, 3);
        let kind = kind(&name(row, 7), &name(row, 5), &name(row, 6));
        table.columns.push(Column {
            name: name(row, 2),
            declared,
            kind,
            is_nullable: !flag(row, 4),
            figures: None,
        });
    }
    Ok(places)
}

fn constraints(
    asker: &Reader<'_>,
    schema: &mut Schema,
    numbers: &HashMap<String, usize>,
    places: &mut Places,
) -> Result<(), DatabaseError> {
    let rows = asker.rows(
        "select conrelid::text, contype::text, array_to_string(conkey, ','), confrelid::text, array_to_string(confkey, ',') \
         from pg_constraint k where contype in ('p', 'u', 'f') order by k.conrelid, k.conkey, k.oid",
    )?;
    for row in &rows {
        let columns = |table: String, list: String| {
            let place = |attribute: &str| places.get(&(table.clone(), attribute.to_owned())).copied();
            list.split(',').map(place).collect::<Option<Vec<_>>>()
        };
        let Some(&number) = numbers.get(&name(row, 0)) else { continue };
        let Some(own) = columns(name(row, 0), name(row, 2)) else { continue };
        let table = &mut schema.tables[number];
        match name(row, 1).as_str() {
            "p" => table.primary_key = own,
            "u" => table.unique.push(own),
            _ => {
                let target = numbers.get(&name(row, 3)).copied();
                let referenced = columns(name(row, 3), name(row, 4));
                if let (Some(target), Some(referenced)) = (target, referenced) {
                    let key = ForeignKey { columns: own, table: target, referenced, is_guessed: false };
                    if !table.foreign_keys.contains(&key) {
                        table.foreign_keys.push(key);
                    }
                }
            }
        }
    }
    Ok(())
}

/// What a type holds, by its name, its kind (`e` is an enumeration) and its category.
fn kind(name: &str, kind: &str, category: &str) -> ColumnKind {
    match name {
        "int2" | "int4" | "int8" => ColumnKind::Integer,
        "numeric" | "float4" | "float8" | "money" => ColumnKind::Decimal,
        "bool" => ColumnKind::Boolean,
        "date" => ColumnKind::Date,
        "timestamp" | "timestamptz" => ColumnKind::Timestamp,
        "uuid" => ColumnKind::Uuid,
        "text" | "varchar" | "bpchar" | "name" | "citext" => ColumnKind::Text,
        _ if kind == "e" || category == "S" => ColumnKind::Text,
        _ => ColumnKind::Other,
    }
}
