//! Connections that are used one after the other.

use super::{DatabaseError, Stop};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a thread that waits for a connection looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(10);

/// At most so many connections at a time, kept open between uses.
pub(super) struct Pool<T> {
    state: Mutex<State<T>>,
    freed: Condvar,
    most: usize,
}

struct State<T> {
    idle: Vec<T>,
    in_use: usize,
}

impl<T> Pool<T> {
    pub(super) fn new(most: usize) -> Self {
        let state = State { idle: Vec::new(), in_use: 0 };
        Self { state: Mutex::new(state), freed: Condvar::new(), most: most.max(1) }
    }

    /// Waits for a connection, or for the right to make one.
    pub(super) fn take(&self, limit: Duration, stop: &Stop) -> Result<Slot<'_, T>, DatabaseError> {
        let begin = Instant::now();
        let mut state = self.lock();
        while state.in_use >= self.most {
            if stop.is_stopped() {
                return Err(DatabaseError::Cancelled);
            }
            if begin.elapsed() >= limit {
                let message = format!(
                    "all {} connections to the database are in use; allow more connections, or a shorter time for \
                     each question",
                    self.most
                );
                return Err(DatabaseError::Busy(message));
            }
            let left = limit.saturating_sub(begin.elapsed()).min(LOOK);
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.in_use += 1;
        // The one that was used last: its caches are warm.
        let item = state.idle.pop();
        drop(state);
        Ok(Slot { pool: self, item })
    }

    /// Closes the connections that are not in use.
    #[cfg(feature = "postgres")]
    pub(super) fn clear(&self) {
        let idle = std::mem::take(&mut self.lock().idle);
        drop(idle);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use one connection. What is in `item` when it is dropped is used again.
pub(super) struct Slot<'a, T> {
    pool: &'a Pool<T>,
    /// The connection; empty where one has to be made.
    pub(super) item: Option<T>,
}

impl<T> Drop for Slot<'_, T> {
    fn drop(&mut self) {
        // A panic may have left a connection in the middle of a statement.
        let item = self.item.take().filter(|_| !std::thread::panicking());
        let mut state = self.pool.lock();
        state.in_use -= 1;
        state.idle.extend(item);
        drop(state);
        self.pool.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn connections_are_made_up_to_the_limit_and_used_again() {
        let pool = Pool::new(2);
        let (made, used, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let mut slot =
                            pool.take(Duration::from_secs(60), &Stop::new()).expect("one is freed in time");
                        most.fetch_max(used.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        slot.item.get_or_insert_with(|| made.fetch_add(1, Ordering::SeqCst));
                        std::thread::yield_now();
                        used.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert!((1..=2).contains(&made.into_inner()));
    }

    #[test]
    fn waiting_ends_at_the_limit_and_when_stopped() {
        let pool = Pool::<()>::new(1);
        let slot = pool.take(Duration::ZERO, &Stop::new()).expect("it is free");
        let limit = Duration::from_millis(30);
        assert!(matches!(pool.take(limit, &Stop::new()), Err(DatabaseError::Busy(_))));
        let stop = Stop::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                stop.stop();
            });
            let begin = Instant::now();
            assert!(matches!(pool.take(Duration::from_secs(60), &stop), Err(DatabaseError::Cancelled)));
            assert!(begin.elapsed() < Duration::from_secs(10));
        });
        drop(slot);
        assert!(pool.take(Duration::ZERO, &Stop::new()).is_ok());
    }

    #[test]
    fn a_connection_whose_thread_panicked_is_not_used_again() {
        let pool = Pool::new(1);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut slot = pool.take(Duration::ZERO, &Stop::new()).expect("it is free");
            slot.item = Some(1);
            panic!("in the middle of a statement");
        }));
        assert!(caught.is_err());
        assert_eq!(pool.take(Duration::ZERO, &Stop::new()).expect("it was freed").item, None);
    }
}
