//! Figures of runs as CSV and as a LaTeX table.

use crate::saved_runs::run_tuning;
use dissensus_api::{RunDetail, RunInfo, RunMetric};
use dissensus_project::error::ProjectError;
use dissensus_render::escape::{cell, latex as escaped};
use dissensus_render::latex::booktabs;

/// One row for each run and metric.
pub(super) fn csv(runs: &[RunDetail]) -> Result<Vec<u8>, ProjectError> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let header = [
        "run", "question", "model", "encoder", "split", "seed", "metric", "value", "low", "high", "seconds",
        "device",
    ];
    let failed = |e: csv::Error| ProjectError::internal(&e);
    out.write_record(header).map_err(failed)?;
    for run in runs {
        let info = &run.info;
        for metric in metrics(run) {
            let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
            out.write_record([
                info.id.to_string(),
                cell(&info.question_name),
                info.model.name().to_owned(),
                cell(&tuning(info)),
                info.split.name(),
                info.seed.to_string(),
                metric.key.clone(),
                metric.value.to_string(),
                number(metric.low),
                number(metric.high),
                format!("{:.1}", info.seconds),
                info.device.clone(),
            ])
            .map_err(failed)?;
        }
    }
    out.into_inner().map_err(|e| ProjectError::internal(&e))
}

/// A `tabular` for the LaTeX package booktabs, the best figure of each column in bold among runs that can be
/// compared.
pub(super) fn latex(runs: &[RunDetail]) -> String {
    let columns: Vec<&str> = COLUMNS
        .iter()
        .map(|(key, _)| *key)
        .filter(|key| runs.iter().any(|run| value(run, key).is_some()))
        .collect();
    let title = |key: &str| COLUMNS.iter().find(|(k, _)| *k == key).map_or("", |(_, title)| title);
    // Columns with the same value for all runs are left out.
    let texts: Vec<TextColumn> = TEXTS
        .iter()
        .filter(|(title, of)| {
            ["model", "encoder"].contains(title) || runs.iter().any(|run| of(run) != of(&runs[0]))
        })
        .copied()
        .collect();
    let (left, right) = ("l".repeat(texts.len()), "r".repeat(columns.len()));
    let header = texts.iter().map(|(title, _)| *title).chain(columns.iter().map(|key| title(key)));
    let header: Vec<String> = header.map(str::to_owned).collect();
    let figure = |run: &RunDetail, key: &str| match value(run, key) {
        None => "--".to_owned(),
        Some(metric) if is_best(runs, run, metric) => format!("\\textbf{{{:.3}}}", metric.value),
        Some(metric) => format!("{:.3}", metric.value),
    };
    let row = |run: &RunDetail| {
        let words = texts.iter().map(|(_, of)| escaped(&of(run)));
        words.chain(columns.iter().map(|key| figure(run, key))).collect()
    };
    booktabs(&format!("{left}{right}"), &header, runs.iter().map(row))
}

/// A title, and the cell of a run.
type TextColumn = (&'static str, fn(&RunDetail) -> String);

/// The text columns that describe a run.
const TEXTS: [TextColumn; 5] = [
    ("question", |run| run.info.question_name.clone()),
    ("model", |run| run.info.model.name().to_owned()),
    ("encoder", |run| tuning(&run.info)),
    ("split", |run| run.info.split.name()),
    ("seed", |run| run.info.seed.to_string()),
];

/// Columns of tables for readers.
pub const COLUMNS: [(&str, &str); 15] = [
    ("accuracy", "accuracy"),
    ("macro_f1", "macro F1 (tuned)"),
    ("annotator_accuracy", "annotator accuracy"),
    ("annotator_macro_f1", "annotator F1"),
    ("log_loss", "log loss"),
    ("ece", "ECE"),
    ("soft_cross_entropy", "soft CE"),
    ("disagreement_auroc", "AUROC"),
    ("mae", "MAE (median)"),
    ("macro_f1_median", "macro F1 (median)"),
    ("pearson_median", "r (median)"),
    ("normalized_absolute_distance", "NAD (median)"),
    ("wasserstein", "Wasserstein (median panel)"),
    ("manhattan", "Manhattan (median panel)"),
    ("error_rate", "error rate"),
];

pub(super) fn tuning(run: &RunInfo) -> String {
    run_tuning(run)
}

pub fn value<'a>(run: &'a RunDetail, key: &str) -> Option<&'a RunMetric> {
    metrics(run).find(|metric| metric.key == key)
}

/// Whether no other run on the same question, split and seed, with the same treatment of slips, has a better
/// value, and there is another such run.
pub(super) fn is_best(runs: &[RunDetail], run: &RunDetail, metric: &RunMetric) -> bool {
    let group = |run: &RunDetail| {
        (run.info.question, run.info.split.name(), run.info.seed, run.choices.without_slips)
    };
    let like = || runs.iter().filter(|other| group(other) == group(run));
    let all = like().filter_map(|run| value(run, &metric.key)).map(|m| m.value);
    let best = if metric.higher_is_better {
        all.fold(f64::NEG_INFINITY, f64::max)
    } else {
        all.fold(f64::INFINITY, f64::min)
    };
    like().count() > 1 && metric.value == best
}

fn metrics(run: &RunDetail) -> impl Iterator<Item = &RunMetric> {
    run.info.scores.iter().flat_map(|scores| &scores.metrics)
}
