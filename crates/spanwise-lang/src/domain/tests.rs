//! What a domain costs when its tables are large.

use super::*;

/// A table of made-up names.
struct Names(usize);

impl TableSource for Names {
    fn read(&self, _path: &str) -> Result<Table, String> {
        let rows = (0..self.0).map(|id| (id + 1, vec![format!("band {id}")])).collect();
        Ok(Table { columns: vec!["name".to_owned()], rows })
    }
}

fn bands(n: usize) -> Domain {
    let source = r#"
        name = "music"
        types = ["Band", "Number"]
        root = { types = ["Number"] }
        constants = { n_albums = "Band -> Number" }
        [[entities]]
        class = "band"
        type = "Band"
        form = "bandid('{name}')"
        table = "bands.tsv"
    "#;
    Domain::load(source, "music.toml", None, &Names(n)).unwrap()
}

#[test]
fn a_store_for_an_utterance_copies_nothing_of_the_domain() {
    let domain = bands(1_000);
    let (one, mut two) = (domain.new_terms(), domain.new_terms());
    assert!(one.len() > 2_000);
    assert!(one.copies_nothing_of(&domain.base) && two.copies_nothing_of(&domain.base));
    // What an utterance adds is in its own store only.
    let known = two.parse("n_albums(bandid('band 7'))").unwrap();
    let new = two.parse("n_albums(bandid('band 1000'))").unwrap();
    assert!(domain.analyze(&two, known).is_ok() && domain.analyze(&two, new).is_err());
    assert!(!two.copies_nothing_of(&domain.base) && one.copies_nothing_of(&domain.base));
}

#[test]
fn predicates_come_before_entities() {
    let domain = bands(3);
    let names: Vec<&str> = domain.predicates().map(|(_, constant)| constant.name.as_str()).collect();
    assert_eq!(names, ["n_albums"]);
    let is_predicate = |constant: &Constant| constant.kind == Kind::Predicate;
    assert_eq!(domain.constants().iter().filter(|it| is_predicate(it)).count(), domain.predicates().count());
}
