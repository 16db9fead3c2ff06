//! The end of the process, whatever its threads do.
//!
//! The server shuts down in order by itself. This is for the case that something keeps it from that: a thread that holds a
//! lock, a system call that does not return.

use spanwise_domains::exec::external;
use std::time::Duration;

/// How much longer than the drain time an orderly shutdown may take.
const GRACE: Duration = Duration::from_secs(3);
/// How long it may take after a second signal.
const AT_ONCE: Duration = Duration::from_secs(1);
/// How long stopping the executors may take.
const EXECUTORS: Duration = Duration::from_millis(500);

/// Ends the process some time after a signal, and soon after a second one.
#[cfg(unix)]
pub(super) fn ensure(drain: Duration) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            for (at, _) in signals.forever().enumerate() {
                let limit = if at == 0 { drain.saturating_add(GRACE) } else { AT_ONCE };
                std::thread::spawn(move || {
                    std::thread::sleep(limit);
                    let stopping = std::thread::spawn(external::stop_all);
                    let start = std::time::Instant::now();
                    while !stopping.is_finished() && start.elapsed() < EXECUTORS {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    // Not even handlers at the exit can hold this up.
                    signal_hook::low_level::exit(0);
                });
            }
        });
    }
}

/// On other systems a second Ctrl-C is left to the system.
#[cfg(not(unix))]
pub(super) fn ensure(_: Duration) {}
