//! A text encoder.

use crate::error::{raise, with_code};
use crate::work::run;
use dissensus_encoder::{DeviceChoice, LongTexts, Pooling, Precision, PrecisionChoice, Prompt};
use dissensus_project::home::Home;
use dissensus_training::encoding::{EncoderChoice, TextEncoder as Opened};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;

/// The requested encoder: name, pooling, device, precision, treatment of long texts, a prompt, the name of a
/// prompt.
pub(crate) type EncoderRequest =
    (Option<String>, Option<String>, String, Option<String>, Option<String>, Option<String>, Option<String>);

/// Parses the request, with the same values as the command line.
pub(crate) fn choice(py: Python<'_>, asked: EncoderRequest) -> PyResult<EncoderChoice> {
    let (encoder, pooling, device, precision, long_texts, prompt, prompt_name) = asked;
    let unknown = |what: &str, word: &str, known: &str| {
        with_code(
            py,
            "encoder-choice",
            &format!("there is no {what} \"{word}\": choose one of {known}"),
            None,
        )
    };
    let pooling = pooling
        .map(|word| {
            let known = "mean, cls, last, max, mean2, max2, pooler";
            word.parse::<Pooling>().map_err(|_| unknown("pooling", &word, known))
        })
        .transpose()?;
    let device =
        device.parse::<DeviceChoice>().map_err(|_| unknown("device", &device, "auto, cpu, cuda, metal"))?;
    let precision = precision
        .map(|word| match word.as_str() {
            "fp32" => Ok(PrecisionChoice::Exactly(Precision::Fp32)),
            "fast" => Ok(PrecisionChoice::Fast),
            _ => Err(unknown("precision", &word, "fp32, fast")),
        })
        .transpose()?;
    let long_texts = long_texts
        .map(|word| match word.as_str() {
            "average" => Ok(LongTexts::Average),
            "truncate" => Ok(LongTexts::Truncate),
            _ => Err(unknown("way with long texts", &word, "average, truncate")),
        })
        .transpose()?;
    let prompt = prompt.map(Prompt::Text).or(prompt_name.map(Prompt::Named));
    Ok(EncoderChoice { encoder, pooling, device, precision, long_texts, prompt })
}

/// Folders of the current user.
pub(crate) fn home(py: Python<'_>) -> PyResult<Home> {
    Home::of_user(None).map_err(|error| raise(py, &error))
}

/// A loaded encoder.
#[pyclass(frozen, module = "dissensus._native")]
pub(crate) struct TextEncoder {
    opened: Opened,
}

#[pymethods]
impl TextEncoder {
    #[new]
    fn new(py: Python<'_>, asked: EncoderRequest) -> PyResult<Self> {
        let (home, choice) = (home(py)?, choice(py, asked)?);
        Ok(Self { opened: run(py, |progress| Opened::open(&home, &choice, progress))? })
    }

    #[getter]
    fn version(&self) -> String {
        self.opened.version()
    }

    #[getter]
    fn dim(&self) -> usize {
        self.opened.dim()
    }

    #[getter]
    fn device(&self) -> &str {
        self.opened.device()
    }

    /// Returns the embeddings, texts x dim.
    fn encode<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows: Vec<f32> = run(py, |progress| self.opened.encode(&texts, progress))?;
        PyArray1::from_vec(py, rows).reshape([texts.len(), self.opened.dim()])
    }
}
