//! Handles Ctrl-C, requests to terminate and hang-ups.
//!
//! An external executor runs in a process group of its own, so that all of its processes can be stopped together. Ctrl-C
//! does not reach that group: the handlers here stop it.

use spanwise_domains::exec::external;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a program that was interrupted, by the custom of shells.
const INTERRUPTED: i32 = 130;

/// Whether the handlers of this module are switched off.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Switches the handlers of this module off, for commands that handle signals themselves, such as the server.
pub(crate) fn leave() {
    LEFT.store(true, Ordering::Relaxed);
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error like any other. Without a handler the signal would
/// end the process, and its temporary files would stay.
pub(crate) fn survive_size_limit() {
    // Where it cannot be registered, nothing is lost but the message. Nobody asks the flag.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Makes an interrupt stop all external executors before it ends the command.
pub(crate) fn stop_executors() {
    on_interrupt(|| {
        if !LEFT.load(Ordering::Relaxed) {
            external::stop_all();
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Makes an interrupt set the returned flag; a second one ends the command at once.
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

/// Runs an action on every signal that requests an end. Only the first call has an effect. Signals that the process was
/// started to ignore stay ignored, each for itself: shells do this with Ctrl-C for background jobs, and `nohup` with hang-ups.
/// Such a process still obeys a request to terminate.
#[cfg(unix)]
fn on_interrupt(action: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        return;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // Where the mask is not available, the signal that is ignored most often is left alone.
    let ignored = ignored_signals(&status).unwrap_or(1 << (SIGHUP - 1));
    let watched = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(watched) {
        std::thread::spawn(move || signals.forever().for_each(|_| action()));
    }
}

/// On other systems an interrupt ends the command without a handler.
#[cfg(not(unix))]
fn on_interrupt(_: impl Fn() + Send + 'static) {}

/// The mask of ignored signals, one bit each, in the text of `/proc/self/status`.
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
