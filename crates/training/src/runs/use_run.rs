//! Using the encoder that a run has tuned.

use super::Runs;
use crate::encoding::encoders::{SelectedEncoder, tuned_options};
use crate::error::TrainingError;
use crate::runs::data;
use crate::saved_runs::{SavedRun, encoder_name};
use dissensus_api::Tuning;
use dissensus_encoder::Encoder;
use dissensus_project::error::ProjectError;

/// The run whose encoder or model the project uses.
pub fn in_use(cx: &Runs) -> Result<Option<u32>, ProjectError> {
    cx.encoding.run_in_use()
}

/// Selects the run that the project uses: its tuned encoder becomes the project's, missing texts are
/// encoded in the background, and the live model is fitted on it. `None` returns to the encoder that was
/// in use before.
///
/// # Errors
/// There is no such run, it is not finished, its files are gone, or its model is not updated label by
/// label.
pub fn use_run(cx: &Runs, id: Option<u32>) -> Result<(), ProjectError> {
    match id {
        None => cx.encoding.stop_using_run()?,
        Some(id) => {
            let kept = cx.kept.get(id)?;
            if kept.choices.tuning != Tuning::Frozen && kept.outcome.report.is_some() {
                cx.kept.folder(&kept)?;
            }
            if kept.outcome.report.is_none() || !cx.kept.can_be_used(&kept) {
                return Err(TrainingError::CannotPredict(id).into());
            }
            if kept.choices.tuning != Tuning::Frozen {
                // Runs of format 2 did not store it when they ended.
                let folder = cx.kept.folder(&kept)?;
                let parent = kept.outcome.encoder.as_deref();
                cx.encoding.store_encoder_training_data(
                    kept.run.id,
                    &folder.join("encoder"),
                    parent,
                    None,
                    &[],
                )?;
                cx.encoding.use_tuned_encoder(id, tuned(cx, &kept)?)?;
            } else if !cx.encoding.use_frozen_run(id, kept.outcome.encoder.clone())? {
                let encoder = kept.outcome.encoder.unwrap_or_else(|| "no encoder".to_owned());
                return Err(TrainingError::OtherEncoder { run: id, encoder }.into());
            }
        }
    }
    cx.background.start_again();
    Ok(())
}

/// The frozen encoder of a run's embeddings, regardless of the project's current encoder. Runs of format
/// 2 have no record of how to open it: it is the project's, or the one that was in use before a tuned
/// one.
pub(super) fn frozen_of(cx: &Runs, kept: &SavedRun) -> Result<Option<SelectedEncoder>, ProjectError> {
    if kept.run.start.is_some() {
        return Ok(data::run_data(cx, kept)?.encoder);
    }
    let active = cx.encoding.active_encoder()?;
    let is_its = |chosen: &SelectedEncoder| kept.outcome.encoder.as_ref() == Some(&chosen.key);
    Ok(active.previous.filter(is_its).or(active.current))
}

/// The tuned encoder of a run, as the project uses it.
pub(super) fn tuned(cx: &Runs, kept: &SavedRun) -> Result<SelectedEncoder, ProjectError> {
    let dir = cx.kept.folder(kept)?.join("encoder");
    let encoder = Encoder::open(&dir, &tuned_options(kept.outcome.encoder.as_deref()))?;
    // Registered before it is used: its training data is found through its version, even while nothing
    // is encoded with it.
    cx.encoding.add_version(&encoder, &dir)?;
    // Not its path: project and folder can be moved.
    Ok(SelectedEncoder::new(encoder_name(kept.run.uid), encoder.version()))
}
