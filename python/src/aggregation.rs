//! All labels of a text brought together.

use crate::error::json;
use crate::labels::{observations, target};
use crate::work::run;
use dissensus_perspectives::{AggregationOptions, Aggregator, MaceMethod, PerspectivesError};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// `Aggregation` as JSON.
#[pyfunction]
#[pyo3(signature = (method, texts, annotators, levels, sizes, scale, options))]
pub(crate) fn aggregate(
    py: Python<'_>,
    method: &str,
    texts: PyReadonlyArray1<'_, u32>,
    annotators: PyReadonlyArray1<'_, u32>,
    levels: PyReadonlyArray1<'_, u16>,
    sizes: (usize, usize, usize),
    scale: &str,
    options: (usize, f64, usize, u64, bool),
) -> PyResult<String> {
    let labels = observations(&texts, &annotators, &levels)?;
    let (n_texts, n_annotators, n_levels) = sizes;
    let target = target(scale, n_levels)?;
    let (iterations, tolerance, restarts, seed, plain) = options;
    let mace = if plain { MaceMethod::Plain } else { MaceMethod::Variational };
    let options = AggregationOptions { iterations, tolerance, restarts, seed, mace };
    let found = run(py, |progress| {
        let method: Aggregator = method.parse()?;
        let found = dissensus_perspectives::aggregate(
            method,
            &labels,
            n_texts,
            n_annotators,
            target,
            &options,
            progress,
        )?;
        Ok::<_, PerspectivesError>(found)
    })?;
    json(py, &found)
}
