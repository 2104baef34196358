//! Panels of people: their members, their expected verdicts, and saved panels.

mod ask;
mod compose;
pub mod error;
mod file;
mod forecast;
mod saved;

pub use file::{CheckedPanel, PanelFile, PanelFileChoices};

use crate::Analysis;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_training::encoding::Encoding;
use std::sync::Arc;

/// Verdicts of panels on the texts of the open project, and of files.
#[derive(Clone)]
pub struct Panels {
    context: Arc<Context>,
    encoding: Encoding,
    analysis: Analysis,
}

impl Panels {
    pub fn new(context: &Arc<Context>, encoding: &Encoding, analysis: &Analysis) -> Self {
        Self { context: Arc::clone(context), encoding: encoding.clone(), analysis: analysis.clone() }
    }

    /// Returns an error if the open project is a packet, whose annotator must not see data of others.
    fn whole_project(&self) -> Result<(), ProjectError> {
        match self.context.packet {
            Some(_) => Err(ProjectError::IsPacket),
            None => Ok(()),
        }
    }
}
