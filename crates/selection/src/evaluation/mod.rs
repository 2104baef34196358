//! Splits, and scores of models on labels that they were not trained on.

mod baselines;
mod cold_start;
mod cross_fit;
mod evaluate;
mod held_out;
mod joint_sets;
mod predicted;
mod predicted_sets;
mod prediction_sets;
mod seen;
mod set_differences;
mod split;
mod test_set;
mod tuning;
mod units;

pub use baselines::{baselines, baselines_of, predict_baselines};
pub use cold_start::{ColdStart, CurvePoint, LearningCurve, learning_curve};
pub use cross_fit::{TextFolds, cross_fitted, mean_predictions};
pub use evaluate::{evaluate, predict_test};
pub use held_out::{HeldOut, held_out};
pub use joint_sets::SetsTogether;
pub use predicted::{Evaluation, HeldOutPart, Predicted};
pub use predicted_sets::{PredictedSets, SetEvaluation};
pub use prediction_sets::{NoPredictionSets, PredictionSets, SetQuality, SetTenth, prediction_sets};
pub use seen::{MIN_UNSEEN_TEXTS, SeenByEncoder};
pub use split::{CopiesAcross, DataSplit, SplitColumns, SplitSpec};
pub use test_set::TestSet;
pub use tuning::{f1_rule_by_folds, scored_by_calibration, scored_by_folds};
