//! The elements of a set in a gold program, and which of them an item has.

use spanwise_lang::{Analysis, Domain, Node};

/// Most elements of a set in a program that a gold chart is built for: every subset of them can be an item.
pub(super) const MAX_ELEMENTS: usize = 12;

/// Some elements of a set: a bit for each. Of equal elements, the first ones are taken first, so that a multiset has one
/// number, whichever words its elements are aligned to.
pub(crate) type Subset = u16;

/// The elements of a set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Elements {
    /// For each element, the first one equal to it. Equal ones are next to each other, since sets are sorted.
    first: Vec<usize>,
}

impl Elements {
    /// For each node of a program that is a set, its elements.
    pub(super) fn of(domain: &Domain, analysis: &Analysis) -> Vec<Option<Self>> {
        let sizes = sizes(analysis);
        let elements = |node: &Node| {
            let Node::Gather { accumulator, elements, .. } = node else { return None };
            if !domain.accumulator_types()[*accumulator].is_set() {
                return None;
            }
            let mut first: Vec<usize> = Vec::with_capacity(elements.len());
            for (at, &element) in elements.iter().enumerate() {
                let is_equal = |before: usize| is_equal(analysis, &sizes, elements[before], element);
                first.push(at.checked_sub(1).filter(|&before| is_equal(before)).map_or(at, |it| first[it]));
            }
            Some(Self { first })
        };
        analysis.nodes.iter().map(elements).collect()
    }

    /// All elements.
    pub(super) fn all(&self) -> Subset {
        self.first.iter().enumerate().fold(0, |all, (at, _)| all | 1 << at)
    }

    /// The element at a place; `None` where an earlier one is equal to it, and stands for both.
    pub(super) fn one(&self, at: usize) -> Option<Subset> {
        (self.first[at] == at).then_some(1 << at)
    }

    /// The elements of both; `None` when the set has fewer.
    pub(super) fn add(&self, a: Subset, b: Subset) -> Option<Subset> {
        let mut sum = 0;
        for (at, _) in self.first.iter().enumerate().filter(|&(at, &first)| at == first) {
            let group = self.first.iter().enumerate().filter(|(_, first)| **first == at);
            let group = group.fold(0 as Subset, |bits, (member, _)| bits | 1 << member);
            let n = (a & group).count_ones() + (b & group).count_ones();
            if n > group.count_ones() {
                return None;
            }
            sum |= ((1u32 << n) - 1) as Subset * (1 << at);
        }
        Some(sum)
    }
}

/// For each node, the number of nodes in its subtree. Nodes are in preorder.
fn sizes(analysis: &Analysis) -> Vec<usize> {
    let mut sizes = vec![1; analysis.nodes.len()];
    for at in (0..analysis.nodes.len()).rev() {
        sizes[at] += analysis.nodes[at].children().map(|child| sizes[child]).sum::<usize>();
    }
    sizes
}

/// Whether two subtrees are the same term with the same typing.
fn is_equal(analysis: &Analysis, sizes: &[usize], a: usize, b: usize) -> bool {
    let same = |(a, b): (usize, usize)| match (&analysis.nodes[a], &analysis.nodes[b]) {
        (Node::Constant { constant, frame, .. }, Node::Constant { constant: other, frame: used, .. }) => {
            (constant, frame) == (other, used)
        }
        (
            Node::Gather { accumulator, elements, over },
            Node::Gather { accumulator: other, elements: others, over: and_over },
        ) => accumulator == other && elements.len() == others.len() && over.is_some() == and_over.is_some(),
        (Node::Unlisted { class, term }, Node::Unlisted { class: other, term: value }) => {
            (class, term) == (other, value)
        }
        _ => false,
    };
    sizes[a] == sizes[b] && (a..a + sizes[a]).zip(b..).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_lang::domain::NoTables;

    #[test]
    fn equal_elements_are_taken_from_the_first_on() {
        let file = "name = 'd'\ntypes = ['E < S', 'S']\nroot = { types = ['S'] }\nconstants = { a = 'E', b = 'E', c = 'E' }\n\
                    [[sets]]\nhead = 'all'\nelements = ['E']\nresult = 'S'\n";
        let domain = Domain::load(file, "d.toml", None, &NoTables).unwrap();
        let mut terms = domain.new_terms();
        let program = terms.parse("all(b, a, c, b)").unwrap();
        let analysis = domain.analyze(&terms, program).unwrap();
        // Stored as all(a, b, b, c).
        let elements = Elements::of(&domain, &analysis)[0].clone().unwrap();
        assert_eq!(elements.all(), 0b1111);
        assert_eq!(
            (0..4).map(|at| elements.one(at)).collect::<Vec<_>>(),
            [Some(0b0001), Some(0b0010), None, Some(0b1000)]
        );
        assert_eq!(elements.add(0b0010, 0b0010), Some(0b0110));
        assert_eq!(elements.add(0b0010, 0b1001), Some(0b1011));
        assert_eq!(elements.add(0b0110, 0b0010), None);
        assert_eq!(elements.add(0b0001, 0b0001), None);
    }
}
