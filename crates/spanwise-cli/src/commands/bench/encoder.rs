//! `spanwise bench encoder`: how long one utterance takes.

use crate::commands::parser;
use crate::output::{Columns, WrongCall};
use anyhow::Result;
use serde_json::json;
use spanwise_core::Utterance;
use spanwise_domains::data;
use spanwise_model::{Details, ExecutorPolicy, Parser};
use std::hint::black_box;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Time a model on single utterances, with the shares of its parts.
///
/// One thread parses one utterance after the other, as an interactive program would. `encoder` is the network,
/// `preparation` comes before it (word-pieces, and the constants that are allowed on each span), `chart` after it: search,
/// probability, program and tree. Times are medians; the first runs do not count. On Linux, `cpu` is the mean time that
/// the thread was running: what a parse takes on an otherwise idle machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise bench encoder --model runs/geo\n  \
    spanwise bench encoder --model runs/geo --data test.jsonl --words 10 --json")]
pub(crate) struct Args {
    /// The model directory
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Take the utterances of this file that have --words words, instead of a built-in one
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Words of the utterances of --data
    #[arg(long, value_name = "N", default_value_t = 10, requires = "data")]
    words: usize,
    /// Time this utterance
    #[arg(long, conflicts_with = "data")]
    text: Option<String>,
    /// How often each part is timed
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Utterances for models of the built-in domains.
const OWN: &[(&str, &str)] = &[
    ("geo", "what is the capital of the state that borders texas"),
    ("scan", "turn around left twice and jump opposite right thrice"),
    ("clevr", "how many red cubes are left of the big ball"),
];
/// Runs that do not count.
const WARM_UP: usize = 5;

pub(crate) fn run(args: &Args) -> Result<()> {
    let parser = parser(&args.model, ExecutorPolicy::Off)?;
    let utterances = utterances(args, &parser)?;
    let n_runs = args.runs as usize;
    let mut times = Times::default();
    for at in 0..WARM_UP + n_runs {
        let utterance = &utterances[at % utterances.len()];
        let time = Times::of(&parser, utterance);
        if at >= WARM_UP {
            times.push(&time);
        }
    }
    let before = cpu_ms();
    for at in 0..n_runs {
        black_box(parser.parse_with(utterances[at % utterances.len()].clone(), Details::default()));
    }
    let cpu = before.zip(cpu_ms()).map(|(before, after)| (after - before) / n_runs as f64);
    let (total, mean) = (median(&times.total), mean(&times.total));
    let (preparation, encoder) = (median(&times.preparation), median(&times.encoder));
    let chart = median(&times.chart);
    let n_words: usize = utterances.iter().map(Utterance::len).sum();
    let n_words = n_words as f64 / utterances.len() as f64;
    let mut out = io::stdout().lock();
    if args.json {
        let object = json!({
            "latency_ms": total,
            "latency_mean_ms": mean,
            "cpu_ms": cpu,
            "encoder_ms": encoder,
            "chart_ms": chart,
            "preparation_ms": preparation,
            "words": n_words,
            "utterances": utterances.len(),
            "runs": n_runs,
            "threads": 1,
        });
        writeln!(out, "{object}")?;
    } else {
        let mut table = Columns::new(["part", "median ms", "share"]);
        for (name, time) in
            [("preparation", preparation), ("encoder", encoder), ("chart", chart), ("all", total)]
        {
            table.row([name.to_owned(), format!("{time:.2}"), format!("{:.0} %", 100.0 * time / total)]);
        }
        let cpu = cpu.map_or_else(String::new, |cpu| format!(", cpu {cpu:.2} ms"));
        let about = format!("{n_words:.0} words, one thread, {n_runs} runs; mean {mean:.2} ms{cpu}");
        write!(out, "{about}\n{}", table.render())?;
    }
    Ok(())
}

fn utterances(args: &Args, parser: &Parser) -> Result<Vec<Utterance>> {
    if let Some(text) = &args.text {
        return match Utterance::new(text.as_str()) {
            utterance if utterance.is_empty() => {
                Err(WrongCall("--text has no words; expected an utterance".to_owned()).into())
            }
            utterance => Ok(vec![utterance]),
        };
    }
    if let Some(path) = &args.data {
        let examples = data::read(path).map_err(crate::commands::data::wrong_file)?;
        let all = examples.into_iter().map(|example| example.spoken());
        let found: Vec<Utterance> = all.filter(|utterance| utterance.len() == args.words).collect();
        if found.is_empty() {
            let text = format!("{} has no utterance of {} words", path.display(), args.words);
            return Err(WrongCall(format!("{text}; choose others with --words")).into());
        }
        return Ok(found);
    }
    let name = parser.model().domain.name();
    let own = OWN.iter().find(|(domain, _)| *domain == name);
    let (_, text) = own.ok_or_else(|| {
        WrongCall(format!("there is no utterance for the domain {name} here; give one with --text or --data"))
    })?;
    Ok(vec![Utterance::new(*text)])
}

/// Milliseconds that this thread has been running so far, on Linux.
fn cpu_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e6)
}

/// Milliseconds, run by run.
#[derive(Default)]
struct Times {
    total: Vec<f64>,
    preparation: Vec<f64>,
    encoder: Vec<f64>,
    chart: Vec<f64>,
}

impl Times {
    /// Times one parse, then its first two parts alone; the rest of the parse is the chart.
    fn of(parser: &Parser, utterance: &Utterance) -> [f64; 3] {
        let model = parser.model();
        let milliseconds = |started: Instant| started.elapsed().as_secs_f64() * 1e3;
        let given = utterance.clone();
        let started = Instant::now();
        black_box(parser.parse_with(given, Details::default()));
        let total = milliseconds(started);
        let given = utterance.clone();
        let started = Instant::now();
        let prepared = model.family.span_model().and_then(|spans| spans.prepare(given).ok());
        let preparation = milliseconds(started);
        let Some(prepared) = prepared else { return [total, preparation, 0.0] };
        let started = Instant::now();
        black_box(model.family.word_vectors(&[&prepared.pieces]));
        [total, preparation, milliseconds(started)]
    }

    fn push(&mut self, &[total, preparation, encoder]: &[f64; 3]) {
        self.total.push(total);
        self.preparation.push(preparation);
        self.encoder.push(encoder);
        self.chart.push((total - preparation - encoder).max(0.0));
    }
}

/// The middle of some numbers; zero of none.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    match (sorted.get(low), sorted.get(high)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => 0.0,
    }
}

/// The mean of some numbers; zero of none.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_means_are_those_of_the_textbook() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
    }
}
