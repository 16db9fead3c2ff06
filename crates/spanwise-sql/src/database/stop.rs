//! Cancelling from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Cancels what runs with it. Clones share one state; once set, it stays set.
///
/// ```
/// use spanwise_sql::database::Stop;
///
/// let stop = Stop::new();
/// let other = stop.clone();
/// std::thread::spawn(move || other.stop()).join().expect("the thread ends");
/// assert!(stop.is_stopped());
/// ```
#[derive(Clone, Default)]
pub struct Stop(Arc<State>);

#[derive(Default)]
struct State {
    is_stopped: AtomicBool,
    watchers: Mutex<Watchers>,
}

#[derive(Default)]
struct Watchers {
    next: u64,
    calls: Vec<(u64, Box<dyn Fn() + Send>)>,
}

impl Stop {
    /// One that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels everything that runs with this or a clone of it, now and later.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::SeqCst);
        for (_, call) in &self.watchers().calls {
            call();
        }
    }

    /// Whether it was set.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::SeqCst)
    }

    /// Calls `call` when it is set, from the thread that sets it, and at once where it is set already. The call must be
    /// short, may come twice, and does not come any more after the result is dropped.
    pub fn watch(&self, call: impl Fn() + Send + 'static) -> Watch {
        let mut watchers = self.watchers();
        let id = watchers.next;
        watchers.next += 1;
        // Under the lock: either `stop` finds the call in the list, or it is seen to be set here.
        if self.is_stopped() {
            call();
        }
        watchers.calls.push((id, Box::new(call)));
        drop(watchers);
        Watch { stop: self.clone(), id }
    }

    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.0.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_stopped()).finish()
    }
}

/// As long as it lives, a [`Stop`] calls what was given to [`Stop::watch`].
#[derive(Debug)]
pub struct Watch {
    stop: Stop,
    id: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.watchers().calls.retain(|(id, _)| *id != self.id);
    }
}
