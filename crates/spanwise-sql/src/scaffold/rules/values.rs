//! Attributes: their values, comparisons with them, superlatives, order, sums and averages.

use super::comparisons::literal;
use super::{Rules, free, keys, strs, ty, value};
use crate::scaffold::attributes::{Attribute, Kind};
use crate::scaffold::english;
use crate::scaffold::nouns::{Noun, NounKind};
use crate::scaffold::paths;

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
    pub(super) fn attribute(&mut self, place: usize, attribute: &Attribute) {
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
    pub(super) fn asked_type(&mut self, place: usize) -> String {
        let noun = self.noun(place);
        let answer = ty(noun, "Asked");
        if !self.language.has_type(&answer) {
            self.language.ty(&answer, &[]);
            self.language.root(&answer);
            self.language.show.push((answer.clone(), super::sets::show(noun)));
            self.language.say.push((
                answer.clone(),
                ["{}", "{}", "tell me {}", "can you tell me {}", "i want to know {}"]
                    .map(str::to_owned)
                    .to_vec(),
            ));
        }
        answer
    }

    /// *with a rating of 5*, *shipped in May*.
    pub(super) fn equal(&mut self, place: usize, attribute: &Attribute, name: &str) {
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

    pub(super) fn texts(&mut self, place: usize, all: &str) {
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
}

/// Questions for an attribute of one thing.
fn asked(noun: &Noun, attribute: &Attribute) -> Vec<String> {
    let text = &attribute.said;
    let mut asked = vec![
        format!("what {text} does {{1}} have"),
        format!("what is the {text} of {{1}}"),
        format!("what is {{1}}'s {text}"),
        format!("which {text} does {{1}} have"),
        format!("what's the {text} of {{1}}"),
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
