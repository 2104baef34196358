//! Revealing others' views of texts: whether the study does so, and the record of what was shown.

use super::Context;
use crate::error::ProjectError;
use crate::log::go_on;
use crate::sync::lock;
use dissensus_domain::{AnnotatorId, QuestionId, Shown, TextId};
use std::collections::HashMap;

/// What was recorded, by question, text and person.
pub(super) type Recorded = HashMap<(QuestionId, TextId, AnnotatorId), Shown>;

impl Context {
    /// Whether the study reveals how others see a text once a person has answered it; never in a task
    /// packet, which has no data of others.
    pub fn reveals(&self) -> Result<bool, ProjectError> {
        Ok(self.packet.is_none() && self.store.reveals()?)
    }

    /// Like [`Context::reveals`], while recording a label, which must not fail because of it: false on an
    /// error.
    pub fn reveals_now(&self) -> bool {
        go_on("reading whether others' views are shown", self.reveals()).unwrap_or(false)
    }

    /// Records what was shown to a person about a text, so that later labels are marked. It may be shown
    /// once this is on disk. What was shown before is not recorded again.
    ///
    /// # Errors
    /// An I/O error; nothing may be shown then.
    pub fn record_shown(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        shown: Shown,
    ) -> Result<(), ProjectError> {
        // A command that reads without the lock shows it to no known person.
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
