//! The operations on whole values, which are lists. Every item is charged to the budget.
//!
//! Lists keep their order and their duplicates until an answer is written or counted. Open items (see
//! `relations`) occur only in lists of one: they come from an id in the program, and no operation joins two
//! lists. That is why `exclude` and `intersect` treat lists of one apart and hash all others.

use super::budget::{Budget, Stop};
use super::facts::Facts;
use super::literals::Literals;
use super::predicates::{Extreme, Filter, Measure, Relation};
use super::value::{Item, ListPairs, Number, Pairs};
use hashbrown::HashSet;

/// Steps for an item with an open place: about as many facts are looked at.
const OPEN_COST: u64 = 512;
/// Steps for an item that is compared with all places or rivers: about as many there are.
const COMPARISON_COST: u64 = 128;

/// What the operations of one evaluation share.
pub(super) struct Operations {
    pub(super) facts: &'static Facts,
    pub(super) literals: Literals,
    pub(super) budget: Budget,
}

impl Operations {
    /// The items of the kind; open ones are filled in.
    pub(super) fn filter(&mut self, filter: Filter, mut items: Vec<Item>) -> Result<Vec<Item>, Stop> {
        self.pay_for(&items, 1)?;
        items.retain_mut(|item| match self.facts.keep(filter, *item) {
            Some(filled) => {
                *item = filled;
                true
            }
            None => false,
        });
        Ok(items)
    }

    /// The items that have such a number, filled in, each with its number.
    pub(super) fn measure(&mut self, measure: Measure, items: &[Item]) -> Result<Vec<(Number, Item)>, Stop> {
        self.pay_for(items, 1)?;
        Ok(items.iter().filter_map(|&item| self.facts.measure(measure, item)).collect())
    }

    /// The capitals of the states among the items.
    pub(super) fn capitals_of(&mut self, items: &[Item]) -> Result<Vec<Item>, Stop> {
        self.pay_for(items, 1)?;
        Ok(items.iter().filter_map(|&item| self.facts.capital_of(item)).collect())
    }

    /// All that the items are related to, concatenated.
    pub(super) fn relate(&mut self, relation: Relation, items: &[Item]) -> Result<Vec<Item>, Stop> {
        let mut related = Vec::new();
        for &item in items {
            self.relate_one(relation, item, &mut related)?;
        }
        Ok(related)
    }

    /// The items, each with the list of what it is related to.
    pub(super) fn relate_pairs(&mut self, relation: Relation, items: &[Item]) -> Result<ListPairs, Stop> {
        let mut pairs = ListPairs::default();
        for &item in items {
            self.relate_one(relation, item, &mut pairs.keys)?;
            pairs.finish(item);
        }
        Ok(pairs)
    }

    fn relate_one(&mut self, relation: Relation, item: Item, related: &mut Vec<Item>) -> Result<(), Stop> {
        self.pay_for(&[item], if relation.compares() { COMPARISON_COST } else { 1 })?;
        let n_before = related.len();
        self.facts.relate(relation, item, related);
        self.budget.spend((related.len() - n_before) as u64)?;
        Ok(self.budget.hold(related.len() as u64)?)
    }

    /// A filter in the second reading. It filters the lists; a number is no list, so the reference executor
    /// goes back and leaves out pairs until none is left for the filter to fail on.
    pub(super) fn filter_pairs(&mut self, filter: Filter, pairs: &Pairs) -> Result<Pairs, Stop> {
        let Pairs::Lists(lists) = pairs else { return Ok(Pairs::Numbers(Vec::new())) };
        self.pay_for(&lists.keys, 1)?;
        let mut kept = ListPairs::default();
        for (item, list) in lists.iter() {
            kept.keys.extend(list.iter().filter_map(|&key| self.facts.keep(filter, key)));
            kept.finish(item);
        }
        Ok(Pairs::Lists(kept))
    }

    /// The first item with the extreme number, if there is any item.
    pub(super) fn extreme(extreme: Extreme, pairs: impl IntoIterator<Item = (Number, Item)>) -> Vec<Item> {
        let mut best: Option<(f64, Item)> = None;
        for (number, item) in pairs {
            let size = number.size();
            let is_better = best.is_none_or(|(best_size, _)| match extreme {
                Extreme::Most => size > best_size,
                Extreme::Least => size < best_size,
            });
            if is_better {
                best = Some((size, item));
            }
        }
        best.into_iter().map(|(_, item)| item).collect()
    }

