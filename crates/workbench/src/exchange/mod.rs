//! Import and export: the only place where a row of a file becomes a row of the project, and back.

mod choices;
mod export;
mod guessed_levels;
mod import;
mod mask;
mod notices;
mod plan;
mod preview;
mod seed;
mod study;
mod tool_export;
mod write;

pub use choices::{DecisionLayer, ExportChoices, Exported, Pseudonymised};
pub use tool_export::{ToolExport, ToolExportChoices};

use crate::background::Background;
use crate::context::Context;
use crate::labelling::Labelling;
use crate::practice::Practice;
use std::sync::Arc;

/// Files of other tools, in and out.
#[derive(Clone)]
pub struct Exchange {
    context: Arc<Context>,
    labelling: Labelling,
    practice: Practice,
    background: Background,
}

impl Exchange {
    pub(crate) fn of(
        context: &Arc<Context>,
        labelling: &Labelling,
        practice: &Practice,
        background: &Background,
    ) -> Self {
        let (labelling, practice) = (labelling.clone(), practice.clone());
        Self { context: Arc::clone(context), labelling, practice, background: background.clone() }
    }
}
