//! The queue between connections and engines: one bounded queue, and a fixed number of threads that take batches.
//!
//! A free thread takes a batch at once and does not wait until it is full. A batch is the oldest job with the waiting
//! jobs that are nearest to it in words, since an engine pads a batch to its longest utterance. Jobs that exceed the
//! limit are rejected.

use crate::engine::{Ask, Engine, Executed, Refusal};
use crate::event::{Event, Listener};
use crate::metrics::Metrics;
use serde_json::Value;
use spanwise_reading::Reading;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// The engine failed. The reason is an event, since clients must not see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failed;

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
    pub work: Work,
}

/// What to compute, and where to send the result. A job whose receiver is gone is dropped.
pub(crate) enum Work {
    Parse { ask: Ask, n_words: usize, reply: oneshot::Sender<Result<Reading, Failed>> },
    Execute { program: String, context: Option<Value>, reply: oneshot::Sender<Execution> },
}

pub(crate) type Execution = Result<Result<Executed, Refusal>, Failed>;

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
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

impl Queue {
    pub(crate) fn new(limit: usize, max_batch: usize, workers: usize) -> Self {
        let (max_batch, workers) = (max_batch.max(1), workers.max(1));
        Self { state: Mutex::default(), wake: Condvar::new(), limit, max_batch, workers }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can leave the queue half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts all of the jobs or none.
    pub(crate) fn submit(&self, jobs: Vec<Job>) -> Result<(), Rejected> {
        let mut state = self.lock();
        if state.closed {
            return Err(Rejected::Closed);
        }
        if state.waiting.len() + jobs.len() > self.limit {
            return Err(Rejected::Full);
        }
        state.waiting.extend(jobs);
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
    }

    /// The next batch; `None` when the queue is closed and empty.
    fn take(&self) -> Option<Vec<Job>> {
        let mut state = self.lock();
        loop {
            state.waiting.retain(|job| !job.work.is_abandoned());
            if !state.waiting.is_empty() {
                return Some(self.batch(&mut state.waiting));
            }
            if state.closed {
                return None;
            }
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The oldest job with the nearest in length. A batch has at most its thread's share of the queue, so that all threads
    /// have work.
    fn batch(&self, waiting: &mut VecDeque<Job>) -> Vec<Job> {
        let size = waiting.len().div_ceil(self.workers).clamp(1, self.max_batch);
        let Some(first) = waiting.pop_front() else { return Vec::new() };
        let Work::Parse { ask: Ask { k, .. }, n_words, .. } = first.work else { return vec![first] };
        let fits = |job: &Job| match &job.work {
            Work::Parse { ask, n_words: other, .. }
                if ask.k == k && Arc::ptr_eq(&job.engine, &first.engine) =>
            {
                Some(other.abs_diff(n_words))
            }
            _ => None,
        };
        let mut others: Vec<(usize, usize)> =
            waiting.iter().enumerate().filter_map(|(at, job)| Some((fits(job)?, at))).collect();
        others.sort_unstable();
        others.truncate(size - 1);
        let mut places: Vec<usize> = others.into_iter().map(|(_, at)| at).collect();
        places.sort_unstable();
        let mut batch = vec![first];
        // From the back, so that the remaining positions stay valid.
        let taken = places.into_iter().rev().filter_map(|at| waiting.remove(at));
        batch.extend(taken.collect::<Vec<_>>().into_iter().rev());
        batch
    }

    /// Starts the threads. They end when the queue is closed and empty.
    pub(crate) fn start(
        self: &Arc<Self>,
        metrics: &Arc<Metrics>,
        listener: &Listener,
    ) -> Vec<JoinHandle<()>> {
        let start = |at: usize| {
            let (queue, metrics, listener) = (Arc::clone(self), Arc::clone(metrics), Arc::clone(listener));
            let run = move || {
                while let Some(batch) = queue.take() {
                    work(batch, &metrics, &listener);
                }
            };
            let thread = std::thread::Builder::new().name(format!("engine-{at}"));
            thread.spawn(run).expect("the system gives us a thread when it starts")
        };
        (0..self.workers).map(start).collect()
    }
}

impl Work {
    fn is_abandoned(&self) -> bool {
        match self {
            Self::Parse { reply, .. } => reply.is_closed(),
            Self::Execute { reply, .. } => reply.is_closed(),
        }
    }
}

/// Runs a batch. A panic of the engine fails this batch only.
fn work(batch: Vec<Job>, metrics: &Metrics, listener: &Listener) {
    let Some(engine) = batch.first().map(|job| Arc::clone(&job.engine)) else { return };
    let (mut asks, mut replies) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
    for job in batch {
        match job.work {
            Work::Parse { ask, reply, .. } => {
                asks.push(ask);
                replies.push(reply);
            }
            Work::Execute { program, context, reply } => {
                let run = || engine.execute(&program, context.as_ref());
                // The client may have left.
                let _ = reply.send(guarded(listener, run));
            }
        }
    }
    if asks.is_empty() {
        return;
    }
    metrics.batch(asks.len());
    let readings = guarded(listener, || engine.parse(&asks)).and_then(|readings| {
        if readings.len() == asks.len() {
            return Ok(readings);
        }
        let reason = format!("{} readings were returned for {} utterances", readings.len(), asks.len());
        listener(Event::EngineFailed { reason });
        Err(Failed)
    });
    match readings {
        Ok(readings) => {
            for (reading, reply) in readings.into_iter().zip(replies) {
                let _ = reply.send(Ok(reading));
            }
        }
        Err(failed) => replies.into_iter().for_each(|reply| {
            let _ = reply.send(Err(failed));
        }),
    }
}

fn guarded<T>(listener: &Listener, run: impl FnOnce() -> T) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown panic");
        listener(Event::EngineFailed { reason: text.to_owned() });
        Failed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ModelInfo;

    struct Silent;

    impl Engine for Silent {
        fn describe(&self) -> ModelInfo {
            ModelInfo::default()
        }
        fn parse(&self, _: &[Ask]) -> Vec<Reading> {
            Vec::new()
        }
        fn execute(&self, _: &str, _: Option<&Value>) -> Result<Executed, Refusal> {
            Err(Refusal::NoExecutor)
        }
    }

    type Waiting = oneshot::Receiver<Result<Reading, Failed>>;

    fn job(engine: &Arc<dyn Engine>, n_words: usize, k: usize) -> (Job, Waiting) {
        let (reply, waiting) = oneshot::channel();
        let utterance = n_words.to_string();
        let ask = Ask { utterance, k, chart: false, abstain_below: None, context: None };
        (Job { engine: Arc::clone(engine), work: Work::Parse { ask, n_words, reply } }, waiting)
    }

    fn lengths(batch: Vec<Job>) -> Vec<usize> {
        let length = |job: Job| match job.work {
            Work::Parse { n_words, .. } => n_words,
            Work::Execute { .. } => 0,
        };
        batch.into_iter().map(length).collect()
    }

    #[test]
    fn a_batch_is_the_oldest_job_with_those_nearest_in_length() {
        let engine: Arc<dyn Engine> = Arc::new(Silent);
        let queue = Queue::new(100, 3, 1);
        let (jobs, _waiting): (Vec<Job>, Vec<Waiting>) =
            [9, 2, 30, 8, 10].into_iter().map(|n| job(&engine, n, 0)).unzip();
        queue.submit(jobs).unwrap();
        assert_eq!(lengths(queue.take().unwrap()), [9, 8, 10]);
        assert_eq!(lengths(queue.take().unwrap()), [2, 30]);
    }

    #[test]
    fn jobs_of_other_models_or_other_options_never_share_a_batch() {
        let (one, two): (Arc<dyn Engine>, Arc<dyn Engine>) = (Arc::new(Silent), Arc::new(Silent));
        let queue = Queue::new(100, 10, 1);
        let (jobs, _waiting): (Vec<Job>, Vec<Waiting>) =
            [job(&one, 5, 0), job(&two, 6, 0), job(&one, 7, 1), job(&one, 8, 0)].into_iter().unzip();
        queue.submit(jobs).unwrap();
        assert_eq!(lengths(queue.take().unwrap()), [5, 8]);
        assert_eq!(lengths(queue.take().unwrap()), [6]);
        assert_eq!(lengths(queue.take().unwrap()), [7]);
    }

    #[test]
    fn waiting_jobs_are_shared_among_the_threads() {
        let engine: Arc<dyn Engine> = Arc::new(Silent);
        let queue = Queue::new(100, 32, 2);
        let (jobs, _waiting): (Vec<Job>, Vec<Waiting>) = (0..10).map(|_| job(&engine, 4, 0)).unzip();
        queue.submit(jobs).unwrap();
        assert_eq!(queue.take().unwrap().len(), 5);
    }

    #[test]
    fn a_full_queue_accepts_all_of_a_request_or_nothing() {
        let engine: Arc<dyn Engine> = Arc::new(Silent);
        let queue = Queue::new(3, 32, 1);
        let (jobs, _first): (Vec<Job>, Vec<Waiting>) = (0..2).map(|_| job(&engine, 4, 0)).unzip();
        queue.submit(jobs).unwrap();
        let (jobs, _second): (Vec<Job>, Vec<Waiting>) = (0..2).map(|_| job(&engine, 4, 0)).unzip();
        assert_eq!(queue.submit(jobs), Err(Rejected::Full));
        assert_eq!(queue.depth(), 2);
        queue.close();
        assert_eq!(queue.submit(Vec::new()), Err(Rejected::Closed));
        assert_eq!(queue.take().unwrap().len(), 2, "waiting jobs are still done");
        assert!(queue.take().is_none());
    }

    #[test]
    fn work_whose_client_has_left_is_not_done() {
        let engine: Arc<dyn Engine> = Arc::new(Silent);
        let queue = Queue::new(10, 32, 1);
        let (gone, waiting) = job(&engine, 1, 0);
        drop(waiting);
        let (wanted, _waiting) = job(&engine, 2, 0);
        queue.submit(vec![gone, wanted]).unwrap();
        assert_eq!(lengths(queue.take().unwrap()), [2]);
    }
}
