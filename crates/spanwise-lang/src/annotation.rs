//! Phrases and preferences for annotation, which aligns known programs to their utterances.
//!
//! A parser's lexicon is kept small, because the parser must learn which words are aligned to which constants. Annotation knows
//! the program, so it can use as many phrases as there are. They come from a file of their own. The preferences choose
//! between several alignments; they are applied by the evaluation crate.

use crate::diag::{Diagnostic, closest};
use crate::domain::file::{At, read, read_annotation};
use crate::domain::{Domain, DomainErrors};
use crate::lexicon::{Lexicon, Match, Source};
use spanwise_core::{Idx, Utterance};

/// A criterion by which one alignment of a program is better than another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Preference {
    /// More constants aligned to words, fewer implicit ones.
    Said,
    /// Fewer open compositions.
    Continuous,
    /// More words aligned to predicates.
    LongPhrases,
    /// More words aligned to entities.
    LongNames,
    /// Fewer words aligned to entities.
    ShortNames,
    /// More arguments to the right of their function.
    FunctionFirst,
    /// Arguments of a function in the order of its slots.
    SlotOrder,
}

impl Preference {
    /// All preferences, with their names in files.
    pub const ALL: [(&'static str, Self); 7] = [
        ("said", Self::Said),
        ("continuous", Self::Continuous),
        ("long-phrases", Self::LongPhrases),
        ("long-names", Self::LongNames),
        ("short-names", Self::ShortNames),
        ("function-first", Self::FunctionFirst),
        ("slot-order", Self::SlotOrder),
    ];

    /// The preferences of a file without the key `prefer`.
    pub const DEFAULT: [Self; 6] = [
        Self::Said,
        Self::Continuous,
        Self::LongPhrases,
        Self::LongNames,
        Self::FunctionFirst,
        Self::SlotOrder,
    ];
}

/// The phrases of a domain for annotation.
#[derive(Clone, Debug)]
pub struct Annotation {
    phrases: Lexicon,
    /// For each constant, whether its phrases come from this file; all others keep those of the domain.
    listed: Vec<bool>,
    prefer: Vec<Preference>,
}

impl Annotation {
    /// The phrases of the domain itself, and the default preferences.
    #[must_use]
    pub fn of(domain: &Domain) -> Self {
        Self {
            phrases: Lexicon::default(),
            listed: vec![false; domain.constants().len()],
            prefer: Preference::DEFAULT.to_vec(),
        }
    }

    /// Reads a file of phrases. `file` is its name in messages.
    ///
    /// # Errors
    /// All problems of the file, with lines and columns.
    pub fn load(domain: &Domain, source: &str, file: &str) -> Result<Self, DomainErrors> {
        let mut problems = Vec::new();
        let mut annotation = Self::of(domain);
        if let Some(file) = read_annotation(source, &mut problems) {
            let elsewhere = constants_of_other_systems(domain);
            for (name, phrases) in &file.phrases {
                if !elsewhere.contains(&name.value) {
                    annotation.constant(domain, name, phrases, &mut problems);
                }
            }
            if let Some(names) = &file.prefer {
                annotation.prefer = preferences(names, &mut problems);
            }
        }
        if problems.is_empty() {
            return Ok(annotation);
        }
        problems.sort_by_key(|problem| problem.range.start);
        Err(DomainErrors { file: file.to_owned(), source: source.to_owned(), problems })
    }

    fn constant(
        &mut self,
        domain: &Domain,
        name: &At<String>,
        phrases: &[At<String>],
        problems: &mut Vec<Diagnostic>,
    ) {
        let Some(constant) = domain.predicate(&name.value) else {
            let problem = Diagnostic::new(name.range.clone(), format!("unknown constant `{}`", name.value));
            problems.push(match closest(&name.value, domain.predicate_names()) {
                Some(near) => problem.hint(format!("did you mean `{near}`?")),
                None => problem.hint("only constants of the domain have phrases; entities have their names"),
            });
            return;
        };
        self.listed[constant.index()] = true;
        for phrase in phrases {
            if !self.phrases.insert(&phrase.value, constant, Source::Phrase) {
                let message = format!("a phrase of `{}` has no word in it", name.value);
                problems.push(Diagnostic::new(phrase.range.clone(), message));
            }
        }
    }

