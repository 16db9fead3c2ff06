//! Trees for tests: written by hand, or drawn at random.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use spanwise_chart::{Category, SpanTree, TreeNode};
use spanwise_core::{Random, Span, Utterance};
use spanwise_lang::domain::NoTables;
use spanwise_lang::{Domain, StateId, Terms};
use spanwise_render::{Diagram, Explanation};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The domain of all trees; the names of some types are hard to set.
pub(crate) static DOMAIN: LazyLock<Domain> = LazyLock::new(|| {
    let text = r#"
        name = "map"
        types = ["River < SomeRivers", "State", "States", "Rivers", "NumbersOfStates", "Crossed", "Country", "Located",
            "SomeRivers", "WithinCountry", "東", "é"]
        root = { types = ["State", "States", "Rivers", "é"] }
        [constants]
        state = ["States", "Crossed -> States", "Located -> States"]
        located = "Located"
        largest_one = "NumbersOfStates -> State"
        most = "NumbersOfStates -> States"
        population_1 = "States -> NumbersOfStates"
        traverse_1 = "SomeRivers -> Crossed"
        loc_2 = "Country -> WithinCountry"
        river = "WithinCountry -> Rivers"
        place = "State, 東 -> é"
        east = "東"
        [[entities]]
        class = "river"
        type = "River"
        form = "riverid('{name}')"
        names = ["yellowstone"]
        [[entities]]
        class = "country"
        type = "Country"
        form = "countryid('{name}')"
        names = ["usa"]
    "#;
    Domain::load(text, "map.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"))
});

/// Builds a tree from left to right, children before parents.
pub(crate) struct Builder {
    terms: Terms,
    tree: SpanTree,
    at: u32,
    /// States by their text, looked up once.
    states: BTreeMap<String, StateId>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { terms: DOMAIN.new_terms(), tree: SpanTree::default(), at: 0, states: BTreeMap::new() }
    }

    /// A constant on the next words.
    pub(crate) fn says(&mut self, constant: &str, n_words: u32, program: &str, ty: &str) -> usize {
        let id = DOMAIN.constants().iter_enumerated().find(|(_, found)| found.name == constant).unwrap().0;
        self.leaf(Category::Constant(id), n_words, program, ty)
    }

    /// The next words mean nothing.
    pub(crate) fn null(&mut self, n_words: u32) -> usize {
        self.leaf(Category::Null, n_words, "", "")
    }

    /// Nothing stands above the next words.
    pub(crate) fn skip(&mut self, n_words: u32) {
        self.at += n_words;
    }

    fn leaf(&mut self, category: Category, n_words: u32, program: &str, ty: &str) -> usize {
        let span = Span::new(self.at, self.at + n_words);
        self.at = span.end;
        self.push(span, category, Vec::new(), [program, ty])
    }

    pub(crate) fn join(&mut self, children: &[usize], program: &str, ty: &str) -> usize {
        let first = self.tree.nodes[children[0]].span.start;
        let last = self.tree.nodes[children[children.len() - 1]].span.end;
        self.push(Span::new(first, last), Category::Join, children.to_vec(), [program, ty])
    }

    pub(crate) fn implicit(&mut self, constant: &str, child: usize, program: &str, ty: &str) -> usize {
        let id = DOMAIN.predicate(constant).unwrap();
        let span = self.tree.nodes[child].span;
        self.push(span, Category::Implicit(id), vec![child], [program, ty])
    }

    fn push(&mut self, span: Span, category: Category, children: Vec<usize>, texts: [&str; 2]) -> usize {
        let [program, ty] = texts;
        let program = (!program.is_empty()).then(|| self.terms.parse(program).unwrap());
        let find = || DOMAIN.states().iter().find(|(id, _)| DOMAIN.describe(*id) == ty).unwrap().0;
        let state = (!ty.is_empty()).then(|| *self.states.entry(ty.to_owned()).or_insert_with(find));
        self.tree.nodes.push(TreeNode { span, category, children, program, state });
        self.tree.nodes.len() - 1
    }

    pub(crate) fn over(self, text: &str) -> Explanation {
        let utterance = Utterance::new(text);
        Explanation::new(text, Diagram::new(&self.tree, &DOMAIN, &self.terms, &utterance).unwrap())
    }
}

/// `(what) ((state) (largest population))`: no part reaches around another.
pub(crate) fn projective() -> Explanation {
    let mut tree = Builder::new();
    let what = tree.null(1);
    let state = tree.says("state", 1, "state(all)", "States");
    let has_the = tree.null(2);
    let states = tree.join(&[state, has_the], "state(all)", "States");
    let largest = tree.says("largest_one", 1, "largest_one(_)", "NumbersOfStates -> State");
    let population = tree.says("population_1", 1, "population_1(_)", "States -> NumbersOfStates");
    let pair = tree.join(&[largest, population], "largest_one(population_1(_))", "States -> State");
    let all = tree.join(&[states, pair], "largest_one(population_1(state(all)))", "State");
    tree.join(&[what, all], "answer(largest_one(population_1(state(all))))", "State");
    tree.over("which state has the greatest population")
}

