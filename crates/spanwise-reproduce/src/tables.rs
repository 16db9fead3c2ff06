//! Rows, splits and published numbers, read from `tables.toml`.
//!
//! Reading checks that every row resolves against the presets of `spanwise train` on every split it exists for.

use crate::error::ReproduceError;
use crate::metric::Metric;
use serde::Deserialize;
use spanwise_train::Config;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Everything there is to run.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// Columns, in the order of the report.
    pub splits: Vec<Split>,
    /// Rows, in the order of the report.
    pub rows: Vec<Row>,
}

/// A preset and a test set.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Its name, which is also that of its folders.
    pub name: String,
    /// Its title in reports.
    pub title: String,
    /// The benchmark it belongs to: a built-in domain, or the folder of a domain file.
    pub domain: String,
    /// The preset of `spanwise train`, or a file.
    pub preset: String,
    /// The test set with gold trees, below the data directory.
    pub trees: Option<PathBuf>,
    /// The tree F1 that the paper reports, in percent.
    pub f1: Option<f64>,
    /// Whether it is run only where it or its domain is asked for: it is not part of the paper's tables.
    #[serde(default)]
    pub optional: bool,
    /// The rows that exist for it, besides those that list its domain; empty for all.
    #[serde(default)]
    pub rows: Vec<String>,
}

/// Settings that are compared.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name, which is also that of its folder.
    pub name: String,
    /// Its title in reports.
    pub title: String,
    /// The row above whose settings it starts from.
    pub base: Option<String>,
    /// Settings, `key=value`.
    #[serde(default)]
    pub set: Vec<String>,
    /// More settings, by domain.
    #[serde(default)]
    pub set_for: BTreeMap<String, Vec<String>>,
    /// The domains it exists for; empty for all.
    #[serde(default)]
    pub domains: Vec<String>,
    /// Whether its trees are compared with gold trees.
    #[serde(default)]
    pub trees: bool,
    /// Denotation accuracy on test that the paper reports, in percent, by split.
    #[serde(default)]
    pub paper: BTreeMap<String, f64>,
    /// The row whose published numbers stand beside those of this one.
    pub compare: Option<String>,
    /// Where its word vectors come from.
    #[serde(default)]
    pub encoder: RowEncoder,
}

/// Where the word vectors of a row come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowEncoder {
    /// From the encoder of the preset.
    #[default]
    Preset,
    /// From a pretrained encoder, also on splits whose preset trains its own.
    Pretrained,
    /// From static vectors, or vectors of its own where there are none.
    Vectors,
    /// From a pretrained encoder-decoder. Without one, the row is left out.
    EncoderDecoder,
}

impl Tables {
    /// The tables of the paper.
    ///
    /// # Errors
    /// None that a released program could have; a test reads them.
    pub fn builtin() -> Result<Self, ReproduceError> {
        Self::parse(include_str!("../tables.toml"))
    }

