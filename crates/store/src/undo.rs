//! Undo: which answer it retracts, and when it retracts none.

use crate::events::event_at;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, Event, EventId, FIRST_OCCASION, LabelSource, QuestionId, current_note};
use rusqlite::Connection;

/// The result of an undo.
#[derive(Clone, Debug, PartialEq)]
pub enum Undo {
    /// The annotator has given no answer that is not retracted.
    Nothing,
    /// This answer was retracted. One of a later annotation round has the note that was in effect.
    TakenBack(Event),
    /// Nothing was changed: the last answer that the annotator gave is not current any more.
    Replaced {
        /// The last answer given.
        given: Event,
        /// The current answer, which was imported, simulated, or given in another copy.
        current: Event,
    },
}

impl WriteTx<'_> {
    /// Retracts the last answer that this annotator gave to any of `questions` in the window or by
    /// the command, on any text and in any annotation round, if it is current. The last answer is
    /// determined by the order in which they were given, in this copy or in a merged one. Retracting
    /// an answer that is not current would have no visible effect.
    pub fn undo(
        &mut self,
        questions: impl AsRef<[QuestionId]>,
        annotator: AnnotatorId,
        at_ms: i64,
        source: LabelSource,
    ) -> Result<Undo> {
        let newest = newest_given(self.conn, questions.as_ref(), annotator);
        let newest = newest.map_err(|e| self.explain("looking for the newest answer", e))?;
        let Some(mut given) = newest else { return Ok(Undo::Nothing) };
        let key = (given.question, given.text, annotator, given.occasion);
        let current = self.current_event(key)?;
        if let Some(current) = current.filter(|current| current.id != given.id) {
            return Ok(Undo::Replaced { given, current });
        }
        if given.occasion > FIRST_OCCASION {
            given.note = current_note(&self.events_of_key(key)?).cloned().unwrap_or_default();
        }
        self.retract(given.id, at_ms, source)?;
        Ok(Undo::TakenBack(given))
    }
}

impl Store {
    /// The last answer that this annotator gave in the window or by the command and that is not
    /// retracted, on any text, whatever was imported or merged after it. See
    /// [`given_answers`](dissensus_domain::given_answers).
    pub fn newest_given(&self, question: QuestionId, annotator: AnnotatorId) -> Result<Option<Event>> {
        self.read("looking for the newest answer", |c| newest_given(c, &[question], annotator))
    }
}

/// The last of [`given_answers`](dissensus_domain::given_answers) of these questions, without
/// reading all of them, since undo runs on the writing thread.
fn newest_given(
    c: &Connection,
    questions: &[QuestionId],
    annotator: AnnotatorId,
) -> rusqlite::Result<Option<Event>> {
    let latest = questions.iter().map(|question| latest_given(c, *question, annotator));
    let latest = latest.collect::<rusqlite::Result<Vec<_>>>()?;
    let Some(latest) = latest.into_iter().flatten().max_by_key(Event::order) else { return Ok(None) };
    // If the clock was set back since, the sequence numbers of the copy determine which answer was
    // given later.
    let mut later = c.prepare_cached(
        "SELECT e.id FROM copies AS c CROSS JOIN events AS e ON e.copy = c.id
         WHERE c.uid = ?1 AND e.sequence > ?2 AND e.annotator = ?3
         AND e.kind = 'answer' AND (e.source = 'window' OR e.source = 'command') ORDER BY e.sequence DESC",
    )?;
    let mut rows = later.query((latest.key.copy.0, latest.key.sequence, annotator.0))?;
    while let Some(row) = rows.next()? {
        if let Some(event) = unretracted(c, EventId(row.get(0)?))?.filter(|e| questions.contains(&e.question))
        {
            return Ok(Some(event));
        }
    }
    Ok(Some(latest))
}

/// The last given answer that is not retracted, by [`Event::order`].
fn latest_given(
    c: &Connection,
    question: QuestionId,
    annotator: AnnotatorId,
) -> rusqlite::Result<Option<Event>> {
    let mut by_time = c.prepare_cached(
        "SELECT e.id FROM events AS e INDEXED BY events_given CROSS JOIN copies AS c ON c.id = e.copy
         WHERE e.annotator = ?1 AND e.question = ?2 AND e.kind = 'answer' AND (e.source = 'window' OR e.source = 'command')
         ORDER BY e.at_ms DESC, c.uid DESC, e.sequence DESC",
    )?;
    let mut rows = by_time.query((annotator.0, question.0))?;
    while let Some(row) = rows.next()? {
        if let Some(event) = unretracted(c, EventId(row.get(0)?))? {
            return Ok(Some(event));
        }
    }
    Ok(None)
}

/// An answer, unless it was retracted.
fn unretracted(c: &Connection, id: EventId) -> rusqlite::Result<Option<Event>> {
    let mut rolled_back = c.prepare_cached(
        "SELECT 1 FROM events WHERE annotator = ?1 AND question = ?2 AND text = ?3
         AND kind = 'retraction' AND replaces = ?4",
    )?;
    let Some(event) = event_at(c, id)? else { return Ok(None) };
    let gone = rolled_back.exists((event.annotator.0, event.question.0, event.text.0, event.id.0))?;
    Ok((!gone).then_some(event))
}
