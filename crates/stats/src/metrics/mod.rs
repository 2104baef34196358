//! Metrics of predictions against labels, by their published definitions.

mod annotators;
mod answers;
mod bootstrap;
mod calibration;
mod classes;
mod compare;
mod correlation;
mod disagreement;
mod f1_rule;
mod interval;
mod mcnemar;
mod multi_label;
mod ordinal;
mod paired;
mod panel;
mod probability;
mod report;
mod score;
mod score_correlation;
mod scored;
mod scores;
mod soft_labels;
mod wilcoxon;

pub use annotators::{AnnotatorScores, annotator_baselines, annotator_scores};
pub use answers::most_likely;
pub use bootstrap::MIN_RARE;
pub use bootstrap::{Cluster, Intervals, bootstrap};
pub use calibration::{CalibrationBin, calibration_curve, expected_calibration_error};
pub use classes::{
    Average, Averages, ClassAccuracy, ClassScores, accuracy, class_scores, confusion, macro_f1,
};
pub use compare::{Comparison, Difference, Differences, compare};
pub use correlation::{pearson, spearman};
pub use disagreement::{auroc, soft_cross_entropy};
pub use f1_rule::F1Rule;
pub use interval::{BootstrapOptions, CONFIDENCE_LEVEL, Interval};
pub(crate) use interval::{Figure, resample};
pub use mcnemar::{McNemar, mcnemar};
pub use multi_label::{BinaryLogLoss, MultiLabelScores, Thresholds};
pub use ordinal::{
    label_correlation, level_correlation, mean_absolute_error, quadratic_kappa, ranked_probability_score,
};
pub use paired::crossed_mean;
pub use paired::{PairedDifference, Resampled};
pub use probability::{brier, log_loss};
pub use report::{Report, ReportOptions};
pub use score::{dichotomize, score};
pub use score_correlation::{Correlation, MIN_CLUSTERS, ScoreCorrelation, ScorePairs, score_correlation};
pub use scored::Scored;
pub use scores::Scores;
pub use soft_labels::Panel;
pub use wilcoxon::{Wilcoxon, wilcoxon};
