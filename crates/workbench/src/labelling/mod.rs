//! Labelling: which text comes next, and what happens to a label.

mod again;
mod annotations;
mod by_name;
mod feed;
mod marks;
mod next_text;
mod progress;
mod record;
mod remarks;
mod sheet;
mod spans;
mod task;
mod undo;

use annotations::AnnotationCache;
pub use by_name::NamedLabel;
pub use record::Recorded;

use crate::context::Context;
use crate::error::WorkbenchError;
use crate::live::LiveModels;
use crate::project::Project;
use dissensus_domain::EventId;
use std::sync::{Arc, Mutex};

/// Labels as they are given, and what follows them.
#[derive(Clone)]
pub struct Labelling {
    context: Arc<Context>,
    project: Project,
    live: LiveModels,
    /// How far the events of the project have been followed.
    followed: Arc<Mutex<EventId>>,
    annotations: Arc<AnnotationCache>,
}

impl Labelling {
    /// Everything that is in the project now is known.
    pub(crate) fn of(
        context: &Arc<Context>,
        project: &Project,
        live: &LiveModels,
    ) -> Result<Self, WorkbenchError> {
        Ok(Self {
            context: Arc::clone(context),
            project: project.clone(),
            live: live.clone(),
            followed: Arc::new(Mutex::new(context.store.last_event()?)),
            annotations: Arc::default(),
        })
    }
}
