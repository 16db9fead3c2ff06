//! Trees whose constants take whole phrases.
//!
//! A parser that learns from programs needs only one word of a phrase to find its constant: `through` of "run through".
//! Which of the words that is says little about the program, but a tree that is shown reads better with all of them. So
//! [`whole_phrases`] takes another derivation of the same program from the same chart: a constant may take a phrase around
//! the words that it has, or keep them.

use crate::budget::{Exhausted, Meter};
use crate::gold::{GoldChart, OwnScores};
use crate::grammar::{Grammar, N_USAGES};
use crate::lattice::Lattice;
use crate::tree::{Category, SpanTree};
use spanwise_core::Span;
use spanwise_lang::lexicon::Match;
use spanwise_lang::{ConstantId, Domain, TermId, Terms};

/// What a word in a phrase is worth next to a constant that keeps its words. There are fewer constants, and sums over
/// [`MAX_TOKENS`](crate::lattice::MAX_TOKENS) words are exact in single precision.
const PHRASE_WORD: f32 = 1024.0;

/// The chart in which a tree was found.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The domain.
    pub domain: &'a Domain,
    /// Its grammar.
    pub grammar: &'a Grammar,
    /// The leaves.
    pub lattice: &'a Lattice,
    /// What has scores of its own.
    pub own: OwnScores,
    /// The scores, as a gold chart with those numbers them.
    pub scores: &'a [f32],
}

/// The tree of a program in which constants take whole phrases. Of the derivations whose constants keep their words or take
/// phrases around them, it has the most words in phrases, then the most constants that keep their words, then the highest
/// score. `None` where no constant takes other words than in `tree`, a tree of `program` in this chart.
///
/// Cost: a look at each phrase, and where one is longer than the words of its constant, a pass over all scores and a gold
/// chart over the few leaves that the tree and the phrases have.
///
/// ```
/// # use spanwise_chart::budget::Meter;
/// # use spanwise_chart::derivation::BestChart;
/// # use spanwise_chart::gold::OwnScores;
/// # use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
/// # use spanwise_chart::lattice::{Lattice, Leaf, Scores};
/// # use spanwise_chart::typed::{Input, RuleValues};
/// # use spanwise_chart::whole_phrases::{Found, whole_phrases};
/// # use spanwise_core::Utterance;
/// # use spanwise_lang::{Domain, domain::NoTables};
/// # let file = "name = 'lamps'\ntypes = ['Lamp', 'Action']\nroot = { types = ['Action'] }\n
/// #     [constants]\non = 'Lamp -> Action'\nhall = 'Lamp'\n[phrases]\non = 'switch on'";
/// # let domain = Domain::load(file, "lamps.toml", None, &NoTables)?;
/// # let grammar = Grammar::new(&domain, Options::default());
/// // The best tree of "switch on hall" has `on` on one word, but the domain lists `switch on` as a phrase of it.
/// let utterance = Utterance::new("switch on hall");
/// let leaf = |start, end, name| Leaf::new(start, end, domain.predicate(name).unwrap());
/// let lattice = Lattice::new(3, vec![leaf(1, 2, "on"), leaf(0, 2, "on"), leaf(2, 3, "hall")])?;
/// let leaves = [[1.0; N_USAGES], [0.0; N_USAGES], [0.0; N_USAGES]].concat();
/// let rules = vec![0.0; grammar.n_rules()];
/// # let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
/// # let input = Input::new(&domain, &grammar, &lattice, scores)?;
/// # let chart = BestChart::new(input, &RuleValues::new(&grammar, &rules));
/// # let mut terms = domain.new_terms();
/// let (program, tree) = chart.tree(&mut terms, &chart.best().unwrap()).unwrap();
///
/// let scores = [leaves, rules].concat();
/// let chart = Found { domain: &domain, grammar: &grammar, lattice: &lattice, own: OwnScores::default(), scores: &scores };
/// let phrases = domain.phrases().matches(&utterance);
/// let whole = whole_phrases(&chart, (&mut terms, program), &tree, &phrases, &Meter::unlimited())?.unwrap();
/// assert_eq!(whole.render(&domain, &terms, &utterance), "\
/// 0..3              join  on(hall)  Action
///   0..2 switch on  on    on(_)     Lamp -> Action
///   2..3 hall       hall  hall      Lamp
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A limit that is reached.
pub fn whole_phrases(
    found: &Found<'_>,
    (terms, program): (&mut Terms, TermId),
    tree: &SpanTree,
    phrases: &[Match],
    meter: &Meter,
) -> Result<Option<SpanTree>, Exhausted> {
    let own = constants(tree);
    let Some(wanted) = wanted(&own, phrases) else { return Ok(None) };
    let mut preferred = vec![0.0; found.scores.len()];
    let mut mask = vec![false; found.lattice.leaves().len()];
    for (at, leaf) in found.lattice.leaves().iter().enumerate() {
        let here = (leaf.span(), leaf.constant);
        let (is_own, is_phrase) = (own.contains(&here), wanted.contains(&here));
        mask[at] = is_own || is_phrase;
        let words = if is_phrase { leaf.span().len() as f32 } else { 0.0 };
        preferred[at * N_USAGES..][..N_USAGES].fill(PHRASE_WORD * words + f32::from(u8::from(is_own)));
    }
    let lattice = found.lattice.clone().masked(&mask);
    let chart = (found.domain, found.grammar, &lattice);
    let chart = GoldChart::within(chart, terms, program, found.own, meter)?;
    let Some(chart) = chart.and_then(|chart| chart.best_only(&preferred)) else { return Ok(None) };
    let best = chart.best_tree(found.domain, &lattice, terms, found.scores);
    Ok(best.map(|best| best.tree).filter(|tree| constants(tree) != own))
}

/// A constant and its words.
type Aligned = (Span, ConstantId);

/// The constants of a tree that are aligned to words, sorted.
fn constants(tree: &SpanTree) -> Vec<Aligned> {
    let aligned = tree.nodes.iter().filter_map(|node| match node.category {
        Category::Constant(constant) => Some((node.span, constant)),
        Category::Join | Category::Implicit(_) | Category::Null => None,
    });
    let mut aligned: Vec<Aligned> = aligned.collect();
    aligned.sort_unstable();
    aligned
}

/// The phrases around the words of their constants. `None` when all constants have these words already.
fn wanted(own: &[Aligned], phrases: &[Match]) -> Option<Vec<Aligned>> {
    let is_around = |&(phrase, constant): &Aligned| {
        own.iter().any(|(words, its)| *its == constant && phrase.contains(*words))
    };
    let phrases = phrases.iter().map(|found| (found.span, found.constant));
    let wanted: Vec<Aligned> = phrases.filter(is_around).collect();
    wanted.iter().any(|phrase| !own.contains(phrase)).then_some(wanted)
}
