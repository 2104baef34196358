//! Viewing and editing an open project: contents, annotators, questions, jobs, and a copy of the whole.

pub mod annotators;
pub mod attribute_form;
pub mod backups;
pub mod care;
pub mod choices;
pub mod consent;
pub mod copy;
pub mod diagnostics;
pub mod disk_encryption;
pub mod error;
pub mod history;
pub mod info;
pub mod jobs;
pub mod labels;
pub mod language;
#[cfg(any(target_os = "linux", test))]
mod mounts;
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

use dissensus_api::DiskEncryption;
use dissensus_project::context::Context;
use dissensus_training::encoding::Encoding;
use dissensus_training::live::LiveModels;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The open project and its file.
#[derive(Clone)]
pub struct Project {
    context: Arc<Context>,
    encoding: Encoding,
    live: LiveModels,
    place: Arc<Place>,
}

/// The place of the file. Asked once: later, a network share that hangs would hold up
/// everything that shows the project.
#[derive(Default)]
struct Place {
    /// The service that synchronises the folder.
    service: OnceLock<Option<&'static str>>,
    is_remote: OnceLock<bool>,
    is_readable_by_others: OnceLock<bool>,
    encryption: OnceLock<DiskEncryption>,
}

impl Project {
    pub fn of(context: &Arc<Context>, encoding: &Encoding, live: &LiveModels) -> Self {
        Self {
            context: Arc::clone(context),
            encoding: encoding.clone(),
            live: live.clone(),
            place: Arc::default(),
        }
    }

    pub fn path(&self) -> &Path {
        self.context.store.path()
    }

    /// True if the project was opened read-only.
    pub fn is_reader(&self) -> bool {
        self.context.is_reader()
    }
}
