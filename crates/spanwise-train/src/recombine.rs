//! Recombination (data augmentation): replaces a fragment of one training example by a fragment of another, in the utterance and
//! in the program.
//!
//! A fragment is a sub-program together with the contiguous words that its constants are aligned to in the example's
//! tree. Fragments are exchanged within a kind: the topmost supertype of their type. Exchanges that the finer types do not
//! allow are dropped. The sub-program is replaced in the analysis and not in the term, because a program may contain equal
//! sub-programs at several nodes. Articles and filler nouns come from the domain's language; without one, fragments have none.

mod contrast;

pub use contrast::contrasted;

use hashbrown::{HashMap, HashSet};
use spanwise_chart::candidates::Candidates;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::gold_tree::GoldTree;
use spanwise_chart::grammar::Grammar;
use spanwise_chart::{Category, SpanTree};
use spanwise_core::{Idx, Random, Span, Utterance};
use spanwise_lang::{Analysis, ConstantId, Domain, Kind, Node, TermId, Terms, TypeId};

/// Most draws per new example. Some draws are too long, ill-typed or known.
const MAX_DRAWS: usize = 50;

/// A training pair with its tree. The terms of all pairs are in one store.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The utterance.
    pub utterance: Utterance,
    /// Its program.
    pub program: TermId,
    /// The Viterbi tree of the program, as [`GoldChart::best_tree`] gives it.
    pub tree: GoldTree,
}

/// Limits on new examples, and how exchanges are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most tokens of an utterance.
    pub max_words: usize,
    /// Most constants of a program, implicit ones included.
    pub max_constants: usize,
    /// Whether values are fragments too: terms of types that have only predicates without arguments, such as colors
    /// and directions.
    pub values: bool,
    /// How many exchanges are drawn to choose the rarest from; 1 takes any. An exchange is rare when it nests a function in
    /// another one in which few examples have it.
    pub choices: usize,
}

impl Limits {
    /// Limits for some examples: the larger of the defaults and the 99th percentile of their sizes.
    #[must_use]
    pub fn of(domain: &Domain, terms: &Terms, examples: &[Explained]) -> Self {
        let most = |mut sizes: Vec<usize>| {
            sizes.sort_unstable();
            sizes.get(sizes.len().saturating_sub(1 + sizes.len() / 100)).copied().unwrap_or_default()
        };
        let words = examples.iter().map(|example| example.utterance.len()).collect();
        let analyses = examples.iter().filter_map(|example| domain.analyze(terms, example.program).ok());
        let constants = analyses.map(|analysis| count_constants(&analysis)[0]).collect();
        let least = Self::default();
        Self {
            max_words: least.max_words.max(most(words)),
            max_constants: least.max_constants.max(most(constants)),
            ..least
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_words: 20, max_constants: 11, values: false, choices: 1 }
    }
}

/// A new example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recombined {
    /// The utterance.
    pub utterance: Utterance,
    /// Its program.
    pub program: TermId,
    /// The index of the example in which a fragment was replaced.
    pub host: usize,
}

/// A fragment of some example. Fragments differ if their words, terms or types differ.
#[derive(Clone, Debug)]
struct Fragment {
    /// The text from the first aligned word to the last, without the article.
    text: String,
    n_words: usize,
    /// The article before them, if there is one.
    article: Option<String>,
    /// Whether it is an entity. The article of an entity does not depend on its context.
    is_name: bool,
    term: TermId,
    n_constants: usize,
    /// Its functions, each once, in order of id.
    functions: Vec<ConstantId>,
    kind: TypeId,
    /// Its position among the fragments of its kind.
    rank: usize,
}

/// An occurrence of a fragment in an example.
#[derive(Clone, Debug)]
struct Place {
    /// The node of the analysis.
    node: usize,
    /// The words, including the article.
    words: Span,
    has_article: bool,
    fragment: usize,
    /// The functions above it, each once, in order of id.
    above: Vec<ConstantId>,
}

/// An example with the occurrences of fragments that can be replaced.
#[derive(Clone, Debug)]
struct Host {
    example: usize,
    analysis: Analysis,
    n_constants: usize,
    places: Vec<Place>,
}

