//! Native part of the Python package `dissensus`: plain functions and classes over the use cases and models
//! of Dissensus, from which dissensus/*.py builds the public interface. Arrays arrive as numpy arrays that
//! were validated there; structures are passed as JSON.

mod aggregation;
mod agreement;
mod arrow;
mod bundle;
mod columns;
mod encoder;
mod error;
mod labels;
mod metrics;
mod model;
mod project;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::aggregation::aggregate;
    #[pymodule_export]
    use super::agreement::{alphas, cohen_pairs, reliability};
    #[pymodule_export]
    use super::arrow::arrow_stream;
    #[pymodule_export]
    use super::bundle::Bundle;
    #[pymodule_export]
    use super::encoder::TextEncoder;
    #[pymodule_export]
    use super::metrics::{correlation, disagreement, of_answers, of_probabilities, scores};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::project::{
        project_annotators, project_bundle, project_create, project_disagreement, project_embeddings,
        project_encode, project_import, project_import_preview, project_info, project_label, project_labels,
        project_predictions, project_sample, project_texts,
    };
    use super::*;

    /// Registers the classes and functions, and the version of the program.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
