//! `spanwise check` on domain files alone.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{LAMPS, Sandbox, TINY};

/// The outcome of checking a file with this text, which must be refused and named.
#[track_caller]
fn refused<const N: usize>(source: impl AsRef<[u8]>, texts: [&str; N]) {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", source);
    let outcome = sandbox.run(["check", "d.toml"]).exits(1).says(texts);
    assert_eq!(outcome.stdout, "");
}

#[test]
fn a_good_domain_is_described_in_one_line() {
    let sandbox = Sandbox::with_lamps();
    let outcome = sandbox.run(["check", "lamps.toml"]).exits(0);
    assert_eq!(outcome.stderr, "");
    outcome
        .prints(["domain lamps: 2 types, 3 predicates, 2 entities in 1 classes", "the domain file is fine"]);
}

#[test]
fn the_built_in_domains_are_fine() {
    let sandbox = Sandbox::new();
    let geo = if cfg!(feature = "geo") { &["geo", "geo@paper"][..] } else { &[] };
    for name in geo.iter().chain(&["clevr", "scan"]) {
        sandbox
            .run(["check", name])
            .exits(0)
            .prints([&format!("domain {name}: ")[..], "the domain file is fine"]);
    }
}

#[test]
fn everything_wrong_is_shown_at_once_each_with_file_line_and_column() {
    let source = "name = \"d\"\ntypes = [\"A\", \"A\", \"B < Q\"]\ncolour = 1\n\n[root]\ntypes = [\"Z\"]\n\n\
        [constants]\nf = \"A -> Y\"\n\n[lexicon]\ng = \"x\"\n";
    refused(
        source,
        [
            "unknown key `colour`",
            "d.toml:3:1",
            "type `A` is declared twice",
            "d.toml:2:16",
            "unknown type `Q`",
            "d.toml:2:25",
            "unknown type `Z`",
            "d.toml:6:11",
            "unknown type `Y`",
            "d.toml:9:11",
            "unknown constant `g`",
            "d.toml:12:1",
        ],
    );
}

#[test]
fn types_in_a_circle_are_refused() {
    let rest = "[root]\ntypes = [\"A\"]\n";
    let circle = format!("name = \"d\"\ntypes = [\"A < B\", \"B < C\", \"C < A\"]\n{rest}");
    refused(circle, ["type `C` would be its own ancestor", "d.toml:2:33", "remove one of the `<`"]);
    let own_parent = format!("name = \"d\"\ntypes = [\"A < A\"]\n{rest}");
    refused(own_parent, ["type `A` would be its own ancestor", "d.toml:2:15"]);
}

#[test]
fn names_declared_twice_are_refused() {
    let types = TINY.replace("[\"A\"]\n[root]", "[\"A\", \"B\", \"A\"]\n[root]");
    refused(types, ["type `A` is declared twice", "d.toml:2:21"]);
    refused(format!("{TINY}x = \"A\"\n"), ["duplicate key", "d.toml:8:1"]);
    refused(format!("name = \"e\"\n{TINY}"), ["duplicate key", "d.toml:2:1"]);
    let class = "[[entities]]\nclass = \"c\"\ntype = \"A\"\nform = \"c({name})\"\nnames = [\"a\"]\n";
    refused(format!("{TINY}{class}{class}"), ["entity class `c` is declared twice", "d.toml:14:10"]);
    let other = class.replace("\"c\"", "\"e\"");
    refused(format!("{TINY}{class}{other}"), ["two classes have the member `c(a)`", "d.toml:14:10"]);
    refused(
        format!("{TINY}{}", class.replace("[\"a\"]", "[\"a\", \"a\"]")),
        ["`a` is listed twice", "d.toml:12"],
    );
}

