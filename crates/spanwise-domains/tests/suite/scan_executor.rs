//! The SCAN executor against the grammar and against every line of the official files; the splits as sets.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use spanwise_domains::data::import;
use spanwise_domains::exec::{ExecError, Executor, Limits};
use spanwise_domains::scan::ScanExecutor;
use spanwise_domains::scan::grammar::{Command, commands};
use spanwise_domains::scan::splits::{Split, TrainTest};
use spanwise_lang::Terms;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn run(program: &str) -> Result<String, ExecError> {
    let mut terms = Terms::new();
    let program = terms.parse(program).unwrap();
    ScanExecutor::new().execute(&terms, program, None).map(|denotation| denotation.text)
}

#[test]
fn each_predicate_does_what_it_says() {
    let check = |program: &str, actions: &str| {
        let expected: Vec<String> = actions.split_whitespace().map(|action| format!("I_{action}")).collect();
        assert_eq!(run(program).unwrap(), expected.join(" "), "{program}");
    };
    check("i_jump()", "JUMP");
    check("i_look(i_left)", "TURN_LEFT LOOK");
    check("i_run(i_right, i_opposite)", "TURN_RIGHT TURN_RIGHT RUN");
    check("i_walk(i_left, i_around)", "TURN_LEFT WALK TURN_LEFT WALK TURN_LEFT WALK TURN_LEFT WALK");
    check("i_turn(i_left)", "TURN_LEFT");
    check("i_turn(i_right, i_opposite)", "TURN_RIGHT TURN_RIGHT");
    check("i_turn(i_left, i_around)", "TURN_LEFT TURN_LEFT TURN_LEFT TURN_LEFT");
    check("i_twice(i_walk())", "WALK WALK");
    check("i_thrice(i_walk())", "WALK WALK WALK");
    check("i_and(i_walk(), i_run())", "WALK RUN");
    check("i_after(i_walk(), i_run())", "RUN WALK");
}

#[test]
fn the_typed_answer_is_the_list_of_actions() {
    let mut terms = Terms::new();
    let program = terms.parse("i_walk(i_left)").unwrap();
    let found = ScanExecutor::new().execute(&terms, program, None).unwrap();
    assert_eq!(found.answer, ["I_TURN_LEFT", "I_WALK"].into_iter().collect());
}

#[test]
fn nesting_beyond_the_grammar_is_fine() {
    assert_eq!(run("i_twice(i_twice(i_walk()))").unwrap(), "I_WALK I_WALK I_WALK I_WALK");
    let program = "i_after(i_and(i_walk(), i_run()), i_twice(i_after(i_jump(), i_look())))";
    assert_eq!(run(program).unwrap(), "I_LOOK I_JUMP I_LOOK I_JUMP I_WALK I_RUN");
    let long = format!("{}i_walk(){}", "i_and(i_run(), ".repeat(10_000), ")".repeat(10_000));
    assert_eq!(run(&long).unwrap().split(' ').count(), 10_001);
}

