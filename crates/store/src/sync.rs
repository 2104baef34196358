//! Locking of mutexes in this crate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, ignoring poisoning. No data can be left half-updated: what the mutexes of this
/// crate protect is changed by single assignments, pushes and pops, and no code of a caller runs
/// while one is locked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
