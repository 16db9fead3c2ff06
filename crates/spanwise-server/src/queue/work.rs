//! Runs what was taken from the queue.

use super::pace::is_plain;
use super::{Failed, Job, Work};
use crate::engine::Ask;
use crate::event::{Event, Listener};
use crate::metrics::Metrics;
use spanwise_reading::Reading;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

type Reply = oneshot::Sender<Result<Reading, Failed>>;

/// Lets another thread go on with the job that has this place in a batch; gives it back if there is none.
type Defer<'a> = &'a dyn Fn(usize, Job) -> Option<Job>;

/// Runs a batch. A panic of the engine fails this batch only.
pub(super) fn run(batch: Vec<Job>, defer: Defer<'_>, metrics: &Metrics, listener: &Listener) {
    let Some((engine, pace)) = batch.first().map(|job| (Arc::clone(&job.engine), Arc::clone(&job.pace)))
    else {
        return;
    };
    let (mut asks, mut replies): (Vec<Ask>, Vec<Reply>) = Default::default();
    let (mut sum, mut all_plain) = (0, true);
    for job in batch {
        match job.work {
            Work::Parse { ask, n_words, reply } => {
                (sum, all_plain) = (sum + n_words.max(1), all_plain && is_plain(&ask, n_words));
                asks.push(ask);
                replies.push(reply);
            }
            Work::Execute { program, context, waiting, reply } => {
                let run = || engine.execute_until(&program, context.as_ref(), &waiting);
                // The client may have left.
                let _ = reply.send(guarded(listener, run));
            }
            Work::Evaluate { ask, reading, reply } => {
                let _ = reply.send(guarded(listener, || engine.evaluate(&ask, *reading)));
            }
            Work::Check { program, reply } => {
                let _ = reply.send(guarded(listener, || engine.check(&program)));
            }
        }
    }
    if asks.is_empty() {
        return;
    }
    metrics.batch(asks.len());
    let start = Instant::now();
    // What each request wants to be evaluated, where other threads do that.
    let is_apart = engine.evaluates_apart();
    let wanted: Vec<bool> = asks.iter().map(|ask| ask.execute && is_apart).collect();
    asks.iter_mut().for_each(|ask| ask.execute &= !is_apart);
    let readings = guarded(listener, || engine.parse(&asks)).and_then(|readings| {
        if readings.len() == asks.len() {
            return Ok(readings);
        }
        let reason = format!("{} readings were returned for {} utterances", readings.len(), asks.len());
        listener(Event::EngineFailed { reason });
        Err(Failed::Engine)
    });
    if all_plain {
        pace.learn(sum, start.elapsed());
    }
    match readings {
        Ok(readings) => {
            let each = readings.into_iter().zip(asks.into_iter().zip(replies)).zip(wanted);
            for (at, ((reading, (ask, reply)), is_wanted)) in each.enumerate() {
                if !is_wanted || reading.program.is_none() {
                    let _ = reply.send(Ok(reading));
                    continue;
                }
                let ask = Ask { execute: true, ..ask };
                let work = Work::Evaluate { ask, reading: Box::new(reading), reply };
                let job = Job { engine: Arc::clone(&engine), pace: Arc::clone(&pace), work };
                if let Some(Job { work: Work::Evaluate { ask, reading, reply }, .. }) = defer(at, job) {
                    let _ = reply.send(guarded(listener, || engine.evaluate(&ask, *reading)));
                }
            }
        }
        Err(failed) => replies.into_iter().for_each(|reply| {
            let _ = reply.send(Err(failed));
        }),
    }
}

pub(super) fn guarded<T>(listener: &Listener, run: impl FnOnce() -> T) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown panic");
        listener(Event::EngineFailed { reason: text.to_owned() });
        Failed::Engine
    })
}
