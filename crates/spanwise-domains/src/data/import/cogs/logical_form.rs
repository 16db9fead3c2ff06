//! From logical forms to programs.

use super::{AGENT, COMPLEMENTS, DEFINITE, EVENT, INFINITIVE, LAMBDA, MODIFIER, is_proper_name};
use crate::data::import::tabular::leaf;
use crate::data::message::shown;
use spanwise_lang::{TermId, Terms};
use std::collections::BTreeMap;

/// The term of a logical form.
pub(in crate::data::import) fn program(terms: &mut Terms, official: &str) -> Result<TermId, String> {
    if official.starts_with("LAMBDA ") {
        return single_word(terms, official);
    }
    if !official.contains(' ') && is_proper_name(official) {
        return Ok(leaf(terms, official));
    }
    let graph = Graph::read(official)?;
    let noun_phrases = graph.noun_phrases(terms)?;
    graph.sentence(terms, &noun_phrases)
}

/// `lemma . relation ( first , second )`; without a relation, that the first argument is called so.
struct Conjunct<'a> {
    lemma: &'a str,
    relation: String,
    first: &'a str,
    second: Option<&'a str>,
}

impl<'a> Conjunct<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let parts = || {
            let (head, args) = text.strip_suffix(" )")?.split_once(" ( ")?;
            let (lemma, relation) = head.split_once(" . ").unwrap_or((head, ""));
            let (first, second) = args.split_once(" , ").map_or((args, None), |(one, two)| (one, Some(two)));
            // A relation has two arguments, a noun has one.
            let relation = relation.replace(" . ", ".");
            (relation.is_empty() == second.is_none()).then_some(Self { lemma, relation, first, second })
        };
        parts().ok_or_else(|| {
            format!("expected `noun ( x _ 1 )` or `verb . role ( x _ 1 , x _ 2 )`, found `{}`", shown(text))
        })
    }
}

/// An argument: the variable of a word, or a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument<'a> {
    Word(usize),
    Name(&'a str),
}

/// The position in `x _ 7`.
fn position(text: &str) -> Result<usize, String> {
    let found = text.strip_prefix("x _ ").and_then(|position| position.parse().ok());
    found.ok_or_else(|| format!("expected a variable such as `x _ 1`, found `{}`", shown(text)))
}

struct Noun<'a> {
    lemma: &'a str,
    is_definite: bool,
}

struct Verb<'a> {
    lemma: &'a str,
    /// In the order of the logical form.
    roles: Vec<(String, Argument<'a>)>,
}

/// What a logical form says of the words at each position.
#[derive(Default)]
struct Graph<'a> {
    nouns: BTreeMap<usize, Noun<'a>>,
    /// The modifiers of nouns: the relation and the other noun.
    modifiers: BTreeMap<usize, Vec<(String, usize)>>,
    verbs: BTreeMap<usize, Verb<'a>>,
}

