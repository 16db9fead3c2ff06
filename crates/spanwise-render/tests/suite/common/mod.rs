//! Readings with trees for tests: written by hand, or drawn at random.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use spanwise_core::Utterance;
use spanwise_reading::{
    Correction, CorrectionKind, NodeKind, Reading, Token, Tree, TreeNode, Unread, UnreadKind,
};

/// Builds a tree from left to right, children before parents.
#[derive(Default)]
pub(crate) struct Builder {
    tree: Tree,
    at: u32,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A constant that the next words are aligned to.
    pub(crate) fn constant(&mut self, constant: &str, n_words: u32, program: &str, ty: &str) -> usize {
        self.leaf(NodeKind::Constant, n_words, [constant, program, ty])
    }

    /// The next words are null words.
    pub(crate) fn null(&mut self, n_words: u32) -> usize {
        self.leaf(NodeKind::Null, n_words, [""; 3])
    }

    /// No node covers the next words.
    pub(crate) fn skip(&mut self, n_words: u32) {
        self.at += n_words;
    }

    fn leaf(&mut self, kind: NodeKind, n_words: u32, texts: [&str; 3]) -> usize {
        let span = [self.at, self.at + n_words];
        self.at = span[1];
        self.push(span, kind, Vec::new(), texts)
    }

    pub(crate) fn join(&mut self, children: &[usize], program: &str, ty: &str) -> usize {
        let first = self.tree.nodes[children[0]].span[0];
        let last = self.tree.nodes[children[children.len() - 1]].span[1];
        self.push([first, last], NodeKind::Join, children.to_vec(), ["", program, ty])
    }

    pub(crate) fn implicit(&mut self, constant: &str, child: usize, program: &str, ty: &str) -> usize {
        let span = self.tree.nodes[child].span;
        self.push(span, NodeKind::Implicit, vec![child], [constant, program, ty])
    }

