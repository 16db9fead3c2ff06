//! Rows as answers.

use crate::compose::Layout;
use crate::database::Rows;
use spanwise_lang::domain::Domain;
use spanwise_lang::sql::Yields;
use spanwise_reading::Answer;

/// What a program evaluates to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The value, typed: one value, a list of them, or a table.
    pub answer: Answer,
    /// The same as text, in which equal answers are equal: compact JSON, with rows in order only where they are ranked.
    pub text: String,
    /// Whether there is nothing in it.
    pub is_empty: bool,
    /// Whether there are more rows than the answer has.
    pub is_truncated: bool,
    /// The number of all rows, where it is known.
    pub n_rows: Option<u64>,
    /// The unit of each column of a table, or of the value; empty where there is none.
    pub units: Vec<String>,
}

impl Found {
    pub(super) fn new(domain: &Domain, layout: &Layout, rows: Rows, n_rows: Option<u64>) -> Self {
        let is_truncated = rows.is_truncated;
        let answer = answer(layout, rows);
        let text = canonical(&answer, layout.yields == Yields::Ranks);
        let is_empty = answer.is_empty();
        let units = units(domain, layout, &answer);
        Self { answer, text, is_empty, is_truncated, n_rows, units }
    }
}

fn answer(layout: &Layout, rows: Rows) -> Answer {
    let Rows { columns, rows, .. } = rows;
    if layout.is_shown {
        return shown(layout, columns, rows);
    }
    match layout.yields {
        Yields::Values => {
            Answer::Table { columns: vec![layout.type_name.clone(), layout.name.clone()], rows }
        }
        Yields::Keys | Yields::Ranks => {
            let mut keys: Vec<Answer> = rows.into_iter().filter_map(|row| row.into_iter().next()).collect();
            match keys.len() {
                1 => keys.remove(0),
                _ => Answer::List(keys),
            }
        }
    }
}

/// The columns to show, then the value.
fn shown(layout: &Layout, mut columns: Vec<String>, mut rows: Vec<Vec<Answer>>) -> Answer {
    let has_value = layout.yields == Yields::Values;
    let place = columns.len().checked_sub(1 + usize::from(has_value)).filter(|_| layout.has_place);
    let drop_cell = |at: usize| at == 0 || Some(at) == place;
    columns = keep(columns, &drop_cell);
    rows = rows.into_iter().map(|row| keep(row, &drop_cell)).collect();
    if has_value && let Some(last) = columns.len().checked_sub(1) {
        // A value that a column shows already is not shown twice.
        let same = columns[..last].iter().position(|column| column.eq_ignore_ascii_case(&layout.name));
        if same.is_some_and(|same| rows.iter().all(|row| row[same] == row[last])) {
            columns.pop();
            rows.iter_mut().for_each(|row| drop(row.pop()));
        } else {
            columns[last].clone_from(&layout.name);
        }
    }
    Answer::Table { columns, rows }
}

fn keep<T>(cells: Vec<T>, is_dropped: &dyn Fn(usize) -> bool) -> Vec<T> {
    cells.into_iter().enumerate().filter(|(at, _)| !is_dropped(*at)).map(|(_, cell)| cell).collect()
}

/// The answer as compact JSON. Where the order means nothing, rows are sorted.
fn canonical(answer: &Answer, is_ranked: bool) -> String {
    let json = |answer: &Answer| serde_json::to_string(answer).unwrap_or_default();
    let sorted = |mut items: Vec<String>| {
        if !is_ranked {
            items.sort_unstable();
        }
        items.join(",")
    };
    match answer {
        Answer::List(items) => format!("[{}]", sorted(items.iter().map(json).collect())),
        Answer::Table { columns, rows } => {
            let row = |row: &Vec<Answer>| format!("[{}]", row.iter().map(json).collect::<Vec<_>>().join(","));
            let columns = serde_json::to_string(columns).unwrap_or_default();
            format!("{{\"columns\":{columns},\"rows\":[{}]}}", sorted(rows.iter().map(row).collect()))
        }
        Answer::Null => "[]".to_owned(),
        plain => json(plain),
    }
}

/// The unit of each column: that of the column's name, or for the value that of the constant or of the type.
fn units(domain: &Domain, layout: &Layout, answer: &Answer) -> Vec<String> {
    let unit = |name: &str| domain.sql().and_then(|sql| sql.unit(name)).unwrap_or_default().to_owned();
    let of_column = |column: &String| {
        let own = unit(&format!("{}.{column}", layout.type_name));
        if own.is_empty() { unit(column) } else { own }
    };
    let mut units: Vec<String> = match answer {
        Answer::Table { columns, .. } => columns.iter().map(of_column).collect(),
        _ => vec![unit(&layout.type_name)],
    };
    if layout.yields == Yields::Values
        && let Some(last) = units.last_mut().filter(|unit| unit.is_empty())
    {
        *last = unit(&layout.type_name);
    }
    if units.iter().all(String::is_empty) { Vec::new() } else { units }
}
