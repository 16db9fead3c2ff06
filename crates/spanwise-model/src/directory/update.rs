//! Other entity tables for a trained model.
//!
//! All members of a class share a label, so the weights of a model fit any members. What they do not fit is another
//! language: other classes, other labels, another grammar. Tables that would lead to one are refused.

use super::domain::StoredTable;
use super::error::ModelError;
use super::{MANIFEST, read_manifest};
use crate::model::Model;
use spanwise_core::Idx as _;
use spanwise_lang::domain::Table;
use spanwise_lang::{Domain, Kind};
use std::collections::BTreeMap;
use std::path::Path;

impl Model {
    /// Reads a model directory with other tables, by their paths, in place of those of the same paths. Tables that are not
    /// among them stay as they are. Nothing is written: [`save_locked`](Self::save_locked) does that.
    ///
    /// # Errors
    /// As [`load`](Self::load); tables that the domain cannot be compiled with, and tables that would change its language.
    pub fn load_with_tables(directory: &Path, tables: BTreeMap<String, Table>) -> Result<Self, ModelError> {
        let path = directory.join(MANIFEST).display().to_string();
        let refused = |reason: String| ModelError::Tables { path: path.clone(), reason };
        let (_, manifest) = read_manifest(directory)?;
        let mut manifest = manifest?;
        let before = manifest.domain.load(&path)?;
        for (path, Table { columns, rows }) in tables {
            let found = manifest.domain.tables.iter_mut().find(|table| table.path == path);
            let found = found.ok_or_else(|| refused(format!("its domain has no table `{path}`")))?;
            *found = StoredTable { path, columns, rows };
        }
        let after = manifest.domain.load(&path).map_err(|error| match error {
            ModelError::Domain { reason, .. } => refused(reason),
            other => other,
        })?;
        if let Some(reason) = difference(&before, &after) {
            return Err(refused(reason));
        }
        // What is left is compared with the weights: labels, rules, sizes.
        Self::from_manifest(directory, manifest).map_err(|error| match error {
            ModelError::Changed { reason, .. } => refused(reason),
            other => other,
        })
    }
}

/// The first class that has members in one domain only. Everything else in the language comes from the domain file.
fn difference(before: &Domain, after: &Domain) -> Option<String> {
    let (was, is) = (has_members(before), has_members(after));
    let classes = before.classes().iter().zip(was.into_iter().zip(is));
    classes.into_iter().find_map(|(class, (was, is))| match (was, is) {
        (true, false) => Some(format!("the class `{}` would have no members left", class.name)),
        (false, true) => {
            Some(format!("the class `{}` had no members when the model was trained", class.name))
        }
        _ => None,
    })
}

fn has_members(domain: &Domain) -> Vec<bool> {
    let mut has_members = vec![false; domain.classes().len()];
    for constant in domain.constants().iter() {
        if let Kind::Entity(class) = constant.kind {
            has_members[class.index()] = true;
        }
    }
    has_members
}
