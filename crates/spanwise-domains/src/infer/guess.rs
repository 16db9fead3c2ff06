//! Puts types, entities and words together to what a domain file declares.

use super::corpus::{Cell, Corpus, Graph, Head};
use super::entities::{Class, Entities, Mention, Names, bare_classes, with_bare};
use super::signatures::{Signatures, TypeLine};
use super::typing::{self, Choice, Place, Sort};
use super::words::{Said, Words};
use spanwise_core::Utterance;
use std::collections::{BTreeMap, BTreeSet};

/// A constant without arguments that words explain in less than this share of its uses is a default.
const DEFAULT_BELOW: f64 = 0.25;
/// A constant with one argument is implicit below this share.
const IMPLICIT_BELOW: f64 = 0.35;
const MAX_IMPLICIT: usize = 8;
/// So many examples with too few words make a constant implicit.
const MIN_SHORT: usize = 3;
/// A head with so many different numbers of arguments may be a set.
const MIN_ARITIES: usize = 3;

/// Everything that the file declares.
pub(super) struct Guess<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) types: Vec<TypeLine>,
    pub(super) roots: Vec<String>,
    pub(super) constants: Vec<Constant>,
    pub(super) sets: Vec<Set>,
    pub(super) classes: Vec<(Class, String)>,
    pub(super) null_words: Vec<String>,
    pub(super) has_stems: bool,
    pub(super) held_out: Option<f64>,
}

/// A constant of the file.
pub(super) struct Constant {
    pub(super) key: String,
    pub(super) signatures: Vec<String>,
    pub(super) form: Option<String>,
    pub(super) implicit: bool,
    pub(super) uses: usize,
    pub(super) phrases: Vec<Said>,
}

/// A set of the file.
pub(super) struct Set {
    pub(super) head: String,
    pub(super) elements: Vec<String>,
    pub(super) result: String,
    pub(super) uses: usize,
}

/// Sorts for all heads, as fine as they generalize, from a threshold on.
pub(super) fn types(corpus: &Corpus, from: f64) -> Choice {
    typing::choose(&corpus.graphs, &sets(corpus), from)
}

/// Heads that take many different numbers of arguments, two or more, in any order: the same things come first and last.
fn sets(corpus: &Corpus) -> BTreeSet<usize> {
    let mut arities: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut ends: BTreeMap<usize, [BTreeMap<usize, usize>; 2]> = BTreeMap::new();
    for graph in &corpus.graphs {
        for node in graph {
            arities.entry(node.head).or_default().insert(node.children.len());
            if let (Some(&first), Some(&last)) = (node.children.first(), node.children.last()) {
                let [firsts, lasts] = ends.entry(node.head).or_default();
                *firsts.entry(graph[first].head).or_default() += 1;
                *lasts.entry(graph[last].head).or_default() += 1;
            }
        }
    }
    let is_set = |head: &usize| {
        let arities = &arities[head];
        let Some([firsts, lasts]) = ends.get(head) else { return false };
        let both: usize = firsts.iter().filter(|(one, _)| lasts.contains_key(one)).map(|(_, n)| n).sum();
        let is_only = corpus
            .heads
            .iter()
            .enumerate()
            .all(|(at, _)| at == *head || corpus.name(at) != corpus.name(*head));
        arities.len() >= MIN_ARITIES
            && is_only
            && arities.first().is_some_and(|&least| least >= 2)
            && 2 * both > firsts.values().sum::<usize>()
    };
    arities.keys().copied().filter(is_set).collect()
}

impl<'a> Guess<'a> {
    pub(super) fn new(corpus: &'a Corpus, entities: &Entities, choice: &Choice, with_defaults: bool) -> Self {
        let typing = &choice.typing;
        let sorts = plain_sorts(typing);
        let bare = bare_classes(corpus, &sorts);
        let own_names = heads_of(corpus, &bare);
        let mentions = with_bare(corpus, entities, &bare);
        let words = Words::read(corpus, &mentions, &own_names);
        let mut classes = entities.classes.clone();
        if !bare.is_empty() {
            // A class of literals may not be written like a class of entities; an open class reads plain numbers, too.
            let numbers = classes.iter_mut().filter(|class| class.form.head.is_none());
            numbers.filter(|class| class.form.cells == [Cell::Number]).for_each(|class| class.literal = None);
        }
        classes.extend(bare);
        words.add_aliases(&mut classes);
        let is_predicate =
            |head: &usize| !matches!(corpus.heads[*head], Head::Class(_)) && !own_names.contains(head);
        let predicates: Vec<usize> = (0..corpus.heads.len()).filter(is_predicate).collect();
        let defaults =
            if with_defaults { defaults(corpus, typing, &words, &predicates) } else { BTreeSet::new() };
        let signatures = Signatures::new(corpus, typing, &defaults);
        let sets = declared_sets(corpus, typing, &signatures);
        let is_set =
            |head: usize| typing.sets.contains(&head) && sets.iter().any(|set| set.head == corpus.name(head));
        let heads: Vec<usize> =
            predicates.into_iter().filter(|&head| !defaults.contains(&head) && !is_set(head)).collect();
        let null_words = words.null_words(&classes);
        let counted = Counted { corpus, mentions: &mentions, null_words: &null_words, skipped: &defaults };
        let implicit = implicit(&counted, &signatures, &words, &heads);
        let mut names = Names::default();
        let classes = classes.into_iter().map(|class| {
            let ty = signatures.type_of(sorts[&class.head]).to_owned();
            (Class { name: names.fresh(&class.name), ..class }, ty)
        });
        Self {
            corpus,
            types: signatures.lines(),
            roots: signatures.roots(),
            constants: constants(corpus, &signatures, &words, &heads, &implicit),
            sets,
            classes: classes.collect(),
            null_words,
            has_stems: words.has_stems,
            held_out: choice.held_out,
        }
    }
}