    /// The item with the extreme number. Lists have no order: a single one wins, more cannot be compared.
    pub(super) fn one(extreme: Extreme, pairs: &Pairs) -> Result<Vec<Item>, Stop> {
        match pairs {
            Pairs::Numbers(pairs) => Ok(Self::extreme(extreme, pairs.iter().copied())),
            Pairs::Lists(pairs) => match pairs.items[..] {
                [] => Ok(Vec::new()),
                [(item, _)] => Ok(vec![item]),
                _ => Err(Stop::Fails("lists cannot be compared by size".to_owned())),
            },
        }
    }

    /// The item whose list has the extreme number of different items.
    pub(super) fn by_count(&mut self, extreme: Extreme, pairs: &Pairs) -> Result<Vec<Item>, Stop> {
        match pairs {
            Pairs::Numbers(pairs) if pairs.is_empty() => Ok(Vec::new()),
            Pairs::Numbers(_) => {
                Err(Stop::Fails("a number is no list whose items can be counted".to_owned()))
            }
            Pairs::Lists(pairs) => {
                self.budget.spend((pairs.items.len() + pairs.keys.len()) as u64)?;
                let mut scratch = Vec::new();
                let counts = pairs.iter().map(|(item, list)| {
                    scratch.clear();
                    scratch.extend_from_slice(list);
                    (n_different(&mut scratch), item)
                });
                Ok(Self::extreme(extreme, counts))
            }
        }
    }

    /// How many different items.
    pub(super) fn count(&mut self, mut items: Vec<Item>) -> Result<Number, Stop> {
        self.budget.spend(items.len() as u64)?;
        Ok(n_different(&mut items))
    }

    /// The sum of all items, duplicates included, from the first to the last.
    pub(super) fn sum(&mut self, items: &[Item]) -> Result<Number, Stop> {
        self.budget.spend(items.len() as u64)?;
        let mut sum = Number::Int(0);
        for item in items {
            let Item::Number(number) = *item else {
                return Err(Stop::Fails("only numbers can be added".to_owned()));
            };
            sum = sum.plus(number);
        }
        Ok(sum)
    }

    /// The items without those that can be the same as an excluded one. Nothing is filled in.
    pub(super) fn exclude(&mut self, mut items: Vec<Item>, excluded: &[Item]) -> Result<Vec<Item>, Stop> {
        self.budget.spend((items.len() + excluded.len()) as u64)?;
        match (&items[..], excluded) {
            (_, []) | ([], _) => {}
            (_, &[one]) => {
                let mut kept = Vec::with_capacity(items.len());
                for &item in &items {
                    if self.literals.unify(&mut self.budget, item, one)?.is_none() {
                        kept.push(item);
                    }
                }
                items = kept;
            }
            (&[item], _) => {
                if self.first_unified(item, excluded)?.is_some() {
                    items.clear();
                }
            }
            _ => {
                let excluded: HashSet<Item> = excluded.iter().copied().collect();
                items.retain(|item| !excluded.contains(item));
            }
        }
        Ok(items)
    }

    /// The items that can be the same as one of the others, filled in from it. From the first match on, an
    /// open item of the others is filled in as well.
    pub(super) fn intersect(&mut self, mut items: Vec<Item>, others: &[Item]) -> Result<Vec<Item>, Stop> {
        self.budget.spend((items.len() + others.len()) as u64)?;
        match (&items[..], others) {
            ([], _) => Ok(Vec::new()),
            (_, &[mut other]) => {
                let mut common = Vec::new();
                for &item in &items {
                    if let Some(unified) = self.literals.unify(&mut self.budget, item, other)? {
                        common.push(unified);
                        other = unified;
                    }
                }
                Ok(common)
            }
            (&[item], _) => Ok(self.first_unified(item, others)?.into_iter().collect()),
            _ => {
                let others: HashSet<Item> = others.iter().copied().collect();
                items.retain(|item| others.contains(item));
                Ok(items)
            }
        }
    }

    fn first_unified(&mut self, item: Item, others: &[Item]) -> Result<Option<Item>, Stop> {
        for &other in others {
            if let Some(unified) = self.literals.unify(&mut self.budget, item, other)? {
                return Ok(Some(unified));
            }
        }
        Ok(None)
    }

    fn pay_for(&mut self, items: &[Item], cost_each: u64) -> Result<(), Stop> {
        let is_open = matches!(items, [item] if item.is_open());
        let cost = (items.len() as u64).saturating_mul(cost_each);
        Ok(self.budget.spend(if is_open { cost + OPEN_COST } else { cost })?)
    }
}

fn n_different(items: &mut Vec<Item>) -> Number {
    items.sort_unstable();
    items.dedup();
    Number::Int(items.len() as i64)
}
