//! The plan of a program: every different subterm once, with the readings that are needed of it.
//!
//! Pass 1 (`nodes`) looks up every predicate. AFTER THIS POINT names and numbers of arguments are right.
//! Pass 2 (`request`) passes down from the root which readings each subterm needs. AFTER THIS POINT every
//! reading that is needed has a rule, so evaluation can fail only because of values.
//!
//! A query has a plain reading, a list of items, and some queries have a second one, a list of items each with
//! the list or number it is compared by; `most(..)` and `largest_one(..)` need the second.

use super::budget::{Budget, Stop};
use super::predicates::Op;
use crate::data::message::shown;
use crate::exec::ExecError;
use spanwise_lang::{Shape, TermId, Terms};

/// A subterm.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) term: TermId,
    /// What it does; names, numbers and `_` do nothing.
    pub(super) op: Option<Op>,
    /// Its first arguments in the plan. Unused places repeat the node itself.
    pub(super) args: [usize; 2],
    /// How often its plain reading is needed.
    pub(super) plain_uses: u32,
    /// How often its second reading is needed.
    pub(super) paired_uses: u32,
}

/// The subterms of a program, arguments before the terms that use them; the program itself is last.
pub(super) fn plan(terms: &Terms, program: TermId, budget: &mut Budget) -> Result<Vec<Node>, Stop> {
    let mut nodes = nodes(terms, program, budget)?;
    if let Some(root) = nodes.last_mut() {
        root.plain_uses = 1;
    }
    for at in (0..nodes.len()).rev() {
        request(terms, &mut nodes, at)?;
    }
    Ok(nodes)
}

fn nodes(terms: &Terms, program: TermId, budget: &mut Budget) -> Result<Vec<Node>, ExecError> {
    let subterms = terms.bottom_up(program);
    budget.spend(subterms.len() as u64)?;
    let mut nodes = Vec::with_capacity(subterms.len());
    for (at, &term) in subterms.iter().enumerate() {
        let mut node = Node { term, op: None, args: [at; 2], plain_uses: 0, paired_uses: 0 };
        if terms.shape(term) == Shape::Call {
            let args = terms.args(term);
            node.op = Some(Op::of(terms.head_text(term), args.len()).map_err(ExecError::BadProgram)?);
            for (place, arg) in node.args.iter_mut().zip(args) {
                *place = subterms.binary_search(arg).expect("arguments are subterms");
            }
        }
        nodes.push(node);
    }
    Ok(nodes)
}

/// Counts the readings of its arguments that a node needs.
fn request(terms: &Terms, nodes: &mut [Node], at: usize) -> Result<(), Stop> {
    let Node { term, op, args, plain_uses, paired_uses } = nodes[at];
    if plain_uses > 0 {
        match op {
            None => return Err(Stop::Fails(no_query(terms, term))),
            Some(Op::Id(_)) => {}
            Some(Op::Filter(filter)) if filter.has_all() && is_all(terms, nodes[args[0]].term) => {}
            Some(Op::One(_) | Op::ByCount(_)) => nodes[args[0]].paired_uses += 1,
            Some(op) => args[..op.n_args()].iter().for_each(|&arg| nodes[arg].plain_uses += 1),
        }
    }
    if paired_uses > 0 {
        match op {
            Some(Op::Filter(_)) => nodes[args[0]].paired_uses += 1,
            Some(Op::Measure(_)) => nodes[args[0]].plain_uses += 1,
            Some(Op::Relation(relation)) if relation.has_pairs() => nodes[args[0]].plain_uses += 1,
            _ => return Err(Stop::Fails(no_comparison(terms, term))),
        }
    }
    Ok(())
}

/// Whether the argument of a filter means everything: `all`, or `_`, which `all` can fill.
fn is_all(terms: &Terms, term: TermId) -> bool {
    match terms.shape(term) {
        Shape::Wildcard => true,
        Shape::Name | Shape::Quoted => terms.head_text(term) == "all",
        Shape::Number | Shape::Call => false,
    }
}

fn no_query(terms: &Terms, leaf: TermId) -> String {
    format!("`{}` is where a query must be", shown(terms.head_text(leaf)))
}

fn no_comparison(terms: &Terms, term: TermId) -> String {
    format!("`{}` gives nothing to compare its items by", shown(terms.head_text(term)))
}
