//! Imported people, all of whose answers come from files: to label as one of them requires confirmation.

use super::Context;
use crate::error::ProjectError;
use crate::sync::lock;
use dissensus_domain::{AnnotatorId, EventId};
use std::collections::HashSet;
use std::sync::Mutex;

/// Cached state of events up to one event, so that each is processed once.
#[derive(Default)]
pub(super) struct ImportedCache(Mutex<ImportedUntil>);

#[derive(Default)]
struct ImportedUntil {
    until: Option<EventId>,
    given: HashSet<AnnotatorId>,
    from_files: HashSet<AnnotatorId>,
}

impl Context {
    /// People with answers or marks from files (or simulated ones) and none from a window or the command. A
    /// person without any was added here.
    pub fn imported_people(&self) -> Result<HashSet<AnnotatorId>, ProjectError> {
        let mut known = lock(&self.imported.0);
        let last = self.store.last_event()?;
        if known.until != Some(last) {
            for (annotator, source) in self.store.people_by_source(known.until.unwrap_or(EventId(0)))? {
                match source.is_given() {
                    true => known.given.insert(annotator),
                    false => known.from_files.insert(annotator),
                };
            }
            known.until = Some(last);
        }
        Ok(known.from_files.difference(&known.given).copied().collect())
    }
}
