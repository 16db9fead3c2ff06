//! Evaluates programs with an executor of one's own, so that a parser gives answers.
//!
//! ```sh
//! cargo run -p spanwise --example own_executor
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

mod support;

use spanwise::serde_json::Value;
use spanwise::{Answer, Denotation, ExecError, Executor, Parser, Question, TermId, Terms};
use std::collections::BTreeMap;
use std::error::Error;

/// Turns a program about lamps into the list of switches to press.
struct Switchboard;

/// Programs can share subterms, so a short one can denote a very long list. An executor sets a limit.
const MOST_SWITCHES: usize = 1_000;

impl Executor for Switchboard {
    fn execute(&self, terms: &Terms, program: TermId, _: Option<&Value>) -> Result<Denotation, ExecError> {
        // `bottom_up` lists arguments before the terms that use them, so evaluation is a loop, however deep the program.
        let mut values: BTreeMap<TermId, Vec<String>> = BTreeMap::new();
        for term in terms.bottom_up(program) {
            let name = terms.head_text(term);
            let value: Vec<String> = match (name, terms.args(term)) {
                ("do", [task]) => values[task].clone(),
                ("both", [first, second]) => [&values[first][..], &values[second][..]].concat(),
                ("on" | "off", [lamp]) => vec![format!("{name} {}", values[lamp].concat())],
                ("blink", [lamp, times @ ..]) => {
                    let times = times.first().map(|times| terms.head_text(*times));
                    let n_times = times.map_or(1, |times| if times == "twice" { 2 } else { 3 });
                    vec![format!("blink {}", values[lamp].concat()); n_times]
                }
                ("lamp", [lamp]) => values[lamp].clone(),
                // A name or a quoted text stands for itself.
                (text, []) => vec![text.to_owned()],
                // Errors are values. Programs that the domain types never get here.
                _ => return Err(ExecError::BadProgram(format!("there is no `{name}` with these arguments"))),
            };
            if value.len() > MOST_SWITCHES {
                return Err(ExecError::Limit { what: "switches", limit: MOST_SWITCHES as u64 });
            }
            values.insert(term, value);
        }
        let switches = values.remove(&program).unwrap_or_default();
        // A denotation is text, which metrics compare, and a typed answer for applications.
        let answer = Answer::List(switches.iter().map(|switch| switch.as_str().into()).collect());
        Ok(Denotation::typed(switches.join("; "), answer))
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A parser is a model with an executor. The domain file of the lamps names none, so we add ours.
    let model = support::train_lamps()?.into_model();
    let parser = Parser::new(model, Some(Box::new(Switchboard)));

    let reading = parser.read(&Question::new("blink the hall lamp twice and light the desk"));
    println!("{}", reading.program.as_deref().unwrap_or("no program"));
    if let Some(Answer::List(switches)) = &reading.answer {
        switches.iter().for_each(|switch| println!("- {switch}"));
    }

    // Programs can be evaluated without a question.
    let mut terms = parser.model().domain.new_terms();
    let program = terms.parse("do(off(lamp('attic')))").map_err(|error| error.message)?;
    println!("{}", Switchboard.execute(&terms, program, None)?.text);
    Ok(())
}
