//! Counting and adding up by something: *number of orders per customer*, *average price by category*, *categories with the
//! highest average price*.

use super::values::AGGREGATES;
use super::{Rules, strs, ty, value};
use crate::scaffold::attributes::Kind;
use crate::scaffold::nouns::NounKind;
use crate::scaffold::paths::{self, Path};

impl Rules<'_> {
    pub(super) fn groups(&mut self) {
        for place in 0..self.plan.nouns.len() {
            if self.noun(place).kind != NounKind::Rows {
                continue;
            }
            for path in self.paths[place].clone() {
                let is_plain = path.steps.iter().all(|step| !self.plan.links[step.link].has_role);
                let end = self.noun(path.to);
                let is_fit = path.is_functional()
                    || (path.steps.len() == 2
                        && path.steps[0].is_down
                        && self.noun(path.nouns(self.plan)[1]).kind == NounKind::Junction);
                if is_plain
                    && is_fit
                    && end.kind != NounKind::Junction
                    && (end.kind != NounKind::Periods || path.steps.len() <= 2)
                {
                    self.by(&path);
                }
            }
        }
        self.language.weight("number_of", 0.7);
        if self.language.has("amount") {
            self.amounts_by();
        }
    }

    /// A group for each row of a noun.
    fn each(&mut self, place: usize) -> String {
        let noun = self.noun(place);
        let each = ty(noun, "Each");
        if !self.language.has_type(&each) {
            self.language.ty(&each, &[]);
            let one = &noun.one;
            let name = format!("each_{}", noun.name);
            let key = paths::key(noun, "t0");
            let say = [
                format!("per {one}"),
                format!("by {one}"),
                format!("for each {one}"),
                format!("in each {one}"),
                format!("for every {one}"),
                format!("of each {one}"),
                format!("per {one}"),
                format!("by {one}"),
            ];
            let sql = super::keys(format!("select {key} from {} as t0", noun.source));
            self.language.add(&name, format!("-> {each}"), sql, &strs(&say));
            self.language
                .phrases(&name, &[&format!("per {one}"), &format!("each {one}"), &format!("by {one}")]);
        }
        each
    }

    fn by(&mut self, path: &Path) {
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let each = self.each(path.to);
        let (_, number_of) = self.result_types(path.to, Kind::Number);
        let (key, group) = (paths::key(noun, "t0"), paths::key(end, &path.last()));
        let joins = path.joins(self.plan, "join");
        let rows = ty(noun, "Rows");
        let sql = format!(
            "select {group}, count(distinct {key}) from {joins} where {key} in ({{1}}) and {group} in ({{2}}) group by {group}"
        );
        let say = [
            "the number of {1} {2}",
            "number of {1} {2}",
            "how many {1} are there {2}",
            "how many {1} {2}",
            "{1} {2}",
            "count of {1} {2}",
            "count {1} {2}",
            "how many {1} do we have {2}",
        ];
        self.language.add(
            "count",
            format!("{rows}, {each} -> {number_of}"),
            value(sql),
            &[&say[..4], &say[5..]].concat(),
        );
        let is_listed = end.kind != NounKind::Periods && path.steps.len() <= 2;
        if is_listed {
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
            self.language.phrases("number_of", &["number of"]);
        }
        for kind in [Kind::Number, Kind::Money] {
            let own = ty(noun, kind.suffix());
            if !self.language.has_type(&own)
                || !noun.attributes.iter().any(|attribute| attribute.kind == kind)
            {
                continue;
            }
            let (_, some) = self.result_types(path.to, kind);
            for (name, function, words) in AGGREGATES {
                let from = format!(
                    "({{1:value}}) as v join {} as t0 on {key} = v.key{}",
                    noun.source,
                    joins.strip_prefix(&format!("{} as t0", noun.source)).unwrap_or_default()
                );
                let sql = format!(
                    "select {group}, {function}(v.value) from {from} where {group} in ({{2}}) group by {group}"
                );
                let say: Vec<String> = words
                    .iter()
                    .flat_map(|word| [format!("the {word} {{1}} {{2}}"), format!("{word} {{1}} {{2}}")])
                    .collect();
                self.language.add(name, format!("{own}Of, {each} -> {some}"), value(sql), &strs(&say));
                if is_listed && path.is_functional() && matches!(name, "average" | "total") {
                    let (all, _) = self.attribute_types(path.to, kind);
                    let sql = format!("select {group}, {function}(v.value) from {from} group by {group}");
                    let say: Vec<String> = words.iter().map(|word| format!("{word} {{1}}")).collect();
                    let slot = own.clone();
                    self.language.add(name, format!("{slot} -> {all}"), value(sql), &strs(&say));
                }
            }
        }
    }

    /// The types of values by a noun; periods have no attributes of their own.
    fn result_types(&mut self, place: usize, kind: Kind) -> (String, String) {
        let noun = self.noun(place);
        if noun.kind != NounKind::Periods {
            return self.attribute_types(place, kind);
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
        (String::new(), some)
    }

    /// *revenue per category*.
    fn amounts_by(&mut self) {
        for place in 0..self.plan.nouns.len() {
            let noun = self.noun(place);
            let (each, any) = (ty(noun, "Each"), ty(noun, "Any"));
            let known = self.language.constants.iter().find(|constant| constant.name == "amount");
            let signature = known.and_then(|constant| {
                constant.signatures.iter().find(|signature| signature.text.starts_with(&format!("{any} -> ")))
            });
            let Some(signature) = signature.filter(|_| self.language.has_type(&each)).cloned() else {
                continue;
            };
            let result = signature.text.replacen(&any, &each, 1);
            let say = ["revenue {1}", "total revenue {1}", "sales {1}", "the revenue {1}", "total sales {1}"];
            self.language.add("amount", result, signature.sql, &say);
        }
    }
}
