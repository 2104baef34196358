//! Baselines on a run's test labels that do not read the texts.

use super::Runs;
use super::data::drawn_validation;
use super::list::plain_metrics;
use crate::runs::labels;
use crate::saved_runs::SavedRun;
use dissensus_api::RunBaseline;
use dissensus_domain::Scale;
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::{SplitSpec, baselines_of};
use dissensus_stats::data::{Observation, Target};
use dissensus_stats::metrics::annotator_baselines;
use dissensus_store::RunPart;
use std::collections::BTreeMap;

/// Labels of a run that are not scored, and those that are.
struct StoredLabels {
    train: Vec<Observation>,
    test: Vec<Observation>,
}

/// The baselines on a run's test labels, computed as in `evaluate`. Empty if the labels were not stored,
/// as in runs of format 1.
pub(super) fn baselines(cx: &Runs, kept: &SavedRun, scale: &Scale) -> Result<Vec<RunBaseline>, ProjectError> {
    let Some(StoredLabels { train, test }) = stored_labels(cx, kept, scale.len())? else {
        return Ok(Vec::new());
    };
    let target = Target::from_scale(scale);
    let found = baselines_of(&train, test, target)?.into_iter();
    Ok(found
        .map(|one| RunBaseline { name: one.model.clone(), metrics: plain_metrics(&one.scores) })
        .collect())
}

/// The baseline of each annotator, by row. The report has it too, but reports of earlier versions took
/// it from the test labels. Empty if the labels were not stored.
pub(super) fn baselines_by_annotator(
    cx: &Runs,
    kept: &SavedRun,
    levels: usize,
) -> Result<BTreeMap<u32, f64>, ProjectError> {
    let kept = stored_labels(cx, kept, levels)?;
    Ok(kept.map_or_else(BTreeMap::new, |kept| annotator_baselines(&kept.test, &kept.train, levels)))
}

/// Labels that are not scored, and those that are. Validation labels that were carved out of the
/// training labels count as labels from which a run has learned; those of the official split do not.
fn stored_labels(cx: &Runs, kept: &SavedRun, levels: usize) -> Result<Option<StoredLabels>, ProjectError> {
    let (mut train, test) =
        (labels::rows_of(cx, kept, RunPart::Train)?, labels::rows_of(cx, kept, RunPart::Test)?);
    if kept.choices.split != SplitSpec::Column || drawn_validation(kept) {
        train.extend(labels::rows_of(cx, kept, RunPart::Validation)?);
    }
    let on_scale = train.iter().chain(&test).all(|o| usize::from(o.level) < levels);
    Ok((!train.is_empty() && on_scale).then_some(StoredLabels { train, test }))
}
