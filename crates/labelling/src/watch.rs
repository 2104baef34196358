//! A project that is open to read, while others write to it: what they write is followed.

use super::Labelling;
use dissensus_project::error::WorkbenchError;
use dissensus_project::event::Event;
use dissensus_project::log::go_on;
use dissensus_store::Watch;
use std::time::Duration;

/// How often it is looked whether anything was written.
const EVERY: Duration = Duration::from_millis(1_000);
/// How long a project that is closed waits for this thread at most.
const NAP: Duration = Duration::from_millis(100);

impl Labelling {
    /// Follows what other programs write to the project, until it is closed. Returns at once.
    pub fn watch_file(&self) {
        let Some(watch) = go_on("watching the file", self.context.store.watch()) else { return };
        let here = self.clone();
        let watching = self.context.threads.spawn("watch", move || here.look(watch));
        go_on("watching the file", watching);
    }

    fn look(&self, mut watch: Watch) {
        let threads = &self.context.threads;
        loop {
            for _ in 0..EVERY.as_millis() / NAP.as_millis() {
                if threads.are_closing() {
                    return;
                }
                std::thread::sleep(NAP);
            }
            // A file that cannot be read now may be a second later.
            if go_on("looking for changes", watch.changed()) == Some(true) {
                go_on("following what another program wrote", self.follow_others());
            }
        }
    }

    /// Brings everything up to date with the file.
    ///
    /// # Errors
    /// The file cannot be read. It is then read at the next write.
    pub(crate) fn follow_others(&self) -> Result<(), WorkbenchError> {
        let before = self.context.index();
        self.context.reload();
        let now = self.context.index();
        let same = before.texts() == now.texts()
            && before.annotators() == now.annotators()
            && before.questions() == now.questions();
        // Rows of models are texts and people: with others they are fitted anew.
        if same {
            self.follow_events()?
        } else {
            self.skip_events()?
        }
        self.context.listeners.send(&Event::Project);
        Ok(())
    }
}
