//! How well everyone is predicted on held-out texts: measured once, cached in memory while little changes,
//! and stored in the project for the next session.

use super::Analysis;
use super::caches::HeldOutResults;
use dissensus_domain::QuestionId;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::log::go_on;
use dissensus_project::sync::lock;
use dissensus_selection::evaluation::{HeldOut, held_out};
use dissensus_stats::data::{FitOptions, Observation, Target, TrainingData};
use dissensus_store::{Head, NewHead};
use dissensus_training::encoding::Basis;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;

/// Held-out figures are measured anew after so many changes, or after a twentieth of the labels, whichever
/// is more.
const MEASURE_AFTER: usize = 20;

/// Name and format of the figures among the small models that are stored in the project.
const KEPT: &str = "held-out";
const FORMAT: u32 = 1;

/// Figures as stored in the project. They are used for exactly the labels that they were measured on.
#[derive(Serialize, Deserialize)]
struct StoredFigures {
    format: u32,
    texts: usize,
    annotators: usize,
    /// SHA-256 of the labels.
    labels: String,
    left_out: usize,
    results: Vec<HeldOut>,
}

/// How well everyone is predicted on held-out texts, if it was measured and little has changed since:
/// results by annotator, and the number of labelled texts that were not scored. `labels` are those of
/// `generation`, see [`dissensus_training::live::Models::generation`], or newer ones.
pub(super) fn known_held_out(
    cx: &Analysis,
    generation: u32,
    question: QuestionId,
    labels: &[Observation],
) -> Result<Option<(Vec<HeldOut>, usize)>, ProjectError> {
    let (_, basis) = cx.encoding.embeddings()?;
    stored_held_out(cx, generation, question, labels, &basis)
}

/// The result that an earlier session measured on the same labels with the same embeddings.
fn held_out_in_project(
    cx: &Analysis,
    question: QuestionId,
    labels: &[Observation],
    basis: &Basis,
) -> Result<Option<StoredFigures>, ProjectError> {
    if !basis.is_complete() {
        return Ok(None);
    }
    let head = cx.context.store.head(question, basis.version.as_deref(), KEPT)?;
    let (texts, annotators) = cx.context.sizes();
    // A result that cannot be read is measured again.
    let read = |head: Head| serde_json::from_slice::<StoredFigures>(&head.weights).ok();
    Ok(head.and_then(read).filter(|kept| {
        (kept.format, kept.texts, kept.annotators) == (FORMAT, texts, annotators)
            && kept.results.len() == annotators
            && kept.labels == hash_of(labels)
    }))
}

fn store_held_out(cx: &Analysis, question: QuestionId, labels: &[Observation], measured: &HeldOutResults) {
    if cx.context.store.is_reader() || !measured.basis.is_complete() {
        return;
    }
    let kept = StoredFigures {
        format: FORMAT,
        texts: cx.context.sizes().0,
        annotators: measured.annotators,
        labels: hash_of(labels),
        left_out: measured.left_out,
        results: measured.results.clone(),
    };
    let Ok(weights) = serde_json::to_vec(&kept) else { return };
    let index = cx.context.index();
    let levels = index.question(question).map(|asked| asked.scale.ids().to_vec()).unwrap_or_default();
    let version = measured.basis.version.clone();
    let new = NewHead { question, version, model: KEPT.to_owned(), made_at_ms: now_ms(), weights };
    // If they cannot be stored, the next session measures them again.
    go_on("keeping held-out figures", cx.context.store.put_head(new, &levels));
}

/// Lets a test delay a measurement.
#[cfg(any(test, feature = "test-hooks"))]
pub fn delay_measurement(cx: &Analysis, question: QuestionId) -> std::sync::Arc<std::sync::Mutex<()>> {
    cx.measurements.gate(question)
}

fn stored_held_out(
    cx: &Analysis,
    generation: u32,
    question: QuestionId,
    labels: &[Observation],
    basis: &Basis,
) -> Result<Option<(Vec<HeldOut>, usize)>, ProjectError> {
    let annotators = cx.context.sizes().1;
    let fits = |kept: &HeldOutResults| {
        let same = kept.generation == generation && kept.annotators == annotators && kept.basis == *basis;
        same && count_changes(&kept.labels, labels) < MEASURE_AFTER.max(kept.labels.len() / 20)
    };
    let in_memory = lock(&cx.measurements.kept)
        .get(&question)
        .filter(|kept| fits(kept))
        .map(|kept| (kept.results.clone(), kept.left_out));
    if in_memory.is_some() {
        return Ok(in_memory);
    }
    let Some(found) = held_out_in_project(cx, question, labels, basis)? else { return Ok(None) };
    let measured = HeldOutResults {
        generation,
        labels: sorted(labels),
        annotators,
        basis: basis.clone(),
        results: found.results.clone(),
        left_out: found.left_out,
    };
    lock(&cx.measurements.kept).insert(question, measured);
    Ok(Some((found.results, found.left_out)))
}

