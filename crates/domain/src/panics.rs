//! Catches panics of libraries that are given damaged input.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether [`catch_panic`] is active on this thread.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a library call on input that may be damaged; returns `None` if it panics. The panic is
/// logged with its location and not printed, since the caller reports an error. Panics on threads
/// that `work` starts are printed as usual.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| match CATCHING.get() {
            // The panic message may quote a text, so it is never logged.
            true => {
                let place = panic.location().map_or_else(String::new, ToString::to_string);
                tracing::warn!(place, "a library panicked; what it was given counts as damaged");
            }
            false => before(panic),
        }));
    });
    let outer = CATCHING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inner_panics_are_caught() {
        assert_eq!(catch_panic(|| 3), Some(3));
        assert_eq!(catch_panic(|| catch_panic(|| -> u8 { panic!("inner") })), Some(None));
        assert_eq!(catch_panic(|| -> u8 { panic!("outer") }), None);
        assert!(!CATCHING.get());
    }
}
