//! Counts what is in a data set and what its splits share.
//!
//! Programs that cannot be parsed are counted, but their templates and constants are not.

use super::example::Example;
use super::template::template;
use hashbrown::HashSet;
use spanwise_core::Utterance;
use spanwise_lang::{Shape, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// Lengths of many things.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Lengths {
    /// How many things were measured; where none, the rest is 0.
    pub n: usize,
    /// The shortest.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// The longest.
    pub max: u64,
}

/// What one split holds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// The split's name.
    pub name: String,
    /// Number of examples.
    pub n_examples: usize,
    /// Examples that have a program.
    pub n_programs: usize,
    /// Programs that cannot be read.
    pub n_unreadable: usize,
    /// Examples that have an answer.
    pub n_answers: usize,
    /// Utterances, in tokens.
    pub utterance_tokens: Lengths,
    /// Programs, in constants.
    pub program_constants: Lengths,
    /// Different utterances.
    pub distinct_utterances: usize,
    /// Different programs; spacing does not count.
    pub distinct_programs: usize,
    /// Different templates.
    pub distinct_templates: usize,
}

/// What a split has in common with another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shared {
    /// Different things that occur in both.
    pub distinct: usize,
    /// Examples of the second split whose thing occurs in the first.
    pub examples: usize,
}

/// What two splits have in common.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overlap {
    /// The first split.
    pub first: String,
    /// The second split.
    pub second: String,
    /// Utterances in both.
    pub utterances: Shared,
    /// Programs in both.
    pub programs: Shared,
    /// Templates in both.
    pub templates: Shared,
}

/// Constants that a split uses and the first split does not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unseen {
    /// The split.
    pub name: String,
    /// Each constant as programs write it, and the number of examples that use it; most used first.
    pub constants: Vec<(String, usize)>,
}

/// Everything that is counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// One per split.
    pub summaries: Vec<Summary>,
    /// One per pair of splits.
    pub overlaps: Vec<Overlap>,
    /// One per split after the first, which should be train.
    pub unseen: Vec<Unseen>,
}

/// Counts what the splits hold, train first. Programs are parsed into `terms`; `class_of` returns the class of a term
/// that is an entity, as for [`template`].
pub fn describe(
    mut terms: Terms,
    splits: &[(&str, &[Example])],
    class_of: impl Fn(&Terms, TermId) -> Option<String>,
) -> Report {
    let measured: Vec<Measured<'_>> =
        splits.iter().map(|&(name, examples)| Measured::new(&mut terms, name, examples, &class_of)).collect();
    let pairs =
        (0..measured.len()).flat_map(|first| (first + 1..measured.len()).map(move |second| (first, second)));
    let overlaps = pairs.map(|(first, second)| overlap(&measured[first], &measured[second])).collect();
    let unseen = measured.iter().skip(1).map(|split| unseen(&measured[0], split)).collect();
    Report { summaries: measured.into_iter().map(|split| split.summary).collect(), overlaps, unseen }
}

/// A split with what must be kept of it for comparison.
struct Measured<'a> {
    summary: Summary,
    /// One per example.
    utterances: Vec<&'a str>,
    /// One per program that can be read.
    programs: Vec<TermId>,
    templates: Vec<String>,
    /// Number of examples that use the constant.
    constants: BTreeMap<String, usize>,
}

impl<'a> Measured<'a> {
    fn new(
        terms: &mut Terms,
        name: &str,
        examples: &'a [Example],
        class_of: impl Fn(&Terms, TermId) -> Option<String>,
    ) -> Self {
        let utterances: Vec<&str> = examples.iter().map(|example| example.utterance.trim()).collect();
        let texts: Vec<&str> = examples.iter().filter_map(|example| example.program.as_deref()).collect();
        let programs: Vec<TermId> = texts.iter().filter_map(|text| terms.parse(text).ok()).collect();
        let templates: Vec<String> = programs.iter().map(|&it| template(terms, it, &class_of)).collect();
        let summary = Summary {
            name: name.to_owned(),
            n_examples: examples.len(),
            n_programs: texts.len(),
            n_unreadable: texts.len() - programs.len(),
            n_answers: examples.iter().filter(|example| example.answer.is_some()).count(),
            utterance_tokens: lengths(utterances.iter().map(|&text| Utterance::new(text).len() as u64)),
            program_constants: lengths(programs.iter().map(|&program| terms.size(program))),
            distinct_utterances: utterances.iter().collect::<HashSet<_>>().len(),
            distinct_programs: programs.iter().collect::<HashSet<_>>().len(),
            distinct_templates: templates.iter().collect::<HashSet<_>>().len(),
        };
        Self { summary, utterances, constants: constants(terms, &programs), programs, templates }
    }
}

