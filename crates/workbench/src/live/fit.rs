//! Fitting a live model: from what the project keeps, or from the labels.

use super::LiveModels;
use super::fitted::{Fitted, MODEL, REFIT_AFTER};
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::Progress;
use crate::levels::level_of;
use crate::sync::{lock, lock_or_reset};
use dissensus_domain::{AnnotatorId, EventId, QuestionId, TextId};
use dissensus_perspectives::{
    AnnotatorModel as _, Embeddings, FitOptions, LabelChange, LiveModel, Observation, Target, TrainingData,
};
use std::collections::BTreeSet;

/// More events than this at once are no clicks.
const EVENTS_AT_ONCE: u32 = 2_000;
/// How often a model that was just fitted catches up before labels have to wait for it. Each round has less to learn.
const ROUNDS_BEFORE_THE_LOCK: usize = 5;

impl LiveModels {
    /// Makes sure that the model of a question is live: kept from the last time and brought up to date, or fitted.
    ///
    /// # Errors
    /// The file cannot be read, or a cancel.
    pub fn fit(&self, question: QuestionId, progress: &dyn Progress) -> Result<(), WorkbenchError> {
        self.make_live(question, false, progress)
    }

    /// Fits the model of a question on all labels, whatever there was, and keeps it in the project.
    ///
    /// # Errors
    /// As [`LiveModels::fit`].
    pub fn fit_anew(&self, question: QuestionId, progress: &dyn Progress) -> Result<(), WorkbenchError> {
        self.make_live(question, true, progress)
    }

    /// Makes the model live: the one in memory, the one kept in the project, or a new fit.
    pub(super) fn make_live(
        &self,
        question: QuestionId,
        anew: bool,
        progress: &dyn Progress,
    ) -> Result<(), WorkbenchError> {
        // One fit of a question at a time; whoever waited finds it done.
        let gate = self.models.gate(question);
        let _gate = lock(&gate);
        let (embeddings, version) = self.encoding.embeddings()?;
        let live =
            |fitted: &mut Fitted| fitted.version == version && fitted.model.texts() == embeddings.texts;
        if !anew && self.models.with(question, live) == Some(true) {
            return Ok(());
        }
        let target = {
            let index = self.context.index();
            let scale = &index.question(question).ok_or(WorkbenchError::NoQuestion)?.scale;
            Target { kind: scale.kind(), levels: scale.len() }
        };
        let kept =
            if anew { None } else { self.kept(question, version.as_deref(), target, embeddings.texts)? };
        let (fit, fresh) = match kept {
            Some(kept) => (kept, false),
            None => (self.fitted(question, target, &embeddings, progress)?, true),
        };
        let Fit { mut model, labels, at_ms: fitted_at_ms, mut seen, mut learned } = fit;
        // Labels wait for the lock of the slot: nearly all that came while this was fitted is learned before it is taken.
        for _ in 0..ROUNDS_BEFORE_THE_LOCK {
            match self.catch_up(question, &mut model, &mut seen)? {
                0 => break,
                changes => learned += changes,
            }
        }
        // With the slot locked no label is learned by anybody else.
        let slot = self.models.slot(question);
        let mut slot = lock_or_reset(&slot);
        learned += self.catch_up(question, &mut model, &mut seen)?;
        *slot = Some(Fitted { model, version, labels, changes: 0, learned, fitted_at_ms, filtered: None });
        drop(slot);
        if fresh {
            self.keep_head(question);
        }
        self.context.listeners.send(&Event::Model { question, revision: self.models.bump() });
        Ok(())
    }

    /// The model kept in the project, if it fits and most of the labels are in it.
    fn kept(
        &self,
        question: QuestionId,
        version: Option<&str>,
        target: Target,
        texts: usize,
    ) -> Result<Option<Fit>, WorkbenchError> {
        let Some(head) = self.context.store.head(question, version, MODEL)? else { return Ok(None) };
        // Bytes that cannot be read any more are no loss: the model is fitted from the labels.
        let Ok(mut model) = LiveModel::from_bytes(&head.weights) else { return Ok(None) };
        if model.texts() != texts
            || model.target() != target
            || model.annotators() > self.context.index().annotators().len()
        {
            return Ok(None);
        }
        let seen = self.context.store.last_event()?;
        let labels = self.context.observations_in(&self.context.index(), texts, question)?;
        let changes = differences(model.observations(), labels.clone());
        if changes.len() > REFIT_AFTER.max(labels.len() / 20) {
            return Ok(None);
        }
        let fitted_on = model.labels();
        model.apply_changes(&changes)?;
        let learned = changes.len() as u32;
        Ok(Some(Fit { model, labels: fitted_on, at_ms: head.made_at_ms, seen, learned }))
    }

