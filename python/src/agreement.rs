//! How much annotators agree.

use crate::error::json;
use crate::labels::{observations, target};
use crate::work::run;
use dissensus_perspectives::metrics::BootstrapOptions;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// `Agreement` as JSON.
#[pyfunction]
pub(crate) fn alphas(
    py: Python<'_>,
    texts: PyReadonlyArray1<'_, u32>,
    annotators: PyReadonlyArray1<'_, u32>,
    levels: PyReadonlyArray1<'_, u16>,
    sizes: (usize, usize, usize),
    scale: &str,
) -> PyResult<String> {
    let labels = observations(&texts, &annotators, &levels)?;
    let target = target(scale, sizes.2)?;
    let found = run(py, |_| dissensus_perspectives::agreement(&labels, sizes.0, sizes.1, target))?;
    json(py, &found)
}

/// `Reliability` as JSON; intervals of `bootstrap`: resamples, confidence and seed.
#[pyfunction]
#[pyo3(signature = (texts, annotators, levels, sizes, scale, bootstrap=None))]
pub(crate) fn reliability(
    py: Python<'_>,
    texts: PyReadonlyArray1<'_, u32>,
    annotators: PyReadonlyArray1<'_, u32>,
    levels: PyReadonlyArray1<'_, u16>,
    sizes: (usize, usize, usize),
    scale: &str,
    bootstrap: Option<(usize, f64, u64)>,
) -> PyResult<String> {
    let labels = observations(&texts, &annotators, &levels)?;
    let target = target(scale, sizes.2)?;
    let options =
        bootstrap.map(|(resamples, confidence, seed)| BootstrapOptions { resamples, confidence, seed });
    let found = run(py, |progress| {
        dissensus_perspectives::reliability(&labels, sizes.0, sizes.1, target, options.as_ref(), progress)
    })?;
    json(py, &found)
}

/// `CohenPair`s as JSON.
#[pyfunction]
pub(crate) fn cohen_pairs(
    py: Python<'_>,
    texts: PyReadonlyArray1<'_, u32>,
    annotators: PyReadonlyArray1<'_, u32>,
    levels: PyReadonlyArray1<'_, u16>,
    sizes: (usize, usize, usize),
    scale: &str,
    least: usize,
) -> PyResult<String> {
    let labels = observations(&texts, &annotators, &levels)?;
    let target = target(scale, sizes.2)?;
    let found = run(py, |_| dissensus_perspectives::cohen_pairs(&labels, sizes.0, sizes.1, target, least))?;
    json(py, &found)
}
