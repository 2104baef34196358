//! Starting a run.

use super::Runs;
use super::defaults::last_key;
use super::together::check_joint;
use crate::error::TrainingError;
use crate::runs::auxiliary;
use crate::runs::detail;
use crate::runs::held;
use crate::runs::labels;
use crate::runs::together;
use crate::runs::work;
use crate::saved_runs::{GROUP, LEVEL_IDS, LEVEL_KEYS, choices};
use dissensus_api::{JointQuestion, RunDetail, TrainChoices};
use dissensus_domain::Question;
use dissensus_encoder::{DeviceChoice, FreezePolicy};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress};
use dissensus_store::{NewRun, RunId, StoreError};
use serde_json::json;
use uuid::Uuid;

/// Starts a run in the background and returns its id at once; for questions that are learned together,
/// that of the first.
///
/// # Errors
/// A choice that cannot be carried out, no labels, or another run at work.
pub fn start(cx: &Runs, asked: &TrainChoices) -> Result<u32, ProjectError> {
    let reserved = cx.context.reservations.reserve(Activity::Training)?;
    let run = new_runs(cx, asked)?;
    work::work_on(cx, run, reserved)?;
    Ok(run.0)
}

/// Trains and scores on the calling thread, as the command does; stored as a run of the project. For
/// questions that are learned together it is the run of the first one, which names the others
/// ([`RunInfo::trained_with`](dissensus_api::RunInfo)).
///
/// # Errors
/// Those of [`start`], and any error of the training.
pub fn train(
    cx: &Runs,
    asked: &TrainChoices,
    device: DeviceChoice,
    progress: &dyn Progress,
) -> Result<RunDetail, ProjectError> {
    let _reserved = cx.context.reservations.reserve(Activity::Training)?;
    let run = new_runs(cx, asked)?;
    work::carry_out(cx, run, device, progress)?;
    detail::detail(cx, run.0)
}

/// Adds a row for the run, or for each question that it is to learn, once it is certain that it can be
/// carried out. Returns the first.
fn new_runs(cx: &Runs, asked: &TrainChoices) -> Result<RunId, ProjectError> {
    let (choices, config) = choices::of_new_run(asked)?;
    let learned = together::jointly_learned(cx, &choices)?;
    for (question, _) in &learned {
        if cx.context.observations(question.id)?.is_empty() {
            return Err(ProjectError::NoLabels(question.name.clone()));
        }
    }
    together::check_pos_weight(&learned, &config)?;
    held::check_held(cx, &learned, &choices, &config)?;
    match &learned[..] {
        [(question, _)] => auxiliary::check_auxiliary(cx, question, &config, &choices.auxiliary)?,
        several => check_joint(several, &choices)?,
    }
    let state = cx.encoding.state()?;
    if config.policy == FreezePolicy::Frozen && state.encoded < state.total {
        return Err(TrainingError::NotEncoded(cx.context.store.path().to_owned()).into());
    }
    let rows = rows(cx, &choices, &learned)?;
    let runs = cx.context.store.write(move |tx| -> Result<Vec<RunId>, StoreError> {
        rows.iter().map(|row| tx.add_run(row)).collect()
    })?;
    // The files of other projects, and what is learned together, are named each time, and not taken from
    // an earlier run.
    let choices = TrainChoices { auxiliary: Vec::new(), joint: Vec::new(), held: Vec::new(), ..choices };
    cx.context.store.set_setting(&last_key(config.network.model, &choices.tuning), &choices)?;
    runs.first().copied().ok_or(ProjectError::NoQuestion)
}

/// The row of each question.
fn rows(cx: &Runs, choices: &TrainChoices, learned: &[(Question, f64)]) -> Result<Vec<NewRun>, ProjectError> {
    let together: Vec<JointQuestion> = learned
        .iter()
        .map(|(question, weight)| JointQuestion { question: question.id, weight: *weight })
        .collect();
    let several = together.len() > 1;
    let group = Uuid::now_v7().to_string();
    let started_ms = now_ms();
    // Keys and labels come from the same index: where levels are moved in between, the run is refused.
    let index = cx.context.index();
    let row = |question: &Question| {
        let joint = if several { together.clone() } else { Vec::new() };
        let choices = TrainChoices { question: question.id, joint, ..choices.clone() };
        let mut configuration = serde_json::to_value(&choices).map_err(|e| ProjectError::internal(&e))?;
        let ids = index.question(question.id.row()).ok_or(ProjectError::NoQuestion)?.scale.ids();
        let keys = cx.context.store.keys_by_id(question.id)?;
        let keys: Vec<&String> = ids.iter().filter_map(|id| keys.get(usize::from(id.0))).collect();
        (configuration[LEVEL_KEYS], configuration[LEVEL_IDS]) = (json!(keys), json!(ids));
        if several {
            configuration[GROUP] = group.clone().into();
        }
        Ok(NewRun {
            configuration,
            seed: u64::from(choices.seed),
            device: "cpu".to_owned(),
            started_ms,
            data_sha256: Some(labels::labels_sha256(cx, question.id)?),
        })
    };
    learned.iter().map(|(question, _)| row(question)).collect()
}
