//! Converts SCAN's task files to examples with SCAN-SP programs.
//!
//! A task file has one command per line, `IN: walk twice OUT: I_WALK I_WALK`. The program follows from the command by
//! SCAN's grammar; the answer is taken from the file.

use super::{ImportError, NamedSet, named_sets};
use crate::data::example::Example;
use crate::data::message::shown;
use crate::data::split;
use crate::scan::grammar::{Command, CommandError};

/// The seed of the division into train and dev.
const DEV_SEED: u64 = 0;

/// The examples of one task file, in its order.
///
/// # Errors
/// Names the line that is not as expected.
pub fn scan(text: &str) -> Result<Vec<Example>, ImportError> {
    let mut examples = Vec::new();
    for (line_idx, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (line_number, line) = (line_idx + 1, line.trim());
        if line.is_empty() {
            continue;
        }
        examples.push(task(line).map_err(|wrong| match wrong {
            WrongTask::Line => ImportError::ScanLine { line: line_number, found: shown(line).into_owned() },
            WrongTask::Command(reason) => ImportError::ScanCommand { line: line_number, reason },
        })?);
    }
    if examples.is_empty() {
        return Err(ImportError::Nothing { expected: "lines `IN: command OUT: actions`" });
    }
    Ok(examples)
}

/// What is wrong with a line of a task file.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum WrongTask {
    /// It is not of that form.
    #[error("expected `IN: command OUT: actions`")]
    Line,
    /// It holds something that is not a command.
    #[error(transparent)]
    Command(CommandError),
}

/// The example on one line of a task file.
///
/// # Errors
/// When the line is not as expected.
pub(crate) fn task(line: &str) -> Result<Example, WrongTask> {
    let parts = line.trim().strip_prefix("IN:").and_then(|rest| rest.split_once("OUT:"));
    let (command, actions) = parts.ok_or(WrongTask::Line)?;
    let program = Command::parse(command).map_err(WrongTask::Command)?.program();
    let answer = Some(actions.trim().to_owned());
    Ok(Example { program: Some(program), answer, ..Example::new(command.trim()) })
}

/// SCAN-SP's `train.jsonl`, `dev.jsonl` and `test.jsonl` for the examples of an official train and test file:
/// four fifths of train, shuffled as in the paper's release, are for training and the rest for development.
#[must_use]
pub fn scan_sp(train: Vec<Example>, test: Vec<Example>) -> [NamedSet; 3] {
    let (n_train, mut examples) = (train.len(), train);
    examples.extend(test);
    let partition =
        split::draw_dev((0..n_train).collect(), (n_train..examples.len()).collect(), n_train / 5, DEV_SEED);
    named_sets("", &examples, &partition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_get_their_programs() {
        let examples = scan("IN: run left OUT: I_TURN_LEFT I_RUN\r\n\nIN: jump OUT: I_JUMP\n").unwrap();
        let fields: Vec<_> = examples
            .iter()
            .map(|it| (it.utterance.as_str(), it.program.as_deref().unwrap(), it.answer.as_deref().unwrap()))
            .collect();
        assert_eq!(
            fields,
            [("run left", "i_run ( i_left )", "I_TURN_LEFT I_RUN"), ("jump", "i_jump ( )", "I_JUMP")]
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let check = |text: &str, message: &str| assert_eq!(scan(text).unwrap_err().to_string(), message);
        check("\n", "no example found; expected lines `IN: command OUT: actions`");
        check("IN: jump OUT: I_JUMP\njump", "line 2: expected `IN: command OUT: actions`, found `jump`");
        check(
            "IN: hop OUT: I_JUMP",
            "line 1: word 1 of the command must be `walk`, `look`, `run`, `jump` or `turn`, found `hop`",
        );
    }

    #[test]
    fn a_fifth_of_train_becomes_dev() {
        let train = scan(&"IN: jump OUT: I_JUMP\n".repeat(11)).unwrap();
        let [train, dev, test] = scan_sp(train, scan("IN: run OUT: I_RUN").unwrap());
        assert_eq!((train.examples.len(), dev.examples.len(), test.examples.len()), (9, 2, 1));
        assert_eq!(dev.file_name, "dev.jsonl");
    }
}
