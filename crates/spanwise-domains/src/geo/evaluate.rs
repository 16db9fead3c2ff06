//! Evaluates a plan to the list of items that the program denotes, not yet sorted.
//!
//! The nodes of a plan are evaluated in order, each reading once, so nothing here recurses. A value is changed
//! in place or dropped when its last user takes it. Evaluating a subterm once is right even when it has open
//! places: a value that fills one in is a new value, so no occurrence sees what another one filled in.

use super::budget::Stop;
use super::operations::Operations;
use super::plan::Node;
use super::predicates::Op;
use super::value::{Item, Pairs};
use spanwise_lang::Terms;
use std::rc::Rc;

/// The value of the last node of a plan.
pub(super) fn evaluate(terms: &Terms, nodes: Vec<Node>, ops: &mut Operations) -> Result<Vec<Item>, Stop> {
    let values = vec![Value::default(); nodes.len()];
    let mut evaluation = Evaluation { terms, nodes, values };
    let Some(last) = evaluation.nodes.len().checked_sub(1) else { return Ok(Vec::new()) };
    for at in 0..=last {
        if evaluation.nodes[at].plain_uses > 0 {
            let items = evaluation.plain(at, ops)?;
            evaluation.values[at].plain = Some(items);
        }
        if evaluation.nodes[at].paired_uses > 0 {
            let pairs = evaluation.paired(at, ops)?;
            evaluation.values[at].paired = Some(Rc::new(pairs));
        }
    }
    Ok(Rc::unwrap_or_clone(evaluation.take_plain(last)))
}

struct Evaluation<'a> {
    terms: &'a Terms,
    nodes: Vec<Node>,
    values: Vec<Value>,
}

/// The readings of a node that are known and still needed.
#[derive(Clone, Default)]
struct Value {
    plain: Option<Rc<Vec<Item>>>,
    paired: Option<Rc<Pairs>>,
}

impl Evaluation<'_> {
    fn plain(&mut self, at: usize, ops: &mut Operations) -> Result<Rc<Vec<Item>>, Stop> {
        let Node { term, op, args: [arg, second], .. } = self.nodes[at];
        let items = match op.expect("the plan requests no reading of a name or a number") {
            Op::Same => return Ok(self.take_plain(arg)),
            Op::Id(kind) => {
                vec![ops.literals.item(&mut ops.budget, self.terms, kind, self.terms.args(term))?]
            }
            // The plan has checked that the name or `_` in the argument means everything.
            Op::Filter(filter) if self.nodes[arg].op.is_none() => ops.facts.everything(filter),
            Op::Filter(filter) => ops.filter(filter, self.take_owned(arg))?,
            Op::Measure(measure) => {
                let measured = ops.measure(measure, &self.take_plain(arg))?;
                measured.into_iter().map(|(number, _)| Item::Number(number)).collect()
            }
            Op::CapitalOf => ops.capitals_of(&self.take_plain(arg))?,
            Op::Relation(relation) => ops.relate(relation, &self.take_plain(arg))?,
            Op::Superlative(measure, extreme) => {
                Operations::extreme(extreme, ops.measure(measure, &self.take_plain(arg))?)
            }
            Op::One(extreme) => Operations::one(extreme, &self.take_paired(arg))?,
            Op::ByCount(extreme) => ops.by_count(extreme, &self.take_paired(arg))?,
            Op::Count => vec![Item::Number(ops.count(self.take_owned(arg))?)],
            Op::Sum => vec![Item::Number(ops.sum(&self.take_plain(arg))?)],
            Op::Exclude => {
                let items = self.take_owned(arg);
                ops.exclude(items, &self.take_plain(second))?
            }
            Op::Intersection => {
                let items = self.take_owned(arg);
                ops.intersect(items, &self.take_plain(second))?
            }
        };
        ops.budget.spend(items.len() as u64)?;
        ops.budget.hold(items.len() as u64)?;
        Ok(Rc::new(items))
    }

    fn paired(&mut self, at: usize, ops: &mut Operations) -> Result<Pairs, Stop> {
        let Node { op, args: [arg, _], .. } = self.nodes[at];
        Ok(match op {
            Some(Op::Filter(filter)) => ops.filter_pairs(filter, &self.take_paired(arg))?,
            Some(Op::Measure(measure)) => Pairs::Numbers(ops.measure(measure, &self.take_plain(arg))?),
            Some(Op::Relation(relation)) => Pairs::Lists(ops.relate_pairs(relation, &self.take_plain(arg))?),
            _ => unreachable!("the plan requests a second reading of no other operation"),
        })
    }

    /// The plain reading of a node; the last use takes it out of the store.
    fn take_plain(&mut self, at: usize) -> Rc<Vec<Item>> {
        self.nodes[at].plain_uses -= 1;
        let plain = &mut self.values[at].plain;
        let taken = if self.nodes[at].plain_uses == 0 { plain.take() } else { plain.clone() };
        taken.expect("arguments are evaluated first, and kept for as many uses as the plan counts")
    }

    /// The same, to be changed in place; a copy only when there are further uses.
    fn take_owned(&mut self, at: usize) -> Vec<Item> {
        Rc::unwrap_or_clone(self.take_plain(at))
    }

    fn take_paired(&mut self, at: usize) -> Rc<Pairs> {
        self.nodes[at].paired_uses -= 1;
        let paired = &mut self.values[at].paired;
        let taken = if self.nodes[at].paired_uses == 0 { paired.take() } else { paired.clone() };
        taken.expect("arguments are evaluated first, and kept for as many uses as the plan counts")
    }
}
