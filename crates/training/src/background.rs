//! Background work of an open window: embeddings of texts that have none, and models fitted on them.

use crate::encoding::{EncoderChoice, Encoding};
use crate::error::TrainingError;
use crate::live::LiveModels;
use dissensus_api::JobInfo;
use dissensus_domain::JobKind;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress as _, caught};
use std::sync::Arc;

/// Encodes and fits in the background.
#[derive(Clone)]
pub struct Background {
    context: Arc<Context>,
    encoding: Encoding,
    live: LiveModels,
}

impl Background {
    pub fn new(context: &Arc<Context>, encoding: &Encoding, live: &LiveModels) -> Self {
        Self { context: Arc::clone(context), encoding: encoding.clone(), live: live.clone() }
    }

    /// Encodes texts without an embedding and fits the models, now and whenever something is missing later.
    /// Returns at once.
    pub fn start(&self) {
        // In a task packet the annotator only labels; fitting models on the labels is up to the study.
        if self.context.packet.is_some() {
            return;
        }
        self.context.work_in_background();
        // A missing encoder or another running encoding is reported by `Encoding::state`, not here.
        if self.start_encoding(EncoderChoice::default()).is_err() {
            self.live.fit_in_background();
        }
    }

    /// Calls [`Background::start`] if a window is open on the project.
    pub fn start_again(&self) {
        if self.context.works_in_background() {
            self.start();
        }
    }

    /// Encodes texts without an embedding, with the current encoder or a chosen one, which becomes the
    /// project's; then fits the models.
    ///
    /// # Errors
    /// No encoder was found, every text has its embedding, or an encoding is under way.
    pub fn start_encoding(&self, choice: EncoderChoice) -> Result<JobInfo, ProjectError> {
        let context = &self.context;
        context.store.must_write()?;
        let reserved = context.reservations.reserve(Activity::Encoding)?;
        let found =
            self.encoding.find_encoder(choice.encoder.as_deref(), self.encoding.chosen()?.as_ref())?;
        let state = self.encoding.state()?;
        if choice.encoder.is_none() && state.encoded == state.total {
            return Err(TrainingError::NothingToEncode.into());
        }
        let job = context.begin_job(JobKind::Encode, &found.name)?;
        let info = job.info();
        let (here, at_work) = (self.clone(), Arc::clone(&job));
        let started = context.threads.spawn("encode", move || {
            let encoding = &here.encoding;
            let before = encoding.active_encoder();
            let result = caught("encoding", || {
                here.context.fail_here("encoding");
                encoding.encode_missing(&choice, at_work.as_ref())
            });
            // Recorded before the end is announced, because listeners then ask for the reason of a failure.
            encoding.note_problem(result.as_ref().err().map(ProjectError::problem));
            here.context.end_job(&at_work, &result);
            drop(reserved);
            // Another encoder was activated meanwhile, by a caller that could not start its encoding because
            // this one was running.
            let switched = matches!(
                (&before, encoding.active_encoder()),
                (Ok(before), Ok(now)) if before.key() != now.key()
            );
            if !(switched && !at_work.cancelled() && here.start_encoding(EncoderChoice::default()).is_ok()) {
                here.live.fit_all();
            }
        });
        if let Err(error) = started {
            let ended: Result<JobInfo, _> = Err(error);
            context.end_job(&job, &ended);
            return ended;
        }
        Ok(info)
    }
}
