//! Automatic backups of a project that a window has open.

use super::make::{Reason, back_up};
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::log::go_on;
use dissensus_project::sync::lock;
use dissensus_store::StoreError;
use std::sync::Arc;

/// A larger project is backed up when it is opened only, so that closing it takes a second at most.
const LARGEST_AT_CLOSING: u64 = 100 << 20;

/// Makes a backup on a thread of its own unless there is one of today, or nothing changed since the last one.
/// Returns at once; a failure is reported by [`notice`] and interrupts nothing.
pub fn start(context: &Arc<Context>) {
    if !is_due(context) {
        return;
    }
    let here = Arc::clone(context);
    let started = context.threads.spawn("backup", move || {
        let done = back_up(&here, Reason::NewDay).map(drop);
        let problem = match done {
            // The project is being closed, which makes a backup itself.
            Err(ProjectError::Store(StoreError::CopyCancelled(_))) => return,
            Err(error) => Some(error.problem().message),
            Ok(()) => None,
        };
        let before = std::mem::replace(&mut *lock(&here.backup_problem), problem.clone());
        if before != problem {
            here.listeners.send(&Event::Project);
        }
    });
    go_on("starting the automatic backup", started);
}

/// Makes a backup before a project is closed, if something changed since the last one.
pub fn at_closing(context: &Context) {
    let is_small =
        std::fs::metadata(context.store.file()).is_ok_and(|about| about.len() <= LARGEST_AT_CLOSING);
    if is_small && is_due(context) {
        go_on("backing up the project before it is closed", back_up(context, Reason::Closing));
    }
}

/// Notice that the last automatic backup failed, and what to do.
pub fn notice(context: &Context) -> Option<String> {
    lock(&context.backup_problem).as_ref().map(|why| {
        format!(
            "The automatic backup of this project failed: {why}. Labels are stored in the project as always, and earlier backups are unchanged. Make space, or save a copy to another disk; the backup is tried again when the project is next opened."
        )
    })
}

/// Whether there is something to back up automatically: no project that is open read-only, empty, or the
/// sample.
fn is_due(context: &Context) -> bool {
    let is_sample = dissensus_store::is_same_file(context.store.file(), &context.home.sample_path());
    let index = context.index();
    let is_empty = index.texts().is_empty() && index.questions().is_empty();
    context.settings().backups && !context.is_reader() && !is_sample && !is_empty
}
