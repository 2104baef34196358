//! The live loop: a label arrives, one annotator and one text are refitted, and every text's disagreement is
//! updated.
//!
//! A label costs Newton steps over that annotator's labels, one row of predictions (all annotators on one
//! text) and one column (one annotator on all texts). The shared head, the averages and the variances stay
//! fixed until [`Snapshot::refit`] has re-estimated them in the background.

mod bald;
mod bytes;
mod combined;
mod explain;
mod interval;
mod joint_answers;
mod label_change;
mod label_weight;
mod level_steps;
mod model;
mod reannotated;
mod refit;
mod severity_sides;
mod share_above;
#[cfg(test)]
mod text_scale_tests;
mod unlikely;

pub use combined::{CombinedOrder, MIN_IN_A_CAMP};
pub use explain::{ExplainedPrediction, ExplainedText, Influence, Outcome, TextScore};
pub use label_change::LabelChange;
pub use label_weight::LabelWeight;
pub use model::LiveModel;
pub use reannotated::{MIN_STABLE_REPEATS, ReannotatedAnswer, StableShare};
pub use refit::Snapshot;
pub use severity_sides::{MIN_LABELS_FOR_A_SIDE, SeveritySides};
pub use share_above::OnSide;
pub use unlikely::{MIN_OWN_LABELS, UNLIKE_OTHERS, UnlikelyKind, UnlikelyLabel, UnlikelyLabels};
