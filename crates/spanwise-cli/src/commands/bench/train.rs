//! `spanwise bench train`: how long a training step takes.

use super::encoder::{mean, median};
use crate::commands::train::find_encoder;
use crate::output::{Columns, WrongCall};
use anyhow::Result;
use serde_json::json;
use spanwise_train::bench::{StepTimes, WholeStep, time_steps};
use spanwise_train::{Config, TrainError};
use std::io::{self, Write};
use std::path::PathBuf;

/// Time training steps of a pretrained encoder, with the shares of their parts.
///
/// Steps run as in training, with the frozen layers computed beforehand; nothing is written. An epoch is one pass over the
/// training pairs without recombined ones and without dev. With --encoder-only, charts are left out
/// and the span scorer is minimal, which is what `tools/bench_torch.py --cached` measures.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  \
    spanwise bench train --encoder encoders/all-MiniLM-L6-v2 --data data --steps 30")]
pub(crate) struct Args {
    /// A preset or a TOML file: the data and the settings of training
    #[arg(long, value_name = "CONFIG", default_value = "geo-iid")]
    config: String,
    /// A directory with weights, or a name on the hub
    #[arg(long, value_name = "ENCODER")]
    encoder: String,
    /// Where relative paths of data files start
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Change a setting of the configuration; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Steps to time
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Leave out the charts
    #[arg(long)]
    encoder_only: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let config = Config::read(&args.config, &args.settings).map_err(|error| WrongCall(error.to_string()))?;
    let encoder = find_encoder(&args.encoder)?;
    let times = time_steps(&config, &args.data, &encoder, args.steps as usize, args.encoder_only);
    let times = times.map_err(|error| match error {
        TrainError::Config(error) => WrongCall(error.to_string()).into(),
        TrainError::Data(error) => crate::commands::data::wrong_file(error),
        _ => anyhow::Error::from(error),
    })?;
    let StepTimes { steps, n_pairs, batch, pieces_per_step, n_trained, .. } = &times;
    let all = |part: fn(&WholeStep) -> f64| steps.iter().map(|step| part(step) * 1e3).collect::<Vec<f64>>();
    let total = all(|step| step.total);
    let parts = [
        ("preparation", all(|step| step.parts.prepare)),
        ("forward", all(|step| step.parts.forward)),
        ("charts", all(|step| step.parts.charts)),
        ("backward", all(|step| step.parts.backward)),
        ("optimiser", all(|step| step.optimiser)),
    ];
    let epoch = mean(&total) / 1e3 * n_pairs.div_ceil(*batch) as f64;
    let mut out = io::stdout().lock();
    if args.json {
        let of = |name: &str| parts.iter().find(|(part, _)| *part == name).map_or(0.0, |(_, ms)| median(ms));
        let object = json!({
            "step_ms": median(&total),
            "step_mean_ms": mean(&total),
            "epoch_s": epoch,
            "preparation_ms": of("preparation"),
            "forward_ms": of("forward"),
            "backward_ms": of("backward"),
            "forward_backward_ms": median(&all(|step| step.parts.forward + step.parts.backward)),
            "chart_ms": of("charts"),
            "optimiser_ms": of("optimiser"),
            "steps": steps.len(),
            "batch": batch,
            "pairs": n_pairs,
            "pieces_per_step": pieces_per_step,
            "trained_parameters": n_trained,
            "encoder_only": args.encoder_only,
        });
        writeln!(out, "{object}")?;
    } else {
        let mut table = Columns::new(["part of a step", "median ms", "mean ms", "share"]);
        let whole: f64 = parts.iter().map(|(_, ms)| mean(ms)).sum();
        for (name, ms) in &parts {
            let share = format!("{:.0} %", 100.0 * mean(ms) / whole);
            table.row([(*name).to_owned(), format!("{:.2}", median(ms)), format!("{:.2}", mean(ms)), share]);
        }
        let step = ["step".to_owned(), format!("{:.2}", median(&total)), format!("{:.2}", mean(&total))];
        let [name, median, mean] = step;
        table.row([name, median, mean, String::new()]);
        write!(
            out,
            "{} steps of {batch} utterances, {pieces_per_step:.0} word-pieces, {n_trained} trainable parameters\n{}\
             an epoch over {n_pairs} pairs: {epoch:.1} s\n",
            steps.len(),
            table.render()
        )?;
    }
    Ok(())
}
