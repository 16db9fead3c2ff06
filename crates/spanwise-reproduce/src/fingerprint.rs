//! Hashes of what a cell is made from, to find out whether it has to be run again.
//!
//! They cover resolved settings, the domain and the contents of data files, but neither the paths of files nor the version of
//! the program: reports name the version that made each cell.

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

/// Hashes of files; each file is read once.
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

    /// The hash of everything that determines the trained model of a job.
    pub(crate) fn of_training(&self, job: &Job, options: &Options) -> Result<String, ReproduceError> {
        let mut settings = job.config.clone();
        settings.encoder = encoder(&job.config.encoder);
        settings.data.test = None;
        let mut hash =
            Sha256::new().chain_update(settings.to_toml()).chain_update(domain(&job.config.domain));
        if job.config.training.objective == Objective::GoldTrees && job.config.data.trees.is_none() {
            // Trees are annotated with phrases that are not in the domain file.
            hash.update(Spec::parse(&job.config.domain).annotation_source().unwrap_or_default());
        }
        for path in training_files(&job.config) {
            hash.update(self.hash(&options.data.join(path))?);
        }
        Ok(short(hash))
    }

    /// The hash of everything that determines an evaluation of the model with the fingerprint `training`.
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
    [Some(&config.data.train), config.data.generated.as_ref(), config.data.dev.as_ref(), trees]
        .into_iter()
        .flatten()
}

/// An encoder by what is in its directory; a name on the hub by its name.
fn encoder(name: &str) -> String {
    let directory = Path::new(name);
    let Ok(shape) = std::fs::read(directory.join("config.json")) else { return name.to_owned() };
    let size = std::fs::metadata(directory.join("model.safetensors")).map_or(0, |file| file.len());
    short(Sha256::new().chain_update(shape).chain_update(size.to_le_bytes()))
}

/// A domain by its file and its tables; one that does not load by its name, since its cells fail anyway.
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
    fn a_domain_is_identified_by_its_content() {
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
