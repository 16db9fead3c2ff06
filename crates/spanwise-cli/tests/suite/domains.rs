//! The domain files of the folder `domains`: they load, and nearly all training programs of their benchmarks can be derived.

use crate::common::{Sandbox, releases};
use std::fs::read_dir;
use std::path::Path;

const DOMAINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../domains");

#[test]
fn every_domain_file_of_the_repository_loads_and_has_a_readme() {
    let sandbox = Sandbox::new();
    let folders: Vec<_> = read_dir(DOMAINS).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(folders.len() >= 2, "{folders:?}");
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let file = folder.join("domain.toml");
        let outcome = sandbox.run(["check", file.to_str().unwrap()]).exits(0);
        outcome.prints([&format!("domain {name}: ")[..], "the domain file is valid"]);
        assert!(folder.join("README.md").is_file(), "{name} has no README.md");
    }
}

/// Checks that every training program is well-typed, and that at least this share (in percent) can be derived.
#[track_caller]
fn covers(benchmark: &str, domain: &str, file: &str, share: f64) {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    let official = data.join(file);
    sandbox.run(["data", "import", benchmark, official.to_str().unwrap(), "--out", "train.jsonl"]).exits(0);
    let domain = Path::new(DOMAINS).join(domain).join("domain.toml");
    let report = sandbox.run(["check", domain.to_str().unwrap(), "train.jsonl", "--json"]).exits(0).json();
    assert_eq!(report["typed"], report["programs"]);
    let whole = report["programs"].as_f64().unwrap();
    let derivable = report["derivability"][0]["derivable"]["open + implicit"].as_f64().unwrap();
    assert!(100.0 * derivable / whole >= share, "{derivable} of {whole}");
}

#[test]
fn all_training_programs_of_cogs_are_derivable() {
    covers("cogs", "cogs", "cogs/train.tsv", 100.0);
}

#[test]
fn nearly_all_training_programs_of_okapi_are_derivable() {
    covers("okapi", "okapi", "okapi/train.tsv", 97.5);
}
