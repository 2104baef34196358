//! Aggregation of the labels of each text.

use crate::error::json;
use crate::labels::CodedLabels;
use crate::work::run;
use dissensus_stats::aggregation::{AggregationOptions, Aggregator, MaceMethod};
use dissensus_stats::data::ModelError;
use pyo3::prelude::*;

/// Aggregates labels; returns `Aggregation` as JSON.
#[pyfunction]
pub(crate) fn aggregate(
    py: Python<'_>,
    method: &str,
    labels: CodedLabels<'_>,
    options: (usize, f64, usize, u64, bool),
) -> PyResult<String> {
    let labels = labels.read()?;
    let (iterations, tolerance, restarts, seed, plain) = options;
    let mace = if plain { MaceMethod::Plain } else { MaceMethod::Variational };
    let options = AggregationOptions { iterations, tolerance, restarts, seed, mace };
    let found = run(py, |progress| {
        let method: Aggregator = method.parse()?;
        let found = dissensus_stats::aggregation::aggregate(
            method,
            &labels.all,
            labels.n_texts,
            labels.n_annotators,
            labels.target,
            &options,
            progress,
        )?;
        Ok::<_, ModelError>(found)
    })?;
    json(py, &found)
}
