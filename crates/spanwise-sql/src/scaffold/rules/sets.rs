//! Nouns and what narrows them: *orders*, *paid orders*, *orders from Berlin*, *or*, *not*, *how many*.

use super::{Rules, free, is_asked, keys, strs, ty};
use crate::scaffold::language::Set;
use crate::scaffold::nouns::{Noun, NounKind};
use crate::scaffold::paths;

/// Names of a class that are read.
pub(super) const MOST_NAMES: usize = 20_000;

impl Rules<'_> {
    /// Types and names of all nouns. What narrows them is not known yet.
    pub(super) fn nouns(&mut self) {
        for place in 0..self.plan.nouns.len() {
            let noun = self.noun(place);
            if !is_asked(noun) {
                continue;
            }
            let (any, rows, set) = (ty(noun, "Any"), ty(noun, "Rows"), ty(noun, "Set"));
            self.language.ty(&any, &[]);
            self.language.ty(&rows, &[&any]);
            self.language.ty(&set, &[&rows]);
            self.language.ty(&ty(noun, "Best"), &[&rows]);
            self.language.root(&any);
            let mut phrases = vec![noun.many.clone()];
            if noun.is_person && noun.kind == NounKind::Rows {
                phrases.push("who".to_owned());
            }
            self.language.phrases(&free(&noun.name), &strs(&phrases));
            self.language.show.push((any, show(noun)));
            let one = ty(noun, "One");
            let say = vec![noun.many.clone()];
            self.language.add(&free(&noun.name), format!("-> {set}"), keys(select(noun)), &strs(&say));
            if let Some(label) = &noun.label {
                self.language.ty(&one, &[&ty(noun, "Any")]);
                let label = paths::on(label, "t0");
                let class = crate::scaffold::language::Class {
                    name: format!("named {} {}", noun.title, noun.one),
                    ty: one.clone(),
                    phrases: Vec::new(),
                    form: format!("named_{}('{{name}}')", noun.ty.to_lowercase()),
                    table: names_query(noun, false),
                    sql: format!(
                        "select {} from {} as t0 where {label} = {{name}}",
                        paths::key(noun, "t0"),
                        noun.source
                    ),
                    say: vec!["{name}".to_owned()],
                    weight: Some(if noun.kind == NounKind::Values { 0.3 } else { 1.0 }),
                };
                self.language.classes.push(class);
            } else if let Some(number) = &noun.number {
                self.language.ty(&one, &[&ty(noun, "Any")]);
                let name = format!("named_{}", noun.ty.to_lowercase());
                let sql = format!(
                    "select {} from {} as t0 where {} = {{1:value}}",
                    paths::key(noun, "t0"),
                    noun.source,
                    paths::on(number, "t0")
                );
                let said = &noun.one;
                let say = [
                    format!("{said} {{1}}"),
                    format!("{said} number {{1}}"),
                    format!("{said} no {{1}}"),
                    format!("the {said} {{1}}"),
                ];
                self.language.add(&name, format!("Whole -> {one}"), keys(sql), &strs(&say));
                self.language.phrases(&name, &[&noun.one]);
            }
        }
    }

    /// Filters of nouns, and what works for all of them.
    pub(super) fn sets(&mut self) {
        for place in 0..self.plan.nouns.len() {
            let noun = self.noun(place);
            if !is_asked(noun) {
                continue;
            }
            self.narrowed(place);
            self.connectives(place);
            let rows = ty(noun, "Set");
            let say = [
                "how many {1} are there",
                "how many different {1} are there",
                "how many {1} exist",
                "how many {1}",
                "the number of {1}",
                "number of {1}",
                "how many {1} do we have",
                "count {1}",
                "count of {1}",
                "total number of {1}",
            ];
            self.language.add(
                "count",
                format!("{rows} -> Figure"),
                keys("select count(*) from ({1}) as s"),
                &say,
            );
            let exists = "select case when exists (select 1 from ({1}) as s) then 'yes' else 'no' end";
            let say = ["are there any {1}", "are there {1}", "do we have any {1}", "is there any {1}"];
            self.language.add("any", format!("{rows} -> Truth"), keys(exists), &say);
        }
        self.language.ty("Figure", &[]);
        self.language.ty("Truth", &[]);
        self.language.root("Figure");
        self.language.root("Truth");
        self.language.phrases("count", &["how many", "number of", "count"]);
        self.language.phrases("any", &["are there any", "is there any"]);
        self.language.weight("count", 3.0);
        self.language.weight("any", 0.3);
        self.roots();
    }

    /// *orders* with what narrows them.
    pub(super) fn narrowed(&mut self, place: usize) {
        let noun = self.noun(place);
        let (filters, kind, rows) = (ty(noun, "Filters"), ty(noun, "Kind"), ty(noun, "Set"));
        let name = free(&noun.name);
        let many = &noun.many;
        let key = paths::key(noun, "t0");
        let narrowed = |slots: &[usize]| {
            let conditions: Vec<String> = slots.iter().map(|slot| format!("{key} in ({{{slot}}})")).collect();
            keys(format!("select {key} from {} as t0 where {}", noun.source, conditions.join(" and ")))
        };
        if self.has_filters[place] {
            let filter = ty(noun, "Filter");
            self.language.ty(&filters, &[]);
            self.language.ty(&filter, &[&filters]);
            self.language.sets.push(Set {
                head: format!("all_{}", noun.ty.to_lowercase()),
                element: filter,
                result: filters.clone(),
            });
            let mut say: Vec<String> = [
                "{1} {many}",
                "{1} {many}",
                "{1} {many}",
                "{many} that are {1}",
                "{many} are {1}",
                "{many} in {1}",
                "{many} in the {1}",
                "{many} with {1}",
                "{many} of {1}",
            ]
            .iter()
            .map(|text| text.replace("{many}", many))
            .collect();
            if noun.is_person && noun.kind == NounKind::Rows {
                say.push("who {1}".to_owned());
            }
            self.language.add(&name, format!("{filters} -> {rows}"), narrowed(&[1]), &strs(&say));
        }
        if self.has_kinds[place] {
            self.language.ty(&kind, &[]);
            let mut say =
                vec![format!("{{1}} {many}"), format!("{{1}} {many}"), format!("{many} that are {{1}}")];
            if self.is_implicit[place] {
                say.extend(["{1}".to_owned(), "{1}".to_owned()]);
            }
            self.language.add(&name, format!("{kind} -> {rows}"), narrowed(&[1]), &strs(&say));
            if self.has_filters[place] {
                let say = [format!("{{1}} {many} {{2}}")];
                self.language.add(
                    &name,
                    format!("{kind}, {filters} -> {rows}"),
                    narrowed(&[1, 2]),
                    &strs(&say),
                );
            }
        }
        self.language.weight(&name, if noun.kind == NounKind::Rows { 3.0 } else { 0.7 });
    }

    /// *or* and *not*.
    pub(super) fn connectives(&mut self, place: usize) {
        let noun = self.noun(place);
        let union = || keys("select key from ({1}) as a union select key from ({2}) as b");
        let key = paths::key(noun, "t0");
        let not = || keys(format!("select {key} from {} as t0 where {key} not in ({{1}})", noun.source));
        for (has, suffix) in [(self.has_filters[place], "Filter"), (self.has_kinds[place], "Kind")] {
            if !has {
                continue;
            }
            let element = ty(noun, suffix);
            self.language.add("or", format!("{element}>, <{element} -> {element}"), union(), &["{2} or {1}"]);
            let say: &[&str] = if suffix == "Kind" {
                &["that are not {1}", "not {1}", "which are not {1}", "except {1} ones", "other than {1}"]
            } else {
                &["not {1}", "that are not {1}", "but not {1}", "except those {1}"]
            };
            self.filter(place, "not", &element, not(), say);
        }
        self.language.phrases("or", &["or"]);
        self.language.phrases("not", &["not", "except", "other than"]);
        self.language.weight("or", 0.5);
        self.language.weight("not", 0.6);
    }

    /// How complete questions begin.
    pub(super) fn roots(&mut self) {
        let figures = [
            "{}",
            "{}",
            "{}",
            "what is {}",
            "tell me {}",
            "show me {}",
            "can you tell me {}",
            "calculate {}",
            "i want to know {}",
            "what's {}",
            "give me {}",
            "find {}",
            "compute {}",
        ];
        self.language
            .say
            .push(("Figure".to_owned(), figures.iter().map(|text| (*text).to_owned()).collect()));
        for place in 0..self.plan.nouns.len() {
            let noun = self.noun(place);
            if !is_asked(noun) {
                continue;
            }
            let mut rows = vec![
                "{}",
                "{}",
                "{}",
                "show me {}",
                "show me all {}",
                "list {}",
                "list all {}",
                "which {}",
                "which {}",
                "which {} are there",
                "what {}",
                "give me {}",
                "find {}",
                "show {}",
                "what are the {}",
                "what is the {}",
                "get all {}",
                "display {}",
                "i want to see {}",
                "can you show me {}",
                "tell me the {}",
                "give me a list of {}",
                "i need a list of all {}",
                "could you list {}",
                "names of {}",
                "what are the names of {}",
                "what is the name of {}",
                "please list the {}",
                "which {} do we have",
                "what are our {}",
                "let me see {}",
                "find all {}",
                "do we have {}",
                "name the {}",
                "what's the {}",
                "which {} exist",
            ];
            if noun.is_person {
                rows.extend(["who are the {}", "who is the {}", "who are our {}"]);
            }
            let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            self.language.say.push((ty(noun, "Rows"), texts(&rows)));
            if self.language.has_type(&ty(noun, "One")) {
                let mut one =
                    vec!["{}", "show me {}", "show {}", "tell me about {}", "details of {}", "find {}"];
                one.push(if noun.is_person { "who is {}" } else { "what is {}" });
                self.language.say.push((ty(noun, "One"), texts(&one)));
            }
        }
    }
}

