//! Programs broken into lines: a call that does not fit on its line has one line for each argument.

use crate::term::{TermId, Terms};

/// Deeper than this, lines are not indented further: the text would otherwise grow with the square of the depth.
const MOST_INDENT: usize = 40;

enum Step {
    Term { id: TermId, depth: usize, comma: bool },
    Close { depth: usize, comma: bool },
}

/// The program in lines of at most `width` characters, as far as its names allow.
///
/// Parsing the text gives the same term again. Nothing recurses on the depth of the program.
///
/// ```
/// use spanwise_lang::{Terms, pretty};
///
/// let mut terms = Terms::new();
/// let program = terms.parse("answer(capital(loc_2(stateid('texas'))))").map_err(|error| error.message)?;
/// assert_eq!(pretty(&terms, program, 30), "answer(\n  capital(\n    loc_2(stateid('texas'))\n  )\n)\n");
/// # Ok::<(), String>(())
/// ```
#[must_use]
pub fn pretty(terms: &Terms, program: TermId, width: usize) -> String {
    let mut out = String::new();
    let mut todo = vec![Step::Term { id: program, depth: 0, comma: false }];
    while let Some(step) = todo.pop() {
        let (depth, comma) = match step {
            Step::Term { depth, comma, .. } | Step::Close { depth, comma } => (depth, comma),
        };
        let indent = "  ".repeat(depth.min(MOST_INDENT));
        out += &indent;
        match step {
            Step::Close { .. } => out.push(')'),
            Step::Term { id, .. } if terms.args(id).is_empty() => out += &terms.display(id).to_string(),
            Step::Term { id, .. } => {
                if let Some(flat) = flat(terms, id, width.saturating_sub(indent.len() + 1)) {
                    out += &flat;
                } else {
                    out += terms.head_text(id);
                    out += "(\n";
                    todo.push(Step::Close { depth, comma });
                    let last = terms.args(id).len() - 1;
                    for (nth, &arg) in terms.args(id).iter().enumerate().rev() {
                        todo.push(Step::Term { id: arg, depth: depth + 1, comma: nth < last });
                    }
                    continue;
                }
            }
        }
        if comma {
            out.push(',');
        }
        out.push('\n');
    }
    out
}

/// The term on one line, if it has at most `most` characters. Terms with more nodes than that are not even tried.
fn flat(terms: &Terms, id: TermId, most: usize) -> Option<String> {
    if terms.size(id) > most as u64 {
        return None;
    }
    let text = terms.display(id).to_string();
    (text.chars().count() <= most).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_does_not_fit_has_a_line_for_each_argument() {
        let mut terms = Terms::new();
        let program = terms.parse("answer(exclude(state(all), next_to(stateid('new york'))))").unwrap();
        assert_eq!(
            pretty(&terms, program, 40),
            "answer(\n  exclude(\n    state(all),\n    next_to(stateid('new york'))\n  )\n)\n"
        );
        assert_eq!(pretty(&terms, program, 80).lines().count(), 1);
    }

    #[test]
    fn lines_are_read_back_as_the_same_program_at_any_width() {
        let mut terms = Terms::new();
        let program = terms.parse("f(g(x, 'it''s', 3), scene(), h(h(h(_))))").unwrap();
        for width in 0..50 {
            let text = pretty(&terms, program, width);
            assert_eq!(terms.parse(&text).unwrap(), program, "{text}");
        }
    }

    #[test]
    fn a_very_deep_program_is_written_without_recursion() {
        let mut terms = Terms::new();
        let deep = format!("{}x{}", "f(".repeat(20_000), ")".repeat(20_000));
        let program = terms.parse(&deep).unwrap();
        assert_eq!(pretty(&terms, program, 80).matches('f').count(), 20_000);
    }
}
