//! Prints compositions that are well-typed and senseless: `spanwise check --execute --senseless`.

use crate::output::{progress_bar, shorten};
use serde_json::{Value, json};
use spanwise_domains::senseless::{Finding, Limits, Report, Search};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(super) struct SearchArgs {
    /// Build and run small programs, and list what the types allow although it makes no sense
    #[arg(long, requires = "execute")]
    pub(super) senseless: bool,
    /// Most programs to run for --senseless
    #[arg(long, value_name = "N", default_value_t = Limits::default().programs, requires = "senseless")]
    max_programs: usize,
    /// Most seconds to run them; a search that is cut off here may find other things the next time
    #[arg(long, value_name = "S", default_value_t = 30, requires = "senseless")]
    max_seconds: u64,
    /// Most entities of each class to build them from
    #[arg(long, value_name = "N", default_value_t = Limits::default().entities, requires = "senseless")]
    max_entities: usize,
}

impl SearchArgs {
    pub(super) fn limits(&self) -> Limits {
        Limits { programs: self.max_programs, entities: self.max_entities, ..Limits::default() }
    }
}

/// Runs the search within its time, with a progress bar.
pub(super) fn examine(args: &SearchArgs, search: Search<'_>) -> Report {
    let bar = progress_bar(args.max_programs, "senseless {bar:30} {pos}/{len} programs, {elapsed}");
    let (started, limit) = (Instant::now(), Duration::from_secs(args.max_seconds));
    let report = search.run(|n_run| {
        bar.set_position(n_run as u64);
        started.elapsed() < limit
    });
    bar.finish_and_clear();
    report
}

pub(super) fn as_text(report: &Report, show: usize, has_data: bool) -> String {
    if let Some(reason) = &report.not_run {
        let hint = if has_data { "" } else { "; contexts are taken from the examples of data files" };
        return format!("\nsenseless compositions: nothing could be run: {reason}{hint}\n");
    }
    let contexts = match report.contexts {
        0 => String::new(),
        1 => ", in one context".to_owned(),
        n => format!(", each in {n} contexts"),
    };
    let cut = if report.is_cut_short { "; the limits left out others" } else { "" };
    let mut out =
        format!("\nsenseless compositions: ran {} small programs{contexts}{cut}\n", report.programs);
    out += &listed(
        "well-typed, but senseless wherever they were tried; types can forbid them",
        &report.unused,
        show,
    );
    out += &listed("in use, so they should stay", &report.in_use, show);
    if report.unused.is_empty() && report.in_use.is_empty() {
        out += "none found\n";
    }
    out
}

fn listed(title: &str, findings: &[Finding], show: usize) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut out = format!("{title} ({}):\n", findings.len());
    for finding in findings.iter().take(show) {
        out += &one(finding);
    }
    if findings.len() > show {
        out += &format!("  {} more; --show N prints more of them\n", findings.len() - show);
    }
    out
}

fn one(finding: &Finding) -> String {
    let Finding { kind, constant, signature, line, n_programs, n_arguments, n_values, uses, .. } = finding;
    let slot = if finding.n_slots > 1 { format!(" {}", finding.slot + 1) } else { String::new() };
    let argument =
        finding.argument.as_ref().map_or(String::new(), |name| format!(", argument{slot} `{name}`"));
    let argument =
        if argument.is_empty() && !slot.is_empty() { format!(", argument{slot}") } else { argument };
    let used = match uses {
        0 => String::new(),
        1 => "; in use: 1 program".to_owned(),
        _ => format!("; in use: {uses} programs"),
    };
    let result = finding.result.as_deref().map_or_else(|| "nothing".to_owned(), |text| shorten(text, 80));
    format!(
        "  line {line}: {constant}: {signature}{argument}: {kind}\n    \
         {n_programs} programs, {n_arguments} arguments with {n_values} results{used}\n    {} = {result}\n",
        shorten(&finding.example, 200),
    )
}

pub(super) fn as_json(report: &Report) -> Value {
    let one = |finding: &Finding| {
        json!({
            "kind": finding.kind.name(),
            "constant": finding.constant,
            "signature": finding.signature,
            "declared": finding.declared,
            "line": finding.line,
            "slot": finding.slot + 1,
            "argument": finding.argument,
            "programs": finding.n_programs,
            "arguments": finding.n_arguments,
            "argument_results": finding.n_values,
            "example": finding.example,
            "result": finding.result,
            "in_use": finding.uses,
        })
    };
    json!({
        "programs": report.programs,
        "contexts": report.contexts,
        "is_cut_short": report.is_cut_short,
        "not_run": report.not_run,
        "unused": report.unused.iter().map(one).collect::<Vec<_>>(),
        "in_use": report.in_use.iter().map(one).collect::<Vec<_>>(),
    })
}
