//! What the model of a run says: loaded from its files, or solved again from the labels that it learned from.

use super::choices;
use super::kept::Kept;
use crate::core::Core;
use crate::encoding::encoders::{Chosen, tuned_options};
use crate::error::WorkbenchError;
use crate::jobs::Observer;
use crate::live::{Steps, cancelled};
use crate::session::Session;
use dissensus_domain::AnnotatorId;
use dissensus_encoder::{Encoder, FreezePolicy};
use dissensus_perspectives::{
    AnnotatorModel, Embeddings, FitOptions, ModelKind, NetworkModel, Observation, TrainConfig, TrainingData,
    fit,
};
use dissensus_store::RunPart;
use serde::Serialize;
use std::sync::Arc;

/// A prediction by a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunPrediction {
    /// The run.
    pub run: u32,
    /// Its model.
    pub model: String,
    /// False where the model learned nothing from this annotator and says what it would of a stranger.
    pub knows_annotator: bool,
    /// Probability of each level.
    pub probabilities: Vec<f32>,
}

impl Session {
    /// How one annotator would label a text (a text of the project by its name, or any other), by the model of a finished run.
    ///
    /// # Errors
    /// There is no such run or text, the run is not finished, its files are gone, or the project uses another encoder now.
    pub fn predict_by_run(
        &self,
        run: u32,
        annotator: AnnotatorId,
        text: &str,
        observer: &dyn Observer,
    ) -> Result<RunPrediction, WorkbenchError> {
        let core = &self.core;
        let kept = core.kept_run(run)?;
        if kept.outcome.report.is_none() {
            return Err(WorkbenchError::NoScores(run));
        }
        let (config, _) = choices::config(&kept.choices)?;
        let encoder = core.encoder_of(&kept, &config)?;
        let model = core.model_of(&kept, &config, &encoder, observer)?;
        let who = core.index().annotator_row(annotator).unwrap_or(u32::MAX);
        let embedding = encoder.encode(&[text])?.swap_remove(0);
        let mut probabilities = vec![0.0; model.levels()];
        model.predict_embedding(&embedding, who, &mut probabilities)?;
        Ok(RunPrediction {
            run,
            model: kept.choices.model.clone(),
            knows_annotator: model.knows(who),
            probabilities,
        })
    }

    /// The body of a text of the project.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn body(&self, text: &str) -> Result<String, WorkbenchError> {
        let found = self.core.store.text_by_external(text)?;
        Ok(found.ok_or_else(|| WorkbenchError::NoSuchText(text.to_owned()))?.body)
    }
}

impl Core {
    /// The encoder that a run's model stands on: its own, or the project's where that is still the same.
    fn encoder_of(&self, kept: &Kept, config: &TrainConfig) -> Result<Encoder, WorkbenchError> {
        if config.policy != FreezePolicy::Frozen {
            let dir = self.run_folder(kept.run.id).join("encoder");
            return Ok(Encoder::open(&dir, &tuned_options(kept.outcome.encoder.as_deref()))?);
        }
        let chosen = self.frozen_of(kept)?;
        let found = crate::encoding::encoders::find(&self.home, None, chosen.as_ref())?;
        let options = chosen.as_ref().map(Chosen::options).unwrap_or_default();
        let encoder = Encoder::open(&found.dir, &options)?;
        match &kept.outcome.encoder {
            Some(then) if *then != encoder.version().key() => Err(WorkbenchError::EncoderChanged {
                stored: then.clone(),
                dir: found.dir,
                found: encoder.version().key(),
            }),
            _ => Ok(encoder),
        }
    }

    fn model_of(
        &self,
        kept: &Kept,
        config: &TrainConfig,
        encoder: &Encoder,
        observer: &dyn Observer,
    ) -> Result<Box<dyn AnnotatorModel>, WorkbenchError> {
        if !config.is_solved() && config.network.model != ModelKind::Multilevel {
            let nothing = Embeddings { dim: encoder.version().dim, ..Embeddings::none(0) };
            return Ok(Box::new(NetworkModel::load(&self.run_folder(kept.run.id), Arc::new(nothing))?));
        }
        let question =
            self.index().question(kept.choices.question).cloned().ok_or(WorkbenchError::NoQuestion)?;
        let material = self.material(&question)?;
        let train = self.taught(kept)?;
        let embeddings = if config.policy == FreezePolicy::Frozen {
            match &kept.outcome.encoder {
                Some(key) => Arc::new(self.embeddings_of(key)?),
                None => self.embeddings()?.0,
            }
        } else {
            Arc::new(self.encoded_for(encoder, &train)?)
        };
        let data = TrainingData { observations: &train, ..material.data(&embeddings) };
        let options = FitOptions { seed: u64::from(kept.choices.seed), ..FitOptions::default() };
        fit(config.network.model, &data, &options, &mut Steps(observer)).map_err(cancelled)
    }

    /// Labels that taught a run, as rows of the arrays.
    fn taught(&self, kept: &Kept) -> Result<Vec<Observation>, WorkbenchError> {
        let index = self.index();
        let observation = |label: &dissensus_store::RunLabel| {
            Some(Observation {
                text: index.text_row(label.text)?,
                annotator: index.annotator_row(label.annotator)?,
                level: label.level,
            })
        };
        Ok(self
            .store
            .run_labels(kept.run.id, RunPart::Train)?
            .labels
            .iter()
            .filter_map(observation)
            .collect())
    }

    /// Embeddings of the texts of these labels; all others stand at zero, where nothing is asked of them.
    fn encoded_for(&self, encoder: &Encoder, train: &[Observation]) -> Result<Embeddings, WorkbenchError> {
        let bodies = self.bodies()?;
        let mut texts: Vec<u32> = train.iter().map(|o| o.text).collect();
        texts.sort_unstable();
        texts.dedup();
        let asked: Vec<&str> = texts.iter().map(|t| bodies[*t as usize].as_str()).collect();
        let dim = encoder.version().dim;
        let mut rows = vec![0.0; bodies.len() * dim];
        for (text, row) in texts.iter().zip(encoder.encode(&asked)?) {
            rows[*text as usize * dim..(*text as usize + 1) * dim].copy_from_slice(&row);
        }
        Ok(Embeddings::new(dim, rows)?)
    }
}
