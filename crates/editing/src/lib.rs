//! Viewing and editing an open project: contents, annotators, questions, jobs, and a copy of the whole.

pub mod annotators;
pub mod attribute_form;
pub mod backups;
pub mod care;
pub mod choices;
pub mod copy;
pub mod diagnostics;
pub mod error;
pub mod history;
pub mod info;
pub mod jobs;
pub mod labels;
pub mod language;
mod network_folder;
pub mod notes;
pub mod question_info;
pub mod questions;
mod readable_file;
pub mod remove;
pub mod reveal;
mod sync_folder;
pub mod texts;
pub mod withdraw;

pub use care::check_limit;
pub use copy::CopyChoices;
pub use labels::LabelRow;
pub use questions::{AddQuestion, QuestionChange, define_levels};

use dissensus_project::context::Context;
use dissensus_training::encoding::Encoding;
use dissensus_training::live::LiveModels;
use std::path::Path;
use std::sync::Arc;

/// The open project and its file.
#[derive(Clone)]
pub struct Project {
    context: Arc<Context>,
    encoding: Encoding,
    live: LiveModels,
}

impl Project {
    pub fn of(context: &Arc<Context>, encoding: &Encoding, live: &LiveModels) -> Self {
        Self { context: Arc::clone(context), encoding: encoding.clone(), live: live.clone() }
    }

    pub fn path(&self) -> &Path {
        self.context.store.path()
    }

    /// True if the project was opened read-only.
    pub fn is_reader(&self) -> bool {
        self.context.is_reader()
    }
}