    fn fitted(
        &self,
        question: QuestionId,
        target: Target,
        embeddings: &Embeddings,
        progress: &dyn Progress,
    ) -> Result<Fit, WorkbenchError> {
        let index = self.context.index();
        let seen = self.context.store.last_event()?;
        let observations = self.context.observations_in(&index, embeddings.texts, question)?;
        let annotators = index.annotators().len();
        let data =
            TrainingData { embeddings, observations: &observations, annotators, target, attributes: &[] };
        let model = LiveModel::fit(&data, &FitOptions::default(), progress)?;
        Ok(Fit { model, labels: observations.len(), at_ms: now_ms(), seen, learned: 0 })
    }

    /// Lets a model that is not live yet learn what happened after the event `seen`. Returns how many labels it learned.
    ///
    /// What is current is read from the project, so it does not matter whether the model has seen an event already.
    fn catch_up(
        &self,
        question: QuestionId,
        model: &mut LiveModel,
        seen: &mut EventId,
    ) -> Result<u32, WorkbenchError> {
        let context = &self.context;
        let index = context.index();
        while model.annotators() < index.annotators().len() {
            model.add_annotator();
        }
        let events = context.store.events_since(*seen, EVENTS_AT_ONCE)?;
        let Some(last) = events.last() else { return Ok(0) };
        *seen = last.id;
        let changes = if events.len() == EVENTS_AT_ONCE as usize {
            // An import: read as a whole.
            *seen = context.store.last_event()?;
            let labels = context.observations_in(&index, model.texts(), question)?;
            differences(model.observations(), labels)
        } else {
            let keys: BTreeSet<(TextId, AnnotatorId)> =
                events.iter().filter(|e| e.question == question).map(|e| (e.text, e.annotator)).collect();
            let mut changes = Vec::with_capacity(keys.len());
            for (text, annotator) in keys {
                let label = context.store.current_label(question, text, annotator)?;
                let level = label.and_then(|label| level_of(&label.answer));
                if let (Some(text), Some(annotator)) = (index.text_row(text), index.annotator_row(annotator))
                    && (text as usize) < model.texts()
                    && model.label(text, annotator) != level
                {
                    changes.push(LabelChange { text, annotator, level });
                }
            }
            changes
        };
        model.apply_changes(&changes)?;
        Ok(changes.len() as u32)
    }
}

/// A model that is to become live.
struct Fit {
    model: LiveModel,
    /// Labels it was fitted on.
    labels: usize,
    /// When it was fitted, or kept in the project.
    at_ms: i64,
    /// Events up to this one are in it, and perhaps some more.
    seen: EventId,
    /// Labels learned since it was fitted.
    learned: u32,
}

/// What turns the first labels into the second.
fn differences(mut from: Vec<Observation>, mut to: Vec<Observation>) -> Vec<LabelChange> {
    let key = |o: &Observation| (o.text, o.annotator);
    from.sort_unstable_by_key(key);
    to.sort_unstable_by_key(key);
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    let mut before = from.iter().peekable();
    for after in &to {
        while let Some(lost) = before.next_if(|before| key(before) < key(after)) {
            gone.push(LabelChange { text: lost.text, annotator: lost.annotator, level: None });
        }
        let same = before.next_if(|before| key(before) == key(after));
        if same.map(|before| before.level) != Some(after.level) {
            new.push(LabelChange { text: after.text, annotator: after.annotator, level: Some(after.level) });
        }
    }
    gone.extend(before.map(|lost| LabelChange { text: lost.text, annotator: lost.annotator, level: None }));
    gone.extend(new);
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn o(text: u32, annotator: u32, level: u16) -> Observation {
        Observation { text, annotator, level }
    }

    #[test]
    fn differences_say_what_was_added_changed_and_taken_back() {
        let changes =
            differences(vec![o(0, 0, 1), o(1, 0, 1), o(2, 0, 1)], vec![o(3, 1, 0), o(0, 0, 1), o(1, 0, 2)]);
        let expected = [(2, 0, None), (1, 0, Some(2)), (3, 1, Some(0))];
        let expected = expected.map(|(text, annotator, level)| LabelChange { text, annotator, level });
        assert_eq!(changes, expected);
    }
}
