//! What a domain file consists of, before it is text.

use std::collections::BTreeMap;

/// The SQL of a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Sql {
    /// Keys, or the single value of a type such as a number.
    Keys(String),
    /// Keys with a value.
    Value(String),
    /// Keys with a rank.
    Rank(String),
}

/// A signature of a constant.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) text: String,
    pub(super) sql: Sql,
    pub(super) say: Vec<String>,
}

/// A constant.
#[derive(Clone, Debug, Default)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) signatures: Vec<Signature>,
    pub(super) phrases: Vec<String>,
    pub(super) weight: Option<f64>,
    /// Whether it can be left unsaid.
    pub(super) is_implicit: bool,
}

/// A class of entities.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) ty: String,
    pub(super) phrases: Vec<String>,
    pub(super) form: String,
    pub(super) table: String,
    pub(super) sql: String,
    pub(super) say: Vec<String>,
    pub(super) weight: Option<f64>,
}

/// A set of filters.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) head: String,
    pub(super) element: String,
    pub(super) result: String,
}

/// Everything a domain file has.
#[derive(Clone, Debug, Default)]
pub(super) struct Language {
    /// Types with what they are below, in the order of the file.
    pub(super) types: Vec<(String, Vec<String>)>,
    pub(super) roots: Vec<String>,
    pub(super) constants: Vec<Constant>,
    pub(super) classes: Vec<Class>,
    pub(super) sets: Vec<Set>,
    pub(super) show: Vec<(String, String)>,
    pub(super) say: Vec<(String, Vec<String>)>,
    pub(super) contrasts: Vec<(String, String)>,
    places: BTreeMap<String, usize>,
}

impl Language {
    /// Declares a type once; further parents are added.
    pub(super) fn ty(&mut self, name: &str, parents: &[&str]) {
        let found = self.types.iter().position(|(known, _)| known == name);
        let place = found.unwrap_or_else(|| {
            self.types.push((name.to_owned(), Vec::new()));
            self.types.len() - 1
        });
        for parent in parents {
            let list = &mut self.types[place].1;
            if !list.iter().any(|known| known == parent) {
                list.push((*parent).to_owned());
            }
        }
    }

    pub(super) fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|(known, _)| known == name)
    }

    pub(super) fn root(&mut self, name: &str) {
        if !self.roots.iter().any(|known| known == name) {
            self.roots.push(name.to_owned());
        }
    }

    /// Adds a signature to a constant, which is made if it is not there. The same signature is added once.
    pub(super) fn add(&mut self, name: &str, signature: impl Into<String>, sql: Sql, say: &[&str]) {
        let text = signature.into();
        let constant = self.constant(name);
        if constant.signatures.iter().any(|known| known.text == text) {
            return;
        }
        let say = say.iter().map(|text| (*text).to_owned()).collect();
        constant.signatures.push(Signature { text, sql, say });
    }

    /// Adds phrases to a constant.
    pub(super) fn phrases(&mut self, name: &str, phrases: &[&str]) {
        let constant = self.constant(name);
        for phrase in phrases {
            let phrase = phrase.trim();
            if !phrase.is_empty() && !constant.phrases.iter().any(|known| known == phrase) {
                constant.phrases.push(phrase.to_owned());
            }
        }
    }

    pub(super) fn weight(&mut self, name: &str, weight: f64) {
        self.constant(name).weight = Some(weight);
    }

    pub(super) fn implicit(&mut self, name: &str) {
        self.constant(name).is_implicit = true;
    }

    pub(super) fn contrast(&mut self, one: &str, other: &str) {
        let pair = (one.to_owned(), other.to_owned());
        if !self.contrasts.contains(&pair) {
            self.contrasts.push(pair);
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    fn constant(&mut self, name: &str) -> &mut Constant {
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.constants.push(Constant { name: name.to_owned(), ..Constant::default() });
            self.constants.len() - 1
        });
        &mut self.constants[place]
    }

    /// Drops constants that got words only, and what mentions them.
    pub(super) fn finish(&mut self) {
        self.constants.retain(|constant| !constant.signatures.is_empty());
        for constant in &mut self.constants {
            anchor(constant);
        }
        let constants = &self.constants;
        let is_known = |name: &str| constants.iter().any(|constant| constant.name == name);
        self.contrasts.retain(|(one, other)| is_known(one) && is_known(other));
        self.places =
            constants.iter().enumerate().map(|(place, constant)| (constant.name.clone(), place)).collect();
    }

    pub(super) fn signatures(&self) -> usize {
        self.constants.iter().map(|constant| constant.signatures.len()).sum::<usize>() + self.classes.len()
    }
}