    /// Reads tables and checks that names are sound and that every row resolves on every split it exists for.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, ReproduceError> {
        let tables: Self =
            toml_edit::de::from_str(text).map_err(|error| ReproduceError::Tables(error.to_string()))?;
        tables.check_names()?;
        tables.check_references()?;
        for row in &tables.rows {
            for split in tables.splits_of(row) {
                tables.config(row, split).map_err(|error| {
                    ReproduceError::Tables(format!("row `{}` on `{}`: {error}", row.name, split.name))
                })?;
            }
        }
        Ok(tables)
    }

    /// The row of a name.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The split of a name.
    #[must_use]
    pub fn split(&self, name: &str) -> Option<&Split> {
        self.splits.iter().find(|split| split.name == name)
    }

    /// The splits that a row exists for.
    pub fn splits_of<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a Split> {
        let is_listed = |split: &Split| split.rows.is_empty() || split.rows.contains(&row.name);
        self.splits.iter().filter(move |split| match row.domains.as_slice() {
            [] => is_listed(split),
            domains => domains.contains(&split.domain),
        })
    }

    /// The domains, in the order of their splits.
    #[must_use]
    pub fn domains(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.splits.iter().map(|split| split.domain.as_str()).filter(|domain| seen.insert(*domain)).collect()
    }

    /// The settings of a row on a split, those of its base first.
    #[must_use]
    pub fn settings(&self, row: &Row, split: &Split) -> Vec<String> {
        let base = row.base.as_deref().and_then(|name| self.row(name));
        let mut settings = base.map_or_else(Vec::new, |base| self.settings(base, split));
        settings.extend(row.set.iter().cloned());
        settings.extend(row.set_for.get(&split.domain).into_iter().flatten().cloned());
        settings
    }

    /// The denotation accuracy or the tree F1 that the paper has for a cell: for its own row or the row it is compared with.
    #[must_use]
    pub fn published(&self, metric: &Metric, row: &str, split: &str) -> Option<f64> {
        let row = self.row(row)?;
        match metric {
            Metric::Denotation => {
                let compared = row.compare.as_deref().and_then(|name| self.row(name)).unwrap_or(row);
                compared.paper.get(split).copied()
            }
            Metric::TreeF1 => self.split(split)?.f1,
            _ => None,
        }
    }

    fn config(&self, row: &Row, split: &Split) -> Result<Config, String> {
        let settings = self.settings(row, split);
        let config = Config::read(&split.preset, &settings).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string())?;
        if domain_name(&config.domain) != split.domain {
            return Err(format!("its domain is `{}`, expected `{}`", config.domain, split.domain));
        }
        if config.data.test.is_none() {
            return Err(format!("the preset `{}` has no `data.test`", split.preset));
        }
        Ok(config)
    }

    fn check_names(&self) -> Result<(), ReproduceError> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        for (kind, names) in [
            ("row", self.rows.iter().map(|row| &row.name).collect::<Vec<_>>()),
            ("split", self.splits.iter().map(|split| &split.name).collect()),
        ] {
            let mut seen = BTreeSet::new();
            for name in names {
                if !is_name(name) {
                    let text = format!("the {kind} `{name}`: expected lower-case letters, digits and dashes");
                    return Err(ReproduceError::Tables(text));
                }
                if !seen.insert(name) {
                    return Err(ReproduceError::Tables(format!("there are two {kind}s `{name}`")));
                }
            }
        }
        Ok(())
    }

    fn check_references(&self) -> Result<(), ReproduceError> {
        let wrong = |text: String| Err(ReproduceError::Tables(text));
        let domains = self.domains();
        for (at, row) in self.rows.iter().enumerate() {
            let name = &row.name;
            if let Some(base) = &row.base
                && !self.rows[..at].iter().any(|above| above.name == *base)
            {
                return wrong(format!("row `{name}`: its base `{base}` is not a row above it"));
            }
            if let Some(other) = row.compare.as_ref().filter(|other| self.row(other).is_none()) {
                return wrong(format!("row `{name}`: it is compared with `{other}`, which is no row"));
            }
            let named = row.domains.iter().chain(row.set_for.keys());
            if let Some(domain) = named.into_iter().find(|domain| !domains.contains(&domain.as_str())) {
                return wrong(format!("row `{name}`: no split has the domain `{domain}`"));
            }
        }
        for split in &self.splits {
            if let Some(row) = split.rows.iter().find(|row| self.row(row).is_none()) {
                return wrong(format!("split `{}`: it exists for `{row}`, which is no row", split.name));
            }
        }
        for (title, numbers) in self.rows.iter().map(|row| (&row.title, &row.paper)) {
            for (split, number) in numbers {
                if self.split(split).is_none() {
                    return wrong(format!("`{title}` has a number for `{split}`, which is no split"));
                }
                if !(0.0..=100.0).contains(number) {
                    return wrong(format!("`{title}` has {number} for `{split}`, expected a percentage"));
                }
            }
        }
        Ok(())
    }
}

/// The name of a built-in domain, or of the folder of a domain file, without the type system.
fn domain_name(spec: &str) -> &str {
    let name = spec.split('@').next().unwrap_or_default();
    let folder = Path::new(name).parent().and_then(Path::file_name).and_then(std::ffi::OsStr::to_str);
    folder.unwrap_or(name)
}