impl<'a> Graph<'a> {
    fn read(official: &'a str) -> Result<Self, String> {
        let mut graph = Self::default();
        let mut parts = official.split(" ; ").peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                part.split(" AND ").try_for_each(|conjunct| graph.add(Conjunct::read(conjunct)?))?;
                continue;
            }
            let noun = part.strip_prefix("* ").map(Conjunct::read).transpose()?;
            let Some(Conjunct { lemma, first, second: None, .. }) = noun else {
                return Err(format!("expected `* noun ( x _ 1 )`, found `{}`", shown(part)));
            };
            graph.nouns.insert(position(first)?, Noun { lemma, is_definite: true });
        }
        Ok(graph)
    }

    fn add(&mut self, conjunct: Conjunct<'a>) -> Result<(), String> {
        let Conjunct { lemma, relation, first, second } = conjunct;
        let at = position(first)?;
        match second {
            None => {
                self.nouns.insert(at, Noun { lemma, is_definite: false });
            }
            Some(noun) if relation.starts_with(MODIFIER) => {
                self.modifiers.entry(at).or_default().push((relation, position(noun)?));
            }
            Some(name) if is_proper_name(name) => self.add_role(at, lemma, relation, Argument::Name(name)),
            Some(word) => self.add_role(at, lemma, relation, Argument::Word(position(word)?)),
        }
        Ok(())
    }

    fn add_role(&mut self, at: usize, lemma: &'a str, role: String, argument: Argument<'a>) {
        let verb = self.verbs.entry(at).or_insert_with(|| Verb { lemma, roles: Vec::new() });
        verb.roles.push((role, argument));
    }

    /// The term of each noun with its modifiers. These come later in the sentence, so they are built before it.
    fn noun_phrases(&self, terms: &mut Terms) -> Result<BTreeMap<usize, TermId>, String> {
        let mut phrases = BTreeMap::new();
        for (&at, noun) in self.nouns.iter().rev() {
            let mut phrase = leaf(terms, noun.lemma);
            if noun.is_definite {
                phrase = terms.call(DEFINITE, &[phrase]);
            }
            for (relation, to) in self.modifiers.get(&at).into_iter().flatten() {
                let object = *phrases.get(to).ok_or_else(|| {
                    format!("`{}` leads to `x _ {to}`, which is no later noun", shown(relation))
                })?;
                phrase = terms.call(relation, &[phrase, object]);
            }
            phrases.insert(at, phrase);
        }
        Ok(phrases)
    }

    /// The term of the first verb. Complements come later in the sentence, so they are built before it.
    fn sentence(&self, terms: &mut Terms, noun_phrases: &BTreeMap<usize, TermId>) -> Result<TermId, String> {
        let agents = self.agents_of_infinitives();
        let mut clauses = BTreeMap::new();
        let mut first = None;
        for (&at, verb) in self.verbs.iter().rev() {
            let mut roles = verb.roles.as_slice();
            if let [(role, agent), rest @ ..] = roles
                && role == AGENT
                && agents.get(&at) == Some(agent)
            {
                roles = rest;
            }
            let mut args = Vec::new();
            for (role, argument) in roles {
                let values = if COMPLEMENTS.contains(&role.as_str()) { &clauses } else { noun_phrases };
                let value = match *argument {
                    Argument::Name(name) => leaf(terms, name),
                    Argument::Word(to) => *values.get(&to).ok_or_else(|| {
                        format!("the {} of `{}` is not described: `x _ {to}`", shown(role), shown(verb.lemma))
                    })?,
                };
                args.push(terms.call(role, &[value]));
            }
            let clause = terms.call(verb.lemma, &args);
            clauses.insert(at, clause);
            first = Some(clause);
        }
        first.ok_or_else(|| "there is no verb".to_owned())
    }

    /// The agents of verbs in infinitives, as the verbs above have them.
    fn agents_of_infinitives(&self) -> BTreeMap<usize, Argument<'a>> {
        let mut agents = BTreeMap::new();
        for verb in self.verbs.values() {
            let of_role = |name| verb.roles.iter().find(|(role, _)| role == name).map(|&(_, it)| it);
            if let (Some(agent), Some(Argument::Word(at))) = (of_role(AGENT), of_role(INFINITIVE)) {
                agents.insert(at, agent);
            }
        }
        agents
    }
}

/// A noun or a verb on its own: `LAMBDA a . boat ( a )`.
fn single_word(terms: &mut Terms, official: &str) -> Result<TermId, String> {
    let mut variables = Vec::new();
    let mut body = official;
    while let Some((variable, rest)) = body.strip_prefix("LAMBDA ").and_then(|rest| rest.split_once(" . ")) {
        variables.push(variable);
        body = rest;
    }
    let conjuncts: Vec<Conjunct<'_>> = body.split(" AND ").map(Conjunct::read).collect::<Result<_, _>>()?;
    if let [Conjunct { lemma, second: None, .. }] = conjuncts[..] {
        return Ok(leaf(terms, lemma));
    }
    if variables.pop() != Some(EVENT) {
        return Err(format!("expected `{EVENT}` as the last variable of a verb"));
    }
    let mut roles = Vec::new();
    for conjunct in &conjuncts {
        let variable = leaf(terms, conjunct.second.unwrap_or_default());
        roles.push(terms.call(&conjunct.relation, &[variable]));
    }
    let mut term = terms.call(conjuncts.first().map_or("", |conjunct| conjunct.lemma), &roles);
    for variable in variables.into_iter().rev() {
        let variable = leaf(terms, variable);
        term = terms.call(LAMBDA, &[variable, term]);
    }
    Ok(term)
}
