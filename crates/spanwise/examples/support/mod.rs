//! What the examples share: a domain of lamps, small enough to be learned in a second.

#![allow(dead_code, reason = "each example uses a part of this")]

use spanwise::{Config, Parser, serde_json::json, train};
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

/// The domain file. `docs/domain-format.md` explains every key; the example `own_domain` explains the first ones.
pub(crate) const DOMAIN: &str = r#"
name = "lamps"
types = ["Lamp", "Times", "Task"]
root = { types = ["Task"], wrap = "do({})" }

[constants]
on = "Lamp -> Task"
off = "Lamp -> Task"
blink = ["Lamp, Times -> Task", "Lamp -> Task"]
twice = "Times"
thrice = "Times"
both = "Task, Task -> Task"

[lexicon]
on = ["turn on", "light"]
off = "turn off"
thrice = "three times"

[[entities]]
class = "lamp"
type = "Lamp"
form = "lamp('{name}')"
table = "lamps.tsv"
"#;

/// The table that the domain file names.
const TABLE: &str = "name\taliases\nhall\tcorridor\nkitchen\t\ndesk\treading\ngarden\t\nattic\t\n\
    cellar\tbasement\nguest room\tspare room\n";

/// A run: a tiny encoder that is trained from random weights.
pub(crate) const CONFIG: &str = r#"
domain = "lamps.toml"
encoder = "compact"
data = { train = "train.jsonl", dev = "dev.jsonl" }
model = { hidden = 32, rare_below = 1 }
compact = { hidden = 32, layers = 1, heads = 2, intermediate = 64, ngram_buckets = 64 }

[training]
epochs = 12
batch = 8
rate_encoder = 0.003
rate_head = 0.005
rate_tables = 0.02
augment_from = 4
average_epochs = 2
"#;

/// Examples to choose by. Training has no cellar, no guest room, and nothing that blinks twice and is one of two tasks.
const DEV: &[[&str; 2]] = &[
    ["please turn off the attic lamp", "do(off(lamp('attic')))"],
    [
        "blink the hall lamp twice and light the desk",
        "do(both(blink(lamp('hall'), twice), on(lamp('desk'))))",
    ],
    ["turn on the cellar lamp", "do(on(lamp('cellar')))"],
    ["blink the spare room lamp", "do(blink(lamp('guest room')))"],
];

/// Seven utterances for each of five lamps, with their programs.
fn training_examples() -> Vec<[String; 2]> {
    let lamps = ["hall", "kitchen", "desk", "garden", "attic"];
    let times = [("three times", "thrice"), ("twice", "twice")];
    let mut examples = Vec::new();
    for (at, a) in lamps.into_iter().enumerate() {
        let b = lamps[(at + 1) % lamps.len()];
        let (phrase, times) = times[at % 2];
        examples.extend([
            [format!("turn on the {a} lamp"), format!("do(on(lamp('{a}')))")],
            [format!("turn off the {a} lamp"), format!("do(off(lamp('{a}')))")],
            [format!("blink the {a} lamp"), format!("do(blink(lamp('{a}')))")],
            [format!("blink the {a} lamp {phrase}"), format!("do(blink(lamp('{a}'), {times}))")],
            [
                format!("turn on the {a} lamp and turn off the {b} lamp"),
                format!("do(both(on(lamp('{a}')), off(lamp('{b}'))))"),
            ],
            [
                format!("please light the {b} and blink the {a} lamp"),
                format!("do(both(on(lamp('{b}')), blink(lamp('{a}'))))"),
            ],
            [format!("please kill the {a} light"), format!("do(off(lamp('{a}')))")],
        ]);
    }
    examples
}

/// Writes domain, table and examples to a directory, as a user would keep them.
pub(crate) fn write_lamps(directory: &Path) -> std::io::Result<()> {
    let line = |[utterance, program]: [&str; 2]| {
        json!({"utterance": utterance, "program": program}).to_string() + "\n"
    };
    let training: String =
        training_examples().iter().map(|[utterance, program]| line([utterance, program])).collect();
    let dev: String = DEV.iter().copied().map(line).collect();
    let files = [
        ("lamps.toml", DOMAIN),
        ("lamps.tsv", TABLE),
        ("run.toml", CONFIG),
        ("train.jsonl", &training),
        ("dev.jsonl", &dev),
    ];
    files.into_iter().try_for_each(|(name, text)| std::fs::write(directory.join(name), text))
}

/// A parser for lamps, trained on the spot. The example `training` does the same step by step.
pub(crate) fn train_lamps() -> Result<Parser, Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    write_lamps(directory.path())?;
    let config = Config::read(&directory.path().join("run.toml").to_string_lossy(), &[])?;
    let out = directory.path().join("model");
    let trained = train(&config, directory.path(), None, &out, false, &mut |_| ControlFlow::Continue(()))?;
    Ok(trained.parser)
}
