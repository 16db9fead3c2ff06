//! From programs to logical forms, with the positions of words in a sentence.

use super::{
    AGENT, ARTICLES, COMPLEMENTS, DEFINITE, EVENT, FUNCTION_WORDS, INFINITIVE, LAMBDA, MODIFIER,
    is_proper_name,
};
use crate::data::import::tabular::word;
use crate::data::message::shown;
use spanwise_lang::{Shape, TermId, Terms};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// A term as a logical form.
pub(in crate::data::import) fn official(
    terms: &Terms,
    root: TermId,
    utterance: &str,
) -> Result<String, String> {
    if terms.shape(root) != Shape::Call {
        let name = word(terms, root)?;
        return Ok(if is_proper_name(name) { name.to_owned() } else { format!("LAMBDA a . {name} ( a )") });
    }
    if terms.head_text(root) == LAMBDA {
        return single_verb(terms, root);
    }
    let mut form = LogicalForm::new(terms, utterance);
    form.sentence(root)?;
    form.text()
}

/// An argument of a relation.
#[derive(Clone, Copy)]
enum Argument<'a> {
    Word(usize),
    Name(&'a str),
}

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(position) => write!(f, "x _ {position}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// A logical form under way.
struct LogicalForm<'a> {
    terms: &'a Terms,
    /// The positions of each noun, in lower case, that the program has not used yet.
    nouns: BTreeMap<String, VecDeque<usize>>,
    /// The positions of verbs that the program has not used yet.
    verbs: VecDeque<usize>,
    /// Definite nouns, and conjuncts, with the word that they are about.
    definite: Vec<(usize, String)>,
    conjuncts: Vec<(usize, String)>,
}

impl<'a> LogicalForm<'a> {
    fn new(terms: &'a Terms, utterance: &str) -> Self {
        let mut nouns: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        let mut verbs = VecDeque::new();
        let mut is_after_article = false;
        for (position, word) in utterance.split(' ').enumerate() {
            let lower = word.to_lowercase();
            let is_article = ARTICLES.contains(&lower.as_str());
            if is_after_article {
                nouns.entry(lower).or_default().push_back(position);
            } else if !is_article && !FUNCTION_WORDS.contains(&word) && !is_proper_name(word) {
                verbs.push_back(position);
            }
            is_after_article = is_article;
        }
        Self { terms, nouns, verbs, definite: Vec::new(), conjuncts: Vec::new() }
    }

    /// A clause and the complements below it, one after the other.
    fn sentence(&mut self, root: TermId) -> Result<(), String> {
        let terms = self.terms;
        // A verb, and its agent where it is an infinitive.
        let mut next = Some((root, None));
        while let Some((verb, inherited)) = next.take() {
            let lemma = terms.head_text(verb);
            let at = self.verbs.pop_front().ok_or_else(|| no_verb_for(lemma, ""))?;
            let mut agent: Option<Argument<'_>> = inherited;
            if let Some(agent) = agent {
                self.relation(at, lemma, AGENT, agent);
            }
            for &role in terms.args(verb) {
                let (name, &[value]) = (terms.head_text(role), terms.args(role)) else {
                    return Err(format!("expected roles with one argument below `{}`", shown(lemma)));
                };
                if !COMPLEMENTS.contains(&name) {
                    let argument = self.noun_phrase(value)?;
                    self.relation(at, lemma, name, argument);
                    agent = if name == AGENT { Some(argument) } else { agent };
                    continue;
                }
                let below =
                    self.verbs.front().copied().ok_or_else(|| no_verb_for(lemma, " the complement of"))?;
                self.relation(at, lemma, name, Argument::Word(below));
                let inherited = if name == INFINITIVE {
                    Some(agent.ok_or_else(|| format!("`{}` has `{name}` but no agent", shown(lemma)))?)
                } else {
                    None
                };
                if next.replace((value, inherited)).is_some() {
                    return Err(format!("`{}` has more than one complement", shown(lemma)));
                }
            }
        }
        Ok(())
    }

