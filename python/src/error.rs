//! Conversion of errors into Python exceptions.

use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelError;
use pyo3::prelude::*;

/// An error that can be raised: a code, a message, and optional details.
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
        (self.code(), self.to_string(), None)
    }
}

/// Converts an error into its exception.
pub(crate) fn raise(py: Python<'_>, error: &dyn Raised) -> PyErr {
    let (code, message, detail) = error.parts();
    with_code(py, code, &message, detail.as_deref())
}

/// Creates an exception with the given code.
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

/// Serializes a value as JSON, which dissensus/*.py parses.
pub(crate) fn json(py: Python<'_>, value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| with_code(py, "internal", &error.to_string(), None))
}
