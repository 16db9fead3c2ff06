//! Checks that the data of the demo has the properties that the demo claims.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use spanwise_chart::derivable::{Derivability, PREDICATE_PLACEMENTS, SETTINGS};
use spanwise_core::Utterance;
use spanwise_domains::data::template;
use spanwise_domains::exec;
use spanwise_lang::{Domain, Kind, Node, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// The only question with an empty answer; it is intentional.
const EMPTY: &str = "is there any state that borders hawaii";
/// The least number of training programs in which a constant must occur.
const FEWEST: usize = 6;

fn sets() -> Vec<(&'static str, Vec<Example>)> {
    let is_data = |name: &str| name.ends_with(".jsonl");
    FILES
        .iter()
        .filter(|(name, _)| is_data(name))
        .map(|(name, text)| (*name, examples(name, text).unwrap()))
        .collect()
}

fn geo() -> Domain {
    spanwise_domains::load::load("geo").unwrap()
}

fn program(terms: &mut Terms, example: &Example) -> TermId {
    terms.parse(example.program.as_deref().unwrap()).unwrap()
}

/// The words of a question in lower case, without punctuation.
fn words(text: &str) -> Vec<String> {
    let utterance = Utterance::new(text);
    let tokens = utterance.tokens().iter().map(|token| token.lower.clone());
    tokens.filter(|word| word.chars().any(char::is_alphanumeric)).collect()
}

fn templates(domain: &Domain, examples: &[Example]) -> BTreeSet<String> {
    let mut terms = domain.new_terms();
    let class = |terms: &Terms, term| {
        let class = domain.class_of(terms, term)?;
        Some(domain.classes()[class].name.clone())
    };
    let mut one = |example: &Example| {
        let program = program(&mut terms, example);
        template(&terms, program, class)
    };
    examples.iter().map(&mut one).collect()
}

#[test]
fn no_question_occurs_twice_in_all_files() {
    let mut seen = BTreeMap::new();
    for (name, examples) in sets() {
        for example in examples {
            let before = seen.insert(words(&example.utterance), name);
            assert_eq!(before, None, "{name}: {}", example.utterance);
        }
    }
    assert!(seen.len() > 500);
}

#[test]
fn compositions_have_shapes_that_training_has_not() {
    let domain = geo();
    let of: BTreeMap<&str, BTreeSet<String>> =
        sets().iter().map(|(name, examples)| (*name, templates(&domain, examples))).collect();
    let (train, dev) = (&of["train.jsonl"], &of["dev.jsonl"]);
    let compositions = &of["test_compositions.jsonl"];
    assert!(compositions.is_disjoint(train) && compositions.is_disjoint(dev));
    assert!(of["test_iid.jsonl"].is_subset(train));
    // The last question that the demo shows by itself is such a composition too.
    let [.., last] = super::super::SHOWN;
    let shown = templates(&domain, &questions().unwrap()[last..=last]);
    assert!(shown.is_disjoint(train) && shown.is_disjoint(dev));
}

#[test]
fn every_program_is_well_typed_and_can_be_derived_from_its_words() {
    let domain = geo();
    let (_, anywhere) = PREDICATE_PLACEMENTS[0];
    let derivability = Derivability::new(&domain, anywhere);
    for (name, examples) in sets() {
        for example in examples {
            let mut terms = domain.new_terms();
            let program = program(&mut terms, &example);
            let text = format!("{name}: {}", example.utterance);
            assert!(domain.analyze(&terms, program).is_ok(), "{text}");
            let utterance = Utterance::new(example.utterance.as_str());
            let setting = derivability.first_setting(&utterance, &terms, program);
            // The model uses open composition and inserts no implicit constants.
            assert!(setting.is_ok_and(|at| SETTINGS[at].0 != "open + implicit"), "{text}");
        }
    }
}

#[test]
fn every_question_but_one_has_a_non_empty_answer() {
    let domain = geo();
    let executor = exec::open(&domain, None).unwrap().unwrap();
    let mut n_empty = 0;
    for (name, examples) in sets() {
        for example in examples {
            let mut terms = domain.new_terms();
            let program = program(&mut terms, &example);
            let found = executor.execute(&terms, program, None).unwrap();
            assert_eq!(found.is_empty, example.utterance == EMPTY, "{name}: {}", example.utterance);
            n_empty += usize::from(found.is_empty);
            if name == "questions.jsonl" {
                assert_eq!(example.answer.as_deref(), Some(found.text.as_str()), "{}", example.utterance);
            }
        }
    }
    assert_eq!(n_empty, 1);
}

#[test]
fn training_has_every_constant_often_enough_and_every_word_except_names() {
    let domain = geo();
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for (name, examples) in sets() {
        for example in examples {
            let mut terms = domain.new_terms();
            let program = program(&mut terms, &example);
            let analysis =
                domain.analyze(&terms, program).unwrap_or_else(|_| panic!("{}", example.utterance));
            let constants: BTreeSet<String> = analysis
                .nodes
                .iter()
                .filter_map(|node| match node {
                    Node::Constant { constant, .. } => Some(&domain.constants()[*constant]),
                    Node::Gather { .. } | Node::Unlisted { .. } => None,
                })
                .filter(|constant| constant.kind == Kind::Predicate)
                .map(|constant| constant.name.clone())
                .collect();
            let utterance = Utterance::new(example.utterance.as_str());
            let names = names(&domain, &utterance);
            let is_train = name == "train.jsonl";
            for constant in constants {
                let n = uses.entry(constant.clone()).or_default();
                *n += usize::from(is_train);
                assert!(*n >= FEWEST || is_train, "{constant} of {name} is too rare in training");
            }
            for (token, is_name) in utterance.tokens().iter().zip(names) {
                if is_train {
                    known.insert(token.lower.clone());
                } else {
                    let word = &token.lower;
                    assert!(is_name || known.contains(word), "{name}: `{word}` in {}", example.utterance);
                }
            }
        }
    }
}

/// Which words are part of a name.
fn names(domain: &Domain, utterance: &Utterance) -> Vec<bool> {
    let mut is_name = vec![false; utterance.len()];
    for found in domain.lexicon().matches(utterance) {
        if found.source == spanwise_lang::lexicon::Source::Name {
            is_name[found.span.start as usize..found.span.end as usize].fill(true);
        }
    }
    is_name
}