#[test]
fn keys_that_do_not_exist_are_refused_with_a_suggestion() {
    refused(TINY.replace("types", "tpyes"), ["unknown key `tpyes`", "d.toml:2:1", "did you mean `types`?"]);
    let executor = format!("{TINY}[executor]\nbuildin = \"geo\"\n");
    refused(executor, ["unknown key `buildin` in [executor]", "d.toml:9:1", "did you mean `builtin`?"]);
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_line() {
    refused(format!("{TINY}g = \"A\n"), ["not valid TOML", "d.toml:8:"]);
    refused(format!("{TINY}g = = 1\n"), ["not valid TOML", "d.toml:8:5"]);
    refused("this is not a domain", ["not valid TOML", "d.toml:1:"]);
    refused("", ["needs the key `name`", "needs the key `root`", "d.toml:1:1"]);
    refused(
        format!("{TINY}g = {}{}\n", "[".repeat(100_000), "]".repeat(100_000)),
        ["d.toml:8:", "recursion"],
    );
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    refused(format!("{TINY}g = 3\n"), ["`g` must be text or a list of texts, found integer", "d.toml:8:5"]);
    refused(format!("{TINY}g = [\"A\", 3]\n"), ["must hold text in quotes", "d.toml:8:11"]);
    refused(TINY.replace("\"tiny\"", "[1]"), ["`name` must be text in quotes", "d.toml:1:8"]);
    refused(format!("format = 99\n{TINY}"), ["format 99 is not known", "d.toml:1:10"]);
    let executor = "[executor]\ncommand = [\"x\"]\ntimeout_seconds = -1\n";
    refused(format!("{TINY}{executor}"), ["`timeout_seconds`", "d.toml:10:19"]);
}

#[test]
fn signatures_that_cannot_be_read_are_pointed_at() {
    refused(format!("{TINY}g = \"A, -> A\"\n"), ["expected a type, found `->`", "d.toml:8:9"]);
    refused(format!("{TINY}g = \"T -> A where T in [Q]\"\n"), ["unknown type `Q`", "d.toml:8:"]);
    refused(format!("{TINY}g = \"{}A -> A\"\n", "A, ".repeat(40)), ["at most 16 slots", "d.toml:8:6"]);
}

#[test]
fn forms_nested_without_end_are_refused() {
    let form = format!("{}{{}}{}", "g(".repeat(100_000), ")".repeat(100_000));
    refused(
        format!("{TINY}g = {{ type = \"A -> A\", form = \"{form}\" }}\n"),
        ["nested deeper", "d.toml:8:"],
    );
}

#[test]
fn a_line_of_a_megabyte_gives_a_short_message() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", format!("{TINY}{} = \"Q\"\n", "g".repeat(1 << 20)));
    let outcome = sandbox.run(["check", "d.toml"]).exits(1).says(["d.toml:8:1048581", "unknown type `Q`"]);
    assert!(outcome.stderr.len() < 2000);
}

#[test]
fn bytes_that_are_not_utf8_are_named_with_their_line() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", b"name = \"d\"\nabout = \"\xff\"\n");
    sandbox.run(["check", "d.toml"]).exits(2).says(["d.toml", "line 2 is not valid UTF-8"]);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", format!("\u{feff}{}", TINY.replace('\n', "\r\n")));
    sandbox.run(["check", "d.toml"]).exits(0).prints(["domain tiny: 1 types, 2 predicates"]);
    sandbox.write("d.toml", format!("\u{feff}{TINY}g = \"Q\"\n").replace('\n', "\r\n"));
    sandbox.run(["check", "d.toml"]).exits(1).says(["unknown type `Q`", "d.toml:8:6"]);
}

#[test]
fn a_domain_that_cannot_be_read_makes_the_call_wrong() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/x", "");
    sandbox.run(["check", "missing.toml"]).exits(2).says(["missing.toml: there is no such file"]);
    sandbox.run(["check", "folder"]).exits(2).says(["cannot read the domain file folder"]);
    sandbox.run(["check", ""]).exits(2).says(["there is no such file"]);
}

#[test]
fn tables_that_cannot_be_used_are_named_with_their_line() {
    let sandbox = Sandbox::with_lamps();
    let refused = |table: &[u8], texts: [&str; 3]| {
        sandbox.write("lamps.tsv", table);
        sandbox.run(["check", "lamps.toml"]).exits(1).says(texts);
    };
    refused(
        b"name\taliases\ndesk\n",
        ["`lamps.tsv`, line 2", "expected 2 cells, found 1", "lamps.toml:21:10"],
    );
    refused(b"name\nde\xffsk\n", ["`lamps.tsv`", "line 2 is not valid UTF-8", "lamps.toml:21:10"]);
    refused(b"", ["`lamps.tsv` is empty", "column names", "lamps.toml:21:10"]);
    refused(b"title\ndesk\n", ["no column `name`", "the columns are title", "lamps.toml:20:9"]);
    sandbox.write("lamps.json", "[\"desk\",\n\"hall\",,]");
    sandbox.write("lamps.toml", LAMPS.replace("lamps.tsv", "lamps.json"));
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["`lamps.json` is not valid JSON", "line 2 column 8"]);
    sandbox.write("lamps.toml", LAMPS.replace("lamps.tsv", "."));
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["cannot read table `.`", "lamps.toml:21:10"]);
}

