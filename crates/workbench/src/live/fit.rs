//! Fitting a live model: from what the project keeps, or from the labels.

use super::LiveModels;
use super::fitted::{Fitted, MODEL, REFIT_AFTER};
use super::steps::{Steps, cancelled};
use crate::clock::now_ms;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::Observer;
use crate::sync::{lock, lock_or_reset};
use dissensus_domain::QuestionId;
use dissensus_perspectives::{
    AnnotatorModel as _, Embeddings, FitOptions, LabelChange, LiveModel, Observation, Target, TrainingData,
};
use std::collections::BTreeMap;

impl LiveModels {
    /// Makes sure that the model of a question is live: kept from the last time and brought up to date, or fitted.
    ///
    /// # Errors
    /// The file cannot be read, or a cancel.
    pub fn fit(&self, question: QuestionId, observer: &dyn Observer) -> Result<(), WorkbenchError> {
        self.make_live(question, false, observer)
    }

    /// Fits the model of a question on all labels, whatever there was, and keeps it in the project.
    ///
    /// # Errors
    /// As [`LiveModels::fit`].
    pub fn fit_anew(&self, question: QuestionId, observer: &dyn Observer) -> Result<(), WorkbenchError> {
        self.make_live(question, true, observer)
    }

    /// Makes the model live: the one in memory, the one kept in the project, or a new fit.
    pub(super) fn make_live(
        &self,
        question: QuestionId,
        anew: bool,
        observer: &dyn Observer,
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
        let (mut model, fitted_at_ms, fresh) = match kept {
            Some((model, made_at_ms)) => (model, made_at_ms, false),
            None => (self.fitted(question, target, &embeddings, observer)?, now_ms(), true),
        };
        // With the slot locked no label is learned: what came while this was fitted is read from the project.
        let slot = self.models.slot(question);
        let mut slot = lock_or_reset(&slot);
        let index = self.context.index();
        while model.annotators() < index.annotators().len() {
            model.add_annotator();
        }
        let labels = self.context.observations_in(&index, model.texts(), question)?;
        let before = model.observations();
        let changes = differences(&before, &labels);
        let (fitted_on, learned) = (before.len(), changes.len() as u32);
        model.apply_changes(&changes)?;
        *slot = Some(Fitted {
            model,
            version,
            labels: fitted_on,
            changes: 0,
            learned,
            fitted_at_ms,
            filtered: None,
        });
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
    ) -> Result<Option<(LiveModel, i64)>, WorkbenchError> {
        let Some(head) = self.context.store.head(question, version, MODEL)? else { return Ok(None) };
        // Bytes that cannot be read any more are no loss: the model is fitted from the labels.
        let Ok(model) = LiveModel::from_bytes(&head.weights) else { return Ok(None) };
        if model.texts() != texts
            || model.target() != target
            || model.annotators() > self.context.index().annotators().len()
        {
            return Ok(None);
        }
        let labels = self.context.observations_in(&self.context.index(), texts, question)?;
        let changes = differences(&model.observations(), &labels).len();
        Ok((changes <= REFIT_AFTER.max(labels.len() / 20)).then_some((model, head.made_at_ms)))
    }

    fn fitted(
        &self,
        question: QuestionId,
        target: Target,
        embeddings: &Embeddings,
        observer: &dyn Observer,
    ) -> Result<LiveModel, WorkbenchError> {
        let index = self.context.index();
        let observations = self.context.observations_in(&index, embeddings.texts, question)?;
        let annotators = index.annotators().len();
        let data =
            TrainingData { embeddings, observations: &observations, annotators, target, attributes: &[] };
        LiveModel::fit(&data, &FitOptions::default(), &mut Steps(observer)).map_err(cancelled)
    }
}

/// What turns the first labels into the second.
fn differences(from: &[Observation], to: &[Observation]) -> Vec<LabelChange> {
    let key = |o: &Observation| (o.text, o.annotator);
    let before: BTreeMap<(u32, u32), u16> = from.iter().map(|o| (key(o), o.level)).collect();
    let after: BTreeMap<(u32, u32), u16> = to.iter().map(|o| (key(o), o.level)).collect();
    let change =
        |(&(text, annotator), level): (&(u32, u32), Option<u16>)| LabelChange { text, annotator, level };
    let gone = before.keys().filter(|key| !after.contains_key(key)).map(|key| change((key, None)));
    let new = after.iter().filter(|(key, level)| before.get(key) != Some(level));
    gone.chain(new.map(|(key, level)| change((key, Some(*level))))).collect()
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
            differences(&[o(0, 0, 1), o(1, 0, 1), o(2, 0, 1)], &[o(0, 0, 1), o(1, 0, 2), o(3, 1, 0)]);
        let expected = [(2, 0, None), (1, 0, Some(2)), (3, 1, Some(0))];
        let expected = expected.map(|(text, annotator, level)| LabelChange { text, annotator, level });
        assert_eq!(changes, expected);
    }
}