/// How well all labels of held-out texts are predicted, over all annotators together, and the number of
/// labelled texts that were not scored.
///
/// # Errors
/// The file cannot be read, or cancellation.
pub(crate) fn held_out_in_all(
    cx: &Analysis,
    question: QuestionId,
    progress: &dyn Progress,
) -> Result<(HeldOut, usize), ProjectError> {
    let generation = cx.live.models.generation();
    let (_, target) = cx.context.question_parts(question)?;
    let labels = cx.context.observations(question)?;
    let (each, left_out) = measure_held_out(cx, generation, question, &labels, target, progress)?;
    let add = |sum: HeldOut, one: &HeldOut| HeldOut {
        labels: sum.labels + one.labels,
        hits: sum.hits + one.hits,
        baseline_hits: sum.baseline_hits + one.baseline_hits,
        common_hits: sum.common_hits + one.common_hits,
        distance: sum.distance + one.distance,
        baseline_distance: sum.baseline_distance + one.baseline_distance,
        common_distance: sum.common_distance + one.common_distance,
    };
    Ok((each.iter().fold(HeldOut::default(), add), left_out))
}

/// Measures how well everyone is predicted on held-out texts, unless [`known_held_out`] has
/// the result.
///
/// # Errors
/// The file cannot be read, or cancellation. Nothing is stored then.
pub(super) fn measure_held_out(
    cx: &Analysis,
    generation: u32,
    question: QuestionId,
    labels: &[Observation],
    target: Target,
    progress: &dyn Progress,
) -> Result<(Vec<HeldOut>, usize), ProjectError> {
    let (embeddings, basis) = cx.encoding.embeddings()?;
    let annotators = cx.context.sizes().1;
    let gate = cx.measurements.gate(question);
    let _gate = lock(&gate);
    cx.context.fail_here("measure");
    if let Some(known) = stored_held_out(cx, generation, question, labels, &basis)? {
        return Ok(known);
    }
    let seen = cx.encoding.seen_by(basis.version.as_deref(), &cx.context.index())?;
    let seen_texts = seen.rows().texts;
    let left_out: HashSet<u32> =
        labels.iter().map(|o| o.text).filter(|t| seen_texts.get(*t as usize) == Some(&true)).collect();
    let left_out = left_out.len();
    let data =
        TrainingData { embeddings: &embeddings, observations: labels, annotators, target, attributes: &[] };
    let results = match labels.len() {
        0 | 1 => vec![HeldOut::default(); annotators],
        _ => held_out(&data, seen.rows(), &FitOptions::default(), progress)?,
    };
    let measured = HeldOutResults {
        generation,
        labels: sorted(labels),
        annotators,
        basis,
        results: results.clone(),
        left_out,
    };
    store_held_out(cx, question, labels, &measured);
    lock(&cx.measurements.kept).insert(question, measured);
    Ok((results, left_out))
}

fn key(label: &Observation) -> (u32, u32) {
    (label.text, label.annotator)
}

fn sorted(labels: &[Observation]) -> Vec<Observation> {
    let mut labels = labels.to_vec();
    labels.sort_unstable_by_key(key);
    labels
}

/// Number of labels that were added, changed or removed since `before`, which is sorted.
fn count_changes(before: &[Observation], now: &[Observation]) -> usize {
    let known = |label: &Observation| before.binary_search_by_key(&key(label), key).ok();
    let found: Vec<Option<&Observation>> =
        now.iter().map(|label| known(label).map(|at| &before[at])).collect();
    let changed =
        now.iter().zip(&found).filter(|(label, was)| was.is_none_or(|was| was.level != label.level));
    changed.count() + before.len() - found.iter().flatten().count()
}

fn hash_of(labels: &[Observation]) -> String {
    let mut hash = Sha256::new();
    for label in labels {
        hash.update(label.text.to_le_bytes());
        hash.update(label.annotator.to_le_bytes());
        hash.update(label.level.to_le_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_changed_and_removed_labels_are_counted() {
        let o = |text, annotator, level| Observation { text, annotator, level };
        let before = sorted(&[o(1, 0, 1), o(0, 0, 1), o(2, 0, 1)]);
        assert_eq!(count_changes(&before, &[o(2, 0, 1), o(0, 0, 1), o(1, 0, 1)]), 0);
        // One level is different, one label is gone, one is new.
        assert_eq!(count_changes(&before, &[o(3, 1, 0), o(0, 0, 1), o(1, 0, 2)]), 3);
    }
}
