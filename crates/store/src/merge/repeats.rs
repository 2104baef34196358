//! Merges re-annotations, with their notes, origins and changes.

use super::{Merger, conflict};
use crate::Result;
use crate::repeat::Repeat;
use crate::repeats::RepeatAdded;
use dissensus_domain::{AnnotatorId, QuestionId, TextId};

impl Merger<'_, '_> {
    pub(super) fn repeat(&mut self, theirs: Repeat) -> Result<()> {
        if self.withdrawn.contains_key(&theirs.annotator) {
            return Ok(());
        }
        let ours = self.translated_repeat(theirs)?;
        self.in_time("repeated answer", ours.at_ms)?;
        let asked = self.only.as_ref().is_none_or(|only| only.again.contains(&(ours.text, ours.occasion)));
        self.refuse_unassigned("repeated answer of occasion", &ours.occasion.to_string(), asked)?;
        if self.tx.insert_repeat(&ours, true)? == RepeatAdded::New {
            self.report.repeats += 1;
            self.new_repeats.insert(place_of(&ours));
        }
        Ok(())
    }

    /// Merges the origin of a re-annotation, and the wording under which it was given.
    pub(super) fn repeat_origin(&mut self, theirs: Repeat) -> Result<()> {
        if self.withdrawn.contains_key(&theirs.annotator) {
            return Ok(());
        }
        let ours = self.translated_repeat(theirs)?;
        self.wording(ours.wording, ours.question)?;
        if self.only.is_some() {
            // A submission states it once, together with the answer.
            let known = self.tx.wording_of_repeat(&ours)?;
            let same = known.is_none() || ours.wording.is_none() || known == ours.wording;
            self.refuse_unassigned("other wording of an answer of occasion", &ours.occasion.to_string(), same)?;
        }
        self.tx.add_repeat_origin(&ours)
    }

    pub(super) fn translated_repeat(&self, theirs: Repeat) -> Result<Repeat> {
        let unknown = || {
            conflict(
                "repeat",
                theirs.at_ms.to_string(),
                "points to something that the other copy does not have",
            )
        };
        Ok(Repeat {
            question: *self.questions.get(&theirs.question).ok_or_else(unknown)?,
            text: *self.texts.get(&theirs.text).ok_or_else(unknown)?,
            annotator: *self.annotators.get(&theirs.annotator).ok_or_else(unknown)?,
            answer: self.answer_here(theirs.question, theirs.answer),
            ..theirs
        })
    }
}

/// Identifies a re-annotation: question, text, annotator, annotation round, time.
pub(super) type RepeatPlace = (QuestionId, TextId, AnnotatorId, u16, i64);

pub(super) fn place_of(repeat: &Repeat) -> RepeatPlace {
    (repeat.question, repeat.text, repeat.annotator, repeat.occasion, repeat.at_ms)
}
