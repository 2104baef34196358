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
        Ok(Self { data, observations, validation, encoder, config, folder: None })
    }

    /// Keeps checkpoints in `folder`, and resumes from the newest one there.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }
}
