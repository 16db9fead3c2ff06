//! The words of SCAN and what one verb phrase does.

/// What the agent does at one moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// `I_TURN_LEFT`
    TurnLeft,
    /// `I_TURN_RIGHT`
    TurnRight,
    /// `I_WALK`
    Walk,
    /// `I_LOOK`
    Look,
    /// `I_RUN`
    Run,
    /// `I_JUMP`
    Jump,
}

impl Action {
    /// The action as SCAN's output writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TurnLeft => "I_TURN_LEFT",
            Self::TurnRight => "I_TURN_RIGHT",
            Self::Walk => "I_WALK",
            Self::Look => "I_LOOK",
            Self::Run => "I_RUN",
            Self::Jump => "I_JUMP",
        }
    }
}

/// The verb of a phrase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verb {
    /// `walk`
    Walk,
    /// `look`
    Look,
    /// `run`
    Run,
    /// `jump`
    Jump,
    /// `turn`, the verb that needs a direction and does nothing besides turning.
    Turn,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; 5] = [Self::Walk, Self::Look, Self::Run, Self::Jump, Self::Turn];

    /// The word in a command.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Look => "look",
            Self::Run => "run",
            Self::Jump => "jump",
            Self::Turn => "turn",
        }
    }

    const fn action(self) -> Option<Action> {
        match self {
            Self::Walk => Some(Action::Walk),
            Self::Look => Some(Action::Look),
            Self::Run => Some(Action::Run),
            Self::Jump => Some(Action::Jump),
            Self::Turn => None,
        }
    }
}

/// Where a phrase turns to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// `left`
    Left,
    /// `right`
    Right,
}

impl Direction {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::Left, Self::Right];

    /// The word in a command.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    const fn turn(self) -> Action {
        match self {
            Self::Left => Action::TurnLeft,
            Self::Right => Action::TurnRight,
        }
    }
}

/// How a phrase turns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Manner {
    /// `opposite`: turn twice, then act once.
    Opposite,
    /// `around`: four times turn once and act once.
    Around,
}

impl Manner {
    /// Both manners.
    pub const ALL: [Self; 2] = [Self::Opposite, Self::Around];

    /// The word in a command.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Opposite => "opposite",
            Self::Around => "around",
        }
    }
}

/// A verb with its direction and manner. `turn` always has a direction, a manner never comes without one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Phrase {
    verb: Verb,
    direction: Option<(Direction, Option<Manner>)>,
}

impl Phrase {
    /// The phrase, or `None` for `turn` without a direction.
    #[must_use]
    pub fn new(verb: Verb, direction: Option<(Direction, Option<Manner>)>) -> Option<Self> {
        (verb != Verb::Turn || direction.is_some()).then_some(Self { verb, direction })
    }

    /// The verb.
    #[must_use]
    pub const fn verb(self) -> Verb {
        self.verb
    }

    /// The direction.
    #[must_use]
    pub fn direction(self) -> Option<Direction> {
        self.direction.map(|(direction, _)| direction)
    }

    /// The manner.
    #[must_use]
    pub fn manner(self) -> Option<Manner> {
        self.direction.and_then(|(_, manner)| manner)
    }

    /// What the phrase makes the agent do; at least one action.
    pub fn actions(self) -> impl Iterator<Item = Action> {
        // One round is some turns and then the verb's own action.
        let (n_rounds, n_turns) = match (self.direction, self.manner()) {
            (None, _) => (1, 0),
            (Some(_), None) => (1, 1),
            (Some(_), Some(Manner::Opposite)) => (1, 2),
            (Some(_), Some(Manner::Around)) => (4, 1),
        };
        let turns = self.direction().map(|direction| std::iter::repeat_n(direction.turn(), n_turns));
        let round = turns.into_iter().flatten().chain(self.verb.action());
        std::iter::repeat_n(round, n_rounds).flatten()
    }

    /// Number of actions.
    #[must_use]
    pub fn n_actions(self) -> usize {
        self.actions().count()
    }
}
