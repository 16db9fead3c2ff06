//! Counting and adding up by something: *number of orders per customer*, *average price by category*, *categories with the
//! highest average price*.

use super::values::AGGREGATES;
use super::{Rules, keys, strs, ty, value};
use crate::scaffold::attributes::{Attribute, Kind};
use crate::scaffold::nouns::NounKind;
use crate::scaffold::paths::{self, Path};

impl Rules<'_> {
    pub(super) fn groups(&mut self) {
        for place in 0..self.plan.nouns.len() {
            if self.noun(place).kind != NounKind::Rows {
                continue;
            }
            for path in self.paths[place].clone() {
                if self.is_group(&path) {
                    self.by(&path);
                }
            }
        }
        if self.language.has("number_of") {
            self.language.weight("number_of", 0.7);
            self.language.phrases("number_of", &["number of"]);
        }
        self.amounts_by();
        self.group_results();
    }

    /// Whether rows are counted by what a path leads to.
    pub(super) fn is_group(&self, path: &Path) -> bool {
        let end = self.noun(path.to);
        let is_plain = path.steps.iter().all(|step| !self.plan.links[step.link].has_role);
        let length = path.steps.len();
        let is_near = match end.kind {
            NounKind::Periods => length == 1,
            NounKind::Junction => false,
            NounKind::Values => length == 1 || path.is_functional() && length == 2,
            NounKind::Rows => length <= 2,
        };
        is_plain
            && is_near
            && (path.is_functional() || self.is_joined(path) && !path.steps[length - 1].is_down)
    }

    /// Rows, or values of rows, with the thing that they belong to as their key: *price per category*.
    pub(super) fn by(&mut self, path: &Path) {
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let name = format!("each_{}", end.name);
        let one = &end.one;
        let (key, group) = (paths::key(noun, "t0"), paths::key(end, &path.last()));
        let joins = path.joins(self.plan, "join");
        let mut say = vec![
            format!("{{1}} per {one}"),
            format!("{{1}} by {one}"),
            format!("{{1}} for each {one}"),
            format!("{{1}} in each {one}"),
            format!("{{1}} for every {one}"),
            format!("{{1}} of each {one}"),
        ];
        self.language.phrases(
            &name,
            &[&format!("per {one}"), &format!("each {one}"), &format!("by {one}"), &format!("every {one}")],
        );
        for kind in [Kind::Number, Kind::Money] {
            let own = ty(noun, kind.suffix());
            if !noun.attributes.iter().any(|attribute| attribute.kind == kind) {
                continue;
            }
            let rest = joins.strip_prefix(&format!("{} as t0", noun.source)).unwrap_or_default();
            let from = format!("({{1:value}}) as v join {} as t0 on {key} = v.key{rest}", noun.source);
            let grouped = self.grouped(path.to, kind.suffix());
            let sql = format!("select {group}, v.value from {from} where {group} is not null");
            self.language.add(&name, format!("{own}All -> {grouped}"), value(sql), &strs(&say));
            let can_lift = end.kind == NounKind::Rows && path.steps.len() == 1;
            if can_lift {
                self.lift(
                    path,
                    kind,
                    &format!("{group}, avg(v.value) from {from} group by {group}"),
                    "average",
                );
                if noun.attributes.iter().any(|attribute| attribute.kind == kind && attribute.is_additive) {
                    self.lift(
                        path,
                        kind,
                        &format!("{group}, sum(v.value) from {from} group by {group}"),
                        "total",
                    );
                }
            }
        }
        if end.is_person {
            say.extend([format!("{{1}} does each {one} have"), format!("{{1}} did each {one} have")]);
        } else {
            say.extend([
                format!("{{1}} are there in each {one}"),
                format!("{{1}} are in each {one}"),
                format!("{{1}} does each {one} have"),
            ]);
        }
        let rows = ty(noun, "Set");
        let grouped = self.grouped(path.to, "Rows");
        let sql = format!(
            "select distinct {group}, {key} from {joins} where {key} in ({{1}}) and {group} is not null"
        );
        self.language.add(&name, format!("{rows} -> {grouped}"), value(sql), &strs(&say));
        if end.kind == NounKind::Rows && path.steps.len() == 1 && !end.is_person {
            self.rated(path);
        }
        if end.kind == NounKind::Rows && path.steps.len() == 1 {
            let (all, _) = self.attribute_types(path.to, Kind::Number);
            let sql = format!(
                "select {group}, count(distinct {key}) from {joins} where {key} in ({{1}}) group by {group}"
            );
            self.language.add(
                "number_of",
                format!("{rows} -> {all}"),
                value(sql),
                &["number of {1}", "the number of {1}", "{1} count"],
            );
        }
    }

    /// *best rated products*, from the ratings of their reviews.
    pub(super) fn rated(&mut self, path: &Path) {
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let is_rating = |attribute: &&Attribute| {
            let degrees = attribute.degrees.is_some_and(|degrees| degrees.columns.contains(&"rating"));
            attribute.kind == Kind::Number && degrees
        };
        let Some(rating) = noun.attributes.iter().find(is_rating) else { return };
        let (rows, chosen) = (ty(end, "Set"), ty(end, "Best"));
        let (group, v) = (paths::key(end, &path.last()), paths::on(&rating.value, "t0"));
        let joins = path.joins(self.plan, "join");
        let averages =
            format!("{group} as key, avg({v}) as value from {joins} where {v} is not null group by {group}");
        for (name, order, words) in [
            ("best_rated", "desc", ["best rated", "highest rated", "top rated", "best reviewed"]),
            ("worst_rated", "asc", ["worst rated", "lowest rated", "least liked", "worst reviewed"]),
        ] {
            let best = format!(
                "select key from (select key, rank() over (order by value {order}) as place from (select {averages}) as r where key in ({{1}})) as s where place = 1"
            );
            let say: Vec<String> = words
                .iter()
                .flat_map(|word| [format!("the {word} {{1}}"), format!("{word} {{1}}")])
                .collect();
            self.language.add(name, format!("{rows} -> {chosen}"), keys(best), &strs(&say));
            let several = format!(
                "select key, row_number() over (order by value {order}, key) from (select {averages}) as r where key in ({{2}}) order by value {order}, key limit {{1:value}}"
            );
            let say: Vec<String> = words.iter().map(|word| format!("the {{1}} {word} {{2}}")).collect();
            self.language.add(name, format!("Whole, {rows} -> {chosen}"), super::rank(several), &strs(&say));
            self.language.phrases(name, &words);
        }
        self.language.contrast("best_rated", "worst_rated");
    }

    /// An attribute of what things belong to: *categories with the highest average price*.
    pub(super) fn lift(&mut self, path: &Path, kind: Kind, columns: &str, name: &str) {
        let own = ty(self.noun(path.from), kind.suffix());
        let (all, _) = self.attribute_types(path.to, kind);
        let say = [format!("{name} {{1}}"), format!("the {name} {{1}}")];
        self.language.add(name, format!("{own} -> {all}"), value(format!("select {columns}")), &strs(&say));
    }

    /// The type of values with what they belong to.
    pub(super) fn grouped(&mut self, place: usize, of: &str) -> String {
        let name = format!("{}In", ty(self.noun(place), of));
        self.language.ty(&name, &[]);
        name
    }

    /// Counts, sums and averages of groups.
    pub(super) fn group_results(&mut self) {
        for place in 0..self.plan.nouns.len() {
            let noun = self.noun(place);
            if self.language.has_type(&ty(noun, "RowsIn")) {
                let some = self.result_type(place, Kind::Number);
                let say = [
                    "the number of {1}",
                    "number of {1}",
                    "how many {1}",
                    "how many {1}",
                    "count of {1}",
                    "count {1}",
                    "how many {1} are there",
                ];
                let sql = value("select key, count(*) from ({1:value}) as v group by key");
                self.language.add("count", format!("{} -> {some}", ty(noun, "RowsIn")), sql, &say);
            }
            for kind in [Kind::Number, Kind::Money] {
                let grouped = format!("{}In", ty(noun, kind.suffix()));
                if !self.language.has_type(&grouped) {
                    continue;
                }
                let some = self.result_type(place, kind);
                for (name, function, words) in AGGREGATES {
                    let say: Vec<String> = words
                        .iter()
                        .flat_map(|word| [format!("the {word} {{1}}"), format!("{word} {{1}}")])
                        .collect();
                    let sql =
                        value(format!("select key, {function}(value) from ({{1:value}}) as v group by key"));
                    self.language.add(name, format!("{grouped} -> {some}"), sql, &strs(&say));
                }
            }
        }
    }

    /// The type of values by a noun; periods have no attributes of their own.
    pub(super) fn result_type(&mut self, place: usize, kind: Kind) -> String {
        let noun = self.noun(place);
        if noun.kind == NounKind::Rows {
            return self.attribute_types(place, kind).1;
        }
        let some = format!("{}Of", ty(noun, kind.suffix()));
        if !self.language.has_type(&some) {
            self.language.ty(&some, &[]);
            self.language.root(&some);
            self.language.show.push((some.clone(), super::sets::show(noun)));
            let say =
                ["{}", "what is {}", "show me {}", "{}"].iter().map(|text| (*text).to_owned()).collect();
            self.language.say.push((some.clone(), say));
        }
        some
    }

    /// *revenue per category*, *revenue by month*.
    pub(super) fn amounts_by(&mut self) {
        for (place, amount) in self.amounts.clone() {
            for path in self.paths[place].clone() {
                let end = self.noun(path.to);
                let is_plain = path.steps.iter().all(|step| !self.plan.links[step.link].has_role);
                if !path.is_functional()
                    || !is_plain
                    || end.kind == NounKind::Junction
                    || (end.kind == NounKind::Values && path.steps.len() > 2)
                {
                    continue;
                }
                let some = self.result_type(path.to, Kind::Money);
                let each = ty(end, "Each");
                let one = &end.one;
                let group = paths::key(end, &path.last());
                let name = format!("each_{}", end.name);
                self.language.ty(&each, &[]);
                let say = [
                    format!("per {one}"),
                    format!("by {one}"),
                    format!("for each {one}"),
                    format!("of each {one}"),
                    format!("for every {one}"),
                ];
                let key = paths::key(end, "t0");
                self.language.add(
                    &name,
                    format!("-> {each}"),
                    keys(format!("select {key} from {} as t0", end.source)),
                    &strs(&say),
                );
                self.language
                    .phrases(&name, &[&format!("per {one}"), &format!("each {one}"), &format!("by {one}")]);
                let sql = format!(
                    "select {group}, sum({amount}) from {} where {group} in ({{1}}) group by {group}",
                    path.joins(self.plan, "join")
                );
                let say =
                    ["revenue {1}", "total revenue {1}", "sales {1}", "the revenue {1}", "total sales {1}"];
                self.language.add("amount", format!("{each} -> {some}"), value(sql), &say);
            }
        }
    }
}
