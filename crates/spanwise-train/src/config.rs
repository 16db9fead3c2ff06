//! The configuration of a run: a TOML file, or one of the presets for the splits of the paper and for other benchmarks.

use serde::{Deserialize, Serialize};
use spanwise_domains::text::{Kind, MAX_BYTES, read_text};
use spanwise_eval::calibrate::THRESHOLDS;
use spanwise_model::{Compact, Objective, Settings};
use std::path::{Path, PathBuf};

/// Which files are read; relative paths are below the data directory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Data {
    /// Training examples.
    pub train: PathBuf,
    /// Generated examples, as `spanwise data generate` writes them: beside those of `train`, or instead of them.
    pub generated: Option<PathBuf>,
    /// Dev examples: for evaluation after each epoch, early stopping and calibration. Optional.
    pub dev: Option<PathBuf>,
    /// Test examples. Training does not read them; `spanwise train` names them in the command that it suggests.
    pub test: Option<PathBuf>,
    /// Examples with gold trees, for the objective `gold-trees`. Without them, trees are derived from the programs as in
    /// `spanwise data annotate`.
    pub trees: Option<PathBuf>,
    /// Most training examples, from the start of the file; zero for all.
    pub limit: usize,
    /// Most dev examples, from the start of the file; at least one.
    pub dev_limit: usize,
}

impl Default for Data {
    fn default() -> Self {
        Self {
            train: PathBuf::new(),
            generated: None,
            dev: None,
            test: None,
            trees: None,
            limit: 0,
            dev_limit: 500,
        }
    }
}

/// The hyper-parameters of training.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Training {
    /// The training objective.
    pub objective: Objective,
    /// Passes over the data.
    pub epochs: usize,
    /// Examples per step.
    pub batch: usize,
    /// Learning rate of the encoder.
    pub rate_encoder: f32,
    /// Learning rate of the span scorer.
    pub rate_head: f32,
    /// Learning rate of the score tables.
    pub rate_tables: f32,
    /// Share of training for linear warm-up of the learning rates; afterwards they decay linearly to zero.
    pub warm_up: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Gradients are clipped to this norm.
    pub clip: f32,
    /// Dropout rate.
    pub dropout: f32,
    /// The number of frozen layers of a pretrained encoder, counted from the input.
    pub frozen_layers: usize,
    /// The first epoch with recombined examples; zero for none.
    pub augment_from: usize,
    /// The number of recombined examples per real one.
    pub augment_share: f32,
    /// Recombination draws this many exchanges for each example and takes the one with the rarest composition; 1 takes any.
    pub augment_choices: usize,
    /// The weight of a recombined example in the loss.
    pub augment_weight: f32,
    /// The weight of a generated example in the loss, where there are others. Alone, they have a weight of 1.
    pub generated_weight: f32,
    /// The share of examples that get a typing error, drawn anew in every epoch.
    pub noise: f32,
    /// The number of last epochs whose weights are averaged; 1 for the last one alone. Not used with `patience`.
    pub average_epochs: usize,
    /// Early stopping: epochs without a better dev denotation (or exact match, without an executor) after which training
    /// stops, and the weights of the best epoch are kept. Zero for no early stopping.
    pub patience: usize,
    /// The lowest and the highest default threshold. The threshold is the highest one in this range that keeps most of the right
    /// answers on dev. Lower it where users ask longer questions than dev has.
    pub thresholds: [f64; 2],
}

impl Default for Training {
    fn default() -> Self {
        Self {
            objective: Objective::Crf,
            epochs: 10,
            batch: 16,
            rate_encoder: 5e-5,
            rate_head: 1e-3,
            rate_tables: 5e-3,
            warm_up: 0.06,
            weight_decay: 0.01,
            clip: 5.0,
            dropout: 0.1,
            frozen_layers: 3,
            augment_from: 2,
            augment_share: 1.0,
            augment_choices: 1,
            augment_weight: 1.0,
            generated_weight: 0.3,
            noise: 0.25,
            average_epochs: 1,
            patience: 0,
            thresholds: THRESHOLDS,
        }
    }
}

/// The configuration of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A built-in domain or a domain file.
    pub domain: String,
    /// `compact`, a directory of weights, or a name on the hub.
    pub encoder: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The files.
    pub data: Data,
    /// The family of the model and its hyper-parameters.
    pub model: Settings,
    /// The training.
    pub training: Training,
    /// The shape of the encoder `compact`.
    pub compact: Compact,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            domain: String::new(),
            encoder: COMPACT.to_owned(),
            seed: 1,
            data: Data::default(),
            model: Settings::default(),
            training: Training::default(),
            compact: Compact::default(),
        }
    }
}

/// Largest sizes of the compact encoder; larger ones would only exhaust memory.
const MAX_WIDTH: usize = 1 << 14;
const MAX_LAYERS: usize = 64;
const MAX_BUCKETS: usize = 10_000_000;

/// The name of the encoder that is trained from scratch.
pub const COMPACT: &str = "compact";

