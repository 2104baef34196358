//! The live models in memory, one for each question, each behind its own lock.

use super::fitted::{Fitted, add_annotators};
use dissensus_domain::{Annotator, QuestionId};
use dissensus_project::sync::{lock, lock_or_reset};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

pub(super) type Slot = Arc<Mutex<Option<Fitted>>>;

/// Models, and a count of changes of predictions.
#[derive(Default)]
pub struct Models {
    slots: Mutex<HashMap<QuestionId, Slot>>,
    /// One fit per question at a time; a caller that waited finds it done.
    fitting: Mutex<HashMap<QuestionId, Arc<Mutex<()>>>>,
    revision: AtomicU32,
    /// The revision at which a label of a question changed last, since everything was dropped.
    labels_changed: Mutex<HashMap<QuestionId, u32>>,
    /// The revision at which names or attributes of people changed last.
    people_changed: AtomicU32,
    /// How often everything was dropped.
    generation: AtomicU32,
    /// The revision at which fitting a question failed: it is not tried again before some more labels.
    failed: Mutex<HashMap<QuestionId, u32>>,
}

impl Models {
    pub(super) fn slot(&self, question: QuestionId) -> Slot {
        Arc::clone(lock(&self.slots).entry(question).or_default())
    }

    /// Applies `read` to the live model of a question; `None` if there is none.
    pub fn with<T>(&self, question: QuestionId, read: impl FnOnce(&mut Fitted) -> T) -> Option<T> {
        let slot = self.slot(question);
        // A model that was being updated when a thread panicked is dropped, and fitted again when it is next
        // needed.
        let mut slot = lock_or_reset(&slot);
        slot.as_mut().map(read)
    }

    /// Increases whenever a prediction of any question changes.
    pub fn revision(&self) -> u32 {
        self.revision.load(Ordering::Relaxed)
    }

    /// Increases whenever everything is dropped, because labels or texts changed more than can be followed.
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    pub(super) fn next_revision(&self) -> u32 {
        self.revision.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Records that a label of each of these questions changed, all at once; returns the revision of the
    /// predictions since then.
    pub(super) fn labels_of_all_changed(&self, questions: &[QuestionId]) -> u32 {
        let revision = self.next_revision();
        lock(&self.labels_changed).extend(questions.iter().map(|question| (*question, revision)));
        revision
    }

    /// The revision at which a label of this question changed last; 0 if none has since everything was
    /// dropped ([`Models::generation`]).
    pub fn labels_changed(&self, question: QuestionId) -> u32 {
        lock(&self.labels_changed).get(&question).copied().unwrap_or_default()
    }

    /// The revision at which a label of this question, or a name or an attribute of a person, changed last.
    pub fn labels_or_people_changed(&self, question: QuestionId) -> u32 {
        self.labels_changed(question).max(self.people_changed.load(Ordering::Relaxed))
    }

    /// Records that names or attributes of people changed.
    pub fn note_changed_people(&self) {
        let revision = self.next_revision();
        self.people_changed.fetch_max(revision, Ordering::Relaxed);
    }

    /// Adds people to the models; they start as the average person, or as expected for their groups.
    /// A refit is due with the next label if attributes differ too much from those of the fit.
    pub fn add_annotators(&self, annotators: &[Annotator]) {
        let slots: Vec<Slot> = lock(&self.slots).values().cloned().collect();
        for slot in slots {
            if let Some(fitted) = lock_or_reset(&slot).as_mut() {
                fitted.kept.people_changed();
                fitted.follow_attributes(annotators);
                add_annotators(&mut fitted.model, annotators);
            }
        }
        self.next_revision();
    }

    /// Drops all models; each is fitted anew when it is next needed.
    pub(super) fn invalidate_all(&self) {
        // First, so that a reader of an empty slot sees this change.
        self.generation.fetch_add(1, Ordering::Relaxed);
        lock(&self.slots).clear();
        lock(&self.failed).clear();
        self.next_revision();
    }

    /// Drops the models of a question whose levels were added, removed or moved, after the index has the new
    /// ones: a model that is being fitted on the earlier levels is then dropped when it is finished.
    pub(super) fn drop_of(&self, question: QuestionId) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        lock(&self.slots).retain(|known, _| known.row() != question.row());
        lock(&self.failed).retain(|known, _| known.row() != question.row());
        self.next_revision();
    }

    /// Locked while the model of a question is fitted.
    pub(super) fn gate(&self, question: QuestionId) -> Arc<Mutex<()>> {
        Arc::clone(lock(&self.fitting).entry(question).or_default())
    }

    /// Questions that have, or had, a live model.
    pub(super) fn questions(&self) -> Vec<QuestionId> {
        lock(&self.slots).keys().copied().collect()
    }

    /// Records whether a question could be fitted.
    pub(super) fn note_fit(&self, question: QuestionId, fitted: bool) {
        let mut failed = lock(&self.failed);
        if fitted {
            failed.remove(&question);
        } else {
            failed.insert(question, self.revision());
        }
    }

    /// Whether fitting a question failed, with fewer than `changes` changes since.
    pub(super) fn failed_within(&self, question: QuestionId, changes: u32) -> bool {
        let failed = lock(&self.failed).get(&question).copied();
        failed.is_some_and(|at| self.revision().wrapping_sub(at) < changes)
    }
}
