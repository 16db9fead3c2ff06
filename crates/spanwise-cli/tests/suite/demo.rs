//! `spanwise demo` from end to end, with a model too small to be right.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use crate::common::{Call, Sandbox, interrupt, wait};
use std::io::Read as _;
use std::time::{Duration, Instant};

fn demo<const N: usize>(sandbox: &Sandbox, args: [&str; N]) -> Call {
    let call = sandbox.call(["demo"]).env("XDG_CACHE_HOME", sandbox.path("cache"));
    args.iter().fold(call, |call, arg| call.arg(arg))
}

#[test]
fn it_trains_measures_answers_and_starts_at_once_the_next_time() {
    let sandbox = Sandbox::new();
    let input = "which states touch the flumish state of utah?\n\n:examples\n:tree svg a tree.svg\n:tree png x\n\
        :nonsense\n!\n:quit\nnever asked\n";
    let first = demo(&sandbox, ["--quick", "--always-answer"]).input(input).run().exits(0);
    let first = first.prints([
        "448 questions",
        "trained in",
        "questions it has not seen ",
        "compositions it has not seen ",
        "spanwise explain",
        "> tell me the capital of kansas",
        "program      answer (",
        "> which states touch the flumish state of utah?",
        "I don't know the word 'flumish'",
        "  rivers longer than the north platte\n",
        "drawn into a tree.svg",
        "no picture of the kind `png`",
        "there is no command `:nonsense`",
        "I cannot answer this: ",
    ]);
    assert!(!first.stdout.contains("never asked") && !first.stdout.contains('\u{1b}'), "{}", first.stdout);
    assert!(!first.stdout.contains("the word 'utah'") && !first.stdout.contains("the word 'states'"));
    assert!(sandbox.read("a tree.svg").starts_with("<?xml"));
    let input = "how do i boil an egg\n:guess\n:guess\n";
    let refused = demo(&sandbox, ["--quick", "--abstain-below", "1"]).input(input).run().exits(0);
    let (_, refused) = refused.stdout.split_once("> how do i boil an egg\n").unwrap();
    let (refused, guess) = refused.split_once("> :guess\n").unwrap();
    assert!(refused.trim_start().starts_with("I cannot answer this: "), "{refused}");
    assert!(
        refused.contains("`:guess` shows my best guess; with --always-answer")
            && !refused.contains("program  ")
    );
    assert!(
        guess.contains("program      answer (") && guess.contains("I have withheld no answer"),
        "{guess}"
    );

    let again = demo(&sandbox, ["--quick", "--json"]).run().exits(0).json();
    assert_eq!(again["training"]["reused"], true);
    let accuracy = &again["accuracy"];
    assert_eq!((&accuracy["held_out"]["n"], &accuracy["compositions"]["n"]), (&40.into(), &45.into()));
    let fresh = demo(&sandbox, ["--quick", "--json", "--fresh"]).run().exits(0).json();
    assert_eq!(fresh["training"]["reused"], false);
    assert_eq!(&fresh["accuracy"], accuracy);
    assert!(fresh["seconds"].as_f64() >= fresh["training"]["seconds"].as_f64());
}

#[test]
fn the_model_can_be_kept_and_no_other_directory_is_touched() {
    let sandbox = Sandbox::new();
    let short = demo(&sandbox, ["--quick", "--no-questions", "--out", "kept"]).input("which states\n").run();
    let short = short.exits(0).prints(["model: kept\n"]);
    assert!(!short.stdout.contains('>') && !sandbox.path("cache").exists(), "{}", short.stdout);
    sandbox.run(["eval", "kept", "kept/data/test_iid.jsonl"]).exits(0).prints(["exact match"]);
    let other = demo(&sandbox, ["--out", "kept", "--no-questions"]).run();
    other.exits(2).says(["kept holds a demo of other data or settings"]);
    sandbox.write("mine/notes.txt", "keep");
    let mine = demo(&sandbox, ["--quick", "--fresh", "--out", "mine"]).run();
    mine.exits(2).says(["mine holds something that is not the demo", "--out"]);
    assert_eq!(
        (sandbox.names("mine"), sandbox.read("mine/notes.txt")),
        (vec!["notes.txt".to_owned()], "keep".into())
    );
    sandbox.write("kept/model.json", "{}");
    demo(&sandbox, ["--quick", "--out", "kept"]).run().exits(1).says(["--fresh"]);
}

#[test]
fn an_interrupt_while_it_trains_ends_it_and_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    let mut child = demo(&sandbox, ["--out", "run", "--no-questions"]).spawn();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !sandbox.path("run/config.toml").exists() {
        assert!(Instant::now() < deadline, "training does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let code = wait(&mut child);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("of 14 epochs; the next demo goes on from there"), "{stderr}");
    assert!(!sandbox.path("run/model.json").exists());
}
