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
    // Fails where signals are ignored on purpose (`nohup`), and then they should stay so.
    let _ = ctrlc::try_set_handler(|| {
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
    let _ = ctrlc::try_set_handler(move || {
        if !LEFT.load(Ordering::Relaxed) && raised.swap(true, Ordering::Relaxed) {
            external::stop_all();
            std::process::exit(INTERRUPTED);
        }
    });
    flag
}
