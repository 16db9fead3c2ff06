//! How programs are said: words for constants, names for entities, and sentences for complete programs.
//!
//! A domain file says it with the keys `say` and `weight` and the table `[say]`. Where it is silent, phrases of the lexicon
//! and names of entities are used. [`Wordings`] answers for each constant; generating examples is up to others.

mod template;

use crate::domain::{ClassId, ConstantId, Domain, Frame, FrameId, Kind, PredicateClassId};
use crate::lexicon::Source;
use crate::signature::Side;
use crate::states::AccumulatorId;
use crate::term::{TermId, Terms};
use crate::types::TypeId;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::ops::Range;
pub(crate) use template::within;
pub use template::{Part, Place, Template};

/// Templates for the signatures of a constant that are declared by one text of the file.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The text of the signatures; `None` for all of them.
    pub(crate) declared: Option<Range<usize>>,
    pub(crate) templates: Vec<Template>,
}

/// What a domain file says about how its programs are said.
#[derive(Clone, Debug, Default)]
pub struct Say {
    pub(crate) constants: HashMap<ConstantId, Vec<Said>>,
    pub(crate) names: HashMap<ConstantId, Vec<String>>,
    pub(crate) literals: BTreeMap<ClassId, Vec<Template>>,
    pub(crate) gathered: BTreeMap<AccumulatorId, Vec<Template>>,
    pub(crate) roots: Vec<(TypeId, Vec<Template>)>,
    pub(crate) weights: HashMap<ConstantId, f64>,
    pub(crate) predicate_weights: BTreeMap<PredicateClassId, f64>,
    pub(crate) class_weights: BTreeMap<ClassId, f64>,
    pub(crate) gathered_weights: BTreeMap<AccumulatorId, f64>,
}

impl Say {
    /// How often a predicate is drawn, compared with others; zero for never. The predicates of a class share its weight.
    #[must_use]
    pub fn weight(&self, domain: &Domain, constant: ConstantId) -> f64 {
        let class = domain.constants()[constant].class;
        let found = match class {
            Some(class) => self.predicate_weights.get(&class),
            None => self.weights.get(&constant),
        };
        found.copied().unwrap_or(1.0)
    }

    /// How often a member of a class is drawn.
    #[must_use]
    pub fn class_weight(&self, class: ClassId) -> f64 {
        self.class_weights.get(&class).copied().unwrap_or(1.0)
    }

    /// How often a list of gathered values is drawn.
    #[must_use]
    pub fn gathered_weight(&self, accumulator: AccumulatorId) -> f64 {
        self.gathered_weights.get(&accumulator).copied().unwrap_or(1.0)
    }

    /// How values of a class of literals are said: templates with one hole for words that the value is read from, and texts
    /// without one, which are such words themselves.
    #[must_use]
    pub fn literals(&self, class: ClassId) -> &[Template] {
        self.literals.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Whether the file says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty()
            && self.names.is_empty()
            && self.roots.is_empty()
            && self.literals.is_empty()
    }
}

/// The words of a domain for all that programs are made of.
pub struct Wordings<'a> {
    domain: &'a Domain,
    phrases: HashMap<ConstantId, Vec<&'a str>>,
}

impl<'a> Wordings<'a> {
    /// Collects the phrases of the lexicon. Cost: linear in their number.
    #[must_use]
    pub fn new(domain: &'a Domain) -> Self {
        let mut phrases: HashMap<ConstantId, Vec<&str>> = HashMap::new();
        for (phrase, constant) in domain.lexicon().phrases() {
            phrases.entry(constant).or_default().push(phrase);
        }
        Self { domain, phrases }
    }

    /// How a predicate is said with the arguments of a frame, whose numbers are those of the holes. Empty where the file has
    /// texts for the constant, and none of them suits this frame.
    #[must_use]
    pub fn of(&self, constant: ConstantId, frame: FrameId) -> Vec<Template> {
        let frame = self.domain.frame(frame);
        let said = self.domain.say().constants.get(&constant);
        let suits = |said: &&Said| said.declared.as_ref().is_none_or(|declared| *declared == frame.declared);
        let texts: Vec<&Template> =
            said.into_iter().flatten().filter(suits).flat_map(|said| &said.templates).collect();
        if texts.is_empty() {
            return self.fallback(constant, frame);
        }
        let n_args = frame.slots.len();
        let place = |slot: usize| match frame.places.iter().position(|&place| place == slot) {
            Some(arg) => Place::Argument(arg),
            None if frame.lacks.contains(&slot) => Place::Lacking,
            None => Place::Absent,
        };
        let fitting: Vec<Template> =
            texts.iter().filter_map(|template| template.for_slots(n_args, &place)).collect();
        if !fitting.is_empty() {
            return fitting;
        }
        let words = texts.iter().filter(|template| template.holes().is_empty());
        words.map(|template| around(&template.parts, frame)).collect()
    }

    /// Phrases of the lexicon, or else the name of the constant, with the arguments around them. A constant that need not be
    /// said has its arguments alone as well.
    fn fallback(&self, constant: ConstantId, frame: &Frame) -> Vec<Template> {
        let name = self.domain.constants()[constant].name.replace(['_', '-', '.'], " ");
        let text = |text: &str| around(&[Part::Text(text.to_owned())], frame);
        let mut found: Vec<Template> = match self.phrases.get(&constant) {
            Some(phrases) => phrases.iter().map(|phrase| text(phrase)).collect(),
            None => vec![text(name.trim())],
        };
        if frame.implicit {
            found.insert(0, around(&[], frame));
        }
        found
    }

