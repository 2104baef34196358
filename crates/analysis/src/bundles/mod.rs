//! Model bundles: a folder with encoder, heads and annotators' effects that predicts without the project.

mod card;
mod manifest;
mod models;
mod open;
mod predictor;
mod sets;
mod sums;
mod words;
mod write;

pub use open::Bundle;
pub use predictor::BundlePredictor;
pub use write::{BundleChoices, BundleWritten};

use crate::Analysis;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_training::encoding::Encoding;
use dissensus_training::live::LiveModels;
use dissensus_training::runs::Runs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Bundles of the models of a project.
#[derive(Clone)]
pub struct Bundles {
    context: Arc<Context>,
    encoding: Encoding,
    live: LiveModels,
    runs: Runs,
    analysis: Analysis,
}

impl Bundles {
    pub fn new(
        context: &Arc<Context>,
        encoding: &Encoding,
        live: &LiveModels,
        runs: &Runs,
        analysis: &Analysis,
    ) -> Self {
        Self {
            context: Arc::clone(context),
            encoding: encoding.clone(),
            live: live.clone(),
            runs: runs.clone(),
            analysis: analysis.clone(),
        }
    }
}

fn io_error(path: &Path, doing: &'static str, source: io::Error) -> ProjectError {
    ProjectError::Io { path: path.to_owned(), doing, source }
}
