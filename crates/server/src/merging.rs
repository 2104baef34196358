//! Merges what was received, one merge after the other.

use dissensus_api::{MergedFile, Problem};
use dissensus_domain::catch_panic;
use dissensus_project::error::ProjectError;
use dissensus_transfer::study::Inbox;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The least time between two merges: many answers are merged as quickly as one.
const PAUSE: Duration = Duration::from_secs(2);
/// How often it looks for new submissions.
const LOOK: Duration = Duration::from_millis(100);

/// What a merge has added.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// The people of whom something was new.
    pub people: Vec<MergedPerson>,
    /// Why something could not be merged.
    pub problems: Vec<Problem>,
    /// What is odd about something that was merged.
    pub notices: Vec<Problem>,
}

impl Merged {
    fn is_empty(&self) -> bool {
        self.people.is_empty() && self.problems.is_empty() && self.notices.is_empty()
    }
}

/// What a merge has added of one person.
#[derive(Clone, Debug)]
pub struct MergedPerson {
    pub annotator: String,
    /// Number of answers, changes and marks that were new.
    pub new: u32,
}

/// Merges what has `arrived` until `ended`, and then once more.
pub(crate) fn merge_until(
    inbox: &Inbox,
    arrived: &AtomicBool,
    ended: &AtomicBool,
    merged: &(impl Fn(&Merged) + Sync),
) {
    let mut last: Option<Instant> = None;
    loop {
        let ending = ended.load(Ordering::SeqCst);
        let due = ending || last.is_none_or(|last| last.elapsed() >= PAUSE);
        if due && (arrived.swap(false, Ordering::SeqCst) || ending || last.is_none()) {
            // A panic must not end all later merges: what is received would only wait.
            let merge = catch_panic(|| inbox.merge());
            let merge =
                merge.unwrap_or_else(|| Err(ProjectError::internal(&"a merge panicked; see the log")));
            let report = match merge {
                Ok(report) => summarise(report.files),
                Err(error) => {
                    arrived.store(true, Ordering::SeqCst);
                    Merged { problems: vec![error.problem()], ..Merged::default() }
                }
            };
            // What could not be merged is tried again.
            if inbox.waiting() > 0 {
                arrived.store(true, Ordering::SeqCst);
            }
            if !report.is_empty() {
                merged(&report);
            }
            last = Some(Instant::now());
        }
        if ending {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

fn summarise(files: Vec<MergedFile>) -> Merged {
    let mut merged = Merged::default();
    for file in files {
        if file.new > 0 {
            let annotator = file.annotator.unwrap_or_default();
            merged.people.push(MergedPerson { annotator, new: file.new });
        }
        for one in file.problems {
            let list = if one.refused { &mut merged.problems } else { &mut merged.notices };
            list.push(one.problem);
        }
    }
    merged
}