/// Presets: name and TOML text.
const PRESETS: &[(&str, &str)] = &[
    ("geo-iid", include_str!("../configs/geo/iid.toml")),
    ("geo-template", include_str!("../configs/geo/template.toml")),
    ("geo-length", include_str!("../configs/geo/length.toml")),
    ("scan-iid", include_str!("../configs/scan/iid.toml")),
    ("scan-right", include_str!("../configs/scan/right.toml")),
    ("scan-around-right", include_str!("../configs/scan/around-right.toml")),
    ("scan-length", include_str!("../configs/scan/length.toml")),
    ("scan-add-jump", include_str!("../configs/scan/add-jump.toml")),
    ("scan-turn-left", include_str!("../configs/scan/turn-left.toml")),
    ("clevr-iid", include_str!("../configs/clevr/iid.toml")),
    ("clevr-closure", include_str!("../configs/clevr/closure.toml")),
    ("cogs", include_str!("../configs/cogs/pairs-2000.toml")),
    ("cogs-full", include_str!("../configs/cogs/full.toml")),
    ("okapi", include_str!("../configs/okapi/length.toml")),
    ("atis-iid", include_str!("../configs/atis/iid.toml")),
    ("atis-length", include_str!("../configs/atis/length.toml")),
    ("overnight-calendar", include_str!("../configs/overnight/calendar.toml")),
    ("overnight-publications", include_str!("../configs/overnight/publications.toml")),
];

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is neither a preset nor a file.
    #[error("there is no preset and no file `{name}`; the presets are {}", preset_names().collect::<Vec<_>>().join(", "))]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// The file cannot be read.
    #[error("cannot read {file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
    /// The file is wrong.
    #[error("{file}: {reason}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A setting on the command line is wrong.
    #[error("--set {setting}: {reason}")]
    Setting {
        /// The setting.
        setting: String,
        /// What is wrong.
        reason: String,
    },
    /// Settings that do not go together.
    #[error("{0}")]
    Conflict(String),
}

/// The names of the presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

impl Config {
    /// A preset or a file, with `settings` of the form `key=value` (`training.epochs=5`) on top. What neither sets has the
    /// default of the family, where that has its own.
    ///
    /// # Errors
    /// An unknown name, a file or a setting that is wrong.
    pub fn read(name: &str, settings: &[String]) -> Result<Self, ConfigError> {
        let (file, text) = match PRESETS.iter().find(|(preset, _)| *preset == name) {
            Some((preset, text)) => (format!("preset {preset}"), (*text).to_owned()),
            None => match read_text(Path::new(name), Kind::Regular, MAX_BYTES) {
                Ok(text) => (name.to_owned(), text),
                Err(_) if !Path::new(name).exists() => {
                    return Err(ConfigError::Unknown { name: name.to_owned() });
                }
                Err(error) => {
                    let reason = error.to_string();
                    return Err(ConfigError::Unreadable { file: name.to_owned(), reason });
                }
            },
        };
        let invalid = |reason: String| ConfigError::Invalid { file: file.clone(), reason };
        let mut document: toml_edit::DocumentMut =
            text.parse().map_err(|error: toml_edit::TomlError| invalid(error.to_string()))?;
        // The file is checked first without settings, so that errors point into it.
        let _: Self = toml_edit::de::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        for setting in settings {
            apply(&mut document, setting)?;
            let read: Result<Self, _> = toml_edit::de::from_document(document.clone());
            read.map_err(|error| ConfigError::Setting {
                setting: setting.clone(),
                reason: error.message().to_owned(),
            })?;
        }
        let read = |document: &toml_edit::DocumentMut| -> Result<Self, ConfigError> {
            toml_edit::de::from_document(document.clone()).map_err(|error| invalid(error.to_string()))
        };
        let family = read(&document)?.model;
        for (key, value) in family.family().training() {
            if document.get("training").is_none_or(|training| training.get(key).is_none()) {
                apply(&mut document, &format!("training.{key}={value}"))?;
            }
        }
        let mut config = read(&document)?;
        // The path of a domain file can be relative to the configuration file.
        let beside = Path::new(name).parent().map(|folder| folder.join(&config.domain));
        let is_there = |path: &PathBuf| {
            let text = path.display().to_string();
            path.exists() || text.rsplit_once('@').is_some_and(|(file, _)| Path::new(file).exists())
        };
        let is_builtin = |spec: &str| {
            let name = spec.split('@').next().unwrap_or(spec);
            spanwise_domains::load::builtin_names().any(|builtin| builtin == name)
        };
        let is_file = !config.domain.is_empty() && !is_builtin(&config.domain);
        if let Some(beside) = beside.filter(|path| is_file && is_there(path)) {
            config.domain = beside.display().to_string();
        }
        Ok(config)
    }

