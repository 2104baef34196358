//! Errors of ours as Python's exceptions.

use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelError;
use pyo3::prelude::*;

/// What can be raised: a code, a sentence, and more where there is more to say.
pub(crate) trait Raised {
    fn parts(&self) -> (&'static str, String, Option<String>);
}

impl Raised for ProjectError {
    fn parts(&self) -> (&'static str, String, Option<String>) {
        (self.code(), self.to_string(), self.detail())
    }
}

impl Raised for ModelError {
    fn parts(&self) -> (&'static str, String, Option<String>) {
        let code = if *self == Self::Cancelled { "cancelled" } else { "model" };
        (code, self.to_string(), None)
    }
}

/// The exception for an error.
pub(crate) fn raise(py: Python<'_>, error: &dyn Raised) -> PyErr {
    let (code, message, detail) = error.parts();
    with_code(py, code, &message, detail.as_deref())
}

/// The exception with a code of its own.
pub(crate) fn with_code(py: Python<'_>, code: &str, message: &str, detail: Option<&str>) -> PyErr {
    let made = py
        .import("dissensus._errors")
        .and_then(|module| module.getattr("made"))
        .and_then(|made| made.call1((code, message, detail)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A structure as JSON, which dissensus/*.py reads again.
pub(crate) fn json(py: Python<'_>, value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| with_code(py, "internal", &error.to_string(), None))
}
