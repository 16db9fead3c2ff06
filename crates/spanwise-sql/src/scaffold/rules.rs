//! The words, types and fragments for all that can be asked about the nouns of a plan.
//!
//! For a noun `Order` there are these types: `OrderRows` (some orders), `OrderOne` (one by its name), `OrderAny` (both), `OrderFilter`
//! (what narrows orders) and `OrderFilters` (several of them), `OrderKind` (what is said before the noun: *paid*), `OrderMoney`,
//! `OrderNumber`, `OrderDate` and `OrderText` (an attribute of all orders), `OrderRanked` (one that has an order), `OrderMoneyOf` and so on (the
//! values of some orders), and `OrderEach` (a group for each order).

mod amounts;
mod comparisons;
mod events;
mod groups;
mod relations;
mod roles;
mod sets;
mod states;
mod superlatives;
mod values;

use super::language::{Language, Sql};
use super::nouns::{Noun, NounKind, Plan};
use super::paths::Path;

/// Constants of the rules. Nouns and attributes with such a name get another one.
const RESERVED: &[&str] = &[
    "count",
    "any",
    "not",
    "or",
    "over",
    "under",
    "at_least",
    "at_most",
    "between",
    "after",
    "before",
    "since",
    "until",
    "in",
    "on",
    "contains",
    "containing",
    "handled",
    "overdue",
    "best_rated",
    "worst_rated",
    "in_stock",
    "out_of_stock",
    "is",
    "missing",
    "known",
    "average",
    "total",
    "lowest_value",
    "highest_value",
    "sorted_up",
    "sorted_down",
    "top",
    "bottom",
    "highest",
    "lowest",
    "above_average",
    "below_average",
    "latest",
    "earliest",
    "of",
    "with",
    "without",
    "most",
    "fewest",
    "more_than",
    "fewer_than",
    "number_of",
    "money",
    "number",
    "whole",
    "period",
    "quoted",
    "exactly",
    "also",
];

/// Everything that is said about a plan.
pub(super) struct Rules<'a> {
    plan: &'a Plan,
    language: Language,
    /// For each noun, whether something narrows it, and whether that can be said before it.
    has_filters: Vec<bool>,
    has_kinds: Vec<bool>,
    /// For each noun, whether it need not be said: *helmets* are products.
    is_implicit: Vec<bool>,
    /// Nouns whose rows have an amount of money that adds up, with its expression for `t0`.
    amounts: Vec<(usize, String)>,
    /// The shortest ways from each noun.
    paths: Vec<Vec<Path>>,
}

/// The language of a plan.
pub(super) fn language(plan: &Plan) -> Language {
    let count = plan.nouns.len();
    let paths = (0..count).map(|noun| super::paths::from(plan, noun, 3)).collect();
    let mut rules = Rules {
        plan,
        language: Language::default(),
        has_filters: vec![false; count],
        has_kinds: vec![false; count],
        is_implicit: vec![false; count],
        amounts: Vec::new(),
        paths,
    };
    rules.nouns();
    rules.attributes();
    rules.relations();
    rules.amounts();
    rules.groups();
    rules.sets();
    rules.contrasts();
    rules.language.finish();
    rules.language
}

/// Whether a noun can be asked for.
fn is_asked(noun: &Noun) -> bool {
    matches!(noun.kind, NounKind::Rows | NounKind::Values)
}

/// A type of a noun.
fn ty(noun: &Noun, suffix: &str) -> String {
    format!("{}{suffix}", noun.ty)
}

/// The name of a constant that no rule uses.
fn free(name: &str) -> String {
    let is_taken = RESERVED.contains(&name)
        || [
            "named_", "by_", "each_", "most_", "least_", "all_", "ever_", "never_", "over_", "under_",
            "not_", "already_", "no_",
        ]
        .iter()
        .any(|start| name.starts_with(start));
    if is_taken { format!("{name}_") } else { name.to_owned() }
}

fn keys(sql: impl Into<String>) -> Sql {
    Sql::Keys(sql.into())
}

fn value(sql: impl Into<String>) -> Sql {
    Sql::Value(sql.into())
}

fn rank(sql: impl Into<String>) -> Sql {
    Sql::Rank(sql.into())
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

impl<'a> Rules<'a> {
    /// Adds a signature whose result narrows a noun.
    fn filter(&mut self, noun: usize, name: &str, slots: &str, sql: Sql, say: &[&str]) {
        self.has_filters[noun] = true;
        let result = ty(&self.plan.nouns[noun], "Filter");
        let signature =
            if slots.is_empty() { format!("-> {result}") } else { format!("{slots} -> {result}") };
        self.language.add(name, signature, sql, say);
    }

    /// The type for narrowing a noun before it is said, and a note that it is used.
    fn kind(&mut self, noun: usize) -> String {
        self.has_kinds[noun] = true;
        ty(&self.plan.nouns[noun], "Kind")
    }

    fn noun(&self, place: usize) -> &'a Noun {
        &self.plan.nouns[place]
    }

    fn contrasts(&mut self) {
        for (one, other) in [
            ("over", "under"),
            ("at_least", "at_most"),
            ("after", "before"),
            ("since", "until"),
            ("with", "without"),
            ("most", "fewest"),
            ("highest", "lowest"),
            ("sorted_up", "sorted_down"),
            ("highest_value", "lowest_value"),
            ("above_average", "below_average"),
            ("known", "missing"),
            ("latest", "earliest"),
        ] {
            if self.language.has(one) && self.language.has(other) {
                self.language.contrast(one, other);
            }
        }
    }
}
