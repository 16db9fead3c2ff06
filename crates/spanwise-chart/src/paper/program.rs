//! `program(T)`: the program of a finished tree and the sub-programs of its nodes (section 2).
//!
//! A constant may have several frames, so a node has a set of meanings; in a complete program all but one
//! fall away. Two neighbours compose in at most one way: one is applied to the other, or both are values of
//! an accumulator and gather. A null child changes nothing. Of three children the outer two compose first,
//! then the result with the middle one (section 3.4).

use crate::tree::{Category, SpanTree, TreeNode};
use spanwise_lang::{ConstantId, Domain, Meaning, Shape, TermId, Terms};

/// Most meanings that a node may have. What is found later, from frames declared later, is forgotten.
const MAX_MEANINGS: usize = 64;

/// Finds the program of a tree and writes the sub-programs into it; `None` when the tree is not a program.
pub(super) fn annotate(domain: &Domain, terms: &mut Terms, tree: &mut SpanTree) -> Option<TermId> {
    let mut composer = Composer { domain, terms };
    let mut found: Vec<Vec<Way>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let ways = composer.ways(node, &found)?;
        found.push(ways);
    }
    let (chosen, program) = composer.program(found.last()?)?;
    composer.write(tree, &found, chosen);
    Some(program)
}

/// Two neighbours as one: one applied to the other, or values gathered in their order.
pub(super) fn join(domain: &Domain, terms: &mut Terms, left: &Meaning, right: &Meaning) -> Option<Meaning> {
    domain
        .apply(terms, left, right)
        .or_else(|| domain.apply(terms, right, left))
        .or_else(|| domain.gather(left, right))
}

/// One meaning of a node, and which meanings of its children it is made of.
struct Way {
    meaning: Meaning,
    from: Vec<usize>,
}

struct Composer<'a> {
    domain: &'a Domain,
    terms: &'a mut Terms,
}

impl Composer<'_> {
    /// The meanings of a node, given those of its children; `None` when a node that must have some has none.
    fn ways(&mut self, node: &TreeNode, found: &[Vec<Way>]) -> Option<Vec<Way>> {
        let ways = match (node.category, &*node.children) {
            (Category::Null, _) => return Some(Vec::new()),
            (Category::Constant(constant), _) => self.constant(constant),
            (Category::Join, &[left, right]) => match (&*found[left], &*found[right]) {
                (only, []) => copies(only, |at| vec![at, 0]),
                ([], only) => copies(only, |at| vec![0, at]),
                (lefts, rights) => self.pairs(lefts, rights, |left, right| vec![left, right]),
            },
            (Category::Join, &[left, middle, right]) => {
                let outer = self.pairs(&found[left], &found[right], |left, right| vec![left, right]);
                let from = |outer: &Way, middle| vec![outer.from[0], middle, outer.from[1]];
                self.pairs(&outer, &found[middle], |at, middle| from(&outer[at], middle))
            }
            (Category::Join | Category::Implicit(_), _) => return None,
        };
        (!ways.is_empty()).then_some(ways)
    }

    fn constant(&mut self, constant: ConstantId) -> Vec<Way> {
        let mut ways = Vec::new();
        for (id, frame) in self.domain.frames_of(constant) {
            // A frame without a state is part of no complete program.
            let leaf = frame.state.and_then(|_| self.domain.leaf(self.terms, constant, id));
            keep(&mut ways, leaf, Vec::new);
        }
        ways
    }

    fn pairs(
        &mut self,
        lefts: &[Way],
        rights: &[Way],
        from: impl Fn(usize, usize) -> Vec<usize>,
    ) -> Vec<Way> {
        let mut ways = Vec::new();
        for (left_at, left) in lefts.iter().enumerate() {
            for (right_at, right) in rights.iter().enumerate() {
                let joined = join(self.domain, self.terms, &left.meaning, &right.meaning);
                keep(&mut ways, joined, || from(left_at, right_at));
            }
        }
        ways
    }

    /// The first meaning of the root that is a program, and that program.
    fn program(&mut self, root: &[Way]) -> Option<(usize, TermId)> {
        let mut ways = root.iter().enumerate();
        ways.find_map(|(at, way)| Some((at, self.domain.program(self.terms, &way.meaning)?)))
    }

    /// Writes down what each node means in the chosen reading, from the root down.
    fn write(&mut self, tree: &mut SpanTree, found: &[Vec<Way>], chosen: usize) {
        let mut choices = vec![0; tree.nodes.len()];
        if let Some(root) = choices.last_mut() {
            *root = chosen;
        }
        for at in (0..tree.nodes.len()).rev() {
            let Some(way) = found[at].get(choices[at]) else { continue };
            let node = &mut tree.nodes[at];
            node.program = Some(self.written(&way.meaning));
            node.state = Some(self.domain.state_of(&way.meaning));
            for (&child, &choice) in node.children.iter().zip(&way.from) {
                choices[child] = choice;
            }
        }
    }

    /// A meaning as a term, with `_` in its open slots.
    fn written(&mut self, meaning: &Meaning) -> TermId {
        let Meaning::Gathered { accumulator, elements } = meaning else {
            return self.domain.sketch(self.terms, meaning);
        };
        let hole = self.terms.leaf(Shape::Wildcard, "_");
        let args: Vec<TermId> = elements.iter().copied().chain([hole]).collect();
        self.terms.term(Shape::Call, self.domain.accumulators()[*accumulator].head, &args)
    }
}

fn keep(ways: &mut Vec<Way>, meaning: Option<Meaning>, from: impl FnOnce() -> Vec<usize>) {
    let Some(meaning) = meaning else { return };
    let is_new = || ways.iter().all(|way| way.meaning != meaning);
    if ways.len() < MAX_MEANINGS && is_new() {
        ways.push(Way { meaning, from: from() });
    }
}

fn copies(ways: &[Way], from: impl Fn(usize) -> Vec<usize>) -> Vec<Way> {
    let copy = |(at, way): (usize, &Way)| Way { meaning: way.meaning.clone(), from: from(at) };
    ways.iter().enumerate().map(copy).collect()
}
