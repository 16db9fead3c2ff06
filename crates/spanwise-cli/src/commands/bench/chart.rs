//! `spanwise bench chart`: time of charts per sentence, with seeded random scores.

use super::large;
use crate::commands::domain;
use crate::output::{Columns, WrongCall, say};
use anyhow::{Result, anyhow};
use rayon::prelude::*;
use serde_json::{Value, json};
use spanwise_chart::budget::Meter;
use spanwise_chart::candidates::Candidates;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::lattice::{Lattice, Scores};
use spanwise_chart::outside::marginals;
use spanwise_chart::paper::{PaperConfig, PaperScores, decode, n_spans};
use spanwise_chart::semiring::{Max, Semiring, Sum};
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::{Random, Utterance};
use spanwise_domains::data::{self, Example};
use spanwise_domains::load::{builtin_list, builtin_names};
use spanwise_lang::domain::NoTables;
use spanwise_lang::{Domain, Terms};
use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Time charts on real questions with random scores: Viterbi, inside-outside, k-best, and both for the gold program.
///
/// Every constant that is allowed on words gets a random score there, as in training. Times are per sentence and do
/// not include computing the scores. Each task is timed with one thread and with all; then the typed chart by number
/// of words.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise bench chart --data ../shared/data\n  \
    spanwise bench chart --domain geo --sentences 100 --json\n  \
    spanwise bench chart --domain domains/atis/domain.toml --examples DATA/atis/atis_funql_train_brackets.jsonl\n  \
    spanwise bench chart --domain large")]
pub(crate) struct Args {
    /// A directory with the benchmark data (geo/splits, scan_sp, clevr); without it, a few built-in questions
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Domains to measure; `large` is a language with 352 types and 2,000 predicates, made for this purpose
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values = builtin_names())]
    domain: Vec<String>,
    /// Examples of the domain, as JSON lines, instead of the benchmark data
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    examples: Option<PathBuf>,
    /// Write `domain.toml` and `questions.jsonl` of `large` into a directory, and stop
    #[arg(long, value_name = "DIR", conflicts_with_all = ["data", "examples", "domain", "json"])]
    write_large: Option<PathBuf>,
    /// Most sentences per domain
    #[arg(long, value_name = "N", default_value_t = 200)]
    sentences: usize,
    /// The seed of the random scores
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print a JSON array of rows
    #[arg(long)]
    json: bool,
}

/// The name of the language of a large database, which is made here.
const LARGE: &str = "large";

/// Questions for a bench without data.
const OWN: &[(&str, &[(&str, &str)])] = &[
    (
        "geo",
        &[
            (
                "which rivers run through the largest state ?",
                "answer(river(traverse_2(largest(state(all)))))",
            ),
            ("how many cities are in ohio ?", "answer(count(city(loc_2(stateid('ohio')))))"),
            (
                "what states border the state with the highest point ?",
                "answer(state(next_to_2(state(loc_1(highest(place(all)))))))",
            ),
            (
                "how long is the longest river in texas ?",
                "answer(len(longest(river(loc_2(stateid('texas'))))))",
            ),
        ],
    ),
    (
        "scan",
        &[
            ("run twice after look left", "i_after(i_twice(i_run()), i_look(i_left))"),
            ("turn around right and jump thrice", "i_and(i_turn(i_right, i_around), i_thrice(i_jump()))"),
        ],
    ),
    (
        "clevr",
        &[
            (
                "how many red balls are left of the big matte cube ?",
                "count(filter(red, sphere, relate(left, filter(large, rubber, cube, scene()))))",
            ),
            (
                "what color is the thing that is behind the tiny cylinder ?",
                "query(color, relate(behind, filter(small, cylinder, scene())))",
            ),
        ],
    ),
];

/// Where the questions of each domain are in the benchmark data.
const FILES: &[(&str, &str)] = &[
    ("geo", "geo/splits/train.json"),
    ("scan", "scan_sp/train_simple.json"),
    ("clevr", "clevr/train.jsonl"),
];

/// Numbers of words in the second table.
const LENGTHS: [usize; 6] = [5, 10, 20, 40, 60, 80];

