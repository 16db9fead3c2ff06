//! Programs of the built-in domains as tokens, and what the constraint on their tokens allows.

use crate::real_programs::shared;
use spanwise_core::Random;
use spanwise_domains::data;
use spanwise_domains::load::load;
use spanwise_lang::Domain;
use spanwise_lang::constraint::{Constraint, Terminal};
use spanwise_lang::domain::ClassId;
use spanwise_lang::linear::{Leaf, Token, assemble, leaf, linearize, vocabulary};

/// Checks that programs are allowed step by step, with exactly as many tokens and the classes of leaves as they have.
fn check_programs(spec: &str, files: &[&str]) {
    let domain = load(spec).unwrap();
    let constraint = Constraint::new(&domain);
    for file in files {
        let Some(path) = shared(file) else { return };
        let mut terms = domain.new_terms();
        for example in data::read(&path).unwrap() {
            let text = example.program.unwrap();
            let program = terms.parse(&text).unwrap();
            let tokens = linearize(&domain, &terms, program);
            assert_eq!(assemble(&mut terms, &tokens), Ok(program), "{text}");
            let classes: Vec<ClassId> = tokens.iter().filter_map(class).collect();
            let mut prefix = constraint.start(tokens.len(), &classes);
            for token in &tokens {
                let terminal = constraint.terminal(token);
                assert!(terminal.is_some_and(|terminal| prefix.push(terminal)), "`{token}` in {text}");
            }
            assert!(prefix.is_complete(), "{text}");
        }
    }
}

fn class(token: &Token) -> Option<ClassId> {
    match token {
        Token::Leaf(Leaf { class, .. }) => *class,
        _ => None,
    }
}

#[cfg(feature = "geo")]
#[test]
fn every_geo_program_is_allowed_step_by_step() {
    check_programs("geo", &["geo/splits/train.json", "geo/splits/dev.json", "geo/splits/test.json"]);
}

#[test]
fn every_clevr_and_closure_program_is_allowed_step_by_step() {
    check_programs("clevr", &["clevr/dev.jsonl", "clevr/test_iid.jsonl", "clevr/test_closure.jsonl"]);
}

#[test]
fn every_scan_program_is_allowed_step_by_step() {
    check_programs(
        "scan",
        &["scan_sp/train_simple.json", "scan_sp/dev_simple.json", "scan_sp/test_simple.json"],
    );
}

/// Chooses among the allowed tokens at random, many times, and checks the programs in the end. Returns how many there are.
fn check_walks(domain: &Domain, leaves: &[&str], n_walks: u64) -> usize {
    let constraint = Constraint::new(domain);
    let mut terms = domain.new_terms();
    let leaves: Vec<Token> = leaves.iter().map(|text| leaf(domain, &mut terms, text).unwrap()).collect();
    let mut candidates = vocabulary(domain);
    candidates.extend(leaves.iter().cloned());
    let terminals: Vec<Terminal> =
        candidates.iter().map(|token| constraint.terminal(token).unwrap()).collect();
    let classes: Vec<ClassId> = leaves.iter().filter_map(class).collect();
    let mut n_programs = 0;
    for seed in 0..n_walks {
        let mut random = Random::new(seed, &[]);
        let max_tokens = random.below(60);
        let mut prefix = constraint.start(max_tokens, &classes);
        let mut tokens = Vec::new();
        loop {
            let allowed: Vec<usize> =
                (0..terminals.len()).filter(|&at| prefix.allows(terminals[at])).collect();
            if allowed.is_empty() || prefix.is_complete() && random.below(4) == 0 {
                break;
            }
            let at = allowed[random.below(allowed.len())];
            assert!(prefix.push(terminals[at]));
            tokens.push(candidates[at].clone());
        }
        // Without a token, there is no program that short.
        if !tokens.is_empty() {
            assert!(prefix.is_complete() && tokens.len() <= max_tokens);
            let program = assemble(&mut terms, &tokens).unwrap();
            if let Err(problem) = domain.analyze(&terms, program) {
                panic!("{}: {}", domain.display(&terms, program), problem.describe(domain, &terms));
            }
            assert_eq!(linearize(domain, &terms, program), tokens);
            n_programs += 1;
        }
    }
    n_programs
}

#[cfg(feature = "geo")]
#[test]
fn every_random_walk_over_allowed_tokens_ends_in_a_well_typed_geo_program() {
    let leaves =
        ["stateid('texas')", "cityid('austin', _)", "cityid('austin', 'tx')", "riverid('red')", "0", "17"];
    for spec in ["geo", "geo@paper"] {
        let domain = load(spec).unwrap();
        assert!(check_walks(&domain, &[], 1_000) > 800, "{spec}");
        assert!(check_walks(&domain, &leaves[..2], 1_000) > 800, "{spec}");
    }
    assert!(check_walks(&load("geo").unwrap(), &leaves, 1_000) > 800);
}

#[test]
fn every_random_walk_over_allowed_tokens_ends_in_a_well_typed_clevr_or_scan_program() {
    for spec in ["clevr", "scan"] {
        assert!(check_walks(&load(spec).unwrap(), &[], 2_000) > 1_600, "{spec}");
    }
}
