//! Stored runs: their rows, their choices, and their folders. Training, comparing and using them is in
//! `runs`; encoders that runs have tuned are found through here.

pub(crate) mod choices;
mod folder;
mod saved_run;

pub use choices::run_tuning;
pub(crate) use choices::tuning_name;
pub use folder::{
    AUXILIARY, Card, RunFolder, WORDS_TO_LEARN, encoder_name, io, remove_folder_of, run_of_encoder,
    write_card,
};
pub(crate) use saved_run::{GROUP, LEVEL_IDS, LEVEL_KEYS, Outcome, SavedRun, TrainedWordScores};

use dissensus_project::context::Context;
use std::sync::Arc;

/// The stored runs of a project.
#[derive(Clone)]
pub struct SavedRuns {
    context: Arc<Context>,
}

impl SavedRuns {
    pub fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context) }
    }
}
