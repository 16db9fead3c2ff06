//! Budgets: how much work, memory and time the charts of one utterance may take.
//!
//! The cost of a typed chart is known before it is filled; that of a gold chart or a k-best list only while it is made.
//! A [`Meter`] counts both against one [`Budget`]. Work and memory are counted, not measured, so an utterance that fits
//! the budget does so on every machine. The clock is only the last resort.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Steps between two looks at the clock, and cells: to ask for the processor time takes about as long as a small cell.
const STEPS_PER_LOOK: u64 = 4_096;
const CELLS_PER_LOOK: u64 = 32;

/// Most time for the charts of a question that somebody waits for.
const MAX_WAIT: Duration = Duration::from_millis(1_700);

/// What the charts of one utterance may cost.
///
/// ```
/// use spanwise_chart::budget::{Budget, Exhausted, Meter};
///
/// let meter = Meter::new(&Budget { work: 1_000, ..Budget::UNLIMITED });
/// assert_eq!(meter.spend(600), Ok(()));
/// assert_eq!(meter.spend(600), Err(Exhausted::Work));
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    /// Most units of work; one takes about a nanosecond on one core.
    pub work: u64,
    /// Most bytes that charts hold at a time.
    pub bytes: usize,
    /// Most processor time of the thread, as a last resort: unlike work, it depends on the machine.
    pub time: Option<Duration>,
    /// When the result is of no use any more.
    pub deadline: Option<Instant>,
    /// Set by another thread to give up the work.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Budget {
    /// No limit.
    pub const UNLIMITED: Self =
        Self { work: u64::MAX, bytes: usize::MAX, time: None, deadline: None, cancelled: None };
}

impl Default for Budget {
    /// What an utterance may cost: below two seconds and 300 MB together with everything around the charts. No clock is
    /// read, so results do not depend on the machine.
    fn default() -> Self {
        Self { work: 1_200_000_000, bytes: 160 << 20, ..Self::UNLIMITED }
    }
}

impl Budget {
    /// The default with a limit on time, for questions that somebody waits for.
    #[must_use]
    pub fn interactive() -> Self {
        Self { time: Some(MAX_WAIT), ..Self::default() }
    }
}

/// Which limit was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Exhausted {
    /// Too much work.
    #[error("the limit on work")]
    Work,
    /// Too much memory.
    #[error("the limit on memory")]
    Memory,
    /// Too much time.
    #[error("the limit on time")]
    Time,
    /// The deadline has passed.
    #[error("the deadline")]
    Deadline,
    /// Another thread gave up the work.
    #[error("a request to stop")]
    Cancelled,
}

/// The processor time that this thread has used: other threads and processes do not count against an utterance.
#[cfg(unix)]
fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_secs(u64::try_from(now.tv_sec).unwrap_or(0))
        + Duration::from_nanos(u64::try_from(now.tv_nsec).unwrap_or(0))
}

/// Where there is no such clock: the time since the first call.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Counts what the charts of one utterance cost.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    started: Duration,
    spent: Cell<u64>,
    steps: Cell<u64>,
}

impl Meter {
    /// Starts to count, and the time.
    #[must_use]
    pub fn new(budget: &Budget) -> Self {
        Self {
            budget: budget.clone(),
            started: budget.time.map_or(Duration::ZERO, |_| thread_time()),
            spent: Cell::new(0),
            steps: Cell::new(0),
        }
    }

    /// A meter that allows everything.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(&Budget::UNLIMITED)
    }

    /// The work so far.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Counts work, and looks at the clock.
    ///
    /// # Errors
    /// A limit that is reached.
    pub fn spend(&self, work: u64) -> Result<(), Exhausted> {
        self.spent.set(self.spent.get().saturating_add(work));
        if self.spent.get() > self.budget.work {
            return Err(Exhausted::Work);
        }
        self.look()
    }

    /// Counts `n` steps of an inner loop, `work` units each; looks at the clock only now and then.
    pub(crate) fn step(&self, n: usize, work: u64) -> Result<(), Exhausted> {
        let steps = self.steps.get() + n as u64;
        self.steps.set(steps);
        if steps < STEPS_PER_LOOK {
            self.spent.set(self.spent.get().saturating_add(n as u64 * work));
            return Ok(());
        }
        self.steps.set(0);
        self.spend(n as u64 * work)
    }

    /// Called once per cell of a chart; looks at the clock only now and then.
    pub(crate) fn cell(&self) -> Result<(), Exhausted> {
        let steps = self.steps.get() + STEPS_PER_LOOK / CELLS_PER_LOOK;
        if steps < STEPS_PER_LOOK {
            self.steps.set(steps);
            return Ok(());
        }
        self.steps.set(0);
        self.look()
    }

    /// Fails when the time is over or the work is of no use any more.
    ///
    /// # Errors
    /// Which of these.
    pub fn look(&self) -> Result<(), Exhausted> {
        let Budget { time, deadline, cancelled, .. } = &self.budget;
        if cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Exhausted::Cancelled);
        }
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(Exhausted::Deadline);
        }
        match time {
            Some(time) if thread_time().saturating_sub(self.started) > *time => Err(Exhausted::Time),
            _ => Ok(()),
        }
    }

    /// Fails when so much work would exceed what is left, before any of it is done.
    ///
    /// # Errors
    /// The limit on work.
    pub fn can_spend(&self, work: u64) -> Result<(), Exhausted> {
        if self.spent.get().saturating_add(work) > self.budget.work { Err(Exhausted::Work) } else { Ok(()) }
    }

    /// Another meter with a share of what is left, for work that others must not suffer from.
    #[must_use]
    pub fn share(&self, divisor: u64) -> Self {
        let work = self.budget.work.saturating_sub(self.spent.get()) / divisor.max(1);
        Self { started: self.started, ..Self::new(&Budget { work, ..self.budget.clone() }) }
    }

    /// Checks that charts may hold so many bytes.
    ///
    /// # Errors
    /// More than the budget allows.
    pub fn fits(&self, bytes: usize) -> Result<(), Exhausted> {
        if bytes > self.budget.bytes { Err(Exhausted::Memory) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_like_work() {
        let meter = Meter::new(&Budget { work: 100_000, ..Budget::UNLIMITED });
        let n = (0..).take_while(|_| meter.step(1, 10).is_ok()).count() as u64;
        // The count is looked at every so many steps.
        assert!((10_000..10_000 + STEPS_PER_LOOK).contains(&n), "{n}");
    }

    #[test]
    fn time_deadline_and_flag_end_the_work() {
        let now = Instant::now();
        let flag = Arc::new(AtomicBool::new(false));
        let budget = Budget { cancelled: Some(Arc::clone(&flag)), ..Budget::UNLIMITED };
        let meter = Meter::new(&budget);
        assert_eq!(meter.look(), Ok(()));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(meter.look(), Err(Exhausted::Cancelled));
        let late = Budget { deadline: now.checked_sub(Duration::from_secs(1)), ..Budget::UNLIMITED };
        assert_eq!(Meter::new(&late).look(), Err(Exhausted::Deadline));
        let meter = Meter::new(&Budget { time: Some(Duration::ZERO), ..Budget::UNLIMITED });
        let ended = (0..1_000_000).any(|_| meter.look() == Err(Exhausted::Time));
        assert!(ended, "the processor time of the thread goes on");
    }
}
