//! Labelling: which text comes next, and what happens to a label.

mod again;
mod annotations;
mod by_name;
mod care;
mod drafts;
mod feed;
pub mod guideline;
mod left_out;
mod marks;
mod next_text;
pub mod practice;
mod practice_answers;
mod progress;
mod record;
mod remarks;
mod sheet;
mod spans;
mod task;
mod told;
pub mod topics;
mod undo;
mod watch;

use annotations::AnnotationCache;
pub use by_name::{NamedAnnotator, NamedLabel};
pub use practice_answers::NamedPractice;
pub use record::Recorded;
pub use sheet::Left;

use crate::practice::Practice;
use dissensus_domain::{AnnotatorId, EventId};
use dissensus_editing::Project;
use dissensus_project::context::Context;
use dissensus_project::error::WorkbenchError;
use dissensus_training::live::LiveModels;
use left_out::LeftOut;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Labels as they are given, and what follows them.
#[derive(Clone)]
pub struct Labelling {
    context: Arc<Context>,
    project: Project,
    live: LiveModels,
    practice: Practice,
    /// How far the events of the project have been followed.
    followed: Arc<Mutex<EventId>>,
    annotations: Arc<AnnotationCache>,
    /// The texts that people leave out, as they were found last.
    left_out: Arc<Mutex<HashMap<AnnotatorId, Arc<LeftOut>>>>,
}

impl Labelling {
    /// Everything that is in the project now is known.
    pub fn of(
        context: &Arc<Context>,
        project: &Project,
        live: &LiveModels,
        practice: &Practice,
    ) -> Result<Self, WorkbenchError> {
        Ok(Self {
            context: Arc::clone(context),
            project: project.clone(),
            live: live.clone(),
            practice: practice.clone(),
            followed: Arc::new(Mutex::new(context.store.last_event()?)),
            annotations: Arc::default(),
            left_out: Arc::default(),
        })
    }
}
