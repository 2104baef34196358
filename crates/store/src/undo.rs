//! Undo: which answer it takes back, and when it takes none.

use crate::events::event_at;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, Event, EventId, LabelSource, QuestionId};
use rusqlite::Connection;

/// What became of an undo.
#[derive(Clone, Debug, PartialEq)]
pub enum Undo {
    /// This annotator has given no answer that stands.
    Nothing,
    /// This answer was taken back.
    TakenBack(Event),
    /// Nothing was changed: the last answer that the annotator gave is not current any more.
    Replaced {
        /// That answer.
        given: Event,
        /// The current one, which was imported, simulated, or given in another copy.
        current: Event,
    },
}

impl WriteTx<'_> {
    /// Takes back the answer that this annotator gave last in the window or by the command, whatever text it is on and whichever of
    /// `questions` it answers, if it is current. To take back one that is not would change nothing that anybody sees.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn undo(
        &mut self,
        questions: impl AsRef<[QuestionId]>,
        annotator: AnnotatorId,
        at_ms: i64,
        source: LabelSource,
    ) -> Result<Undo> {
        let newest = questions.as_ref().iter().map(|question| newest_given(self.conn, *question, annotator));
        let newest = newest.collect::<rusqlite::Result<Vec<_>>>();
        let newest = newest.map_err(|e| self.explain("looking for the newest answer", e))?;
        let Some(given) = newest.into_iter().flatten().max_by_key(|event| event.id) else {
            return Ok(Undo::Nothing);
        };
        let current = self.current_event((given.question, given.text, annotator))?;
        if let Some(current) = current.filter(|current| current.id != given.id) {
            return Ok(Undo::Replaced { given, current });
        }
        self.retract(given.id, at_ms, source)?;
        Ok(Undo::TakenBack(given))
    }
}

impl Store {
    /// Of the answers that this annotator gave in the window or by the command and that stand, the one appended last, whatever
    /// text it is on and whatever was imported after it.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn newest_given(&self, question: QuestionId, annotator: AnnotatorId) -> Result<Option<Event>> {
        self.read("looking for the newest answer", |c| newest_given(c, question, annotator))
    }
}

fn newest_given(
    c: &Connection,
    question: QuestionId,
    annotator: AnnotatorId,
) -> rusqlite::Result<Option<Event>> {
    // An import is not walked through: undo happens in the writer.
    let mut newest = c.prepare_cached(
        "SELECT id FROM events WHERE annotator = ?1 AND question = ?2
         AND kind = 'answer' AND (source = 'window' OR source = 'command') ORDER BY id DESC",
    )?;
    let mut taken_back = c.prepare_cached(
        "SELECT 1 FROM events WHERE annotator = ?1 AND question = ?2 AND text = ?3
         AND kind = 'retraction' AND replaces = ?4",
    )?;
    let mut rows = newest.query((annotator.0, question.0))?;
    while let Some(row) = rows.next()? {
        let Some(event) = event_at(c, EventId(row.get(0)?))? else { continue };
        if !taken_back.exists((annotator.0, question.0, event.text.0, event.id.0))? {
            return Ok(Some(event));
        }
    }
    Ok(None)
}