    /// How two neighbors of a list are joined, with two holes. One text at least.
    #[must_use]
    pub fn gathered(&self, accumulator: AccumulatorId) -> Vec<Template> {
        let said = self.domain.say().gathered.get(&accumulator);
        let parts = vec![Part::Hole(0), Part::Text(" ".to_owned()), Part::Hole(1)];
        said.cloned().unwrap_or_else(|| vec![Template { parts }])
    }

    /// The sentences for a complete program of a type: those of the nearest types that `[say]` lists.
    #[must_use]
    pub fn root(&self, ty: TypeId) -> Vec<Template> {
        let types = self.domain.types();
        let roots = || self.domain.say().roots.iter().filter(|(root, _)| types.is_subtype(ty, *root));
        let is_nearest =
            |root: TypeId| roots().all(|(other, _)| *other == root || !types.is_subtype(*other, root));
        let found: Vec<Template> =
            roots().filter(|(root, _)| is_nearest(*root)).flat_map(|(_, texts)| texts.clone()).collect();
        if found.is_empty() { vec![Template { parts: vec![Part::Hole(0)] }] } else { found }
    }

    /// The members of each class that tables list, each with its names: those of `say`, or else the phrases and aliases.
    #[must_use]
    pub fn names(&self) -> BTreeMap<ClassId, Vec<(ConstantId, Vec<String>)>> {
        let (constants, said) = (self.domain.constants(), &self.domain.say().names);
        let terms = self.domain.new_terms();
        let mut names: BTreeMap<ConstantId, Vec<String>> = BTreeMap::new();
        self.domain.lexicon().for_each(Source::Name, |words, owners| {
            for owner in owners.iter().filter(|owner| !said.contains_key(*owner)) {
                names.entry(*owner).or_default().push(joined(words));
            }
        });
        let mut classes: BTreeMap<ClassId, Vec<(ConstantId, Vec<String>)>> = BTreeMap::new();
        for (id, constant) in constants.iter_enumerated() {
            let Kind::Entity(class) = constant.kind else { continue };
            let own = said.get(&id).cloned().or_else(|| names.remove(&id)).unwrap_or_default();
            let own: Vec<String> = match constant.term {
                Some(term) if !own.is_empty() => {
                    own.into_iter().map(|name| as_written(&terms, term, name)).collect()
                }
                _ => own,
            };
            if constant.term.is_some() && !own.is_empty() {
                classes.entry(class).or_default().push((id, own));
            }
        }
        classes
    }
}

/// Words with the arguments of a frame around them: one after them, two on both sides, more after them. Slots with a side
/// keep it.
fn around(words: &[Part], frame: &Frame) -> Template {
    let n_args = frame.slots.len();
    let is_left = &|arg: usize| match frame.sides[arg] {
        Some(side) => side == Side::Left,
        None => n_args == 2 && arg == 0,
    };
    let args =
        |left: bool| (0..n_args).filter(move |&arg| is_left(arg) == left).map(|arg| vec![Part::Hole(arg)]);
    let said = Some(words.to_vec()).filter(|words| !words.is_empty());
    let mut parts: Vec<Part> = Vec::new();
    for piece in args(true).chain(said).chain(args(false)) {
        if !parts.is_empty() {
            parts.push(Part::Text(" ".to_owned()));
        }
        parts.extend(piece);
    }
    Template { parts }
}

/// A name as the program of its member writes it, if that has the same words: with its capital letters.
fn as_written(terms: &Terms, term: TermId, name: String) -> String {
    let written = terms.bottom_up(term).into_iter().map(|leaf| terms.head_text(leaf));
    let found = written.into_iter().find(|text| text.to_lowercase() == name).map(str::to_owned);
    found.unwrap_or(name)
}

/// Words as they are usually written: no space inside `o'brien`, `st. louis` or `x-ray`.
fn joined(words: &[&str]) -> String {
    let mut text = String::new();
    let mut is_glued = true;
    for word in words {
        let is_mark = matches!(*word, "'" | "’" | "-" | "/" | "." | "," | ":" | "!" | "?" | "%" | ")");
        if !is_glued && !is_mark {
            text.push(' ');
        }
        text.push_str(word);
        is_glued = matches!(*word, "'" | "’" | "-" | "/" | "(" | "$" | "#");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_core::Utterance;

    #[test]
    fn names_are_written_as_usual_and_keep_their_words() {
        for name in ["o'brien", "st. louis", "x-ray", "washington, d.c.", "a & b", "100% wool"] {
            let words = |text: &str| -> Vec<String> {
                Utterance::new(text).tokens().iter().map(|token| token.lower.clone()).collect()
            };
            let tokens = words(name);
            let borrowed: Vec<&str> = tokens.iter().map(String::as_str).collect();
            assert_eq!(words(&joined(&borrowed)), tokens);
        }
        assert_eq!(joined(&["o", "'", "brien"]), "o'brien");
        assert_eq!(joined(&["st", ".", "louis"]), "st. louis");
    }
}
