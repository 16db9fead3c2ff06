//! COGS, ATIS, Overnight and Okapi: every line becomes a program that gives the line back, and no text is too broken to be
//! an error.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod domains;
mod lines;

use crate::data_sets::data_dir;
use lines::LINES;
use spanwise_core::Random;
use spanwise_domains::data::import::Benchmark;
use spanwise_domains::data::{Example, Examples, write_examples};
use spanwise_lang::Terms;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn lines_become_programs_and_come_back() {
    for (benchmark, line, program) in LINES {
        let example = benchmark.example(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(example.program.as_deref(), Some(program), "{line}");
        assert_eq!(benchmark.line(&example).as_deref(), Ok(line));
        // Programs are in our style, so that texts are equal where programs are.
        let mut terms = Terms::new();
        let term = terms.parse(program).unwrap();
        assert_eq!(terms.display(term).to_string(), program);
    }
}

#[test]
fn fields_that_are_no_program_are_kept() {
    let (cogs, line, _) = LINES[0];
    assert_eq!(cogs.example(line).unwrap().extra["generalization"], "mine");
    let (overnight, line, _) = LINES[13];
    assert_eq!(overnight.example(line).unwrap().extra["canonical_utterance"], "mayor of oslo");
}

#[test]
fn the_order_of_arguments_is_the_official_one() {
    let check = |benchmark: Benchmark, one: &str, other: &str| {
        let programs = [one, other].map(|line| benchmark.example(line).unwrap().program);
        assert_ne!(programs[0], programs[1]);
    };
    check(
        Benchmark::Atis,
        "to oslo nonstop\tanswer ( intersection _to_2 city_name oslo _nonstop all )",
        "to oslo nonstop\tanswer ( intersection _nonstop all _to_2 city_name oslo )",
    );
    check(
        Benchmark::Okapi,
        "two kites\tGET event SEARCH kites TOP 2",
        "two kites\tGET event TOP 2 SEARCH kites",
    );
}

#[test]
fn predictions_become_official_text_as_far_as_there_is_one() {
    let check = |program: &str, expected: Result<&str, &str>| {
        let found = Benchmark::Cogs.official_program("The fox saw a kite .", program);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{program}");
    };
    // Whatever the order of the roles, nouns have the positions of their words.
    check(
        "see(theme(kite), agent(the(fox)))",
        Ok(
            "* fox ( x _ 1 ) ; see . theme ( x _ 2 , x _ 4 ) AND see . agent ( x _ 2 , x _ 1 ) AND kite ( x _ 4 )",
        ),
    );
    check("see(agent(Nora))", Ok("see . agent ( x _ 2 , Nora )"));
    check("see(agent(boat))", Err("the utterance has no article with `boat`, or fewer than the program"));
    check(
        "see(agent(fox), ccomp(see(agent(kite))))",
        Err("the utterance has fewer verbs than the program: none is left for the complement of `see`"),
    );
    check("see(agent(nmod.on(Nora, fox)))", Err("the name `Nora` cannot have `nmod.on`"));
    check("see(agent)", Err("expected roles with one argument below `see`"));
    check("see(agent(f(x)))", Err("expected a single word, found a call of `f`"));
    check("see()", Err("a verb without roles has no logical form"));
    check(
        "see(xcomp(run()))",
        Err("the utterance has fewer verbs than the program: none is left for the complement of `see`"),
    );
    check("see(", Err("the program cannot be read: column 5: expected an argument"));
    let atis = |program| Benchmark::Atis.official_program("", program).unwrap_err();
    assert_eq!(atis("answer(_from_2(a, b))"), "there is no function `_from_2` of 2 arguments");
    assert_eq!(atis("city_name('new oslo')"), "expected a single word, found `new oslo`");
    let okapi = |program| Benchmark::Okapi.official_program("", program).unwrap_err();
    assert_eq!(okapi("post(event)"), "expected `get` with a resource");
    assert_eq!(okapi("get(event, skip(2))"), "there is no clause `skip`");
    assert_eq!(okapi("get(event, top(2, 3))"), "`top` has 2 arguments, expected 1");
    let overnight = |program| Benchmark::Overnight.official_program("", program).unwrap_err();
    assert_eq!(overnight("f(atom(x, y))"), "`atom` takes one argument");
}

fn check_error(benchmark: Benchmark, line: &str, reason: &str) {
    let error = benchmark.example(line).unwrap_err();
    assert_eq!(error, reason, "for {line:?}");
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    use Benchmark::{Atis, Cogs, Okapi, Overnight};
    check_error(Atis, "oslo", "expected lines of utterance, tab, program, found `oslo`");
    check_error(Atis, " \tanswer _city all", "there is no utterance before the first tab");
    check_error(Atis, "q\t", "there is no program");
    check_error(Atis, "q\tanswer", "`answer` has no argument");
    check_error(Atis, "q\tanswer _city )", "`_city` has no argument");
    check_error(Atis, "q\tanswer ( and x )", "expected `intersection` or `or` after `(`, found `and`");
    check_error(Atis, "q\tanswer ( or x", "the bracket of `or` is never closed");
    check_error(Atis, "q\tanswer _equals airline_code xy", "`_equals` has 1 arguments, expected 2");
    check_error(Atis, "q\tanswer city_name", "expected a value after `city_name`");
    check_error(Atis, "q\tanswer town_name oslo", "expected the end of the program before `oslo`");
    check_error(Atis, "q\t)", "there is a `)` without `(`");
    check_error(
        Atis,
        "q\tanswer  all",
        "`answer(all)` cannot be restored to the official text: after 7 characters, it gives `all` for ` all`",
    );
    check_error(Overnight, "q\tq\t( call", "a `(` is never closed");
    check_error(Overnight, "q\tq\t( call ) )", "expected the end of the program before `)`");
    check_error(Okapi, "q\tPOST event", "expected a request `GET ..`, found `POST event`");
    check_error(Okapi, "q\tGET TOP 3", "expected one word between `GET` and the first clause");
    check_error(Okapi, "q\tGET event TOP", "`TOP` has 0 words after it, expected 1");
    check_error(
        Okapi,
        "q\tGET event FILTER event.start gt",
        "`FILTER` has 2 words after it, expected 3 or more",
    );
    check_error(
        Cogs,
        "q\tf ( x _ 1 )",
        "expected lines of sentence, tab, logical form, tab, kind of generalization, found `q\tf ( x _ 1 )`",
    );
    check_error(Cogs, "q\tfox ( x _ 1 )\tk", "there is no verb");
    check_error(Cogs, "q\tsee . agent ( x _ 1 , x _ 2 )\tk", "the agent of `see` is not described: `x _ 2`");
    check_error(Cogs, "q\tsee . agent ( x _ 1 , y )\tk", "expected a variable such as `x _ 1`, found `y`");
    check_error(Cogs, "q\tfox x ; see\tk", "expected `* noun ( x _ 1 )`, found `fox x`");
    check_error(
        Cogs,
        "q\tsee\tk",
        "expected `noun ( x _ 1 )` or `verb . role ( x _ 1 , x _ 2 )`, found `see`",
    );
    check_error(
        Cogs,
        "q\tfox ( x _ 1 ) AND fox . nmod . on ( x _ 1 , x _ 1 )\tk",
        "`nmod.on` leads to `x _ 1`, which is no later noun",
    );
    check_error(
        Cogs,
        "q\tLAMBDA a . see . agent ( e , a )\tk",
        "expected `e` as the last variable of a verb",
    );
}

#[test]
fn a_logical_form_that_a_program_would_not_keep_is_refused() {
    // Nothing is left out in silence: here a noun that no verb has, a verb below none, and a noun at another word.
    for form in [
        "fox ( x _ 1 ) AND see . theme ( x _ 2 , x _ 4 ) AND kite ( x _ 4 )",
        "kite ( x _ 4 ) AND see . theme ( x _ 2 , x _ 4 ) AND run . theme ( x _ 3 , x _ 4 )",
        "fox ( x _ 1 ) AND see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , x _ 3 ) AND kite ( x _ 3 )",
    ] {
        let error = Benchmark::Cogs.example(&format!("A fox saw a kite .\t{form}\tk")).unwrap_err();
        assert!(error.contains("cannot be restored to the official text"), "{error}");
    }
}

#[test]
fn a_form_that_would_be_huge_as_a_program_is_refused() {
    let modifiers: Vec<String> = (1..60)
        .flat_map(|at| ["in", "on"].map(|by| format!("n . nmod . {by} ( x _ {at} , x _ {} )", at + 1)))
        .collect();
    let nouns: Vec<String> = (1..61).map(|at| format!("n ( x _ {at} )")).collect();
    let form =
        format!("{} AND {} AND v . agent ( x _ 0 , x _ 1 )", nouns.join(" AND "), modifiers.join(" AND "));
    check_error(Benchmark::Cogs, &format!("q\t{form}\tk"), "parts of the program are used too often");
}

#[test]
fn errors_name_the_line_and_reading_goes_on() {
    let text = "\u{feff}cities\tanswer _city all\r\n\r\nq\tanswer\nairlines\tanswer _airline all";
    let outcomes: Vec<_> = Benchmark::Atis.examples(text).collect();
    assert_eq!(outcomes.len(), 3);
    assert_eq!(outcomes[0].as_ref().unwrap().program.as_deref(), Some("answer(_city(all))"));
    assert_eq!(outcomes[1].as_ref().unwrap_err().to_string(), "line 3: `answer` has no argument");
    assert!(outcomes[2].is_ok());
    let nothing: Vec<_> = Benchmark::Atis.examples(" \n\n").map(|it| it.unwrap_err().to_string()).collect();
    assert_eq!(nothing, ["no example found; expected lines of utterance, tab, program"]);
}

#[test]
fn a_repeated_filter_is_written_once_and_restored() {
    let (overnight, line, _) =
        LINES.iter().copied().find(|(_, line, _)| line.starts_with("old cities")).unwrap();
    let mut example = overnight.example(line).unwrap();
    assert_eq!(overnight.line(&example).as_deref(), Ok(line));
    // The official text is not that of another program.
    example.program = Some("filter(en.city, is(old))".to_owned());
    let other = overnight.line(&example).unwrap();
    assert_eq!(other, "old cities\tq\t( call SW.filter en.city ( string old ) )");
}

#[test]
fn examples_that_are_no_line_are_refused() {
    let atis = Benchmark::Atis;
    let refused = |example: &Example| atis.line(example).unwrap_err();
    let mut example = Example::new("q");
    assert_eq!(refused(&example), "the example has no program");
    example.program = Some("answer(all)".to_owned());
    assert_eq!(atis.line(&example).as_deref(), Ok("q\tanswer all"));
    example.utterance = "two\nlines".to_owned();
    assert_eq!(refused(&example), "`two\nlines` has a tab or a line end in it");
    assert_eq!(Benchmark::Cogs.line(&Example::new("q")).unwrap_err(), "the example has no program",);
}

/// Whatever the line, it is an error, or an example that gives it back.
fn check_survives(benchmark: Benchmark, line: &str) {
    if let Ok(example) = benchmark.example(line) {
        assert_eq!(benchmark.line(&example).as_deref(), Ok(line));
    }
    // All other benchmarks refuse it, or take it for a line of their own.
    let program = line.split('\t').nth(1).unwrap_or(line);
    for other in Benchmark::ALL {
        let _ = other.example(line);
        let _ = other.official_program(line, program);
    }
}

#[test]
fn truncated_and_garbled_lines_never_panic_and_never_lose_anything() {
    let mut random = Random::new(5, &[]);
    let tokens = [
        "(",
        ")",
        "\t",
        " ",
        "x _ 1",
        "é",
        "'",
        "AND",
        "LAMBDA a .",
        "call",
        "or",
        "_",
        "FILTER",
        "-1",
        ",",
        " ; * ",
    ];
    for (benchmark, line, _) in LINES {
        for (end, _) in line.char_indices() {
            check_survives(benchmark, &line[..end]);
            check_survives(benchmark, &line[end..]);
        }
        let words: Vec<&str> = line.split(' ').collect();
        for _ in 0..200 {
            let mut garbled = words.clone();
            for _ in 0..=random.below(3) {
                let (at, from) = (random.below(garbled.len()), random.below(words.len()));
                match random.below(4) {
                    0 if garbled.len() > 1 => drop(garbled.remove(at)),
                    1 => garbled.insert(at, tokens[random.below(tokens.len())]),
                    2 => garbled[at] = words[from],
                    _ => garbled.insert(at, words[from]),
                }
            }
            check_survives(benchmark, &garbled.join(" "));
        }
    }
}

#[test]
fn programs_of_any_depth_are_converted_both_ways() {
    const DEPTH: usize = 20_000;
    let deep =
        |open: &str, leaf: &str, close: &str| format!("{}{leaf}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    check_deep(Benchmark::Atis, &format!("q\tanswer {}", deep("not ", "all", "")));
    check_deep(Benchmark::Atis, &format!("q\tanswer {}", deep("( or ", "all", " )")));
    check_deep(Benchmark::Overnight, &format!("q\tq\t{}", deep("( call SW.f ", "x", " )")));
    check_deep(Benchmark::Overnight, &format!("q\tq\t{}", deep("( ", "x", " )")));
    check_deep(
        Benchmark::Overnight,
        &format!("q\tq\t{}", deep("( call SW.filter ", "x", " ( string a ) ( string b ) )")),
    );
    let lambdas: String = (0..DEPTH).map(|_| "LAMBDA a . ").collect();
    check_deep(Benchmark::Cogs, &format!("q\t{lambdas}LAMBDA e . f . agent ( e , a )\tk"));
    // Each noun is modified by the next, three words further on.
    let at = |noun_idx: usize| 3 * noun_idx + 2;
    let link =
        |idx| format!("n ( x _ {} ) AND n . nmod . on ( x _ {} , x _ {} )", at(idx), at(idx), at(idx + 1));
    let chain: Vec<String> = (0..DEPTH).map(link).collect();
    let form =
        format!("see . agent ( x _ 0 , x _ 2 ) AND {} AND n ( x _ {} )", chain.join(" AND "), at(DEPTH));
    check_deep(Benchmark::Cogs, &format!("see a n{}\t{form}\tk", " on a n".repeat(DEPTH)));
}

fn check_deep(benchmark: Benchmark, line: &str) {
    let example = benchmark.example(line).unwrap_or_else(|error| panic!("{benchmark}: {error}"));
    assert!(benchmark.line(&example).as_deref() == Ok(line));
}

#[test]
fn the_examples_of_the_documentation_are_right() {
    let document = include_str!("../../../../docs/import.md");
    for benchmark in Benchmark::ALL {
        let section = document.split("\n## ").find(|section| section.starts_with(&benchmark.to_string()));
        let block = section.unwrap().split("\n\n").find(|block| block.contains("    official  ")).unwrap();
        let [utterance, rest] = split(block, "official");
        let [official, imported] = split(rest, "imported");
        // Long lines are continued on the next.
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let [utterance, official, imported] = [utterance, official, imported].map(one_line);
        let line = match benchmark {
            Benchmark::Cogs => format!("{utterance}\t{official}\tkind"),
            Benchmark::Overnight => format!("{utterance}\tcanonical\t{official}"),
            Benchmark::Atis | Benchmark::Okapi => format!("{utterance}\t{official}"),
        };
        assert_eq!(benchmark.example(&line).unwrap().program, Some(imported));
    }
}

fn split<'a>(text: &'a str, at: &str) -> [&'a str; 2] {
    text.split_once(&format!("    {at}  ")).unwrap().into()
}

/// The files of a benchmark, with their texts.
fn files(directory: &Path, folder: &str) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(directory.join(folder)).unwrap();
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn every_line_of_the_official_files_is_converted_and_restored_byte_for_byte() {
    let Some(directory) = data_dir() else { return };
    for (benchmark, folder, n_lines) in [
        (Benchmark::Cogs, "cogs", 48_155),
        (Benchmark::Atis, "atis", 10_700),
        (Benchmark::Overnight, "overnight", 1_638),
        (Benchmark::Okapi, "okapi", 2_406),
    ] {
        let mut n_restored = 0;
        for (name, text) in files(&directory, folder) {
            let examples: Vec<Example> = benchmark
                .examples(&text)
                .collect::<Result<_, _>>()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            // Through the file that is written, as a user would.
            let mut bytes = Vec::new();
            write_examples(&mut bytes, &examples).unwrap();
            let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let mut restored = String::new();
            for example in Examples::new(&bytes[..], "copy") {
                restored += &benchmark.line(&example.unwrap()).unwrap();
                restored += end;
            }
            assert!(restored == text, "{name} is not restored");
            n_restored += examples.len();
        }
        assert_eq!(n_restored, n_lines, "{benchmark}");
    }
}
