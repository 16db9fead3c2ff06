//! Filters of Overnight: `filter(filter(x, a, b), c)` as one filter, whose conditions a domain file can declare as a set.

use spanwise_lang::{TermId, Terms};
use std::collections::{HashMap, HashSet};

const FILTER: &str = "filter";
/// The head of a condition: what a filter is given besides the set.
pub(super) const CONDITION: &str = "is";
/// The head of several conditions.
pub(super) const ALL: &str = "all";

/// The term with one filter in place of filters of filters: `filter(x, all(is(a, b), is(c)))`. The conditions have the order in
/// which they are applied, the inner first. One that is repeated is written once.
pub(super) fn flat(terms: &mut Terms, root: TermId) -> TermId {
    let outer = outer(terms, root);
    rebuilt(terms, root, |terms, term, copies| {
        let (mut set, mut conditions) = (term, Vec::new());
        while let Some((inner, condition)) = filter(terms, set).filter(|_| outer.contains(&term)) {
            conditions.push(condition.iter().map(|arg| copies[arg]).collect::<Vec<_>>());
            set = inner;
        }
        if conditions.is_empty() {
            return None;
        }
        let mut seen = HashSet::new();
        let mut all = Vec::with_capacity(conditions.len());
        for condition in conditions.iter().rev() {
            let condition = terms.call(CONDITION, condition);
            if seen.insert(condition) {
                all.push(condition);
            }
        }
        let conditions = if let [only] = all[..] { only } else { terms.call(ALL, &all) };
        Some(terms.call(FILTER, &[copies[&set], conditions]))
    })
}

/// The inverse of [`flat`], but for conditions that were repeated.
pub(super) fn nested(terms: &mut Terms, root: TermId) -> TermId {
    rebuilt(terms, root, |terms, term, copies| {
        let &[set, conditions] = terms.args(term) else { return None };
        if terms.head_text(term) != FILTER {
            return None;
        }
        let all = match terms.head_text(conditions) {
            ALL => terms.args(conditions).to_vec(),
            _ => vec![conditions],
        };
        if all.iter().any(|&condition| terms.head_text(condition) != CONDITION) {
            return None;
        }
        let mut filtered = copies[&set];
        for condition in all {
            let args: Vec<TermId> = terms.args(condition).iter().map(|arg| copies[arg]).collect();
            filtered = terms.call(FILTER, &[&[filtered], &args[..]].concat());
        }
        Some(filtered)
    })
}

/// All terms but those that are filtered further wherever they are used. They are parts of a filter around them, and looking at
/// each on its own would take quadratic time.
fn outer(terms: &Terms, root: TermId) -> HashSet<TermId> {
    let mut outer = HashSet::from([root]);
    for term in terms.bottom_up(root) {
        let inner = filter(terms, term).map(|(set, _)| set);
        outer.extend(
            terms
                .args(term)
                .iter()
                .enumerate()
                .filter(|(idx, _)| *idx > 0 || inner.is_none())
                .map(|(_, arg)| arg),
        );
    }
    outer
}

/// The set and the condition of a filter.
fn filter(terms: &Terms, term: TermId) -> Option<(TermId, &[TermId])> {
    match terms.args(term) {
        [set, condition @ ..] if !condition.is_empty() && terms.head_text(term) == FILTER => {
            Some((*set, condition))
        }
        _ => None,
    }
}

/// A copy of a term, bottom-up. `replace` may give another copy of a term whose parts are copied.
fn rebuilt(
    terms: &mut Terms,
    root: TermId,
    replace: impl Fn(&mut Terms, TermId, &HashMap<TermId, TermId>) -> Option<TermId>,
) -> TermId {
    let mut copies = HashMap::new();
    for term in terms.bottom_up(root) {
        let copy = replace(terms, term, &copies).unwrap_or_else(|| {
            let args: Vec<TermId> = terms.args(term).iter().map(|arg| copies[arg]).collect();
            terms.term(terms.shape(term), terms.head(term), &args)
        });
        copies.insert(term, copy);
    }
    copies[&root]
}
