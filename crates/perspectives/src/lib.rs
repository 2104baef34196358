//! Annotator models, live refit, disagreement and metrics: arrays in, arrays out.

mod agreement;
pub mod bench;
mod data;
mod disagreement;
mod effects;
mod error;
mod evaluate;
mod folds;
mod head;
mod held_out;
mod link;
mod live;
mod map;
mod math;
pub mod metrics;
mod models;
mod options;
mod progress;
mod split;
pub mod synthetic;

pub use agreement::{Agreement, Alphas, AnnotatorAgreement, agreement};
pub use data::{Embeddings, Observation, Target, TrainingData};
pub use disagreement::{Disagreement, Measure, disagreement, disagreement_of_texts, ranking};
pub use error::PerspectivesError;
pub use evaluate::{Evaluation, evaluate, fold_at, score};
pub use held_out::{HeldOut, held_out};
pub use live::{LabelChange, LiveModel, Severity, Snapshot};
pub use models::{AnnotatorModel, ModelKind, fit};
pub use map::{AnnotatorMap, annotator_map};
pub use metrics::{Scored, Scores};
pub use options::FitOptions;
pub use progress::{Progress, Silent};
pub use split::SplitSpec;
