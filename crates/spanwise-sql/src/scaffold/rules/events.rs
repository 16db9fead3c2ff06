//! Events, which have verbs: *customers who bought Summit*, *the most borrowed books*, *products that were never ordered*.

use super::{Rules, free, keys, rank, strs, ty};
use crate::scaffold::english;
use crate::scaffold::names;
use crate::scaffold::nouns::{Noun, NounKind};
use crate::scaffold::paths::{self, Path};

/// The verb of an event: the noun of the event, the verb, its past, its participle.
pub(super) type Verb = (&'static str, &'static str, &'static str, &'static str);

/// The verb of an event, by its noun.
pub(super) fn verb(noun: &str) -> Option<&'static Verb> {
    english::VERBS.iter().find(|(event, ..)| noun == *event || noun.ends_with(&format!(" {event}")))
}

impl Rules<'_> {
    /// *the most borrowed books*, *members who borrowed the most*: by the number of events.
    pub(super) fn popular(&mut self, path: &Path) {
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let is_down = path.steps.iter().all(|step| step.is_down && !self.plan.links[step.link].has_role);
        let nouns = path.nouns(self.plan);
        let inner_event = nouns[1..nouns.len() - 1].iter().any(|noun| verb(&self.noun(*noun).one).is_some());
        let Some(&(_, _, past, participle)) = verb(&end.one) else { return };
        let is_staff = noun.one.split(' ').any(|word| english::STAFF.contains(&word));
        if !is_down
            || inner_event
            || path.steps.len() > 2
            || noun.kind != NounKind::Rows
            || is_staff
            || noun.is_detail
        {
            return;
        }
        let (rows, chosen) = (ty(noun, "Set"), ty(noun, "Best"));
        let words: Vec<&str> = match participle {
            "sold" => vec!["ordered", "bought", "sold"],
            other => vec![other],
        };
        for (name, order, word) in [("most", "desc", "most"), ("least", "asc", "least")] {
            let say: Vec<String> = if noun.is_person {
                vec![
                    format!("{{1}} who {past} the {word}"),
                    format!("{{1}} {past} the {word}"),
                    format!("{{1}} has {past} the {word}"),
                ]
            } else {
                words
                    .iter()
                    .flat_map(|did| {
                        [
                            format!("the {word} {did} {{1}}"),
                            format!("{word} {did} {{1}}"),
                            format!("{{1}} that were {did} the {word}"),
                            format!("{{1}} was {did} the {word}"),
                        ]
                    })
                    .collect()
            };
            let name = format!(
                "{name}_{}",
                names::snake(&names::words(if noun.is_person { past } else { participle }), "did")
            );
            let counted = self.counted(path, "1 = 1");
            let best = format!(
                "select key from (select key, rank() over (order by number {order}) as place from ({counted}) as c where key in ({{1}})) as s where place = 1"
            );
            self.language.add(&name, format!("{rows} -> {chosen}"), keys(best), &strs(&say));
            let several = format!(
                "select key, row_number() over (order by number {order}, key) from ({counted}) as c where key in ({{2}}) order by number {order}, key limit {{1:value}}"
            );
            let say: Vec<String> = say
                .iter()
                .map(|text| format!("the {{1}} {}", text.trim_start_matches("the ").replace("{1}", "{2}")))
                .collect();
            self.language.add(&name, format!("Whole, {rows} -> {chosen}"), rank(several), &strs(&say));
        }
    }

    /// *products that were never ordered*, *customers who never ordered*.
    pub(super) fn ever(&mut self, path: &Path, &(_, _, past, participle): &Verb) {
        let noun = self.noun(path.from);
        let key = paths::key(noun, "t0");
        let exists = path.exists(self.plan, "1 = 1");
        let words: Vec<&str> = if noun.is_person {
            [past]
                .into_iter()
                .chain(["ordered", "bought"].into_iter().filter(|_| matches!(past, "ordered" | "bought")))
                .collect()
        } else {
            [participle]
                .into_iter()
                .chain(
                    ["ordered", "bought", "sold"]
                        .into_iter()
                        .filter(|_| matches!(past, "ordered" | "bought")),
                )
                .collect()
        };
        let name = format!("ever_{}", names::snake(&names::words(words[0]), "did"));
        let (never, ever): (Vec<String>, Vec<String>) = if noun.is_person {
            (
                words
                    .iter()
                    .flat_map(|word| {
                        [
                            format!("who never {word} anything"),
                            format!("who have never {word} anything"),
                            format!("who have not {word} anything"),
                            format!("never {word} anything"),
                            format!("who never {word}"),
                        ]
                    })
                    .collect(),
                words
                    .iter()
                    .flat_map(|word| {
                        [
                            format!("who {word} something"),
                            format!("who have {word} something"),
                            format!("who {word} anything"),
                        ]
                    })
                    .collect(),
            )
        } else {
            (
                words
                    .iter()
                    .flat_map(|word| {
                        [
                            format!("that were never {word}"),
                            format!("that have never been {word}"),
                            format!("have never been {word}"),
                            format!("that nobody {word}"),
                            format!("not {word} yet"),
                            format!("never {word}"),
                        ]
                    })
                    .collect(),
                words
                    .iter()
                    .flat_map(|word| {
                        [
                            format!("that have been {word}"),
                            format!("that were {word}"),
                            format!("have been {word}"),
                        ]
                    })
                    .collect(),
            )
        };
        let from = format!("select {key} from {} as t0 where", noun.source);
        let not = name.replacen("ever", "never", 1);
        self.filter(path.from, &not, "", keys(format!("{from} not {exists}")), &strs(&never));
        self.filter(path.from, &name, "", keys(format!("{from} {exists}")), &strs(&ever));
        self.language.phrases(&not, &[&format!("never {}", words[0])]);
        self.language.phrases(&name, &[&format!("been {}", words[0])]);
        self.language.contrast(&name, &not);
        self.language.weight(&name, 0.4);
    }

    /// Two things that meet in an event: *customers who bought Summit*, *products that Ann Smith reviewed*.
    pub(super) fn event(&mut self, path: &Path) {
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let nouns = path.nouns(self.plan);
        let event = path.steps.iter().rposition(|step| step.is_down).map(|step| self.noun(nouns[step + 1]));
        let Some(event) = event else { return };
        let known = verb(&event.one);
        let is_staff = |noun: &Noun| noun.one.split(' ').any(|word| english::STAFF.contains(&word));
        if is_staff(noun) || is_staff(end) {
            self.handled(path, noun, end);
            return;
        }
        let name = match known {
            Some(_) if !noun.is_person && !end.is_person => "containing".to_owned(),
            Some((_, _, past, _)) => names::snake(&names::words(past), "did"),
            None => format!("by_{}", names::snake(&names::words(&event.one), "event")),
        };
        let say = event_words(noun, end, event, known);
        let sql = self.reached(path, &format!("{} in ({{1}})", paths::key(end, &path.last())));
        let name = free(&name);
        // Of two events between the same things, the one with a verb of its own is found by it.
        for suffix in ["Any", "Filters", "Kind"] {
            let has = match suffix {
                "Any" => true,
                "Filters" => self.has_filters[path.to],
                _ => self.has_kinds[path.to],
            };
            // Narrowed things without their noun: *who bought helmets*.
            if has && (suffix == "Any" || noun.is_person) {
                self.filter(path.from, &name, &ty(end, suffix), sql.clone(), &strs(&say));
            }
        }
        let mut phrases: Vec<&str> =
            known.map(|(_, _, past, participle)| vec![*past, *participle]).unwrap_or_default();
        if phrases.contains(&"bought") {
            phrases.extend(["ordered", "purchased"]);
        }
        if name == "containing" {
            phrases = vec!["containing", "with"];
        }
        if phrases.is_empty() {
            phrases.push(&event.one);
        }
        self.language.phrases(&name, &phrases);
    }

    /// Whether a path leads over an event, and over nothing else, from a person to a thing or back, or from the event
    /// to what is in it.
    pub(super) fn meets(&self, path: &Path) -> bool {
        let nouns = path.nouns(self.plan);
        let inner = &nouns[1..nouns.len() - 1];
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let is_event = |place: &usize| {
            let noun = self.noun(*place);
            verb(&noun.one).is_some() || noun.is_detail || noun.kind == NounKind::Junction
        };
        let ends =
            end.kind == NounKind::Rows && noun.kind == NounKind::Rows && !noun.is_detail && !end.is_detail;
        let is_close = path.steps.len() == 2 && self.noun(inner[0]).is_detail;
        ends && inner.iter().all(is_event) && (noun.is_person != end.is_person || is_close)
    }

    /// What members of the staff did: *employees who sold Summit*.
    pub(super) fn handled(&mut self, path: &Path, noun: &Noun, end: &Noun) {
        let sql = self.reached(path, &format!("{} in ({{1}})", paths::key(end, &path.last())));
        let say = if noun.is_person {
            ["who handled {1}", "who sold {1}", "that sold {1}", "handled {1}"]
        } else {
            ["handled by {1}", "sold by {1}", "that {1} sold", "that {1} handled"]
        };
        self.filter(path.from, "handled", &ty(end, "Any"), sql, &say);
        self.language.phrases("handled", &["handled", "sold"]);
    }
}

