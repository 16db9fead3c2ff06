//! What a program leaves out, as far as it can be known without a tree: names and numbers whose value it does not have, and
//! second questions.

use super::{Known, WordEvidence, add_word, has_digit, is_second_question};
use crate::leaves::found_leaves;
use crate::outcome::Parse;
use spanwise_core::{Span, Utterance};
use spanwise_lang::linear::{Token, linearize};
use spanwise_lang::{Domain, TermId, Terms};
use spanwise_reading::UnreadKind;
use std::collections::BTreeSet;

/// The words that a parse without a tree leaves out. Every other word may have been read: nothing shows it.
pub(super) fn unread(known: Known<'_>, parse: &Parse, read: &Utterance) -> WordEvidence {
    let mut result = WordEvidence::default();
    for (at, kind) in left_out(known.domain, &parse.terms, parse.program, read) {
        if add_word(&mut result.unread, at, kind) {
            result.evidence.add(kind, 1.0);
        }
    }
    result
}

/// The words that a program certainly leaves out, each with its kind.
fn left_out(domain: &Domain, terms: &Terms, program: TermId, read: &Utterance) -> Vec<(usize, UnreadKind)> {
    let has_value = has_value(domain, terms, program, read);
    let kind = |(at, is_name): (usize, bool)| {
        let word = read.tokens()[at].lower.as_str();
        let kind = match () {
            () if is_second_question(domain, read, at) => UnreadKind::Question,
            () if has_value[at] || domain.is_no_meaning(word) => return None,
            () if has_digit(word) => UnreadKind::Number,
            () if is_name => UnreadKind::Name,
            () => return None,
        };
        Some((at, kind))
    };
    domain.lexicon().is_name(read).into_iter().enumerate().filter_map(kind).collect()
}

/// For each word, whether it is part of a name, a literal or a phrase of something that the program has.
fn has_value(domain: &Domain, terms: &Terms, program: TermId, read: &Utterance) -> Vec<bool> {
    let tokens: BTreeSet<String> =
        linearize(domain, terms, program).iter().filter(|it| is_constant(it)).map(Token::to_string).collect();
    let phrases = domain.lexicon().matches(read).into_iter();
    let phrases = phrases.map(|it| (it.span, domain.constants()[it.constant].name.clone()));
    let leaves = found_leaves(domain, read).into_iter().map(|(span, leaf)| (span, leaf.text));
    let mut has_value = vec![false; read.len()];
    for (Span { start, end }, _) in leaves.chain(phrases).filter(|(_, text)| tokens.contains(text)) {
        has_value[start as usize..end as usize].fill(true);
    }
    has_value
}

fn is_constant(token: &Token) -> bool {
    matches!(token, Token::Name(_) | Token::Leaf(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_lang::domain::NoTables;

    const DOMAIN: &str = r#"
        name = "places"
        language = "english"
        types = ["State", "City", "Size", "Answer"]
        root = { types = ["Answer"] }
        lexicon = { top = "top 10" }
        [constants]
        next = "State -> Answer"
        people = "City -> Answer"
        above = "State, Size -> Answer"
        top = "State -> Answer"
        [[entities]]
        class = "state"
        type = "State"
        form = "state('{name}')"
        names = ["texas", "new york", "york"]
        [[entities]]
        class = "city"
        type = "City"
        form = "city('{name}')"
        names = ["new york"]
        [[literals]]
        class = "size"
        type = "Size"
        kind = "integer"
        form = "{value}"
    "#;

    #[track_caller]
    fn check(text: &str, program: &str, expected: &[(&str, UnreadKind)]) {
        let domain = Domain::load(DOMAIN, "places.toml", None, &NoTables).unwrap();
        let mut terms = domain.new_terms();
        let program = terms.parse(program).unwrap();
        let read = Utterance::new(text);
        let found = left_out(&domain, &terms, program, &read);
        let found: Vec<_> = found.iter().map(|(at, kind)| (&*read.tokens()[*at].lower, *kind)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_number_or_name_that_the_program_does_not_have_is_left_out() {
        check("what is next to texas in 1950", "next(state('texas'))", &[("1950", UnreadKind::Number)]);
        check("what is next to texas", "next(state('new york'))", &[("texas", UnreadKind::Name)]);
        check("what is next to it", "next(state('new york'))", &[]);
    }

    #[test]
    fn a_value_is_read_however_it_is_said_and_whichever_of_its_meanings_it_has() {
        check("above 1,000 in texas", "above(state('texas'), 1000)", &[]);
        check("above a dozen in texas", "above(state('texas'), 12)", &[]);
        check("people of new york", "people(city('new york'))", &[]);
        check("next to new york", "next(state('new york'))", &[]);
        check("the top 10 of texas", "top(state('texas'))", &[]);
    }

    #[test]
    fn a_second_question_is_left_out_and_nothing_is_said_about_other_words() {
        let question = |word| (word, UnreadKind::Question);
        let expected = [question("and"), question("where")];
        check("how quaint is texas and where", "next(state('texas'))", &expected);
    }
}
