//! Held-out figures of each question, and the measurements that run.

use dissensus_domain::QuestionId;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Job;
use dissensus_project::sync::lock;
use dissensus_selection::evaluation::HeldOut;
use dissensus_stats::data::Observation;
use dissensus_training::encoding::Basis;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Figures of each question, and a gate for each: one measurement at a time; a caller that waited finds it
/// done.
#[derive(Default)]
pub(crate) struct Measurements {
    pub(crate) kept: Mutex<HashMap<QuestionId, HeldOutResults>>,
    gates: Mutex<HashMap<QuestionId, Arc<Mutex<()>>>>,
    /// Locked while a job begins, so that only one of two concurrent calls begins it.
    starting: Mutex<()>,
    /// Running measurements: the generation of the labels and the id of the job, by question.
    jobs: Mutex<HashMap<QuestionId, (u32, u32)>>,
}

impl Measurements {
    pub(crate) fn gate(&self, question: QuestionId) -> Arc<Mutex<()>> {
        Arc::clone(lock(&self.gates).entry(question).or_default())
    }

    /// The id of the job that measures labels of this generation, and the job itself if this call began it
    /// with `begin`.
    pub(crate) fn one_job(
        &self,
        question: QuestionId,
        generation: u32,
        begin: impl FnOnce() -> Result<Arc<Job>, ProjectError>,
    ) -> Result<(u32, Option<Arc<Job>>), ProjectError> {
        let _starting = lock(&self.starting);
        if let Some((_, id)) = lock(&self.jobs).get(&question).filter(|(of, _)| *of == generation) {
            return Ok((*id, None));
        }
        let job = begin()?;
        let id = job.info().id;
        lock(&self.jobs).insert(question, (generation, id));
        Ok((id, Some(job)))
    }

    pub(crate) fn job_ended(&self, question: QuestionId, job: u32) {
        let mut jobs = lock(&self.jobs);
        if jobs.get(&question).is_some_and(|(_, id)| *id == job) {
            jobs.remove(&question);
        }
    }
}

/// Held-out results of all annotators, and the state that they were measured on.
pub(crate) struct HeldOutResults {
    pub(crate) generation: u32,
    /// Sorted by text and annotator.
    pub(crate) labels: Vec<Observation>,
    pub(crate) annotators: usize,
    /// The embeddings that they are based on.
    pub(crate) basis: Basis,
    pub(crate) results: Vec<HeldOut>,
    /// Number of labelled texts that were not scored, because the encoder was tuned on them.
    pub(crate) left_out: usize,
}
