//! A fitted annotator model.

use crate::error::{raise, with_code};
use crate::labels::{observations, target};
use crate::metrics::measures;
use crate::work::run;
use dissensus_encoder::char_ngrams;
use dissensus_selection::portable::{NewTexts, PortableModel};
use dissensus_stats::data::{
    AnnotatorModel as _, Attribute, Embeddings, FitOptions, ModelError, ModelKind, Observation, SparseRows,
    TextFeatures, TrainingData,
};
use dissensus_stats::disagreement::disagreement_of_texts;
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Annotator attributes: name, values, and the index of each annotator's value.
type Attributes = Vec<(String, Vec<String>, Vec<Option<u16>>)>;

/// A fitted annotator model.
#[pyclass(frozen, module = "dissensus._native")]
pub(crate) struct Model {
    model: Mutex<PortableModel>,
    ordinal: bool,
    ngrams: bool,
}

fn ngrams(bodies: Option<&[String]>) -> Result<Option<SparseRows>, ModelError> {
    let Some(bodies) = bodies else { return Ok(None) };
    let mut rows = SparseRows::default();
    bodies.iter().try_for_each(|body| rows.push(&char_ngrams(body)))?;
    Ok(Some(rows))
}

#[pymethods]
impl Model {
    /// Fits a model of this `kind`.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "what an estimator checked, one by one")]
    fn fit(
        py: Python<'_>,
        kind: &str,
        x: PyReadonlyArray2<'_, f32>,
        texts: PyReadonlyArray1<'_, u32>,
        annotators: PyReadonlyArray1<'_, u32>,
        levels: PyReadonlyArray1<'_, u16>,
        sizes: (usize, usize),
        scale: &str,
        attributes: Attributes,
        bodies: Option<Vec<String>>,
        options: (u64, usize, usize, bool, bool),
    ) -> PyResult<Self> {
        let labels = observations(&texts, &annotators, &levels)?;
        let (n_annotators, n_levels) = sizes;
        let target = target(scale, n_levels)?;
        let ordinal = scale == "ordinal";
        let (dim, rows) = (x.as_array().ncols(), x.as_array().iter().copied().collect::<Vec<f32>>());
        let attributes: Vec<Attribute> =
            attributes.into_iter().map(|(name, values, of)| Attribute { name, values, of }).collect();
        let (seed, folds, rounds, slopes, text_scores) = options;
        let options = FitOptions { seed, folds, rounds, slopes, text_scores, ..FitOptions::default() };
        let with_bodies = bodies.is_some();
        let model = run(py, |progress| {
            let kind: ModelKind = kind.parse()?;
            let mut embeddings = Embeddings::new(dim, rows)?;
            if let Some(ngrams) = ngrams(bodies.as_deref())? {
                embeddings = embeddings.with_ngrams(Arc::new(ngrams))?;
            }
            let data = TrainingData {
                embeddings: &embeddings,
                observations: &labels,
                annotators: n_annotators,
                target,
                attributes: &attributes,
            };
            PortableModel::fit(kind, &data, &options, progress)
        })?;
        Ok(Self { model: Mutex::new(model), ordinal, ngrams: with_bodies })
    }

    /// Restores a model from the output of `to_bytes`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], ordinal: bool, ngrams: bool) -> PyResult<Self> {
        let model = PortableModel::from_bytes(bytes).map_err(|error| raise(py, &error))?;
        Ok(Self { model: Mutex::new(model), ordinal, ngrams })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, |_| self.lock().to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Whether the model was fitted with the words of the texts.
    #[getter]
    fn ngrams(&self) -> bool {
        self.ngrams
    }

    #[getter]
    fn ordinal(&self) -> bool {
        self.ordinal
    }

