//! What a cell was made from, as a short text to compare.
//!
//! In come resolved settings, domains and data files; out come hashes. Where files lie does not matter, and neither does the
//! version of the program: reports say which version made which cell. A built-in domain that has changed does matter.

use crate::error::ReproduceError;
use crate::grid::{Evaluation, Job, Options};
use sha2::{Digest, Sha256};
use spanwise_domains::load::Spec;
use spanwise_train::{Config, Objective, domain_hash};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Characters of a hash that are kept.
const LENGTH: usize = 16;

/// Hashes of files that were read once.
#[derive(Debug, Default)]
pub(crate) struct Files {
    known: Mutex<BTreeMap<PathBuf, String>>,
}

impl Files {
    fn hash(&self, path: &Path) -> Result<String, ReproduceError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(hash) = known {
            return Ok(hash);
        }
        let content = std::fs::read(path).map_err(|error| ReproduceError::file(path, error))?;
        let hash = short(Sha256::new().chain_update(content));
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), hash.clone());
        Ok(hash)
    }

    /// What decides about the trained model of a job.
    pub(crate) fn of_training(&self, job: &Job, options: &Options) -> Result<String, ReproduceError> {
        let mut settings = job.config.clone();
        settings.encoder = encoder(&job.config.encoder);
        settings.data.test = None;
        let mut hash =
            Sha256::new().chain_update(settings.to_toml()).chain_update(domain(&job.config.domain));
        if job.config.training.objective == Objective::GoldTrees && job.config.data.trees.is_none() {
            // Trees are made with phrases that the domain's file does not have.
            hash.update(Spec::parse(&job.config.domain).annotation_source().unwrap_or_default());
        }
        for path in training_files(&job.config) {
            hash.update(self.hash(&options.data.join(path))?);
        }
        Ok(short(hash))
    }

    /// What decides about a measurement of a model with the fingerprint `training`.
    pub(crate) fn of_evaluation(
        &self,
        training: &str,
        evaluation: &Evaluation,
        options: &Options,
    ) -> Result<String, ReproduceError> {
        let mut hash = Sha256::new().chain_update(training);
        hash.update(format!("{:?}", evaluation.limit));
        for path in [Some(&evaluation.test), evaluation.trees.as_ref()].into_iter().flatten() {
            hash.update(self.hash(&options.data.join(path))?);
        }
        if let Some(pieces) = &evaluation.pieces {
            hash.update(encoder(&pieces.display().to_string()));
        }
        Ok(short(hash))
    }
}

fn training_files(config: &Config) -> impl Iterator<Item = &PathBuf> {
    let trees = config.data.trees.as_ref().filter(|_| config.training.objective == Objective::GoldTrees);
    [Some(&config.data.train), config.data.dev.as_ref(), trees].into_iter().flatten()
}

/// An encoder by what is in its directory; a name that is no directory stands for itself.
fn encoder(name: &str) -> String {
    let directory = Path::new(name);
    let Ok(shape) = std::fs::read(directory.join("config.json")) else { return name.to_owned() };
    let size = std::fs::metadata(directory.join("model.safetensors")).map_or(0, |file| file.len());
    short(Sha256::new().chain_update(shape).chain_update(size.to_le_bytes()))
}

/// A domain by its file and its tables; one that does not load stands for itself, and its cells will say why.
fn domain(spec: &str) -> String {
    Spec::parse(spec).load().map_or_else(|_| spec.to_owned(), |domain| domain_hash(&domain))
}

fn short(hash: Sha256) -> String {
    format!("{:x}", hash.finalize()).chars().take(LENGTH).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_domain_is_told_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, phrase: &str| {
            let path = folder.path().join(name);
            let text = format!(
                "name = \"tiny\"\ntypes = [\"A\"]\n[root]\ntypes = [\"A\"]\n[constants]\nx = \"A\"\n[lexicon]\nx = \"{phrase}\"\n"
            );
            std::fs::write(&path, text).unwrap();
            domain(path.to_str().unwrap())
        };
        assert_eq!(file("one.toml", "ex"), file("two.toml", "ex"));
        assert_ne!(file("one.toml", "ex"), file("two.toml", "why"));
        assert_eq!(domain("no such domain"), "no such domain");
        assert_ne!(domain("clevr"), domain("scan"));
    }
}