    /// The preferences, the most important first.
    #[must_use]
    pub fn prefer(&self) -> &[Preference] {
        &self.prefer
    }

    /// Every name and phrase that occurs in an utterance.
    #[must_use]
    pub fn matches(&self, domain: &Domain, utterance: &Utterance) -> Vec<Match> {
        let mut found = domain.lexicon().matches(utterance);
        found.retain(|found| found.source != Source::Synonym);
        found.extend(domain.phrases().matches(utterance));
        found.retain(|found| found.source == Source::Name || !self.listed[found.constant.index()]);
        found.extend(self.phrases.matches(utterance));
        found
    }
}

/// Constants of the domain file that the type system in use leaves out. A file of phrases serves all type systems, so it may
/// list them.
fn constants_of_other_systems(domain: &Domain) -> Vec<String> {
    let file = domain.type_system().and_then(|_| read(domain.source(), &mut Vec::new()));
    let names = file.into_iter().flat_map(|file| file.constants).map(|decl| decl.name.value);
    names.filter(|name| domain.predicate(name).is_none()).collect()
}

fn preferences(names: &[At<String>], problems: &mut Vec<Diagnostic>) -> Vec<Preference> {
    let known = || Preference::ALL.iter().map(|(name, _)| *name);
    let mut chosen = Vec::new();
    for name in names {
        let found = Preference::ALL.iter().find(|(known, _)| *known == name.value);
        match found {
            Some((_, preference)) if chosen.contains(preference) => {
                problems
                    .push(Diagnostic::new(name.range.clone(), format!("`{}` is listed twice", name.value)));
            }
            Some((_, preference)) => chosen.push(*preference),
            None => {
                let message = format!("unknown preference `{}`", name.value);
                let hint = match closest(&name.value, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("they are {}", known().collect::<Vec<_>>().join(", ")),
                };
                problems.push(Diagnostic::new(name.range.clone(), message).hint(hint));
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::NoTables;

    const DOMAIN: &str = r#"
        name = "d"
        types = ["A"]
        [root]
        types = ["A"]
        [constants]
        one = "A"
        two = "A -> A"
        [lexicon]
        one = "uno"
        two = "due"
    "#;

    fn domain() -> Domain {
        Domain::load(DOMAIN, "d.toml", None, &NoTables).unwrap()
    }

    fn found(annotation: &Annotation, text: &str) -> String {
        let domain = domain();
        let matches = annotation.matches(&domain, &Utterance::new(text));
        let show = |found: &Match| format!("{} {}", found.span, domain.constants()[found.constant].name);
        matches.iter().map(show).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn listed_constants_have_the_phrases_of_the_file_and_the_others_their_own() {
        let file = "prefer = [\"short-names\", \"said\"]\n[phrases]\ntwo = [\"both\", \"the two\"]";
        let annotation = Annotation::load(&domain(), file, "p.toml").unwrap();
        assert_eq!(annotation.prefer(), [Preference::ShortNames, Preference::Said]);
        assert_eq!(found(&annotation, "uno due both the two"), "0..1 one; 2..3 two; 3..5 two");
        let own = Annotation::of(&domain());
        assert_eq!(own.prefer(), Preference::DEFAULT);
        assert_eq!(found(&own, "uno due both the two"), "0..1 one; 1..2 two");
    }

    #[test]
    fn every_problem_is_reported_with_its_position() {
        let file =
            "prefer = [\"siad\", \"said\", \"said\"]\nphrase = 1\n[phrases]\ntow = \"x\"\ntwo = \" \"\n";
        let errors = Annotation::load(&domain(), file, "p.toml").unwrap_err();
        let lines: Vec<String> = errors.problems.iter().map(|problem| problem.one_line(file)).collect();
        expect_test::expect![[r#"
            [
                "column 12: unknown preference `siad` (hint: did you mean `said`?)",
                "column 28: `said` is listed twice",
                "line 2, column 1: unknown key `phrase` in a file of phrases (hint: did you mean `phrases`?)",
                "line 4, column 1: unknown constant `tow` (hint: did you mean `two`?)",
                "line 5, column 8: a phrase of `two` has no word in it",
            ]
        "#]]
        .assert_debug_eq(&lines);
        let errors = Annotation::load(&domain(), "prefer = [", "p.toml").unwrap_err();
        assert!(errors.to_string().contains("not valid TOML"), "{errors}");
    }
}