/// Words that say nothing by themselves: a phrase does not begin or end with them unless it has no others.
const WEAK: &[&str] = &[
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "do", "does", "did", "has", "have", "had",
    "that", "who", "which", "what", "whose", "their", "there", "to", "of", "in", "on", "at", "by", "for",
    "from", "with", "and", "than", "where", "we", "it", "ones", "'s",
];

/// Adds phrases to a constant until each of its texts has one of them. A constant is allowed on its phrases only, which keeps
/// charts small: without a phrase, a text could not be derived.
fn anchor(constant: &mut Constant) {
    let texts: Vec<String> =
        constant.signatures.iter().flat_map(|signature| signature.say.iter().cloned()).collect();
    for text in texts {
        let chunks = chunks(&text);
        let has = |phrase: &String| chunks.iter().any(|chunk| contains(chunk, phrase));
        if constant.phrases.iter().any(has) {
            continue;
        }
        let best = chunks.iter().map(|chunk| strong(chunk)).max_by_key(|(weight, _)| *weight);
        if let Some((_, phrase)) = best.filter(|(_, phrase)| !phrase.is_empty()) {
            constant.phrases.push(phrase);
        }
    }
}

/// The words between the holes of a text.
fn chunks(text: &str) -> Vec<Vec<String>> {
    let mut plain = String::new();
    let mut depth = 0;
    for ch in text.chars() {
        match ch {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                plain.push('|');
            }
            ch if depth == 0 => plain.push(ch),
            _ => {}
        }
    }
    let words = |chunk: &str| chunk.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    plain.split('|').map(words).filter(|chunk| !chunk.is_empty()).collect()
}

/// Whether a phrase is in a chunk. Endings count: a stemmer compares less than this.
fn contains(chunk: &[String], phrase: &str) -> bool {
    let phrase: Vec<String> = phrase.split_whitespace().map(str::to_lowercase).collect();
    !phrase.is_empty() && chunk.windows(phrase.len()).any(|window| window == phrase)
}

/// The chunk without weak words around it, and how much it says.
fn strong(chunk: &[String]) -> (usize, String) {
    let is_weak = |word: &String| WEAK.contains(&word.as_str());
    let start = chunk.iter().position(|word| !is_weak(word));
    let end = chunk.iter().rposition(|word| !is_weak(word));
    match (start, end) {
        (Some(start), Some(end)) => {
            // *How much does {1} cost* is about the cost.
            let says = |word: &&String| !is_weak(word) && !matches!(word.as_str(), "how" | "much" | "many");
            (2 + chunk.iter().filter(says).count(), chunk[start..=end].join(" "))
        }
        // Nothing but weak words: the last one that can be a word of its own.
        _ => (1, chunk.last().filter(|word| *word != "'s").cloned().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_a_constant_has_one_of_its_phrases() {
        let mut language = Language::default();
        let say =
            ["the price of {1}", "how much does {1} cost", "how much is {1}", "{1} in {2}", "costing {1}"];
        language.add("price", "Any -> Money", Sql::Keys(String::new()), &say);
        language.phrases("price", &["price"]);
        language.finish();
        assert_eq!(language.constants[0].phrases, ["price", "cost", "how much", "in", "costing"]);
    }
}
