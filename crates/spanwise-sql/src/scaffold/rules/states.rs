//! States of things: *discontinued*, *in stock*, *overdue*, *without an email*, *not shipped yet*.

use super::{Rules, free, keys, strs};
use crate::scaffold::attributes::Attribute;
use crate::scaffold::english;
use crate::scaffold::paths;

impl Rules<'_> {
    /// *without an email*, *not shipped yet*.
    pub(super) fn missing(&mut self, place: usize, attribute: &Attribute, all: &str) {
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

    /// *overdue loans*: what is due and has not come back.
    pub(super) fn overdue(&mut self, place: usize) {
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
    pub(super) fn stock(&mut self, place: usize, attribute: &Attribute) {
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
    pub(super) fn flag(&mut self, place: usize, attribute: &Attribute) {
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
}