/// All rows of a noun.
fn select(noun: &Noun) -> String {
    format!("select {} from {} as t0", paths::key(noun, "t0"), noun.source)
}

/// How rows of a noun are shown.
pub(super) fn show(noun: &Noun) -> String {
    let column = |(heading, value): &(String, String)| {
        format!("{} as {}", paths::on(value, "t0"), crate::schema::quoted(heading))
    };
    let columns: Vec<String> = noun.shown.iter().map(column).collect();
    format!("select {} as key, {} from {} as t0", paths::key(noun, "t0"), columns.join(", "), noun.source)
}

/// The names of a noun's rows, as a query.
pub(super) fn names_query(noun: &Noun, with_other: bool) -> String {
    let label = noun.label.as_deref().map(|label| paths::on(label, "t0")).unwrap_or_default();
    // Names such as *in* (a country) would be read into every question.
    let stopped: Vec<String> = noun.stopped.iter().map(|name| crate::schema::literal(name)).collect();
    let but = if stopped.is_empty() {
        String::new()
    } else {
        format!(" and {label} not in ({})", stopped.join(", "))
    };
    // The singular of names that seem to be plurals, and the other way round.
    let other = if with_other {
        format!(
            ", case when {label} like '%ies' then substr({label}, 1, length({label}) - 3) || 'y' \
             when {label} like '%s' then substr({label}, 1, length({label}) - 1) else {label} || 's' end as other"
        )
    } else {
        String::new()
    };
    format!(
        "sql: select distinct {label} as name{other} from {} as t0 where {label} <> ''{but} order by 1 limit {MOST_NAMES}",
        noun.source
    )
}
