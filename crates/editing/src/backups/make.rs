//! Making a backup: complete and checked, or not at all.

use super::folder::{About, Contents, Entry, LockedFolder};
use super::list::info_of;
use super::retention::{Dated, superseded};
use crate::Project;
use crate::error::EditingError;
use dissensus_api::BackupInfo;
use dissensus_files::{PrivateFolder, sync_folder};
use dissensus_project::clock::{date_of, now_ms};
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_project::names::project_name;
use dissensus_store::{CopyTarget, RecordedEvents, Store, StoreError};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long closing a project waits for another program that writes a backup of it.
const LONGEST_WAIT_AT_CLOSING: Duration = Duration::from_secs(3);

/// Why a backup is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Somebody asked for it.
    Asked,
    /// A project was opened, or a new day began: unless there is a backup of today.
    NewDay,
    /// A project is closed: unless nothing changed since the last backup.
    Closing,
}

/// Makes a backup of the project as it is at this moment, also if it is open read-only. Labels given
/// meanwhile are not in it.
///
/// # Errors
/// The folder of backups cannot be written, the disk is full, or what was written cannot be read back.
/// Earlier backups are unchanged then, and nothing half written is left.
pub fn make(cx: &Project) -> Result<BackupInfo, ProjectError> {
    let file = cx.context.store.file();
    let made = back_up(&cx.context, Reason::Asked)?;
    let made = made.ok_or_else(|| ProjectError::Internal("a backup that was asked for".to_owned()))?;
    Ok(info_of(&made, Some(file)))
}

/// Makes a backup if the reason calls for one, and removes those that the rule no longer keeps. Makes none if
/// the project is closed meanwhile, or another program is at it for long while this one closes the project:
/// it is then made later.
pub(super) fn back_up(context: &Context, reason: Reason) -> Result<Option<Entry>, ProjectError> {
    let store = &context.store;
    let started = Instant::now();
    let is_stopped = || reason == Reason::NewDay && context.threads.are_closing();
    let is_waiting =
        || !is_stopped() && (reason != Reason::Closing || started.elapsed() < LONGEST_WAIT_AT_CLOSING);
    let Some(folder) = LockedFolder::within(&context.home, store.project_id()?, is_waiting)? else {
        return Ok(None);
    };
    let now = now_ms();
    // Newest first.
    let last = folder.entries().into_iter().find(|entry| entry.is_of(store.file()));
    if let Some(last) = last.filter(|_| reason != Reason::Asked) {
        let unchanged = last
            .about
            .is_some_and(|about| store.content_stamp().is_ok_and(|stamp| stamp == about.contents.stamp));
        if unchanged || (reason == Reason::NewDay && date_of(last.at_ms) == date_of(now)) {
            return Ok(None);
        }
    }
    let failed = |source| ProjectError::Io { path: folder.path().to_owned(), doing: "backing up to", source };
    // Also removes what a killed program left.
    let part = PrivateFolder::create_in(folder.path()).map_err(failed)?;
    let copy = part.path().join("backup.dissensus");
    store.copy_to(&copy, CopyTarget::New, |_, _| match is_stopped() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })?;
    if is_stopped() {
        return Ok(None);
    }
    let (contents, recorded) = read_back(&copy)?;
    let about = About {
        path: store.file().to_string_lossy().into_owned(),
        name: project_name(store.path()),
        automatic: reason != Reason::Asked,
        contents,
    };
    let mut entry = folder.free_entry(now);
    // A description without a backup is nothing; a backup has its description from the beginning.
    folder.describe(&entry, &about)?;
    if let Err(error) = std::fs::rename(&copy, &entry.file) {
        go_on("removing the description of no backup", entry.delete());
        return Err(failed(error));
    }
    sync_folder(folder.path()).map_err(failed)?;
    entry.bytes = std::fs::metadata(&entry.file).map_or(0, |about| about.len());
    entry.about = Some(about);
    folder.remove_lone_descriptions();
    // Otherwise after the next backup.
    if !is_stopped() {
        go_on("removing earlier backups", thin(&folder, &entry, &recorded, now));
    }
    Ok(Some(entry))
}

/// Opens what was written, which checks all of it, and returns what it contains.
fn read_back(copy: &Path) -> Result<(Contents, RecordedEvents), ProjectError> {
    let read = || {
        let store = Store::open_reader(copy)?;
        let found = (Contents::of(&store)?, RecordedEvents::of(&store)?);
        store.close()?;
        Ok(found)
    };
    read().map_err(|error: StoreError| EditingError::BackupUnsound(error.to_string()).into())
}

/// Removes the backups that the rule does not keep, of each file that the project had. `recorded` are the
/// events in the backup that was made.
fn thin(
    folder: &LockedFolder,
    made: &Entry,
    recorded: &RecordedEvents,
    now_ms: i64,
) -> Result<(), ProjectError> {
    let mut entries = folder.entries();
    let path_of = |entry: &Entry| entry.about.as_ref().map(|about| about.path.clone());
    entries.sort_by_key(|entry| (path_of(entry), std::cmp::Reverse(entry.at_ms)));
    for of_one_file in entries.chunk_by(|a, b| path_of(a) == path_of(b)) {
        let dated: Vec<Dated> = of_one_file
            .iter()
            .map(|entry| Dated {
                day: date_of(entry.at_ms),
                at_ms: entry.at_ms,
                automatic: entry.about.as_ref().is_some_and(|about| about.automatic),
            })
            .collect();
        let contains = |newer: usize, older: usize| {
            let (newer, older) = (&of_one_file[newer], &of_one_file[older]);
            let known = (newer.file == made.file).then_some(recorded);
            contains(newer.about.as_ref(), known, older.about.as_ref())
        };
        let gone = superseded(&dated, date_of(now_ms), contains);
        // The newest is the reason why others may go, so it has to be sound: ours was read back just now.
        let is_sound = |newest: &Entry| newest.file == made.file || read_back(&newest.file).is_ok();
        if gone.is_empty() || !of_one_file.first().is_some_and(is_sound) {
            continue;
        }
        for at in gone {
            of_one_file[at].delete()?;
        }
    }
    Ok(())
}

/// Whether every event of an older backup is also in a newer one, of which `known` are all events where they
/// have been read. Events are only appended: this is not so if an older file replaced the project.
fn contains(newer: Option<&About>, known: Option<&RecordedEvents>, older: Option<&About>) -> bool {
    let Some(older) = older else { return true };
    let Some(last) = older.contents.last_event else { return true };
    let Some(newer) = newer else { return false };
    let has_last = match (known, newer.contents.last_event) {
        (Some(known), _) => known.knows(last),
        (None, Some((copy, sequence))) => copy == last.0 && sequence >= last.1,
        (None, None) => false,
    };
    newer.contents.events >= older.contents.events && has_last
}
