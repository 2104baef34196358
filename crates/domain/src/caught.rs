//! Panics of libraries that mean that what they were given is damaged.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught by [`catch_panic`].
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a library on something that may be damaged; `None` where it panics, which is logged with its place and not printed: what people
/// read is the error that the caller makes of it. A panic of a thread that `work` starts is printed as ever.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| match CATCHING.get() {
            // Never the message, which may quote a text.
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
    fn a_panic_is_none_and_one_outside_is_a_panic_again() {
        assert_eq!(catch_panic(|| 3), Some(3));
        assert_eq!(catch_panic(|| catch_panic(|| -> u8 { panic!("inner") })), Some(None));
        assert_eq!(catch_panic(|| -> u8 { panic!("outer") }), None);
        assert!(!CATCHING.get());
    }
}
