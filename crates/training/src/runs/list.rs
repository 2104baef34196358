//! The list of runs.

use super::Runs;
use super::data::left_out_texts;
use crate::runs::labels;
use crate::runs::resumable;
use crate::saved_runs::SavedRun;
use dissensus_api::{RunInfo, RunMetric, RunScores};
use dissensus_domain::WorkState;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_stats::metrics::Report;
use dissensus_stats::metrics::Scores;
use dissensus_store::RunId;

/// Every training run, newest first.
pub fn list(cx: &Runs) -> Result<Vec<RunInfo>, ProjectError> {
    infos(cx, &cx.kept.all()?)
}

/// The entries of the list for these runs.
pub(crate) fn infos(cx: &Runs, kept: &[SavedRun]) -> Result<Vec<RunInfo>, ProjectError> {
    let predicts = cx.encoding.run_in_use()?;
    kept.iter()
        .map(|kept| {
            let changed = labels::labels_changed(cx, kept)?;
            info_of(cx, kept, changed, predicts)
        })
        .collect()
}

fn info_of(
    cx: &Runs,
    kept: &SavedRun,
    data_changed: bool,
    predicts: Option<u32>,
) -> Result<RunInfo, ProjectError> {
    let SavedRun { run, choices, outcome, epochs, .. } = kept;
    let live = cx.at_work.state(run.id.0);
    let finished = run.state == WorkState::Finished;
    let seconds = match (&live, finished) {
        (Some(live), _) => live.seconds,
        (None, true) => outcome.seconds,
        (None, false) => epochs.last().map_or(0.0, |epoch| epoch.seconds),
    };
    Ok(RunInfo {
        id: run.id.0,
        uid: run.uid.to_string(),
        question: choices.question,
        question_name: cx
            .context
            .index()
            .question(choices.question)
            .map_or_else(String::new, |question| question.name.clone()),
        model: choices.model,
        tuning: choices.tuning.clone(),
        layers: choices.layers,
        rank: choices.rank,
        vectors: choices.vectors,
        auxiliary: choices.auxiliary.len() as u32,
        joint: choices.joint.len() as u32,
        trained_with: {
            let mut numbers = cx.kept.joint_numbers(kept)?;
            numbers.retain(|number| *number != run.id.0);
            numbers
        },
        split: choices.split,
        seed: choices.seed,
        state: run.state,
        job: live.as_ref().map(|live| live.job),
        started_at: run.asked.started_ms as f64,
        seconds,
        device: if outcome.device.is_empty() { run.asked.device.clone() } else { outcome.device.clone() },
        epochs: epochs.clone(),
        epochs_planned: choices.epochs,
        seconds_left: live.as_ref().and_then(|live| live.seconds_left),
        scores: outcome.report.as_ref().map(|report| scores(report, left_out_texts(kept))),
        problem: outcome.problem.clone(),
        predicts: finished && predicts == Some(run.id.0),
        usable: finished && cx.kept.can_be_used(kept),
        data_changed,
        resumable: live.is_none() && resumable::cannot_resume(cx, kept)?.is_none(),
    })
}

/// Metrics for which lower is better.
const LOWER: [&str; 12] = [
    "log_loss",
    "brier",
    "ece",
    "soft_cross_entropy",
    "mae",
    "ranked_probability_score",
    "normalized_absolute_distance",
    "error_rate",
    "wasserstein",
    "wasserstein_probabilities",
    "manhattan",
    "manhattan_probabilities",
];

/// Whether a higher value of a metric is better.
pub(super) fn higher_is_better(key: &str) -> bool {
    !LOWER.contains(&key)
}

/// Metrics without intervals.
pub(super) fn plain_metrics(scores: &Scores) -> Vec<RunMetric> {
    let metric = |(key, value): (&'static str, Option<f64>)| {
        Some(RunMetric {
            key: key.to_owned(),
            value: value?,
            low: None,
            high: None,
            higher_is_better: higher_is_better(key),
        })
    };
    scores.values().into_iter().filter_map(metric).collect()
}

fn scores(report: &Report, left_out_texts: u32) -> RunScores {
    let Scores { n_labels, n_texts, n_annotators, .. } = &report.scores;
    let metric = |(key, value): (&'static str, Option<f64>)| {
        let interval = report.interval_of(key);
        Some(RunMetric {
            key: key.to_owned(),
            value: value?,
            low: interval.map(|i| i.low),
            high: interval.map(|i| i.high),
            higher_is_better: higher_is_better(key),
        })
    };
    RunScores {
        metrics: report.scores.values().into_iter().filter_map(metric).collect(),
        labels: *n_labels as u32,
        texts: *n_texts as u32,
        annotators: *n_annotators as u32,
        left_out_texts,
    }
}

/// Sends the current state of these runs to the window.
pub(super) fn announce(cx: &Runs, runs: &[RunId]) {
    let kept: Vec<SavedRun> = runs.iter().filter_map(|run| cx.kept.get(run.0).ok()).collect();
    for info in infos(cx, &kept).unwrap_or_default() {
        cx.context.listeners.send(&Event::Run(info));
    }
}
