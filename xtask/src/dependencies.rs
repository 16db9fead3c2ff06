//! Compares the dependencies between the crates with the table in ARCHITECTURE.md.
//!
//! The table is the one that people read: its header is `crate | knows | imports`, a row names a crate by its directory in
//! backquotes, and `imports` lists crates without the prefix `spanwise-`, or is `nothing`.

use crate::File;
use std::collections::{BTreeMap, BTreeSet};
use toml_edit::Document;

/// The crates that each crate imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check(files: &[File]) -> Vec<String> {
    let document = files.iter().find(|file| file.path == "ARCHITECTURE.md").map_or("", |file| &file.text);
    compare(&documented(document), &declared(files))
}

/// What the two disagree on. An import that the table has and the manifest has not is stale documentation.
fn compare(documented: &Imports, declared: &Imports) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, imports) in declared {
        let Some(allowed) = documented.get(name) else {
            problems.push(format!("crates/{name} has no row in the table of crates of ARCHITECTURE.md"));
            continue;
        };
        let forbidden = imports.difference(allowed);
        problems.extend(
            forbidden.map(|to| format!("{name} depends on {to}, which ARCHITECTURE.md does not allow")),
        );
        let unused = allowed.difference(imports);
        problems.extend(
            unused.map(|to| format!("ARCHITECTURE.md says that {name} imports {to}, which it does not")),
        );
    }
    let gone = documented.keys().filter(|name| !declared.contains_key(*name));
    problems.extend(
        gone.map(|name| format!("ARCHITECTURE.md has a row for crates/{name}, which does not exist")),
    );
    problems
}

/// The rows of the table.
fn documented(text: &str) -> Imports {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines =
        text.lines().skip_while(|line| cells(line) != ["", "crate", "knows", "imports", ""]).skip(2);
    let rows = lines.by_ref().take_while(|line| line.starts_with('|')).map(cells);
    rows.filter_map(|row| {
        let name = row.get(1)?.trim_matches('`').strip_prefix("crates/")?.to_owned();
        let imports = row.get(3)?.split(", ").filter(|name| *name != "nothing");
        Some((name, imports.map(|name| format!("spanwise-{name}")).collect()))
    })
    .collect()
}

/// What the manifests say. Tests and benchmarks may depend on more.
fn declared(files: &[File]) -> Imports {
    let manifests = files.iter().filter_map(|file| {
        let name = file.package()?;
        (file.path == format!("crates/{name}/Cargo.toml")).then_some((name, &file.text))
    });
    manifests.map(|(name, text)| (name.to_owned(), dependencies(text))).collect()
}

fn dependencies(manifest: &str) -> BTreeSet<String> {
    let document = Document::parse(manifest).expect("cargo has read it already");
    let tables = ["dependencies", "build-dependencies"].into_iter().filter_map(|key| document.get(key));
    let names = tables.filter_map(|item| item.as_table_like()).flat_map(|table| table.iter());
    names.map(|(name, _)| name.to_owned()).filter(|name| name.starts_with("spanwise")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# Text\n\n| crate | knows | imports |\n|---|---|---|\n| `crates/spanwise-a` | x | nothing |\n\
        | `crates/spanwise-b` | x, y | a, c |\n| `xtask` | z | nothing |\n\n| `crates/spanwise-d` | x | a |\n";

    fn problems(b: &str) -> Vec<String> {
        let declared = [("spanwise-a", ""), ("spanwise-b", b)];
        compare(
            &documented(TABLE),
            &declared.map(|(name, text)| (name.to_owned(), dependencies(text))).into(),
        )
    }

    #[test]
    fn a_manifest_that_agrees_with_its_row_is_fine() {
        let manifest = "[dependencies]\nserde = \"1\"\nspanwise-a.workspace = true\n\
            [build-dependencies]\nspanwise-c = { workspace = true }\n[dev-dependencies]\nspanwise-x.workspace = true\n";
        assert_eq!(problems(manifest), [""; 0]);
    }

    #[test]
    fn both_what_is_not_allowed_and_what_is_not_used_are_reported() {
        let found = problems("[dependencies]\nspanwise-a.workspace = true\nspanwise-d.workspace = true\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("spanwise-b depends on spanwise-d"), "{found:?}");
        assert!(found[1].contains("spanwise-b imports spanwise-c"), "{found:?}");
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_reported() {
        let declared = Imports::from([
            ("spanwise-a".to_owned(), BTreeSet::new()),
            ("spanwise-z".to_owned(), BTreeSet::new()),
        ]);
        let found = compare(&documented(TABLE), &declared);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("crates/spanwise-z has no row"), "{found:?}");
        assert!(found[1].contains("crates/spanwise-b, which does not exist"), "{found:?}");
    }
}
