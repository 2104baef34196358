//! One run of a training.

use super::data::RunData;
use crate::saved_runs::SavedRun;
use dissensus_domain::Question;

/// A run at work, with what it learns and is scored on.
pub(super) struct Member {
    pub(super) kept: SavedRun,
    pub(super) data: RunData,
    pub(super) question: Question,
}
