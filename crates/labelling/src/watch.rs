//! Follows changes by other programs to a read-only project.

use super::Labelling;
use crate::feed;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::log::go_on;
use dissensus_store::Watch;
use std::time::Duration;

/// Interval of checks for changes.
const EVERY: Duration = Duration::from_millis(1_000);
/// Maximum time that closing a project waits for this thread.
const NAP: Duration = Duration::from_millis(100);

/// Follows changes by other programs to the project, until it is closed. Returns at once.
pub fn watch_file(cx: &Labelling) {
    let Some(watch) = go_on("watching the file", cx.context.store.watch()) else { return };
    let here = cx.clone();
    let watching = cx.context.threads.spawn("watch", move || look(&here, watch));
    go_on("watching the file", watching);
}

fn look(cx: &Labelling, mut watch: Watch) {
    let threads = &cx.context.threads;
    loop {
        for _ in 0..EVERY.as_millis() / NAP.as_millis() {
            if threads.are_closing() {
                return;
            }
            std::thread::sleep(NAP);
        }
        // An unreadable file may be readable a second later.
        if go_on("looking for changes", watch.changed()) == Some(true) {
            go_on("following what another program wrote", follow_others(cx));
        }
    }
}

/// Brings everything up to date with the file.
///
/// # Errors
/// The file cannot be read. It is then read at the next write.
pub(crate) fn follow_others(cx: &Labelling) -> Result<(), ProjectError> {
    let before = cx.context.index();
    cx.context.reload();
    let now = cx.context.index();
    let same = before.texts() == now.texts()
        && before.annotators() == now.annotators()
        && before.questions() == now.questions();
    // Models refer to texts and people by row: after a change they are refitted.
    if same {
        feed::follow(cx)?
    } else {
        feed::skip(cx)?
    }
    cx.context.listeners.send(&Event::Project);
    Ok(())
}
