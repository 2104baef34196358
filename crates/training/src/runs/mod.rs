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
mod resumable;
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

pub use auxiliary::auxiliary_candidates;
pub use bundled::model_for_new_texts;
pub use compare::{compare_runs, scored};
pub use data::run_data;
pub use defaults::{choices_for, defaults};
pub use delete::delete;
pub use detail::detail;
pub use export::{COLUMNS, export, metric_of};
pub use labels::{labels_sha256, sha256_of};
pub use list::list;
pub use predict::{RunPrediction, TextToPredict, predict};
pub use prediction_tables::{RunPredictionFile, prediction_tables};
pub use resume::{resume, resume_here};
pub use sets::{TrainedSets, TrainedWords, jointly_learned_options, trained_sets, trained_words};
pub use start::{start, train};
pub use text_scores::scores_of_texts;
pub use tuned_data::before_tuning;
pub use use_run::{in_use, use_run};
pub use words::{learned_words, words_with_people};
pub use work::carry_out;

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
