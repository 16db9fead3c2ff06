//! How many constants of a program can have words of their own at once, and an order of words that suits a program.

use crate::lattice::{Lattice, Leaf};
use spanwise_lang::signature::Side;
use spanwise_lang::{Analysis, Domain, Node};

/// Most ways to choose words for names of several words that are tried.
const MAX_CHOICES: usize = 2_000;

/// The most of some constants that have words of their own. Each constant is given by its leaves; two of them may share none.
/// `None` if there are too many ways to try.
pub(super) fn most_at_once(n_tokens: usize, constants: &[Vec<Leaf>]) -> Option<usize> {
    let shortest = |leaves: &Vec<Leaf>| -> Vec<(usize, usize)> {
        let holds = |a: &Leaf, b: &Leaf| a.start <= b.start && b.end <= a.end && a.span() != b.span();
        let inner = leaves.iter().filter(|leaf| !leaves.iter().any(|other| holds(leaf, other)));
        let mut spans: Vec<_> = inner.map(|leaf| (leaf.start as usize, leaf.end as usize)).collect();
        spans.sort_unstable();
        spans.dedup();
        spans
    };
    let (long, single): (Vec<_>, Vec<_>) =
        constants.iter().map(shortest).partition(|spans| spans.iter().any(|(start, end)| end - start > 1));
    let mut search = Search { long: &long, single: &single, best: 0, n_tried: 0 };
    let all = long.len() + single.len();
    search.place(0, &mut vec![false; n_tokens], 0);
    (search.best == all || search.n_tried <= MAX_CHOICES).then_some(search.best)
}

struct Search<'a> {
    /// Constants with words of several lengths: every choice is tried.
    long: &'a [Vec<(usize, usize)>],
    /// Constants on single words: they are matched with words.
    single: &'a [Vec<(usize, usize)>],
    best: usize,
    n_tried: usize,
}

impl Search<'_> {
    fn place(&mut self, at: usize, taken: &mut Vec<bool>, n_placed: usize) {
        if self.best == self.long.len() + self.single.len() || self.n_tried > MAX_CHOICES {
            return;
        }
        let Some(spans) = self.long.get(at) else {
            self.n_tried += 1;
            self.best = self.best.max(n_placed + matched(self.single, taken));
            return;
        };
        for &(start, end) in spans {
            if taken[start..end].contains(&true) {
                continue;
            }
            taken[start..end].fill(true);
            self.place(at + 1, taken, n_placed + 1);
            taken[start..end].fill(false);
        }
        self.place(at + 1, taken, n_placed);
    }
}

/// The most constants that get a free word each: augmenting paths.
fn matched(constants: &[Vec<(usize, usize)>], taken: &[bool]) -> usize {
    let mut owner: Vec<Option<usize>> = vec![None; taken.len()];
    (0..constants.len()).filter(|&one| find_word(one, constants, taken, &mut owner)).count()
}

/// Finds a word for a constant, moving others to other words where necessary. The search is breadth-first, so nothing recurses.
fn find_word(
    first: usize,
    constants: &[Vec<(usize, usize)>],
    taken: &[bool],
    owner: &mut [Option<usize>],
) -> bool {
    let mut came_from: Vec<Option<usize>> = vec![None; taken.len()];
    let mut seen = vec![false; taken.len()];
    let mut todo = std::collections::VecDeque::from([(first, None)]);
    while let Some((one, from)) = todo.pop_front() {
        for &(word, _) in &constants[one] {
            if taken[word] || std::mem::replace(&mut seen[word], true) {
                continue;
            }
            came_from[word] = from;
            if let Some(other) = owner[word] {
                todo.push_back((other, Some(word)));
                continue;
            }
            // Each constant on the path moves to the word after its own.
            let mut word = word;
            while let Some(before) = came_from[word] {
                owner[word] = owner[before];
                word = before;
            }
            owner[word] = Some(first);
            return true;
        }
    }
    false
}

/// One word for each constant that needs one, in an order that suits the program: functions before their arguments, except for
/// arguments on the left.
pub(super) fn in_order(
    domain: &Domain,
    analysis: &Analysis,
    values: &[Option<String>],
    is_needed: &[bool],
) -> Option<Lattice> {
    let mut order: Vec<usize> = Vec::new();
    // A node, and whether its arguments on the left are there already.
    let mut todo = vec![(0, false)];
    while let Some((at, is_begun)) = todo.pop() {
        let children: Vec<usize> = analysis.nodes[at].children().collect();
        let is_left: Vec<bool> = match &analysis.nodes[at] {
            Node::Constant { frame, .. } => {
                domain.frame(*frame).sides.iter().map(|side| *side == Some(Side::Left)).collect()
            }
            _ => vec![false; children.len()],
        };
        let part = |wanted: bool| {
            let of_side = children.iter().zip(&is_left).filter(move |(_, left)| **left == wanted);
            of_side.map(|(&child, _)| (child, false)).rev().collect::<Vec<_>>()
        };
        if is_begun {
            order.push(at);
            todo.extend(part(false));
        } else {
            todo.push((at, true));
            todo.extend(part(true));
        }
    }
    let mut known: Vec<String> = Vec::new();
    let mut leaves: Vec<Leaf> = Vec::new();
    for at in order.into_iter().filter(|&at| is_needed[at]) {
        let word = leaves.len() as u32;
        leaves.push(match &analysis.nodes[at] {
            Node::Constant { constant, .. } => Leaf::new(word, word + 1, *constant),
            Node::Unlisted { class, .. } => {
                known.push(values[at].clone()?);
                let value = Some(known.len() as u32 - 1);
                Leaf { value, ..Leaf::new(word, word + 1, domain.classes()[*class].holder?) }
            }
            Node::Gather { .. } => return None,
        });
    }
    Some(Lattice::new(leaves.len(), leaves).ok()?.with_values(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_lang::ConstantId;

    fn leaves(spans: &[(u32, u32)]) -> Vec<Leaf> {
        spans.iter().map(|&(start, end)| Leaf::new(start, end, ConstantId(0))).collect()
    }

    #[test]
    fn constants_move_for_each_other() {
        let any = leaves(&[(0, 1), (1, 2), (2, 3), (0, 2)]);
        let first = leaves(&[(0, 1)]);
        assert_eq!(most_at_once(3, &[any.clone(), first.clone(), any.clone()]), Some(3));
        assert_eq!(most_at_once(3, &[any.clone(), first.clone(), first]), Some(2));
        assert_eq!(most_at_once(3, &vec![any; 5]), Some(3));
    }

    #[test]
    fn a_name_of_two_words_takes_both() {
        let name = leaves(&[(0, 2), (3, 4)]);
        let any = leaves(&[(0, 1), (1, 2)]);
        assert_eq!(most_at_once(4, &[name.clone(), any.clone(), any.clone()]), Some(3));
        assert_eq!(most_at_once(4, &[name.clone(), name.clone(), any.clone()]), Some(2));
        assert_eq!(most_at_once(2, &[leaves(&[(0, 2)]), any]), Some(1));
    }
}
