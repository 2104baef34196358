//! What goes in and comes out: labels, embeddings, scales, options, errors, progress, and the interface of a model.

mod annotator_model;
mod attribute_evidence;
pub(crate) mod copies;
mod error;
pub(crate) mod folds;
mod group_slopes;
mod majority;
mod model_kind;
mod names;
mod observations;
mod options;
pub(crate) mod progress;
mod sparse_rows;
pub mod synthetic;

pub use annotator_model::AnnotatorModel;
pub use attribute_evidence::AttributeEvidence;
pub use error::PerspectivesError;
pub use group_slopes::GroupSlopes;
pub(crate) use majority::{MedianLevel, MostFrequentLevel, majority_level};
pub use model_kind::ModelKind;
pub(crate) use names::value_named;
pub use names::value_names;
pub(crate) use observations::check_observation;
pub use observations::{Attribute, Embeddings, Observation, Target, TextFeatures, TrainingData};
pub use options::FitOptions;
pub(crate) use sparse_rows::SPARSE_COLUMNS;
pub use sparse_rows::{SparseRow, SparseRows};
