//! `spanwise train`: from examples to a model directory.

use crate::output::{Done, WrongCall, percent, say};
use crate::signals;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use spanwise_nn::hub;
use spanwise_train::config::COMPACT;
use spanwise_train::{Config, ConfigError, Event, TrainError, train};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Train a parser from utterances with programs.
///
/// CONFIG is a preset (geo-iid, geo-template, geo-length, scan-iid, scan-right, scan-around-right, clevr-iid,
/// clevr-closure) or a TOML file of your own that names a domain and a file of examples. The output directory becomes a
/// model for `eval` and `parse`; it also holds the configuration, `metrics.jsonl`, learning curves as SVG and a
/// checkpoint after every epoch, from which --resume continues to the same result. Ctrl-C stops at any time and loses
/// at most the current epoch.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise train scan-right --data data --out runs/scan\n  \
    spanwise train geo-template --data data --encoder encoders/all-MiniLM-L6-v2 --out runs/geo --seed 2\n  \
    spanwise train my.toml --out runs/mine --set training.epochs=20 --set model.lexicon=names\n  \
    spanwise train my.toml --out runs/mine --resume")]
pub(crate) struct Args {
    /// A preset or a TOML file
    config: String,
    /// The directory of the run and the model
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Where relative paths of data files start [default: the folder of the TOML file, or here for presets]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// `compact`, a directory with weights, or a name on the hub
    #[arg(long, value_name = "ENCODER")]
    encoder: Option<String>,
    /// Decides every random choice
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Change a setting of the configuration; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Continue the run in --out after its last whole epoch
    #[arg(long)]
    resume: bool,
    /// A few examples and two epochs with the compact encoder: does it run at all?
    #[arg(long)]
    quick: bool,
    /// Print one JSON object at the end instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Done> {
    let started = Instant::now();
    let mut config = Config::read(&args.config, &args.settings).map_err(wrong_config)?;
    if let Some(encoder) = &args.encoder {
        config.encoder.clone_from(encoder);
    }
    if let Some(seed) = args.seed {
        config.seed = seed;
    }
    if args.quick {
        config.encoder = COMPACT.to_owned();
        (config.data.limit, config.data.dev_limit) = (100, 50);
        (config.training.epochs, config.training.augment_from) = (2, 2);
    }
    config.check().map_err(wrong_config)?;
    let data = args
        .data
        .clone()
        .unwrap_or_else(|| Path::new(&args.config).parent().map(Path::to_path_buf).unwrap_or_default());
    let encoder = (config.encoder != COMPACT).then(|| find_encoder(&config.encoder)).transpose()?;
    let stop = signals::stop_flag();
    let mut shown = Shown::new(args.json);
    let trained = train(&config, &data, encoder.as_deref(), &args.out, args.resume, &mut |event| {
        shown.event(&event);
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    shown.bar.finish_and_clear();
    let trained = trained.map_err(|error| match error {
        TrainError::Config(error) => wrong_config(error),
        TrainError::Domain(spanwise_domains::load::LoadError::Unreadable { .. })
        | TrainError::Occupied { .. } => WrongCall(error.to_string()).into(),
        TrainError::Data(error) => super::data::wrong_file(error),
        _ => anyhow::Error::from(error),
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let mut out = io::stdout().lock();
    if args.json {
        let mut object = trained.metrics;
        object.insert("model".to_owned(), json!(args.out.display().to_string()));
        object.insert("seconds".to_owned(), json!(seconds));
        writeln!(out, "{}", Value::Object(object))?;
    } else {
        let number = |key: &str| percent(trained.metrics.get(key).and_then(Value::as_f64));
        writeln!(
            out,
            "trained in {seconds:.0} s; dev: exact match {}, denotation {}\nmodel: {}",
            number("dev_exact_match"),
            number("dev_denotation"),
            args.out.display()
        )?;
        if let Some(test) = &config.data.test {
            writeln!(out, "next: spanwise eval {} {}", args.out.display(), data.join(test).display())?;
        }
    }
    Ok(Done::Well)
}

fn wrong_config(error: ConfigError) -> anyhow::Error {
    WrongCall(error.to_string()).into()
}

/// The directory of an encoder, fetched if need be.
pub(crate) fn find_encoder(name: &str) -> Result<PathBuf> {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg} {bar:30} {bytes}/{total_bytes} {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let found = hub::resolve(name, &mut |progress| {
        bar.set_message(progress.file);
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    });
    bar.finish_and_clear();
    found.map_err(|error| WrongCall(error.to_string()).into())
}

/// What a person sees while it runs.
struct Shown {
    bar: ProgressBar,
    /// Lines per epoch go to the terminal unless a machine reads.
    lines: bool,
    dev: String,
    derivable: String,
    started: Instant,
}

impl Shown {
    fn new(json: bool) -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{prefix} {bar:30} {percent:>3} % {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, lines: !json, dev: String::new(), derivable: String::new(), started: Instant::now() }
    }

    fn line(&self, text: &str) {
        if self.lines {
            self.bar.suspend(|| say(text));
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Data { n_train, left_out, n_dev, n_trained } => {
                let n_out: usize = left_out.iter().map(|(_, count, _)| count).sum();
                let share = 100.0 * *n_train as f64 / (n_train + n_out) as f64;
                self.derivable = format!("{share:.1} % derivable");
                self.line(&format!(
                    "{n_train} training pairs, {n_dev} dev examples, {n_trained} numbers to train"
                ));
                for (kind, count, example) in *left_out {
                    self.line(&format!("  left out: {count} {kind}, such as `{example}`"));
                }
            }
            Event::Cache { done, total } => {
                self.bar.set_prefix("frozen layers");
                self.bar.set_length(*total as u64);
                self.bar.set_position(*done as u64);
                self.started = Instant::now();
            }
            Event::Resumed { epoch } => self.line(&format!("continuing after epoch {epoch}")),
            Event::Step { epoch, epochs, step, steps, loss } => {
                let done = (epoch - 1) as f64 + *step as f64 / *steps as f64;
                self.bar.set_prefix(format!("epoch {epoch}/{epochs}"));
                self.bar.set_length(1000);
                self.bar.set_position((1000.0 * done / *epochs as f64) as u64);
                let elapsed = self.started.elapsed().as_secs_f64();
                let left = elapsed / done * (*epochs as f64 - done);
                let (dev, derivable) = (&self.dev, &self.derivable);
                self.bar.set_message(format!("loss {loss:.3}{dev}, {derivable}, {left:.0} s left"));
            }
            Event::Epoch { row } => {
                self.dev = dev(row);
                let number = |key: &str| row.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
                let seconds = self.started.elapsed().as_secs_f64();
                let (epoch, loss) = (number("epoch"), number("loss"));
                self.line(&format!("epoch {epoch:>2}  loss {loss:.4}{}  {seconds:.0} s", self.dev));
            }
        }
    }
}

fn dev(row: &Map<String, Value>) -> String {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    match (number("dev_exact_match"), number("dev_denotation")) {
        (Some(exact), Some(denotation)) => format!(", dev {exact:.1} exact {denotation:.1} denotation"),
        (Some(exact), None) => format!(", dev {exact:.1} exact"),
        _ => String::new(),
    }
}