/// The sorts of heads whose sort does not depend on an argument.
fn plain_sorts(typing: &typing::Typing) -> BTreeMap<usize, Sort> {
    let plain = typing.results.iter().filter(|((_, by), _)| by.is_none());
    plain.map(|((head, _), sort)| (*head, *sort)).collect()
}

/// The heads that are members of classes of bare constants.
fn heads_of(corpus: &Corpus, bare: &[Class]) -> BTreeSet<usize> {
    let members = bare.iter().flat_map(|class| class.members.iter());
    let members: BTreeSet<&str> = members.map(|member| member.cells[0].as_str()).collect();
    let is_one = |head: &usize| match &corpus.heads[*head] {
        Head::Bare(name) => members.contains(name.as_str()),
        Head::Class(_) | Head::Call(_) => false,
    };
    (0..corpus.heads.len()).filter(is_one).collect()
}

/// Constants without arguments that words do not explain, each of which is the only one of them in every slot it fills.
fn defaults(
    corpus: &Corpus,
    typing: &typing::Typing,
    words: &Words,
    predicates: &[usize],
) -> BTreeSet<usize> {
    let uses = corpus.uses();
    let roots: BTreeSet<usize> = corpus.graphs.iter().filter_map(|graph| Some(graph.last()?.head)).collect();
    let could_be = |head: &&usize| {
        !roots.contains(head)
            && uses[**head] > 2
            && is_plain(corpus.name(**head))
            && has_no_slots(corpus, **head)
            && is_unexplained(words, **head, DEFAULT_BELOW)
    };
    let mut defaults: BTreeSet<usize> = predicates.iter().filter(could_be).copied().collect();
    let mut in_slot: BTreeMap<Place, usize> = BTreeMap::new();
    for graph in &corpus.graphs {
        for node in graph {
            for (slot, &child) in node.children.iter().enumerate() {
                let child = graph[child].head;
                if !defaults.contains(&child) {
                    continue;
                }
                let place = typing.place(node.head, node.children.len(), slot);
                if typing.sets.contains(&node.head) || *in_slot.entry(place).or_insert(child) != child {
                    defaults.remove(&child);
                }
            }
        }
    }
    defaults
}

/// Whether a name can be a default as it is written.
fn is_plain(name: &str) -> bool {
    name.chars().all(|ch| ch.is_alphanumeric() || ch == '_')
}

fn has_no_slots(corpus: &Corpus, head: usize) -> bool {
    corpus.graphs.iter().flatten().filter(|node| node.head == head).all(|node| node.children.is_empty())
}

/// Whether words explain less than a share of the uses of a head, and no phrase goes with it.
fn is_unexplained(words: &Words, head: usize, share: f64) -> bool {
    let by_phrases: f64 = words.phrases(head).iter().map(|phrase| phrase.share * phrase.precision).sum();
    words.explained(head).max(by_phrases) < share
}

/// The sets that a domain file can have: no type is an element of two.
fn declared_sets(corpus: &Corpus, typing: &typing::Typing, signatures: &Signatures<'_>) -> Vec<Set> {
    let uses = corpus.uses();
    let mut taken: BTreeSet<Sort> = BTreeSet::new();
    let mut sets = Vec::new();
    let mut heads: Vec<usize> = typing.sets.iter().copied().collect();
    heads.sort_by_key(|&head| (std::cmp::Reverse(uses[head]), head));
    for head in heads {
        let elements = signatures.elements(head);
        let Some(&result) = typing.results.get(&(head, None)) else { continue };
        if !elements.is_empty() && elements.is_disjoint(&taken) {
            taken.extend(&elements);
            sets.push(Set {
                head: corpus.name(head).to_owned(),
                elements: elements.iter().map(|&sort| signatures.type_of(sort).to_owned()).collect(),
                result: signatures.type_of(result).to_owned(),
                uses: uses[head],
            });
        }
    }
    sets
}

