//! Natural languages: word rules that hold for every domain in a language.
//!
//! A domain file names its language (`language = "english"`). Nothing else in Spanwise knows words of a natural
//! language. To add one, write a module like [`mod@english`] and list it in [`LANGUAGES`].

pub mod english;

/// The languages that domain files can name.
pub const LANGUAGES: &[&Language] = &[&english::ENGLISH];

/// What Spanwise knows about a natural language.
///
/// ```
/// let english = spanwise_lang::language::find("english").unwrap();
/// assert_eq!((english.stem)("bordering"), (english.stem)("borders"));
/// assert!(english.articles.contains(&"the"));
/// assert!(spanwise_lang::language::find("latin").is_none());
/// ```
#[derive(Debug)]
pub struct Language {
    /// The name that domain files use.
    pub name: &'static str,
    /// Maps a lower-case word to its stem. Stems are compared with each other and need not be words.
    pub stem: fn(&str) -> String,
    /// Its words in lower case and alphabetical order, inflections included. Names are not among them.
    pub words: fn() -> &'static [&'static str],
    /// Articles in lower case. Recombination moves an article together with the phrase that follows it.
    pub articles: &'static [&'static str],
    /// Nouns in lower case that add nothing to the words before them, such as `thing` in `the red thing`.
    /// Recombination moves them together with those words.
    pub filler_nouns: &'static [&'static str],
    /// Words in lower case that negate what follows. A program that leaves one out says the opposite.
    pub negations: &'static [&'static str],
    /// Words in lower case that count or order: `five`, `dozen`, `third`.
    pub number_words: &'static [&'static str],
    /// Words in lower case that begin a question: `what`, `when`.
    pub question_words: &'static [&'static str],
    /// Words in lower case that say little by themselves: auxiliaries, pronouns, and the verbs of a request such as `show`.
    pub light_words: &'static [&'static str],
    /// Words in lower case that join two clauses of the same kind: `and`.
    pub conjunctions: &'static [&'static str],
    /// Courtesies that can stand before and after any request: `please`.
    pub courtesies: [&'static [&'static str]; 2],
}

impl Language {
    /// Whether a lower-case word is one of the language. Cost: a binary search.
    #[must_use]
    pub fn has_word(&self, word: &str) -> bool {
        (self.words)().binary_search(&word).is_ok()
    }
}

/// The language called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().copied().find(|language| language.name == name)
}
