//! Labels of a run, and whether labels have changed since it started.

use super::Runs;
use crate::saved_runs::SavedRun;
use dissensus_domain::{Answer, CurrentLabel, LevelId, QuestionId, Scale, Span, SpanSet};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use dissensus_stats::data::Observation;
use dissensus_store::{RunLabel, RunPart};
use sha2::{Digest, Sha256};

/// SHA-256 of a question's current labels, in hexadecimal. Cached until a label is recorded or
/// retracted, because a run at work asks for it twice a second.
pub fn labels_sha256(cx: &Runs, question: QuestionId) -> Result<String, ProjectError> {
    let last = cx.context.store.last_event()?;
    if let Some((_, sum)) = lock(&cx.at_work.sums).get(&question).filter(|(at, _)| *at == last) {
        return Ok(sum.clone());
    }
    let sum = sha256_of(cx.context.store.current_labels(question)?);
    lock(&cx.at_work.sums).insert(question, (last, sum.clone()));
    Ok(sum)
}

/// Whether the labels differ from those at the start of the run.
pub(super) fn labels_changed(cx: &Runs, kept: &SavedRun) -> Result<bool, ProjectError> {
    let Some(then) = &kept.run.asked.data_sha256 else { return Ok(false) };
    let question = kept.choices.question;
    if labels_sha256(cx, question)? == *then {
        return Ok(false);
    }
    if !kept.by_position || !cx.kept.has_same_scale(kept)? {
        return Ok(true);
    }
    // An earlier version named each level by its position, which is another number than its id where levels
    // had been moved before the run.
    let index = cx.context.index();
    let Some(scale) = index.question(question).map(|question| &question.scale) else { return Ok(true) };
    let mut labels = cx.context.store.current_labels(question)?;
    labels.iter_mut().for_each(|label| label.answer = by_position(&label.answer, scale));
    Ok(sha256_of(labels) != *then)
}

/// An answer with the positions of its levels in place of their ids.
fn by_position(answer: &Answer, scale: &Scale) -> Answer {
    let position = |id: LevelId| scale.index_of_id(id).map_or(id, LevelId);
    match answer {
        Answer::Level(level) => Answer::Level(position(*level)),
        Answer::Options(set) => Answer::Options(scale.columns_of(*set)),
        Answer::Spans(spans) => {
            let spans = spans.as_slice().iter().map(|span| Span { kind: position(span.kind), ..*span });
            SpanSet::new(spans).map_or_else(|_| answer.clone(), Answer::Spans)
        }
        Answer::CannotSay => Answer::CannotSay,
    }
}

/// Labels of one part of a run, as rows of the arrays.
pub(super) fn rows_of(cx: &Runs, kept: &SavedRun, part: RunPart) -> Result<Vec<Observation>, ProjectError> {
    let index = cx.context.index();
    let observation = |label: &RunLabel| {
        Some(Observation {
            text: index.text_row(label.text)?,
            annotator: index.annotator_row(label.annotator)?,
            level: label.level,
        })
    };
    let labels = cx.context.store.run_labels(kept.run.id, part)?.labels;
    Ok(labels.iter().filter_map(observation).collect())
}

/// SHA-256 of current labels by their rows in this file.
pub fn sha256_of(mut labels: Vec<CurrentLabel>) -> String {
    labels.sort_unstable_by_key(|label| (label.text, label.annotator));
    let mut sum = Sha256::new();
    for label in labels {
        sum.update(label.text.0.to_le_bytes());
        sum.update(label.annotator.0.to_le_bytes());
        match label.answer {
            Answer::Level(level) => sum.update(level.0.to_le_bytes()),
            // As when up to six options were stored as the bits of a level, so that the hash of those runs
            // does not change.
            Answer::Options(set) if set.bits() < 1 << 16 => sum.update((set.bits() as u16).to_le_bytes()),
            // As earlier versions wrote them, with the number of the type.
            Answer::Spans(spans) => {
                let span = |Span { start, end, kind }: &Span| {
                    format!("Span {{ start: {start}, end: {end}, kind: {} }}", kind.0)
                };
                let spans: Vec<String> = spans.as_slice().iter().map(span).collect();
                sum.update(format!("Spans(SpanSet([{}]))", spans.join(", ")));
            }
            other => sum.update(format!("{other:?}")),
        }
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::{AnnotatorId, EventId, ScaleKind, TextId};

    fn label(text: u32, annotator: u32, answer: Answer) -> CurrentLabel {
        CurrentLabel { id: EventId(text), text: TextId(text), annotator: AnnotatorId(annotator), answer }
    }

    fn spans(spans: &[(u32, u32, u16)]) -> Answer {
        let span =
            |(start, end, kind): &(u32, u32, u16)| Span { start: *start, end: *end, kind: LevelId(*kind) };
        Answer::Spans(SpanSet::new(spans.iter().map(span)).unwrap())
    }

    #[test]
    fn hash_of_spans_is_that_of_earlier_versions() {
        let labels = vec![label(4, 2, spans(&[])), label(3, 1, spans(&[(0, 4, 1), (6, 9, 0)]))];
        let earlier = "e96630fa565d8f740ea25ef3e106a9b8ff58074536a188549dc0d7bc6294f30f";
        assert_eq!(sha256_of(labels), earlier);
    }

    #[test]
    fn answers_of_earlier_versions_name_levels_by_position() {
        let ids = [2, 0, 1].map(LevelId).to_vec();
        let scale = Scale::with_ids(ScaleKind::Choice, ["a", "b", "c"], ids).unwrap();
        assert_eq!(by_position(&Answer::Level(LevelId(2)), &scale), Answer::Level(LevelId(0)));
        assert_eq!(by_position(&spans(&[(0, 4, 0), (6, 9, 1)]), &scale), spans(&[(0, 4, 1), (6, 9, 2)]));
        let options = Answer::Options([0, 2].into_iter().collect());
        assert_eq!(by_position(&options, &scale), Answer::Options([0, 1].into_iter().collect()));
        assert_eq!(by_position(&Answer::CannotSay, &scale), Answer::CannotSay);
    }
}
