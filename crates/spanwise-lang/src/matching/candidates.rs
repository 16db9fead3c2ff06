//! Which of the inexact matches of a span are offered, and which are too many.

use super::sequences::Sequences;
use super::{Approximate, CAP, Crowd, MatchKind, Matches};
use crate::domain::ConstantId;
use crate::lexicon::{Match, Source};
use spanwise_core::Span;
use std::ops::Range;

/// Most (name, constant) pairs of a group that are looked at before it counts as too large.
const SCAN: usize = 512;

/// Where the words of a span occur.
#[derive(Clone, Debug)]
pub(super) enum Places {
    /// Places with `depth` words in common.
    Words { places: Range<u32>, depth: usize },
    /// A whole sequence with other spaces.
    Sequence(u32),
}

/// Occurrences of the words of a span, all of the same kind and with the same cost of the words.
#[derive(Clone, Debug)]
pub(super) struct Hit<'a> {
    pub(super) table: &'a Sequences,
    pub(super) kind: MatchKind,
    pub(super) cost: f32,
    pub(super) places: Places,
}

impl Hit<'_> {
    fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && self.cost == other.cost
    }

    /// Pairs of a name and a constant, one for each occurrence.
    fn len(&self) -> u32 {
        match &self.places {
            Places::Words { places, .. } => self.table.n_constants(places.clone()),
            &Places::Sequence(sequence) => self.table.constants_of(sequence).len() as u32,
        }
    }

    /// The constants, with repetition, each with its cost.
    fn constants(&self) -> impl Iterator<Item = (ConstantId, f32)> + '_ {
        let sequences: (Range<u32>, Option<usize>) = match &self.places {
            Places::Words { places, depth } => (places.clone(), Some(*depth)),
            &Places::Sequence(sequence) => (sequence..sequence + 1, None),
        };
        let (range, depth) = sequences;
        range.flat_map(move |at| {
            let sequence = if depth.is_some() { self.table.sequence(at) } else { at };
            let n_words = self.table.words_of(sequence).len();
            let missing = depth.map_or(0.0, |depth| (n_words - depth) as f32 / n_words as f32);
            let cost = self.cost + missing;
            self.table.constants_of(sequence).iter().map(move |&constant| (constant, cost))
        })
    }

    fn text(&self) -> String {
        match &self.places {
            Places::Words { places, depth } => {
                self.table.words_at(places.start, *depth).collect::<Vec<_>>().join(" ")
            }
            &Places::Sequence(sequence) => {
                let words = self.table.words_of(sequence).iter().map(|&word| self.table.word(word));
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// Collects the matches of an utterance.
#[derive(Debug, Default)]
pub(super) struct Offers {
    found: Vec<Approximate>,
    crowded: Vec<Crowd>,
}

impl Offers {
    /// Adds the matches of a span: all exact ones, and of the others as many groups as fit.
    pub(super) fn add(&mut self, span: Span, exact: &[Match], hits: &mut [Hit<'_>]) {
        let all_exact = exact.iter().map(|found| Approximate {
            span,
            constant: found.constant,
            source: found.source,
            kind: MatchKind::Exact,
            cost: 0.0,
        });
        self.found.extend(all_exact);
        if hits.is_empty() {
            return;
        }
        let mut taken: Vec<ConstantId> = exact.iter().map(|found| found.constant).collect();
        taken.sort_unstable();
        hits.sort_by(|a, b| a.kind.cmp(&b.kind).then(a.cost.total_cmp(&b.cost)));
        let mut n_offered = 0;
        for group in hits.chunk_by(Hit::is_like) {
            let Some(fresh) = gather(group, &taken, CAP - n_offered) else {
                if taken.is_empty() {
                    let n = group.iter().map(Hit::len).sum();
                    self.crowded.push(Crowd { span, text: group[0].text(), n });
                }
                return;
            };
            n_offered += fresh.len();
            taken.extend(fresh.iter().map(|(constant, ..)| constant));
            taken.sort_unstable();
            let kind = group[0].kind;
            let offered = fresh.into_iter().map(|(constant, source, cost)| Approximate {
                span,
                constant,
                source,
                kind,
                cost,
            });
            self.found.extend(offered);
        }
    }

    /// What is left when matches inside better ones of the same constant are taken away.
    pub(super) fn finish(self) -> Matches {
        let Self { mut found, mut crowded } = self;
        drop_inner(&mut found);
        let spans: Vec<Span> =
            found.iter().filter(|found| found.source == Source::Name).map(|found| found.span).collect();
        let crowds: Vec<Span> = crowded.iter().map(|crowd| crowd.span).collect();
        let is_inside = |inner: Span, outer: &Span| outer.contains(inner) && *outer != inner;
        crowded.retain(|crowd| !spans.iter().chain(&crowds).any(|outer| is_inside(crowd.span, outer)));
        found.sort_by(|a, b| {
            (a.span, a.kind).cmp(&(b.span, b.kind)).then_with(|| match a.kind {
                // In the order of the lexicon.
                MatchKind::Exact => std::cmp::Ordering::Equal,
                _ => a.cost.total_cmp(&b.cost).then((a.source, a.constant).cmp(&(b.source, b.constant))),
            })
        });
        Matches { found, crowded }
    }
}

/// The constants of a group that are not taken, each with its source and least cost; `None` for more than `most`.
fn gather(group: &[Hit<'_>], taken: &[ConstantId], most: usize) -> Option<Vec<(ConstantId, Source, f32)>> {
    let mut fresh: Vec<(ConstantId, Source, f32)> = Vec::new();
    let all = group
        .iter()
        .flat_map(|hit| hit.constants().map(|(constant, cost)| (constant, hit.table.source, cost)));
    for (n, (constant, source, cost)) in all.enumerate() {
        if n > SCAN + taken.len() {
            return None;
        }
        if taken.binary_search(&constant).is_ok() {
            continue;
        }
        if let Some((_, _, least)) = fresh.iter_mut().find(|(known, ..)| *known == constant) {
            *least = least.min(cost);
        } else if fresh.len() == most {
            return None;
        } else {
            fresh.push((constant, source, cost));
        }
    }
    Some(fresh)
}

/// Drops inexact matches inside a longer match of the same constant that is no worse in kind.
fn drop_inner(found: &mut Vec<Approximate>) {
    let mut by_constant: Vec<(ConstantId, Span, MatchKind)> =
        found.iter().map(|found| (found.constant, found.span, found.kind)).collect();
    by_constant.sort_unstable();
    found.retain(|inner| {
        let first = by_constant.partition_point(|&(constant, ..)| constant < inner.constant);
        let same = by_constant[first..].iter().take_while(|(constant, ..)| *constant == inner.constant);
        let is_outer = |&(_, span, kind): &(ConstantId, Span, MatchKind)| {
            span != inner.span && span.contains(inner.span) && kind <= inner.kind
        };
        inner.kind == MatchKind::Exact || !same.copied().any(|outer| is_outer(&outer))
    });
}