struct Row {
    domain: String,
    chart: &'static str,
    task: &'static str,
    threads: usize,
    sentences: usize,
    mean_tokens: f64,
    mean_us: f64,
    p99_us: f64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(directory) = &args.write_large {
        return write_large(directory, args.sentences);
    }
    let mut rows = Vec::new();
    for name in &args.domain {
        let (domain, examples) = match name.as_str() {
            LARGE if args.examples.is_none() => (large_domain()?, large::questions(args.sentences)),
            _ => (domain(name)?, questions(args, name)?),
        };
        let bench = Bench::new(&domain, &examples, args.seed);
        if !args.json {
            say(&format!("{name}: {} sentences; {}", bench.sentences.len(), bench.grammar.sizes()));
        }
        bench.tasks(name, &mut rows);
        bench.lengths(name, &mut rows);
    }
    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Value> = rows.iter().map(Row::as_json).collect();
        writeln!(out, "{}", Value::Array(rows))?;
    } else {
        out.write_all(as_text(&rows).as_bytes())?;
    }
    Ok(())
}

fn write_large(directory: &Path, n_questions: usize) -> Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("domain.toml"), large::source())?;
    let lines = large::questions(n_questions);
    let lines: Vec<String> = lines
        .iter()
        .map(|example| {
            json!({ "utterance": example.utterance, "program": example.program }).to_string() + "\n"
        })
        .collect();
    fs::write(directory.join("questions.jsonl"), lines.concat())?;
    Ok(())
}

fn large_domain() -> Result<Domain> {
    Domain::load(&large::source(), "large.toml", None, &NoTables).map_err(|error| anyhow!("{error}"))
}

fn questions(args: &Args, name: &str) -> Result<Vec<Example>> {
    let read = |path: &Path| -> Result<Vec<Example>> {
        let mut examples = data::read(path).map_err(crate::commands::data::wrong_file)?;
        examples.truncate(args.sentences);
        Ok(examples)
    };
    if let Some(path) = &args.examples {
        return read(path);
    }
    let plain = name.split('@').next().unwrap_or(name);
    if let Some(directory) = &args.data {
        let Some((_, file)) = FILES.iter().find(|(known, _)| *known == plain) else {
            return Err(WrongCall(format!(
                "there is no benchmark data for `{name}`; --examples names a file"
            ))
            .into());
        };
        return read(&directory.join(file));
    }
    let Some((_, own)) = OWN.iter().find(|(known, _)| *known == plain) else {
        let known = builtin_list();
        return Err(WrongCall(format!("there are no questions for `{name}`; the domains are {known}")).into());
    };
    let example = |(text, program): &(&str, &str)| Example {
        program: Some((*program).to_owned()),
        ..Example::new(*text)
    };
    Ok(own.iter().map(example).take(args.sentences).collect())
}

/// A sentence with random scores.
struct Sentence {
    n_tokens: usize,
    lattice: Lattice,
    leaves: Vec<f32>,
    gold: Option<GoldChart>,
}

/// A sentence whose scores have been checked, which is not part of the time of a chart.
struct Prepared<'s> {
    sentence: &'s Sentence,
    input: Input<'s>,
}

struct Bench<'a> {
    domain: &'a Domain,
    grammar: Grammar,
    rules: Vec<f32>,
    max: RuleValues<Max>,
    sum: RuleValues<Sum>,
    sentences: Vec<Sentence>,
    words: Vec<String>,
    seed: u64,
}

impl<'a> Bench<'a> {
    fn new(domain: &'a Domain, examples: &[Example], seed: u64) -> Self {
        let grammar = Grammar::new(domain, Options::default());
        let mut random = Random::new(seed, &[0]);
        let rules: Vec<f32> = (0..grammar.n_rules()).map(|_| score(&mut random)).collect();
        let mut terms = domain.new_terms();
        let mut sentences = Vec::new();
        for example in examples {
            let utterance = example.spoken();
            let Ok(lattice) = Candidates::default().lattice(domain, &utterance) else { continue };
            let leaves = (0..lattice.leaves().len() * N_USAGES).map(|_| score(&mut random)).collect();
            let program = example.program.as_ref().and_then(|text| terms.parse(text).ok());
            let gold = program
                .and_then(|it| GoldChart::new(domain, &grammar, &lattice, &terms, it, Joins::None).ok());
            sentences.push(Sentence { n_tokens: utterance.len(), lattice, leaves, gold });
        }
        let words = examples
            .iter()
            .flat_map(|example| example.utterance.split_whitespace().map(str::to_owned))
            .collect();
        let (max, sum) = (RuleValues::new(&grammar, &rules), RuleValues::new(&grammar, &rules));
        Self { domain, grammar, rules, max, sum, sentences, words, seed }
    }

