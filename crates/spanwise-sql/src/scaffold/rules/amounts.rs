//! What adds up along references: the revenue of a product, what a customer spent.

use super::{Rules, keys, strs, ty, value};
use crate::scaffold::attributes::Kind;
use crate::scaffold::names;
use crate::scaffold::nouns::NounKind;
use crate::scaffold::paths;

impl Rules<'_> {
    /// Amounts of money of parts: quantity times price, or a column with an amount. They add up for what the parts belong to.
    pub(super) fn amounts(&mut self) {
        for place in 0..self.plan.nouns.len() {
            let Some(amount) = self.amount_of(place) else { continue };
            let is_event = super::events::verb(&self.noun(place).one).is_some()
                || self.noun(place).one.contains("payment");
            if is_event {
                self.amount(place, &amount);
                self.amounts.push((place, amount));
            }
        }
        if !self.amounts.is_empty() {
            self.language.phrases("amount", &["revenue", "sales"]);
            self.of_types();
        }
    }

    /// The amount of a row, as an expression of `t0`.
    pub(super) fn amount_of(&self, place: usize) -> Option<String> {
        let noun = self.noun(place);
        if noun.kind != NounKind::Rows {
            return None;
        }
        let find = |words: &[&str], kind: Kind| {
            noun.attributes.iter().find(|attribute| {
                attribute.kind == kind
                    && names::words(&attribute.text).iter().any(|word| words.contains(&word.as_str()))
            })
        };
        let quantity = find(&["quantity", "units", "pieces"], Kind::Number);
        let price = find(&["price"], Kind::Money);
        if let (Some(quantity), Some(price)) = (quantity, price) {
            return Some(format!("{} * {}", paths::on(&quantity.value, "t0"), paths::on(&price.value, "t0")));
        }
        let amount = find(&["amount", "total", "revenue", "paid"], Kind::Money)?;
        Some(paths::on(&amount.value, "t0"))
    }

    pub(super) fn amount(&mut self, place: usize, amount: &str) {
        let plan = self.plan;
        let all = format!("select coalesce(sum({amount}), 0) from {} as t0", plan.nouns[place].source);
        let say = [
            "the total revenue",
            "total revenue",
            "the revenue",
            "revenue",
            "total sales",
            "how much did we sell",
            "how much revenue did we make",
        ];
        self.language.add("amount", "-> Figure", keys(all), &say);
        for path in self.paths[place].clone() {
            let end = &plan.nouns[path.to];
            let is_plain = path.steps.iter().all(|step| !plan.links[step.link].has_role);
            if !path.is_functional() || !is_plain || end.kind != NounKind::Rows {
                continue;
            }
            let (all, some) = self.attribute_types(path.to, Kind::Money);
            let key = paths::key(end, &path.last());
            let joins = path.joins(plan, "join");
            let sum = format!("select {key}, sum({amount}) from {joins}");
            let mut nouns = vec!["revenue", "sales", "total sales", "total revenue"];
            let mut asked: Vec<&str> = vec![
                "how much revenue did {1} make",
                "how much did we sell of {1}",
                "how much money did {1} bring in",
            ];
            let is_direct = path.steps.len() == 1;
            let is_staff = is_staff(end);
            if end.is_person && !is_staff {
                nouns = vec!["spending", "total spending", "revenue", "total spent"];
                asked = vec![
                    "how much did {1} spend",
                    "how much has {1} spent",
                    "how much money did {1} spend",
                    "what did {1} spend in total",
                ];
            } else if is_direct && super::events::verb(&end.one).is_some() {
                nouns = vec!["total", "value", "amount", "total value", "total price"];
                asked = vec!["how much was {1}", "what is the total of {1}", "how much is {1}"];
            }
            self.language.add("amount", format!("-> {all}"), value(format!("{sum} group by {key}")), &nouns);
            let of: Vec<String> = nouns
                .iter()
                .flat_map(|text| {
                    [
                        format!("the {text} of {{1}}"),
                        format!("{text} of {{1}}"),
                        format!("{text} from {{1}}"),
                        format!("{{1}} {text}"),
                    ]
                })
                .collect();
            let say: Vec<&str> = of.iter().map(String::as_str).chain(asked).collect();
            let any = ty(end, "Any");
            self.language.add(
                "amount",
                format!("{any} -> {some}"),
                value(format!("{sum} where {key} in ({{1}}) group by {key}")),
                &say,
            );
            self.language.phrases("amount", &nouns[..2.min(nouns.len())]);
            self.extremes(
                path.to,
                &format!("{sum} where {key} in ({{1}}) group by {key}"),
                &format!("{sum} where {key} in ({{2}}) group by {key}"),
            );
            self.in_period(&path, amount);
            let has_own = end.attributes.iter().any(|attribute| attribute.kind == Kind::Money);
            if !has_own {
                self.bare_amount(path.to, &format!("{sum} group by {key}"));
            }
        }
    }

    /// *orders over $100*, *customers who spent more than $100*.
    pub(super) fn bare_amount(&mut self, place: usize, sums: &str) {
        let noun = self.noun(place);
        let is_buyer = noun.is_person && !is_staff(noun);
        let sums = named(sums);
        for (name, operator, words) in [
            ("over", ">", ["over", "more than", "above"]),
            ("under", "<", ["under", "less than", "below"]),
            ("at_least", ">=", ["at least", "no less than", "at least"]),
            ("at_most", "<=", ["at most", "no more than", "up to"]),
        ] {
            let sql = format!("select key from ({sums}) as v where value {operator} {{1:number}}");
            let say: Vec<String> = if is_buyer {
                words
                    .iter()
                    .flat_map(|word| {
                        [
                            format!("who spent {word} {{1}}"),
                            format!("spent {word} {{1}}"),
                            format!("who have spent {word} {{1}}"),
                        ]
                    })
                    .collect()
            } else {
                words
                    .iter()
                    .flat_map(|word| {
                        [format!("{word} {{1}}"), format!("worth {word} {{1}}"), format!("of {word} {{1}}")]
                    })
                    .collect()
            };
            self.filter(place, name, "Money", keys(sql), &strs(&say));
        }
    }

    /// Whether amounts add up for a noun.
    pub(super) fn has_amount(&self, place: usize) -> bool {
        let of = |from: usize| {
            from == place || self.paths[from].iter().any(|path| path.to == place && path.is_functional())
        };
        self.amounts.iter().any(|(from, _)| of(*from))
    }

    /// *who spent the most*, *best selling products*.
    pub(super) fn extremes(&mut self, place: usize, of_one: &str, of_two: &str) {
        let noun = self.noun(place);
        let (rows, chosen) = (ty(noun, "Set"), ty(noun, "Best"));
        let is_buyer = noun.is_person && !is_staff(noun);
        let words: [&[&str]; 2] = if is_buyer {
            [
                &[
                    "{1} who spent the most",
                    "{1} who spent the most money",
                    "{1} spent the most",
                    "the biggest spending {1}",
                    "the best {1}",
                ],
                &["{1} who spent the least", "{1} spent the least"],
            ]
        } else if super::events::verb(&noun.one).is_some() {
            [
                &["the largest {1}", "the biggest {1}", "the most expensive {1}", "the most valuable {1}"],
                &["the smallest {1}", "the cheapest {1}"],
            ]
        } else {
            [
                &[
                    "the best selling {1}",
                    "best selling {1}",
                    "{1} that sold the most",
                    "{1} sold the most",
                    "{1} who sold the most",
                    "{1} that made the most money",
                    "top selling {1}",
                ],
                &["the worst selling {1}", "{1} that sold the least", "worst selling {1}"],
            ]
        };
        for (name, order, texts) in [("most_amount", "desc", words[0]), ("least_amount", "asc", words[1])] {
            let best = format!(
                "select key from (select key, rank() over (order by value {order}) as place from ({}) as v where value is not null) as s where place = 1",
                named(of_one)
            );
            self.language.add(name, format!("{rows} -> {chosen}"), keys(best), texts);
            let several = format!(
                "select key, row_number() over (order by value {order}, key) from ({}) as v where value is not null order by value {order}, key limit {{1:value}}",
                named(of_two)
            );
            let say: Vec<String> = texts
                .iter()
                .map(|text| {
                    let text = text.trim_start_matches("the ").replace("{1}", "{2}");
                    format!("the {{1}} {text}")
                })
                .collect();
            self.language.add(name, format!("Whole, {rows} -> {chosen}"), super::rank(several), &strs(&say));
        }
        let (most, least) = if is_buyer {
            (["spent the most"], ["spent the least"])
        } else if super::events::verb(&noun.one).is_some() {
            (["largest"], ["smallest"])
        } else {
            (["best selling"], ["worst selling"])
        };
        self.language.phrases("most_amount", &most);
        self.language.phrases("least_amount", &least);
        self.language.contrast("most_amount", "least_amount");
    }

    /// *revenue in 2024*, by the day of what the parts belong to.
    pub(super) fn in_period(&mut self, path: &paths::Path, amount: &str) {
        let end = self.noun(path.to);
        let date = end.attributes.iter().find(|attribute| attribute.kind == Kind::Date && attribute.is_main);
        let Some(date) = date.filter(|_| super::events::verb(&end.one).is_some()) else { return };
        let v = paths::on(&date.value, &path.last());
        let sql = format!(
            "select coalesce(sum({amount}), 0) from {} where {v} >= {{1:begin}} and {v} < {{1:end}}",
            path.joins(self.plan, "join")
        );
        let say = [
            "the revenue in {1}",
            "revenue in {1}",
            "total revenue in {1}",
            "sales in {1}",
            "how much did we sell in {1}",
            "total sales in {1}",
            "revenue of {1}",
            "revenue for {1}",
        ];
        self.language.add("amount", "Period -> Figure", keys(sql), &say);
    }
}

/// Whether a noun names those who sell, and do not buy.
fn is_staff(noun: &crate::scaffold::nouns::Noun) -> bool {
    noun.one.split(' ').any(|word| crate::scaffold::english::STAFF.contains(&word))
}

/// A statement with the names `key` and `value` for its columns.
fn named(sql: &str) -> String {
    // The columns of `select a, sum(b) from ..` get names; a key may have commas, the sum is the last column.
    let at = sql.find(", sum(").unwrap_or(0);
    let from = sql[at..].find(" from ").map_or(sql.len(), |place| at + place);
    format!("{} as key{} as value{}", &sql[..at], &sql[at..from], &sql[from..])
}
