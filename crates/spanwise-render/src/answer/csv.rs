//! Answers as comma-separated values, after RFC 4180.

use spanwise_reading::Answer;

/// The name of the only column of an answer that is no table.
const VALUE: &str = "value";

/// An answer as comma-separated values after RFC 4180: a line of names, then a line for each row, with CRLF at their ends.
/// A list is a column of its items, a single value a column of one.
///
/// Spreadsheets run texts that begin with `=`, `+`, `-`, `@`, a tab or a carriage return as formulas. Such texts get an
/// apostrophe in front; numbers do not. JSON has the exact texts.
///
/// ```
/// use spanwise_reading::Answer;
///
/// let answer: Answer = serde_json::from_str(
///     r#"{"columns": ["name", "price"], "rows": [["a \"b\", c", -1.5], ["=1+2", null]]}"#,
/// )?;
/// assert_eq!(spanwise_render::csv(&answer), "name,price\r\n\"a \"\"b\"\", c\",-1.5\r\n'=1+2,\r\n");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn csv(answer: &Answer) -> String {
    let mut out = String::new();
    match answer {
        Answer::Table { columns, rows } => {
            line(&mut out, columns.iter().map(|name| field(name)));
            rows.iter().for_each(|row| line(&mut out, row.iter().map(cell)));
        }
        Answer::List(items) => {
            line(&mut out, [VALUE.to_owned()].into_iter());
            items.iter().for_each(|item| line(&mut out, [cell(item)].into_iter()));
        }
        single => {
            line(&mut out, [VALUE.to_owned()].into_iter());
            line(&mut out, [cell(single)].into_iter());
        }
    }
    out
}

fn line(out: &mut String, mut cells: impl Iterator<Item = String>) {
    let first = cells.next().unwrap_or_default();
    let start = out.len();
    *out += &first;
    let mut n_cells = 1;
    for cell in cells {
        out.push(',');
        *out += &cell;
        n_cells += 1;
    }
    // Readers skip blank lines; this one has a cell.
    if n_cells == 1 && out.len() == start {
        *out += "\"\"";
    }
    *out += "\r\n";
}

fn cell(answer: &Answer) -> String {
    match answer {
        Answer::Null => String::new(),
        Answer::Boolean(value) => value.to_string(),
        Answer::Number(number) => number.to_string(),
        Answer::Text(text) => field(text),
        nested @ (Answer::List(_) | Answer::Table { .. }) => field(&nested.to_string()),
    }
}

/// A text as a field: no formula, and in quotes where it needs them.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    let guard = if is_formula { "'" } else { "" };
    if text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The plain reading of RFC 4180.
    fn parsed(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
        let mut chars = text.chars().peekable();
        let mut is_quoted = false;
        while let Some(ch) = chars.next() {
            match ch {
                '"' if is_quoted && chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
                '\r' if !is_quoted && chars.peek() == Some(&'\n') => {
                    chars.next();
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                ch => cell.push(ch),
            }
        }
        assert!(row.is_empty() && cell.is_empty() && !is_quoted, "{text:?}");
        rows
    }

    #[test]
    fn every_kind_of_answer_has_lines() {
        assert_eq!(csv(&Answer::from(7u64)), "value\r\n7\r\n");
        assert_eq!(csv(&["a", ""].into_iter().collect()), "value\r\na\r\n\"\"\r\n");
        assert_eq!(csv(&Answer::List(Vec::new())), "value\r\n");
        assert_eq!(csv(&Answer::Null), "value\r\n\"\"\r\n");
        assert_eq!(csv(&true.into()), "value\r\ntrue\r\n");
    }

    #[test]
    fn no_text_is_a_formula_and_numbers_stay_numbers() {
        for text in ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "＝1"] {
            let rows = parsed(&csv(&Answer::Text(text.to_owned())));
            assert_eq!(rows[1][0], format!("'{text}"));
        }
        assert_eq!(csv(&Answer::Number((-5).into())), "value\r\n-5\r\n");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(rows in prop::collection::vec(prop::collection::vec(any::<String>(), 3), 0..5)) {
            let columns = vec!["a".to_owned(), "b,c".to_owned(), String::new()];
            let cells = |row: &Vec<String>| row.iter().map(|text| Answer::from(text.as_str())).collect();
            let answer = Answer::Table { columns: columns.clone(), rows: rows.iter().map(cells).collect() };
            let guarded = |text: &String| {
                let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
                if is_formula { format!("'{text}") } else { text.clone() }
            };
            let mut expected = vec![columns];
            expected.extend(rows.iter().map(|row| row.iter().map(guarded).collect::<Vec<_>>()));
            prop_assert_eq!(parsed(&csv(&answer)), expected);
        }
    }
}
