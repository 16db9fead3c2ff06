//! The loader on broken files: it may refuse them, but must not panic, hang, or fail to report the position.

use spanwise_core::Random;
use spanwise_domains::load::load;
use spanwise_lang::domain::{Domain, Table, TableSource};
use std::time::Instant;

/// The tables of an already loaded domain.
struct Known<'a>(&'a [(String, Table)]);

impl TableSource for Known<'_> {
    fn read(&self, path: &str) -> Result<Table, String> {
        let found = self.0.iter().find(|(known, _)| known == path);
        found.map(|(_, table)| table.clone()).ok_or_else(|| format!("there is no table `{path}` here"))
    }
}

const SPLICES: &[&str] = &[
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "->",
    ",",
    "=",
    "<",
    "?",
    "where",
    "in",
    "\n",
    "\0",
    "é",
    "{}",
    "{name}",
    "[[entities]]\n",
    "[constants]\n",
    "1",
    "true",
    "nan",
    "_",
    "all",
    "State",
    "T",
    "\\u0041",
    "#",
    "😀",
    "= all",
];

fn mutate(source: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = source.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(chars.len());
        match random.below(6) {
            0 => {
                chars.remove(at.min(chars.len() - 1));
            }
            1 => {
                let splice: Vec<char> = SPLICES[random.below(SPLICES.len())].chars().collect();
                chars.splice(at..at, splice);
            }
            2 => {
                let end = (at + random.below(60)).min(chars.len());
                chars.drain(at..end);
            }
            3 => {
                let end = (at + random.below(60)).min(chars.len());
                let copy: Vec<char> = chars[at..end].to_vec();
                let to = random.below(chars.len());
                chars.splice(to..to, copy);
            }
            4 => chars.truncate(at.max(1)),
            _ => {
                let other = random.below(chars.len());
                chars.swap(at, other);
            }
        }
        if chars.is_empty() {
            chars.push(' ');
        }
    }
    chars.into_iter().collect()
}

/// Short files load quickly, so most mutations are made on a file that has every feature in few lines.
const SMALL: &str = r#"
name = "small"
types = ["A, B < T", "T", "C", "S", "R"]
no_meaning = ["the"]
[root]
types = ["T", "R"]
wrap = "do({})"
[surface]
spaced = true
comma = " , "
[constants]
f = ["A, B? -> T", "U -> V where (U, V) in [(A, B), (B, A)]"]
g = { type = "T = all -> S", form = "h(g, {})", implicit = true }
red = "C"
[lexicon]
f = ["eff", "f f"]
[phrases]
f = ["f f f", "f eff"]
[[accumulators]]
head = "pick"
elements = ["C"]
over = "S"
result = "R"
default = "any()"
[[entities]]
class = "a"
type = "A"
form = "a('{name}')"
names = ["x", "y z"]
phrases = ["{name}", "the {name}"]
aliases = { x = ["ex"] }
[executor]
command = ["cat"]
timeout_seconds = 3
[type_systems.coarse]
types = ["T"]
root = ["T"]
constants = { f = "T -> T" }
entities = { a = "T" }
accumulators = []
"#;

fn check(source: &str, type_system: Option<&str>, tables: &Known<'_>) -> bool {
    match Domain::load(source, "mutant.toml", type_system, tables) {
        Ok(_) => true,
        Err(errors) => {
            assert!(!errors.problems.is_empty());
            for problem in &errors.problems {
                assert!(problem.range.start <= source.len(), "{problem:?} points outside the file");
            }
            assert!(errors.to_string().contains("mutant.toml:"), "{errors}");
            false
        }
    }
}

#[test]
fn the_loader_never_panics_on_mutated_files() {
    let start = Instant::now();
    let mut random = Random::new(20_210_901, &[]);
    let mut n_loaded = 0usize;
    let mut n = 0usize;
    for round in 0..12_000 {
        let type_system = (round % 3 == 0).then_some("coarse");
        n_loaded += usize::from(check(&mutate(SMALL, &mut random), type_system, &Known(&[])));
        n += 1;
    }
    let specs = [
        ("clevr", 500),
        ("scan", 500),
        #[cfg(feature = "geo")]
        ("geo", 60),
    ];
    for (spec, rounds) in specs {
        let domain = load(spec).unwrap();
        for _ in 0..rounds {
            n_loaded +=
                usize::from(check(&mutate(domain.source(), &mut random), None, &Known(domain.tables())));
            n += 1;
        }
    }
    // Both outcomes must be common, or the mutations test nothing.
    assert!(n >= 10_000 && n_loaded > n / 50 && n_loaded < n * 49 / 50, "{n_loaded} of {n} loaded");
    assert!(start.elapsed().as_secs() < 120, "loading hangs on some file");
}

#[test]
fn every_prefix_of_a_domain_file_is_handled() {
    for end in (0..SMALL.len()).filter(|&end| SMALL.is_char_boundary(end)) {
        check(&SMALL[..end], None, &Known(&[]));
    }
}
