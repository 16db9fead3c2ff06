//! Superlatives and order: *cheapest*, *the 5 heaviest*, *latest*, *highest*, *sorted by*.

use super::{Rules, keys, rank, strs, ty};
use crate::scaffold::attributes::{Attribute, Kind};
use crate::scaffold::english;
use crate::scaffold::nouns::Noun;
use crate::scaffold::paths;

impl Rules<'_> {
    /// *cheapest products*, *the 5 heaviest products*, *latest orders*.
    pub(super) fn superlatives(&mut self, place: usize, attribute: &Attribute) {
        let (mut most, mut least): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let (mut most_after, mut least_after): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        if let Some(degrees) = attribute.degrees {
            let after = english::AFTER.iter().find(|(word, ..)| degrees.columns.contains(word));
            if let Some((_, more, less)) =
                after.filter(|_| attribute.is_main || attribute.kind == Kind::Number)
            {
                most_after.extend(*more);
                least_after.extend(*less);
            }
            most.extend(degrees.most.iter().map(|text| (*text).to_owned()));
            least.extend(degrees.least.iter().map(|text| (*text).to_owned()));
        }
        let mut names = (format!("most_{}", attribute.name), format!("least_{}", attribute.name));
        if let Some(happened) = &attribute.happened {
            if happened == "born" {
                most.push("youngest".to_owned());
                least.push("oldest".to_owned());
            } else {
                most.extend([
                    format!("most recently {happened}"),
                    format!("last {happened}"),
                    format!("newest {happened}"),
                ]);
                least.extend([format!("first {happened}"), format!("earliest {happened}")]);
            }
        }
        if !most.is_empty() {
            self.superlative(place, attribute, &names.0, "desc", (&most, &most_after));
            self.superlative(place, attribute, &names.1, "asc", (&least, &least_after));
            self.language.contrast(&names.0, &names.1);
        }
        if attribute.kind == Kind::Date && attribute.is_main {
            names = ("latest".to_owned(), "earliest".to_owned());
            let latest = ["latest", "most recent", "newest", "last"].map(str::to_owned);
            let earliest = ["earliest", "oldest", "first"].map(str::to_owned);
            let is_birth = attribute.happened.as_deref() == Some("born");
            if !is_birth {
                self.superlative(place, attribute, &names.0, "desc", (&latest, &[]));
                self.superlative(place, attribute, &names.1, "asc", (&earliest, &[]));
            }
        }
    }

    /// One superlative: its words before the noun, and after it.
    pub(super) fn superlative(
        &mut self,
        place: usize,
        attribute: &Attribute,
        name: &str,
        order: &str,
        (words, after): (&[String], &[&str]),
    ) {
        let noun = self.noun(place);
        let (rows, chosen) = (ty(noun, "Set"), ty(noun, "Best"));
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        let best = format!(
            "select key from (select {key} as key, rank() over (order by {v} {order}) as place from {} as t0 where {key} in ({{1}}) and {v} is not null) as s where place = 1",
            noun.source
        );
        let say: Vec<String> = words
            .iter()
            .flat_map(|word| {
                [
                    format!("the {word} {{1}}"),
                    format!("{word} {{1}}"),
                    format!("{{1}} is the {word}"),
                    format!("{{1}} are the {word}"),
                ]
            })
            .chain(after.iter().map(|text| format!("{{1}} {text}")))
            .collect();
        self.language.add(name, format!("{rows} -> {chosen}"), keys(best), &strs(&say));
        let several = format!(
            "select {key}, row_number() over (order by {v} {order}, {key}) from {} as t0 where {key} in ({{2}}) and {v} is not null order by {v} {order}, {key} limit {{1:value}}",
            noun.source
        );
        let say: Vec<String> = words
            .iter()
            .flat_map(|word| {
                [
                    format!("the {{1}} {word} {{2}}"),
                    format!("{{1}} {word} {{2}}"),
                    format!("top {{1}} {word} {{2}}"),
                ]
            })
            .collect();
        self.language.add(name, format!("Whole, {rows} -> {chosen}"), rank(several), &strs(&say));
        self.language.phrases(name, &strs(words));
        self.language.phrases(name, after);
    }

    /// *highest*, *top 5 by*, *sorted by*.
    pub(super) fn ranked(&mut self, place: usize) {
        let noun: &Noun = self.noun(place);
        let (ranked, rows, chosen) = (ty(noun, "Ranked"), ty(noun, "Set"), ty(noun, "Best"));
        for (name, order, words) in [
            ("highest", "desc", ["highest", "largest", "most", "greatest"]),
            ("lowest", "asc", ["lowest", "smallest", "least", "lowest"]),
        ] {
            let sql = format!(
                "select key from (select key, rank() over (order by value {order}) as place from ({{1:value}}) as v where key in ({{2}})) as s where place = 1"
            );
            let say: Vec<String> = words
                .iter()
                .flat_map(|word| {
                    [
                        format!("{{2}} with the {word} {{1}}"),
                        format!("the {{2}} with the {word} {{1}}"),
                        format!("{{2}} that have the {word} {{1}}"),
                        format!("{{2}} has the {word} {{1}}"),
                        format!("{{2}} have the {word} {{1}}"),
                    ]
                })
                .collect();
            self.language.add(name, format!("{ranked}, {rows} -> {chosen}"), keys(sql), &strs(&say));
            self.language.phrases(name, &words[..3]);
        }
        let sql = "select key, row_number() over (order by value desc, key) from ({2:value}) as v where key in ({3}) \
                   order by value desc, key limit {1:value}";
        let say = [
            "the {1} {3} with the highest {2}",
            "{1} {3} with the highest {2}",
            "the {1} {3} with the largest {2}",
            "the {1} {3} with the most {2}",
            "top {1} {3} by {2}",
            "top {1} {3} by {2}",
            "the top {1} {3} by {2}",
            "top {1} {3} with the highest {2}",
        ];
        self.language.add("top", format!("Whole, {ranked}, {rows} -> {chosen}"), rank(sql), &say);
        self.language.weight("top", 2.0);
        self.language.phrases("top", &["top", "highest", "largest", "most"]);
        for (name, order, words) in [
            (
                "sorted_up",
                "asc",
                [
                    "{2} sorted by {1}",
                    "{2} ordered by {1}",
                    "{2} by {1}",
                    "{2} in order of {1}",
                    "{2} sorted by {1} ascending",
                    "{2} sorted by increasing {1}",
                    "{2} from lowest to highest {1}",
                ],
            ),
            (
                "sorted_down",
                "desc",
                [
                    "{2} sorted by {1} descending",
                    "{2} ordered by {1} descending",
                    "{2} by descending {1}",
                    "{2} from highest to lowest {1}",
                    "{2} sorted by decreasing {1}",
                    "{2} sorted by {1} from high to low",
                    "{2} ranked by {1}",
                ],
            ),
        ] {
            let sql = format!(
                "select key, row_number() over (order by value {order}, key) from ({{1:value}}) as v where key in ({{2}})"
            );
            self.language.add(name, format!("{ranked}, {rows} -> {chosen}"), rank(sql), &words);
            self.language.weight(name, 0.5);
        }
        self.language.phrases("sorted_up", &["sorted by", "ordered by", "ascending"]);
        self.language.phrases("sorted_down", &["descending", "ranked by"]);
    }
}
