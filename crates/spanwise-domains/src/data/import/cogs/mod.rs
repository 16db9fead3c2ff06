//! COGS: logical forms with variables, as nested events.
//!
//! ```text
//! The fox wanted to paint a boat .
//! * fox ( x _ 1 ) ; want . agent ( x _ 2 , x _ 1 ) AND want . xcomp ( x _ 2 , x _ 4 )
//!   AND paint . agent ( x _ 4 , x _ 1 ) AND paint . theme ( x _ 4 , x _ 6 ) AND boat ( x _ 6 )
//! want(agent(the(fox)), xcomp(paint(theme(boat))))
//! ```
//!
//! A verb is a call with its roles, in the order of the logical form. A noun is a name, in `the(..)` where it is definite.
//! A modifier is a call with the noun as its first argument: `nmod.on(boat, the(lake))`. The agent of an infinitive is
//! that of the verb above, so it is left out. Single words are a noun, a proper name, or a verb with its variables: `lambda(a, sleep(agent(a)))`.
//!
//! The variables are positions of words. They are found again because nouns follow an article, and verbs are the words
//! that are left: verbs in complements come later in the sentence, and so do nouns in a later part of the program.

mod logical_form;
mod sentence;

pub(super) use logical_form::program;
pub(super) use sentence::official;

/// The role of the subject of an active verb.
const AGENT: &str = "agent";

/// The complement whose agent is that of the verb above it.
const INFINITIVE: &str = "xcomp";

/// The roles that are verbs with roles of their own.
const COMPLEMENTS: [&str; 2] = ["ccomp", INFINITIVE];

/// What roles of nouns begin with.
const MODIFIER: &str = "nmod.";

/// The head of a definite noun.
const DEFINITE: &str = "the";

/// The head of a verb on its own.
const LAMBDA: &str = "lambda";

/// The variable of the event in a verb on its own.
const EVENT: &str = "e";

/// Words before nouns.
const ARTICLES: [&str; 2] = ["a", "the"];

/// Other words that have no variable.
const FUNCTION_WORDS: [&str; 8] = ["that", "to", "by", "was", "in", "on", "beside", "."];

/// Names begin with a capital letter, nouns do not.
fn is_proper_name(text: &str) -> bool {
    text.starts_with(char::is_uppercase)
}
