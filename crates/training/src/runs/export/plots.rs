//! Plots of runs.

use dissensus_api::RunDetail;
use dissensus_project::error::ProjectError;
use dissensus_render::plots;
use dissensus_render::plots::Line;

/// Validation loss over epochs, one line per run; none if no run was trained in steps.
pub(super) fn learning_curves(runs: &[RunDetail]) -> Result<Option<String>, ProjectError> {
    let line = |run: &RunDetail| -> Line {
        let points = run.info.epochs.iter().filter_map(|e| Some((e.epoch, e.validation_loss?)));
        (name(run), points.collect())
    };
    plots::lines(&runs.iter().map(line).collect::<Vec<_>>(), "epoch", "validation log loss")
        .map_err(Into::into)
}

/// Confidence against how often it was right, with the line of perfect calibration.
pub(super) fn calibration(run: &RunDetail) -> Result<Option<String>, ProjectError> {
    let points = run.calibration.iter().map(|bin| (bin.confidence, bin.accuracy)).collect();
    plots::in_unit_square(&[(name(run), points)], true, "confidence", "share right").map_err(Into::into)
}

/// Every annotator's accuracy against that of their most frequent level.
pub(super) fn annotators(run: &RunDetail) -> Result<Option<String>, ProjectError> {
    let points = run.annotators.iter().map(|a| (a.baseline, a.accuracy)).collect();
    plots::in_unit_square(&[(name(run), points)], false, "accuracy of the usual level", "accuracy")
        .map_err(Into::into)
}

/// The name of a run in a plot.
pub(super) fn name(run: &RunDetail) -> String {
    format!("{} {}, {}", run.info.id, run.info.model, super::tables::tuning(&run.info))
}
