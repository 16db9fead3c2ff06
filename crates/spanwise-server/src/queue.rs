//! The queue between connections and engines: one bounded queue, and a fixed number of threads that take batches.
//!
//! A free thread takes a batch at once and does not wait until it is full. A batch is the job whose turn it is, with the
//! waiting jobs that are nearest to it in words, since an engine pads a batch to its longest utterance. It costs about
//! [`MAX_COST`] at most. A job that costs more runs alone and never occupies the last thread: so a short question waits for
//! one batch and not longer. Programs are evaluated by threads of their own, since an executor may be slow. Jobs that exceed
//! the limit are rejected.

mod pace;
#[cfg(test)]
mod tests;
mod turn;
mod work;

use crate::engine::{self, Ask, Engine, Executed, Refusal};
use crate::event::Listener;
use crate::metrics::Metrics;
pub(crate) use pace::Pace;
use serde_json::Value;
use spanwise_reading::Reading;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use turn::{Turn, Turns};

/// The estimated cost of a batch, at most; a job that costs more runs alone.
const MAX_COST: Duration = Duration::from_millis(100);
/// Jobs that are estimated at a time: whoever waits meanwhile waits for no more than these.
const MAX_ESTIMATES: usize = 4;
/// What the evaluation of a program costs its client.
const EXECUTION: Duration = Duration::from_millis(10);
/// One thread is always free for cheap work, also on a machine with one core.
const MIN_WORKERS: usize = 2;
/// Threads that evaluate programs: a slow one does not keep others waiting.
const EVALUATORS: usize = 8;

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Task {
    Parse,
    Execute,
}

/// Why a job that was accepted has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failed {
    /// The engine failed. The reason is an event, since clients must not see it.
    Engine,
    /// The queue was full, and a client with a smaller share of it needed the place.
    Displaced,
}

/// Why jobs were rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rejected {
    /// Too many jobs wait.
    Full,
    /// The server is shutting down.
    Closed,
}

/// Work for an engine.
pub(crate) struct Job {
    pub engine: Arc<dyn Engine>,
    /// How fast the engine is.
    pub pace: Arc<Pace>,
    pub work: Work,
}

/// What to compute, and where to send the result. A job whose receiver is gone is dropped.
pub(crate) enum Work {
    Parse {
        ask: Ask,
        n_words: usize,
        reply: oneshot::Sender<Result<Reading, Failed>>,
    },
    Execute {
        program: String,
        context: Option<Value>,
        waiting: engine::Waiting,
        reply: oneshot::Sender<Execution>,
    },
    /// Evaluates the program of a reading, where that may take long.
    Evaluate {
        ask: Ask,
        reading: Box<Reading>,
        reply: oneshot::Sender<Result<Reading, Failed>>,
    },
    /// Type-checks a program.
    Check {
        program: String,
        reply: oneshot::Sender<Check>,
    },
}

pub(crate) type Check = Result<Result<String, Refusal>, Failed>;
pub(crate) type Execution = Result<Result<Executed, Refusal>, Failed>;

/// A job that waits.
struct Waiting {
    job: Job,
    client: IpAddr,
    turn: Turn,
    /// Its place in the order of arrival.
    at: u64,
    /// The estimate of the engine, once it was made; only for long utterances.
    estimate: Option<Duration>,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    turns: Turns,
    n_arrived: u64,
    /// Threads with work that may take long.
    n_slow: usize,
    closed: bool,
}

/// The jobs that wait, with the limits on them.
pub(crate) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    limit: usize,
    max_batch: usize,
    workers: usize,
}

/// What a thread does next.
enum Next {
    Run {
        batch: Vec<Waiting>,
        is_slow: bool,
    },
    /// The engine estimates these, and then they wait again.
    Estimate(Vec<Waiting>),
    Nothing,
}

/// A batch that a thread works on.
struct Taken<'q> {
    queue: &'q Queue,
    jobs: Vec<Job>,
    /// The owner of each job.
    owners: Vec<(IpAddr, Turn)>,
    is_slow: bool,
}

