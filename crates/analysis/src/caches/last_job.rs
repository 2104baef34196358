//! The last result of a kind of job, and the job of that kind that runs.

use dissensus_project::sync::lock;
use std::sync::Mutex;

/// Results have the generation of the labels that they are based on.
pub(crate) struct LastJob<Request, Found> {
    pub(crate) last: Mutex<Option<(u32, Found)>>,
    /// The request, the id of the job, and the generation.
    pub(crate) at_work: Mutex<Option<(Request, u32, u32)>>,
}

impl<Request, Found> Default for LastJob<Request, Found> {
    fn default() -> Self {
        Self { last: Mutex::default(), at_work: Mutex::default() }
    }
}

impl<Request, Found> LastJob<Request, Found> {
    /// Forgets the running job, unless another one has begun.
    pub(crate) fn job_ended(&self, id: u32) {
        let mut at_work = lock(&self.at_work);
        if at_work.as_ref().is_some_and(|(_, job, _)| *job == id) {
            *at_work = None;
        }
    }
}
