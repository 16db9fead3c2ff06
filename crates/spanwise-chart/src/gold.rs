//! The gold chart: a hypergraph of exactly the derivations whose program is a given one.
//!
//! An item is a run of words with a connected fragment of the gold program. The fragments that can occur are
//! few: the subtree of a node, a subtree with another one missing, a function with some of its arguments, the last
//! values of a list. Each names its node and what is missing instead of carrying a bit set, so programs may have
//! any number of constants. The rules are those of the typed grammar, and so are the numbers of the scores:
//! every gold derivation is a derivation of the typed chart with the same score.
//!
//! A graph is built once per example; scores come later. Where a program has more than one typing, the chart
//! holds the derivations of each of them, one typing after the other.

mod builder;
mod elements;
mod rest;

use crate::budget::{Exhausted, Meter};
use crate::grammar::{Grammar, N_USAGES, Side, Usage};
use crate::hypergraph::{Edge, Hypergraph};
use crate::lattice::{Lattice, Scores};
use crate::semiring::{LogSum, Semiring};
use crate::typed::Input;
pub use crate::underivable::Underivable;
use crate::underivable::{in_order, reason};
use builder::{Builder, Sink};
use elements::{MAX_ELEMENTS, Subset};
use spanwise_lang::{Analysis, Domain, Node, TermId, Terms};

/// Most nodes of a program that a gold chart is built for.
pub const MAX_NODES: usize = 256;
/// Most typings of a program whose derivations are in its gold chart; the first ones count.
pub const MAX_TYPINGS: usize = 64;

/// Which joins have a score of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Joins {
    /// None.
    #[default]
    None,
    /// Everything that is merged in a cell, as in a typed chart with join scores.
    Merges,
    /// Every join of the paper's tree: complete merges, a constant with the words after it, and the whole with the
    /// words before it (whose score comes after those of the cells).
    Tree,
}

/// What has scores of its own besides leaves and rules. Graphs number its scores after those: cells, then implicit constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct OwnScores {
    /// Which joins.
    pub joins: Joins,
    /// Whether implicit constants are scored on words. Not with [`Joins::Tree`].
    pub implicit: bool,
}

impl OwnScores {
    /// Those of a typed chart with these scores.
    #[must_use]
    pub fn of(scores: &Scores<'_>) -> Self {
        let joins = if scores.joins.is_empty() { Joins::None } else { Joins::Merges };
        Self { joins, implicit: !scores.implicit.is_empty() }
    }
}

impl From<Joins> for OwnScores {
    fn from(joins: Joins) -> Self {
        Self { joins, implicit: false }
    }
}

/// The derivations of one program over one utterance.
///
/// ```
/// use spanwise_chart::gold::{GoldChart, Joins};
/// use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
/// use spanwise_chart::lattice::{Lattice, Leaf};
/// use spanwise_chart::semiring::Count;
/// # use spanwise_lang::{Domain, domain::NoTables};
/// # let domain = "name = 'lamps'\ntypes = ['Lamp', 'Action']\nroot = { types = ['Action'] }\n
/// #     [constants]\non = 'Lamp -> Action'\noff = 'Lamp -> Action'\nhall = 'Lamp'";
/// # let domain = Domain::load(domain, "lamps.toml", None, &NoTables)?;
/// # let grammar = Grammar::new(&domain, Options::default());
///
/// // "switch on hall": `on` and `off` are allowed on `switch`, on `on` and on both.
/// let leaf = |start, end, name| Leaf::new(start, end, domain.predicate(name).unwrap());
/// let mut leaves = vec![leaf(2, 3, "hall")];
/// for (start, end) in [(0, 1), (1, 2), (0, 2)] {
///     leaves.extend([leaf(start, end, "on"), leaf(start, end, "off")]);
/// }
/// let lattice = Lattice::new(3, leaves)?;
/// let mut terms = domain.new_terms();
/// let program = terms.parse("on(hall)").unwrap();
/// let gold = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None).unwrap();
/// let ones = vec![1.0; lattice.leaves().len() * N_USAGES + grammar.n_rules()];
/// assert_eq!(gold.graph().inside::<Count>(&ones).last(), Some(&3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoldChart {
    graph: Hypergraph,
    /// The fragment that each node of the graph is.
    pub(crate) items: Vec<Item>,
    /// The typing that each node of the graph belongs to; any for the root.
    pub(crate) typings: Vec<u8>,
    pub(crate) analyses: Vec<Analysis>,
}

