//! Tables for terminals: columns below each other, cut to the width of the screen.

use super::number::{Style, count};
use crate::escape::visible;
use crate::width::{columns as width_of, fit};
use spanwise_reading::{Answer, AnswerInfo};

/// Columns between two columns.
const GAP: usize = 2;
/// The least that a column of text is cut to.
const LEAST: usize = 6;

/// how large a table may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableLimits {
    /// Columns of the screen; `None` where lines may have any length.
    pub width: Option<usize>,
    /// Most rows that are shown; `None` for all.
    pub rows: Option<usize>,
}

/// A column that is ready to be written.
struct Column {
    name: String,
    cells: Vec<String>,
    is_number: bool,
    width: usize,
}

/// A table as text, a line for each row, and how many rows there are; `None` for an answer that is no table.
///
/// Numbers are to the right, with their units and with thousands apart. Texts that do not fit end in an ellipsis. Where not
/// even that helps, the last columns are left out, which the last line says.
///
/// ```
/// use spanwise_reading::{Answer, AnswerInfo};
/// use spanwise_render::{TableLimits, table};
///
/// let answer: Answer = serde_json::from_str(
///     r#"{"columns": ["name", "length"], "rows": [["Orion", 312.5], ["A long way home", 61]]}"#,
/// )?;
/// let info = AnswerInfo { units: vec!["".into(), "s".into()], total_rows: Some(1240), truncated: true };
/// let limits = TableLimits { width: Some(22), rows: Some(50) };
/// let text = table(&answer, &info, limits).expect("it is a table");
/// assert!(text.lines().all(|line| line.chars().count() <= 22), "{text}");
/// assert!(text.ends_with("2 of 1,240 rows\n"), "{text}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn table(answer: &Answer, info: &AnswerInfo, limits: TableLimits) -> Option<String> {
    let Answer::Table { columns: names, rows } = answer else { return None };
    let shown = &rows[..rows.len().min(limits.rows.unwrap_or(usize::MAX))];
    let mut columns: Vec<Column> = names
        .iter()
        .enumerate()
        .map(|(at, name)| Column::new(name, info.unit(at), shown.iter().filter_map(|row| row.get(at))))
        .collect();
    let n_hidden = limits.width.map_or(0, |width| narrow(&mut columns, width));
    let mut out = String::new();
    line(&mut out, &columns, |column| column.name.clone());
    line(&mut out, &columns, |column| "-".repeat(column.width));
    for at in 0..shown.len() {
        line(&mut out, &columns, |column| column.cells.get(at).cloned().unwrap_or_default());
    }
    out += &row_count(shown.len(), rows.len(), info);
    if n_hidden > 0 {
        let plural = if n_hidden == 1 { "column does" } else { "columns do" };
        out += &format!("; {n_hidden} {plural} not fit the screen");
    }
    out.push('\n');
    Some(out)
}

/// How many rows there are, in words: `3 rows`, `50 of 1,240 rows`, `50 of more than 1,000 rows`.
#[must_use]
pub fn row_count(n_shown: usize, n_rows: usize, info: &AnswerInfo) -> String {
    let (n_shown, n_rows) = (n_shown as u64, n_rows as u64);
    let (total, is_exact) = match info.total_rows {
        Some(total) => (total.max(n_rows), true),
        None => (n_rows, !info.truncated),
    };
    match (n_shown, total) {
        (_, 0) if is_exact => "no rows".to_owned(),
        (1, 1) if is_exact => "1 row".to_owned(),
        (shown, total) if shown == total && is_exact => format!("{} rows", count(shown)),
        (shown, total) => {
            let more = if is_exact { "" } else { "more than " };
            format!("{} of {more}{} rows", count(shown), count(total))
        }
    }
}

impl Column {
    fn new<'a>(name: &str, unit: Option<&str>, cells: impl Iterator<Item = &'a Answer>) -> Self {
        let cells: Vec<&Answer> = cells.collect();
        let numbers: Vec<String> = cells.iter().filter_map(|cell| number(cell)).collect();
        let n_values = cells.iter().filter(|cell| **cell != &Answer::Null).count();
        let is_number = !numbers.is_empty() && numbers.len() == n_values;
        let style = Style::of(numbers.iter().map(String::as_str).filter(|_| is_number));
        let written = |cell: &&Answer| match (number(cell), unit) {
            (Some(number), Some(unit)) if is_number => format!("{} {}", style.write(&number), visible(unit)),
            (Some(number), Some(unit)) => format!("{number} {}", visible(unit)),
            (Some(number), None) if is_number => style.write(&number),
            _ => visible(&cell.to_string()).into_owned(),
        };
        let cells: Vec<String> = cells.iter().map(written).collect();
        let name = visible(name).into_owned();
        let width = cells.iter().chain([&name]).map(|cell| width_of(cell)).max().unwrap_or(0);
        Self { name, cells, is_number, width }
    }

    /// The least width: numbers are not cut.
    fn least(&self) -> usize {
        let numbers = if self.is_number { self.cells.iter().map(|cell| width_of(cell)).max() } else { None };
        numbers.unwrap_or(LEAST).min(self.width)
    }
}

