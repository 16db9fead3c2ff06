//! Comparisons: *over $5*, *heavier than 20 kg*, *in 2024*, *above average*.

use super::values::AGGREGATES;
use super::{Rules, keys, strs};
use crate::scaffold::attributes::{Attribute, Kind};
use crate::scaffold::paths;

/// A comparison with numbers: its constant, its operator, words for an attribute and a value, words for a value alone.
struct Comparison {
    name: &'static str,
    operator: &'static str,
    phrases: &'static [&'static str],
}

const COMPARISONS: &[Comparison] = &[
    Comparison {
        name: "over",
        operator: ">",
        phrases: &["over", "above", "more than", "greater than", "higher than"],
    },
    Comparison {
        name: "under",
        operator: "<",
        phrases: &["under", "below", "less than", "lower than", "smaller than"],
    },
    Comparison { name: "at_least", operator: ">=", phrases: &["at least", "no less than", "minimum"] },
    Comparison { name: "at_most", operator: "<=", phrases: &["at most", "up to", "no more than", "maximum"] },
];

/// A comparison with a period: the condition on the value.
struct Moment {
    name: &'static str,
    condition: &'static str,
    phrases: &'static [&'static str],
}

const MOMENTS: &[Moment] = &[
    Moment { name: "after", condition: "{v} >= {end}", phrases: &["after", "later than"] },
    Moment { name: "before", condition: "{v} < {begin}", phrases: &["before", "earlier than", "prior to"] },
    Moment { name: "since", condition: "{v} >= {begin}", phrases: &["since", "from"] },
    Moment { name: "until", condition: "{v} < {end}", phrases: &["until", "up to", "by"] },
];

