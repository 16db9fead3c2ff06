//! SCAN's grammar: all 20,910 commands, each with its SCAN-SP program and its actions.
//!
//! A command is one clause, or two joined by `and` or `after`; a clause is a phrase, once, twice or thrice.

use super::words::{Action, Direction, Manner, Phrase, Verb};
use crate::data::message::shown;

/// How often a clause does its phrase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Times {
    /// Without a word for it.
    Once,
    /// `twice`
    Twice,
    /// `thrice`
    Thrice,
}

impl Times {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Once, Self::Twice, Self::Thrice];

    /// The number.
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Self::Once => 1,
            Self::Twice => 2,
            Self::Thrice => 3,
        }
    }

    const fn word(self) -> Option<&'static str> {
        match self {
            Self::Once => None,
            Self::Twice => Some("twice"),
            Self::Thrice => Some("thrice"),
        }
    }
}

/// What joins two clauses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Joint {
    /// `x and y`: x, then y.
    And,
    /// `x after y`: y, then x.
    After,
}

impl Joint {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::And, Self::After];

    const fn word(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::After => "after",
        }
    }
}

/// A phrase done some number of times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Clause {
    /// The phrase.
    pub phrase: Phrase,
    /// How often.
    pub times: Times,
}

/// A command of SCAN.
///
/// ```
/// let command = spanwise_domains::scan::grammar::Command::parse("jump after turn left").unwrap();
/// assert_eq!(command.program(), "i_after ( i_jump ( ) , i_turn ( i_left ) )");
/// assert_eq!(command.answer(), "I_TURN_LEFT I_JUMP");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Command {
    /// The clause that is written first.
    pub first: Clause,
    /// What follows it.
    pub second: Option<(Joint, Clause)>,
}

/// Why a text is not a command of SCAN.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommandError {
    /// A word that the grammar does not allow there.
    #[error("word {position} of the command must be {expected}, found `{word}`")]
    Word {
        /// Its place, from 1.
        position: usize,
        /// The word.
        word: String,
        /// What the grammar allows there.
        expected: &'static str,
    },
    /// The command stops too early.
    #[error("the command ends where {expected} must come")]
    End {
        /// What the grammar allows there.
        expected: &'static str,
    },
}

/// Every command: first those of one clause, then all pairs. The order is fixed.
#[must_use]
pub fn commands() -> Vec<Command> {
    let clauses = clauses();
    let single = clauses.iter().map(|&first| Command { first, second: None });
    let pairs = clauses.iter().flat_map(|&first| {
        let join = move |joint, clause| Command { first, second: Some((joint, clause)) };
        clauses.iter().flat_map(move |&clause| Joint::ALL.map(|joint| join(joint, clause)))
    });
    single.chain(pairs).collect()
}

fn clauses() -> Vec<Clause> {
    let manners = [None, Some(Manner::Opposite), Some(Manner::Around)];
    let turned =
        Direction::ALL.into_iter().flat_map(|direction| manners.map(|manner| Some((direction, manner))));
    let turned: Vec<_> = std::iter::once(None).chain(turned).collect();
    let phrases = Verb::ALL
        .into_iter()
        .flat_map(|verb| turned.iter().filter_map(move |&direction| Phrase::new(verb, direction)));
    phrases.flat_map(|phrase| Times::ALL.map(|times| Clause { phrase, times })).collect()
}

impl Command {
    /// Reads a command.
    ///
    /// # Errors
    /// Names the first word that does not fit the grammar.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let mut words = Words { words: text.split_whitespace().peekable(), n_read: 0 };
        let first = words.clause()?;
        let second = match words.one_of(&Joint::ALL, |joint| joint.word()) {
            Some(joint) => Some((joint, words.clause()?)),
            None => None,
        };
        match words.words.next() {
            Some(word) => Err(words.unexpected(word, "the end, `twice`, `thrice`, `and` or `after`")),
            None => Ok(Self { first, second }),
        }
    }

    /// The clauses in the order of the text.
    pub fn clauses(self) -> impl Iterator<Item = Clause> {
        std::iter::once(self.first).chain(self.second.map(|(_, clause)| clause))
    }

    /// The command as text.
    #[must_use]
    pub fn utterance(self) -> String {
        let joined = self.second.map(|(joint, clause)| format!(" {} {}", joint.word(), clause.utterance()));
        self.first.utterance() + &joined.unwrap_or_default()
    }

    /// The SCAN-SP program, spaced as in the paper's data: `i_and ( i_walk ( ) , i_turn ( i_left ) )`.
    #[must_use]
    pub fn program(self) -> String {
        match self.second {
            None => self.first.program(),
            Some((joint, clause)) => {
                format!("i_{} ( {} , {} )", joint.word(), self.first.program(), clause.program())
            }
        }
    }

    /// What the command makes the agent do.
    #[must_use]
    pub fn actions(self) -> Vec<Action> {
        let (first, second) = match self.second {
            None => (self.first, None),
            Some((Joint::And, clause)) => (self.first, Some(clause)),
            Some((Joint::After, clause)) => (clause, Some(self.first)),
        };
        let of = |clause: Clause| {
            std::iter::repeat_n(clause.phrase, clause.times.count()).flat_map(Phrase::actions)
        };
        of(first).chain(second.into_iter().flat_map(of)).collect()
    }

    /// Number of actions.
    #[must_use]
    pub fn n_actions(self) -> usize {
        self.clauses().map(|clause| clause.times.count() * clause.phrase.n_actions()).sum()
    }

    /// The actions as SCAN's output writes them.
    #[must_use]
    pub fn answer(self) -> String {
        self.actions().into_iter().map(Action::name).collect::<Vec<_>>().join(" ")
    }
}