fn number(cell: &Answer) -> Option<String> {
    match cell {
        Answer::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Makes the widest columns narrower until all fit, or leaves the last ones out. Returns how many were left out.
fn narrow(columns: &mut Vec<Column>, width: usize) -> usize {
    let gaps = |n: usize| n.saturating_sub(1) * GAP;
    let n_before = columns.len();
    while columns.len() > 1 && columns.iter().map(Column::least).sum::<usize>() + gaps(columns.len()) > width
    {
        columns.pop();
    }
    let limits = width.saturating_sub(gaps(columns.len()));
    loop {
        let used: usize = columns.iter().map(|column| column.width).sum();
        let widest = columns.iter_mut().filter(|column| column.width > column.least());
        let Some(widest) = widest.max_by_key(|column| column.width).filter(|_| used > limits) else { break };
        widest.width -= 1;
    }
    n_before - columns.len()
}

fn line(out: &mut String, columns: &[Column], text: impl Fn(&Column) -> String) {
    let mut line = String::new();
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            line += &" ".repeat(GAP);
        }
        let text = fit(&text(column), column.width);
        let space = " ".repeat(column.width.saturating_sub(width_of(&text)));
        line += &if column.is_number { space + &text } else { text + &space };
    }
    *out += line.trim_end();
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const WIDE: TableLimits = TableLimits { width: None, rows: None };

    fn shown(answer: Value, info: Value, limits: TableLimits) -> String {
        table(&answer.into(), &serde_json::from_value(info).unwrap(), limits).unwrap()
    }

    #[test]
    fn columns_stand_below_each_other_and_numbers_to_the_right() {
        let answer = json!({ "columns": ["name", "area", "is big", "中文"],
            "rows": [["texas", 266807, true, "德州"], ["rhode island", 1212, false, "x"], [null, null, null, null]] });
        let text = shown(answer, json!({ "units": ["", "mi²"] }), WIDE);
        let expected = "\
name                 area  is big  中文
------------  -----------  ------  ----
texas         266,807 mi²  yes     德州
rhode island    1,212 mi²  no      x

3 rows
";
        assert_eq!(text, expected);
    }

    #[test]
    fn texts_are_cut_before_numbers_and_columns_are_left_out_last() {
        let answer =
            json!({ "columns": ["a long name of a column", "n"], "rows": [["x".repeat(40), 1234567]] });
        let text = shown(answer.clone(), json!({}), TableLimits { width: Some(20), rows: None });
        let expected = "a long n…          n\n---------  ---------\nxxxxxxxx…  1,234,567\n1 row\n";
        assert_eq!(text, expected);
        assert!(text.lines().take(3).all(|line| width_of(line) <= 20), "{text}");
        let text = shown(answer, json!({}), TableLimits { width: Some(10), rows: None });
        assert!(text.ends_with("1 row; 1 column does not fit the screen\n"), "{text}");
        assert!(!text.contains("1,234,567"), "{text}");
    }

    #[test]
    fn rows_beyond_the_limit_and_beyond_the_limit_of_the_executor_are_counted() {
        let rows: Vec<Value> = (0..60).map(|at| json!([at])).collect();
        let answer = json!({ "columns": ["n"], "rows": rows });
        let limits = TableLimits { width: None, rows: Some(50) };
        let last = |info: Value| shown(answer.clone(), info, limits).lines().last().unwrap().to_owned();
        assert_eq!(last(json!({})), "50 of 60 rows");
        assert_eq!(last(json!({ "truncated": true, "total_rows": 1240 })), "50 of 1,240 rows");
        assert_eq!(last(json!({ "truncated": true })), "50 of more than 60 rows");
        let one = |rows: Value| shown(json!({ "columns": ["n"], "rows": rows }), json!({}), WIDE);
        assert_eq!(one(json!([])), "n\n-\nno rows\n");
        assert_eq!(one(json!([[1]])), "n\n-\n1\n1 row\n");
    }

    #[test]
    fn nothing_acts_on_a_terminal() {
        let answer = json!({ "columns": ["a\u{1b}[2J"], "rows": [["b\u{7}\nc"], ["\u{202e}d"]] });
        let text = shown(answer, json!({ "units": ["\u{1b}"] }), WIDE);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']) && text.lines().count() == 5, "{text:?}");
    }

    #[test]
    fn what_is_no_table_is_not_shown_as_one() {
        assert_eq!(table(&["a"].into_iter().collect(), &AnswerInfo::default(), WIDE), None);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_screen(
            cells in prop::collection::vec(prop::collection::vec("\\PC{0,30}", 4), 0..5),
            width in 24usize..100,
        ) {
            let columns = ["one", "two", "three", "four"].map(str::to_owned).to_vec();
            let row = |row: &Vec<String>| row.iter().map(|text| Answer::from(text.as_str())).collect();
            let answer = Answer::Table { columns, rows: cells.iter().map(row).collect() };
            let text = table(&answer, &AnswerInfo::default(), TableLimits { width: Some(width), rows: None }).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            prop_assert_eq!(lines.len(), cells.len() + 3);
            prop_assert!(lines[..lines.len() - 1].iter().all(|line| width_of(line) <= width), "{}", text);
        }
    }
}