    #[getter]
    fn annotators(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().annotators())
    }

    /// Number of texts that the model knows by index; only `multilevel` has any.
    #[getter]
    fn texts(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().live().map_or(0, |live| live.texts()))
    }

    /// Returns the probabilities for pairs of a row of `x` and an annotator, pairs x levels.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f32>,
        texts: PyReadonlyArray1<'py, u32>,
        annotators: PyReadonlyArray1<'py, u32>,
        bodies: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let pairs = pairs(&texts, &annotators);
        let dim = x.as_array().ncols();
        let rows = x.as_slice()?;
        let p = run(py, |progress| {
            let ngrams = ngrams(bodies.as_deref())?;
            self.lock().predict(NewTexts { dim, rows, ngrams: ngrams.as_ref() }, &pairs, progress)
        })?;
        self.shaped(py, p)
    }

    /// Returns the probabilities for texts of the fit, by row; other annotators' labels of them are used.
    fn predict_rows<'py>(
        &self,
        py: Python<'py>,
        texts: PyReadonlyArray1<'py, u32>,
        annotators: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let pairs = pairs(&texts, &annotators);
        let p = run(py, |_| {
            let model = self.lock();
            let live = model.live().ok_or(ModelError::NotLive(model.kind().name()))?;
            if let Some(at) = pairs.iter().position(|pair| pair.0 as usize >= live.texts()) {
                let (text, texts) = (pairs[at].0, live.texts());
                return Err(ModelError::UnknownText { observation: at, text, texts });
            }
            let mut p = vec![0.0; pairs.len() * live.levels()];
            live.predict_pairs(&pairs, &mut p);
            Ok(p)
        })?;
        self.shaped(py, p)
    }

    /// Returns measures of disagreement of texts over all annotators.
    fn disagreement<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f32>,
        bodies: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let dim = x.as_array().ncols();
        let rows = x.as_slice()?;
        let found = run(py, |progress| {
            let ngrams = ngrams(bodies.as_deref())?;
            self.lock().disagreement(NewTexts { dim, rows, ngrams: ngrams.as_ref() }, progress)
        })?;
        measures(py, &found, self.ordinal)
    }

    /// Returns the measures of all texts of the fit, which use the labels given.
    fn disagreement_of_rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = run(py, |_| {
            let model = self.lock();
            let live = model.live().ok_or(ModelError::NotLive(model.kind().name()))?;
            Ok::<_, ModelError>(disagreement_of_texts(live, 0..live.texts(), None, self.ordinal))
        })?;
        measures(py, &found, self.ordinal)
    }

    /// Adds a label to the model; the text or annotator may be one that was just added.
    fn record(&self, py: Python<'_>, text: u32, annotator: u32, level: u16) -> PyResult<()> {
        run(py, |_| self.lock().record(Observation { text, annotator, level }).map(drop))
    }

    /// Adds a text and returns its index.
    fn add_text(&self, py: Python<'_>, x: PyReadonlyArray1<'_, f32>, body: Option<String>) -> PyResult<u32> {
        let row: Vec<f32> = x.as_array().iter().copied().collect();
        run(py, |_| {
            let bodies = body.map(|body| vec![body]);
            let ngrams = ngrams(bodies.as_deref())?;
            let mut model = self.lock();
            let name = model.kind().name();
            let live = model.live_mut().ok_or(ModelError::NotLive(name))?;
            let ngrams = ngrams.as_ref().map(|rows| rows.row(0)).unwrap_or_default();
            live.add_text(TextFeatures { embedding: &row, ngrams })
        })
    }

    /// Adds an annotator and returns the index.
    fn add_annotator(&self, py: Python<'_>) -> PyResult<u32> {
        run(py, |_| {
            let mut model = self.lock();
            let name = model.kind().name();
            let live = model.live_mut().ok_or(ModelError::NotLive(name))?;
            Ok::<_, ModelError>(live.add_annotator())
        })
    }

    /// Returns mean and standard deviation of each annotator's severity; `None` for a scale without order.
    fn severities<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let found = run(py, |_| {
            let model = self.lock();
            let live = model.live().ok_or(ModelError::NotLive(model.kind().name()))?;
            let each = (0..live.annotators() as u32).map(|who| live.severity(who));
            Ok::<_, ModelError>(each.map(|s| s.map(|s| [s.mean, s.sd])).collect::<Option<Vec<_>>>())
        })?;
        let Some(rows) = found else { return Ok(None) };
        let people = rows.len();
        Ok(Some(PyArray1::from_vec(py, rows.concat()).reshape([people, 2])?))
    }
}

impl Model {
    /// Ignores poisoning: a panic during an update may leave the model half updated, but only validated
    /// labels reach it.
    fn lock(&self) -> MutexGuard<'_, PortableModel> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shaped<'py>(&self, py: Python<'py>, p: Vec<f32>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let levels = py.detach(|| self.lock().levels());
        if levels == 0 {
            return Err(with_code(py, "internal", "a model without levels", None));
        }
        let pairs = p.len() / levels;
        PyArray1::from_vec(py, p).reshape([pairs, levels])
    }
}

fn pairs(texts: &PyReadonlyArray1<'_, u32>, annotators: &PyReadonlyArray1<'_, u32>) -> Vec<(u32, u32)> {
    texts.as_array().iter().copied().zip(annotators.as_array().iter().copied()).collect()
}
