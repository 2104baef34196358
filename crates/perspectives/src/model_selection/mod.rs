//! Splits, and models scored on labels that they were not trained on.

mod baselines;
mod cold_start;
mod evaluate;
mod held_out;
mod seen;
mod split;
mod test_set;
mod tuning;

pub use baselines::baselines;
pub use cold_start::{ColdStart, CurvePoint, LearningCurve, learning_curve};
pub use evaluate::{Evaluation, evaluate};
pub use held_out::{HeldOut, held_out};
pub use seen::{FEWEST_UNSEEN_TEXTS, SeenByEncoder};
pub use split::{DataSplit, SplitColumns, SplitSpec};
pub use test_set::TestSet;
pub use tuning::{f1_rule_by_folds, f1_rule_by_validation};