    fn input<'s>(&'s self, sentence: &'s Sentence) -> Input<'s> {
        let scores = Scores { leaves: &sentence.leaves, rules: &self.rules, joins: &[], implicit: &[] };
        Input::new(self.domain, &self.grammar, &sentence.lattice, scores)
            .expect("the scores were made for it")
    }

    fn prepare<'s>(&'s self, sentences: &'s [Sentence]) -> Vec<Prepared<'s>> {
        sentences.iter().map(|sentence| Prepared { sentence, input: self.input(sentence) }).collect()
    }

    fn part(&self, prepared: &Prepared<'_>) -> Option<Grammar> {
        self.grammar.part(self.domain, &prepared.sentence.lattice)
    }

    fn best(&self, prepared: &Prepared<'_>) {
        let part = self.part(prepared);
        let (input, rules) = within(prepared, part.as_ref(), &self.max);
        std::hint::black_box(BestChart::new(input, &rules).best());
    }

    fn tasks(&self, name: &str, rows: &mut Vec<Row>) {
        let best = |prepared: &Prepared<'_>| self.best(prepared);
        let sums = |prepared: &Prepared<'_>| {
            let part = self.part(prepared);
            let (input, rules) = within(prepared, part.as_ref(), &self.sum);
            std::hint::black_box(marginals(&input, &rules));
        };
        let list = |prepared: &Prepared<'_>| {
            let part = self.part(prepared);
            let (input, rules) = within(prepared, part.as_ref(), &self.max);
            let chart = BestChart::new(input, &rules);
            std::hint::black_box(chart.programs(&mut self.domain.new_terms(), 5, 100, &Meter::unlimited()));
        };
        let gold = |prepared: &Prepared<'_>| {
            if let Some(gold) = &prepared.sentence.gold {
                let flat: Vec<f64> = prepared
                    .sentence
                    .leaves
                    .iter()
                    .chain(&self.rules)
                    .map(|&score| f64::from(score))
                    .collect();
                std::hint::black_box(gold.graph().marginals(&flat));
            }
        };
        let gold_best = |prepared: &Prepared<'_>| {
            if let Some(gold) = &prepared.sentence.gold {
                let flat: Vec<f32> = prepared.sentence.leaves.iter().chain(&self.rules).copied().collect();
                std::hint::black_box(gold.graph().best(&flat));
            }
        };
        type Task<'t> = (&'static str, &'static str, &'t (dyn Fn(&Prepared<'_>) + Sync));
        let tasks: [Task<'_>; 5] = [
            ("typed", "best", &best),
            ("typed", "marginals", &sums),
            ("typed", "kbest", &list),
            ("gold", "best", &gold_best),
            ("gold", "marginals", &gold),
        ];
        let prepared = self.prepare(&self.sentences);
        for (chart, task, run) in tasks {
            for threads in [1, rayon::current_num_threads()] {
                rows.push(measure(name, chart, task, threads, &prepared, run));
            }
        }
        self.paper(name, rows);
    }

    /// The paper's own search, on scores of its own shape.
    fn paper(&self, name: &str, rows: &mut Vec<Row>) {
        let n_constants = self.domain.constants().len();
        let config = PaperConfig { ternary: true, ..PaperConfig::default() };
        // It is slow: a few sentences are enough.
        let few = &self.sentences[..self.sentences.len().min(20)];
        let mut random = Random::new(self.seed, &[1]);
        let scores: Vec<Option<PaperScores>> = few
            .iter()
            .map(|sentence| {
                let n = n_spans(sentence.n_tokens) * (n_constants + 2);
                PaperScores::new(sentence.n_tokens, n_constants, (0..n).map(|_| score(&mut random)).collect())
                    .ok()
            })
            .collect();
        let numbered: Vec<(usize, &Sentence)> = few.iter().enumerate().collect();
        let run = |(at, _): &(usize, &Sentence)| {
            if let Some(scores) = &scores[*at] {
                let mut terms: Terms = self.domain.new_terms();
                let _ = std::hint::black_box(decode(self.domain, &mut terms, scores, config));
            }
        };
        let times = time(&numbered, 1, &run);
        let mean_tokens = mean(few.iter().map(|sentence| sentence.n_tokens as f64));
        rows.push(Row::new(name, "paper", "best", 1, mean_tokens, times));
    }

    /// The typed chart on utterances of a given number of words, made from the words of the questions.
    fn lengths(&self, name: &str, rows: &mut Vec<Row>) {
        if self.words.is_empty() {
            return;
        }
        let mut random = Random::new(self.seed, &[2]);
        for length in LENGTHS {
            let sentences: Vec<Sentence> = (0..5)
                .filter_map(|_| {
                    let words: Vec<&str> =
                        (0..length).map(|_| self.words[random.below(self.words.len())].as_str()).collect();
                    let utterance = Utterance::new(words.join(" "));
                    let lattice = Candidates::default().lattice(self.domain, &utterance).ok()?;
                    let leaves = (0..lattice.leaves().len() * N_USAGES).map(|_| score(&mut random)).collect();
                    Some(Sentence { n_tokens: utterance.len(), lattice, leaves, gold: None })
                })
                .collect();
            let run = |prepared: &Prepared<'_>| self.best(prepared);
            rows.push(measure(name, "typed", "best", 1, &self.prepare(&sentences), &run));
        }
    }
}

