//! Figures of columns: one statement for a table, and one for the frequent values of each text column.

use super::catalog::{Reader, name, number, text};
use super::{Column, ColumnKind, Figures, MOST_COMMON, MOST_ROWS, Progress, Schema, Table};
use crate::database::{DatabaseError, Dialect};

/// A name as SQL.
///
/// ```
/// assert_eq!(spanwise_sql::schema::quoted("order"), "\"order\"");
/// assert_eq!(spanwise_sql::schema::quoted("a\"b"), "\"a\"\"b\"");
/// ```
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as SQL.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Columns of a table that are looked at in one statement; more would exceed the limits of the databases.
const COLUMNS_AT_ONCE: usize = 60;

/// The longest text that can be a name or a kind.
const LONG: u64 = 80;

/// Reads the figures of all tables. A table that cannot be read keeps none.
pub(super) fn read(asker: &Reader<'_>, schema: &mut Schema, progress: Progress<'_>) {
    let count = schema.tables.len();
    for (place, table) in schema.tables.iter_mut().enumerate() {
        progress(place, count, &table.title());
        if let Err(error) = table_figures(asker, table) {
            schema.notes.push(format!("{}: its values cannot be read: {error}", table.title()));
        }
    }
}

fn table_figures(asker: &Reader<'_>, table: &mut Table) -> Result<(), DatabaseError> {
    let source = format!("(select * from {} limit {MOST_ROWS}) as t", table.sql());
    let rows = asker.rows(format!("select count(*) from {source}"))?;
    table.rows = rows.first().map_or(0, |row| number(row, 0));
    let dialect = asker.dialect();
    let places: Vec<usize> =
        (0..table.columns.len()).filter(|place| table.columns[*place].kind != ColumnKind::Other).collect();
    for places in places.chunks(COLUMNS_AT_ONCE) {
        let parts: Vec<String> =
            places.iter().flat_map(|place| aggregates(&table.columns[*place], dialect)).collect();
        let rows = asker.rows(format!("select {} from {source}", parts.join(", ")))?;
        let Some(row) = rows.first() else { continue };
        let width = parts.len() / places.len();
        for (&place, cells) in places.iter().zip(row.chunks(width)) {
            let cells = cells.to_vec();
            let values = number(&cells, 0);
            let figures = Figures {
                values,
                missing: table.rows.saturating_sub(values),
                distinct: number(&cells, 1),
                smallest: text(&cells[2]),
                largest: text(&cells[3]),
                longest: number(&cells, 4),
                common: Vec::new(),
            };
            let column = &mut table.columns[place];
            if dialect == Dialect::Sqlite {
                column.kind = really(column.kind, &cells, values);
            }
            column.figures = (column.kind != ColumnKind::Other).then_some(figures);
        }
    }
    for place in 0..table.columns.len() {
        common(asker, table, place)?;
    }
    Ok(())
}

/// What is counted for a column: always as many expressions in one dialect.
fn aggregates(column: &Column, dialect: Dialect) -> Vec<String> {
    let c = format!("t.{}", quoted(&column.name));
    let is_text = column.kind == ColumnKind::Text;
    if dialect == Dialect::Postgres {
        // Types without an order or with one of their own are compared as text.
        let value = match column.kind {
            ColumnKind::Integer | ColumnKind::Decimal if column.declared == "money" => {
                format!("{c}::numeric")
            }
            ColumnKind::Integer | ColumnKind::Decimal | ColumnKind::Date | ColumnKind::Timestamp => c.clone(),
            _ => format!("{c}::text"),
        };
        let longest = if is_text { format!("coalesce(max(length({c}::text)), 0)") } else { "0".to_owned() };
        return vec![
            format!("count({c})"),
            format!("count(distinct {value})"),
            format!("left(min({value})::text, 100)"),
            format!("left(max({value})::text, 100)"),
            longest,
        ];
    }
    let share = |condition: &str| format!("coalesce(sum({condition}), 0)");
    vec![
        format!("count({c})"),
        format!("count(distinct {c})"),
        format!("substr(min({c}), 1, 100)"),
        format!("substr(max({c}), 1, 100)"),
        format!("coalesce(max(length({c})), 0)"),
        share(&format!("typeof({c}) = 'integer'")),
        share(&format!("typeof({c}) = 'real'")),
        share(&format!("typeof({c}) = 'blob'")),
        share(&format!("{c} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'")),
        share(&format!("{c} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]*'")),
    ]
}

/// Seconds since 1970, of 1980 to 2100.
const EPOCHS: std::ops::RangeInclusive<f64> = 315_532_800.0..=4_102_444_800.0;

/// What a column of SQLite holds, whatever its type says.
fn really(declared: ColumnKind, cells: &[spanwise_reading::Answer], values: u64) -> ColumnKind {
    let cells = cells.to_vec();
    let [integers, reals, blobs, days, moments] = [5, 6, 7, 8, 9].map(|place| number(&cells, place));
    if values == 0 {
        return declared;
    }
    let bound = |place: usize| text(&cells[place]).and_then(|text| text.parse::<f64>().ok());
    let within = |range: std::ops::RangeInclusive<f64>| {
        [2, 3].iter().all(|place| bound(*place).is_some_and(|value| range.contains(&value)))
    };
    let is_moment = matches!(declared, ColumnKind::Date | ColumnKind::Timestamp);
    if blobs > 0 {
        ColumnKind::Other
    } else if days == values {
        ColumnKind::Date
    } else if days + moments == values {
        ColumnKind::Timestamp
    } else if integers == values {
        match declared {
            _ if is_moment && within(EPOCHS) => ColumnKind::Epoch,
            ColumnKind::Boolean if within(0.0..=1.0) => ColumnKind::Boolean,
            ColumnKind::Decimal => ColumnKind::Decimal,
            _ => ColumnKind::Integer,
        }
    } else if integers + reals == values {
        ColumnKind::Decimal
    } else if integers + reals == 0 {
        if declared == ColumnKind::Uuid { ColumnKind::Uuid } else { ColumnKind::Text }
    } else {
        // Numbers and texts in one column cannot be compared.
        ColumnKind::Other
    }
}

/// The frequent values of a text column.
fn common(asker: &Reader<'_>, table: &mut Table, place: usize) -> Result<(), DatabaseError> {
    let column = &table.columns[place];
    let Some(figures) = &column.figures else { return Ok(()) };
    if column.kind != ColumnKind::Text || figures.longest > LONG || figures.values == 0 {
        return Ok(());
    }
    let limit = if figures.distinct <= MOST_COMMON { MOST_COMMON } else { 5 };
    let c = quoted(&column.name);
    let c = if asker.dialect() == Dialect::Postgres { format!("{c}::text") } else { c };
    let rows = asker.rows(format!(
        "select v, count(*) from (select {c} as v from {} limit {MOST_ROWS}) as t where v is not null \
         group by v order by count(*) desc, v limit {limit}",
        table.sql()
    ))?;
    if let Some(figures) = &mut table.columns[place].figures {
        figures.common = rows.iter().map(|row| name(row, 0)).collect();
    }
    Ok(())
}
