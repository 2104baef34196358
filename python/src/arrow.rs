//! A table as an Arrow stream, by the PyCapsule interface (`__arrow_c_stream__`).

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray, TimestampMillisecondArray,
};
use arrow_schema::{ArrowError, Field, Schema};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// Returns columns as a stream of one batch. Each has a name, a type (`string`, `int64`, `float32`,
/// `float64`, `bool` or `timestamp`), and values.
#[pyfunction]
pub(crate) fn arrow_stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, String, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
    for (name, holds, values) in columns {
        let array = array(&holds, &values)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let refused = |error: ArrowError| PyValueError::new_err(error.to_string());
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(refused)?;
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}

fn array(holds: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(match holds {
        "string" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
        "int64" => Arc::new(Int64Array::from(numbers::<i64>(values)?)),
        "timestamp" => Arc::new(TimestampMillisecondArray::from(numbers::<i64>(values)?)),
        "float32" => Arc::new(Float32Array::from(numbers::<f32>(values)?)),
        "float64" => Arc::new(Float64Array::from(numbers::<f64>(values)?)),
        "bool" => Arc::new(BooleanArray::from(numbers::<bool>(values)?)),
        other => return Err(PyTypeError::new_err(format!("there are no columns of {other}"))),
    })
}

fn numbers<T: numpy::Element + Copy>(values: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let array: PyReadonlyArray1<'_, T> = values.extract()?;
    Ok(array.as_array().iter().copied().collect())
}
