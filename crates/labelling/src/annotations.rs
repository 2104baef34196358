//! The state of one annotator on one question, held in memory so that a click costs the same with ten
//! thousand labels.

use dissensus_api::Progress;
use dissensus_domain::{
    AnnotatorId, Answer, Event, QuestionId, TextId, current_answer, given_answers, marks,
};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use dissensus_store::Store;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

#[derive(Debug, Default, PartialEq)]
pub struct Annotations {
    /// The current answer of each labelled text.
    pub answers: HashMap<TextId, Answer>,
    /// Skipped texts, labelled or not.
    pub(crate) skipped: HashSet<TextId>,
    pub flagged: HashSet<TextId>,
    /// Texts with a note.
    pub noted: HashSet<TextId>,
    /// When each text was last answered in the window or with the command, in milliseconds since 1970-01-01
    /// UTC.
    given: HashMap<TextId, i64>,
}

impl Annotations {
    fn load(store: &Store, annotator: AnnotatorId, question: QuestionId) -> Result<Self, ProjectError> {
        let mut annotations = Self::default();
        for events in store.events_of(annotator, question)?.chunk_by(|a, b| a.text == b.text) {
            annotations.set(events);
        }
        Ok(annotations)
    }

    /// Updates the state of a text from all events of this annotator and question on it.
    pub(crate) fn set(&mut self, events: &[Event]) {
        let Some(Event { text, .. }) = events.first() else { return };
        match current_answer(events).and_then(Event::answer) {
            Some(answer) => self.answers.insert(*text, answer.clone()),
            None => self.answers.remove(text),
        };
        match given_answers(events).iter().map(|e| e.at_ms).max() {
            Some(at_ms) => self.given.insert(*text, at_ms),
            None => self.given.remove(text),
        };
        let marks = marks(events);
        let has_note = !marks.note.is_empty();
        let sets = [
            (&mut self.skipped, marks.skipped),
            (&mut self.flagged, marks.flagged),
            (&mut self.noted, has_note),
        ];
        for (set, holds) in sets {
            if holds {
                set.insert(*text)
            } else {
                set.remove(text)
            };
        }
    }

    /// Records an answer that is on disk.
    pub(crate) fn note_answer(&mut self, text: TextId, answer: &Answer, at_ms: i64) {
        self.answers.insert(text, answer.clone());
        self.given.insert(text, at_ms);
    }

    /// When a text was last answered in the window or with the command.
    pub(crate) fn given_at(&self, text: TextId) -> Option<i64> {
        self.given.get(&text).copied()
    }

    /// The texts that were last answered in the window or with the command after this time.
    pub(crate) fn given_after(&self, at_ms: i64) -> Vec<TextId> {
        self.given.iter().filter(|(_, at)| **at > at_ms).map(|(text, _)| *text).collect()
    }

    /// Progress: texts answered in all and since `today_ms`, out of `total`.
    pub(crate) fn progress(&self, today_ms: i64, total: usize) -> Progress {
        let skipped = self.skipped.iter().filter(|text| !self.answers.contains_key(text)).count();
        let today = self.given.values().filter(|at_ms| **at_ms >= today_ms).count();
        Progress {
            today: today as u32,
            done: self.answers.len() as u32,
            total: total as u32,
            skipped: skipped as u32,
            flagged: self.flagged.len() as u32,
            left_out: 0,
        }
    }
}

/// Shared annotations.
pub(crate) type SharedAnnotations = Arc<Mutex<Annotations>>;

/// Cache of annotations. It follows the events of the project, see [`super::feed`].
#[derive(Default)]
pub(crate) struct AnnotationCache(Mutex<HashMap<(AnnotatorId, QuestionId), SharedAnnotations>>);

impl AnnotationCache {
    /// The annotations of an annotator and a question, read from the project on first use.
    pub(crate) fn get(
        &self,
        store: &Store,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> Result<SharedAnnotations, ProjectError> {
        let mut in_use = lock(&self.0);
        if let Some(annotations) = in_use.get(&(annotator, question)) {
            return Ok(Arc::clone(annotations));
        }
        let annotations = Arc::new(Mutex::new(Annotations::load(store, annotator, question)?));
        in_use.insert((annotator, question), Arc::clone(&annotations));
        Ok(annotations)
    }

    /// The annotations of an annotator and a question, if cached.
    pub(crate) fn known(&self, annotator: AnnotatorId, question: QuestionId) -> Option<SharedAnnotations> {
        lock(&self.0).get(&(annotator, question)).cloned()
    }

    /// Clears the cache, so that everything is read again.
    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }
}
