//! What of others is shown to people about texts: whether the study shows it, and the record of what was.

use super::Context;
use crate::error::WorkbenchError;
use crate::log::go_on;
use crate::sync::lock;
use dissensus_domain::{AnnotatorId, QuestionId, Shown, TextId};
use std::collections::HashMap;

/// What was recorded, by question, text and person.
pub(super) type Recorded = HashMap<(QuestionId, TextId, AnnotatorId), Shown>;

impl Context {
    /// Whether the study shows how others see a text once a person has answered it; never in a packet, which has nothing of others.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn reveals(&self) -> Result<bool, WorkbenchError> {
        Ok(self.packet.is_none() && self.store.reveals()?)
    }

    /// As [`Context::reveals`], beside a label, which must not fail for it: not where that cannot be read.
    pub fn reveals_now(&self) -> bool {
        go_on("reading whether others' views are shown", self.reveals()).unwrap_or(false)
    }

    /// Records that this was shown to a person about a text: a label that comes later knows. Once it is on disk it may be shown. What was
    /// shown before is not recorded again.
    ///
    /// # Errors
    /// What the disk says; nothing may be shown then.
    pub fn record_shown(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        shown: Shown,
    ) -> Result<(), WorkbenchError> {
        // What a command reads without the lock is shown to nobody whom the project knows.
        if !shown.any() || self.is_reader() {
            return Ok(());
        }
        let question = question.row();
        let mut recorded = lock(&self.recorded);
        let known = match &mut *recorded {
            Some(known) => known,
            none => {
                let mut known = Recorded::new();
                for one in self.store.shown()?.facts() {
                    let before = known.entry((one.question, one.text, one.annotator)).or_default();
                    *before = before.and(one.shown);
                }
                none.insert(known)
            }
        };
        let before = known.get(&(question, text, annotator)).copied().unwrap_or_default();
        let now = before.and(shown);
        if now == before {
            return Ok(());
        }
        let at_ms = crate::clock::now_ms();
        self.store.write(move |tx| tx.add_shown(question, text, annotator, now, at_ms))?;
        known.insert((question, text, annotator), now);
        Ok(())
    }
}