/// All fragments of a set of examples, by kind.
#[derive(Clone, Debug)]
pub struct Bank<'a> {
    domain: &'a Domain,
    examples: &'a [Explained],
    limits: Limits,
    fragments: Vec<Fragment>,
    /// Indices of fragments, for each kind.
    by_kind: Vec<Vec<usize>>,
    /// The kind of each type.
    kinds: Vec<TypeId>,
    hosts: Vec<Host>,
    /// The number of examples in which the second function is nested, at any depth, in the first.
    nested: HashMap<(ConstantId, ConstantId), usize>,
    /// Utterances that must not be made, as [`whole`] normalizes them.
    known: HashSet<String>,
}

impl<'a> Bank<'a> {
    /// Collects the fragments of the examples. Examples whose tree does not fit their program are skipped.
    #[must_use]
    pub fn new(domain: &'a Domain, terms: &mut Terms, examples: &'a [Explained], limits: Limits) -> Self {
        let known = examples.iter().map(|example| whole(&example.utterance)).collect();
        let by_kind = vec![Vec::new(); domain.types().len()];
        let (fragments, hosts, kinds) = (Vec::new(), Vec::new(), kinds(domain));
        let nested = HashMap::new();
        let mut bank = Self { domain, examples, limits, fragments, by_kind, kinds, hosts, nested, known };
        let is_value = value_types(domain);
        let mut numbers = HashMap::new();
        for number in 0..examples.len() {
            let host = bank.take_apart(terms, number, &is_value, &mut numbers);
            bank.hosts.extend(host);
        }
        for host in &mut bank.hosts {
            host.places.retain(|place| bank.by_kind[bank.fragments[place.fragment].kind.index()].len() > 1);
        }
        bank.hosts.retain(|host| !host.places.is_empty());
        bank
    }

    /// Finds the fragments of one example, and adds those that are new. `numbers` maps the words, term and type of each known
    /// fragment to its index.
    fn take_apart(
        &mut self,
        terms: &mut Terms,
        number: usize,
        is_value: &[bool],
        numbers: &mut HashMap<(String, TermId, TypeId), usize>,
    ) -> Option<Host> {
        let example = &self.examples[number];
        let analysis = example.tree.analysis.clone();
        let built = build(self.domain, terms, &analysis, None)?;
        if example.tree.says.len() != built.len() {
            return None;
        }
        let n_constants = count_constants(&analysis);
        let (above, below) = functions(self.domain, &analysis);
        let pairs = (0..above.len()).flat_map(|node| product(&above[node], &below[node]));
        for pair in pairs.collect::<HashSet<_>>() {
            *self.nested.entry(pair).or_default() += 1;
        }
        let is_crossed = crossed(&analysis, &built);
        let aligned = words(&example.tree.tree);
        let mut places = Vec::new();
        for (node, place) in example.tree.says.iter().enumerate() {
            let (ty, term) = (analysis.types[node], built[node]);
            let is_value = is_value[ty.index()];
            let Some(words) = place.and_then(|at| aligned[at]) else { continue };
            if is_crossed[node] || (is_value && !self.limits.values) {
                continue;
            }
            // Around a value, article and noun belong to the larger phrase.
            let (article, words) = if is_value { (None, words) } else { self.around(example, words) };
            // The root is a fragment if its words are the whole utterance (a command), or a phrase with an article.
            if node == 0 && article.is_none() && words.len() < example.utterance.len() {
                continue;
            }
            let with_article = Span::new(article.unwrap_or(words.start), words.end);
            let key = (plain(&example.utterance, with_article), term, ty);
            let fragment = *numbers.entry(key).or_insert_with(|| {
                let kind = self.kinds[ty.index()];
                let alike = &mut self.by_kind[kind.index()];
                alike.push(self.fragments.len());
                self.fragments.push(Fragment {
                    text: example.utterance.slice(words).to_owned(),
                    n_words: words.len(),
                    article: article.map(|at| example.utterance.slice(Span::new(at, at + 1)).to_owned()),
                    is_name: self.domain.class_of(terms, term).is_some(),
                    term,
                    n_constants: n_constants[node],
                    functions: below[node].clone(),
                    kind,
                    rank: alike.len() - 1,
                });
                self.fragments.len() - 1
            });
            // Replacing the root would keep only null words of the host.
            if node > 0 {
                let (has_article, above) = (article.is_some(), above[node].clone());
                places.push(Place { node, words: with_article, has_article, fragment, above });
            }
        }
        Some(Host { example: number, n_constants: n_constants[0], analysis, places })
    }