fn constants(
    corpus: &Corpus,
    signatures: &Signatures<'_>,
    words: &Words,
    heads: &[usize],
    implicit: &BTreeSet<usize>,
) -> Vec<Constant> {
    let uses = corpus.uses();
    let mut keys = Names::default();
    let calls: BTreeSet<&str> = corpus
        .heads
        .iter()
        .filter_map(|head| match head {
            Head::Call(name) => Some(name.as_str()),
            Head::Bare(_) | Head::Class(_) => None,
        })
        .collect();
    let mut constants: Vec<Constant> = heads
        .iter()
        .map(|&head| {
            let name = corpus.name(head);
            let is_shared = matches!(corpus.heads[head], Head::Bare(_)) && calls.contains(name);
            let key = if name == "_" {
                keys.fresh("anything")
            } else if is_shared {
                keys.fresh(&format!("{name}_alone"))
            } else {
                keys.fresh(name)
            };
            Constant {
                key,
                signatures: signatures.of(head),
                form: signatures.form(head, is_shared),
                implicit: implicit.contains(&head),
                uses: uses[head],
                phrases: words.phrases(head),
            }
        })
        .collect();
    // Too many arguments for a signature.
    constants.retain(|constant| !constant.signatures.is_empty());
    constants.sort_by(|a, b| b.uses.cmp(&a.uses).then(a.key.cmp(&b.key)));
    constants
}

/// Examples, for counting words.
struct Counted<'a> {
    corpus: &'a Corpus,
    mentions: &'a [Vec<Mention>],
    null_words: &'a [String],
    /// Heads that need no words.
    skipped: &'a BTreeSet<usize>,
}

impl Counted<'_> {
    /// Whether a program has more constants than its utterance has words and names for them.
    fn is_short(&self, at: usize, implicit: &BTreeSet<usize>) -> bool {
        let graph: &Graph = &self.corpus.graphs[at];
        let needs =
            graph.iter().filter(|node| !self.skipped.contains(&node.head) && !implicit.contains(&node.head));
        needs.count() > self.available(&self.corpus.utterances[at], &self.mentions[at])
    }

    /// The words of an utterance that constants can be aligned to; those of a name count once.
    fn available(&self, utterance: &Utterance, mentions: &[Mention]) -> usize {
        let in_name = |at: usize| {
            let spans = mentions.iter().filter_map(|mention| mention.span);
            spans.into_iter().any(|span| span.start < at as u32 && (at as u32) < span.end)
        };
        let counts = |(at, token): &(usize, &spanwise_core::Token)| {
            let word = &token.lower;
            word.chars().any(char::is_alphanumeric) && !self.null_words.contains(word) && !in_name(*at)
        };
        utterance.tokens().iter().enumerate().filter(counts).count()
    }
}

/// Constants with one argument that words do not explain, or that examples with too few words need.
fn implicit(
    counted: &Counted<'_>,
    signatures: &Signatures<'_>,
    words: &Words,
    heads: &[usize],
) -> BTreeSet<usize> {
    let uses = counted.corpus.uses();
    let mut can_be: Vec<usize> = heads.iter().copied().filter(|&head| signatures.takes_one(head)).collect();
    let unexplained = |head: usize| (1.0 - words.explained(head)) * uses[head] as f64;
    can_be.sort_by(|&a, &b| unexplained(b).total_cmp(&unexplained(a)).then(a.cmp(&b)));
    let is_implicit = |&head: &usize| is_unexplained(words, head, IMPLICIT_BELOW) && uses[head] > 2;
    let mut implicit: BTreeSet<usize> =
        can_be.iter().copied().filter(is_implicit).take(MAX_IMPLICIT).collect();
    while implicit.len() < MAX_IMPLICIT {
        let n = counted.corpus.graphs.len();
        let short: Vec<usize> = (0..n).filter(|&at| counted.is_short(at, &implicit)).collect();
        let mut missing: BTreeMap<usize, f64> = BTreeMap::new();
        for &at in &short {
            let heads: BTreeSet<usize> = counted.corpus.graphs[at].iter().map(|node| node.head).collect();
            let candidates =
                heads.into_iter().filter(|head| can_be.contains(head) && !implicit.contains(head));
            candidates.for_each(|head| *missing.entry(head).or_default() += 1.0 - words.explained(head));
        }
        let best = missing.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        match best {
            Some((head, lack)) if short.len() >= MIN_SHORT && lack >= 1.0 => implicit.insert(head),
            _ => break,
        };
    }
    implicit
}
