//! Checks the `sql` of a domain against its database, without running it.

use crate::compose::{Sample, samples};
use crate::database::{Database, DatabaseError};
use hashbrown::HashSet;
use spanwise_lang::Diagnostic;
use spanwise_lang::domain::Domain;

/// What the database does not accept of the `sql` of a domain, with places in the domain file. The second number is how many
/// fragments were checked.
///
/// # Errors
/// A database that cannot be asked.
pub fn check(domain: &Domain, database: &dyn Database) -> Result<(Vec<Diagnostic>, usize), DatabaseError> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    // Fragments that are wrong: what uses them is not checked.
    let mut wrong = HashSet::new();
    let mut checked = HashSet::new();
    for sample in samples(domain, database.dialect()) {
        if sample.uses.iter().any(|used| wrong.contains(&used.start)) {
            continue;
        }
        checked.insert(sample.fragment.range.start);
        let problem = match database.describe(&sample.statement.sql) {
            Ok(described) => columns(&sample, &described.columns),
            Err(DatabaseError::Statement { message, position, .. }) => {
                let at = position.and_then(|at| sample.origin(at));
                Some(statement(domain.source(), &sample, message, at))
            }
            Err(DatabaseError::NotReadOnly(message)) => {
                Some(statement(domain.source(), &sample, message, None))
            }
            Err(error) => return Err(error),
        };
        if let Some(problem) = problem {
            wrong.insert(sample.fragment.range.start);
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    problems.sort_by_key(|problem| problem.range.start);
    Ok((problems, checked.len()))
}

/// What the database says, at the word where it stands.
fn statement(source: &str, sample: &Sample<'_>, message: String, at: Option<usize>) -> Diagnostic {
    let range = match at {
        Some(at) => {
            let rest = source.get(at..sample.fragment.range.end).unwrap_or_default();
            let is_word = |ch: char| ch == '_' || ch.is_alphanumeric();
            let len = rest.find(|ch| !is_word(ch)).unwrap_or(rest.len());
            at..at + len.max(1)
        }
        None => sample.fragment.range.clone(),
    };
    Diagnostic::new(range, format!("the database does not accept the `sql` of `{}`: {message}", sample.name))
}

/// Whether there are as many columns as there must be.
fn columns(sample: &Sample<'_>, columns: &[String]) -> Option<Diagnostic> {
    let range = sample.fragment.range.clone();
    let Some(wanted) = sample.n_columns else {
        let first = columns.first().map(String::as_str).unwrap_or_default();
        if first.eq_ignore_ascii_case("key") {
            return None;
        }
        let problem =
            Diagnostic::new(range, format!("the first column of `{}` is called `{first}`", sample.name));
        return Some(problem.hint("the first column is the key: write `select id as key, ..`"));
    };
    if columns.len() == wanted {
        return None;
    }
    let n = columns.len();
    let found = if n == 1 { "1 column".to_owned() } else { format!("{n} columns") };
    let problem =
        Diagnostic::new(range, format!("the `sql` of `{}` yields {found}, not {wanted}", sample.name));
    Some(problem.hint(match (wanted, sample.fragment.yields.second()) {
        (1, _) => "it yields keys; for keys with a value, write `sql = { value = \"..\" }`".to_owned(),
        (_, second) => format!("it yields keys, each with its {}", second.unwrap_or("value")),
    }))
}
