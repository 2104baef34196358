//! Whether a run can be resumed.

use super::Runs;
use super::auxiliary::auxiliary_of;
use super::data::{OLD_AND_CHANGED, learns_words};
use super::words::words_exist;
use crate::runs::labels;
use crate::saved_runs::{AUXILIARY, SavedRun, choices};
use dissensus_domain::WorkState;
use dissensus_neural::trainer::checkpoint_config_hash;
use dissensus_project::error::ProjectError;

/// Why a run cannot be resumed; `None` if it can.
pub(super) fn cannot_resume(cx: &Runs, kept: &SavedRun) -> Result<Option<&'static str>, ProjectError> {
    if !matches!(kept.run.state, WorkState::Interrupted | WorkState::Cancelled | WorkState::Failed) {
        return Ok(Some("it was not interrupted"));
    }
    if kept.outcome.other_checkpoint {
        return Ok(Some("its checkpoint is of other data or of an earlier version"));
    }
    let Ok((config, _)) = choices::config(&kept.choices) else {
        return Ok(Some("this version of Dissensus does not know its choices"));
    };
    if config.is_convex() {
        return Ok(Some("it is fitted in one go, without checkpoints"));
    }
    // Runs that are trained as one share the folder of checkpoints of the first one.
    let numbers = cx.kept.joint_numbers(kept)?;
    let first = match numbers.first() {
        Some(number) if *number != kept.run.id.0 => &cx.kept.get(*number)?,
        _ => kept,
    };
    if numbers.len() < kept.choices.joint.len() {
        return Ok(Some("a run that was trained with it is not there any more"));
    }
    match cx.kept.has_same_levels(kept) {
        Err(ProjectError::OtherLevels(_)) => return Ok(Some("its question has other levels now")),
        other => other?,
    }
    let found = cx.kept.find_folder(first);
    let Some(folder) = found.own() else { return Ok(Some("its checkpoints are not there")) };
    match checkpoint_config_hash(&folder.join("checkpoints")) {
        None if kept.run.state == WorkState::Failed => {
            return Ok(Some("it failed before its first checkpoint"));
        }
        Some(sum) if config.config_hash().is_ok_and(|ours| ours != sum) => {
            return Ok(Some("its checkpoint is of other choices"));
        }
        _ => {}
    }
    if !auxiliary_of(kept).is_empty() && !folder.join(AUXILIARY).is_file() {
        return Ok(Some("the labels of its auxiliary questions are not there"));
    }
    if !words_exist(learns_words(first), folder) {
        return Ok(Some("the marked words that it learns are not there"));
    }
    if kept.run.start.is_none() && (kept.run.asked.data_sha256.is_none() || labels::labels_changed(cx, kept)?)
    {
        return Ok(Some(OLD_AND_CHANGED));
    }
    Ok(None)
}
