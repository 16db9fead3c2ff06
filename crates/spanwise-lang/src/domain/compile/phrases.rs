//! The phrases of predicates: those of the lexicon, and those that are taken whole in trees.

use super::super::file::{At, DomainFile};
use super::super::{ConstantId, Omission};
use super::Compiler;
use crate::diag::Diagnostic;
use crate::lexicon::{Lexicon, Source};

impl Compiler<'_> {
    pub(super) fn lexicon(&mut self, file: &DomainFile) {
        for (table, source) in [(&file.lexicon, Source::Phrase), (&file.synonyms, Source::Synonym)] {
            for (name, phrases) in table {
                let Some(constant) = self.with_phrases(file, name) else { continue };
                phrases.iter().for_each(|phrase| self.phrase(phrase, constant, source));
            }
        }
    }

    /// Marks constants that are allowed on their phrases only. One without a phrase would be allowed nowhere.
    pub(super) fn only_phrases(&mut self, file: &DomainFile) {
        for name in &file.only_phrases {
            let Some(constant) = self.with_phrases(file, name) else { continue };
            self.needs_phrase(file, name, "it would be allowed on no words");
            self.constants[constant].only_phrases = true;
        }
    }

    /// Checks that constants which must be used have phrases: that is where they must be.
    pub(super) fn must_be_used(&mut self, file: &DomainFile) {
        for decl in file.constants.iter().filter(|decl| decl.omission != Omission::Free) {
            self.needs_phrase(file, &decl.name, "there are no words that must be used");
        }
    }

    fn needs_phrase(&mut self, file: &DomainFile, name: &At<String>, or_else: &str) {
        if !file.lexicon.iter().any(|(known, phrases)| known.value == name.value && !phrases.is_empty()) {
            let message = format!("`{}` has no phrase in the lexicon, so {or_else}", name.value);
            let problem = Diagnostic::new(name.range.clone(), message);
            self.problems.push(problem.hint("give it a phrase in [lexicon]"));
        }
    }

    pub(super) fn phrases(&mut self, file: &DomainFile) -> Lexicon {
        let mut all = Lexicon::new(file.inflections);
        for (name, phrases) in &file.phrases {
            let Some(constant) = self.with_phrases(file, name) else { continue };
            for phrase in phrases {
                if !all.insert(&phrase.value, constant, Source::Phrase) {
                    self.problem(&phrase.range, "a phrase needs at least one word");
                }
            }
        }
        all.shrink();
        all
    }

    /// The predicate that phrases are listed for. One that another type system leaves out keeps its phrases in the file;
    /// any other name is reported.
    fn with_phrases(&mut self, file: &DomainFile, name: &At<String>) -> Option<ConstantId> {
        let found = self.predicate_of.get(&name.value).copied();
        if found.is_none() && !file.constants.iter().any(|decl| decl.name.value == name.value) {
            self.unknown_constant(name);
        }
        found
    }
}