#[test]
fn tables_with_a_byte_order_mark_and_windows_line_ends_are_read() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("lamps.tsv", "\u{feff}name\taliases\r\ndesk\treading|small\r\nhall\t\r\n");
    sandbox.write("d.jsonl", crate::common::example("turn on the small lamp", "do(on(lamp('desk')))"));
    let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl", "--json"]).exits(0);
    assert_eq!(outcome.json()["entities"], serde_json::json!({"uses": 1, "said": 1}));
}

#[test]
fn constants_no_program_can_contain_and_more_than_two_phrases_are_remarked() {
    let sandbox = Sandbox::new();
    let more = "lost = \"B -> A\"\n[lexicon]\nx = [\"a\", \"b\", \"c\"]\n";
    sandbox.write("d.toml", format!("{}{more}", TINY.replace("[\"A\"]\n[root]", "[\"A\", \"B\"]\n[root]")));
    let outcome = sandbox.run(["check", "d.toml"]).exits(0);
    outcome.prints(["warning: no program can contain lost", "`x` has 3 phrases"]);
}

#[test]
fn mistakes_in_the_executor_table_are_pointed_at() {
    let sandbox = Sandbox::new();
    for line in ["builtin = \"goe\"", "url = \"nonsense\"", "command = [\"\"]"] {
        sandbox.write("d.toml", format!("{TINY}[executor]\n{line}\n"));
        sandbox.run(["check", "d.toml"]).exits(1).says(["d.toml:9:"]);
    }
}

#[test]
fn a_domain_is_checked_without_the_secrets_of_its_executor() {
    let sandbox = Sandbox::new();
    let executor = "[executor]\nurl = \"http://127.0.0.1:9/\"\ntoken_env = \"SPANWISE_TEST_NO_SUCH_TOKEN\"\n";
    sandbox.write("d.toml", format!("{TINY}{executor}"));
    sandbox.run(["check", "d.toml"]).exits(0);
}

#[test]
fn names_that_no_program_can_write_are_refused() {
    let sandbox = Sandbox::new();
    for name in ["a b", "g(", "it's", "a,b", ""] {
        sandbox.write("d.toml", format!("{TINY}\"{name}\" = \"A\"\n"));
        sandbox.run(["check", "d.toml"]).exits(1).says(["d.toml:8:"]);
    }
}

#[test]
fn an_entity_class_with_an_empty_table_is_refused() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("lamps.tsv", "name\n\n");
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["class `lamp` has no members"]);
}

#[test]
fn the_name_of_a_table_may_hold_spaces() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("lamps.toml", LAMPS.replace("lamps.tsv", "my lamps.tsv"));
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["`my lamps.tsv`"]);
    sandbox.write("my lamps.tsv", crate::common::LAMPS_TABLE);
    sandbox.run(["check", "lamps.toml"]).exits(0).prints(["2 entities"]);
}

#[test]
fn without_data_every_type_system_of_the_file_is_checked() {
    let sandbox = Sandbox::new();
    let systems = "[type_systems.good]\ntypes = [\"B\"]\nroot = [\"B\"]\nconstants.x = \"B\"\n\
        [type_systems.bad]\ntypes = [\"B\"]\nroot = [\"Q\"]\n\
        [type_systems.worse]\ntypes = [\"B\"]\nroot = [\"B\"]\nconstants.y = \"B\"\n";
    sandbox.write("d.toml", format!("{TINY}{systems}"));
    let outcome = sandbox.run(["check", "d.toml"]).exits(1);
    outcome.says(["unknown type `Q`", "d.toml:14:10", "unknown constant `y`", "d.toml:18:11"]);
    sandbox.run(["check", "d.toml@good"]).exits(0);
    sandbox.run(["check", "d.toml@worse"]).exits(1).says(["unknown constant `y`"]);
    sandbox.write("d.jsonl", crate::common::example("a", "f(x)"));
    sandbox.run(["check", "d.toml", "d.jsonl"]).exits(0);
}

#[test]
fn a_type_system_of_a_file_that_has_none_makes_the_call_wrong() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", TINY);
    sandbox.run(["check", "d.toml@loose"]).exits(2).says(["no type system `loose` in d.toml; it has none"]);
    sandbox.write("d.toml", "= =");
    sandbox.run(["check", "d.toml@loose"]).exits(1).says(["not valid TOML"]);
}
