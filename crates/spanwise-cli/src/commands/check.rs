//! `spanwise check`: lints a domain file and checks examples against it.

mod derivability;
mod senseless;

use super::{domain_help, executor, load};
use crate::output::{Columns, Status, percent, say, shorten, write_text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use spanwise_domains::check::{BAD_LINE, Checker, Coverage, Report, Usage, notes, over_two_phrases};
use spanwise_domains::data::{self, Example};
use spanwise_domains::exec::sql::check_fragments;
use spanwise_domains::load::Spec;
use spanwise_domains::senseless::Search;
use spanwise_lang::domain::{ClassId, ExecutorChoice};
use spanwise_lang::states::MAX_STATES;
use spanwise_lang::{Domain, DomainErrors, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Check a domain file, and examples against it.
///
/// Without data, errors in the file and its type systems are shown with line and column. With data, every program is
/// type-checked, and the report lists lines that are not examples, programs that fail and why, unknown names, the share of
/// constants that the lexicon finds in the words, and the programs that can be derived over the words at all, with the reason
/// where they cannot: too few words, for example, or their order. Constants that are rare in the data are allowed on their
/// phrases only in training; the last row counts the programs that can be derived then. Exits with 1 if a line or a program is
/// invalid.
///
/// With --execute --senseless, small programs are built from the domain and run. Signatures, and pairs of a signature and the
/// constant of its argument, are listed if their results never depend on the argument, are always empty, or repeat the
/// argument: types can forbid them. What programs of the data use is listed apart. Contexts and literals come from the data.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise check my-domain.toml\n  \
    spanwise check geo train.jsonl dev.jsonl\n  spanwise check geo@paper train.jsonl --json\n  \
    spanwise check geo train.jsonl --execute --senseless --quick")]
pub(crate) struct Args {
    #[arg(help = domain_help())]
    domain: String,
    /// Files of JSON lines with `utterance` (or `question`) and `program`
    data: Vec<PathBuf>,
    /// Evaluate programs too and compare with the `answer` of each example
    #[arg(long)]
    execute: bool,
    #[command(flatten)]
    senseless: senseless::SearchArgs,
    /// Skip the charts, which find the programs that can be derived
    #[arg(long)]
    quick: bool,
    /// Most failing examples to print of each kind of report
    #[arg(long, value_name = "N", default_value_t = 10)]
    show: usize,
    /// Print one JSON object with everything
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let spec = Spec::parse(&args.domain);
    let domain = load(spec)?;
    if args.data.is_empty() {
        spec.check_type_systems(&domain)?;
    }
    let sql = fragments(&domain, spec)?;
    let executor = args.execute.then(|| executor(&domain, spec)).transpose()?;
    let mut checker = Checker::new(&domain, executor.as_deref()).keeping(args.show);
    let mut search = executor
        .as_deref()
        .filter(|_| args.senseless.senseless)
        .map(|executor| Search::new(&domain, executor).with_limits(args.senseless.limits()));
    let mut derivable = Vec::new();
    for path in &args.data {
        add_file(&mut checker, path, |example| {
            if let Some(search) = &mut search {
                search.add(&example);
            }
            // The charts need the words, their date and the program only; scenes are large.
            if !args.quick && example.program.is_some() {
                let Example { utterance, program, now, .. } = example;
                derivable.push(Example { program, now, ..Example::new(utterance) });
            }
        })?;
    }
    let report = checker.finish();
    let findings =
        if derivable.is_empty() { Vec::new() } else { derivability::examine(&domain, &derivable, args.show) };
    let senseless = search.map(|search| senseless::examine(&args.senseless, search));
    let mut out = io::stdout().lock();
    if args.json {
        let mut object = as_json(&domain, &report);
        if let Some(sql) = &sql {
            object["sql"] = sql.to_json();
        }
        object["derivability"] = derivability::as_json(&findings);
        if let Some(senseless) = &senseless {
            object["senseless"] = senseless::as_json(senseless);
        }
        writeln!(out, "{object}")?;
    } else {
        let mut text = as_text(args, &domain, &report, &findings);
        if let Some(sql) = &sql {
            text += &sql.to_text();
        }
        if let Some(senseless) = &senseless {
            text += &senseless::as_text(senseless, args.show, !args.data.is_empty());
        }
        write_text(&mut out, &text).context("cannot print the report")?;
    }
    if !args.data.is_empty() && report.programs == 0 {
        say("note: no example has a program");
    }
    Ok(if report.kinds.is_empty() { Status::Success } else { Status::PartialFailure })
}

/// What a database said about the `sql` of a domain.
enum Fragments {
    /// It accepts all of so many fragments.
    Accepted(usize),
    /// It could not be asked.
    NotAsked(String),
}

impl Fragments {
    fn to_text(&self) -> String {
        match self {
            Self::Accepted(n) => format!("sql: the database accepts all {n} fragments\n"),
            Self::NotAsked(why) => format!("sql: not checked against the database: {why}\n"),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Accepted(n) => json!({ "checked": true, "fragments": n }),
            Self::NotAsked(why) => json!({ "checked": false, "reason": why }),
        }
    }
}

/// Checks the `sql` of a domain against its database, if it has one. What the database does not accept is an error in the
/// domain file.
fn fragments(domain: &Domain, spec: Spec<'_>) -> Result<Option<Fragments>> {
    if !matches!(domain.executor(), ExecutorChoice::Sql(_)) {
        return Ok(None);
    }
    match check_fragments(domain, spec.directory()) {
        Ok((problems, n)) if problems.is_empty() => Ok(Some(Fragments::Accepted(n))),
        Ok((problems, _)) => {
            let file = spec.file().map(|path| path.display().to_string()).unwrap_or_default();
            Err(DomainErrors { file, source: domain.source().to_owned(), problems }.into())
        }
        Err(why) => Ok(Some(Fragments::NotAsked(why))),
    }
}

/// Checks every line of a file. A line that is not an example counts as a failure; a file that cannot be read is an error.
fn add_file(checker: &mut Checker<'_>, path: &Path, mut keep: impl FnMut(Example)) -> Result<()> {
    let file = path.display().to_string();
    let mut examples = data::open(path).map_err(super::data::wrong_file)?;
    while let Some(example) = examples.next() {
        let line = examples.line();
        match example {
            Ok(example) => {
                checker.add(&file, line, &example);
                keep(example);
            }
            Err(error) => match error.in_line() {
                Some(message) => checker.add_bad_line(&file, line, message),
                None => return Err(error.into()),
            },
        }
    }
    Ok(())
}

fn entity_class(kind: Kind) -> Option<ClassId> {
    match kind {
        Kind::Entity(class) => Some(class),
        Kind::Predicate => None,
    }
}

fn as_text(args: &Args, domain: &Domain, report: &Report, findings: &[derivability::Findings]) -> String {
    let states = domain.states();
    let composed = match states.has_composites() {
        true => format!("{} with open composition", states.len()),
        false => format!("more than {MAX_STATES} with open composition"),
    };
    let n_predicates = domain.predicate_names().count();
    // A class of literals has a constant that stands for all of its values, and no term.
    let classes = domain.constants().iter().filter(|constant| constant.term.is_some());
    let classes: Vec<ClassId> = classes.filter_map(|constant| entity_class(constant.kind)).collect();
    let n_listed = classes.iter().copied().collect::<BTreeSet<ClassId>>().len();
    let literals = match domain.classes().len() - n_listed {
        0 => String::new(),
        n => format!(", {n} classes of literals"),
    };
    let mut out = format!(
        "domain {}{}: {} types, {n_predicates} predicates, {} entities in {n_listed} classes{literals}, {} phrases, {} meaning states ({composed})\n",
        domain.name(),
        domain.type_system().map_or(String::new(), |system| format!("@{system}")),
        domain.types().len(),
        classes.len(),
        domain.lexicon().len(),
        states.n_plain(),
    );
    if !report.unreachable.is_empty() {
        out += &format!("warning: no program can contain {}\n", report.unreachable.join(", "));
    }
    for (name, n) in over_two_phrases(domain) {
        out += &format!("note: `{name}` has {n} phrases; the paper's setting allows two\n");
    }
    for note in notes(domain) {
        out += &format!("note: {note}\n");
    }
    if args.data.is_empty() {
        return out + "the domain file is valid; give data files to check examples against it\n";
    }
    out += &summary(report);
    out += &usage(report);
    if !findings.is_empty() {
        out += &derivability::as_text(findings);
    }
    out + &failures(args, report)
}

fn summary(report: &Report) -> String {
    let share = |n: usize| percent((report.programs > 0).then(|| 100.0 * n as f64 / report.programs as f64));
    let mut table = Columns::new(["what", "number", "of programs"]);
    table.row(["examples".to_owned(), report.examples.to_string(), String::new()]);
    table.row(["programs".to_owned(), report.programs.to_string(), String::new()]);
    table.row(["well-typed".to_owned(), report.typed.to_string(), share(report.typed)]);
    if report.ambiguous > 0 {
        table.row([
            "  in more than one way".to_owned(),
            report.ambiguous.to_string(),
            share(report.ambiguous),
        ]);
    }
    for (kind, &n) in &report.kinds {
        let share = if *kind == BAD_LINE { String::new() } else { share(n) };
        table.row([(*kind).to_owned(), n.to_string(), share]);
    }
    if let Some(answers) = report.answers {
        table.row(["answers equal".to_owned(), answers.equal.to_string(), share(answers.equal)]);
    }
    let mut out = format!("\n{}", table.render());
    for (name, n) in &report.unknown {
        out += &format!("unknown constant `{}` in {n} programs\n", shorten(name, 60));
    }
    out
}

fn usage(report: &Report) -> String {
    let mut table = Columns::new(["constant", "uses", "said", "share", "phrases"]);
    let cells = |name: &str, coverage: Coverage, phrases: String| {
        [
            name.to_owned(),
            coverage.uses.to_string(),
            coverage.matched.to_string(),
            percent(coverage.percent()),
            phrases,
        ]
    };
    for usage in report.usage.iter().filter(|usage| usage.coverage.uses > 0) {
        let name = if usage.is_class { format!("[{}]", usage.name) } else { usage.name.clone() };
        table.row(cells(&name, usage.coverage, usage.phrases.to_string()));
    }
    table.row(cells("all predicates", report.predicates, String::new()));
    table.row(cells("all entities", report.entities, String::new()));
    let mut out = String::new();
    if table.n_rows() > 2 {
        out += &format!(
            "\nuses of constants, and how often one of their phrases or their value is in the words:\n{}",
            table.render()
        );
    }
    out + &unused(&report.usage)
}

/// Names of one type that are listed.
const LISTED: usize = 6;

/// What the data never uses, type by type; classes of entities by name.
fn unused(usage: &[Usage]) -> String {
    let unused: Vec<&Usage> = usage.iter().filter(|usage| usage.coverage.uses == 0).collect();
    if unused.is_empty() {
        return String::new();
    }
    let mut by_type: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for usage in &unused {
        let name = if usage.is_class { format!("[{}]", usage.name) } else { usage.name.clone() };
        by_type.entry(&usage.ty).or_default().push(name);
    }
    let mut out = format!("never used here, by type ({} of {}):\n", unused.len(), usage.len());
    for (ty, names) in by_type {
        let more = match names.len().saturating_sub(LISTED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        out += &format!("  {ty}: {}{more}\n", names[..names.len().min(LISTED)].join(", "));
    }
    out
}

fn failures(args: &Args, report: &Report) -> String {
    let mut out = String::new();
    for failure in report.failures.iter().take(args.show) {
        let message = shorten(&failure.message, 300);
        out += &format!("\n{}:{}: {}: {message}\n", failure.file, failure.line, failure.kind);
        for text in [shorten(&failure.utterance, 150), shorten(&failure.program, 300)] {
            if !text.is_empty() {
                out += &format!("  {text}\n");
            }
        }
    }
    let total: usize = report.kinds.values().sum();
    let shown = report.failures.len().min(args.show);
    if total > shown {
        out += &format!("\n{} more failures; --show N prints more of them\n", total - shown);
    }
    out
}

fn as_json(domain: &Domain, report: &Report) -> Value {
    let coverage = |coverage: Coverage| json!({ "uses": coverage.uses, "said": coverage.matched });
    let usage: Vec<Value> = report
        .usage
        .iter()
        .map(|usage| {
            json!({
                "name": usage.name,
                "class": usage.is_class,
                "type": usage.ty,
                "uses": usage.coverage.uses,
                "said": usage.coverage.matched,
                "phrases": usage.phrases,
            })
        })
        .collect();
    let failures: Vec<Value> = report
        .failures
        .iter()
        .map(|failure| {
            json!({
                "file": failure.file,
                "line": failure.line,
                "utterance": failure.utterance,
                "program": failure.program,
                "kind": failure.kind,
                "message": failure.message,
            })
        })
        .collect();
    json!({
        "domain": domain.name(),
        "type_system": domain.type_system(),
        "types": domain.types().len(),
        "constants": domain.constants().len(),
        "states": Some(domain.states().len()).filter(|_| domain.states().has_composites()),
        "plain_states": domain.states().n_plain(),
        "examples": report.examples,
        "programs": report.programs,
        "typed": report.typed,
        "ambiguous": report.ambiguous,
        "problems": report.kinds,
        "unknown_constants": report.unknown,
        "unreachable_constants": report.unreachable,
        "predicates": coverage(report.predicates),
        "entities": coverage(report.entities),
        "answers": report.answers.map(|a| json!({ "equal": a.equal, "different": a.different, "failed": a.failed })),
        "usage": usage,
        "notes": notes(domain),
        "failures": failures,
    })
}
