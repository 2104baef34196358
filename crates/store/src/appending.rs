//! Under which copy a store appends, and how far a transaction is with it.

use dissensus_domain::CopyId;
use std::cell::Cell;

/// The copy that a store appends under, and where the next event of this transaction goes.
///
/// The copy's id is made with the first event that a store appends, in the transaction of that event; see [`CopyId`] for why it is
/// never read from the file and used again.
#[derive(Debug, Default)]
pub(crate) struct Appending {
    copy: Cell<Option<CopyId>>,
    last: Cell<Option<Place>>,
}

/// Where an event lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) event: u32,
    pub(crate) copy: u32,
    pub(crate) sequence: u32,
}

impl Appending {
    /// What appends in a new transaction of a store that appended under `copy` before.
    pub(crate) fn under(copy: Option<CopyId>) -> Self {
        Self { copy: Cell::new(copy), last: Cell::new(None) }
    }

    /// The copy to go on with, once the transaction is on disk.
    pub(crate) fn copy(&self) -> Option<CopyId> {
        self.copy.get()
    }

    /// From here on this transaction appends under `copy`.
    pub(crate) fn begin(&self, copy: CopyId) {
        self.copy.set(Some(copy));
    }

    /// From here on this transaction and those after it append under a copy of their own.
    pub(crate) fn renew(&self) {
        self.copy.set(None);
        self.last.set(None);
    }

    /// Where this transaction appended last.
    pub(crate) fn last(&self) -> Option<Place> {
        self.last.get()
    }

    /// The transaction has appended at `place`.
    pub(crate) fn appended_at(&self, place: Place) {
        self.last.set(Some(place));
    }
}