    /// A noun and what modifies it. The argument is the noun itself.
    fn noun_phrase(&mut self, phrase: TermId) -> Result<Argument<'a>, String> {
        let terms = self.terms;
        let mut outermost = None;
        // Phrases that are still to be read, with the noun that they modify.
        let mut pending = vec![(phrase, None)];
        while let Some((phrase, modified)) = pending.pop() {
            let mut modifiers = Vec::new();
            let mut noun = phrase;
            while let (relation, &[inner, object]) = (terms.head_text(noun), terms.args(noun))
                && relation.starts_with(MODIFIER)
            {
                modifiers.push((object, relation));
                noun = inner;
            }
            let (lemma, argument) = self.noun(noun)?;
            if let Some((lemma, at, relation)) = modified {
                self.relation(at, lemma, relation, argument);
            }
            for (object, relation) in modifiers {
                let Argument::Word(at) = argument else {
                    return Err(format!("the name `{lemma}` cannot have `{}`", shown(relation)));
                };
                pending.push((object, Some((lemma, at, relation))));
            }
            outermost.get_or_insert(argument);
        }
        outermost.ok_or_else(|| "there is no noun".to_owned())
    }

    /// A noun or a name, without modifiers.
    fn noun(&mut self, noun: TermId) -> Result<(&'a str, Argument<'a>), String> {
        let terms = self.terms;
        let (is_definite, noun) = match (terms.head_text(noun), terms.args(noun)) {
            (DEFINITE, &[noun]) => (true, noun),
            _ => (false, noun),
        };
        let lemma = word(terms, noun)?;
        if is_proper_name(lemma) && !is_definite {
            return Ok((lemma, Argument::Name(lemma)));
        }
        let at = self.nouns.get_mut(lemma).and_then(VecDeque::pop_front).ok_or_else(|| {
            format!("the utterance has no article with `{}`, or fewer than the program", shown(lemma))
        })?;
        let into = if is_definite { &mut self.definite } else { &mut self.conjuncts };
        into.push((at, format!("{lemma} ( x _ {at} )")));
        Ok((lemma, Argument::Word(at)))
    }

    fn relation(&mut self, at: usize, lemma: &str, relation: &str, argument: Argument<'_>) {
        let relation = relation.replace('.', " . ");
        self.conjuncts.push((at, format!("{lemma} . {relation} ( x _ {at} , {argument} )")));
    }

    /// Definite nouns, then conjuncts, each in the order of the words that they are about.
    fn text(mut self) -> Result<String, String> {
        if self.conjuncts.is_empty() {
            return Err("a verb without roles has no logical form".to_owned());
        }
        let mut text = String::new();
        self.definite.sort_by_key(|&(at, _)| at);
        for (_, noun) in &self.definite {
            text += &format!("* {noun} ; ");
        }
        self.conjuncts.sort_by_key(|&(at, _)| at);
        let conjuncts: Vec<String> = self.conjuncts.into_iter().map(|(_, conjunct)| conjunct).collect();
        Ok(text + &conjuncts.join(" AND "))
    }
}

fn no_verb_for(lemma: &str, part: &str) -> String {
    format!("the utterance has fewer verbs than the program: none is left for{part} `{}`", shown(lemma))
}

/// A verb on its own: `lambda(a, sleep(agent(a)))`.
fn single_verb(terms: &Terms, root: TermId) -> Result<String, String> {
    let mut text = String::new();
    let mut verb = root;
    while let (LAMBDA, &[variable, body]) = (terms.head_text(verb), terms.args(verb)) {
        text += &format!("LAMBDA {} . ", word(terms, variable)?);
        verb = body;
    }
    text += &format!("LAMBDA {EVENT} . ");
    let lemma = terms.head_text(verb);
    for (role_idx, &role) in terms.args(verb).iter().enumerate() {
        let (name, &[variable]) = (terms.head_text(role), terms.args(role)) else {
            return Err(format!("expected roles with one variable below `{}`", shown(lemma)));
        };
        let and = if role_idx > 0 { " AND " } else { "" };
        text += &format!("{and}{lemma} . {name} ( {EVENT} , {} )", word(terms, variable)?);
    }
    Ok(text)
}
