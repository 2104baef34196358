//! Import and export: the only place where a row of a file becomes a row of the project, and back.

mod account;
mod choices;
mod contents;
mod export;
mod guessed_levels;
mod import;
mod mask;
mod notices;
mod opened;
mod pasted;
mod plan;
mod preview;
mod reading;
mod reading_notices;
mod reading_options;
mod seed;
mod stored_columns;
mod study;
mod tool_export;
mod write;

pub use choices::{DecisionLayer, ExportChoices, Exported, Pseudonymised};
pub use contents::{export_contents, export_for_tool, export_formats, stop_export_contents};
pub use export::export;
pub use import::{forget_opened, guess_columns, import, preview, preview_as_last_time};
pub use pasted::{forget_pasted, paste};
pub use reading::{columns_of, columns_of_lists, complete_columns, join_columns, readings};
pub use tool_export::{ToolExport, ToolExportChoices, for_tool};

use dissensus_labelling::Labelling;
use dissensus_labelling::practice::Practice;
use dissensus_project::context::Context;
use dissensus_project::jobs::Newest;
use dissensus_training::background::Background;
use opened::Opened;
use std::sync::Arc;

/// Files of other tools, in and out.
#[derive(Clone)]
pub struct Exchange {
    context: Arc<Context>,
    labelling: Labelling,
    practice: Practice,
    background: Background,
    /// Requests for the contents of an export.
    looks: Newest,
    /// The file that is about to be imported.
    opened: Opened,
}

impl Exchange {
    pub fn new(
        context: &Arc<Context>,
        labelling: &Labelling,
        practice: &Practice,
        background: &Background,
    ) -> Self {
        let (labelling, practice) = (labelling.clone(), practice.clone());
        let (context, background) = (Arc::clone(context), background.clone());
        Self { context, labelling, practice, background, looks: Newest::default(), opened: Opened::default() }
    }
}