/// `through .. yellowstone` compose around `states`.
pub(crate) fn discontinuous() -> Explanation {
    let mut tree = Builder::new();
    let through = tree.says("traverse_1", 2, "traverse_1(_)", "SomeRivers -> Crossed");
    let states = tree.says("state", 1, "state(_)", "Crossed -> States");
    let null = tree.null(2);
    let states = tree.join(&[states, null], "state(_)", "Crossed -> States");
    let name = tree.says("riverid('yellowstone')", 1, "riverid('yellowstone')", "River");
    tree.join(&[through, states, name], "answer(state(traverse_1(riverid('yellowstone'))))", "States");
    tree.over("through which states does the yellowstone")
}

/// `us rivers`: that rivers lie in a country goes without saying; the last word belongs to nothing.
pub(crate) fn implicit() -> Explanation {
    let mut tree = Builder::new();
    let country = tree.says("countryid('usa')", 1, "countryid('usa')", "Country");
    let located = tree.implicit("loc_2", country, "loc_2(countryid('usa'))", "WithinCountry");
    let river = tree.says("river", 1, "river(_)", "WithinCountry -> Rivers");
    tree.join(&[located, river], "answer(river(loc_2(countryid('usa'))))", "Rivers");
    tree.over("us rivers !")
}

/// A chain over `n_words` words that leans to the right, every word a constant: as deep as it is wide.
pub(crate) fn chain(n_words: u32) -> Explanation {
    let mut tree = Builder::new();
    let words: Vec<usize> =
        (0..n_words).map(|_| tree.says("state", 1, "state(_)", "Located -> States")).collect();
    let mut program = tree.terms.parse("state(all)").unwrap();
    let mut last = words[words.len() - 1];
    for &word in words.iter().rev().skip(1) {
        last = tree.join(&[word, last], "", "States");
        program = tree.terms.call("state", &[program]);
        tree.tree.nodes[last].program = Some(program);
    }
    tree.over(&vec!["word"; n_words as usize].join(" "))
}

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len())]
}

const PLAIN: &[&str] = &["a", "is", "the", "state", "mississippi", "x_1", "<", "%", "?"];
const ODD: &[&str] = &["中", "東京都", "😀", "é", "e\u{301}", "&", "\\", "{", "]", "#", "ÿ", "\"", "$"];
const TYPES: &[&str] =
    &["", "State", "States", "NumbersOfStates -> State", "東", "東 -> é", "State, 東 -> é"];

/// A random tree over 1 to 24 words; with `odd`, words and types that are hard to set.
pub(crate) fn random(seed: u64, odd: bool) -> Explanation {
    let mut draw = Random::new(seed, &[]);
    let n = 1 + draw.below(24) as u32;
    let words: Vec<&str> = (0..n)
        .map(|_| {
            let from = if odd && draw.below(3) == 0 { ODD } else { PLAIN };
            pick(&mut draw, from)
        })
        .collect();
    let mut tree = Builder::new();
    // Now and then the first words belong to nothing.
    let skipped = if n > 2 && draw.below(4) == 0 { 1 + draw.below(2) as u32 } else { 0 };
    tree.skip(skipped);
    grow(&mut tree, &mut draw, n - skipped, odd);
    tree.over(&words.join(" "))
}

/// A random node over the next `n` words. Splits three ways as often as two ways.
fn grow(tree: &mut Builder, draw: &mut Random, n: u32, odd: bool) -> usize {
    let ty = pick(draw, if odd { TYPES } else { &TYPES[..4] });
    let node = match draw.below(6) {
        0 if n <= 3 => return tree.null(n),
        1 | 2 if n <= 2 => {
            let constant = pick(draw, &["state", "largest_one", "riverid('yellowstone')"]);
            tree.says(constant, n, "state(_)", ty)
        }
        _ if n == 1 => tree.says("state", 1, "state(all)", ty),
        0 | 3 if n >= 3 => {
            let first = 1 + draw.below(n as usize - 2) as u32;
            let second = 1 + draw.below((n - first) as usize - 1) as u32;
            let parts = [first, second, n - first - second].map(|part| grow(tree, draw, part, odd));
            tree.join(&parts, "state(all)", ty)
        }
        4 if n >= 3 => {
            let first = 1 + draw.below(n as usize - 2) as u32;
            let left = grow(tree, draw, first, odd);
            tree.skip(1);
            let right = grow(tree, draw, n - first - 1, odd);
            tree.join(&[left, right], "state(all)", ty)
        }
        _ => {
            let first = 1 + draw.below(n as usize - 1) as u32;
            let parts = [first, n - first].map(|part| grow(tree, draw, part, odd));
            tree.join(&parts, "state(all)", ty)
        }
    };
    if draw.below(8) == 0 { tree.implicit("place", node, "place(_)", ty) } else { node }
}
