//! Figures about labels, annotators and models: agreement, aggregation, disagreement, evaluation.

mod aggregation;
mod annotators;
mod disagreement;
mod evaluation;

pub use aggregation::{Aggregated, AggregatedAnnotator, AggregatedText, AnnotatorPairAgreement};
pub use annotators::Agreement;
pub(crate) use annotators::Measured;
pub use evaluation::{EvaluateChoices, Evaluation, PoolingChoice, PoolingLoss, SplitReport, Trained};
