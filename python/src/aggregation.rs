//! All labels of a text brought together.

use crate::error::json;
use crate::labels::CodedLabels;
use crate::work::run;
use dissensus_perspectives::{AggregationOptions, Aggregator, MaceMethod, PerspectivesError};
use pyo3::prelude::*;

/// `Aggregation` as JSON.
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
        let found = dissensus_perspectives::aggregate(
            method,
            &labels.all,
            labels.n_texts,
            labels.n_annotators,
            labels.target,
            &options,
            progress,
        )?;
        Ok::<_, PerspectivesError>(found)
    })?;
    json(py, &found)
}