    /// Excludes more utterances besides those of the examples, such as those of training pairs without a tree.
    pub fn exclude<'u>(&mut self, utterances: impl IntoIterator<Item = &'u Utterance>) {
        self.known.extend(utterances.into_iter().map(whole));
    }

    /// Makes up to `n` new examples, fewer when too many draws fail. Each has a derivation under `grammar` with the
    /// leaves that `candidates` allows. No utterance is that of an example, of another new example, or excluded. The same
    /// seed gives the same examples.
    ///
    /// `terms` is the store of the examples. Cost: a few draws and one gold chart per new example.
    pub fn recombine(
        &self,
        grammar: &Grammar,
        candidates: &Candidates,
        terms: &mut Terms,
        n: usize,
        seed: u64,
    ) -> Vec<Recombined> {
        let mut random = Random::from_state(seed);
        let mut made: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        if self.hosts.is_empty() {
            return found;
        }
        for _ in 0..n.saturating_mul(MAX_DRAWS) {
            if found.len() == n {
                break;
            }
            let drawn = (0..self.limits.choices.max(1)).map(|_| self.draw(&mut random));
            let rarest = drawn.min_by_key(|(_, place, new)| self.precedents(place, new));
            let (host, place, new) = rarest.expect("at least one is drawn");
            let old = &self.fragments[place.fragment];
            let n_words = self.examples[host.example].utterance.len() - place.words.len() + new.n_words;
            let n_constants = host.n_constants - old.n_constants + new.n_constants;
            if n_words > self.limits.max_words || n_constants > self.limits.max_constants {
                continue;
            }
            let utterance = Utterance::new(self.text(host, place, new));
            let plain = whole(&utterance);
            if utterance.len() > self.limits.max_words || self.known.contains(&plain) || made.contains(&plain)
            {
                continue;
            }
            let Some(program) = self.program(terms, host, place.node, new.term) else { continue };
            let Ok(lattice) = candidates.lattice(self.domain, &utterance) else { continue };
            if GoldChart::new(self.domain, grammar, &lattice, terms, program, Joins::None).is_ok() {
                made.insert(plain);
                found.push(Recombined { utterance, program, host: host.example });
            }
        }
        found
    }

    /// Draws a host, one of its places, and another fragment of the same kind.
    fn draw(&self, random: &mut Random) -> (&Host, &Place, &Fragment) {
        let host = &self.hosts[random.below(self.hosts.len())];
        let place = &host.places[random.below(host.places.len())];
        let old = &self.fragments[place.fragment];
        let alike = &self.by_kind[old.kind.index()];
        let drawn = random.below(alike.len() - 1);
        (host, place, &self.fragments[alike[drawn + usize::from(drawn >= old.rank)]])
    }

    /// How many examples have the rarest nesting that the exchange makes: a function of the fragment in one above the place.
    fn precedents(&self, place: &Place, new: &Fragment) -> usize {
        let known = |pair: (ConstantId, ConstantId)| self.nested.get(&pair).copied().unwrap_or(0);
        product(&place.above, &new.functions).map(known).min().unwrap_or(usize::MAX)
    }

    /// The program of a host with `term` at a node.
    fn program(&self, terms: &mut Terms, host: &Host, node: usize, term: TermId) -> Option<TermId> {
        let body = build(self.domain, terms, &host.analysis, Some((node, term)))?[0];
        Some(self.domain.wrap().map_or(body, |form| form.build(terms, &[body])))
    }

    /// The text of a host with another fragment at a place. If neither fragment is a name, the host's article (or its absence) is
    /// kept: `the longest river in texas`, not `the longest the river in texas`.
    fn text(&self, host: &Host, place: &Place, new: &Fragment) -> String {
        let utterance = &self.examples[host.example].utterance;
        let tokens = utterance.tokens();
        let (first, last) = (&tokens[place.words.start as usize], &tokens[place.words.end as usize - 1]);
        let (before, after) = (&utterance.text()[..first.bytes.start], &utterance.text()[last.bytes.end..]);
        let article = if self.fragments[place.fragment].is_name || new.is_name {
            new.article.as_deref()
        } else {
            place.has_article.then(|| &utterance.text()[first.bytes.clone()])
        };
        match article {
            Some(article) => [before, article, " ", &new.text, after].concat(),
            None => [before, &new.text, after].concat(),
        }
    }

    /// Extends the words of a fragment by what the domain's language adds to a phrase: the position of the article before them,
    /// and the words with a filler noun after them. Both must be null words in the tree.
    fn around(&self, example: &Explained, words: Span) -> (Option<u32>, Span) {
        let Some(language) = self.domain.language() else { return (None, words) };
        let tokens = example.utterance.tokens();
        let is_aligned = |at: u32| {
            let here = Span::new(at, at + 1);
            let mut nodes = example.tree.tree.nodes.iter();
            nodes.any(|node| matches!(node.category, Category::Constant(_)) && node.span.contains(here))
        };
        let is_one_of = |at: u32, known: &[&str]| {
            tokens.get(at as usize).is_some_and(|token| known.contains(&token.lower.as_str()))
                && !is_aligned(at)
        };
        let article = words.start.checked_sub(1).filter(|&at| is_one_of(at, language.articles));
        let has_noun = is_one_of(words.end, language.filler_nouns);
        (article, Span::new(words.start, words.end + u32::from(has_noun)))
    }
}

