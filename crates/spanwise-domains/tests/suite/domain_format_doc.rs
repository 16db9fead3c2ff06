//! `docs/domain-format.md` against the code: every example is loaded, and every outcome on the page compared.
//!
//! Fenced blocks of the page, by the info string of the fence and their first line:
//!
//! * `toml`, `# complete`: a whole file, which loads. `# fragment of NAME`: added to the complete block with
//!   that `name` ([`add`]); the outcome loads. `# wrong`: a whole file, which does not load. `# phrases`: phrases for
//!   annotation, for the last domain that was loaded.
//! * `text`, `error: ..`: exactly what the loader prints for the wrong block right before it.
//! * any other `text`: lines of `something : outcome`, about the last domain that was loaded ([`outcome`]).
//! * `tsv NAME`, `json NAME.json`: a table of that name, read by the real reader of tables.
//! * `sql`: a program of the last domain that was loaded, in a comment, and its statement.
//! * `json lines`: a request to a command and replies from it.
//! * `json example`: an example with its date.
//!
//! Beside these, every key that the loader knows must be on the page, and the tables of limits, of the kinds of literals
//! and of measures must be true.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_domains::exec::external::{CommandConfig, CommandExecutor, MAX_MESSAGE_BYTES, MAX_TIMEOUT};
use spanwise_domains::exec::files::MAX_FILE_BYTES;
use spanwise_domains::exec::{BUILTINS, Denotation, ExecError, Executor};
use spanwise_domains::load::load;
use spanwise_domains::text::MAX_BYTES;
use spanwise_lang::domain::{Domain, ExecutorChoice, NoTables, Omission, QUERY, Table, TableSource};
use spanwise_lang::matching::{Alternative, Approximate, CAP, Matcher, Speller, max_edits};
use spanwise_lang::signature::Side;
use spanwise_lang::sql::SqlSettings;
use spanwise_lang::states::{MAX_COMPOSITES, MAX_STATES};
use spanwise_lang::types::MAX_TYPES;
use spanwise_lang::{Annotation, Meaning, Preference, Problem, Shape, Style, TermId, Terms};
use spanwise_sql::compose::{MAX_DEPTH, compose};
use spanwise_sql::database::Dialect;
use std::time::Duration;

const PAGE: &str = include_str!("../../../../docs/domain-format.md");

/// The domain file in messages.
const FILE: &str = "home.toml";

/// A fenced block.
struct Block {
    /// The info string of the fence.
    info: &'static str,
    /// The content, without the last line end.
    text: String,
    /// The line of its fence on the page.
    line: usize,
}

impl Block {
    fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The name in the first line, when that is `mark NAME`.
    fn marked(&self, mark: &str) -> Option<&str> {
        self.first_line().strip_prefix(mark).map(str::trim)
    }
}

fn blocks() -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = PAGE.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        found.push(Block { info, text: inside.join("\n"), line: at + 1 });
    }
    found
}

/// The tables on the page.
struct PageTables(Vec<(String, Table)>);

