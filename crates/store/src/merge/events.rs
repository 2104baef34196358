//! Merges events, with the wordings and copies that they refer to.

use super::{Merger, NAMED, conflict};
use crate::appending::EventPosition;
use crate::events::{Key, NewEvent};
use crate::identity::is_of_content;
use crate::merge_known::SharedParts;
use crate::merge_report::Contradiction;
use crate::{Result, StoreError};
use dissensus_domain::{
    AnnotatorId, Event, EventId, EventKind, FIRST_OCCASION, LevelId, QuestionId, TextId, WordingId,
    unsuperseded_answers,
};

impl Merger<'_, '_> {
    /// Removes copies from `known` whose row ids mean something different here.
    pub(super) fn same_rows(&self, known: &mut SharedParts) {
        let moved = |pairs: &mut dyn Iterator<Item = (u32, u32)>| {
            pairs.filter(|(theirs, ours)| theirs != ours).map(|(theirs, _)| theirs).min().unwrap_or(u32::MAX)
        };
        let text = moved(&mut self.texts.iter().map(|(theirs, ours)| (theirs.0, ours.0)));
        let annotator = moved(&mut self.annotators.iter().map(|(theirs, ours)| (theirs.0, ours.0)));
        let same_levels = |question: &u32| {
            let id = QuestionId(*question);
            self.questions.get(&id) == Some(&id)
                && self
                    .rows
                    .get(&id)
                    .is_some_and(|rows| rows.iter().copied().eq((0..rows.len() as u16).map(LevelId)))
        };
        known.alike.retain(|_, alike| {
            alike.text < text && alike.annotator < annotator && alike.questions.iter().all(same_levels)
        });
    }

    /// Merges an event of any annotation round.
    pub(super) fn event(&mut self, theirs: Event) -> Result<()> {
        if self.withdrawn.contains_key(&theirs.annotator) {
            return Ok(());
        }
        self.check_note(theirs.note.check(), "note", theirs.at_ms)?;
        let (id, on) = (theirs.id, theirs.replaces().or(theirs.retracts()));
        let refers_to_differing = on.is_some_and(|on| self.differing.contains(&on));
        let about = self.about(&theirs);
        let event = match self.translated(theirs) {
            // The answer that it refers to is about something else here.
            Err(StoreError::Conflict { .. }) if refers_to_differing => {
                self.leave_out(id, about);
                return Ok(());
            }
            event => event?,
        };
        if event.occasion > FIRST_OCCASION {
            let asked = (event.text, event.occasion);
            let asked = self.only.as_ref().is_none_or(|only| only.again.contains(&asked));
            self.refuse_unassigned("repeated answer of round", &event.occasion.to_string(), asked)?;
        }
        let copy = self.copy(event.key.copy)?;
        if let Some(ours) = self.tx.event_with_key(copy, event.key.sequence)? {
            // The row id in the other file is meaningless; everything else must be equal.
            if (Event { id: event.id, ..ours.clone() }) != event {
                // In a submission, an already merged event was changed. In whole copies, each
                // merged one of two files with different events under the same key: each copy
                // retains its own, as otherwise neither could ever merge the other.
                if self.only.is_some() {
                    return Err(conflict("event", event.key.to_string(), "differs in the other copy"));
                }
                self.leave_out(id, about);
            } else {
                self.report.known += 1;
            }
            self.events.insert(event.id, ours.id);
            return Ok(());
        }
        self.in_time("event", event.at_ms)?;
        self.last = EventId(self.last.0.checked_add(1).ok_or_else(|| StoreError::Invalid {
            what: "project".to_owned(),
            why: "it holds as many events as a project can hold (4,294,967,295)".to_owned(),
        })?);
        let place = EventPosition { event: self.last.0, copy, sequence: event.key.sequence };
        let wording = self.wording(event.wording, event.question)?;
        let Event { question, text, annotator, occasion, at_ms, source, .. } = event;
        let Event { ref kind, ref note, guideline, .. } = event;
        let new =
            NewEvent { question, text, annotator, occasion, at_ms, source, kind, note, guideline, wording };
        self.tx.insert_event(place, &new)?;
        self.events.insert(event.id, self.last);
        self.changed.insert((question, text, annotator, occasion));
        match (occasion, kind) {
            (FIRST_OCCASION, _) => self.report.events += 1,
            (_, EventKind::Answer { .. }) => self.report.repeats += 1,
            _ => self.report.repeat_changes += 1,
        }
        Ok(())
    }

    /// Records contradicting first-round answers of one annotator that exist since this merge.
    pub(super) fn contradiction(&mut self, (question, text, annotator, occasion): Key) -> Result<()> {
        if occasion > FIRST_OCCASION {
            return Ok(());
        }
        let events = self.tx.events_on(question, text, annotator)?;
        let mut unsuperseded = unsuperseded_answers(&events);
        if unsuperseded.iter().all(|event| event.answer() == unsuperseded[0].answer()) {
            return Ok(());
        }
        self.report.contradicted += 1;
        if self.report.contradictions.len() < NAMED {
            unsuperseded.sort_by_key(|event| event.order());
            let answers = unsuperseded.into_iter().cloned().collect();
            self.report.contradictions.push(Contradiction { question, text, annotator, answers });
        }
        Ok(())
    }

