//! The open project: opening, closing, information, questions and annotators.

use super::{off_main, with_session, with_workbench};
use crate::state::{Opening, WindowState};
use dissensus_api::{
    AnnotatorInfo, HistoryPage, HistoryWish, LevelUseInfo, Problem, ProjectChoices, ProjectInfo,
    QuestionDraft, QuestionInfo, Removal, RemovalPreview, Removed, Traces, Withdrawn,
};
use dissensus_domain::{
    AnnotatorId, AttributeForm, Attributes, Condition, FormAnswers, QuestionHelp, QuestionId, Scale,
    ScaleTemplate,
};
use tauri::{AppHandle, Manager as _};

/// Creates an empty project and opens it.
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

/// Opens a project read-only: nothing is written to it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_project_to_read(app: AppHandle, path: String) -> Result<ProjectInfo, Problem> {
    open(app, Opening::ToRead(path)).await
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

/// The open project, if any.
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
    help: QuestionHelp,
    definitions: Vec<String>,
) -> Result<QuestionInfo, Problem> {
    with_session(app, move |session| {
        session.project.add_explained_question(&name, &prompt, scale, only_if, &help, &definitions)
    })
    .await
}

/// Changes a question. Where levels are added, removed or moved the project is closed and opened again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn change_question(
    app: AppHandle,
    question: QuestionId,
    draft: QuestionDraft,
) -> Result<(), Problem> {
    off_main(move || {
        let state = app.state::<WindowState>();
        let session = state.session()?;
        if session.project.rearranges(question, &draft.levels)? {
            drop(session);
            state.alone(&app, |session| session.project.save_question(question, draft))?;
        } else {
            session.project.save_question(question, draft)?;
        }
        Ok(())
    })
    .await
}

/// What depends on each level of a question and prevents its removal.
#[tauri::command]
#[specta::specta]
pub(crate) async fn level_uses(app: AppHandle, question: QuestionId) -> Result<Vec<LevelUseInfo>, Problem> {
    with_session(app, move |session| session.project.level_uses(question)).await
}

/// Templates of scales for a new question.
#[tauri::command]
#[specta::specta]
pub(crate) async fn scale_templates() -> Result<Vec<ScaleTemplate>, Problem> {
    Ok(ScaleTemplate::all())
}

/// All annotators of the project.
#[tauri::command]
#[specta::specta]
pub(crate) async fn annotators(app: AppHandle) -> Result<Vec<AnnotatorInfo>, Problem> {
    with_session(app, |session| session.project.annotators()).await
}

/// Adds a person confirmed to be different from everyone whose name looks alike: what `add_annotator`
/// refuses as `near-name`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_new_annotator(
    app: AppHandle,
    name: String,
    attributes: Attributes,
) -> Result<AnnotatorInfo, Problem> {
    with_session(app, move |session| session.project.add_new_annotator(&name, &attributes)).await
}

/// Adds a person. A name that looks like another person's is refused as `near-name`: ask whether it is that
/// person.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_annotator(
    app: AppHandle,
    name: String,
    attributes: Attributes,
) -> Result<AnnotatorInfo, Problem> {
    with_session(app, move |session| session.project.add_annotator(&name, &attributes)).await
}

/// Corrects a person's data: a name, attributes with their values, and attributes to remove.
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

/// The attribute form.
#[tauri::command]
#[specta::specta]
pub(crate) async fn attribute_form(app: AppHandle) -> Result<AttributeForm, Problem> {
    with_session(app, |session| session.project.attribute_form()).await
}

/// Sets the attribute form.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_attribute_form(
    app: AppHandle,
    form: AttributeForm,
) -> Result<AttributeForm, Problem> {
    with_session(app, move |session| session.project.set_attribute_form(&form)).await
}

/// The part of the attribute form that is left for a person.
#[tauri::command]
#[specta::specta]
pub(crate) async fn form_left(app: AppHandle, annotator: AnnotatorId) -> Result<AttributeForm, Problem> {
    with_session(app, move |session| session.project.form_left(annotator)).await
}

/// Records a person's answers to the attribute form.
#[tauri::command]
#[specta::specta]
pub(crate) async fn answer_form(
    app: AppHandle,
    annotator: AnnotatorId,
    answers: FormAnswers,
) -> Result<(), Problem> {
    with_session(app, move |session| session.project.answer_form(annotator, &answers)).await
}

/// What is erased if a person withdraws.
#[tauri::command]
#[specta::specta]
pub(crate) async fn traces(app: AppHandle, annotator: AnnotatorId) -> Result<Traces, Problem> {
    with_session(app, move |session| session.project.traces(annotator)).await
}

/// What would be removed together with something, and whether that is possible.
#[tauri::command]
#[specta::specta]
pub(crate) async fn removal(app: AppHandle, what: Removal) -> Result<RemovalPreview, Problem> {
    with_session(app, move |session| session.project.removal(&what)).await
}

/// Removes something; the project is closed and opened again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove(app: AppHandle, what: Removal) -> Result<Removed, Problem> {
    off_main(move || {
        let state = app.state::<WindowState>();
        Ok(state.alone(&app, |session| session.project.remove(&what))?)
    })
    .await
}

/// Erases a person who withdraws; the project is closed and opened again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn withdraw(app: AppHandle, annotator: AnnotatorId) -> Result<Withdrawn, Problem> {
    off_main(move || {
        let state = app.state::<WindowState>();
        Ok(state.alone(&app, |session| session.project.withdraw(annotator))?)
    })
    .await
}

/// Stores the last choices.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_choices(app: AppHandle, choices: ProjectChoices) -> Result<(), Problem> {
    with_session(app, move |session| session.project.save_choices(&choices)).await
}

/// A page of the log.
#[tauri::command]
#[specta::specta]
pub(crate) async fn history(app: AppHandle, wish: HistoryWish) -> Result<HistoryPage, Problem> {
    with_session(app, move |session| session.project.history(&wish)).await
}
