//! What happens when a person presses Ctrl-C or the system asks us to end.
//!
//! An external executor runs in a process group of its own, so that all of it can be stopped. The other side
//! of that is that Ctrl-C does not reach it: it must be stopped by us.

use spanwise_domains::exec::external;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a program that was interrupted, by the custom of shells.
const INTERRUPTED: i32 = 130;

/// Whether somebody else looks after signals now.
static LEFT: AtomicBool = AtomicBool::new(false);

/// From now on, signals are the business of others, such as a server: what was set up here does nothing any more.
pub(crate) fn leave() {
    LEFT.store(true, Ordering::Relaxed);
}

/// From now on, an interrupt stops all external executors before it ends the command.
pub(crate) fn stop_executors() {
    on_interrupt(|| {
        if !LEFT.load(Ordering::Relaxed) {
            external::stop_all();
            std::process::exit(INTERRUPTED);
        }
    });
}

/// From now on, an interrupt raises a flag; a second one ends the command at once.
pub(crate) fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    on_interrupt(move || {
        if !LEFT.load(Ordering::Relaxed) && raised.swap(true, Ordering::Relaxed) {
            external::stop_all();
            std::process::exit(INTERRUPTED);
        }
    });
    flag
}

/// Runs an action on every signal that asks us to end. Only the first caller is heard. Each signal counts for itself: a shell
/// makes what it runs in the background ignore Ctrl-C, and `nohup` what it runs ignore the end of the terminal; these
/// stay ignored, while a request to terminate is still obeyed.
#[cfg(unix)]
fn on_interrupt(action: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        return;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // Where the system does not tell, the signal that is ignored most often is left alone.
    let ignored = ignored_signals(&status).unwrap_or(1 << (SIGHUP - 1));
    let watched = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(watched) {
        std::thread::spawn(move || signals.forever().for_each(|_| action()));
    }
}

/// Elsewhere an interrupt ends the command, as the system does it.
#[cfg(not(unix))]
fn on_interrupt(_: impl Fn() + Send + 'static) {}

/// The signals that a process ignores, a bit for each, from what Linux tells of the process.
#[cfg(unix)]
fn ignored_signals(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        assert_eq!(ignored_signals("Name:\tx\nSigBlk:\t01\nSigIgn:\t0000000000001002\n"), Some(0x1002));
        assert_eq!(ignored_signals("Name:\tx\n"), None);
    }
}
