//! Shared state of the parts of an open project.

use super::Index;
use super::imported::ImportedCache;
use super::shown::Recorded;
use crate::error::ProjectError;
use crate::event::Listeners;
use crate::home::Home;
use crate::jobs::{Jobs, Reservations, Threads};
use crate::log::go_on;
use crate::sync::{Snapshot, lock};
use dissensus_api::AppSettings;
use dissensus_domain::{AnnotatorId, Packet};
use dissensus_store::Store;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Shared state of the parts of an open project. State that only one part needs is in that part.
pub struct Context {
    pub home: Home,
    pub store: Store,
    pub listeners: Arc<Listeners>,
    pub jobs: Jobs,
    pub reservations: Reservations,
    pub threads: Threads,
    pub settings: Snapshot<AppSettings>,
    /// Why the last automatic backup failed.
    pub backup_problem: Mutex<Option<String>>,
    /// The assignment, where the project is a task packet for one person: nothing is learned or shown of
    /// others then.
    pub packet: Option<Packet>,
    pub(super) imported: ImportedCache,
    /// Record of what was revealed of others; read on first use.
    pub(super) recorded: Mutex<Option<Recorded>>,
    index: Snapshot<Index>,
    /// Held while the index is read again, so that an older one never replaces a newer one.
    reloading: Mutex<()>,
    /// Whether the index lacks something that was added, because the project could not be read then.
    stale: AtomicBool,
    /// Whether a window is open on it: what is missing is encoded and fitted automatically.
    in_background: AtomicBool,
    /// Work that a test lets panic or fail.
    #[cfg(any(test, feature = "test-hooks"))]
    pub fail_at: Mutex<Option<String>>,
    /// Work that a test blocks: it waits at the barrier once when it gets there, and once more before it
    /// continues.
    #[cfg(any(test, feature = "test-hooks"))]
    pub hold_at: Mutex<Option<(&'static str, Arc<std::sync::Barrier>)>>,
}

impl Context {
    /// Creates the context of a project that was just opened.
    pub fn open(store: Store, home: &Home) -> Result<Self, ProjectError> {
        let index = Index::load(&store)?;
        let packet = store.own_packet()?;
        Ok(Self {
            home: home.clone(),
            store,
            listeners: Arc::default(),
            jobs: Jobs::default(),
            reservations: Reservations::default(),
            threads: Threads::default(),
            settings: Snapshot::default(),
            backup_problem: Mutex::default(),
            packet,
            imported: ImportedCache::default(),
            recorded: Mutex::default(),
            index: Snapshot::new(index),
            reloading: Mutex::default(),
            stale: AtomicBool::new(false),
            in_background: AtomicBool::new(false),
            #[cfg(any(test, feature = "test-hooks"))]
            fail_at: Mutex::default(),
            #[cfg(any(test, feature = "test-hooks"))]
            hold_at: Mutex::default(),
        })
    }

    /// The current texts, annotators and questions. Later additions are in the next snapshot.
    pub fn index(&self) -> Arc<Index> {
        if self.stale.load(Ordering::Acquire) {
            self.reload();
        }
        self.index.get()
    }

    /// Settings of the application.
    pub fn settings(&self) -> AppSettings {
        self.settings.get().as_ref().clone()
    }

    /// Refuses changes that a task packet does not support: it is submitted as a whole, and changed packets
    /// are refused.
    ///
    /// # Errors
    /// The open project is a task packet.
    pub fn whole_project(&self) -> Result<(), ProjectError> {
        match self.packet {
            Some(_) => Err(ProjectError::InPacket),
            None => Ok(()),
        }
    }

    /// Refuses answers of anyone but the person to whom a packet was assigned.
    ///
    /// # Errors
    /// The open project is another person's packet.
    pub fn may_answer(&self, annotator: AnnotatorId) -> Result<(), ProjectError> {
        match &self.packet {
            Some(packet) if packet.annotator != annotator => {
                let index = self.index();
                let row = index.annotator_row(packet.annotator).map(|row| &index.annotators()[row as usize]);
                let name = row.map_or_else(String::new, |person| person.external_id.clone());
                Err(ProjectError::OtherPerson(name))
            }
            _ => Ok(()),
        }
    }

    /// True if the project was opened read-only.
    pub fn is_reader(&self) -> bool {
        self.store.is_reader()
    }

    /// Whether a window is open on the project.
    pub fn works_in_background(&self) -> bool {
        self.in_background.load(Ordering::Relaxed)
    }

    pub fn work_in_background(&self) {
        self.in_background.store(true, Ordering::Relaxed);
    }

    /// Brings all writes into the one file, so that a copy of it is complete. If that fails, nothing is
    /// lost: the journal next to the file has them, and it is tried again when writing pauses and at the
    /// end.
    pub fn flush_to_file(&self) {
        go_on("bringing what was written into the file", self.store.checkpoint());
    }

    /// Reloads texts, annotators and questions after some were added. They are on disk: a failure to read
    /// them now is no error, and they are read at the next request.
    pub fn reload(&self) {
        let _reloading = lock(&self.reloading);
        let read = self.fails_here("reload").and_then(|()| Index::load(&self.store));
        match go_on("reading what was added to the project", read) {
            // Under the lock and after the index: a concurrent reader must not take the old one for the new
            // one.
            Some(index) => {
                self.index.set(index);
                self.stale.store(false, Ordering::Release);
            }
            None => self.stale.store(true, Ordering::Release),
        }
    }
}