impl Rules<'_> {
    /// *products heavier than 20 kg*: comparisons with an adjective.
    pub(super) fn compared(&mut self, place: usize, attribute: &Attribute) {
        let Some(degrees) = attribute.degrees else { return };
        let noun = self.noun(place);
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        let (slot, field) = literal(attribute.kind);
        let names = (format!("over_{}", attribute.name), format!("under_{}", attribute.name));
        for (name, operator, words) in [(&names.0, ">", degrees.more), (&names.1, "<", degrees.less)] {
            let unit = attribute.unit.unwrap_or_default();
            let say: Vec<String> = words
                .iter()
                .flat_map(|word| [format!("{word} {{1}}"), format!("{word} {{1}} {unit}")])
                .collect();
            let sql = format!("select {key} from {} as t0 where {v} {operator} {{1:{field}}}", noun.source);
            self.filter(place, name, slot, keys(sql), &strs(&say));
            self.language.phrases(name, words);
        }
        self.language.contrast(&names.0, &names.1);
    }

    /// *products over $5*, *orders in 2024*: comparisons of the main attribute of a kind, whose name is not said.
    pub(super) fn bare(&mut self, place: usize, attribute: &Attribute) {
        let noun = self.noun(place);
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        let from = format!("select {key} from {} as t0 where", noun.source);
        if attribute.kind == Kind::Date {
            let say = ["in {1}", "from {1}", "of {1}", "on {1}", "during {1}"];
            let mut say: Vec<String> = say.iter().map(|text| (*text).to_owned()).collect();
            let verb = super::events::verb(&noun.one);
            if let Some(verb) = verb {
                say.extend([format!("{} in {{1}}", verb.3), format!("that were {} in {{1}}", verb.3)]);
            }
            if noun.one == "order" {
                say.extend([
                    "placed in {1}".to_owned(),
                    "were placed in {1}".to_owned(),
                    "placed on {1}".to_owned(),
                ]);
            }
            self.filter(
                place,
                "in",
                "Period",
                keys(format!("{from} {v} >= {{1:begin}} and {v} < {{1:end}}")),
                &strs(&say),
            );
            for moment in MOMENTS {
                let condition = moment
                    .condition
                    .replace("{v}", &v)
                    .replace("{begin}", "{1:begin}")
                    .replace("{end}", "{1:end}");
                let say: Vec<String> =
                    moment.phrases.iter().map(|phrase| format!("{phrase} {{1}}")).collect();
                self.filter(place, moment.name, "Period", keys(format!("{from} {condition}")), &strs(&say));
            }
            let sql = format!("{from} {v} >= {{1:begin}} and {v} < {{2:end}}");
            self.filter(
                place,
                "between",
                "Period, Period",
                keys(sql),
                &["between {1} and {2}", "from {1} to {2}"],
            );
            return;
        }
        let (slot, field) = literal(attribute.kind);
        let degrees = attribute.degrees;
        for comparison in COMPARISONS {
            let mut say: Vec<String> =
                comparison.phrases.iter().map(|phrase| format!("{phrase} {{1}}")).collect();
            let more = degrees.map(|degrees| match comparison.operator {
                ">" => degrees.more,
                "<" => degrees.less,
                _ => &[],
            });
            say.extend(
                more.unwrap_or_default()
                    .iter()
                    .flat_map(|text| [format!("{text} {{1}}"), format!("{text} {{1}}")]),
            );
            let is_price = degrees.is_some_and(|degrees| degrees.most.contains(&"most expensive"));
            if is_price && !matches!(comparison.operator, ">" | "<") {
                say.extend(comparison.phrases.iter().flat_map(|phrase| {
                    [format!("that cost {phrase} {{1}}"), format!("costing {phrase} {{1}}")]
                }));
            }
            if comparison.name == "at_least" {
                say.push("for {1} or more".to_owned());
            }
            if comparison.name == "at_most" {
                say.push("for {1} or less".to_owned());
            }
            let sql = format!("{from} {v} {} {{1:{field}}}", comparison.operator);
            self.filter(place, comparison.name, slot, keys(sql), &strs(&say));
        }
        let sql = format!("{from} {v} between {{1:{field}}} and {{2:{field}}}");
        let say = ["between {1} and {2}", "from {1} to {2}", "that cost between {1} and {2}"];
        let say = if degrees.is_some_and(|degrees| degrees.most.contains(&"most expensive")) {
            &say[..]
        } else {
            &say[..2]
        };
        self.filter(place, "between", &format!("{slot}, {slot}"), keys(sql), say);
    }

    pub(super) fn numbers(&mut self, place: usize, all: &str, kind: Kind) {
        let (slot, field) = literal(kind);
        for comparison in COMPARISONS {
            let sql = format!(
                "select key from ({{1:value}}) as v where value {} {{2:{field}}}",
                comparison.operator
            );
            let phrases = comparison.phrases;
            let say: Vec<String> = phrases
                .iter()
                .flat_map(|phrase| {
                    [
                        format!("with {{1}} {phrase} {{2}}"),
                        format!("with a {{1}} {phrase} {{2}}"),
                        format!("whose {{1}} is {phrase} {{2}}"),
                        format!("with {phrase} {{2}} {{1}}"),
                        format!("{{1}} {phrase} {{2}}"),
                        format!("have a {{1}} {phrase} {{2}}"),
                        format!("that have a {{1}} {phrase} {{2}}"),
                    ]
                })
                .collect();
            self.filter(place, comparison.name, &format!("{all}, {slot}"), keys(sql), &strs(&say));
        }
        for (name, operator, words) in [("above_average", ">", "above"), ("below_average", "<", "below")] {
            let sql = format!(
                "select key from ({{1:value}}) as v where value {operator} (select avg(value) from ({{1:value}}) as a)"
            );
            let say = [
                format!("with {words} average {{1}}"),
                format!("with {{1}} {words} average"),
                format!("with a {{1}} {words} the average"),
            ];
            self.filter(place, name, all, keys(sql), &strs(&say));
            self.language.weight(name, 0.4);
            self.language.phrases(name, &[&format!("{words} average"), &format!("{words} the average")]);
        }
        let some = format!("{all}All");
        let noun = self.noun(place);
        let can_add = noun.attributes.iter().any(|attribute| attribute.kind == kind && attribute.is_additive);
        for (name, function, words) in AGGREGATES {
            if name == "total" && !can_add && !self.has_amount(place) {
                continue;
            }
            let sql = format!("select {function}(value) from ({{1:value}}) as v");
            let say: Vec<String> = words
                .iter()
                .flat_map(|word| {
                    [
                        format!("the {word} {{1}}"),
                        format!("{word} {{1}}"),
                        format!("what is the {word} {{1}}"),
                    ]
                })
                .collect();
            self.language.add(name, format!("{some} -> Figure"), keys(sql), &strs(&say));
            self.language.phrases(name, words);
        }
    }

    pub(super) fn moments(&mut self, place: usize, all: &str) {
        for moment in MOMENTS {
            let condition = moment
                .condition
                .replace("{v}", "value")
                .replace("{begin}", "{2:begin}")
                .replace("{end}", "{2:end}");
            let sql = format!("select key from ({{1:value}}) as v where {condition}");
            let say: Vec<String> = moment
                .phrases
                .iter()
                .flat_map(|phrase| {
                    [format!("{{1}} {phrase} {{2}}"), format!("who were {{1}} {phrase} {{2}}")]
                })
                .collect();
            let say = if self.noun(place).is_person { say } else { say.into_iter().step_by(2).collect() };
            self.filter(place, moment.name, &format!("{all}, Period"), keys(sql), &strs(&say));
        }
        let sql = "select key from ({1:value}) as v where value >= {2:begin} and value < {3:end}";
        let say = ["{1} between {2} and {3}", "{1} from {2} to {3}"];
        self.filter(place, "between", &format!("{all}, Period, Period"), keys(sql), &say);
    }

    pub(super) fn phrases_of_comparisons(&mut self) {
        for comparison in COMPARISONS {
            self.language.phrases(comparison.name, comparison.phrases);
        }
        for moment in MOMENTS {
            self.language.phrases(moment.name, moment.phrases);
        }
        self.language.phrases("between", &["between"]);
        self.language.phrases("in", &["in", "during", "on"]);
    }
}

/// The type of literals that are compared with a kind, and the field that is compared.
pub(super) fn literal(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Money => ("Money", "number"),
        _ => ("Number", "value"),
    }
}
