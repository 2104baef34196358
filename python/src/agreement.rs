//! Agreement between annotators.

use crate::error::json;
use crate::labels::CodedLabels;
use crate::work::run;
use dissensus_stats::metrics::BootstrapOptions;
use pyo3::prelude::*;

/// Returns `Agreement` as JSON.
#[pyfunction]
pub(crate) fn alphas(py: Python<'_>, labels: CodedLabels<'_>) -> PyResult<String> {
    let labels = labels.read()?;
    let found = run(py, |_| {
        dissensus_stats::agreement::agreement(&labels.all, labels.n_texts, labels.n_annotators, labels.target)
    })?;
    json(py, &found)
}

/// Returns `Reliability` as JSON, with intervals by `bootstrap`: resamples, confidence and seed.
#[pyfunction]
#[pyo3(signature = (labels, bootstrap=None))]
pub(crate) fn reliability(
    py: Python<'_>,
    labels: CodedLabels<'_>,
    bootstrap: Option<(usize, f64, u64)>,
) -> PyResult<String> {
    let labels = labels.read()?;
    let options =
        bootstrap.map(|(resamples, confidence, seed)| BootstrapOptions { resamples, confidence, seed });
    let found = run(py, |progress| {
        dissensus_stats::agreement::reliability(
            &labels.all,
            labels.n_texts,
            labels.n_annotators,
            labels.target,
            options.as_ref(),
            progress,
        )
    })?;
    json(py, &found)
}

/// Returns the `CohenPair`s as JSON.
#[pyfunction]
pub(crate) fn cohen_pairs(py: Python<'_>, labels: CodedLabels<'_>, least: usize) -> PyResult<String> {
    let labels = labels.read()?;
    let found = run(py, |_| {
        dissensus_stats::agreement::cohen_pairs(
            &labels.all,
            labels.n_texts,
            labels.n_annotators,
            labels.target,
            least,
        )
    })?;
    json(py, &found)
}