impl GoldChart {
    /// Builds the chart. Cost: for `m` positions and `k` constants, `m^3 k` steps.
    ///
    /// # Errors
    /// Why there is no derivation.
    pub fn new(
        domain: &Domain,
        grammar: &Grammar,
        lattice: &Lattice,
        terms: &Terms,
        program: TermId,
        own: impl Into<OwnScores>,
    ) -> Result<Self, Underivable> {
        let analyses = analyze(domain, terms, program)?;
        let charts = (domain, grammar, lattice);
        let filled = build(charts, terms, &analyses, own.into(), Stored::default(), &Meter::unlimited());
        match filled.unwrap_or_else(|_| unreachable!("there is no limit")) {
            Some(stored) => Ok(Self::of(stored, analyses)),
            None => Err(reason(grammar, lattice, domain, &analyses[0], &values(terms, &analyses[0]))),
        }
    }

    /// The same within a budget. `None` when there is no derivation.
    ///
    /// # Errors
    /// A limit that is reached.
    pub fn within(
        charts: (&Domain, &Grammar, &Lattice),
        terms: &Terms,
        program: TermId,
        own: impl Into<OwnScores>,
        meter: &Meter,
    ) -> Result<Option<Self>, Exhausted> {
        let Ok(analyses) = analyze(charts.0, terms, program) else { return Ok(None) };
        let filled = build(charts, terms, &analyses, own.into(), Stored::default(), meter)?;
        Ok(filled.map(|stored| Self::of(stored, analyses)))
    }

    fn of(stored: Stored, analyses: Vec<Analysis>) -> Self {
        let (graph, nodes) = stored.graph.reachable();
        let items = nodes.iter().map(|&node| stored.items[node as usize]).collect();
        let typings = nodes.iter().map(|&node| stored.typings[node as usize]).collect();
        Self { graph, items, typings, analyses }
    }

    /// The graph. Its scores are numbered leaf by leaf and usage by usage, then rules, then cells.
    #[must_use]
    pub fn graph(&self) -> &Hypergraph {
        &self.graph
    }

    /// The program, taken apart into typed constants; in its first typing.
    #[must_use]
    pub fn analysis(&self) -> &Analysis {
        &self.analyses[0]
    }

    /// The chart of the best derivations alone. Scores are small whole numbers, numbered as those of the graph.
    /// `None` when the scores allow no derivation.
    #[must_use]
    pub fn best_only(&self, scores: &[f32]) -> Option<Self> {
        let (graph, nodes) = self.graph.best_only(scores)?;
        let items = nodes.iter().map(|&node| self.items[node as usize]).collect();
        let typings = nodes.iter().map(|&node| self.typings[node as usize]).collect();
        Some(Self { graph, items, typings, analyses: self.analyses.clone() })
    }

