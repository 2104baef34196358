//! Events in an open project, and their subscribers.

use crate::sync::Snapshot;
use dissensus_api::JobInfo;
use dissensus_domain::{AnnotatorId, QuestionId};
use std::sync::Arc;

/// An event in a session, sent to every subscriber.
#[derive(Clone, Debug)]
pub enum Event {
    /// A job began, went on or ended.
    Job(JobInfo),
    /// A label was recorded or taken back; predictions have followed where a model is live.
    Labels {
        /// The question.
        question: QuestionId,
        /// The text.
        text: dissensus_domain::TextId,
        /// The annotator.
        annotator: AnnotatorId,
        /// The revision of the predictions now.
        revision: u32,
    },
    /// A model was fitted anew: all predictions may have changed.
    Model {
        /// The question.
        question: QuestionId,
        /// The revision of the predictions now.
        revision: u32,
    },
    /// A training run began, went on or ended.
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
        // No lock is held: a listener may ask the session anything.
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
