//! `spanwise data split`: splits examples into train, dev and test.

use super::{Placed, class_of, read_examples, write_files};
use crate::commands::{domain, domain_help, make_directory, overwrite};
use crate::output::WrongCall;
use anyhow::{Result, bail};
use spanwise_domains::data::split::{Partition, Plan, Size, by_length, by_template, random};
use spanwise_domains::data::{Example, template};
use spanwise_lang::{Domain, Style, TermId, Terms};
use std::path::PathBuf;

/// Split examples into train, dev and test.
///
/// By template, no program template of the test set occurs in train; by length, the longest programs are the
/// test set; dev is drawn at random from train. The same seed gives the same split everywhere. A part without
/// examples is not written.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    spanwise data split train.jsonl dev.jsonl --by template --domain geo --out pseudo/template\n  \
    spanwise data split all.jsonl --by length --test 280 --dev 60 --out splits")]
pub(crate) struct Args {
    /// Files of JSON lines, split together
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// What decides where an example goes
    #[arg(long, value_enum)]
    by: By,
    /// The directory to write train.jsonl, dev.jsonl and test.jsonl to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[arg(long, help = domain_help(), long_help = format!("{}; its entity classes are what templates leave out", domain_help()))]
    domain: Option<String>,
    /// Size of test: a number of examples, or a fraction below 1
    #[arg(long, default_value = "0.2", value_parser = size)]
    test: Size,
    /// Size of dev: a number of examples, or a fraction below 1
    #[arg(long, default_value = "0.1", value_parser = size)]
    dev: Size,
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Template,
    Length,
    Random,
}

/// The parts of a split, which are also the names of their files.
const PARTS: [&str; 3] = ["train", "dev", "test"];

fn size(text: &str) -> Result<Size, String> {
    let wrong = || format!("expected a number of examples or a fraction below 1, found `{text}`");
    if let Ok(count) = text.parse::<usize>() {
        return Ok(Size::Count(count));
    }
    let fraction: f64 = text.parse().map_err(|_| wrong())?;
    if (0.0..1.0).contains(&fraction) { Ok(Size::Fraction(fraction)) } else { Err(wrong()) }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let domain = args.domain.as_deref().map(domain).transpose()?;
    let examples = read_examples(&args.data)?;
    let plan = Plan { test: args.test, dev: args.dev, seed: args.seed, dev_seed: args.seed };
    let outcome = match args.by {
        By::Random => random(examples.len(), plan),
        By::Template => {
            let keys = keys(&examples, domain.as_ref(), |terms, program| {
                template(terms, program, |terms, term| class_of(domain.as_ref(), terms, term))
            })?;
            by_template(&keys, plan)
        }
        By::Length => {
            let style = Style { spaced: true, comma: " , ".to_owned() };
            let lengths = keys(&examples, domain.as_ref(), |terms, program| {
                terms.display_styled(program, &style).to_string().split_whitespace().count()
            })?;
            by_length(&lengths, plan)
        }
    };
    let partition = outcome.map_err(|error| WrongCall(error.to_string()))?;
    let outputs = PARTS.map(|name| args.out.join(format!("{name}.jsonl")));
    overwrite::refuse(&outputs, &args.data)?;
    make_directory(&args.out)?;
    let Partition { train, dev, test } = partition;
    let files: Vec<(PathBuf, Vec<Example>)> = outputs
        .into_iter()
        .zip([train, dev, test])
        .map(|(path, rows)| (path, rows.into_iter().map(|at| examples[at].example.clone()).collect()))
        .collect();
    write_files(files)
}

/// The key of each example to split by, from its program.
fn keys<T>(
    examples: &[Placed],
    domain: Option<&Domain>,
    key: impl Fn(&Terms, TermId) -> T,
) -> Result<Vec<T>> {
    let mut terms = domain.map_or_else(Terms::new, Domain::new_terms);
    let mut keys = Vec::with_capacity(examples.len());
    for Placed { example, file, line } in examples {
        let Some(text) = &example.program else {
            bail!("{file}:{line}: the example has no program to split by");
        };
        match terms.parse(text) {
            Ok(program) => keys.push(key(&terms, program)),
            Err(problem) => bail!("{file}:{line}: the program cannot be read: {}", problem.one_line(text)),
        }
    }
    Ok(keys)
}