/// The kind of each type: its topmost supertype, or one of them; types that share one are of one kind. Exchanges that finer
/// types forbid are drawn again. Exchanging within finer types would be safe but would make few new compositions: "texas" and
/// "the largest state" have different types, and so do states found by their neighbors and states found by their rivers.
fn kinds(domain: &Domain) -> Vec<TypeId> {
    let types = domain.types();
    let mut kinds: Vec<TypeId> = types.ids().collect();
    for ty in types.ids() {
        let above = types.above(ty);
        let mut tops = above.iter().filter(|&&ty| types.parents(ty).is_empty()).map(|top| kinds[top.index()]);
        let Some(first) = tops.next() else { continue };
        let others: Vec<TypeId> = tops.filter(|&top| top != first).collect();
        kinds[ty.index()] = first;
        kinds.iter_mut().filter(|kind| others.contains(kind)).for_each(|kind| *kind = first);
    }
    kinds
}

/// The tokens of an utterance in lower case, each followed by a space.
fn whole(utterance: &Utterance) -> String {
    plain(utterance, Span::new(0, utterance.len() as u32))
}

/// The tokens of a span in lower case, each followed by a space.
fn plain(utterance: &Utterance, words: Span) -> String {
    let mut out = String::with_capacity(utterance.text().len());
    for token in &utterance.tokens()[words.start as usize..words.end as usize] {
        out += &token.lower;
        out.push(' ');
    }
    out
}

/// For each node of a tree, the span from its first aligned word to its last.
fn words(tree: &SpanTree) -> Vec<Option<Span>> {
    let mut hulls: Vec<Option<Span>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let own = matches!(node.category, Category::Constant(_)).then_some(node.span);
        let below = node.children.iter().filter_map(|&child| hulls[child]);
        let hull = |a: Span, b: Span| Span::new(a.start.min(b.start), a.end.max(b.end));
        hulls.push(below.chain(own).reduce(hull));
    }
    hulls
}

