//! The Models view.

use super::with_session;
use dissensus_api::{
    ActiveModel, AuxiliaryCandidate, Problem, RunComparison, RunDetail, RunInfo, TrainChoices, Tuning,
};
use dissensus_domain::QuestionId;
use dissensus_stats::data::ModelKind;
use std::path::Path;
use tauri::AppHandle;

/// Default settings of a training run of this model, or those of the last one requested here.
#[tauri::command]
#[specta::specta]
pub(crate) async fn train_defaults(
    app: AppHandle,
    question: QuestionId,
    model: ModelKind,
    tuning: Tuning,
) -> Result<TrainChoices, Problem> {
    with_session(app, move |session| session.runs.defaults(question, model, tuning)).await
}

/// Questions of a project file that can be auxiliary questions of a run on `question`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn auxiliary_candidates(
    app: AppHandle,
    question: QuestionId,
    project: String,
) -> Result<Vec<AuxiliaryCandidate>, Problem> {
    with_session(app, move |session| session.runs.auxiliary_candidates(question, Path::new(&project))).await
}

/// Starts a run in the background and returns its id at once.
#[tauri::command]
#[specta::specta]
pub(crate) async fn start_run(app: AppHandle, choices: TrainChoices) -> Result<u32, Problem> {
    with_session(app, move |session| session.runs.start(&choices)).await
}

/// Resumes an interrupted run.
#[tauri::command]
#[specta::specta]
pub(crate) async fn resume_run(app: AppHandle, id: u32) -> Result<(), Problem> {
    with_session(app, move |session| session.runs.resume(id)).await
}

/// The exact source of predictions for a question: encoder, model, and number of labels it was fitted on.
#[tauri::command]
#[specta::specta]
pub(crate) async fn active_model(app: AppHandle, question: QuestionId) -> Result<ActiveModel, Problem> {
    with_session(app, move |session| session.live.active_model(question)).await
}

/// All training runs, newest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn runs(app: AppHandle) -> Result<Vec<RunInfo>, Problem> {
    with_session(app, move |session| session.runs.list()).await
}

/// All details of one run.
#[tauri::command]
#[specta::specta]
pub(crate) async fn run_detail(app: AppHandle, id: u32) -> Result<RunDetail, Problem> {
    with_session(app, move |session| session.runs.detail(id)).await
}

/// Compares two runs on the same labels.
#[tauri::command]
#[specta::specta]
pub(crate) async fn compare_runs(app: AppHandle, a: u32, b: u32) -> Result<RunComparison, Problem> {
    with_session(app, move |session| session.runs.compare(a, b)).await
}

/// Uses the encoder of a run for the project; `None` restores the encoder that was in use before.
#[tauri::command]
#[specta::specta]
pub(crate) async fn use_run(app: AppHandle, id: Option<u32>) -> Result<(), Problem> {
    with_session(app, move |session| session.runs.use_run(id)).await
}

/// Deletes a run and its files.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_run(app: AppHandle, id: u32) -> Result<(), Problem> {
    with_session(app, move |session| session.runs.delete(id).map(drop)).await
}

/// Writes a report of these runs; the extension of the path selects the format: csv, json, tex or html.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_runs(app: AppHandle, ids: Vec<u32>, path: String) -> Result<(), Problem> {
    with_session(app, move |session| session.runs.export(&ids, path.as_ref(), false)).await
}
