//! Data from the GeoQuery release for the domain `geo`: facts about US geography, and phrases for annotation.
//!
//! The data is in a crate of its own because of its license, GPL-2.0. A table is tab-separated with a header line;
//! the items of a list within a cell are separated by `|`.

/// The phrases with which GeoQuery's training questions express each predicate, as an annotation file.
pub const ANNOTATION: &str = include_str!("../annotation.toml");

/// The text of a table of facts, by its path in this crate.
///
/// ```
/// let rivers = spanwise_geobase::table("facts/rivers.tsv").unwrap();
/// assert!(rivers.starts_with("name\tlength\tstates\nmississippi\t3778\t"));
/// assert_eq!(spanwise_geobase::table("facts/seas.tsv"), None);
/// ```
#[must_use]
pub fn table(path: &str) -> Option<&'static str> {
    Some(match path {
        "facts/borders.tsv" => include_str!("../facts/borders.tsv"),
        "facts/cities.tsv" => include_str!("../facts/cities.tsv"),
        "facts/highlow.tsv" => include_str!("../facts/highlow.tsv"),
        "facts/lakes.tsv" => include_str!("../facts/lakes.tsv"),
        "facts/rivers.tsv" => include_str!("../facts/rivers.tsv"),
        "facts/states.tsv" => include_str!("../facts/states.tsv"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_there_and_has_no_ragged_row() {
        let tables = [
            ("borders", 51),
            ("cities", 386),
            ("highlow", 51),
            ("lakes", 22),
            ("rivers", 46),
            ("states", 51),
        ];
        for (name, n_rows) in tables {
            let text = table(&format!("facts/{name}.tsv")).unwrap();
            let widths: Vec<usize> = text.lines().map(|line| line.split('\t').count()).collect();
            assert_eq!(widths.len(), n_rows + 1, "{name}");
            assert!(widths.iter().all(|width| *width == widths[0]), "{name}");
            assert!(
                text.lines().all(|line| line == line.trim()),
                "{name}: a line starts or ends with a blank"
            );
        }
    }
}
