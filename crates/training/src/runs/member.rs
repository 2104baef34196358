//! One run of a training.

use super::data::RunData;
use crate::saved_runs::SavedRun;
use dissensus_domain::Question;

/// A run at work, with its training and test data.
pub(super) struct Member {
    pub(super) kept: SavedRun,
    pub(super) data: RunData,
    pub(super) question: Question,
}
