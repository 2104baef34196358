//! What a person is shown of others after an answer, if the study reveals it: recorded before it is shown.

use super::Labelling;
use crate::spans;
use dissensus_api::{NewLabel, PersonSpans, TextPredictions};
use dissensus_domain::{AnnotatorId, QuestionId, Shown, TextId};
use dissensus_project::error::ProjectError;

/// Revealed data of others.
#[derive(Default)]
pub(super) struct Revealed {
    /// Predictions, and the distribution of others' labels.
    pub(super) predictions: Option<TextPredictions>,
    /// Spans marked by others.
    pub(super) spans: Option<Vec<PersonSpans>>,
}

impl Revealed {
    fn shown(&self) -> Shown {
        let observed = self.predictions.as_ref().is_some_and(|revealed| revealed.observed.is_some());
        let marked = self.spans.as_ref().is_some_and(|people| !people.is_empty());
        Shown { answers: observed || marked, predictions: self.predictions.is_some() }
    }
}

/// What is shown next to a label that was just given.
pub(super) fn reveal(
    cx: &Labelling,
    label: &NewLabel,
    predictions: Option<TextPredictions>,
) -> Result<Revealed, ProjectError> {
    reveal_on(cx, label.annotator, label.question, label.text, predictions)
}

/// The revealed data on a text: `predictions`, and spans of others. When this returns, it is recorded.
pub(super) fn reveal_on(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
    predictions: Option<TextPredictions>,
) -> Result<Revealed, ProjectError> {
    let revealed = Revealed { predictions, spans: spans::spans_of_others(cx, annotator, question, text)? };
    cx.context.record_shown(question, text, annotator, revealed.shown())?;
    Ok(revealed)
}
