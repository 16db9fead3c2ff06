//! The domain files of ATIS and Overnight on their training files, where those are available.

use crate::common::{Sandbox, no_python, releases};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::process::Command;

fn domain(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains").join(name)
}

/// Imports the official files of a benchmark into the sandbox, as `NAME.jsonl`.
fn imported(sandbox: &Sandbox, benchmark: &str, names: &[&str]) -> Option<()> {
    let data = releases()?;
    for name in names {
        let official = data.join(benchmark).join(format!("{name}.tsv"));
        let out = format!("{name}.jsonl");
        sandbox.call(["data", "import", benchmark, "--out", &out]).arg(official).run().exits(0);
    }
    Some(())
}

/// Training programs in percent: well-typed, and derivable on any words with implicit constants.
fn shares(sandbox: &Sandbox, name: &str, file: &str) -> [f64; 2] {
    let report =
        sandbox.call(["check", "--json"]).arg(domain(name).join("domain.toml")).arg(file).run().json();
    let all = report["programs"].as_f64().unwrap();
    let derivable = &report["derivability"][0]["derivable"]["open + implicit"];
    [&report["typed"], derivable].map(|count| 100.0 * count.as_f64().unwrap() / all)
}

const ATIS: [&str; 2] = ["atis_funql_train_brackets", "atis_funql_length4_train_brackets"];

#[test]
fn the_domain_file_of_atis_derives_nearly_all_training_programs() {
    let sandbox = Sandbox::new();
    let Some(()) = imported(&sandbox, "atis", &ATIS) else { return };
    for name in ATIS {
        let [typed, derivable] = shares(&sandbox, "atis", &format!("{name}.jsonl"));
        assert!(typed > 97.0 && derivable > 95.5, "{name}: {typed} % typed, {derivable} % derivable");
    }
}

#[test]
fn the_domain_files_of_overnight_type_all_training_programs() {
    let sandbox = Sandbox::new();
    for kind in ["calendar", "publications"] {
        let Some(()) = imported(&sandbox, "overnight", &[&format!("{kind}_train")]) else { return };
        let name = format!("overnight-{kind}");
        let [typed, derivable] = shares(&sandbox, &name, &format!("{kind}_train.jsonl"));
        assert!(typed == 100.0 && derivable > 96.0, "{kind}: {typed} % typed, {derivable} % derivable");
    }
}

#[test]
fn tables_are_what_their_scripts_make_of_the_training_files() {
    if no_python() {
        return;
    }
    let sandbox = Sandbox::new();
    let Some(()) = imported(&sandbox, "atis", &ATIS) else { return };
    let Some(()) = imported(&sandbox, "overnight", &["calendar_train", "publications_train"]) else { return };
    for (name, files) in [
        ("atis", &ATIS[..]),
        ("overnight-calendar", &["calendar_train"]),
        ("overnight-publications", &["publications_train"]),
    ] {
        let script = format!("{name}/tables.py");
        sandbox.write(&script, read_to_string(domain(name).join("tables.py")).unwrap());
        let files = files.iter().map(|file| sandbox.path(&format!("{file}.jsonl")));
        let run = Command::new("python3").arg(sandbox.path(&script)).args(files).status();
        assert!(run.unwrap().success(), "{name}");
        for made in sandbox.names(name).iter().filter(|made| made.ends_with(".tsv")) {
            let committed = read_to_string(domain(name).join(made)).unwrap();
            assert!(sandbox.read(&format!("{name}/{made}")) == committed, "{name}/{made}");
        }
    }
}
