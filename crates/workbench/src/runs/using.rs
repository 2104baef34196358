//! Which run predicts for the project.

use super::kept::Kept;
use crate::core::Core;
use crate::encoding::encoders::{Chosen, tuned_options};
use crate::error::WorkbenchError;
use crate::session::Session;
use crate::view::{TrainChoices, Tuning};
use dissensus_encoder::Encoder;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Live predictions come from `multilevel`, on the frozen encoder or on one that a run has tuned: the other models do not
/// learn label by label.
pub(super) fn can_predict(choices: &TrainChoices, folder: &Path) -> bool {
    choices.model == "multilevel"
        && (choices.tuning == Tuning::Frozen || folder.join("encoder").join("config.json").is_file())
}

impl Core {
    /// The frozen encoder that a run learned on: the project's, or the one of before a tuned one was taken.
    pub(super) fn frozen_of(&self, kept: &Kept) -> Result<Option<Chosen>, WorkbenchError> {
        let active = self.active_encoder()?;
        let is_its = |chosen: &Chosen| kept.outcome.encoder.as_ref() == Some(&chosen.key);
        Ok(active.previous.filter(is_its).or(active.current))
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
        match id {
            None => core.stop_using_run()?,
            Some(id) => {
                let kept = core.kept_run(id)?;
                let folder = core.run_folder(kept.run.id);
                if kept.outcome.report.is_none() || !can_predict(&kept.choices, &folder) {
                    return Err(WorkbenchError::CannotPredict(id));
                }
                if kept.choices.tuning != Tuning::Frozen {
                    // Runs of format 2 did not keep it when they ended.
                    let parent = kept.outcome.encoder.as_deref();
                    core.keep_encoder_training_data(kept.run.id, &folder.join("encoder"), parent)?;
                    core.use_tuned_encoder(id, tuned(core, &kept)?)?;
                } else if !core.use_frozen_run(id, kept.outcome.encoder.clone())? {
                    let encoder = kept.outcome.encoder.unwrap_or_else(|| "no encoder".to_owned());
                    return Err(WorkbenchError::OtherEncoder { run: id, encoder });
                }
            }
        }
        if core.in_background.load(Ordering::Relaxed) {
            self.start_background_work();
        }
        Ok(())
    }
}

fn tuned(core: &Core, kept: &Kept) -> Result<Chosen, WorkbenchError> {
    let dir = core.run_folder(kept.run.id).join("encoder");
    let dir = dir.canonicalize().unwrap_or(dir);
    let encoder = Encoder::open(&dir, &tuned_options(kept.outcome.encoder.as_deref()))?;
    Ok(Chosen::new(dir.to_string_lossy().into_owned(), encoder.version()))
}
