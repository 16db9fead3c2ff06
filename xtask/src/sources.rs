//! Checks what source files may mention: pure crates no outside world, crates other than domains no predicate.

use crate::File;

/// Crates that touch no file, clock, environment or network.
const PURE: &[&str] = &["spanwise-core", "spanwise-lang"];

/// What a pure crate must not use.
const IMPURE: &[&str] = &["std::fs", "std::env", "std::net", "std::process", "Instant::now", "SystemTime"];

/// The crate that defines predicates.
const DOMAINS: &str = "spanwise-domains";

/// Names of predicates, as samples: no crate but those of domains knows any.
const PREDICATES: &[&str] = &["\"next_to_2\"", "\"loc_2\"", "\"relate_attribute_equal\"", "\"i_twice\""];

pub(crate) fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.extension() == "rs") {
        let Some(package) = file.package() else { continue };
        if !file.path.starts_with(&format!("crates/{package}/src/")) {
            continue;
        }
        let used = |names: &'static [&str]| names.iter().filter(|name| file.text.contains(**name));
        if PURE.contains(&package) {
            problems.extend(used(IMPURE).map(|name| format!("{} uses {name}", file.path)));
        }
        if package != DOMAINS {
            problems.extend(used(PREDICATES).map(|name| format!("{} names the predicate {name}", file.path)));
        }
    }
    problems
}
