//! Reads how things are said: `say` and `weight` of constants and classes, and `[say]`.

use super::At;
use super::values::FileReader;
use std::ops::Range;
use toml_edit::{Item, TableLike};

/// The largest weight. More is no different from leaving the others out.
const MAX_WEIGHT: f64 = 1_000_000.0;

/// How one constant or class is said, and how often.
#[derive(Clone, Debug)]
pub struct SayDecl {
    /// Its name: of a constant, of a class, or the head of a set.
    pub name: At<String>,
    /// Its texts: one list for all signatures, or one for each.
    pub texts: Vec<Vec<At<String>>>,
    /// Whether there is one list for each signature.
    pub is_by_signature: bool,
    /// How often it is drawn, compared with others.
    pub weight: Option<f64>,
}

/// All that a file says about how things are said.
#[derive(Clone, Debug, Default)]
pub struct SayDecls {
    /// Constants.
    pub constants: Vec<SayDecl>,
    /// Classes of predicates.
    pub predicates: Vec<SayDecl>,
    /// Classes of entities and of literals.
    pub classes: Vec<SayDecl>,
    /// Accumulators and sets.
    pub gathered: Vec<SayDecl>,
    /// Complete programs, by the name of a type.
    pub roots: Vec<(At<String>, Vec<At<String>>)>,
}

impl FileReader<'_> {
    pub(super) fn says(&mut self, top: &dyn TableLike) -> SayDecls {
        let mut decls = SayDecls { roots: self.phrase_table(top, "say"), ..SayDecls::default() };
        if let Some(table) = top.get("constants").and_then(Item::as_table_like) {
            for (key, item) in table.iter() {
                let name = At { value: key.to_owned(), range: self.key_range(table, key) };
                decls.constants.extend(item.as_table_like().and_then(|long| self.say(long, name)));
            }
        }
        decls.predicates = self.says_of(top, "predicates", "class");
        decls.classes = self.says_of(top, "entities", "class");
        decls.classes.extend(self.says_of(top, "literals", "class"));
        decls.gathered = self.says_of(top, "accumulators", "head");
        decls.gathered.extend(self.says_of(top, "sets", "head"));
        decls
    }

    fn says_of(&mut self, top: &dyn TableLike, key: &str, named: &str) -> Vec<SayDecl> {
        let tables = self.quiet_tables(top, key).into_iter();
        let said = tables.filter_map(|table| {
            let name = self.quiet_text(table, named)?;
            self.say(table, name)
        });
        said.collect()
    }

    /// The tables under a key. What is wrong with them is reported where their own keys are read.
    fn quiet_tables<'t>(&mut self, top: &'t dyn TableLike, key: &str) -> Vec<&'t dyn TableLike> {
        let n_problems = self.problems.len();
        let tables = self.tables(top, key);
        self.problems.truncate(n_problems);
        tables
    }

    fn quiet_text(&mut self, table: &dyn TableLike, key: &str) -> Option<At<String>> {
        let n_problems = self.problems.len();
        let text = self.text(table, key);
        self.problems.truncate(n_problems);
        text
    }

    fn say(&mut self, table: &dyn TableLike, name: At<String>) -> Option<SayDecl> {
        let weight = self.weight(table);
        let Some(item) = table.get("say") else {
            return weight.map(|_| SayDecl { name, texts: Vec::new(), is_by_signature: false, weight });
        };
        let lists = item.as_array().filter(|array| array.iter().any(toml_edit::Value::is_array));
        let texts = match lists {
            None => vec![self.text_list(item, "say")],
            Some(array) => {
                array.iter().map(|value| self.text_list(&Item::Value(value.clone()), "say")).collect()
            }
        };
        if let Some(empty) = texts.iter().position(Vec::is_empty).filter(|_| !self.is_reported(item)) {
            let which =
                if lists.is_some() { format!("list {} of `say`", empty + 1) } else { "`say`".to_owned() };
            self.problem(item, format!("{which} has no text"));
        }
        Some(SayDecl { name, texts, is_by_signature: lists.is_some(), weight })
    }

    /// Whether a problem inside the value is known.
    fn is_reported(&self, item: &Item) -> bool {
        let range: Range<usize> = item.span().unwrap_or(0..0);
        self.problems.iter().any(|problem| range.contains(&problem.range.start))
    }

    /// How often something is drawn: a number, 0 for never.
    fn weight(&mut self, table: &dyn TableLike) -> Option<f64> {
        let item = table.get("weight")?;
        let number = item.as_float().or_else(|| item.as_integer().map(|number| number as f64));
        let found = number.filter(|number| (0.0..=MAX_WEIGHT).contains(number));
        if found.is_none() {
            self.wrong(item, "weight", &format!("a number from 0 to {MAX_WEIGHT}"));
        }
        found
    }
}