/// For each node of an analysis, whether it lies in one of two equal arguments of a constant. The tree may have the words of two
/// equal arguments crossed, so a replacement could put the wrong argument in place.
fn crossed(analysis: &Analysis, built: &[TermId]) -> Vec<bool> {
    let mut is_crossed = vec![false; built.len()];
    for (at, node) in analysis.nodes.iter().enumerate() {
        let twin = |child: usize| node.children().any(|other| other != child && built[other] == built[child]);
        for child in node.children() {
            is_crossed[child] = is_crossed[at] || twin(child);
        }
    }
    is_crossed
}

/// For each type, whether all its terms are predicates without arguments.
fn value_types(domain: &Domain) -> Vec<bool> {
    let mut is_value = vec![true; domain.types().len()];
    for (id, constant) in domain.constants().iter_enumerated() {
        for (_, frame) in domain.frames_of(id) {
            if !frame.slots.is_empty() || constant.kind != Kind::Predicate {
                is_value[frame.result.index()] = false;
            }
        }
    }
    domain.accumulator_types().iter().for_each(|types| is_value[types.result.index()] = false);
    is_value
}

/// For each node of an analysis, the functions above it and the functions in its subtree, each once, in order of id. Constants
/// without arguments and accumulators do not count.
fn functions(domain: &Domain, analysis: &Analysis) -> (Vec<Vec<ConstantId>>, Vec<Vec<ConstantId>>) {
    let own = |node: &Node| match node {
        Node::Constant { constant, frame, .. } if !domain.frame(*frame).slots.is_empty() => Some(*constant),
        _ => None,
    };
    let n = analysis.nodes.len();
    let (mut above, mut below) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for (at, node) in analysis.nodes.iter().enumerate() {
        let mut path: Vec<ConstantId> = above[at].iter().copied().chain(own(node)).collect();
        path.sort_unstable();
        path.dedup();
        node.children().for_each(|child| above[child].clone_from(&path));
    }
    for (at, node) in analysis.nodes.iter().enumerate().rev() {
        let mut all: Vec<ConstantId> = own(node).into_iter().collect();
        node.children().for_each(|child| all.extend(&below[child]));
        all.sort_unstable();
        all.dedup();
        below[at] = all;
    }
    (above, below)
}

/// The Cartesian product.
fn product(above: &[ConstantId], below: &[ConstantId]) -> impl Iterator<Item = (ConstantId, ConstantId)> {
    above.iter().flat_map(|&a| below.iter().map(move |&b| (a, b)))
}

/// For each node of an analysis, the number of constants in its subtree.
fn count_constants(analysis: &Analysis) -> Vec<usize> {
    let mut counts = vec![0; analysis.nodes.len()];
    for (at, node) in analysis.nodes.iter().enumerate().rev() {
        let own = usize::from(!matches!(node, Node::Gather { .. }));
        counts[at] = own + node.children().map(|child| counts[child]).sum::<usize>();
    }
    counts
}

/// The term of every node of an analysis, with one of them replaced.
fn build(
    domain: &Domain,
    terms: &mut Terms,
    analysis: &Analysis,
    replaced: Option<(usize, TermId)>,
) -> Option<Vec<TermId>> {
    let mut built = vec![TermId(0); analysis.nodes.len()];
    for (at, node) in analysis.nodes.iter().enumerate().rev() {
        if let Some((_, term)) = replaced.filter(|(place, _)| *place == at) {
            built[at] = term;
            continue;
        }
        let children: Vec<TermId> = node.children().map(|child| built[child]).collect();
        built[at] = match node {
            Node::Unlisted { term, .. } => *term,
            Node::Constant { constant, frame, .. } => match domain.constants()[*constant].term {
                Some(term) => term,
                None => domain.frame(*frame).form.as_ref()?.build(terms, &children),
            },
            Node::Gather { accumulator, over, .. } => {
                let gathering = &domain.accumulators()[*accumulator];
                let needs_default = over.is_none() && !domain.accumulator_types()[*accumulator].is_set();
                let default = if needs_default { Some(gathering.default?) } else { None };
                let args: Vec<TermId> = children.into_iter().chain(default).collect();
                terms.term(spanwise_lang::Shape::Call, gathering.head, &args)
            }
        };
    }
    Some(built)
}

#[cfg(test)]
mod tests;
