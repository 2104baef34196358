//! Labels of a run, and whether labels have changed since it started.

use super::Runs;
use crate::saved_runs::SavedRun;
use dissensus_domain::{Answer, CurrentLabel, QuestionId};
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
pub(super) fn labels_changed(cx: &Runs, kept: &SavedRun, question: QuestionId) -> Result<bool, ProjectError> {
    let now = labels_sha256(cx, question)?;
    Ok(kept.run.asked.data_sha256.as_ref().is_some_and(|then| *then != now))
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
            other => sum.update(format!("{other:?}")),
        }
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
