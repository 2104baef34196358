//! Labelling: the choice of the next text, and the processing of labels.

mod annotations;
pub mod by_name;
pub mod care;
mod care_file;
pub mod drafts;
pub mod error;
pub mod feed;
pub mod guideline;
pub mod left_out;
mod left_out_texts;
pub mod marks;
pub mod next_text;
pub mod notes;
pub mod practice;
pub mod practice_answers;
pub mod progress;
pub mod question_set;
mod reannotated;
pub mod reannotation;
pub mod record;
pub mod revealed;
pub mod spans;
pub mod task;
pub mod topics;
pub mod undo;
pub mod watch;

use annotations::AnnotationCache;
pub use by_name::{LabelByName, NamedAnnotator, NamedLabel};
pub use practice_answers::NamedPractice;
pub use question_set::Unanswered;
pub use record::Recorded;

use crate::practice::Practice;
use dissensus_domain::{AnnotatorId, EventId};
use dissensus_editing::Project;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_training::live::LiveModels;
use left_out_texts::LeftOut;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Recording of labels, and everything that follows from them.
#[derive(Clone)]
pub struct Labelling {
    context: Arc<Context>,
    project: Project,
    live: LiveModels,
    practice: Practice,
    /// Last event that was processed.
    followed: Arc<Mutex<EventId>>,
    annotations: Arc<AnnotationCache>,
    /// Cached texts that people exclude.
    left_out: Arc<Mutex<HashMap<AnnotatorId, Arc<LeftOut>>>>,
}

impl Labelling {
    /// Starts with everything currently in the project.
    pub fn new(
        context: &Arc<Context>,
        project: &Project,
        live: &LiveModels,
        practice: &Practice,
    ) -> Result<Self, ProjectError> {
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