impl Clause {
    fn utterance(self) -> String {
        let Self { phrase, times } = self;
        let manner = phrase.manner().map(Manner::word);
        let direction = phrase.direction().map(Direction::word);
        let words = [Some(phrase.verb().word()), manner, direction, times.word()];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn program(self) -> String {
        let Self { phrase, times } = self;
        let verb = phrase.verb().word();
        let once = match (phrase.direction(), phrase.manner()) {
            (None, _) => format!("i_{verb} ( )"),
            (Some(direction), None) => format!("i_{verb} ( i_{} )", direction.word()),
            (Some(direction), Some(manner)) => {
                format!("i_{verb} ( i_{} , i_{} )", direction.word(), manner.word())
            }
        };
        match times.word() {
            None => once,
            Some(word) => format!("i_{word} ( {once} )"),
        }
    }
}

struct Words<'a, I: Iterator<Item = &'a str>> {
    words: std::iter::Peekable<I>,
    n_read: usize,
}

impl<'a, I: Iterator<Item = &'a str>> Words<'a, I> {
    fn clause(&mut self) -> Result<Clause, CommandError> {
        let verb = self.one_of(&Verb::ALL, |verb| verb.word());
        let verb = verb.ok_or_else(|| self.expected("`walk`, `look`, `run`, `jump` or `turn`"))?;
        let manner = self.one_of(&Manner::ALL, |manner| manner.word());
        let direction = self.one_of(&Direction::ALL, |direction| direction.word());
        if direction.is_none() && manner.is_some() {
            return Err(self.expected("`left` or `right`"));
        }
        let phrase = Phrase::new(verb, direction.map(|direction| (direction, manner)));
        let phrase = phrase.ok_or_else(|| self.expected("`left`, `right`, `opposite` or `around`"))?;
        let times = self.one_of(&[Times::Twice, Times::Thrice], |times| times.word().unwrap_or_default());
        Ok(Clause { phrase, times: times.unwrap_or(Times::Once) })
    }

    /// Reads the next word if it is one of these.
    fn one_of<T: Copy>(&mut self, all: &[T], word: impl Fn(T) -> &'static str) -> Option<T> {
        let next = self.words.peek()?;
        let found = all.iter().copied().find(|&it| word(it) == *next)?;
        self.words.next();
        self.n_read += 1;
        Some(found)
    }

    fn expected(&mut self, expected: &'static str) -> CommandError {
        match self.words.peek().copied() {
            Some(word) => self.unexpected(word, expected),
            None => CommandError::End { expected },
        }
    }

    fn unexpected(&self, word: &str, expected: &'static str) -> CommandError {
        CommandError::Word { position: self.n_read + 1, word: shown(word).into_owned(), expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn check_error(text: &str, message: &str) {
        assert_eq!(Command::parse(text).unwrap_err().to_string(), message, "for {text:?}");
    }

    #[test]
    fn the_grammar_has_20910_commands_and_reads_each_of_them_back() {
        let commands = commands();
        assert_eq!(commands.len(), 20_910);
        assert_eq!(commands.iter().collect::<BTreeSet<_>>().len(), 20_910);
        for command in commands {
            assert_eq!(Command::parse(&command.utterance()), Ok(command));
            assert_eq!(command.actions().len(), command.n_actions());
        }
    }

    #[test]
    fn after_swaps_what_is_done_first() {
        let command = Command::parse("turn around left after run opposite right twice").unwrap();
        assert_eq!(
            command.program(),
            "i_after ( i_turn ( i_left , i_around ) , i_twice ( i_run ( i_right , i_opposite ) ) )"
        );
        let run = "I_TURN_RIGHT I_TURN_RIGHT I_RUN";
        let turn = "I_TURN_LEFT";
        assert_eq!(command.answer(), format!("{run} {run} {turn} {turn} {turn} {turn}"));
    }

    #[test]
    fn errors_name_the_word() {
        check_error("", "the command ends where `walk`, `look`, `run`, `jump` or `turn` must come");
        check_error("turn", "the command ends where `left`, `right`, `opposite` or `around` must come");
        check_error("walk around twice", "word 3 of the command must be `left` or `right`, found `twice`");
        check_error("walk and", "the command ends where `walk`, `look`, `run`, `jump` or `turn` must come");
        check_error(
            "walk and run and jump",
            "word 4 of the command must be the end, `twice`, `thrice`, `and` or `after`, found `and`",
        );
    }
}