    /// The configuration as TOML, every setting written out.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml_edit::ser::to_string_pretty(self).unwrap_or_default()
    }

    /// Checks that the settings make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Training { objective, epochs, batch, dropout, .. } = self.training;
        let conflict = |text: &str| Err(ConfigError::Conflict(text.to_owned()));
        if self.domain.is_empty() {
            let builtin = spanwise_domains::load::builtin_list();
            return conflict(&format!(
                "`domain` is missing: name a built-in domain ({builtin}) or a domain file"
            ));
        }
        if self.data.train.as_os_str().is_empty() && self.data.generated.is_none() {
            return conflict("`data.train` is missing: name the file of training examples");
        }
        let family = self.model.family();
        if !family.objectives().contains(&objective) {
            let name = |objective: &Objective| serde_json::to_value(objective).unwrap_or_default();
            let text = |objective| name(objective).as_str().unwrap_or_default().to_owned();
            let allowed: Vec<String> = family.objectives().iter().map(text).collect();
            return conflict(&format!(
                "the family `{}` has no objective `{}`; set `training.objective` to one of {}",
                family.name(),
                text(&objective),
                allowed.join(", ")
            ));
        }
        family.check().map_err(ConfigError::Conflict)?;
        if epochs == 0 || batch == 0 {
            return conflict("`training.epochs` and `training.batch` must be at least 1");
        }
        let Training { rate_encoder, rate_head, rate_tables, warm_up, weight_decay, clip, .. } =
            self.training;
        let Training { augment_share, augment_weight, generated_weight, .. } = self.training;
        for (key, value) in [
            ("rate_encoder", rate_encoder),
            ("rate_head", rate_head),
            ("rate_tables", rate_tables),
            ("warm_up", warm_up),
            ("weight_decay", weight_decay),
            ("clip", clip),
            ("augment_share", augment_share),
            ("augment_weight", augment_weight),
            ("generated_weight", generated_weight),
        ] {
            if !(0.0..=1e6).contains(&value) {
                return conflict(&format!("`training.{key}` must be a number from 0 to 1000000"));
            }
        }
        if !(1..=1_000).contains(&self.training.augment_choices) {
            return conflict("`training.augment_choices` must be from 1 to 1000");
        }
        if !(0.0..1.0).contains(&dropout) {
            return conflict("`training.dropout` must be at least 0 and below 1");
        }
        if !(0.0..=1.0).contains(&self.training.noise) {
            return conflict("`training.noise` must be from 0 to 1");
        }
        let [low, high] = self.training.thresholds;
        if !(0.0 <= low && low <= high && high <= 1.0) {
            return conflict("`training.thresholds` must be two probabilities, the lower one first");
        }
        let Compact { hidden, heads, layers, intermediate, ngram_buckets, .. } = self.compact;
        if hidden.max(intermediate) > MAX_WIDTH || layers > MAX_LAYERS || ngram_buckets > MAX_BUCKETS {
            return conflict(&format!(
                "the sizes in `[compact]` are too large: at most {MAX_WIDTH} for widths, {MAX_LAYERS} layers, \
                {MAX_BUCKETS} buckets"
            ));
        }
        if self.encoder == COMPACT && (heads == 0 || hidden % heads != 0) {
            return conflict("`compact.heads` must divide `compact.hidden`");
        }
        Ok(())
    }
}

fn apply(document: &mut toml_edit::DocumentMut, setting: &str) -> Result<(), ConfigError> {
    let wrong =
        |reason: &str| ConfigError::Setting { setting: setting.to_owned(), reason: reason.to_owned() };
    let (key, text) = setting.split_once('=').ok_or_else(|| wrong("expected key=value"))?;
    // A value that is not valid TOML is taken as text, so that text needs no quotes.
    let value: toml_edit::Value = text.trim().parse().unwrap_or_else(|_| text.trim().into());
    let mut parts: Vec<&str> = key.trim().split('.').collect();
    let last =
        parts.pop().filter(|last| !last.is_empty()).ok_or_else(|| wrong("expected a key before `=`"))?;
    let mut table = document.as_table_mut();
    for part in parts {
        let entry = table.entry(part).or_insert_with(toml_edit::table);
        table = entry.as_table_mut().ok_or_else(|| wrong(&format!("`{part}` is not a section")))?;
    }
    table.insert(last, toml_edit::value(value));
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_family_has_its_own_defaults_of_training_unless_they_are_set() {
        let read = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
            Config::read("geo-iid", &settings).unwrap().training
        };
        assert_eq!(read(&[]), Training::default());
        let decoder = read(&["model.family=seq2seq"]);
        assert!(decoder.epochs > Training::default().epochs && decoder.noise == 0.0);
        let pretrained = read(&["model.family=bart"]);
        assert!(pretrained.frozen_layers == 0 && pretrained.noise == 0.0);
        let set = read(&["training.epochs=7", "model.family=seq2seq", "training.noise=0.5"]);
        assert_eq!(set, Training { epochs: 7, noise: 0.5, ..decoder });
    }

    #[test]
    fn a_written_configuration_is_plain_toml_and_is_read_back() {
        for family in Settings::FAMILIES {
            let model = Settings::default_of(family).unwrap();
            let config = Config { domain: "scan".to_owned(), model, ..Config::default() };
            let text = config.to_toml();
            assert!(
                text.contains("[model]\n") && text.contains(&format!("\nfamily = \"{family}\"\n")),
                "{text}"
            );
            assert_eq!(toml_edit::de::from_str::<Config>(&text).unwrap(), config);
        }
    }
}
