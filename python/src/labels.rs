//! Labels as arrays of indices.

use dissensus_domain::{AnswerForm, ScaleKind};
use dissensus_stats::data::{Observation, Target};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `_coded.CodedLabels` of Python: the label of each text by each annotator, and the scale.
#[derive(FromPyObject)]
pub(crate) struct CodedLabels<'py> {
    /// Text, annotator and level of each label; the three arrays have the same length.
    arrays: (PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u16>),
    /// Number of texts, annotators and levels.
    sizes: (usize, usize, usize),
    scale: String,
}

/// The contents of `CodedLabels`, independent of Python.
pub(crate) struct Labels {
    pub(crate) all: Vec<Observation>,
    pub(crate) n_texts: usize,
    pub(crate) n_annotators: usize,
    pub(crate) target: Target,
}

impl CodedLabels<'_> {
    pub(crate) fn read(&self) -> PyResult<Labels> {
        let (texts, annotators, levels) = &self.arrays;
        let (n_texts, n_annotators, n_levels) = self.sizes;
        let all = observations(texts, annotators, levels)?;
        Ok(Labels { all, n_texts, n_annotators, target: target(&self.scale, n_levels)? })
    }
}

/// Converts `text`, `annotator` and `level`, arrays of the same length, into labels.
pub(crate) fn observations(
    texts: &PyReadonlyArray1<'_, u32>,
    annotators: &PyReadonlyArray1<'_, u32>,
    levels: &PyReadonlyArray1<'_, u16>,
) -> PyResult<Vec<Observation>> {
    let (texts, annotators, levels) = (texts.as_array(), annotators.as_array(), levels.as_array());
    if texts.len() != annotators.len() || texts.len() != levels.len() {
        return Err(PyValueError::new_err("texts, annotators and levels have different lengths"));
    }
    let all = texts.iter().zip(annotators).zip(levels);
    Ok(all
        .map(|((text, annotator), level)| Observation { text: *text, annotator: *annotator, level: *level })
        .collect())
}

/// The scale with this name and number of levels.
pub(crate) fn target(scale: &str, levels: usize) -> PyResult<Target> {
    let kind = scale.parse::<ScaleKind>().map_err(|error| PyValueError::new_err(error.to_string()))?;
    match kind.rules().form() {
        AnswerForm::Level => Ok(Target { kind: kind.rules().target(), levels }),
        AnswerForm::Options | AnswerForm::Spans => Err(PyValueError::new_err(format!(
            "answers to a {kind} question are not levels: give each of its options or types as binary labels"
        ))),
    }
}
