//! When the result of an evaluation is of no use any more.

use spanwise_sql::database::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long it takes to see that nobody waits any more, at most.
const LOOK: Duration = Duration::from_millis(20);

/// Until when an evaluation may go on.
#[derive(Clone, Debug, Default)]
pub struct Until {
    /// When the result is of no use any more.
    pub deadline: Option<Instant>,
    /// Set by another thread to give it up.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Until {
    /// Whether the result is of no use any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Runs something, and stops it when its result is of no use any more.
    pub(super) fn watched<T>(&self, stop: &Stop, run: impl FnOnce() -> T) -> T {
        if self.deadline.is_none() && self.cancelled.is_none() {
            return run();
        }
        let (done, is_done) = mpsc::channel::<()>();
        let watch = move || {
            // The channel closes when the work is done.
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(LOOK) {
                if self.is_over() {
                    stop.stop();
                    return;
                }
            }
        };
        thread::scope(|scope| {
            // Without a thread, the limit of time still holds.
            let watcher = thread::Builder::new().name("watch".to_owned()).spawn_scoped(scope, watch);
            let result = run();
            drop(done);
            drop(watcher);
            result
        })
    }
}