    /// The row id here of a wording of this question in the other copy.
    pub(super) fn wording(&mut self, theirs: Option<WordingId>, question: QuestionId) -> Result<Option<u32>> {
        let Some(id) = theirs else { return Ok(None) };
        if let Some(row) = self.wordings.get(&(id, question)) {
            return Ok(Some(*row));
        }
        let other = || conflict("wording", id.to_string(), "does not match its name in the other copy");
        let wording = self.other.wording(id)?.ok_or_else(other)?;
        if self.only.is_some() {
            let asked = self.asked.get(&question).is_some_and(|(name, _)| *name == wording.question);
            let known = self.tx.wording_row(Some(id))?.is_some();
            let handed_out = asked && (known || self.tx.was_ever_worded(question, &wording)?);
            self.refuse_unassigned("wording of the question", &wording.question, handed_out)?;
        }
        let row = self.tx.add_wording(&wording)?;
        // The id of a wording is derived from its contents.
        if self.tx.wording_row(Some(id))? != Some(row) {
            return Err(other());
        }
        self.wordings.insert((id, question), row);
        Ok(Some(row))
    }

    /// The question, text and annotator of an event of the other copy, as ids here.
    pub(super) fn about(&self, theirs: &Event) -> Option<(QuestionId, TextId, AnnotatorId)> {
        let question = *self.questions.get(&theirs.question)?;
        Some((question, *self.texts.get(&theirs.text)?, *self.annotators.get(&theirs.annotator)?))
    }

    /// Leaves out an event that cannot be merged; events that depend on it are left out too.
    pub(super) fn leave_out(&mut self, theirs: EventId, about: Option<(QuestionId, TextId, AnnotatorId)>) {
        self.differing.insert(theirs);
        self.report.left_out += 1;
        if self.report.left_out_about.len() < NAMED {
            self.report.left_out_about.extend(about);
        }
    }

    /// Converts the row ids that an event of the other copy refers to; its own row id remains the
    /// other's.
    pub(super) fn translated(&self, theirs: Event) -> Result<Event> {
        let name = theirs.key.to_string();
        let unknown =
            || conflict("event", name.clone(), "points to something that the other copy does not have");
        let question = *self.questions.get(&theirs.question).ok_or_else(unknown)?;
        let text = *self.texts.get(&theirs.text).ok_or_else(unknown)?;
        let annotator = *self.annotators.get(&theirs.annotator).ok_or_else(unknown)?;
        let answer_here = |id: &EventId| -> Result<EventId> {
            // An event follows the answer that it refers to, so that has been merged before.
            let here = match self.events.get(id) {
                Some(here) => *here,
                None => self.known_event(*id)?.ok_or_else(unknown)?,
            };
            let named = self.tx.event(here)?.ok_or_else(unknown)?;
            let same = (named.question, named.text, named.annotator, named.occasion)
                == (question, text, annotator, theirs.occasion);
            match same && named.answer().is_some() {
                true => Ok(here),
                false => Err(conflict("event", name.clone(), "names an answer to something else")),
            }
        };
        let kind = match theirs.kind {
            EventKind::Answer { answer, duration_ms, replaces } => {
                let answer = self.answer_here(theirs.question, answer);
                let fits = self.asked.get(&question).map_or(Ok(()), |(_, scale)| answer.check(scale));
                fits.map_err(|source| self.tx.off_scale(question, source))?;
                self.tx.spans_within(question, text, &answer)?;
                let replaces = replaces.as_ref().map(answer_here).transpose()?;
                EventKind::Answer { answer, duration_ms, replaces }
            }
            EventKind::Retraction { of } => EventKind::Retraction { of: answer_here(&of)? },
            mark => mark,
        };
        Ok(Event { question, text, annotator, kind, ..theirs })
    }

    /// The row id here of an event of the other copy that was not read, because both copies have
    /// it.
    pub(super) fn known_event(&self, theirs: EventId) -> Result<Option<EventId>> {
        let Some(Event { key, .. }) = self.other.event(theirs)? else { return Ok(None) };
        let sql = "SELECT e.id FROM copies AS c JOIN events AS e ON e.copy = c.id WHERE c.uid = ?1 AND e.sequence = ?2";
        self.tx.first(sql, (key.copy.0, key.sequence), |r| Ok(EventId(r.get(0)?)))
    }

    pub(super) fn copy(&mut self, copy: dissensus_domain::CopyId) -> Result<u32> {
        if let Some(row) = self.copies.get(&copy) {
            return Ok(*row);
        }
        if !is_of_content(copy) && !self.tx.has_copy(copy)? {
            self.new_copies.push(copy);
        }
        let made_at_ms = self.other.copy_made_at(copy)?;
        self.in_time("beginning of the work", made_at_ms)?;
        let row = self.tx.copy_row(copy, made_at_ms)?;
        self.copies.insert(copy, row);
        Ok(row)
    }
}
