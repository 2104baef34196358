//! Annotator models, live refit, disagreement and metrics: arrays in, arrays out.

mod data;
mod disagreement;
mod effects;
mod error;
mod evaluate;
mod folds;
mod head;
mod link;
mod live;
mod math;
pub mod metrics;
mod models;
mod options;
mod progress;
mod split;

pub use data::{Embeddings, Observation, Target, TrainingData};
pub use disagreement::{Disagreement, Measure, disagreement, disagreement_of_texts, ranking};
pub use error::PerspectivesError;
pub use evaluate::{Evaluation, evaluate, fold_at, score};
pub use live::{LabelChange, LiveModel, Severity, Snapshot};
pub use models::{AnnotatorModel, ModelKind, fit};
pub use metrics::{Scored, Scores};
pub use options::FitOptions;
pub use progress::{Progress, Silent};
pub use split::SplitSpec;
