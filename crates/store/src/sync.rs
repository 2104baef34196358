//! Locks inside this crate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder panicked guards nothing that could be half done here: what is behind the locks of this crate is
/// changed by single assignments, pushes and pops, and no code of a caller runs while one is held.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
