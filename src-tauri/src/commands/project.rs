//! The open project: open, close, describe, and who and what it asks.

use super::{off_main, with_session, with_workbench};
use crate::state::{Opening, WindowState};
use dissensus_domain::{AnnotatorId, Attributes, Condition, QuestionId, RemarkForm, Scale};
use dissensus_workbench::view::{
    AnnotatorInfo, Problem, ProjectChoices, ProjectInfo, QuestionInfo, Traces, Withdrawn,
};
use tauri::{AppHandle, Manager as _};

/// Makes an empty project and opens it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn new_project(app: AppHandle, path: String) -> Result<ProjectInfo, Problem> {
    open(app, Opening::New(path)).await
}

/// Opens a project.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_project(app: AppHandle, path: String) -> Result<ProjectInfo, Problem> {
    open(app, Opening::Existing(path)).await
}

/// Opens the sample project.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_sample(app: AppHandle) -> Result<ProjectInfo, Problem> {
    open(app, Opening::Sample).await
}

async fn open(app: AppHandle, which: Opening) -> Result<ProjectInfo, Problem> {
    off_main(move || app.state::<WindowState>().open(&app, which)).await
}

/// Closes the open project.
#[tauri::command]
#[specta::specta]
pub(crate) async fn close_project(app: AppHandle) -> Result<(), Problem> {
    off_main(move || {
        app.state::<WindowState>().close();
        Ok(())
    })
    .await
}

/// The open project, if there is one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn project(app: AppHandle) -> Result<Option<ProjectInfo>, Problem> {
    with_workbench(app, |workbench| workbench.project()).await
}

/// Adds a question.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_question(
    app: AppHandle,
    name: String,
    prompt: String,
    scale: Scale,
    only_if: Option<Condition>,
) -> Result<QuestionInfo, Problem> {
    with_session(app, move |session| session.project.add_question_only_if(&name, &prompt, scale, only_if))
        .await
}

/// Names all levels, options or types of a question, and sets where it is asked (without a condition always) and what can be said beside an
/// answer.
#[tauri::command]
#[specta::specta]
pub(crate) async fn change_question(
    app: AppHandle,
    question: QuestionId,
    names: Vec<String>,
    only_if: Option<Condition>,
    remarks: RemarkForm,
) -> Result<(), Problem> {
    with_session(app, move |session| {
        session.project.change_question(question, Some(&names), Some(only_if), Some(&remarks))
    })
    .await
}

/// Everyone in the project.
#[tauri::command]
#[specta::specta]
pub(crate) async fn annotators(app: AppHandle) -> Result<Vec<AnnotatorInfo>, Problem> {
    with_session(app, |session| session.project.annotators()).await
}

/// Adds a person.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_annotator(
    app: AppHandle,
    name: String,
    attributes: Attributes,
) -> Result<AnnotatorInfo, Problem> {
    with_session(app, move |session| session.project.add_annotator(&name, &attributes)).await
}

/// Corrects what is known of a person: a name, attributes with their values, and attributes that are not to be known any more.
#[tauri::command]
#[specta::specta]
pub(crate) async fn change_annotator(
    app: AppHandle,
    annotator: AnnotatorId,
    name: Option<String>,
    set: Attributes,
    unset: Vec<String>,
) -> Result<(), Problem> {
    let set: Vec<(String, String)> = set.into_iter().collect();
    with_session(app, move |session| {
        session.project.change_annotator(annotator, name.as_deref(), &set, &unset)
    })
    .await
}

/// What goes if somebody withdraws.
#[tauri::command]
#[specta::specta]
pub(crate) async fn traces(app: AppHandle, annotator: AnnotatorId) -> Result<Traces, Problem> {
    with_session(app, move |session| session.project.traces(annotator)).await
}

/// Erases somebody who withdraws; the project is closed for it and opened again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn withdraw(app: AppHandle, annotator: AnnotatorId) -> Result<Withdrawn, Problem> {
    off_main(move || {
        let state = app.state::<WindowState>();
        Ok(state.alone(&app, |session| session.project.withdraw(annotator))?)
    })
    .await
}

/// Keeps what was chosen last.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_choices(app: AppHandle, choices: ProjectChoices) -> Result<(), Problem> {
    with_session(app, move |session| session.project.save_choices(&choices)).await
}
