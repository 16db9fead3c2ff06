//! Whose turn it is: fair shares between clients, and between the requests of one client.
//!
//! Every client and every request has a tag, a point in time; work with the earliest tag is next. Work that is taken moves
//! the tags of its owners into the future by a multiple of its cost. So a client that asks little is ahead of one that has
//! just got much, and a short request is ahead of a long one. No tag is further ahead than [`MAX_AHEAD`]: whoever waits that
//! long is ahead of everybody who comes later.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The factor between the cost of work and how far it moves the tags of its owners.
const PATIENCE: u32 = 8;
/// The longest time that newer work can overtake.
const MAX_AHEAD: Duration = Duration::from_secs(2);
/// Clients that are remembered although nothing of theirs waits.
const MAX_IDLE: usize = 256;

/// The owners of a job.
#[derive(Clone)]
pub(super) struct Turn {
    client: Arc<Tag>,
    request: Arc<Tag>,
}

/// A point in time, in nanoseconds since the queue was made.
type Tag = AtomicU64;

/// The tags of clients that have asked lately.
pub(super) struct Turns {
    start: Instant,
    clients: BTreeMap<IpAddr, Arc<Tag>>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { start: Instant::now(), clients: BTreeMap::new() }
    }
}

impl Turns {
    fn now(&self) -> u64 {
        nanos(self.start.elapsed())
    }

    /// The turn of a new request that will cost so much altogether.
    pub(super) fn join(&mut self, client: IpAddr, cost: Duration) -> Turn {
        let now = self.now();
        if self.clients.len() >= MAX_IDLE {
            self.clients.retain(|_, tag| Arc::strong_count(tag) > 1);
        }
        let client = Arc::clone(self.clients.entry(network(client)).or_default());
        client.fetch_max(now, Relaxed);
        let request = Arc::new(Tag::new(now));
        charge(&request, now, cost);
        Turn { client, request }
    }

    /// Notes that work is done for the owners of a job.
    pub(super) fn charge(&self, turn: &Turn, cost: Duration) {
        let now = self.now();
        charge(&turn.client, now, cost);
        charge(&turn.request, now, cost);
    }
}

impl Turn {
    /// Work with the smallest key is next.
    pub(super) fn key(&self) -> (u64, u64) {
        (self.client.load(Relaxed), self.request.load(Relaxed))
    }
}

fn charge(tag: &Tag, now: u64, cost: Duration) {
    let moved = tag.load(Relaxed).max(now).saturating_add(nanos(cost.saturating_mul(PATIENCE)));
    tag.store(moved.min(now.saturating_add(nanos(MAX_AHEAD))), Relaxed);
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// One host has many addresses of IPv6: its network counts as one client.
pub(super) fn network(addr: IpAddr) -> IpAddr {
    match addr.to_canonical() {
        IpAddr::V6(addr) if !addr.is_loopback() => {
            Ipv6Addr::from_bits(addr.to_bits() & !u128::from(u64::MAX)).into()
        }
        addr => addr,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addr(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn who_got_much_is_behind_who_got_little_but_not_for_ever() {
        let mut turns = Turns::default();
        let long = turns.join(addr("10.0.0.1"), Duration::from_secs(60));
        turns.charge(&long, Duration::from_secs(60));
        let short = turns.join(addr("10.0.0.2"), Duration::from_millis(1));
        assert!(short.key() < long.key());
        let same_client = turns.join(addr("10.0.0.1"), Duration::from_millis(1));
        assert!(same_client.key() < long.key(), "the shorter request of one client is next");
        turns.start -= 2 * MAX_AHEAD;
        let late = turns.join(addr("10.0.0.3"), Duration::from_millis(1));
        assert!(long.key() < late.key(), "newer work overtakes for a limited time");
    }

    #[test]
    fn addresses_of_one_network_are_one_client_and_old_clients_are_forgotten() {
        assert_eq!(network(addr("2001:db8::1")), network(addr("2001:db8::ffff")));
        assert_ne!(network(addr("2001:db8::1")), network(addr("2001:db8:1::1")));
        assert_eq!(network(addr("::ffff:10.0.0.1")), addr("10.0.0.1"));
        let mut turns = Turns::default();
        let kept = turns.join(addr("10.1.0.0"), Duration::ZERO);
        for at in 0..2 * MAX_IDLE {
            turns.join(addr(&format!("10.0.{}.{}", at / 256, at % 256)), Duration::ZERO);
        }
        assert!(turns.clients.len() <= MAX_IDLE);
        assert!(Arc::ptr_eq(&kept.client, &turns.clients[&addr("10.1.0.0")]));
    }
}
