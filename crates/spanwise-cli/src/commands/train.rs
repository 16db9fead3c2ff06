//! `spanwise train`: trains a model from examples.

use super::overwrite;
use super::progress::Shown;
use crate::output::{Status, WrongCall, percent, progress_bar, say};
use crate::signals;
use anyhow::Result;
use serde_json::{Value, json};
use spanwise_domains::load::{LoadError, Spec};
use spanwise_model::{ModelError, Settings};
use spanwise_nn::hub;
use spanwise_train::config::{COMPACT, preset_names};
use spanwise_train::{Config, ConfigError, TrainError, train};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Train a parser from utterances with programs.
///
/// The output directory becomes a model for `eval`, `parse` and `serve`. It also holds the configuration, `metrics.jsonl`,
/// learning curves as SVG, a checkpoint after every epoch, from which --resume continues to the same result, and the files
/// that the command of the domain's executor names. Ctrl-C stops at any time and loses at most the current epoch.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise train scan-right --data data --out runs/scan\n  \
    spanwise train geo-template --data data --encoder encoders/all-MiniLM-L6-v2 --out runs/geo --seed 2\n  \
    spanwise train my.toml --out runs/mine --set training.epochs=20 --set model.lexicon=names\n  \
    spanwise train my.toml --out runs/decoder --family seq2seq\n  \
    spanwise train my.toml --out runs/bart --family bart --encoder encoders/opus-mt-en-fr\n  \
    spanwise train my.toml --out runs/mine --resume")]
pub(crate) struct Args {
    #[arg(help = config_help())]
    config: String,
    /// The directory of the run and the model
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Where relative paths of data files start [default: the directory of the TOML file, or this one for presets]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// `compact`, a directory with weights, or a name on the hub
    #[arg(long, value_name = "ENCODER")]
    encoder: Option<String>,
    #[arg(long, value_name = "NAME", help = family_help())]
    family: Option<String>,
    /// The seed of all random choices [default: that of the configuration]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Change a setting of the configuration; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Continue the run in --out after its last whole epoch; begin it if there is none
    #[arg(long)]
    resume: bool,
    /// Train on at most 100 examples for two epochs with the compact encoder, to see that everything runs
    #[arg(long)]
    quick: bool,
    /// Print one JSON object at the end instead of text
    #[arg(long)]
    json: bool,
}

fn family_help() -> String {
    format!("The family of the model, as --set model.family=NAME: {}", Settings::FAMILIES.join(", "))
}

fn config_help() -> String {
    let presets: Vec<&str> = preset_names().collect();
    format!(
        "A TOML file that names a domain and a file of examples, or a preset of the paper's splits: {}",
        presets.join(", ")
    )
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let started = Instant::now();
    let family = args.family.iter().map(|name| format!("model.family={name}"));
    let settings: Vec<String> = family.chain(args.settings.iter().cloned()).collect();
    let mut config = Config::read(&args.config, &settings).map_err(wrong_config)?;
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
    refuse_overwriting(args, &config, &data)?;
    let stop = signals::stop_flag();
    let mut shown = Shown::new(!args.json);
    let trained = train(&config, &data, encoder.as_deref(), &args.out, args.resume, &mut |event| {
        shown.event(&event);
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    shown.finish();
    let trained = trained.map_err(|error| match error {
        TrainError::Config(error) => wrong_config(error),
        TrainError::Domain(LoadError::Unreadable { .. } | LoadError::NotInBuild { .. })
        | TrainError::Occupied { .. }
        | TrainError::Model(ModelError::Busy { .. }) => WrongCall(error.to_string()).into(),
        TrainError::Data(error) => super::data::wrong_file(error),
        _ => anyhow::Error::from(error),
    })?;
    let seconds = started.elapsed().as_secs_f64();
    if let Err(reason) = &trained.consent {
        let out = args.out.display();
        say(&format!("note: `spanwise parse {out}` needs --allow-executor to give answers: {reason}"));
    }
    let mut out = io::stdout().lock();
    if args.json {
        let mut object = trained.row.to_json();
        object.insert("model".to_owned(), json!(args.out.display().to_string()));
        object.insert("seconds".to_owned(), json!(seconds));
        writeln!(out, "{}", Value::Object(object))?;
    } else {
        let dev = trained.row.dev.unwrap_or_default();
        writeln!(
            out,
            "trained in {seconds:.0} s; dev: exact match {}, denotation {}\nmodel: {}",
            percent(dev.exact_match),
            percent(dev.denotation),
            args.out.display()
        )?;
        if let Some(test) = &config.data.test {
            writeln!(out, "next: spanwise eval {} {}", args.out.display(), data.join(test).display())?;
        }
    }
    Ok(Status::Success)
}

/// Fails if the output directory holds a file that the run reads under a name that it writes. A configuration that an
/// earlier run has written holds no more than what this one writes.
fn refuse_overwriting(args: &Args, config: &Config, data: &Path) -> Result<()> {
    let outputs = ["config.toml", "metrics.jsonl", "curves.svg"].map(|name| args.out.join(name));
    let files = [&config.data.train].into_iter().chain(&config.data.generated).chain(&config.data.dev);
    let files = files.chain(&config.data.trees);
    let domain = Spec::parse(&config.domain).file().map(Path::to_owned);
    overwrite::refuse(&outputs, files.map(|file| data.join(file)).chain(domain))?;
    let is_plain = || {
        let text = std::fs::read_to_string(&args.config).unwrap_or_default();
        Config::read(&args.config, &[]).is_ok_and(|config| config.to_toml() == text)
    };
    if args.resume || is_plain() { Ok(()) } else { overwrite::refuse(&outputs, [Path::new(&args.config)]) }
}

fn wrong_config(error: ConfigError) -> anyhow::Error {
    WrongCall(error.to_string()).into()
}

/// The directory of an encoder, which is downloaded where it has to be.
pub(crate) fn find_encoder(name: &str) -> Result<PathBuf> {
    let bar = progress_bar(0, "{msg} {bar:30} {bytes}/{total_bytes} {eta}");
    let found = hub::resolve(name, &mut |progress| {
        bar.set_message(progress.file);
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    });
    bar.finish_and_clear();
    found.map_err(|error| WrongCall(error.to_string()).into())
}
