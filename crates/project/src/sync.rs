//! Locks and snapshots, and the order in which a session takes them.
//!
//! Order of locks, outermost first. A thread that holds one of them takes only those further down:
//!
//! 1. the gate of a fit or a measurement (`live::Models`, `analysis::Measurements`): one computation of a
//!    question at a time; the beginning of a measurement's job
//! 2. the cache of embeddings
//! 3. the feed of events
//! 4. one annotator's annotations, of several questions in the order of their rows (the map of them is
//!    released before)
//! 5. one question's live model (the map of models is released before)
//! 6. the project file: its writer thread and its readers
//! 7. running jobs, running runs, reservations, threads: taken briefly, nothing is called while they are
//!    held
//!
//! Texts, annotators and questions (`Index`), settings and listeners need no locks: they are [`Snapshot`]s,
//! of which a reader takes the newest and may hold it for any time, so that no thread waits for a reader.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex whose data may be half changed when a thread panicked while holding it: it is reset then.
pub fn lock_or_reset<T: Default>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| {
        let mut guard = poisoned.into_inner();
        *guard = T::default();
        mutex.clear_poison();
        guard
    })
}

/// A value that is replaced as a whole. A reader gets the newest one at once and is not affected by later
/// changes.
#[derive(Debug, Default)]
pub struct Snapshot<T>(RwLock<Arc<T>>);

impl<T> Snapshot<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(RwLock::new(Arc::new(value)))
    }

    /// Returns the newest value.
    pub(crate) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }

    /// Replaces the value by the result of `change`; changes are serialised.
    pub(crate) fn update(&self, change: impl FnOnce(&T) -> T) {
        let mut newest = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let next = Arc::new(change(&newest));
        *newest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_keeps_its_snapshot() {
        let snapshot = Snapshot::new(1);
        let first = snapshot.get();
        snapshot.set(2);
        assert_eq!((*first, *snapshot.get()), (1, 2));
    }

    #[test]
    fn lock_poisoned_by_a_panic_is_reset() {
        let shared = Arc::new(Mutex::new(Some(1)));
        let other = Arc::clone(&shared);
        let died = std::thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("half way");
        });
        assert!(died.join().is_err());
        assert_eq!(*lock_or_reset(&shared), None);
        assert!(!shared.is_poisoned());
    }
}
