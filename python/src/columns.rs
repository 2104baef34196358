//! Columns of a table as Python has them: lists of strings, and numpy arrays.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::collections::HashMap;

pub(crate) enum Column {
    Text(Vec<Option<String>>),
    /// Text with few distinct values: each becomes a single Python string.
    Names(Vec<Option<String>>),
    Whole(Vec<i64>),
    Real(Vec<f32>),
    Flag(Vec<bool>),
}

impl Column {
    pub(crate) fn texts(values: impl IntoIterator<Item = String>) -> Self {
        Self::Text(values.into_iter().map(Some).collect())
    }

    pub(crate) fn names(values: impl IntoIterator<Item = String>) -> Self {
        Self::Names(values.into_iter().map(Some).collect())
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Self::Text(values) => PyList::new(py, values)?.into_any(),
            Self::Names(values) => {
                let mut known: HashMap<String, Bound<'_, PyString>> = HashMap::new();
                let one = |value: Option<String>| {
                    value.map(|name| {
                        let string = || PyString::new(py, &name);
                        known.entry(name.clone()).or_insert_with(string).clone()
                    })
                };
                let values: Vec<Option<Bound<'_, PyString>>> = values.into_iter().map(one).collect();
                PyList::new(py, values)?.into_any()
            }
            Self::Whole(values) => PyArray1::from_vec(py, values).into_any(),
            Self::Real(values) => PyArray1::from_vec(py, values).into_any(),
            Self::Flag(values) => PyArray1::from_vec(py, values).into_any(),
        })
    }
}

/// Named columns, in order.
pub(crate) type Columns = Vec<(String, Column)>;

/// Converts columns into a list of pairs of a name and values.
pub(crate) fn into_python(py: Python<'_>, columns: Columns) -> PyResult<Bound<'_, PyList>> {
    let columns: PyResult<Vec<_>> =
        columns.into_iter().map(|(name, column)| Ok((name, column.into_python(py)?))).collect();
    PyList::new(py, columns?)
}
