//! Training runs: starting, watching, resuming, comparing, using and deleting them.

mod at_work;
mod auxiliary;
mod baselines;
mod bundled;
mod compare;
mod data;
pub mod defaults;
mod delete;
mod detail;
mod energy;
mod export;
mod held;
mod job_progress;
mod labels;
mod list;
mod member;
mod notes;
mod predict;
mod prediction_tables;
mod resume;
mod sets;
mod start;
mod steps;
mod table_model;
mod text_scores;
mod together;
mod training;
mod tuned_data;
mod use_run;
mod words;
mod work;

pub use export::{COLUMNS, metric_of};
pub use labels::sha256_of;
pub use predict::RunPrediction;
pub use prediction_tables::RunPredictionFile;
pub use sets::{TrainedSets, TrainedWords};

use crate::background::Background;
use crate::encoding::Encoding;
use crate::saved_runs::SavedRuns;
use at_work::AtWork;
use dissensus_project::context::Context;
use std::sync::Arc;

/// The training runs of a project.
#[derive(Clone)]
pub struct Runs {
    pub context: Arc<Context>,
    pub kept: SavedRuns,
    encoding: Encoding,
    background: Background,
    at_work: Arc<AtWork>,
}

impl Runs {
    pub fn new(
        context: &Arc<Context>,
        kept: &SavedRuns,
        encoding: &Encoding,
        background: &Background,
    ) -> Self {
        Self {
            context: Arc::clone(context),
            kept: kept.clone(),
            encoding: encoding.clone(),
            background: background.clone(),
            at_work: Arc::default(),
        }
    }
}
