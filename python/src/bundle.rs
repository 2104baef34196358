//! A bundle that stays loaded between predictions.

use crate::columns::{Column, Columns, into_python};
use crate::error::{raise, with_code};
use crate::work::run;
use dissensus_analysis::bundles::{Bundle as Opened, BundlePredictor};
use dissensus_encoder::DeviceChoice;
use dissensus_training::predicted_texts::PredictedTexts;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Question, annotators and device of a predictor.
type For = (Option<String>, Vec<String>, String);

/// A folder of models, and the predictor that was used last.
#[pyclass(frozen, module = "dissensus._native")]
pub(crate) struct Bundle {
    opened: Opened,
    predictor: Mutex<Option<(For, BundlePredictor)>>,
}

#[pymethods]
impl Bundle {
    #[new]
    fn new(py: Python<'_>, dir: PathBuf) -> PyResult<Self> {
        Ok(Self { opened: run(py, |_| Opened::open(&dir))?, predictor: Mutex::new(None) })
    }

    #[getter]
    fn notice(&self) -> Option<&str> {
        self.opened.notice()
    }

    fn questions(&self) -> Vec<String> {
        self.opened.questions()
    }

    fn annotators(&self, py: Python<'_>, question: Option<&str>) -> PyResult<Vec<String>> {
        self.opened.annotators(question).map_err(|error| raise(py, &error))
    }

    /// Returns one row per text and annotator.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<String>,
        ids: Vec<String>,
        question: Option<String>,
        annotators: Vec<String>,
        device: String,
    ) -> PyResult<Bound<'py, PyList>> {
        let on = device.parse::<DeviceChoice>().map_err(|_| {
            with_code(py, "encoder-choice", &format!("there is no device \"{device}\""), None)
        })?;
        let asked = (question, annotators, device);
        let found = run(py, |progress| {
            // A predictor that was interrupted is still valid: it discards leftovers of other texts itself.
            let mut kept = self.predictor.lock().unwrap_or_else(PoisonError::into_inner);
            let same = kept.take().filter(|(of, _)| *of == asked);
            let mut predictor = match same {
                Some((_, predictor)) => predictor,
                None => self.opened.predictor(asked.0.as_deref(), &asked.1, on)?,
            };
            let found = predictor.predict(&texts, progress)?;
            *kept = Some((asked, predictor));
            Ok::<_, dissensus_project::error::ProjectError>(found)
        })?;
        into_python(py, rows(ids, found, None))
    }
}

/// Columns of a table of predictions, as the command writes them.
pub(crate) fn rows(ids: Vec<String>, found: PredictedTexts, observed: Option<Vec<bool>>) -> Columns {
    let (people, levels) = (found.annotators.len(), found.levels.len());
    let each_text = |values: &[f32]| values.iter().flat_map(|v| std::iter::repeat_n(*v, people)).collect();
    let mut columns = vec![
        ("text_id".to_owned(), Column::names(ids.into_iter().flat_map(|id| std::iter::repeat_n(id, people)))),
        (
            "annotator_id".to_owned(),
            Column::names((0..found.split.len()).flat_map(|_| found.annotators.iter().cloned())),
        ),
        (
            "prediction".to_owned(),
            Column::names(found.answers.iter().map(|answer| found.levels[usize::from(*answer)].clone())),
        ),
    ];
    for (at, level) in found.levels.iter().enumerate() {
        let p = found.p.chunks_exact(levels).map(|p| p[at]).collect();
        columns.push((format!("p_{level}"), Column::Real(p)));
    }
    if let Some(observed) = observed {
        columns.push(("observed".to_owned(), Column::Flag(observed)));
    }
    columns.push(("disagreement_split".to_owned(), Column::Real(each_text(&found.split))));
    columns.push(("disagreement_pairwise".to_owned(), Column::Real(each_text(&found.pairwise))));
    columns
}
