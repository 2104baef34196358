//! The parts of an open project, which use cases and background threads share.

use crate::error::WorkbenchError;
use crate::event::Listeners;
use crate::home::Home;
use crate::jobs::{Cancel, Jobs, Reservations, Threads};
use crate::labelling::{Feed, Sheets};
use crate::live::LiveModels;
use crate::project::Index;
use crate::runs::Training;
use crate::sync::{Snapshot, lock};
use crate::view::AppSettings;
use dissensus_store::Store;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// What a session shares with its background threads.
pub(crate) struct Core {
    pub(crate) home: Home,
    pub(crate) store: Store,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) jobs: Jobs,
    pub(crate) reservations: Reservations,
    pub(crate) threads: Threads,
    pub(crate) training: Training,
    pub(crate) index: Snapshot<Index>,
    /// Held while the index is read anew, so that an older one never replaces a newer one.
    reloading: Mutex<()>,
    pub(crate) feed: Feed,
    pub(crate) sheets: Sheets,
    pub(crate) live: LiveModels,
    pub(crate) settings: Snapshot<AppSettings>,
    pub(crate) closing: Cancel,
    /// A window is open on it: what is missing is encoded and fitted without being asked for.
    pub(crate) in_background: AtomicBool,
    /// The work that a test lets panic.
    #[cfg(test)]
    pub(crate) fail_at: Mutex<Option<String>>,
}

impl Core {
    /// The parts of a project that was just opened.
    pub(crate) fn open(store: Store, home: &Home) -> Result<Self, WorkbenchError> {
        let feed = Feed::from(store.last_event()?);
        let index = Index::load(&store)?;
        Ok(Self {
            home: home.clone(),
            store,
            listeners: Arc::default(),
            jobs: Jobs::default(),
            reservations: Reservations::default(),
            threads: Threads::default(),
            training: Training::default(),
            index: Snapshot::new(index),
            reloading: Mutex::default(),
            feed,
            sheets: Sheets::default(),
            live: LiveModels::default(),
            settings: Snapshot::default(),
            closing: Cancel::default(),
            in_background: AtomicBool::new(false),
            #[cfg(test)]
            fail_at: Mutex::default(),
        })
    }

    /// Texts, annotators and questions as they are now. What is added later is in the next snapshot.
    pub(crate) fn index(&self) -> Arc<Index> {
        self.index.get()
    }

    pub(crate) fn settings(&self) -> AppSettings {
        self.settings.get().as_ref().clone()
    }

    /// Brings what was written into the one file, so that a copy of it has everything. Should that fail, nothing is lost:
    /// the journal beside the file has it, and it is tried again when writing pauses and at the end.
    pub(crate) fn keep_whole(&self) {
        let _ = self.store.checkpoint();
    }

    /// Reads texts, annotators and questions anew after some were added.
    pub(crate) fn reload(&self) -> Result<(), WorkbenchError> {
        let _reloading = lock(&self.reloading);
        self.index.set(Index::load(&self.store)?);
        Ok(())
    }
}
