//! Events in an open project, and their subscribers.

use crate::sync::Snapshot;
use dissensus_api::JobInfo;
use dissensus_domain::{AnnotatorId, QuestionId};
use std::sync::Arc;

/// An event in a session, sent to every subscriber.
#[derive(Clone, Debug)]
pub enum Event {
    /// A job began, progressed or ended.
    Job(JobInfo),
    /// A label was recorded or taken back; predictions of a live model are updated.
    Labels {
        question: QuestionId,
        text: dissensus_domain::TextId,
        annotator: AnnotatorId,
        /// The new revision of the predictions.
        revision: u32,
    },
    /// A model was refitted: all predictions may have changed.
    Model {
        question: QuestionId,
        /// The new revision of the predictions.
        revision: u32,
    },
    /// A training run began, progressed or ended.
    Run(dissensus_api::RunInfo),
    /// Texts, annotators or questions were added.
    Project,
}

type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// The subscribers.
#[derive(Default)]
pub struct Listeners(Snapshot<Vec<Listener>>);

impl Listeners {
    pub fn send(&self, event: &Event) {
        // No lock is held: a listener may call any method of the session.
        for listener in self.0.get().iter() {
            listener(event);
        }
    }
}

impl Listeners {
    pub fn add(&self, listener: impl Fn(&Event) + Send + Sync + 'static) {
        let listener: Listener = Arc::new(listener);
        self.0.update(|all| all.iter().cloned().chain([Arc::clone(&listener)]).collect());
    }
}
