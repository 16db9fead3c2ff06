//! What differs between two versions of an entity table, row by row.

use spanwise_lang::Table;
use std::collections::{BTreeMap, BTreeSet};

/// The rows that one version of a table has and another has not, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableChange {
    /// Names that are new.
    pub added: Vec<String>,
    /// Names that are gone.
    pub dropped: Vec<String>,
    /// Names that both have, with other cells.
    pub changed: Vec<String>,
}

impl TableChange {
    /// Compares two versions of a table. The order of rows and columns does not matter, nor do empty cells. A row is named
    /// by its cell in the column `name`, or by its first cell. Cost: sorting the cells.
    ///
    /// ```
    /// use spanwise_domains::table_change::TableChange;
    /// use spanwise_lang::Table;
    ///
    /// let table = |names: &[&str]| Table {
    ///     columns: vec!["name".to_owned()],
    ///     rows: names.iter().map(|name| (0, vec![(*name).to_owned()])).collect(),
    /// };
    /// let change = TableChange::new(&table(&["desk", "hall"]), &table(&["hall", "porch"]));
    /// assert_eq!((change.added, change.dropped), (vec!["porch".to_owned()], vec!["desk".to_owned()]));
    /// assert!(change.changed.is_empty());
    /// ```
    #[must_use]
    pub fn new(old: &Table, new: &Table) -> Self {
        let (old, new) = (by_name(old), by_name(new));
        let mut change = Self::default();
        for (name, rows) in &new {
            match old.get(name) {
                None => change.added.push((*name).to_owned()),
                Some(before) if before != rows => change.changed.push((*name).to_owned()),
                Some(_) => {}
            }
        }
        change.dropped =
            old.keys().filter(|name| !new.contains_key(*name)).map(|&name| name.to_owned()).collect();
        change
    }

    /// Whether both versions have the same rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.dropped.is_empty() && self.changed.is_empty()
    }
}

/// The filled cells of a row, by column.
type Cells<'a> = BTreeMap<&'a str, &'a str>;

/// The rows of each name.
fn by_name(table: &Table) -> BTreeMap<&str, BTreeSet<Cells<'_>>> {
    let place = table.columns.iter().position(|column| column == "name").unwrap_or(0);
    let mut found: BTreeMap<&str, BTreeSet<Cells<'_>>> = BTreeMap::new();
    for (_, row) in &table.rows {
        let cells = table.columns.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
        let cells = cells.map(|(column, cell)| (column.as_str(), cell.as_str())).collect();
        found.entry(row.get(place).map_or("", String::as_str)).or_default().insert(cells);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(columns: &[&str], rows: &[&[&str]]) -> Table {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
        Table {
            columns: owned(columns),
            rows: rows.iter().enumerate().map(|(at, row)| (at, owned(row))).collect(),
        }
    }

    #[test]
    fn rows_are_compared_by_name_and_cells_whatever_their_order() {
        let old = table(&["code", "name"], &[&["1", "desk"], &["2", "hall"], &["3", "porch"]]);
        let new = table(
            &["name", "code", "aliases"],
            &[&["attic", "4", ""], &["hall", "2", ""], &["desk", "1", "x"]],
        );
        let change = TableChange::new(&old, &new);
        assert_eq!(change.added, ["attic"]);
        assert_eq!(change.dropped, ["porch"]);
        assert_eq!(change.changed, ["desk"]);
        assert!(!change.is_empty() && TableChange::new(&new, &new).is_empty());
        // Without a column `name`, the first cell is the name.
        let change = TableChange::new(&table(&["code"], &[&["1"]]), &table(&["code"], &[&["2"]]));
        assert_eq!((change.added, change.dropped), (vec!["2".to_owned()], vec!["1".to_owned()]));
    }

    proptest! {
        #[test]
        fn what_one_direction_adds_the_other_drops(
            old in prop::collection::vec((0u8..6, 0u8..3), 0..8),
            new in prop::collection::vec((0u8..6, 0u8..3), 0..8),
        ) {
            let made = |rows: &[(u8, u8)]| Table {
                columns: vec!["name".to_owned(), "size".to_owned()],
                rows: rows.iter().map(|(name, size)| (0, vec![name.to_string(), size.to_string()])).collect(),
            };
            let there = TableChange::new(&made(&old), &made(&new));
            let back = TableChange::new(&made(&new), &made(&old));
            prop_assert_eq!(&there.added, &back.dropped);
            prop_assert_eq!(&there.dropped, &back.added);
            prop_assert_eq!(&there.changed, &back.changed);
            // The twin looks at every name by itself.
            let rows = |all: &[(u8, u8)], name: u8| -> BTreeSet<u8> {
                all.iter().filter(|row| row.0 == name).map(|row| row.1).collect()
            };
            for name in 0..6 {
                let (was, is) = (rows(&old, name), rows(&new, name));
                let text = name.to_string();
                prop_assert_eq!(there.added.contains(&text), was.is_empty() && !is.is_empty());
                prop_assert_eq!(there.dropped.contains(&text), !was.is_empty() && is.is_empty());
                prop_assert_eq!(there.changed.contains(&text), !was.is_empty() && !is.is_empty() && was != is);
            }
        }
    }
}
