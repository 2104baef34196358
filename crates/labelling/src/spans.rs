//! Spans that others marked in a text, for an annotator who has answered it.

use super::Labelling;
use dissensus_api::PersonSpans;
use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use dissensus_project::error::ProjectError;

/// Spans that everyone except `annotator` marked in a text, in the order of annotators; `None` where
/// the question has no spans.
pub(super) fn spans_of_others(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
    text: TextId,
) -> Result<Option<Vec<PersonSpans>>, ProjectError> {
    let index = cx.context.index();
    let of_spans = index.question(question).is_some_and(|q| q.scale.form().marks_words());
    if !of_spans {
        return Ok(None);
    }
    let labels = cx.context.store.current_labels_on(text, question)?;
    let mut people: Vec<PersonSpans> = Vec::new();
    for label in labels.into_iter().filter(|label| label.annotator != annotator) {
        let row = index.annotator_row(label.annotator);
        let who = row.and_then(|row| index.annotators().get(row as usize));
        if let (Some(who), Answer::Spans(spans)) = (who, label.answer) {
            people.push(PersonSpans { annotator: who.id, name: who.name.clone(), spans });
        }
    }
    people.sort_by_key(|person| person.annotator);
    Ok(Some(people))
}
