//! What a person is shown of others after an answer, if the study reveals it: recorded before it is shown.

use super::Labelling;
use dissensus_api::{NewLabel, PersonSpans, TextPredictions};
use dissensus_domain::{AnnotatorId, QuestionId, Shown, TextId};
use dissensus_project::error::ProjectError;

/// Revealed data of others.
#[derive(Default)]
pub(super) struct Told {
    /// Predictions, and the distribution of others' labels.
    pub(super) predictions: Option<TextPredictions>,
    /// Spans marked by others.
    pub(super) spans: Option<Vec<PersonSpans>>,
}

impl Told {
    fn shown(&self) -> Shown {
        let observed = self.predictions.as_ref().is_some_and(|told| told.observed.is_some());
        let marked = self.spans.as_ref().is_some_and(|people| !people.is_empty());
        Shown { answers: observed || marked, predictions: self.predictions.is_some() }
    }
}

impl Labelling {
    /// What is shown next to a label that was just given.
    pub(super) fn told(
        &self,
        label: &NewLabel,
        predictions: Option<TextPredictions>,
    ) -> Result<Told, ProjectError> {
        self.told_on(label.annotator, label.question, label.text, predictions)
    }

    /// The revealed data on a text: `predictions`, and spans of others. When this returns, it is recorded.
    pub(super) fn told_on(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        predictions: Option<TextPredictions>,
    ) -> Result<Told, ProjectError> {
        let told = Told { predictions, spans: self.spans_of_others(annotator, question, text)? };
        self.context.record_shown(question, text, annotator, told.shown())?;
        Ok(told)
    }
}
