//! Figures of runs as CSV and as a LaTeX table.

use crate::error::WorkbenchError;
use crate::session::runs::tuning_name;
use crate::view::{RunDetail, RunMetric};

/// One row for each run and metric.
pub(super) fn csv(runs: &[RunDetail]) -> Result<Vec<u8>, WorkbenchError> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let header =
        ["run", "model", "encoder", "split", "seed", "metric", "value", "low", "high", "seconds", "device"];
    let failed = |e: csv::Error| WorkbenchError::internal(&e);
    out.write_record(header).map_err(failed)?;
    for run in runs {
        let info = &run.info;
        for metric in metrics(run) {
            let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
            out.write_record([
                info.id.to_string(),
                info.model.clone(),
                tuning_name(&run.choices),
                info.split.clone(),
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
    out.into_inner().map_err(|e| WorkbenchError::internal(&e))
}

/// A `tabular` in the manner of booktabs, the best figure of each column bold.
pub(super) fn latex(runs: &[RunDetail]) -> String {
    let columns: Vec<&str> = COLUMNS
        .iter()
        .map(|(key, _)| *key)
        .filter(|key| runs.iter().any(|run| value(run, key).is_some()))
        .collect();
    let title = |key: &str| COLUMNS.iter().find(|(k, _)| *k == key).map_or("", |(_, title)| title);
    let mut out = String::from("% Needs \\usepackage{booktabs}\n");
    out.push_str(&format!("\\begin{{tabular}}{{ll{}}}\n\\toprule\n", "r".repeat(columns.len())));
    out.push_str("model & encoder");
    for key in &columns {
        out.push_str(&format!(" & {}", title(key)));
    }
    out.push_str(" \\\\\n\\midrule\n");
    for run in runs {
        out.push_str(&format!("{} & {}", escaped(&run.info.model), escaped(&tuning_name(&run.choices))));
        for key in &columns {
            out.push_str(" & ");
            match value(run, key) {
                None => out.push_str("--"),
                Some(metric) if is_best(runs, metric) => {
                    out.push_str(&format!("\\textbf{{{:.3}}}", metric.value));
                }
                Some(metric) => out.push_str(&format!("{:.3}", metric.value)),
            }
        }
        out.push_str(" \\\\\n");
    }
    out.push_str("\\bottomrule\n\\end{tabular}\n");
    out
}

/// Columns of tables that people read.
pub(super) const COLUMNS: [(&str, &str); 9] = [
    ("accuracy", "accuracy"),
    ("macro_f1", "macro F1"),
    ("annotator_accuracy", "annotator accuracy"),
    ("annotator_macro_f1", "annotator F1"),
    ("log_loss", "log loss"),
    ("ece", "ECE"),
    ("soft_cross_entropy", "soft CE"),
    ("disagreement_auroc", "AUROC"),
    ("mae", "MAE"),
];

pub(super) fn value<'a>(run: &'a RunDetail, key: &str) -> Option<&'a RunMetric> {
    metrics(run).find(|metric| metric.key == key)
}

/// Whether no run has a better one.
pub(super) fn is_best(runs: &[RunDetail], metric: &RunMetric) -> bool {
    let all = runs.iter().filter_map(|run| value(run, &metric.key)).map(|m| m.value);
    let best = if metric.higher_is_better {
        all.fold(f64::NEG_INFINITY, f64::max)
    } else {
        all.fold(f64::INFINITY, f64::min)
    };
    runs.len() > 1 && metric.value == best
}

fn metrics(run: &RunDetail) -> impl Iterator<Item = &RunMetric> {
    run.info.scores.iter().flat_map(|scores| &scores.metrics)
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            other => out.push(other),
        }
        out
    })
}
