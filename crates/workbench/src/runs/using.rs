//! Which run predicts for the project.

use super::kept::{Kept, PREDICTS_KEY};
use crate::core::Core;
use crate::encoding::encoders::{Chosen, ENCODER_KEY};
use crate::error::WorkbenchError;
use crate::session::Session;
use crate::view::{TrainChoices, Tuning};
use dissensus_encoder::{Encoder, EncoderOptions};
use std::path::Path;
use std::sync::atomic::Ordering;

/// The encoder of before a tuned one was taken.
const BEFORE_KEY: &str = "encoder_before_run";

/// Live predictions come from `multilevel`, on the frozen encoder or on one that a run has tuned: the other models do not
/// learn label by label.
pub(super) fn can_predict(choices: &TrainChoices, folder: &Path) -> bool {
    choices.model == "multilevel"
        && (choices.tuning == Tuning::Frozen || folder.join("encoder").join("config.json").is_file())
}

impl Core {
    /// The frozen encoder that a run learned on: the project's, or the one of before a tuned one was taken.
    pub(super) fn frozen_of(&self, kept: &Kept) -> Result<Option<Chosen>, WorkbenchError> {
        let now = self.chosen()?;
        let before: Option<Chosen> = self.store.setting(BEFORE_KEY)?;
        let is_its = |chosen: &Chosen| kept.outcome.encoder.as_ref() == Some(&chosen.key);
        Ok(before.filter(is_its).or(now))
    }
}

impl Session {
    /// Which run predicts for the project: its tuned encoder becomes the project's, what is not encoded with it is encoded in
    /// the background, and the live model is fitted on it. `None` goes back to the encoder of before.
    ///
    /// # Errors
    /// There is no such run, it is not finished, its files are gone, or its model does not learn label by label.
    pub fn use_run(&self, id: Option<u32>) -> Result<(), WorkbenchError> {
        let core = &self.core;
        let before: Option<Chosen> = core.store.setting(BEFORE_KEY)?;
        let now = core.chosen()?;
        let mut learned = false;
        let wanted = match id {
            None => before.clone().or_else(|| now.clone()),
            Some(id) => {
                let kept = core.kept_run(id)?;
                let folder = core.run_folder(kept.run.id);
                if kept.outcome.report.is_none() || !can_predict(&kept.choices, &folder) {
                    return Err(WorkbenchError::CannotPredict(id));
                }
                learned = kept.choices.tuning != Tuning::Frozen;
                if learned { Some(tuned(core, &kept)?) } else { before.clone().or_else(|| now.clone()) }
            }
        };
        // Kept through one tuned encoder after another, and through the same one twice.
        let keep_before = if learned { before.or(now) } else { None };
        core.store.set_setting(BEFORE_KEY, &keep_before)?;
        core.store.set_setting(PREDICTS_KEY, &id)?;
        if let Some(wanted) = wanted {
            core.store.set_setting(ENCODER_KEY, &wanted)?;
        }
        core.live.forget_embeddings();
        core.listeners.send(&crate::event::Event::Project);
        if core.in_background.load(Ordering::Relaxed) {
            self.start_background_work();
        }
        Ok(())
    }
}

fn tuned(core: &Core, kept: &Kept) -> Result<Chosen, WorkbenchError> {
    let dir = core.run_folder(kept.run.id).join("encoder");
    let dir = dir.canonicalize().unwrap_or(dir);
    let encoder = Encoder::open(&dir, &EncoderOptions::default())?;
    let version = encoder.version();
    Ok(Chosen {
        key: version.key(),
        encoder: dir.to_string_lossy().into_owned(),
        pooling: version.pooling,
        precision: version.precision,
    })
}