    fn push(&mut self, span: [u32; 2], kind: NodeKind, children: Vec<usize>, texts: [&str; 3]) -> usize {
        let [constant, program, r#type] = texts.map(|text| (!text.is_empty()).then(|| text.to_owned()));
        let words = String::new();
        let probability = None;
        self.tree.nodes.push(TreeNode {
            span,
            words,
            kind,
            constant,
            program,
            r#type,
            probability,
            children,
        });
        self.tree.nodes.len() - 1
    }

    /// The reading of a text with this tree and nothing else.
    pub(crate) fn over(mut self, text: &str) -> Reading {
        let utterance = Utterance::new(text);
        for node in &mut self.tree.nodes {
            node.words = utterance.slice(spanwise_core::Span::new(node.span[0], node.span[1])).to_owned();
        }
        reading(text, self.tree.nodes)
    }
}

/// A reading with these nodes and nothing else.
pub(crate) fn reading(text: &str, nodes: Vec<TreeNode>) -> Reading {
    let utterance = Utterance::new(text);
    let token = |(token, place): (&spanwise_core::Token, std::ops::Range<usize>)| Token {
        text: text[token.bytes.clone()].to_owned(),
        start: place.start,
        end: place.end,
        constant: None,
        span: None,
        probability: None,
        in_lexicon: false,
        unread: false,
        read_as: None,
    };
    let tokens = utterance.tokens().iter().zip(utterance.char_ranges()).map(token).collect();
    Reading { utterance: text.to_owned(), tree: Some(Tree { nodes }), tokens, ..Reading::default() }
}

/// `(what) ((state) (largest population))`: no part reaches around another.
pub(crate) fn projective() -> Reading {
    let mut tree = Builder::new();
    let what = tree.null(1);
    let state = tree.constant("state", 1, "state(all)", "States");
    let has_the = tree.null(2);
    let states = tree.join(&[state, has_the], "state(all)", "States");
    let largest = tree.constant("largest_one", 1, "largest_one(_)", "NumbersOfStates -> State");
    let population = tree.constant("population_1", 1, "population_1(_)", "States -> NumbersOfStates");
    let pair = tree.join(&[largest, population], "largest_one(population_1(_))", "States -> State");
    let all = tree.join(&[states, pair], "largest_one(population_1(state(all)))", "State");
    tree.join(&[what, all], "answer(largest_one(population_1(state(all))))", "State");
    tree.over("which state has the greatest population")
}

/// `through .. yellowstone` compose around `states`.
pub(crate) fn discontinuous() -> Reading {
    let mut tree = Builder::new();
    let through = tree.constant("traverse_1", 2, "traverse_1(_)", "SomeRivers -> Crossed");
    let states = tree.constant("state", 1, "state(_)", "Crossed -> States");
    let null = tree.null(2);
    let states = tree.join(&[states, null], "state(_)", "Crossed -> States");
    let name = tree.constant("riverid('yellowstone')", 1, "riverid('yellowstone')", "River");
    tree.join(&[through, states, name], "answer(state(traverse_1(riverid('yellowstone'))))", "States");
    tree.over("through which states does the yellowstone")
}

/// `us rivers`: `loc_2` is inserted; no node covers the last word.
pub(crate) fn implicit() -> Reading {
    let mut tree = Builder::new();
    let country = tree.constant("countryid('usa')", 1, "countryid('usa')", "Country");
    let located = tree.implicit("loc_2", country, "loc_2(countryid('usa'))", "WithinCountry");
    let river = tree.constant("river", 1, "river(_)", "WithinCountry -> Rivers");
    tree.join(&[located, river], "answer(river(loc_2(countryid('usa'))))", "Rivers");
    tree.over("us rivers !")
}

/// A chain over `n_words` words that leans to the right, every word a constant: as deep as it is wide.
pub(crate) fn chain(n_words: u32) -> Reading {
    let mut tree = Builder::new();
    let words: Vec<usize> =
        (0..n_words).map(|_| tree.constant("state", 1, "state(_)", "Located -> States")).collect();
    let mut program = "state(all)".to_owned();
    let mut last = words[words.len() - 1];
    for &word in words.iter().rev().skip(1) {
        program = format!("state({program})");
        last = tree.join(&[word, last], &program, "States");
    }
    tree.over(&vec!["word"; n_words as usize].join(" "))
}

/// A small random generator, so that a test only needs a seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

const PLAIN: &[&str] = &["a", "is", "the", "state", "mississippi", "x_1", "<", "%", "?"];
const ODD: &[&str] = &["中", "東京都", "😀", "é", "e\u{301}", "&", "\\", "{", "]", "#", "ÿ", "\"", "$"];
const TYPES: &[&str] = &["", "A", "States", "NumbersOfStates -> State", "A, B -> C<'&\">", "東 -> é"];

/// A random tree over 1 to 24 words; with `odd`, words and types that are hard to set.
pub(crate) fn random(seed: u64, odd: bool) -> Reading {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let n = 1 + dice.below(24) as u32;
    let words: Vec<&str> =
        (0..n).map(|_| if odd && dice.below(3) == 0 { dice.pick(ODD) } else { dice.pick(PLAIN) }).collect();
    let mut tree = Builder::new();
    // Now and then no node covers the first words.
    let skipped = if n > 2 && dice.below(4) == 0 { 1 + dice.below(2) as u32 } else { 0 };
    tree.skip(skipped);
    grow(&mut tree, &mut dice, n - skipped, odd);
    tree.over(&words.join(" "))
}

/// A random node over the next `n` words. Splits three ways as often as two ways.
fn grow(tree: &mut Builder, dice: &mut Dice, n: u32, odd: bool) -> usize {
    let ty = dice.pick(if odd { TYPES } else { &TYPES[..4] });
    let node = match dice.below(6) {
        0 if n <= 3 => return tree.null(n),
        1 | 2 if n <= 2 => {
            let constant = dice.pick(&["state", "largest_one", "riverid('yellowstone')"]);
            tree.constant(constant, n, "state(_)", ty)
        }
        _ if n == 1 => tree.constant("state", 1, "state(all)", ty),
        0 | 3 if n >= 3 => {
            let first = 1 + dice.below(u64::from(n) - 2) as u32;
            let second = 1 + dice.below(u64::from(n - first) - 1) as u32;
            let parts = [first, second, n - first - second].map(|part| grow(tree, dice, part, odd));
            tree.join(&parts, "state(all)", ty)
        }
        4 if n >= 3 => {
            let first = 1 + dice.below(u64::from(n) - 2) as u32;
            let left = grow(tree, dice, first, odd);
            tree.skip(1);
            let right = grow(tree, dice, n - first - 1, odd);
            tree.join(&[left, right], "state(all)", ty)
        }
        _ => {
            let first = 1 + dice.below(u64::from(n) - 1) as u32;
            let parts = [first, n - first].map(|part| grow(tree, dice, part, odd));
            tree.join(&parts, "state(all)", ty)
        }
    };
    if dice.below(8) == 0 { tree.implicit("place", node, "place(_)", ty) } else { node }
}

/// `metalica songs not in 1978`: a corrected name, and words that were not read.
pub(crate) fn odd() -> Reading {
    let mut tree = Builder::new();
    let name = tree.constant("artist('Metallica')", 1, "artist('Metallica')", "Artist");
    let songs = tree.constant("songs", 1, "songs(_)", "Artist -> Songs");
    let rest = tree.null(3);
    let pair = tree.join(&[name, songs], "songs(artist('Metallica'))", "Songs");
    tree.join(&[pair, rest], "songs(artist('Metallica'))", "Songs");
    let mut reading = tree.over("metalica songs not in 1978");
    reading.tokens[0].read_as = Some("Metallica".to_owned());
    reading.corrections = vec![Correction {
        span: [0, 1],
        from: "metalica".to_owned(),
        to: "Metallica".to_owned(),
        kind: CorrectionKind::Spelling,
    }];
    for (at, kind) in [(2, UnreadKind::Negation), (4, UnreadKind::Number)] {
        reading.tokens[at].unread = true;
        let words = reading.tokens[at].text.clone();
        reading.unread.push(Unread { span: [at as u32, at as u32 + 1], words, kind });
    }
    reading.tokens.iter_mut().for_each(|token| token.probability = Some(0.5));
    reading
}
