//! What a live model makes of one label, and says of one text.

use super::LiveModels;
use crate::levels::level_of;
use crate::sync::lock_or_reset;
use crate::view::TextPredictions;
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use dissensus_perspectives::LabelChange;

impl LiveModels {
    /// Lets the live model learn one change. Returns the revision of the predictions.
    pub(crate) fn learn(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        level: Option<u16>,
    ) -> u32 {
        let rows = {
            let index = self.context.index();
            index.text_row(text).zip(index.annotator_row(annotator))
        };
        let slot = self.models.slot(question);
        let mut slot = lock_or_reset(&slot);
        if let (Some(fitted), Some((text, annotator))) = (slot.as_mut(), rows)
            && !fitted.change(LabelChange { text, annotator, level })
        {
            // A model that cannot follow is worse than none; it is fitted anew from the labels when next wanted.
            *slot = None;
        }
        self.models.label_changed(question)
    }

    /// How the models see a text, before this annotator's answer is learned. `None` while no model is live.
    pub(crate) fn predictions_on(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Option<TextPredictions> {
        let (row, who) = {
            let index = self.context.index();
            (index.text_row(text)?, index.annotator_row(annotator)?)
        };
        let mut predictions = self.models.with(question, |fitted| fitted.predictions_on(row, who))??;
        let labels = self.context.store.current_labels_on(text, question).ok()?;
        let mut counts = vec![0.0_f32; predictions.others.len()];
        labels.iter().filter(|label| label.annotator != annotator).for_each(|label| {
            let level = level_of(&label.answer).map(usize::from);
            if let Some(count) = level.and_then(|level| counts.get_mut(level)) {
                *count += 1.0;
            }
        });
        let all: f32 = counts.iter().sum();
        predictions.observed = (all > 0.0).then(|| counts.iter().map(|count| count / all).collect());
        Some(predictions)
    }

    /// How much each text would teach the model of an annotator.
    pub(crate) fn bald(&self, question: QuestionId, annotator: AnnotatorId) -> Option<Vec<f32>> {
        let who = self.context.index().annotator_row(annotator)?;
        self.models.with(question, |fitted| fitted.bald(who)).flatten()
    }
}