/// A chart's input and rules with the part of the grammar that its words can use.
fn within<'a, S: Semiring + Clone>(
    prepared: &Prepared<'a>,
    part: Option<&'a Grammar>,
    rules: &'a RuleValues<S>,
) -> (Input<'a>, Cow<'a, RuleValues<S>>) {
    match part {
        None => (prepared.input, Cow::Borrowed(rules)),
        Some(part) => (prepared.input.with_part(part), Cow::Owned(rules.part(part))),
    }
}

fn measure(
    name: &str,
    chart: &'static str,
    task: &'static str,
    threads: usize,
    prepared: &[Prepared<'_>],
    run: &(dyn Fn(&Prepared<'_>) + Sync),
) -> Row {
    let mean_tokens = mean(prepared.iter().map(|prepared| prepared.sentence.n_tokens as f64));
    Row::new(name, chart, task, threads, mean_tokens, time(prepared, threads, &run))
}

/// Times of each item in microseconds; with several threads, the wall time shared out evenly.
fn time<T: Sync>(items: &[T], threads: usize, run: &(dyn Fn(&T) + Sync)) -> Vec<f64> {
    // Once to warm caches and arrays up.
    items.iter().take(10).for_each(run);
    if threads > 1 {
        let start = Instant::now();
        items.par_iter().for_each(run);
        let each = start.elapsed().as_secs_f64() * 1e6 / items.len().max(1) as f64;
        return vec![each; items.len()];
    }
    let one = |item: &T| {
        let start = Instant::now();
        run(item);
        start.elapsed().as_secs_f64() * 1e6
    };
    items.iter().map(one).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0usize), |(sum, n), value| (sum + value, n + 1));
    if n == 0 { 0.0 } else { sum / n as f64 }
}

impl Row {
    fn new(
        domain: &str,
        chart: &'static str,
        task: &'static str,
        threads: usize,
        mean_tokens: f64,
        mut times: Vec<f64>,
    ) -> Self {
        times.sort_by(f64::total_cmp);
        let p99_us =
            times.get((times.len() * 99 / 100).min(times.len().saturating_sub(1))).copied().unwrap_or(0.0);
        let mean_us = mean(times.iter().copied());
        Self {
            domain: domain.to_owned(),
            chart,
            task,
            threads,
            sentences: times.len(),
            mean_tokens,
            mean_us,
            p99_us,
        }
    }

    fn as_json(&self) -> Value {
        json!({
            "domain": self.domain,
            "chart": self.chart,
            "task": self.task,
            "threads": self.threads,
            "sentences": self.sentences,
            "mean_tokens": self.mean_tokens,
            "mean_us": self.mean_us,
            "p99_us": self.p99_us,
        })
    }
}

fn as_text(rows: &[Row]) -> String {
    let mut table =
        Columns::new(["domain", "chart", "task", "threads", "sentences", "words", "mean us", "p99 us"]);
    for row in rows {
        table.row([
            row.domain.clone(),
            row.chart.to_owned(),
            row.task.to_owned(),
            row.threads.to_string(),
            row.sentences.to_string(),
            format!("{:.1}", row.mean_tokens),
            format!("{:.1}", row.mean_us),
            format!("{:.1}", row.p99_us),
        ]);
    }
    table.render()
}

/// A random score between -1 and 1.
fn score(random: &mut Random) -> f32 {
    2.0 * random.uniform() - 1.0
}
