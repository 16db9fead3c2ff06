//! Contrasting examples: a constant exchanged for its opposite, in the words and in the program.
//!
//! A domain declares opposites (`contrasts`). Without such examples, a constant that most examples have would also be read where its
//! opposite is said: the words around them are the same.

use super::{Explained, Recombined, build, whole};
use hashbrown::{HashMap, HashSet};
use spanwise_chart::candidates::Candidates;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::Grammar;
use spanwise_chart::{Category, TreeNode};
use spanwise_core::{Random, Utterance};
use spanwise_lang::{ConstantId, Domain, FrameId, Node, TermId, Terms};

/// Makes up to `n` examples in which one constant is exchanged for its opposite, each with a derivation. Words of the opposite
/// come from other examples. No utterance is one of `known` or of an example. The same seed gives the same examples.
///
/// Cost: one gold chart per new example.
pub fn contrasted(
    domain: &Domain,
    (grammar, candidates): (&Grammar, &Candidates),
    terms: &mut Terms,
    examples: &[Explained],
    n: usize,
    seed: u64,
) -> Vec<Recombined> {
    let phrases = phrases(domain, examples);
    let mut known: HashSet<String> = examples.iter().map(|example| whole(&example.utterance)).collect();
    let mut random = Random::from_state(seed);
    let mut order: Vec<usize> = (0..examples.len()).collect();
    random.shuffle(&mut order);
    let mut found = Vec::new();
    for host in order {
        if found.len() == n {
            break;
        }
        let example = &examples[host];
        for node in &example.tree.tree.nodes {
            let Some((old, new)) = opposite(domain, node) else { continue };
            let Some(texts) = phrases.get(&new) else { continue };
            let text = exchanged(&example.utterance, node, &texts[random.below(texts.len())]);
            let utterance = Utterance::new(text).said_at(example.utterance.now());
            let Some(program) = program(domain, terms, example.program, old, new) else { continue };
            let Ok(lattice) = candidates.lattice(domain, &utterance) else { continue };
            let gold = GoldChart::new(domain, grammar, &lattice, terms, program, Joins::None);
            if gold.is_ok() && known.insert(whole(&utterance)) {
                found.push(Recombined { utterance, program, host });
                break;
            }
        }
    }
    found
}

/// The words that constants with an opposite are aligned to, each once, in the order of the examples.
fn phrases(domain: &Domain, examples: &[Explained]) -> HashMap<ConstantId, Vec<String>> {
    let mut phrases: HashMap<ConstantId, Vec<String>> = HashMap::new();
    for example in examples {
        for node in &example.tree.tree.nodes {
            let Some((constant, _)) = opposite(domain, node) else { continue };
            let text = example.utterance.slice(node.span).to_lowercase();
            let known = phrases.entry(constant).or_default();
            if !known.contains(&text) {
                known.push(text);
            }
        }
    }
    phrases
}

/// The constant of a node, and its opposite.
fn opposite(domain: &Domain, node: &TreeNode) -> Option<(ConstantId, ConstantId)> {
    let Category::Constant(constant) = node.category else { return None };
    domain.contrasts().iter().find_map(|&[a, b]| match constant {
        _ if constant == a => Some((a, b)),
        _ if constant == b => Some((b, a)),
        _ => None,
    })
}

/// The text with other words for a node.
fn exchanged(utterance: &Utterance, node: &TreeNode, words: &str) -> String {
    let tokens = utterance.tokens();
    let (first, last) = (&tokens[node.span.start as usize], &tokens[node.span.end as usize - 1]);
    [&utterance.text()[..first.bytes.start], words, &utterance.text()[last.bytes.end..]].concat()
}

/// The program with a constant exchanged; `None` if it occurs more than once, because it would not be clear which one the words
/// mean, or if its opposite is not used in the same way.
fn program(
    domain: &Domain,
    terms: &mut Terms,
    program: TermId,
    old: ConstantId,
    new: ConstantId,
) -> Option<TermId> {
    let mut analysis = domain.analyze(terms, program).ok()?;
    let is_old = |node: &Node| matches!(node, Node::Constant { constant, .. } if *constant == old);
    let mut places = (0..analysis.nodes.len()).filter(|&at| is_old(&analysis.nodes[at]));
    let (place, None) = (places.next()?, places.next()) else { return None };
    drop(places);
    if let Node::Constant { constant, frame, .. } = &mut analysis.nodes[place] {
        (*constant, *frame) = (new, same_frame(domain, *frame, new)?);
    }
    let body = build(domain, terms, &analysis, None)?[0];
    let whole = domain.wrap().map_or(body, |form| form.build(terms, &[body]));
    domain.analyze(terms, whole).is_ok().then_some(whole)
}

/// The frame of a constant with the same slots and the same result as another.
fn same_frame(domain: &Domain, frame: FrameId, constant: ConstantId) -> Option<FrameId> {
    let old = domain.frame(frame);
    let is_same = |(_, new): &(FrameId, &spanwise_lang::domain::Frame)| {
        new.slots == old.slots && new.result == old.result
    };
    domain.frames_of(constant).find(is_same).map(|(id, _)| id)
}
