//! What a training is given: labels, configuration, and the encoder to tune.

use super::config::TrainConfig;
use crate::data::PerspectivesError;
use crate::data::{Observation, TrainingData};
use dissensus_encoder::{EncoderOptions, FreezePolicy};
use std::path::{Path, PathBuf};

/// An encoder that is to learn, and the texts it reads.
#[derive(Clone, Copy, Debug)]
pub struct EncoderToTune<'a> {
    /// Its folder.
    pub dir: &'a Path,
    /// Pooling, longest input, device.
    pub options: &'a EncoderOptions,
    /// One body for each row of the embeddings.
    pub texts: &'a [&'a str],
}

/// A training that has not begun.
#[derive(Clone, Debug)]
pub struct Trainer<'a> {
    pub(super) data: TrainingData<'a>,
    pub(super) observations: Vec<Observation>,
    pub(super) validation: Vec<Observation>,
    pub(super) encoder: Option<EncoderToTune<'a>>,
    pub(super) config: TrainConfig,
    pub(super) folder: Option<PathBuf>,
    /// Step after which it ends, whatever the plan.
    pub(super) ends_at: Option<u32>,
}

impl<'a> Trainer<'a> {
    /// A training on the labels of `data`; `validation` are labels that choose the best checkpoint, on other texts. With
    /// [`FreezePolicy::Frozen`] the embeddings of `data` are learned on, else `encoder` must be given.
    ///
    /// # Errors
    /// What is wrong with the labels or the choices; [`PerspectivesError::EmptySplit`] without labels.
    pub fn new(
        data: TrainingData<'a>,
        validation: &[Observation],
        encoder: Option<EncoderToTune<'a>>,
        config: TrainConfig,
    ) -> Result<Self, PerspectivesError> {
        config.check()?;
        let observations = data.sorted()?;
        let validation = TrainingData { observations: validation, ..data }.sorted()?;
        if observations.is_empty() {
            return Err(PerspectivesError::EmptySplit { split: "training".into(), side: "train" });
        }
        let encoder = if config.policy == FreezePolicy::Frozen { None } else { encoder };
        if encoder.is_none() && (config.policy != FreezePolicy::Frozen || data.embeddings.dim == 0) {
            return Err(PerspectivesError::Choice {
                field: "tuning",
                value: config.policy.to_string(),
                allowed: "a network learns on embeddings: encode the texts first",
            });
        }
        if let Some(encoder) = encoder
            && encoder.texts.len() != data.embeddings.texts
        {
            let (expected, found) = (data.embeddings.texts, encoder.texts.len());
            return Err(PerspectivesError::Length { what: "the list of texts", expected, found });
        }
        Ok(Self { data, observations, validation, encoder, config, folder: None, ends_at: None })
    }

    /// Keeps checkpoints in `folder`, and resumes from the newest one there.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Ends after this step of the plan, with the learning rates that the whole plan has until then: a training whose best step is
    /// known is done again on more labels.
    #[must_use]
    pub(crate) fn ending_at(mut self, step: u32) -> Self {
        self.ends_at = Some(step);
        self
    }

    /// The steps of the plan, over which learning rates move.
    pub(crate) fn planned_steps(&self) -> u32 {
        let together = self.config.batch_size * self.config.gradient_accumulation_steps;
        let texts = self.observations.chunk_by(|a, b| a.text == b.text).count();
        let planned = (texts.div_ceil(together) as u32).saturating_mul(self.config.epochs);
        self.config.max_steps.map_or(planned, |most| most.min(planned))
    }
}
