//! Metrics that compare predictions with labels.

use crate::error::{json, raise};
use crate::labels::observations;
use crate::work::run;
use dissensus_stats::data::ModelError;
use dissensus_stats::disagreement::{Disagreement, disagreement_of_probabilities};
use dissensus_stats::metrics;
use dissensus_stats::metrics::{
    Scored, Scores, accuracy, auroc, brier, expected_calibration_error, log_loss, macro_f1,
    mean_absolute_error, pearson, quadratic_kappa, ranked_probability_score, spearman,
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Computes a metric of true and predicted levels.
#[pyfunction]
pub(crate) fn of_answers(
    name: &str,
    truth: Vec<u16>,
    predicted: Vec<u16>,
    levels: usize,
) -> PyResult<Option<f64>> {
    Ok(match name {
        "accuracy" => Some(accuracy(&truth, &predicted)),
        "macro_f1" => Some(macro_f1(&truth, &predicted)),
        "mean_absolute_error" => Some(mean_absolute_error(&truth, &predicted)),
        "quadratic_kappa" => quadratic_kappa(&truth, &predicted, levels),
        other => return Err(PyValueError::new_err(format!("there is no measure {other}"))),
    })
}

/// Combines labels with probabilities; without texts and annotators, each label gets its own.
fn scored(
    texts: &PyReadonlyArray1<'_, u32>,
    annotators: &PyReadonlyArray1<'_, u32>,
    truth: &PyReadonlyArray1<'_, u16>,
    p: &PyReadonlyArray2<'_, f32>,
) -> PyResult<Scored> {
    let observations = observations(texts, annotators, truth)?;
    let p = p.as_array();
    Ok(Scored { observations, probabilities: p.iter().copied().collect(), levels: p.ncols(), tuned: None })
}

/// Computes a metric of true levels and probabilities.
#[pyfunction]
pub(crate) fn of_probabilities(
    py: Python<'_>,
    name: &str,
    texts: PyReadonlyArray1<'_, u32>,
    annotators: PyReadonlyArray1<'_, u32>,
    truth: PyReadonlyArray1<'_, u16>,
    p: PyReadonlyArray2<'_, f32>,
    bins: usize,
) -> PyResult<f64> {
    let scored = scored(&texts, &annotators, &truth, &p)?;
    scored.check().map_err(|error| raise(py, &error))?;
    Ok(match name {
        "log_loss" => log_loss(&scored),
        "brier" => brier(&scored),
        "expected_calibration_error" => expected_calibration_error(&scored, bins),
        "ranked_probability_score" => ranked_probability_score(&scored),
        "soft_cross_entropy" => metrics::soft_cross_entropy(&scored),
        other => return Err(PyValueError::new_err(format!("there is no measure {other}"))),
    })
}

/// Computes a metric of two lists of numbers; for `auroc` the second one is 0 or 1.
#[pyfunction]
pub(crate) fn correlation(name: &str, x: Vec<f64>, y: Vec<f64>) -> PyResult<Option<f64>> {
    Ok(match name {
        "pearson" => pearson(&x, &y),
        "spearman" => spearman(&x, &y),
        "auroc" => auroc(&x, &y.iter().map(|y| *y > 0.5).collect::<Vec<bool>>()),
        other => return Err(PyValueError::new_err(format!("there is no measure {other}"))),
    })
}

/// Returns `Scores` as JSON.
#[pyfunction]
pub(crate) fn scores(
    py: Python<'_>,
    texts: PyReadonlyArray1<'_, u32>,
    annotators: PyReadonlyArray1<'_, u32>,
    truth: PyReadonlyArray1<'_, u16>,
    p: PyReadonlyArray2<'_, f32>,
    ordinal: bool,
) -> PyResult<String> {
    let scored = scored(&texts, &annotators, &truth, &p)?;
    let found = run(py, |_| {
        scored.check()?;
        // In the order of texts and annotators, so that sums match those of every evaluation.
        Ok::<_, ModelError>(Scores::new(&Scored::pooled(vec![scored]), ordinal))
    })?;
    json(py, &found)
}

/// Measures of disagreement of every text, from probabilities texts x annotators x levels.
#[pyfunction]
pub(crate) fn disagreement<'py>(
    py: Python<'py>,
    p: PyReadonlyArray3<'py, f32>,
    ordinal: bool,
) -> PyResult<Bound<'py, PyList>> {
    let p = p.as_array();
    let (people, levels) = (p.shape()[1], p.shape()[2]);
    let p: Vec<f32> = p.iter().copied().collect();
    let found = run(py, |_| disagreement_of_probabilities(&p, people, levels, ordinal))?;
    measures(py, &found, ordinal)
}

/// Converts measures of texts into columns.
pub(crate) fn measures<'py>(
    py: Python<'py>,
    found: &[Disagreement],
    ordinal: bool,
) -> PyResult<Bound<'py, PyList>> {
    use crate::columns::{Column, into_python};
    let of = |of: fn(&Disagreement) -> f32| Column::Real(found.iter().map(of).collect());
    let mut columns = vec![
        ("split".to_owned(), of(|d| d.split)),
        ("pairwise".to_owned(), of(|d| d.pairwise)),
        ("divergence".to_owned(), of(|d| d.divergence)),
        ("uncertainty".to_owned(), of(|d| d.uncertainty)),
    ];
    if ordinal {
        columns.push(("far_apart".to_owned(), of(|d| d.far_apart.unwrap_or(f32::NAN))));
        columns.push(("mean_level".to_owned(), of(|d| d.mean_level.unwrap_or(f32::NAN))));
        columns.push(("level_variance".to_owned(), of(|d| d.level_variance.unwrap_or(f32::NAN))));
    }
    into_python(py, columns)
}