impl Queue {
    pub(crate) fn new(limit: usize, max_batch: usize, workers: usize) -> Self {
        let (max_batch, workers) = (max_batch.max(1), workers.max(MIN_WORKERS));
        Self { state: Mutex::default(), wake: Condvar::new(), limit, max_batch, workers }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can leave the queue half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts all of the jobs of a client's request or none.
    pub(crate) fn submit(&self, client: IpAddr, jobs: Vec<Job>) -> Result<(), Rejected> {
        let mut state = self.lock();
        if state.closed {
            return Err(Rejected::Closed);
        }
        if state.waiting.len() + jobs.len() > self.limit {
            state.drop_abandoned();
        }
        let client = turn::network(client);
        let excess = (state.waiting.len() + jobs.len()).saturating_sub(self.limit);
        if excess > 0 && !state.displace(client, jobs.len(), excess, self.limit) {
            return Err(Rejected::Full);
        }
        let turn = state.turns.join(client, jobs.iter().map(|job| job.rough_cost()).sum());
        for job in jobs {
            state.n_arrived += 1;
            let at = state.n_arrived;
            state.waiting.push(Waiting { job, client, turn: turn.clone(), at, estimate: None });
        }
        drop(state);
        self.wake.notify_all();
        Ok(())
    }

    /// The number of jobs that wait.
    pub(crate) fn depth(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Accepts no more jobs; those that wait are still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    /// Drops the jobs that wait; their receivers are notified.
    pub(crate) fn clear(&self) {
        self.lock().waiting.clear();
        self.wake.notify_all();
    }

    /// The next batch; `None` when the queue is closed and empty.
    fn take(&self, task: Task) -> Option<Taken<'_>> {
        let mut state = self.lock();
        loop {
            state.drop_abandoned();
            match state.next(task, self.max_batch, self.workers) {
                Next::Run { batch, is_slow } => {
                    state.n_slow += usize::from(is_slow);
                    for it in &batch {
                        state.turns.charge(&it.turn, it.cost().unwrap_or_default());
                    }
                    let owned = batch.into_iter().map(|it| (it.job, (it.client, it.turn)));
                    let (jobs, owners) = owned.unzip();
                    return Some(Taken { queue: self, jobs, owners, is_slow });
                }
                Next::Estimate(mut long) => {
                    // An engine may think for a moment: others must not wait for that.
                    drop(state);
                    let start = Instant::now();
                    long.iter_mut().for_each(Waiting::estimate);
                    state = self.lock();
                    // It costs its owners a turn like other work: a long batch is estimated bit by bit.
                    long.iter().for_each(|it| state.turns.charge(&it.turn, start.elapsed()));
                    state.waiting.extend(long);
                }
                Next::Nothing if state.closed && state.n_waiting(task) == 0 => return None,
                Next::Nothing => state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Starts the threads. They end when the queue is closed and empty.
    pub(crate) fn start(
        self: &Arc<Self>,
        metrics: &Arc<Metrics>,
        listener: &Listener,
    ) -> Vec<JoinHandle<()>> {
        let start = |at: usize| {
            let task = if at < self.workers { Task::Parse } else { Task::Execute };
            let (queue, metrics, listener) = (Arc::clone(self), Arc::clone(metrics), Arc::clone(listener));
            let run = move || {
                while let Some(mut taken) = queue.take(task) {
                    let jobs = std::mem::take(&mut taken.jobs);
                    let defer = |at: usize, job| taken.defer(at, job);
                    work::run(jobs, &defer, &metrics, &listener);
                }
            };
            let thread = std::thread::Builder::new().name(format!("engine-{at}"));
            thread.spawn(run).expect("the system gives us a thread when it starts")
        };
        (0..self.workers + EVALUATORS).map(start).collect()
    }
}

impl Taken<'_> {
    /// Lets another thread go on with a job that had this place in the batch. It was accepted before, so the limit on waiting
    /// jobs does not count. A queue that is closed may have no such thread any more: then the job comes back.
    fn defer(&self, at: usize, job: Job) -> Option<Job> {
        let mut state = self.queue.lock();
        let Some((client, turn)) = self.owners.get(at).filter(|_| !state.closed).cloned() else {
            return Some(job);
        };
        state.n_arrived += 1;
        let at = state.n_arrived;
        state.waiting.push(Waiting { job, client, turn, at, estimate: None });
        drop(state);
        self.queue.wake.notify_all();
        None
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.n_slow -= usize::from(self.is_slow);
        if self.is_slow || state.closed {
            self.queue.wake.notify_all();
        }
    }
}

impl State {
    fn drop_abandoned(&mut self) {
        self.waiting.retain(|it| !it.job.work.is_abandoned());
    }

    /// Makes place in a full queue for `n` jobs of a client that has less than its share: the newest jobs of the client with
    /// the most are displaced. False when the client has its share.
    fn displace(&mut self, client: IpAddr, n: usize, excess: usize, limit: usize) -> bool {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::from([(client, n)]);
        for it in &self.waiting {
            *counts.entry(it.client).or_default() += 1;
        }
        let share = limit / counts.len();
        let most = counts.iter().filter(|(other, _)| **other != client).max_by_key(|(_, n)| **n);
        let Some((&greedy, &held)) = most else { return false };
        if counts[&client] > share || held < share + excess {
            return false;
        }
        let mut theirs: Vec<usize> =
            (0..self.waiting.len()).filter(|&at| self.waiting[at].client == greedy).collect();
        theirs.sort_unstable_by_key(|&at| std::cmp::Reverse(self.waiting[at].at));
        theirs.truncate(excess);
        for it in self.remove(theirs) {
            it.job.work.fail(Failed::Displaced);
        }
        true
    }

    fn n_waiting(&self, task: Task) -> usize {
        self.waiting.iter().filter(|it| it.job.work.task() == task).count()
    }

    /// Takes the next batch out. It has at most its thread's share of the queue, so that all threads have work.
    fn next(&mut self, task: Task, max_batch: usize, workers: usize) -> Next {
        let size = self.n_waiting(task).div_ceil(workers).clamp(1, max_batch);
        let may_be_slow = self.n_slow + 1 < workers;
        let is_ready = |it: &Waiting| it.job.work.task() == task && (may_be_slow || !it.is_slow());
        let ready = self.waiting.iter().enumerate().filter(|(_, it)| is_ready(it));
        let Some((first, _)) = ready.min_by_key(|(_, it)| (it.turn.key(), it.at)) else {
            return Next::Nothing;
        };
        let is_slow = self.waiting[first].is_slow();
        let mut places = vec![first];
        if !is_slow {
            places.extend(self.nearest(first, size - 1));
        }
        // A short question does not wait for the estimates of long ones.
        if self.waiting[first].estimate.is_none() && self.waiting[first].cost().is_some() {
            places.retain(|&at| self.waiting[at].cost().is_some());
        }
        let unknown = places.iter().copied().filter(|&at| self.waiting[at].cost().is_none());
        let long: Vec<usize> = unknown.take(MAX_ESTIMATES).collect();
        if !long.is_empty() {
            return Next::Estimate(self.remove(long));
        }
        let mut left = MAX_COST;
        let within_cost = |&at: &usize| {
            let cost = self.waiting[at].cost().unwrap_or_default();
            let fits = at == first || cost <= left;
            left = left.saturating_sub(cost);
            fits
        };
        let places = places.into_iter().take_while(within_cost).collect();
        Next::Run { batch: self.remove(places), is_slow }
    }

    /// The jobs that can share a batch with one, from the nearest in length on.
    fn nearest(&self, first: usize, n: usize) -> impl Iterator<Item = usize> + use<> {
        let one = &self.waiting[first];
        let fits = |it: &Waiting| match (&one.job.work, &it.job.work) {
            (Work::Parse { ask, n_words, .. }, Work::Parse { ask: other_ask, n_words: other, .. }) => {
                let is_alike = ask.k == other_ask.k && Arc::ptr_eq(&one.job.engine, &it.job.engine);
                (is_alike && !it.is_slow()).then(|| other.abs_diff(*n_words))
            }
            _ => None,
        };
        let others = self.waiting.iter().enumerate().filter(|&(at, _)| at != first);
        let mut others: Vec<(usize, u64, usize)> =
            others.filter_map(|(at, it)| Some((fits(it)?, it.at, at))).collect();
        others.sort_unstable();
        others.into_iter().take(n).map(|(_, _, at)| at)
    }

    /// Takes jobs out by their places: the first stays the first, the others are in the order of their arrival.
    fn remove(&mut self, places: Vec<usize>) -> Vec<Waiting> {
        let first = places.first().map(|&at| self.waiting[at].at);
        let mut places = places;
        places.sort_unstable();
        // From the back, so that the remaining places stay valid.
        let mut taken: Vec<Waiting> =
            places.into_iter().rev().map(|at| self.waiting.swap_remove(at)).collect();
        taken.sort_unstable_by_key(|it| (Some(it.at) != first, it.at));
        taken
    }
}

impl Waiting {
    /// The expected time; `None` while the engine has to be asked for it.
    fn cost(&self) -> Option<Duration> {
        match &self.job.work {
            Work::Parse { ask, n_words, .. } if !pace::is_plain(ask, *n_words) => self.estimate,
            _ => Some(self.job.rough_cost()),
        }
    }

    /// Asks the engine for the expected time. An engine that fails here fails again when it parses, and that is reported.
    fn estimate(&mut self) {
        let Work::Parse { ask, .. } = &self.job.work else { return };
        let silent: Listener = Arc::new(|_| {});
        let estimate = work::guarded(&silent, || self.job.engine.cost(ask)).unwrap_or_default();
        self.estimate = Some(estimate.max(self.job.rough_cost()));
    }

    /// Whether it is expected to take long.
    fn is_slow(&self) -> bool {
        self.cost().is_some_and(|cost| cost > MAX_COST)
    }
}

impl Job {
    /// The expected time, by length alone.
    fn rough_cost(&self) -> Duration {
        match &self.work {
            Work::Parse { n_words, .. } => self.pace.estimate(*n_words),
            Work::Execute { .. } | Work::Evaluate { .. } | Work::Check { .. } => EXECUTION,
        }
    }
}

impl Work {
    fn task(&self) -> Task {
        match self {
            Self::Parse { .. } => Task::Parse,
            Self::Execute { .. } | Self::Evaluate { .. } | Self::Check { .. } => Task::Execute,
        }
    }

    /// Replies that there is no result. The client may have left.
    fn fail(self, why: Failed) {
        match self {
            Self::Parse { reply, .. } | Self::Evaluate { reply, .. } => drop(reply.send(Err(why))),
            Self::Execute { reply, .. } => drop(reply.send(Err(why))),
            Self::Check { reply, .. } => drop(reply.send(Err(why))),
        }
    }

    /// Whether nobody waits for the result any more.
    fn is_abandoned(&self) -> bool {
        match self {
            Self::Parse { ask, reply, .. } | Self::Evaluate { ask, reply, .. } => {
                reply.is_closed() || ask.is_over()
            }
            Self::Execute { reply, .. } => reply.is_closed(),
            Self::Check { reply, .. } => reply.is_closed(),
        }
    }
}
