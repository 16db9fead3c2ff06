//! Beam search over sequences of symbols, whatever scores them.

/// What is known of a sequence, and the log-probability of each symbol after it.
pub(crate) type Scored<S> = (S, Vec<f32>);

/// What scores sequences, one step at a time.
pub(crate) trait Scorer {
    /// What is known of a sequence that is not finished.
    type State;
    /// Why the search is given up.
    type Stop;

    /// The sequence without symbols.
    fn start(&self) -> Result<Scored<Self::State>, Self::Stop>;

    /// Each of these sequences, continued by a symbol that does not end it.
    fn advance(&self, sequences: &[(&Self::State, u32)]) -> Result<Vec<Scored<Self::State>>, Self::Stop>;
}

/// A finished sequence, without the symbol that ends it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Found {
    pub(crate) symbols: Vec<u32>,
    pub(crate) log_probability: f64,
}

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The sequences that are kept at each step; one for greedy search.
    pub(crate) width: usize,
    /// Most symbols of a sequence, with the one that ends it.
    pub(crate) max_length: usize,
    /// The symbol that ends a sequence.
    pub(crate) end: u32,
}

struct Live<S> {
    symbols: Vec<u32>,
    log_probability: f64,
    state: S,
    next: Vec<f32>,
}

/// The most probable sequences, the best first; at most as many as the beam is wide. Symbols with a log-probability of minus
/// infinity are never used. Of sequences that are equally probable, the one that was kept first comes first.
pub(crate) fn search<S: Scorer>(scorer: &S, limits: Limits) -> Result<Vec<Found>, S::Stop> {
    let Limits { width, max_length, end } = limits;
    let (state, next) = scorer.start()?;
    let mut live = vec![Live { symbols: Vec::new(), log_probability: 0.0, state, next }];
    let mut found: Vec<Found> = Vec::new();
    for length in 1..=max_length {
        let mut ahead: Vec<(f64, usize, u32)> = Vec::new();
        for (at, live) in live.iter().enumerate() {
            let steps = (0..).zip(&live.next).filter(|(_, step)| **step > f32::NEG_INFINITY);
            ahead.extend(steps.map(|(symbol, step)| (live.log_probability + f64::from(*step), at, symbol)));
        }
        // Stable: ties are broken by the order of sequences, then of symbols.
        ahead.sort_by(|a, b| b.0.total_cmp(&a.0));
        ahead.truncate(width);
        let (ended, going): (Vec<_>, Vec<_>) = ahead.into_iter().partition(|(_, _, symbol)| *symbol == end);
        found.extend(
            ended
                .into_iter()
                .map(|(log_probability, at, _)| Found { symbols: live[at].symbols.clone(), log_probability }),
        );
        found.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
        found.truncate(width);
        // A sequence only becomes less probable: what cannot enter the list any more is given up.
        let least = found.get(width - 1).map_or(f64::NEG_INFINITY, |last| last.log_probability);
        let going: Vec<_> = going.into_iter().filter(|(total, ..)| *total > least).collect();
        // Nor is a step needed after the last symbol that is allowed.
        if going.is_empty() || length == max_length {
            break;
        }
        let sequences: Vec<(&S::State, u32)> =
            going.iter().map(|(_, at, symbol)| (&live[*at].state, *symbol)).collect();
        let states = scorer.advance(&sequences)?;
        live = going
            .into_iter()
            .zip(states)
            .map(|((log_probability, at, symbol), (state, next))| {
                let symbols = live[at].symbols.iter().copied().chain([symbol]).collect();
                Live { symbols, log_probability, state, next }
            })
            .collect();
    }
    Ok(found)
}