/// How two things that meet in an event are said.
fn event_words(noun: &Noun, end: &Noun, event: &Noun, known: Option<&Verb>) -> Vec<String> {
    let mut say: Vec<String> = Vec::new();
    // People use these words for one another.
    let also: &[&str] = match known {
        Some((_, _, "bought" | "ordered", _)) => &["ordered", "purchased", "bought"],
        Some((_, _, "borrowed", _)) => &["borrowed", "checked out", "loaned"],
        _ => &[],
    };
    if noun.is_person && !end.is_person {
        say.extend(also.iter().flat_map(|past| {
            [format!("who {past} {{1}}"), format!("{past} {{1}}"), format!("have {past} {{1}}")]
        }));
    } else if end.is_person {
        say.extend(also.iter().flat_map(|past| {
            [format!("{past} by {{1}}"), format!("{{1}} {past}"), format!("has {{1}} {past}")]
        }));
    }
    match known {
        Some((_, _, past, _)) if noun.is_person && !end.is_person => {
            say.extend([
                format!("who {past} {{1}}"),
                format!("that {past} {{1}}"),
                format!("who have {past} {{1}}"),
                format!("{past} {{1}}"),
            ]);
        }
        Some((_, verb, past, participle)) if end.is_person && !noun.is_person => {
            say.extend([
                format!("{participle} by {{1}}"),
                format!("{{1}} {past}"),
                format!("that {{1}} {past}"),
                format!("did {{1}} {verb}"),
                format!("that were {participle} by {{1}}"),
            ]);
        }
        Some((_, _, _, participle)) => {
            say.extend([
                format!("{participle} with {{1}}"),
                "with {1}".to_owned(),
                "containing {1}".to_owned(),
                format!("{participle} by {{1}}"),
            ]);
        }
        None => {
            say.extend([format!("with {} for {{1}}", event.many), format!("with {} of {{1}}", event.many)])
        }
    }
    say
}
