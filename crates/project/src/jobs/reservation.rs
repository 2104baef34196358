//! Exclusive activities: reserved before they begin, and released in every case.

use crate::error::ProjectError;
use crate::sync::lock;
use dissensus_domain::QuestionId;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Exclusive activities: at most one of each runs in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    /// Computing embeddings of texts, or choosing a pooling.
    Encoding,
    /// Importing a file.
    Import,
    /// Exporting labels or predictions in the window.
    Export,
    /// Explaining a text by leaving out its words in turn.
    Words,
    /// Fitting a model of words.
    WordModel,
    /// Training a run: two would compete for the cores.
    Training,
    /// Fitting a missing live model of a question in the background.
    Fit(QuestionId),
}

impl Activity {
    fn name(self) -> &'static str {
        match self {
            Self::Encoding => "encoding",
            Self::Import => "an import",
            Self::Export => "an export",
            Self::Words => "leaving out the words of a text",
            Self::WordModel => "fitting a model of words",
            Self::Training => "training",
            Self::Fit(_) => "fitting the model",
        }
    }
}

/// The reserved activities.
#[derive(Debug, Default)]
pub struct Reservations(Arc<Mutex<BTreeSet<Activity>>>);

impl Reservations {
    /// Reserves an activity until the guard is dropped: by the working thread when it ends or panics, or
    /// earlier when it cannot start.
    ///
    /// # Errors
    /// [`ProjectError::Busy`] while it is reserved.
    pub fn reserve(&self, activity: Activity) -> Result<Reservation, ProjectError> {
        if lock(&self.0).insert(activity) {
            Ok(Reservation { activity, reserved: Arc::clone(&self.0) })
        } else {
            Err(ProjectError::Busy(activity.name()))
        }
    }
}

/// A reservation, released on drop.
#[derive(Debug)]
#[must_use = "the activity is free again when this is dropped"]
pub struct Reservation {
    activity: Activity,
    reserved: Arc<Mutex<BTreeSet<Activity>>>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        lock(&self.reserved).remove(&self.activity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_threads_reserves() {
        let reservations = Reservations::default();
        for _ in 0..50 {
            let start = std::sync::Barrier::new(8);
            let (start, reservations) = (&start, &reservations);
            let got: Vec<_> = std::thread::scope(|scope| {
                let try_it = move || {
                    start.wait();
                    reservations.reserve(Activity::Encoding)
                };
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(try_it)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(got.iter().filter(|got| got.is_ok()).count(), 1);
            let refused = got.iter().find_map(|got| got.as_ref().err()).unwrap();
            assert_eq!(refused.code(), "busy");
        }
        assert!(reservations.reserve(Activity::Encoding).is_ok(), "all were released");
    }

    #[test]
    fn panic_releases_the_reservation() {
        let reservations = Reservations::default();
        let reserved = reservations.reserve(Activity::Import).unwrap();
        let other = reservations.reserve(Activity::Export).unwrap();
        let died = std::thread::spawn(move || {
            let _reserved = reserved;
            panic!("half way");
        });
        assert!(died.join().is_err());
        assert!(reservations.reserve(Activity::Import).is_ok());
        assert!(reservations.reserve(Activity::Export).is_err());
        drop(other);
    }
}