impl PageTables {
    /// Reads them as they are read from files beside a domain file.
    fn read_all(blocks: &[Block]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut tables = Vec::new();
        for block in blocks {
            let Some((kind, name)) = block.info.split_once(' ').filter(|(_, name)| name.contains('.')) else {
                continue;
            };
            assert!(name.ends_with(kind), "{name} is not {kind}");
            std::fs::write(directory.path().join(name), &block.text).unwrap();
            let probe = directory.path().join("probe.toml");
            // Any column will do.
            let first = block.text.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
            let column = first.split('\t').next().filter(|_| kind == "tsv").unwrap_or("name");
            let class = format!("class = 'c'\ntype = 'A'\nform = \"c('{{{column}}}')\"\ntable = '{name}'");
            std::fs::write(&probe, format!("{MINIMAL}[[entities]]\n{class}\n")).unwrap();
            let domain = load(probe.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
            tables.extend_from_slice(domain.tables());
        }
        Self(tables)
    }
}

impl TableSource for PageTables {
    fn read(&self, path: &str) -> Result<Table, String> {
        if path.starts_with(QUERY) {
            let rows = vec![(0, vec!["O'Neil".to_owned()])];
            return Ok(Table { columns: vec!["name".to_owned()], rows });
        }
        let found = self.0.iter().find(|(name, _)| name == path).map(|(_, table)| table.clone());
        found.ok_or_else(|| format!("the page has no table `{path}`"))
    }
}

/// Adds a fragment to a file: a key that the file has already is replaced, `[[..]]` is appended.
fn add(base: &str, fragment: &str) -> String {
    let mut sections = split(base);
    for (header, lines) in split(fragment) {
        let keys: Vec<&str> = lines.iter().filter_map(|line| key_of(line)).collect();
        if header.is_empty() {
            sections.retain(|(known, _)| !keys.contains(&known.trim_matches(['[', ']'])) || known.is_empty());
        }
        match sections.iter_mut().find(|(known, _)| *known == header && !header.starts_with("[[")) {
            Some((_, known)) => {
                known.retain(|line| key_of(line).is_none_or(|key| !keys.contains(&key)));
                known.extend(lines);
            }
            None => sections.push((header, lines)),
        }
    }
    sections.iter().map(|(header, lines)| format!("{header}\n{}\n", lines.join("\n"))).collect()
}

/// The lines under each header; first those under none.
fn split(source: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections = vec![("", Vec::new())];
    for line in source.lines() {
        if line.starts_with('[') {
            sections.push((line, Vec::new()));
        } else {
            sections.last_mut().unwrap().1.push(line);
        }
    }
    sections
}

/// The key that a line starts with. Files that are added to have one line per key.
fn key_of(line: &str) -> Option<&str> {
    line.split_once(" = ").map(|(key, _)| key).filter(|key| !key.starts_with(['#', ' ']))
}

/// The file that a `toml` block describes.
fn source_of(block: &Block, blocks: &[Block]) -> String {
    let Some(name) = block.marked("# fragment of ") else { return block.text.clone() };
    let has_name = |base: &&Block| {
        base.first_line() == "# complete"
            && base.text.lines().any(|line| line == format!("name = \"{name}\""))
    };
    let base = blocks.iter().find(has_name);
    let base = base.unwrap_or_else(|| panic!("line {}: there is no complete `{name}`", block.line));
    add(&base.text, &block.text)
}

#[test]
fn examples_load_and_give_what_the_page_says() {
    let blocks = blocks();
    let tables = PageTables::read_all(&blocks);
    let load = |source: &str, system: Option<&str>, line: usize| {
        Domain::load(source, FILE, system, &tables)
            .unwrap_or_else(|errors| panic!("line {line} of the page:\n{errors}"))
    };
    let mut domain = None;
    let (mut n_outcomes, mut n_errors, mut n_phrases) = (0, 0, 0);
    for (at, block) in blocks.iter().enumerate() {
        match (block.info, block.first_line()) {
            ("toml", "# wrong") => {
                let shown = Domain::load(&block.text, FILE, None, &tables).unwrap_err().to_string();
                let next = blocks.get(at + 1).filter(|next| next.info == "text");
                assert_eq!(next.map(|next| next.text.as_str()), Some(shown.as_str()), "line {}", block.line);
                n_errors += 1;
            }
            ("toml", "# phrases") => {
                let domain = domain.as_ref().unwrap();
                let annotation = Annotation::load(domain, &block.text, "phrases.toml");
                let annotation =
                    annotation.unwrap_or_else(|errors| panic!("line {} of the page:\n{errors}", block.line));
                assert_ne!(annotation.prefer(), Preference::DEFAULT);
                n_phrases += 1;
            }
            ("toml", first) => {
                let is_marked = first == "# complete" || block.marked("# fragment of ").is_some();
                assert!(is_marked, "line {}: start with `# complete` or the like", block.line);
                let source = source_of(block, &blocks);
                let loaded = load(&source, None, block.line);
                for system in loaded.type_systems() {
                    load(&source, Some(system), block.line);
                }
                domain = Some(loaded);
            }
            ("text", first) if first.starts_with("error:") => {
                let after_wrong = at > 0 && blocks[at - 1].first_line() == "# wrong";
                assert!(after_wrong, "line {}: an error of nothing", block.line);
            }
            ("text", _) => {
                for line in block.text.lines() {
                    let (what, expected) = line.rsplit_once(" : ").unwrap();
                    let found = outcome(domain.as_ref().unwrap(), what.trim());
                    assert!(
                        found.iter().any(|found| found == expected),
                        "line {} of the page: `{line}`, but it gives {found:?}",
                        block.line
                    );
                    n_outcomes += 1;
                }
            }
            ("sql", first) => {
                let domain = domain.as_ref().unwrap();
                let mut terms = domain.new_terms();
                let program = terms.parse(first.strip_prefix("-- ").unwrap()).unwrap();
                let query = compose(domain, &terms, program, Dialect::Sqlite).unwrap();
                assert_eq!(format!("{first}\n{}", query.readable()), block.text, "line {}", block.line);
            }
            (info, _) => assert!(info.starts_with("tsv ") || info.starts_with("json "), "{info}"),
        }
    }
    assert!(n_outcomes > 20 && n_errors > 0, "{n_outcomes} outcomes and {n_errors} errors");
    assert_eq!(n_phrases, 1);
    for (name, _) in Preference::ALL {
        assert!(PAGE.contains(&format!("| `{name}` |")), "the page does not explain `{name}`");
    }
}

/// The constants that phrases in the words name, and the literals in them, in the order of the words. `now` is a date or
/// empty.
fn exact_names(domain: &Domain, words: &str, now: &str) -> Vec<String> {
    let utterance = Utterance::new(words).said_at(now.parse().ok());
    assert_eq!(utterance.now().is_some(), !now.is_empty(), "{now}");
    let constants = domain.lexicon().matches(&utterance);
    let constants = constants.iter().map(|m| (m.span, domain.constants()[m.constant].name.clone()));
    let literals = domain.literals(&utterance).into_iter().map(|(span, _, value)| (span, value));
    let mut found: Vec<_> = constants.chain(literals).collect();
    found.sort_by_key(|(span, _)| *span);
    found.into_iter().map(|(_, name)| name).collect()
}

/// The constants that the words name exactly or nearly, each with the kind of match. As in a model without training data.
fn near_names(domain: &Domain, words: &str) -> Vec<String> {
    let utterance = Utterance::new(words);
    let matcher = Matcher::new(domain.lexicon(), |word| !domain.is_no_meaning(word));
    let speller = Speller::new(matcher.name_words());
    let word = |token: &spanwise_core::Token| {
        let is_known = speller.count(&token.lower).is_some() || domain.is_no_meaning(&token.lower);
        let near = if is_known { Vec::new() } else { speller.near(&token.lower, 4) };
        near.into_iter().map(|near| (near.word.to_owned(), Alternative::from(near))).collect::<Vec<_>>()
    };
    let near: Vec<_> = utterance.tokens().iter().map(word).collect();
    let words: Vec<Vec<Alternative<'_>>> = utterance
        .tokens()
        .iter()
        .zip(&near)
        .map(|(token, near)| {
            let typed = std::iter::once(Alternative::typed(&token.lower));
            typed.chain(near.iter().map(|(word, it)| Alternative { word, ..*it })).collect()
        })
        .collect();
    let shown = |found: &Approximate| {
        let name = &domain.constants()[found.constant].name;
        format!("{name} {}", format!("{:?}", found.kind).to_lowercase())
    };
    matcher.matches(domain.lexicon(), &words).found.iter().map(shown).collect()
}

/// For each word, what it costs to leave it out.
fn omissions(domain: &Domain, words: &str) -> Vec<String> {
    let utterance = Utterance::new(words);
    let names = domain.lexicon().matches(&utterance);
    let names = names.iter().map(|found| (found.span, found.constant));
    let literals = domain.literals(&utterance).into_iter().map(|(span, class, _)| (span, class));
    let shown = |omission: &Omission| match omission {
        Omission::Free => "-".to_owned(),
        Omission::Cost(cost) => cost.to_string(),
        Omission::Forbidden => "yes".to_owned(),
    };
    let omissions = domain.omissions(utterance.len(), names.chain(literals));
    vec![omissions.iter().map(shown).collect::<Vec<_>>().join(" ")]
}

/// What comes out of one line: of words in quotes the constants that their phrases name and the literals in them, of `apply(..)`,
/// `left(..)` and `right(..)` (an argument on that side), `compose(..)`, `gather(..)` and `spread(..)` the term or the meaning state in words, of a program its type or the reason
/// why it has none. Several where the constants in it have several frames.
fn outcome(domain: &Domain, what: &str) -> Vec<String> {
    if let Some((words, how)) = what.strip_prefix('"').and_then(|rest| rest.rsplit_once('"')) {
        let names = match how.trim() {
            "nearly" => near_names(domain, words),
            "must" => omissions(domain, words),
            when => exact_names(domain, words, when.strip_prefix("on ").unwrap_or_default()),
        };
        return vec![if names.is_empty() { "nothing".to_owned() } else { names.join("; ") }];
    }
    let mut terms = domain.new_terms();
    let term = terms.parse(what).unwrap_or_else(|problem| panic!("{}", problem.render("page", what)));
    if !is_join(&terms, term) {
        return vec![match domain.analyze(&terms, term) {
            Ok(analysis) => domain.types().name(analysis.types[0]).to_owned(),
            Err(problem) => problem.kind().to_owned(),
        }];
    }
    let meanings = meanings(domain, &mut terms, term);
    if meanings.is_empty() {
        return vec!["nothing".to_owned()];
    }
    let shown = |meaning: &Meaning| match (domain.program(&mut terms, meaning), meaning) {
        (Some(done), _) | (None, &Meaning::Done { term: done, .. }) => {
            domain.display(&terms, done).to_string()
        }
        _ => domain.describe(domain.state_id_of(meaning).unwrap()),
    };
    meanings.iter().map(shown).collect()
}

fn is_join(terms: &Terms, term: TermId) -> bool {
    terms.shape(term) == Shape::Call
        && matches!(terms.head_text(term), "apply" | "left" | "right" | "compose" | "gather" | "spread")
}

/// Everything that a join, a predicate or an entity can mean.
fn meanings(domain: &Domain, terms: &mut Terms, term: TermId) -> Vec<Meaning> {
    if is_join(terms, term) {
        let [left, right] = *terms.args(term) else { panic!("two arguments, please") };
        let (lefts, rights) = (meanings(domain, terms, left), meanings(domain, terms, right));
        let how = terms.head_text(term).to_owned();
        let pairs = lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right)));
        let join = |(left, right)| match how.as_str() {
            "apply" => domain.apply(terms, left, right),
            "left" => domain.apply_on(terms, left, right, Some(Side::Left)),
            "right" => domain.apply_on(terms, left, right, Some(Side::Right)),
            "compose" => domain.compose(left, right),
            "spread" => domain.spread(left, right),
            _ => domain.gather(left, right),
        };
        return pairs.filter_map(join).collect();
    }
    let constant = domain.entity(term).or_else(|| domain.predicate(terms.head_text(term)));
    let constant = constant.unwrap_or_else(|| panic!("what is `{}`?", terms.display(term)));
    domain.frames_of(constant).filter_map(|(frame, _)| domain.leaf(terms, constant, frame)).collect()
}

