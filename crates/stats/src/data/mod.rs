//! Inputs and outputs: labels, embeddings, scales, options, errors, progress, and the interface of a model.

mod annotator_model;
mod attribute_evidence;
pub mod copies;
mod error;
pub mod folds;
mod group_slopes;
mod majority;
mod model_kind;
mod names;
mod observations;
mod options;
pub mod progress;
mod severity;
mod sparse_rows;
pub mod synthetic;

pub use annotator_model::AnnotatorModel;
pub use attribute_evidence::AttributeEvidence;
pub use error::ModelError;
pub use group_slopes::GroupSlopes;
pub use majority::{MedianLevel, MostFrequentLevel, majority_level};
pub use model_kind::ModelKind;
pub use names::value_named;
pub use names::value_names;
pub use observations::check_observation;
pub use observations::{Attribute, Embeddings, Observation, Target, TextFeatures, TrainingData};
pub use options::FitOptions;
pub use severity::Severity;
pub use sparse_rows::SPARSE_COLUMNS;
pub use sparse_rows::{SparseRow, SparseRows};