#[test]
fn too_many_actions_are_refused_before_any_is_written() {
    let deep = format!("{}i_walk(){}", "i_thrice(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(run(&deep), Err(ExecError::Limit { what: "actions", limit: 1_000_000 }));
    let mut terms = Terms::new();
    let program = terms.parse("i_thrice(i_thrice(i_walk()))").unwrap();
    let run =
        |steps, items| ScanExecutor::with_limits(Limits { steps, items }).execute(&terms, program, None);
    // Nine actions and three operations.
    assert!(run(12, 9).is_ok());
    assert_eq!(run(12, 8), Err(ExecError::Limit { what: "actions", limit: 8 }));
    assert_eq!(run(11, 9), Err(ExecError::Limit { what: "steps", limit: 11 }));
}

#[test]
fn bad_programs_are_explained() {
    let check = |program: &str, message: &str| {
        assert_eq!(run(program), Err(ExecError::BadProgram(message.to_owned())), "{program}");
    };
    check("i_hop()", "unknown predicate `i_hop`");
    check("i_wolk()", "unknown predicate `i_wolk` (did you mean `i_walk`?)");
    check("walk()", "unknown predicate `walk`");
    check("i_walk", "`i_walk` is not a program; expected a call such as `i_walk()`");
    check("i_twice(i_walk)", "`i_twice` expects a command, found `i_walk`; parentheses are missing");
    check("i_twice(i_left)", "`i_twice` expects a command, found `i_left`");
    check("i_turn()", "`i_turn` expects a direction and perhaps a manner, found 0 arguments");
    check("i_walk(i_around)", "`i_walk` expects `i_left` or `i_right`, found `i_around`");
    check("i_walk(i_left, i_left)", "`i_walk` expects `i_opposite` or `i_around`, found `i_left`");
    check("i_walk(i_run())", "`i_walk` expects `i_left` or `i_right`, found `i_run(...)`");
    check(
        "i_walk(i_left, i_around, i_left)",
        "`i_walk` expects at most a direction and a manner, found 3 arguments",
    );
    check("i_twice()", "`i_twice` expects one command, found 0 arguments");
    check("i_and(i_walk())", "`i_and` expects two commands, found 1 arguments");
}

#[test]
fn grammar_and_executor_agree_on_every_command() {
    let mut terms = Terms::new();
    let executor = ScanExecutor::new();
    for command in commands() {
        let program = terms.parse(&command.program()).unwrap();
        assert_eq!(
            executor.execute(&terms, program, None).unwrap().text,
            command.answer(),
            "{}",
            command.utterance()
        );
    }
}

fn data_dir() -> Option<PathBuf> {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if directory.is_dir() {
        return Some(directory.to_owned());
    }
    // Straight to the stream: what the print macros write is hidden when a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: the data sets are not there ({})", directory.display());
    None
}

fn official(directory: &Path, split: Split, part: &str) -> String {
    let (folder, kind) = match split {
        Split::Simple | Split::Length => (format!("{}_split", split.name()), ""),
        Split::AddJump | Split::AddTurnLeft => ("add_prim_split".to_owned(), ""),
        _ => ("template_split".to_owned(), "template_"),
    };
    let name = format!("scan/{folder}/tasks_{part}_{kind}{}.txt", split.name());
    std::fs::read_to_string(directory.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_grammar_gives_every_line_of_the_official_files() {
    let Some(directory) = data_dir() else { return };
    let answers: BTreeMap<String, String> =
        commands().iter().map(|it| (it.utterance(), it.answer())).collect();
    for split in Split::ALL {
        for part in ["train", "test"] {
            for example in import::scan(&official(&directory, split, part)).unwrap() {
                assert_eq!(example.answer.as_ref(), answers.get(&example.utterance), "{}", example.utterance);
            }
        }
    }
}

#[test]
fn every_split_with_a_rule_equals_the_official_files() {
    let Some(directory) = data_dir() else { return };
    let commands = commands();
    for split in Split::ALL.into_iter().filter(|&split| split != Split::Simple) {
        let TrainTest { train, test } = split.divide(&commands, 0);
        let n_train = train.len();
        for (part, numbers) in [("train", train), ("test", test)] {
            let mut found: BTreeMap<Command, usize> = BTreeMap::new();
            for example in import::scan(&official(&directory, split, part)).unwrap() {
                *found.entry(Command::parse(&example.utterance).unwrap()).or_default() += 1;
            }
            // Not only the same commands, but each as often as in the file.
            let copies = |command| if part == "train" { split.repeats(command, n_train) } else { 1 };
            let expected: BTreeMap<Command, usize> =
                numbers.into_iter().map(|number| (commands[number], copies(commands[number]))).collect();
            assert!(found == expected, "{} {part}", split.name());
        }
    }
}

#[test]
fn the_official_simple_split_covers_the_grammar_in_the_sizes_of_ours() {
    let Some(directory) = data_dir() else { return };
    let commands = commands();
    let ours = Split::Simple.divide(&commands, 0);
    let [train, test] =
        ["train", "test"].map(|part| import::scan(&official(&directory, Split::Simple, part)).unwrap());
    assert_eq!((train.len(), test.len()), (ours.train.len(), ours.test.len()));
    let all: BTreeSet<String> = train.into_iter().chain(test).map(|example| example.utterance).collect();
    assert_eq!(all, commands.into_iter().map(Command::utterance).collect());
}
