//! `spanwise completions` and `spanwise man`: shells and `man` know every command.

use crate::common::{Sandbox, subcommands};
use std::collections::BTreeSet;

/// The commands that `--help` lists.
fn commands(sandbox: &Sandbox) -> BTreeSet<String> {
    let help = sandbox.run(["--help"]).exits(0).stdout;
    let names: BTreeSet<String> = subcommands(&help).into_iter().collect();
    assert!(names.contains("demo") && names.len() > 10, "{names:?}");
    names
}

#[test]
fn every_shell_gets_a_script_that_knows_every_command() {
    let sandbox = Sandbox::new();
    let commands = commands(&sandbox);
    for (shell, mark) in [
        ("bash", "complete -F _spanwise"),
        ("zsh", "#compdef spanwise"),
        ("fish", "complete -c spanwise"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[spanwise]"),
    ] {
        let script = sandbox.run(["completions", shell]).exits(0).stdout;
        assert!(script.contains(mark), "{shell}: {script}");
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell} does not know {command}");
        }
        assert!(script.contains("no-questions"), "{shell} does not know the options of demo");
    }
    sandbox.run(["completions", "tcsh"]).exits(2).says(["bash, elvish, fish, powershell, zsh"]);
}

#[cfg(unix)]
#[test]
fn the_script_for_bash_completes() {
    let sandbox = Sandbox::new();
    let script = "\"$SPANWISE\" completions bash > s || exit 9; command -v bash > /dev/null || exit 77; bash -c \
        '. ./s; COMP_WORDS=(spanwise exp); COMP_CWORD=1; _spanwise spanwise exp spanwise; echo \"${COMPREPLY[@]}\"'";
    let outcome = sandbox.shell(script).run();
    if outcome.code == Some(77) {
        crate::common::skipped("there is no bash");
        return;
    }
    assert_eq!(outcome.exits(0).stdout, "explain\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    let one = sandbox.run(["man"]).exits(0).prints([".TH SPANWISE 1", "spanwise\\-train(1)"]);
    sandbox.run(["man", "--out", "man1"]).exits(0).says(["pages in man1"]);
    assert_eq!(sandbox.read("man1/spanwise.1"), one.stdout);
    let pages = sandbox.names("man1");
    for command in commands(&sandbox) {
        assert!(pages.contains(&format!("spanwise-{command}.1")), "{command} in {pages:?}");
    }
    let page = sandbox.read("man1/spanwise-data-import-geo.1");
    assert!(page.contains(".TH SPANWISE-DATA-IMPORT-GEO 1") && page.contains("Example"), "{page}");
    sandbox.write("file", "");
    sandbox.run(["man", "--out", "file"]).exits(1).says(["cannot make the directory file"]);
}
