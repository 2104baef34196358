//! The copy id and position at which a store appends events.

use dissensus_domain::CopyId;
use std::cell::Cell;

/// The copy id under which a store appends events, and the position of the last event of the
/// current transaction.
///
/// The copy id is generated together with the first event that a store appends, in the same
/// transaction; see [`CopyId`] for why it is never read from the file and reused.
#[derive(Debug, Default)]
pub(crate) struct Appending {
    copy: Cell<Option<CopyId>>,
    last: Cell<Option<EventPosition>>,
}

/// The position of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventPosition {
    pub(crate) event: u32,
    pub(crate) copy: u32,
    pub(crate) sequence: u32,
}

impl Appending {
    /// Creates the state for a new transaction of a store that has appended under `copy`.
    pub(crate) fn under(copy: Option<CopyId>) -> Self {
        Self { copy: Cell::new(copy), last: Cell::new(None) }
    }

    /// The copy id to continue with once the transaction is committed.
    pub(crate) fn copy(&self) -> Option<CopyId> {
        self.copy.get()
    }

    /// Appends under `copy` from now on.
    pub(crate) fn begin(&self, copy: CopyId) {
        self.copy.set(Some(copy));
    }

    /// Generates a new copy id for the next event, in this or a later transaction.
    pub(crate) fn renew(&self) {
        self.copy.set(None);
        self.last.set(None);
    }

    /// The position of the last event that this transaction appended.
    pub(crate) fn last(&self) -> Option<EventPosition> {
        self.last.get()
    }

    /// Records that the transaction appended an event at `place`.
    pub(crate) fn appended_at(&self, place: EventPosition) {
        self.last.set(Some(place));
    }
}
