//! Attributes: their values, comparisons with them, superlatives, order, sums and averages.

use super::{Rules, free, keys, rank, strs, ty, value};
use crate::scaffold::attributes::{Attribute, Kind};
use crate::scaffold::english;
use crate::scaffold::nouns::{Noun, NounKind};
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
    pub(super) fn attributes(&mut self) {
        for place in 0..self.plan.nouns.len() {
            let noun = self.noun(place);
            if noun.kind != NounKind::Rows {
                continue;
            }
            for attribute in &noun.attributes {
                match attribute.kind {
                    Kind::Flag => self.flag(place, attribute),
                    _ => self.attribute(place, attribute),
                }
                if attribute.kind.is_ranked() {
                    self.superlatives(place, attribute);
                }
                if attribute.kind == Kind::Number
                    && matches!(
                        attribute.text.as_str(),
                        "stock" | "inventory" | "in stock" | "units in stock" | "quantity in stock"
                    )
                {
                    self.stock(place, attribute);
                }
                if !attribute.is_main && attribute.kind.is_amount() {
                    self.compared(place, attribute);
                }
                if attribute.is_main && attribute.kind != Kind::Text {
                    self.bare(place, attribute);
                }
            }
        }
        for place in 0..self.plan.nouns.len() {
            self.overdue(place);
        }
        self.of_types();
        self.phrases_of_comparisons();
    }

    /// Declares the types for attributes of a kind: of all rows, and of some.
    pub(super) fn attribute_types(&mut self, place: usize, kind: Kind) -> (String, String) {
        let noun = self.noun(place);
        let all = ty(noun, kind.suffix());
        let some = format!("{all}Of");
        if !self.language.has_type(&all) {
            // What sums and averages take: values of all rows or of some.
            let every = format!("{all}All");
            self.language.ty(&every, &[]);
            self.language.ty(&some, &[&every]);
            self.language.ty(&all, &[&every]);
            if kind.is_ranked() {
                let ranked = ty(noun, "Ranked");
                self.language.ty(&ranked, &[]);
                self.language.ty(&all, &[&ranked]);
            }
            self.language.root(&some);
            self.language.show.push((some.clone(), super::sets::show(noun)));
            let say = [
                "{}",
                "what is {}",
                "show me {}",
                "give me {}",
                "tell me {}",
                "show {}",
                "what are {}",
                "list {}",
                "{}",
                "find {}",
            ];
            let say = say.iter().map(|text| (*text).to_owned()).collect();
            self.language.say.push((some.clone(), say));
        }
        (all, some)
    }

    /// The values of an attribute.
    fn attribute(&mut self, place: usize, attribute: &Attribute) {
        let noun = self.noun(place);
        let (all, some) = self.attribute_types(place, attribute.kind);
        let name = free(&attribute.name);
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        let text = &attribute.said;
        let select = format!("select {key}, {v} from {} as t0 where {v} is not null", noun.source);
        let mut said = vec![text.clone()];
        if let Some(happened) = &attribute.happened {
            said.extend([happened.clone(), happened.clone()]);
        }
        self.language.add(&name, format!("-> {all}"), value(select.clone()), &strs(&said));
        let said = [
            format!("the {text} of {{1}}"),
            format!("{text} of {{1}}"),
            format!("the {text} for {{1}}"),
            format!("{{1}} {text}"),
            format!("{{1}}'s {text}"),
        ];
        let any = ty(noun, "Any");
        let of = format!("{select} and {key} in ({{1}})");
        self.language.add(&name, format!("{any} -> {some}"), value(of.clone()), &strs(&said));
        let one = ty(noun, "One");
        if self.language.has_type(&one) {
            let asked = asked(noun, attribute);
            let answer = self.asked_type(place);
            self.language.add(&name, format!("{one} -> {answer}"), value(of), &strs(&asked));
        }
        self.equal(place, attribute, &name);
        let mut phrases = vec![text.clone()];
        if attribute.text == "cost" && text != "cost" {
            phrases.extend(["purchase cost", "unit cost", "purchase price"].map(str::to_owned));
        }
        phrases.extend(attribute.happened.clone());
        self.language.phrases(&name, &strs(&phrases));
        if attribute.is_nullable {
            self.missing(place, attribute, &all);
        }
    }

    /// The type of attributes of one thing that a whole question asks for: *how much is Summit II*.
    fn asked_type(&mut self, place: usize) -> String {
        let noun = self.noun(place);
        let answer = ty(noun, "Asked");
        if !self.language.has_type(&answer) {
            self.language.ty(&answer, &[]);
            self.language.root(&answer);
            self.language.show.push((answer.clone(), super::sets::show(noun)));
            self.language.say.push((answer.clone(), vec!["{}".to_owned()]));
        }
        answer
    }

    /// *with a rating of 5*, *shipped in May*.
    fn equal(&mut self, place: usize, attribute: &Attribute, name: &str) {
        let noun = self.noun(place);
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        let text = &attribute.said;
        let article = english::article(text);
        let from = format!("select {key} from {} as t0 where", noun.source);
        match attribute.kind {
            Kind::Number | Kind::Money => {
                let (slot, field) = literal(attribute.kind);
                let mut say = vec![
                    format!("with {article} {text} of {{1}}"),
                    format!("with {text} {{1}}"),
                    format!("whose {text} is {{1}}"),
                    format!("with exactly {{1}} {text}"),
                ];
                if attribute
                    .degrees
                    .is_some_and(|degrees| degrees.asked.iter().any(|asked| asked.contains("rated")))
                {
                    say.push("rated {1}".to_owned());
                }
                self.filter(place, name, slot, keys(format!("{from} {v} = {{1:{field}}}")), &strs(&say));
            }
            Kind::Date => {
                let mut say =
                    vec![format!("with {text} in {{1}}"), format!("with {article} {text} on {{1}}")];
                if let Some(happened) = &attribute.happened {
                    let who = if noun.is_person { "who" } else { "that" };
                    say = vec![
                        format!("{happened} in {{1}}"),
                        format!("{happened} on {{1}}"),
                        format!("{happened} {{1}}"),
                        format!("{who} were {happened} in {{1}}"),
                        format!("were {happened} in {{1}}"),
                        format!("with {text} in {{1}}"),
                    ];
                }
                let sql = format!("{from} {v} >= {{1:begin}} and {v} < {{1:end}}");
                self.filter(place, name, "Period", keys(sql), &strs(&say));
            }
            Kind::Text | Kind::Flag => {}
        }
    }

    /// *without an email*, *not shipped yet*.
    fn missing(&mut self, place: usize, attribute: &Attribute, all: &str) {
        let noun = self.noun(place);
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        let from = format!("select {key} from {} as t0 where", noun.source);
        if let Some(happened) = attribute.happened.as_ref().filter(|happened| *happened != "born") {
            let (not, yet) = (format!("not_{}", attribute.name), format!("already_{}", attribute.name));
            let say = [
                format!("not {happened} yet"),
                format!("that have not been {happened}"),
                format!("not yet {happened}"),
                format!("not {happened}"),
                format!("that were never {happened}"),
                format!("that are not {happened} yet"),
            ];
            self.filter(place, &not, "", keys(format!("{from} {v} is null")), &strs(&say));
            let say = [
                format!("already {happened}"),
                format!("that have been {happened}"),
                format!("that were {happened}"),
            ];
            self.filter(place, &yet, "", keys(format!("{from} {v} is not null")), &strs(&say));
            self.language.phrases(&not, &[&format!("not {happened}"), &format!("never {happened}")]);
            self.language.phrases(&yet, &[&format!("already {happened}")]);
            self.language.contrast(&yet, &not);
            return;
        }
        let not = format!("{from} {key} not in ({{1}})");
        let say = [
            "without {1}",
            "with no {1}",
            "that have no {1}",
            "without a {1}",
            "that do not have a {1}",
            "whose {1} is unknown",
            "missing {1}",
        ];
        self.filter(place, "missing", all, keys(not), &say);
        let say = ["with {1}", "that have a {1}", "with a {1}", "with known {1}", "who have a {1}"];
        self.filter(place, "known", all, keys("select key from ({1:value}) as v"), &say);
        self.language.phrases("missing", &["without", "no"]);
        self.language.phrases("known", &["with", "have"]);
    }

    /// *products heavier than 20 kg*: comparisons with an adjective.
    fn compared(&mut self, place: usize, attribute: &Attribute) {
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

    /// *overdue loans*: what is due and has not come back.
    fn overdue(&mut self, place: usize) {
        let noun = self.noun(place);
        let on = |happened: &[&str]| {
            let is = |attribute: &&Attribute| {
                attribute.happened.as_deref().is_some_and(|known| happened.contains(&known))
            };
            noun.attributes
                .iter()
                .find(is)
                .map(|attribute| (paths::on(&attribute.value, "t0"), attribute.is_nullable))
        };
        if let (Some((due, _)), Some((back, true))) =
            (on(&["due"]), on(&["returned", "paid", "completed", "delivered", "finished", "closed"]))
        {
            let kind = self.kind(place);
            let key = paths::key(noun, "t0");
            let sql = format!(
                "select {key} from {} as t0 where {back} is null and {due} < current_date",
                noun.source
            );
            self.language.add("overdue", format!("-> {kind}"), keys(sql), &["overdue", "late"]);
            self.language.phrases("overdue", &["overdue", "late", "past due"]);
        }
    }

    /// *products in stock*, *out of stock*.
    fn stock(&mut self, place: usize, attribute: &Attribute) {
        let noun = self.noun(place);
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        for (name, operator, words) in [
            ("in_stock", "> 0", &["in stock", "that are in stock", "available", "that are available"]),
            ("out_of_stock", "<= 0", &["out of stock", "that are out of stock", "sold out", "not in stock"]),
        ] {
            let sql = format!("select {key} from {} as t0 where {v} {operator}", noun.source);
            self.filter(place, name, "", keys(sql), words);
            self.language.phrases(name, words);
        }
        self.language.contrast("in_stock", "out_of_stock");
    }

    /// *discontinued products*, *customers with newsletter*.
    fn flag(&mut self, place: usize, attribute: &Attribute) {
        let noun = self.noun(place);
        let words = crate::scaffold::names::words(&attribute.text);
        let (start, rest) = match words.first().map(String::as_str) {
            Some("is" | "was" | "are") if words.len() > 1 => ("is", words[1..].join(" ")),
            Some("has" | "have" | "with") if words.len() > 1 => ("has", words[1..].join(" ")),
            _ => ("", attribute.text.clone()),
        };
        let ends = ["ed", "able", "ible", "ive", "al", "ful", "ous", "ic", "ent", "ant", "less"];
        let is_adjective = start == "is" || (start.is_empty() && ends.iter().any(|end| rest.ends_with(end)));
        let name = free(&crate::scaffold::names::snake(&crate::scaffold::names::words(&rest), "flag"));
        let v = paths::on(&attribute.value, "t0");
        let condition = match self.plan.dialect {
            crate::database::Dialect::Sqlite => format!("{v} = 1"),
            crate::database::Dialect::Postgres => v,
        };
        let key = paths::key(noun, "t0");
        let sql = keys(format!("select {key} from {} as t0 where {condition}", noun.source));
        if is_adjective {
            let kind = self.kind(place);
            self.language.add(&name, format!("-> {kind}"), sql, &[&rest]);
        } else {
            let article = english::article(&rest);
            let say = [
                format!("with {rest}"),
                format!("with {article} {rest}"),
                format!("with the {rest}"),
                format!("that have {rest}"),
                format!("who get the {rest}"),
            ];
            self.filter(place, &name, "", sql, &strs(&say));
        }
        self.language.phrases(&name, &[&rest]);
    }

    /// *cheapest products*, *the 5 heaviest products*, *latest orders*.
    fn superlatives(&mut self, place: usize, attribute: &Attribute) {
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
    fn superlative(
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
            .flat_map(|word| [format!("the {word} {{1}}"), format!("{word} {{1}}")])
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

    /// *products over $5*, *orders in 2024*: comparisons of the main attribute of a kind, whose name is not said.
    fn bare(&mut self, place: usize, attribute: &Attribute) {
        let noun = self.noun(place);
        let (key, v) = (paths::key(noun, "t0"), paths::on(&attribute.value, "t0"));
        let from = format!("select {key} from {} as t0 where", noun.source);
        if attribute.kind == Kind::Date {
            let say = ["in {1}", "from {1}", "of {1}", "on {1}", "during {1}"];
            let mut say: Vec<String> = say.iter().map(|text| (*text).to_owned()).collect();
            let verb = super::relations::verb(&noun.one);
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

    /// What works for all attributes of a kind.
    pub(super) fn of_types(&mut self) {
        for place in 0..self.plan.nouns.len() {
            if self.noun(place).kind != NounKind::Rows {
                continue;
            }
            for kind in [Kind::Number, Kind::Money, Kind::Date, Kind::Text] {
                let all = ty(self.noun(place), kind.suffix());
                if self.language.has_type(&all) {
                    match kind {
                        Kind::Date => self.moments(place, &all),
                        Kind::Text => self.texts(place, &all),
                        _ => self.numbers(place, &all, kind),
                    }
                }
            }
            if self.language.has_type(&ty(self.noun(place), "Ranked")) {
                self.ranked(place);
            }
        }
    }

    fn numbers(&mut self, place: usize, all: &str, kind: Kind) {
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

    fn moments(&mut self, place: usize, all: &str) {
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

    fn texts(&mut self, place: usize, all: &str) {
        let sql = match self.plan.dialect {
            crate::database::Dialect::Sqlite => {
                "select key from ({1:value}) as v where instr(lower(value), lower({2:value})) > 0"
            }
            crate::database::Dialect::Postgres => {
                "select key from ({1:value}) as v where strpos(lower(value), lower({2:value})) > 0"
            }
        };
        let say = [
            "whose {1} contains {2}",
            "with {2} in the {1}",
            "with {2} in their {1}",
            "with a {1} containing {2}",
            "where the {1} contains {2}",
            "whose {1} includes {2}",
        ];
        self.filter(place, "contains", &format!("{all}, Quoted"), keys(sql), &say);
        let sql = "select key from ({1:value}) as v where lower(value) = lower({2:value})";
        let say = ["whose {1} is {2}", "with {1} {2}", "with the {1} {2}"];
        self.filter(place, "is", &format!("{all}, Quoted"), keys(sql), &say);
        self.language.phrases("contains", &["contains", "containing", "includes", "in the"]);
        self.language.phrases("is", &["is", "equals"]);
        self.language.weight("contains", 0.5);
        self.language.weight("is", 0.3);
    }

    /// *highest*, *top 5 by*, *sorted by*.
    fn ranked(&mut self, place: usize) {
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

    fn phrases_of_comparisons(&mut self) {
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

/// Questions for an attribute of one thing.
fn asked(noun: &Noun, attribute: &Attribute) -> Vec<String> {
    let text = &attribute.said;
    let mut asked = vec![
        format!("what {text} does {{1}} have"),
        format!("what is the {text} of {{1}}"),
        format!("what is {{1}}'s {text}"),
        format!("which {text} does {{1}} have"),
    ];
    if let Some(degrees) = attribute.degrees.filter(|_| attribute.is_main || attribute.kind == Kind::Number) {
        asked.extend(degrees.asked.iter().flat_map(|text| [(*text).to_owned(), (*text).to_owned()]));
    }
    if let Some(happened) = &attribute.happened {
        asked.extend([format!("when was {{1}} {happened}"), format!("when were {{1}} {happened}")]);
    }
    if english::has_any(&crate::scaffold::names::words(text), english::PLACES) {
        let place = if noun.is_person { "where does {1} live" } else { "where is {1} located" };
        asked.extend([place.to_owned(), "where is {1}".to_owned()]);
    }
    asked
}

/// Functions of all values: constant, function of SQL, words.
pub(super) const AGGREGATES: [(&str, &str, &[&str]); 4] = [
    ("average", "avg", &["average", "mean"]),
    ("total", "sum", &["total", "sum of", "combined"]),
    ("lowest_value", "min", &["lowest", "minimum", "smallest"]),
    ("highest_value", "max", &["highest", "maximum", "largest"]),
];

/// The type of literals that are compared with a kind, and the field that is compared.
pub(super) fn literal(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Money => ("Money", "number"),
        _ => ("Number", "value"),
    }
}