    /// The alignments of all derivations, in order: a node of the program's analysis, and a leaf of the lattice that is its
    /// constant. Where a node occurs twice, derivations disagree on its words. Nodes are those of the typing of a derivation.
    #[must_use]
    pub fn alignments(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (number, item) in self.items.iter().enumerate() {
            let (Item::Leaf(node) | Item::Unary(node, _) | Item::Function(node, _) | Item::Unsaid(node, _)) =
                *item
            else {
                continue;
            };
            let edges = self.graph.edges(number as u32).iter();
            pairs.extend(edges.map(|edge| (node as usize, edge.weights[0] as usize / N_USAGES)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// A fragment of the gold program, as an item of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Item {
    /// A bare function of one slot, by usage.
    Unary(u16, Usage),
    /// A bare function of several slots, by side of the first argument.
    Function(u16, Side),
    /// A bare constant without slots.
    Leaf(u16),
    /// A bare function with the argument of this slot, without words.
    Unsaid(u16, u8),
    /// The values of a list from this one on.
    List(u16, u16),
    /// A whole subtree, before and after implicit constants.
    Raw(u16),
    Closed(u16),
    /// A whole subtree with exactly so many implicit constants above it on the same words, fewer than there may be.
    Chain(u16, u8),
    /// A function without words with these slots filled.
    Inserted(u16, u16),
    /// A function with these slots filled; the last from the left, if it was.
    Partial(u16, u16, Option<u8>),
    /// A subtree without another, composed with the last function on this side.
    Composite(u16, u16, Side),
    /// A subtree without another, however made.
    Open(u16, u16),
    /// Some elements of a set.
    Subset(u16, Subset),
    /// A subtree without those elements of a set, another node in it, that are not named here.
    Spread(u16, u16, Subset),
}

/// Types a program in all ways, and checks that a chart can be built for it.
fn analyze(domain: &Domain, terms: &Terms, program: TermId) -> Result<Vec<Analysis>, Underivable> {
    let analyses = domain.analyses(terms, program, MAX_TYPINGS).map_err(Underivable::Untypeable)?;
    let is_large = |node: &Node| match node {
        Node::Gather { accumulator, elements, .. } => {
            domain.accumulator_types()[*accumulator].is_set() && elements.len() > MAX_ELEMENTS
        }
        Node::Constant { .. } | Node::Unlisted { .. } => false,
    };
    if analyses.iter().any(|typed| typed.nodes.len() > MAX_NODES || typed.nodes.iter().any(is_large)) {
        return Err(Underivable::TooLarge);
    }
    Ok(analyses)
}

/// Gives the items of all typings to a sink, and then the root; `None` when there is no derivation.
fn build<K: Sink>(
    (domain, grammar, lattice): (&Domain, &Grammar, &Lattice),
    terms: &Terms,
    analyses: &[Analysis],
    own: OwnScores,
    mut sink: K,
    meter: &Meter,
) -> Result<Option<K>, Exhausted> {
    let mut roots = Vec::new();
    for (number, analysis) in analyses.iter().enumerate() {
        sink.typing(number as u8);
        let values = values(terms, analysis);
        let builder = Builder::new(domain, grammar, lattice, analysis, &values, own);
        roots.extend(builder.run(&mut sink, meter)?);
    }
    if roots.is_empty() {
        return Ok(None);
    }
    sink.node(Item::Closed(0));
    roots.into_iter().for_each(|edge| sink.edge(edge));
    Ok(Some(sink))
}

/// Whether some order of words derives a program: one word for each constant that needs one.
pub(crate) fn has_order(domain: &Domain, grammar: &Grammar, terms: &Terms, program: TermId) -> bool {
    let Ok(analyses) = analyze(domain, terms, program) else { return false };
    let derives = |lattice| GoldChart::new(domain, grammar, &lattice, terms, program, Joins::None).is_ok();
    analyses.iter().any(|typed| in_order(grammar, domain, typed, &values(terms, typed)).is_some_and(derives))
}

/// For each node of a program, its value if it is a literal, in the notation of programs.
fn values(terms: &Terms, analysis: &Analysis) -> Vec<Option<String>> {
    let value = |node: &Node| match node {
        Node::Unlisted { term, .. } => Some(terms.display(*term).to_string()),
        Node::Constant { .. } | Node::Gather { .. } => None,
    };
    analysis.nodes.iter().map(value).collect()
}

/// The log-sum over the derivations of a program, as the inside pass over its [`GoldChart`] gives it, without storing
/// the chart: only the sums are kept. `None` when there is no derivation.
///
/// # Errors
/// A limit that is reached.
pub fn log_sum(
    input: &Input<'_>,
    terms: &Terms,
    program: TermId,
    meter: &Meter,
) -> Result<Option<f64>, Exhausted> {
    let Ok(analyses) = analyze(input.domain, terms, program) else { return Ok(None) };
    let charts = (input.domain, input.grammar, input.lattice);
    let sums = Sums { scores: input.scores.flat(), values: Vec::new() };
    let filled = build(charts, terms, &analyses, OwnScores::of(&input.scores), sums, meter)?;
    Ok(filled.and_then(|sums| sums.values.last().copied()).filter(|&sum| sum > f64::NEG_INFINITY))
}

/// Stores every item with its edges.
#[derive(Default)]
struct Stored {
    graph: Hypergraph,
    items: Vec<Item>,
    typings: Vec<u8>,
    typing: u8,
}

impl Sink for Stored {
    fn typing(&mut self, number: u8) {
        self.typing = number;
    }

    fn node(&mut self, item: Item) -> u32 {
        self.items.push(item);
        self.typings.push(self.typing);
        self.graph.push_node()
    }

    fn edge(&mut self, edge: Edge) {
        self.graph.push_edge(edge);
    }

    fn bytes(&self) -> usize {
        self.graph.bytes() + self.items.len() * size_of::<Item>()
    }
}

/// Keeps the inside value of every item.
struct Sums {
    scores: Vec<f64>,
    values: Vec<f64>,
}

impl Sink for Sums {
    fn typing(&mut self, _: u8) {}

    fn node(&mut self, _: Item) -> u32 {
        self.values.push(LogSum::ZERO);
        (self.values.len() - 1) as u32
    }

    fn edge(&mut self, edge: Edge) {
        let value = edge.value::<LogSum>(&self.values, &self.scores);
        if let Some(sum) = self.values.last_mut() {
            *sum = LogSum::plus(*sum, value);
        }
    }

    fn bytes(&self) -> usize {
        (self.scores.len() + self.values.len()) * size_of::<f64>()
    }
}