fn command(program: &[&str]) -> CommandExecutor {
    let program = program.iter().map(|&word| word.to_owned()).collect();
    let (timeout, style) = (Duration::from_secs(60), Style::default());
    CommandExecutor::new(CommandConfig { program, working_dir: None, timeout, processes: 1, style }).unwrap()
}

fn ask(executor: &dyn Executor, program: &str, context: &Value) -> Result<Denotation, ExecError> {
    let mut terms = Terms::new();
    let program = terms.parse(program).unwrap();
    executor.execute(&terms, program, Some(context))
}

#[test]
#[cfg(unix)]
fn a_command_is_asked_and_answers_as_the_page_says() {
    let blocks = blocks();
    let lines = blocks.iter().find(|block| block.info == "json lines").unwrap();
    let [request, with_value, with_error] = *lines.text.lines().collect::<Vec<_>>() else {
        panic!("a request, a denotation and an error, please");
    };
    let asked: Value = serde_json::from_str(request).unwrap();
    let program = asked["program"].as_str().unwrap();
    // A child that sends the request back.
    let echo =
        command(&["sh", "-c", r#"while read -r line; do printf '{"denotation": %s}\n' "$line"; done"#]);
    assert_eq!(ask(&echo, program, &asked["context"]).unwrap().text, request);
    let reply = |line: &str| {
        let child = command(&["sh", "-c", r#"while read -r line; do printf '%s\n' "$0"; done"#, line]);
        ask(&child, program, &asked["context"])
    };
    let value: Value = serde_json::from_str(with_value).unwrap();
    assert_eq!(reply(with_value).unwrap().text, value["denotation"].to_string());
    assert!(matches!(reply(with_error), Err(ExecError::NoValue(_))));
}

/// A file that needs nothing more.
const MINIMAL: &str = "name = 'd'\ntypes = ['A']\nroot.types = ['A']\n";

#[test]
fn every_key_of_the_format_is_on_the_page() {
    // A key that is like no other makes the loader list those that it knows.
    let unknown = "\nzzzzzzzzzz = 1\n";
    let tables = [
        "surface",
        "constants.c",
        "[predicates]",
        "[entities]",
        "[literals]",
        "[literals.units]",
        "[accumulators]",
        "[sets]",
        "executor",
        "executor.sql",
        "type_systems.t",
    ];
    let tables: String = tables.map(|table| format!("[{table}]{unknown}")).concat();
    let source = format!("name = 'd'{unknown}[root]{unknown}{tables}");
    let errors = Domain::load(&source, FILE, None, &NoTables).unwrap_err();
    let mut n_places = 0;
    for problem in &errors.problems {
        let Some(keys) = problem.hint.as_ref().and_then(|hint| hint.strip_prefix("the keys here are "))
        else {
            continue;
        };
        let place = problem.message.split_once(" in ").unwrap().1;
        let section = match place {
            "a domain file" => None,
            "a constant" => Some("constants"),
            "a type system" => Some("type_systems"),
            "a unit" => Some("literals"),
            "`sql` of [executor]" => Some("sql"),
            bracketed => Some(bracketed.trim_matches(['[', ']'])),
        };
        for key in keys.split(", ") {
            let is_there = match section {
                None => !section_of(key).is_empty(),
                Some(section) => {
                    let text = section_of(section);
                    text.contains(&format!("`{key}`")) || text.contains(&format!("`{key} ="))
                }
            };
            assert!(is_there, "the page does not explain `{key}` in {place}");
        }
        n_places += 1;
    }
    assert_eq!(n_places, 13, "{errors}");
    for name in BUILTINS {
        assert!(section_of("executor").contains(&format!("`{name}`")), "the page lacks the executor {name}");
    }
}

/// The section of the page with this key in its heading.
fn section_of(key: &str) -> &'static str {
    let has_key =
        |section: &&str| section.lines().next().is_some_and(|line| line.contains(&format!("`{key}`")));
    PAGE.split("\n## ").skip(1).find(has_key).unwrap_or_default()
}

/// Whether so many are allowed of something.
type Allowed = fn(usize) -> bool;

const LIMITS: &[(&str, Allowed)] = &[
    ("types", |n| n <= MAX_TYPES),
    ("slots in a signature", |n| loads(&format!("constants.f = '{} -> A'", vec!["A"; n].join(", ")))),
    ("optional slots in a signature", |n| {
        let types: Vec<String> = (0..n).map(|at| format!("T{at}")).collect();
        let (names, slots) = (types.join(", "), types.join("?, "));
        is_fine(&format!(
            "name = 'd'\ntypes = ['A, {names}']\nroot.types = ['A']\nconstants.f = '{slots}? -> A'"
        ))
    }),
    ("plain signatures that one with variables stands for", |n| {
        !complains(&format!("constants.f = '{}'", same(n)), "stands for more than")
    }),
    ("frames of a constant", |n| {
        let texts: Vec<String> =
            vec![(); n].chunks(4096).map(|chunk| format!("'{}'", same(chunk.len()))).collect();
        !complains(&format!("constants.f = [{}]", texts.join(", ")), "frames")
    }),
    ("`implicit_chain`", |n| loads(&format!("implicit_chain = {n}"))),
    ("classes of predicates", |n| {
        let one = |at| {
            format!(
                "[[predicates]]\nclass = 'c{at}'\ntable = 'x'\ntype = 'A'\nform = '{{a}}'\nphrases = '{{a}}'\n"
            )
        };
        !complains(&(0..n).map(one).collect::<String>(), "more than")
    }),
    ("entity classes, with those of literals", |n| {
        let class = |at| {
            format!("[[entities]]\nclass = 'c{at}'\ntype = 'A'\nform = 'c{at}({{name}})'\nopen = true\n")
        };
        loads(&(0..n).map(class).collect::<String>())
    }),
    ("`max_words`", |n| loads(&literal(&format!("kind = 'text'\nmax_words = {n}"), "value"))),
    ("`max_words` when absent", |n| {
        let longest = values("kind = 'text'", &vec!["word"; n].join(" "));
        longest.iter().any(|text| text.split(' ').count() == n)
    }),
    ("typing errors in a word of 3 to 5 letters", |n| {
        assert_eq!(max_edits(2), 0);
        assert_eq!(max_edits(3), max_edits(5));
        n <= usize::from(max_edits(5))
    }),
    ("typing errors in a longer word", |n| n <= usize::from(max_edits(6))),
    ("inexact matches of the same words", |n| n <= CAP),
    ("accumulators and sets", |n| {
        let one =
            |at| format!("[[accumulators]]\nhead = 'h{at}'\nelements = 'A'\nover = 'A'\nresult = 'A'\n");
        !complains(&(0..n).map(one).collect::<String>(), "more than")
    }),
    ("meaning states without open composition", |n| n <= MAX_STATES),
    ("pairs of a slot and a result, over functions of one slot", |n| n <= MAX_COMPOSITES),
    ("levels of nesting in a form or default", |n| {
        let nested = |inner: &str| format!("{}{inner}{}", "f(".repeat(n - 1), ")".repeat(n - 1));
        let form = loads(&format!("constants.f = {{ type = 'A -> A', form = '{}' }}", nested("{}")));
        let default = loads(&format!("constants.f = 'A = {} -> A'", nested("x")));
        assert_eq!(form, default);
        form
    }),
    ("problems shown for one file", |n| {
        let keys: String = (0..n).map(|at| format!("k{at} = 1\n")).collect();
        let errors = Domain::load(&format!("{MINIMAL}{keys}"), FILE, None, &NoTables).unwrap_err();
        !errors.to_string().ends_with("more")
    }),
    ("MiB in a domain file or a table", |n| (n as u64) << 20 <= MAX_BYTES),
    ("nodes in a program that is checked", |n| {
        let domain =
            Domain::load(&format!("{MINIMAL}constants.f = 'A? -> A'"), FILE, None, &NoTables).unwrap();
        let mut terms = domain.new_terms();
        let mut program = terms.call("f", &[]);
        for _ in 1..n {
            program = terms.call("f", &[program]);
        }
        match domain.analyze(&terms, program) {
            Err(Problem::TooLarge) => false,
            found => found.is_ok_and(|analysis| analysis.nodes.len() == n),
        }
    }),
    ("`timeout_seconds`", |n| {
        assert_eq!(MAX_TIMEOUT, timeout("timeout_seconds = 86400"));
        loads(&format!("executor = {{ command = ['x'], timeout_seconds = {n} }}"))
    }),
    ("`timeout_seconds` when absent", |n| n as u64 <= timeout("").as_secs()),
    ("`processes`", |n| loads(&format!("executor = {{ command = ['x'], processes = {n} }}"))),
    ("`processes` when absent", |n| n <= processes()),
    ("`rows`", |n| loads(&database(&format!("rows = {n}")))),
    ("`rows` when absent", |n| n <= settings().rows),
    ("`connections`", |n| loads(&database(&format!("connections = {n}")))),
    ("`connections` when absent", |n| n <= settings().connections),
    ("levels of a program that runs in a database", |n| n <= MAX_DEPTH),
    ("MiB in the files that a command names", |n| (n as u64) << 20 <= MAX_FILE_BYTES),
    ("MiB in a request to an executor, and in its reply", |n| n << 20 <= MAX_MESSAGE_BYTES),
    ("levels of nesting in a context", |n| {
        let context = (0..n).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        // The request is refused before the child would be started.
        let refused = ask(&command(&["there-is-no-such-program"]), "x", &context).unwrap_err();
        !matches!(refused, ExecError::Limit { .. })
    }),
];

/// A class of literals.
fn literal(keys: &str, field: &str) -> String {
    format!("[[literals]]\nclass = 'c'\ntype = 'A'\nform = \"c('{{{field}}}')\"\n{keys}\n")
}

/// The values of a class of literals in some words.
fn values(keys: &str, words: &str) -> Vec<String> {
    let source = format!("{MINIMAL}{}", literal(keys, "value"));
    let domain = Domain::load(&source, FILE, None, &NoTables).unwrap();
    let found = domain.literals(&Utterance::new(words));
    let text =
        |value: &str| value.strip_prefix("c('").and_then(|rest| rest.strip_suffix("')")).map(str::to_owned);
    found.iter().map(|(_, _, value)| text(value).unwrap()).collect()
}

/// What is in backticks in a cell of a table.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The names that a key may have, from the message about one that is not among them.
fn choices(keys: &str) -> Vec<String> {
    let errors =
        Domain::load(&format!("{MINIMAL}{}", literal(keys, "value")), FILE, None, &NoTables).unwrap_err();
    let (_, names) = errors.problems[0].message.split_once("expected one of ").unwrap();
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_tables_of_kinds_and_measures_say_what_is_read() {
    let section = section_of("literals");
    let tables = [
        ("| kind |", "kind = 'KIND'", choices("kind = 'zzz'")),
        ("| measure |", "kind = 'quantity'\nmeasure = 'KIND'", choices("kind = 'quantity'\nmeasure = 'zzz'")),
    ];
    for (head, keys, names) in tables {
        let rows = section.lines().skip_while(|line| !line.starts_with(head)).skip(2);
        let rows: Vec<Vec<&str>> = rows
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
            .collect();
        let listed: Vec<&str> = rows.iter().map(|row| quoted(row[0])[0]).collect();
        assert_eq!(listed, names);
        for row in &rows {
            let keys = keys.replace("KIND", quoted(row[0])[0]);
            let (words, expected) = (quoted(row[1]), quoted(row[2]));
            assert!(!words.is_empty() && words.len() == expected.len(), "{row:?}");
            for (words, expected) in words.iter().zip(expected) {
                assert_eq!(values(&keys, words), [expected], "{keys}: {words}");
            }
            let mut known = vec!["value"];
            known.extend(row.get(3).iter().flat_map(|cell| quoted(cell)));
            if head == "| kind |" {
                for field in ["value", "number", "unit", "begin", "end"] {
                    assert_eq!(loads(&literal(&keys, field)), known.contains(&field), "{keys}: {field}");
                }
            }
        }
    }
}

#[test]
fn an_example_on_the_page_has_a_date() {
    let blocks = blocks();
    let example = blocks.iter().find(|block| block.info == "json example").unwrap();
    let example = Example::from_json(serde_json::from_str(&example.text).unwrap()).unwrap();
    assert!(example.now.is_some() && example.program.is_some());
}

/// A signature that expands to `n` plain ones. All but one are the same, which is another problem.
fn same(n: usize) -> String {
    format!("S -> S where S in [{}]", vec!["A"; n].join(", "))
}

/// Whether some problem of a file is about this.
fn complains(more: &str, about: &str) -> bool {
    let outcome = Domain::load(&format!("{MINIMAL}{more}"), FILE, None, &NoTables);
    outcome.is_err_and(|errors| errors.problems.iter().any(|problem| problem.message.contains(about)))
}

fn is_fine(source: &str) -> bool {
    Domain::load(source, FILE, None, &NoTables).is_ok()
}

fn loads(more: &str) -> bool {
    is_fine(&format!("{MINIMAL}{more}"))
}

fn timeout(more: &str) -> Duration {
    let source = format!("{MINIMAL}[executor]\ncommand = ['x']\n{more}");
    match Domain::load(&source, FILE, None, &NoTables).unwrap().executor() {
        ExecutorChoice::Command { timeout, .. } => *timeout,
        other => panic!("{other:?}"),
    }
}

fn processes() -> usize {
    let source = format!("{MINIMAL}executor.command = ['x']");
    match Domain::load(&source, FILE, None, &NoTables).unwrap().executor() {
        ExecutorChoice::Command { processes, .. } => *processes,
        other => panic!("{other:?}"),
    }
}

/// An executor with a database and one more key.
fn database(key: &str) -> String {
    format!("[executor.sql]\ndatabase = 'sqlite:x.db'\n{key}\n")
}

fn settings() -> SqlSettings {
    let source = format!("{MINIMAL}{}", database(""));
    match Domain::load(&source, FILE, None, &NoTables).unwrap().executor() {
        ExecutorChoice::Sql(settings) => settings.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_limits_are_those_of_the_code() {
    let (_, table) = PAGE.split_once("\n## Limits\n").unwrap();
    let rows =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let rows: Vec<(&str, &str)> = rows.skip(1).collect();
    let names: Vec<&str> = rows.iter().map(|(what, _)| *what).collect();
    assert_eq!(names, LIMITS.iter().map(|(what, _)| *what).collect::<Vec<_>>());
    for ((what, most), (_, allowed)) in rows.iter().zip(LIMITS) {
        let most: usize = most.parse().unwrap();
        assert!(allowed(most), "{what}: {most} should be allowed");
        assert!(!allowed(most + 1), "{what}: more than {most} should not be allowed");
    }
}
