//! The domain file of a model with its tables, as `model.json` has them.

use super::error::ModelError;
use serde::{Deserialize, Serialize};
use spanwise_lang::Domain;
use spanwise_lang::domain::{Table, TableSource};
use std::cell::RefCell;

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredDomain {
    name: String,
    type_system: Option<String>,
    source: String,
    pub(super) tables: Vec<StoredTable>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredTable {
    pub(super) path: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<(usize, Vec<String>)>,
}

impl StoredDomain {
    pub(crate) fn new(domain: &Domain) -> Self {
        let table = |(path, table): &(String, Table)| StoredTable {
            path: path.clone(),
            columns: table.columns.clone(),
            rows: table.rows.clone(),
        };
        Self {
            name: domain.name().to_owned(),
            type_system: domain.type_system().map(str::to_owned),
            source: domain.source().to_owned(),
            tables: domain.tables().iter().map(table).collect(),
        }
    }

    pub(super) fn load(&self, manifest: &str) -> Result<Domain, ModelError> {
        self.load_from(self, manifest)
    }

    /// The same without a copy of the tables, which may be most of a model.
    pub(super) fn into_domain(mut self, manifest: &str) -> Result<Domain, ModelError> {
        let tables = MovedTables(RefCell::new(std::mem::take(&mut self.tables)));
        self.load_from(&tables, manifest)
    }

    fn load_from(&self, tables: &dyn TableSource, manifest: &str) -> Result<Domain, ModelError> {
        let file = format!("{} (in {manifest})", self.name);
        Domain::load(&self.source, &file, self.type_system.as_deref(), tables)
            .map_err(|errors| ModelError::Domain { path: manifest.to_owned(), reason: errors.to_string() })
    }
}

fn no_table(path: &str) -> String {
    format!("the model has no table `{path}`")
}

/// Tables that are given away; a domain reads each of its tables once.
struct MovedTables(RefCell<Vec<StoredTable>>);

impl TableSource for MovedTables {
    fn read(&self, path: &str) -> Result<Table, String> {
        let mut tables = self.0.borrow_mut();
        let at = tables.iter().position(|table| table.path == path).ok_or_else(|| no_table(path))?;
        let StoredTable { columns, rows, .. } = tables.remove(at);
        Ok(Table { columns, rows })
    }
}

impl TableSource for StoredDomain {
    fn read(&self, path: &str) -> Result<Table, String> {
        let found = self.tables.iter().find(|table| table.path == path);
        let found = found.ok_or_else(|| no_table(path))?;
        Ok(Table { columns: found.columns.clone(), rows: found.rows.clone() })
    }
}
