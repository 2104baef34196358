//! Annotator models, live refit, disagreement and metrics: arrays in, arrays out.
//!
//! Texts and annotators are indices, labels are [`Observation`]s, embeddings a matrix. No SQL, no window, no encoder.
//!
//! ```
//! use dissensus_domain::ScaleKind;
//! use dissensus_perspectives::*;
//!
//! // Three texts with two-dimensional embeddings, two annotators, one of whom says "yes" more easily.
//! let embeddings = Embeddings::new(2, vec![1.0, 0.0, 0.0, 1.0, 0.7, 0.7])?;
//! let o = |text, annotator, level| Observation { text, annotator, level };
//! let observations = [o(0, 0, 0), o(0, 1, 1), o(1, 0, 0), o(1, 1, 1), o(2, 1, 1)];
//! let target = Target { kind: ScaleKind::Binary, levels: 2 };
//! let data = TrainingData { embeddings: &embeddings, observations: &observations, annotators: 2, target, attributes: &[] };
//!
//! let mut live = LiveModel::fit(&data, &FitOptions::default(), &mut Silent)?;
//! live.record(o(2, 0, 0))?;
//! let yes = |annotator: usize| live.row(2)[annotator * 2 + 1];
//! assert!(yes(1) > yes(0));
//! assert!(live.disagreement(2).pairwise > 0.0);
//! assert_eq!(live.ranking(Measure::Pairwise).len(), 3);
//! # Ok::<(), PerspectivesError>(())
//! ```

mod aggregation;
mod agreement;
pub mod bench;
mod cold_start;
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
mod networks;
mod options;
mod own_head;
mod progress;
mod split;
pub mod synthetic;
mod trainer;

pub use aggregation::{
    Aggregation, AggregationFit, AggregationOptions, Aggregator, AnnotatorQuality, MaceMethod, Tie, aggregate,
};
pub use agreement::{
    Agreement, Alphas, AnnotatorAgreement, CohenPair, Estimate, Reliability, agreement, cohen_pairs,
    reliability,
};
pub use cold_start::{ColdStart, CurvePoint, LearningCurve, learning_curve};
pub use data::{Attribute, Embeddings, Observation, Target, TrainingData};
pub use disagreement::{Disagreement, Measure, disagreement, disagreement_of_texts, ranking};
pub use effects::AttributeEvidence;
pub use error::PerspectivesError;
pub use evaluate::{Evaluation, evaluate, fold_at, score};
pub use held_out::{HeldOut, held_out};
pub use live::{LabelChange, LiveModel, Severity, Snapshot};
pub use map::{AnnotatorMap, annotator_map};
pub use metrics::{Scored, Scores};
pub use models::{AnnotatorModel, ModelKind, fit};
pub use networks::{Activation, HeadSpec, NetworkModel, NetworkSpec, PeopleSpec};
pub use options::FitOptions;
pub use progress::{Progress, Silent};
pub use split::{Division, SplitColumns, SplitSpec, TestSet};
pub use trainer::{
    BestBy, Ended, EpochRecord, GradientLength, Learnable, Schedule, Seeds, TrainConfig, TrainObserver,
    Trained, Trainer, ValidationScores,
};
