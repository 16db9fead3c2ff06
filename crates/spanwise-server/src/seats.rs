//! The open connections, and which of them gives way when there are too many.
//!
//! A connection that waits for its client (idle, or in the middle of a request that does not arrive) gives way to a new one,
//! the one that has waited longest first. So no number of idle or slow clients keeps others out. Where every connection is
//! being answered, a few more are accepted, which can only check the health of the server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// Connections beyond the limit, for checks of health.
const RESERVE: usize = 64;

/// All open connections.
pub(crate) struct Seats {
    start: Instant,
    limit: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    seats: BTreeMap<u64, Arc<State>>,
    n: u64,
}

struct State {
    /// Since when it waits for its client, in microseconds since the start; 0 while the server has to do something.
    waits_since: AtomicU64,
    /// Whether it was told to leave.
    is_leaving: AtomicBool,
    leave: Notify,
    is_reserve: bool,
}

/// The place of an open connection.
pub(crate) struct Seat {
    seats: Arc<Seats>,
    id: u64,
    state: Arc<State>,
}

impl Seats {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), limit: limit.max(1), taken: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    /// A place for a new connection; `None` where there is none at all.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Seat> {
        let mut taken = self.lock();
        while taken.n_open(false) >= self.limit && taken.dismiss() {}
        let is_reserve = taken.n_open(false) >= self.limit;
        if is_reserve && taken.n_open(true) >= RESERVE {
            return None;
        }
        taken.n += 1;
        let id = taken.n;
        let state = Arc::new(State {
            waits_since: AtomicU64::new(self.now()),
            is_leaving: AtomicBool::new(false),
            leave: Notify::new(),
            is_reserve,
        });
        taken.seats.insert(id, Arc::clone(&state));
        Some(Seat { seats: Arc::clone(self), id, state })
    }

    /// Tells the connection that has waited longest to leave.
    pub(crate) fn dismiss_one(&self) {
        self.lock().dismiss();
    }
}

impl Taken {
    /// Connections that stay, of the reserve or not.
    fn n_open(&self, is_reserve: bool) -> usize {
        let stays = |seat: &&Arc<State>| !seat.is_leaving.load(Relaxed) && seat.is_reserve == is_reserve;
        self.seats.values().filter(stays).count()
    }

    /// Tells one connection to leave; false if none waits.
    fn dismiss(&self) -> bool {
        let waits = self.seats.values().filter(|seat| !seat.is_leaving.load(Relaxed));
        let waits = waits.filter(|seat| seat.waits_since.load(Relaxed) > 0);
        let Some(seat) = waits.min_by_key(|seat| seat.waits_since.load(Relaxed)) else { return false };
        seat.is_leaving.store(true, Relaxed);
        seat.leave.notify_one();
        true
    }
}

impl Seat {
    /// Whether the connection can only check the health of the server.
    pub(crate) fn is_reserve(&self) -> bool {
        self.state.is_reserve
    }

    /// Notes whether the connection waits for its client.
    pub(crate) fn waits(&self, waits: bool) {
        let since = &self.state.waits_since;
        if !waits {
            since.store(0, Relaxed);
        } else if since.load(Relaxed) == 0 {
            since.store(self.seats.now(), Relaxed);
        }
    }

    /// Completes when the connection has to leave. One that has just got something to do stays.
    pub(crate) async fn dismissed(&self) {
        loop {
            self.state.leave.notified().await;
            if self.state.waits_since.load(Relaxed) > 0 {
                return;
            }
            self.state.is_leaving.store(false, Relaxed);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.lock().seats.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waited_longest_gives_way_and_who_is_served_stays() {
        let seats = Seats::new(2);
        let (one, two) = (seats.take().unwrap(), seats.take().unwrap());
        one.waits(false);
        one.state.waits_since.store(0, Relaxed);
        two.state.waits_since.store(1, Relaxed);
        let three = seats.take().unwrap();
        assert!(two.state.is_leaving.load(Relaxed) && !one.state.is_leaving.load(Relaxed));
        assert!(!three.is_reserve(), "it has the place of the one that leaves");
        three.waits(false);
        let busy = || {
            let seat = seats.take()?;
            seat.waits(false);
            Some(seat)
        };
        let reserve: Vec<Seat> = (0..RESERVE).map(|_| busy().unwrap()).collect();
        assert!(reserve.iter().all(Seat::is_reserve));
        assert!(busy().is_none(), "everybody is served");
        reserve[7].waits(true);
        assert!(busy().unwrap().is_reserve(), "one of the reserve waits and gives way");
        drop(one);
        assert!(!seats.take().unwrap().is_reserve());
    }
}
