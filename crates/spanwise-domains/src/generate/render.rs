//! Writes drawn programs as utterances.

use super::productions::{Maker, Productions};
use super::tree::Node;
use spanwise_core::Random;
use spanwise_lang::say::{Part, Template};

/// The share of articles that are left out.
const NO_ARTICLE: f32 = 0.12;
/// The share of utterances with a courtesy, such as `please`.
const COURTESY: f32 = 0.06;
/// The shares of utterances in lower case, and with a capital letter at least.
const LOWER: f32 = 0.15;
const CAPITAL: f32 = 0.3;
/// The shares of questions with a question mark, and of others with a full stop.
const QUESTION_MARK: f32 = 0.5;
const FULL_STOP: f32 = 0.08;

/// Writes utterances of a domain.
pub(super) struct Render<'a, 'd> {
    pub(super) all: &'a Productions<'d>,
    /// Whether articles, courtesies, case and punctuation vary.
    pub(super) is_varied: bool,
}

impl Render<'_, '_> {
    /// The utterance of a complete program. `seed` decides what its parts do not.
    pub(super) fn utterance(&self, node: &Node, seed: u64) -> String {
        let unit = &self.all.units[self.all.all[node.production].unit];
        let mut random = Random::new(seed, &[1]);
        let said = self.node(node);
        let sentence = match self.all.roots.get(&unit.result).filter(|texts| !texts.is_empty()) {
            Some(texts) => {
                let text = &texts[random.below(texts.len())];
                self.parts(&text.parts, &[said], &mut random)
            }
            None => said,
        };
        let text = tidy(&sentence);
        if self.is_varied { self.varied(text, &mut Random::new(seed, &[2])) } else { text }
    }

    fn node(&self, node: &Node) -> String {
        let mut random = Random::new(node.seed, &[]);
        let production = &self.all.all[node.production];
        let said = || node.children.iter().map(|child| self.node(child));
        match production.maker {
            Maker::Class(class) => match (node.member, &node.value) {
                (Some(member), _) => {
                    let members = self.all.members.get(&class).map_or(&[][..], Vec::as_slice);
                    let names =
                        members.iter().find(|(id, _)| *id == member).map_or(&[][..], |(_, names)| names);
                    // The first name is the usual one.
                    let at = random.below(names.len().max(1)).min(random.below(names.len().max(1)));
                    names.get(at).cloned().unwrap_or_default()
                }
                (None, value) => value.as_ref().map_or(String::new(), |(words, _)| words.clone()),
            },
            Maker::Frame(..) => {
                let text = self.wording(&production.wordings, &mut random);
                self.parts(&text.parts, &said().collect::<Vec<_>>(), &mut random)
            }
            Maker::Gather(_) => {
                let join = |all: String, next: String, random: &mut Random| {
                    let text = self.wording(&production.wordings, random);
                    self.parts(&text.parts, &[all, next], random)
                };
                said().reduce(|all, next| join(all, next, &mut random)).unwrap_or_default()
            }
        }
    }

    fn wording<'t>(&self, wordings: &'t [Template], random: &mut Random) -> &'t Template {
        &wordings[random.below(wordings.len())]
    }

    /// Parts with arguments in their holes. Optional parts with an argument that stand side by side are in any order.
    fn parts(&self, parts: &[Part], args: &[String], random: &mut Random) -> String {
        let parts = self.shuffled(parts, random);
        let mut out = String::new();
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(&self.without_articles(text, random)),
                Part::Hole(arg) => out.push_str(args.get(*arg).map_or("", String::as_str)),
                Part::Optional(inner) => {
                    // Drawn in any case, so that what follows does not depend on it.
                    let is_said = random.below(2) == 0;
                    if is_said || has_hole(inner) {
                        out.push(' ');
                        out.push_str(&self.parts(inner, args, random));
                        out.push(' ');
                    }
                }
                Part::Column(_) => {}
            }
        }
        out
    }

    fn shuffled<'p>(&self, parts: &'p [Part], random: &mut Random) -> Vec<&'p Part> {
        let mut all: Vec<&Part> = parts.iter().collect();
        let is_free = |part: &Part| matches!(part, Part::Optional(inner) if has_hole(inner));
        let places: Vec<usize> = (0..all.len()).filter(|&at| is_free(all[at])).collect();
        let is_blank = |at: usize| matches!(&parts[at], Part::Text(text) if text.trim().is_empty());
        let are_neighbors = places.windows(2).all(|pair| (pair[0] + 1..pair[1]).all(is_blank));
        if places.len() > 1 && are_neighbors && random.below(3) == 0 {
            let mut moved: Vec<&Part> = places.iter().map(|&at| all[at]).collect();
            random.shuffle(&mut moved);
            places.iter().zip(moved).for_each(|(&at, part)| all[at] = part);
        }
        all
    }

    fn without_articles(&self, text: &str, random: &mut Random) -> String {
        let Some(language) = self.all.domain.language().filter(|_| self.is_varied) else {
            return text.to_owned();
        };
        let is_article =
            |word: &str| language.articles.iter().any(|article| article.eq_ignore_ascii_case(word.trim()));
        let words = text.split_inclusive(' ');
        words.filter(|word| !is_article(word) || random.uniform() >= NO_ARTICLE).collect()
    }

    fn varied(&self, mut text: String, random: &mut Random) -> String {
        let language = self.all.domain.language();
        let draws: Vec<f32> = (0..6).map(|_| random.uniform()).collect();
        let is_question = |text: &str| {
            let first = text.split(' ').next().unwrap_or_default().to_lowercase();
            language.is_some_and(|language| language.question_words.contains(&first.as_str()))
        };
        let end = match is_question(&text) {
            true if draws[0] < QUESTION_MARK => "?",
            false if draws[0] < FULL_STOP => ".",
            _ => "",
        };
        if let Some(language) = language.filter(|_| draws[1] < COURTESY) {
            let [before, after] = language.courtesies;
            match (before.is_empty(), after.is_empty()) {
                (false, _) if draws[2] < 0.5 => text = format!("{} {text}", pick(before, draws[3])),
                (_, false) => text = format!("{text} {}", pick(after, draws[3])),
                _ => {}
            }
        }
        if !text.ends_with(['.', '?', '!']) {
            text.push_str(end);
        }
        if draws[4] < LOWER {
            return text.to_lowercase();
        }
        let mut chars = text.chars();
        match chars.next().filter(|_| draws[4] < LOWER + CAPITAL) {
            Some(first) => first.to_uppercase().chain(chars).collect(),
            None => text,
        }
    }
}

fn pick<'t>(texts: &[&'t str], draw: f32) -> &'t str {
    texts[((draw * texts.len() as f32) as usize).min(texts.len() - 1)]
}

fn has_hole(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Hole(_)))
}

/// One space between words, and none before marks that follow a word.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let is_mark = matches!(word.chars().next(), Some(',' | '.' | '?' | '!' | ';' | ':'))
            && word.chars().count() == 1;
        if !out.is_empty() && !is_mark {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn spaces_are_single_and_none_stands_before_a_mark() {
        assert_eq!(tidy("  orders   by anna , and  ben ?"), "orders by anna, and ben?");
    }
}
