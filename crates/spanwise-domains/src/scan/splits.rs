//! The official divisions of SCAN into train and test commands, as rules.
//!
//! Each rule gives the same sets as the official files, though not their order; only `simple` is random, so ours is a split of
//! the same sizes and not the same split. Two peculiarities of the official files are kept: the template
//! splits leave the commands whose `turn` has the held-out form out of both files, and the add-primitive
//! train files repeat the bare primitive (see [`Split::repeats`]).

use super::grammar::{Clause, Command, Times};
use super::words::{Direction, Manner, Verb};
use crate::data::random::PythonRandom;

/// The longest action sequence in the train set of the length split.
const LONGEST_TRAINED: usize = 22;

/// One way of dividing SCAN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Split {
    /// Random: four fifths for training.
    Simple,
    /// Up to 22 actions for training, more for testing.
    Length,
    /// `jump` is trained only as the bare command.
    AddJump,
    /// `turn left` is trained only as the bare command.
    AddTurnLeft,
    /// `VERB right` is held out.
    Right,
    /// `VERB opposite right` is held out.
    OppositeRight,
    /// `VERB around right` is held out.
    AroundRight,
    /// `jump around right` is held out.
    JumpAroundRight,
}

/// The side of a split that a command is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// For training.
    Train,
    /// For testing.
    Test,
    /// In neither file.
    Neither,
}

/// Indices of commands, in increasing order except for the random split.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TrainTest {
    /// For training.
    pub train: Vec<usize>,
    /// For testing.
    pub test: Vec<usize>,
}

impl Split {
    /// All splits.
    pub const ALL: [Self; 8] = [
        Self::Simple,
        Self::Length,
        Self::AddJump,
        Self::AddTurnLeft,
        Self::Right,
        Self::OppositeRight,
        Self::AroundRight,
        Self::JumpAroundRight,
    ];

    /// The name in the official files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Length => "length",
            Self::AddJump => "addprim_jump",
            Self::AddTurnLeft => "addprim_turn_left",
            Self::Right => "right",
            Self::OppositeRight => "opposite_right",
            Self::AroundRight => "around_right",
            Self::JumpAroundRight => "jump_around_right",
        }
    }

    /// The split of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.name() == name)
    }

    /// The side of a command, where a rule decides it; `None` for the random split.
    #[must_use]
    pub fn side(self, command: Command) -> Option<Side> {
        let is_bare = |verb, direction| {
            let Clause { phrase, times } = command.first;
            let is_phrase = (phrase.verb(), phrase.direction(), phrase.manner()) == (verb, direction, None);
            is_phrase && times == Times::Once && command.second.is_none()
        };
        let right = |verbs: &[Verb], manner| template(command, verbs, manner);
        Some(match self {
            Self::Simple => return None,
            Self::Length => test_if(command.n_actions() > LONGEST_TRAINED),
            Self::AddJump => {
                let jumps = command.clauses().any(|clause| clause.phrase.verb() == Verb::Jump);
                test_if(jumps && !is_bare(Verb::Jump, None))
            }
            Self::AddTurnLeft => {
                let turns = has(command, Verb::Turn, Direction::Left, None);
                test_if(turns && !is_bare(Verb::Turn, Some(Direction::Left)))
            }
            Self::Right => right(&ACTING, None),
            Self::OppositeRight => right(&ACTING, Some(Manner::Opposite)),
            Self::AroundRight => right(&ACTING, Some(Manner::Around)),
            Self::JumpAroundRight => right(&[Verb::Jump], Some(Manner::Around)),
        })
    }

    /// Divides the commands; `seed` matters only for the random split.
    #[must_use]
    pub fn divide(self, commands: &[Command], seed: u64) -> TrainTest {
        if self == Self::Simple {
            let mut train: Vec<usize> = (0..commands.len()).collect();
            PythonRandom::new(seed).shuffle(&mut train);
            let test = train.split_off(commands.len() * 4 / 5);
            return TrainTest { train, test };
        }
        let on = |side| (0..commands.len()).filter(|&idx| self.side(commands[idx]) == Some(side)).collect();
        TrainTest { train: on(Side::Train), test: on(Side::Test) }
    }

    /// How often the official train file holds `command` when the train set has `n_train` different commands:
    /// the add-primitive files repeat the bare primitive until it makes up a tenth of the file.
    #[must_use]
    pub fn repeats(self, command: Command, n_train: usize) -> usize {
        let primitive = match self {
            Self::AddJump => "jump",
            Self::AddTurnLeft => "turn left",
            _ => return 1,
        };
        if command.utterance() == primitive { (n_train.saturating_sub(1) / 9).max(1) } else { 1 }
    }
}

/// The verbs that do something besides turning.
const ACTING: [Verb; 4] = [Verb::Walk, Verb::Look, Verb::Run, Verb::Jump];

fn has(command: Command, verb: Verb, direction: Direction, manner: Option<Manner>) -> bool {
    command.clauses().any(|Clause { phrase, .. }| {
        (phrase.verb(), phrase.direction(), phrase.manner()) == (verb, Some(direction), manner)
    })
}

/// `VERB MANNER right` is for testing, but `turn MANNER right` keeps a command out of both files.
fn template(command: Command, verbs: &[Verb], manner: Option<Manner>) -> Side {
    if has(command, Verb::Turn, Direction::Right, manner) {
        return Side::Neither;
    }
    test_if(verbs.iter().any(|&verb| has(command, verb, Direction::Right, manner)))
}

fn test_if(held_out: bool) -> Side {
    if held_out { Side::Test } else { Side::Train }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::grammar::commands;

    #[test]
    fn sizes_are_those_of_the_official_files() {
        let commands = commands();
        for (split, n_train, n_test) in [
            (Split::Simple, 16_728, 4_182),
            (Split::Length, 16_990, 3_920),
            (Split::AddJump, 13_204, 7_706),
            (Split::AddTurnLeft, 19_702, 1_208),
            (Split::Right, 15_225, 4_476),
            (Split::OppositeRight, 15_225, 4_476),
            (Split::AroundRight, 15_225, 4_476),
            (Split::JumpAroundRight, 18_528, 1_173),
        ] {
            let TrainTest { train, test } = split.divide(&commands, 0);
            assert_eq!((train.len(), test.len()), (n_train, n_test), "{}", split.name());
        }
    }

    #[test]
    fn the_random_split_depends_on_the_seed_and_on_nothing_else() {
        let commands = commands();
        assert_eq!(Split::Simple.divide(&commands, 7), Split::Simple.divide(&commands, 7));
        assert_ne!(Split::Simple.divide(&commands, 7), Split::Simple.divide(&commands, 8));
        let TrainTest { train, test } = Split::Simple.divide(&commands, 7);
        let mut all = [train, test].concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..commands.len()));
    }

    #[test]
    fn names_lead_back_to_splits() {
        for split in Split::ALL {
            assert_eq!(Split::from_name(split.name()), Some(split));
        }
        assert_eq!(Split::from_name("nonsense"), None);
    }
}