fn lengths(lengths: impl Iterator<Item = u64>) -> Lengths {
    let (mut found, mut sum) = (Lengths { min: u64::MAX, ..Lengths::default() }, 0u64);
    for length in lengths {
        found.n += 1;
        found.min = found.min.min(length);
        found.max = found.max.max(length);
        sum = sum.saturating_add(length);
    }
    if found.n == 0 {
        return Lengths::default();
    }
    Lengths { mean: sum as f64 / found.n as f64, ..found }
}

fn constants(terms: &Terms, programs: &[TermId]) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for &program in programs {
        // Many terms may have the same head; within one program it counts once.
        let head = |term| (terms.shape(term) == Shape::Quoted, terms.head_text(term));
        let heads: BTreeSet<_> = terms.bottom_up(program).into_iter().map(head).collect();
        for head in heads {
            *counts.entry(head).or_default() += 1;
        }
    }
    let written = |(is_quoted, name): (bool, &str)| {
        if is_quoted { format!("'{}'", name.replace('\'', "''")) } else { name.to_owned() }
    };
    counts.into_iter().map(|(head, count)| (written(head), count)).collect()
}

fn overlap(first: &Measured<'_>, second: &Measured<'_>) -> Overlap {
    Overlap {
        first: first.summary.name.clone(),
        second: second.summary.name.clone(),
        utterances: shared(&first.utterances, &second.utterances),
        programs: shared(&first.programs, &second.programs),
        templates: shared(&first.templates, &second.templates),
    }
}

fn shared<T: Eq + std::hash::Hash>(first: &[T], second: &[T]) -> Shared {
    let known: HashSet<&T> = first.iter().collect();
    let common: Vec<&T> = second.iter().filter(|item| known.contains(item)).collect();
    Shared { examples: common.len(), distinct: common.into_iter().collect::<HashSet<_>>().len() }
}

fn unseen(train: &Measured<'_>, split: &Measured<'_>) -> Unseen {
    let is_new = |(name, _): &(&String, &usize)| !train.constants.contains_key(*name);
    let mut constants: Vec<(String, usize)> =
        split.constants.iter().filter(is_new).map(|(name, &count)| (name.clone(), count)).collect();
    // Stable: equally frequent constants stay in the order of their names.
    constants.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    Unseen { name: split.summary.name.clone(), constants }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(utterance: &str, program: &str) -> Example {
        Example { program: Some(program.to_owned()), ..Example::new(utterance) }
    }

    fn report() -> Report {
        let train = [example("rivers in texas?", "river(loc_2(stateid('texas')))"), example("all", "all")];
        let test = [
            example("rivers in ohio?", "river( loc_2( stateid( 'ohio' ) ) )"),
            example("rivers in  ohio?", "river(loc_2(stateid('ohio')))"),
            example("longest", "longest(all, 'ohio')"),
            example("broken", "longest(("),
            Example::new("all"),
        ];
        let class_of = |terms: &Terms, term| (terms.head_text(term) == "stateid").then(|| "state".to_owned());
        describe(Terms::new(), &[("train", &train), ("test", &test)], class_of)
    }

    #[test]
    fn a_split_is_summarized() {
        let test = &report().summaries[1];
        assert_eq!((test.n_examples, test.n_programs, test.n_unreadable, test.n_answers), (5, 4, 1, 0));
        assert_eq!((test.distinct_utterances, test.distinct_programs, test.distinct_templates), (5, 2, 2));
        assert_eq!(test.utterance_tokens, Lengths { n: 5, min: 1, mean: 11.0 / 5.0, max: 4 });
        assert_eq!(test.program_constants, Lengths { n: 3, min: 3, mean: 11.0 / 3.0, max: 4 });
    }

    #[test]
    fn what_splits_share_is_counted_by_kind_and_by_example() {
        let overlap = &report().overlaps[0];
        assert_eq!((overlap.first.as_str(), overlap.second.as_str()), ("train", "test"));
        assert_eq!(overlap.utterances, Shared { distinct: 1, examples: 1 });
        assert_eq!(overlap.programs, Shared { distinct: 0, examples: 0 });
        assert_eq!(overlap.templates, Shared { distinct: 1, examples: 2 });
    }

    #[test]
    fn constants_unseen_in_train_are_listed_with_their_examples() {
        let unseen = &report().unseen[0];
        assert_eq!(unseen.constants, [("'ohio'".to_owned(), 3), ("longest".to_owned(), 1)]);
    }

    #[test]
    fn no_splits_and_empty_splits_are_allowed() {
        assert_eq!(describe(Terms::new(), &[], |_, _| None), Report::default());
        let report = describe(Terms::new(), &[("train", &[])], |_, _| None);
        assert_eq!(report.summaries[0].utterance_tokens, Lengths::default());
    }
}
