//! The open project: opening, closing, its annotators, and its questions.

use super::off_main;
use crate::state::{Opening, WindowState};
use dissensus_api::{
    AnnotatorInfo, DiskInfo, HistoryPage, HistoryRequest, LevelUseInfo, Problem, ProjectChoices, ProjectInfo,
    QuestionDraft, QuestionInfo, Removal, RemovalPreview, Removed, Traces, Withdrawn,
};
use dissensus_domain::{
    AnnotatorId, AttributeForm, Attributes, Condition, FormAnswers, QuestionHelp, QuestionId, Scale,
    ScaleTemplate,
};
use dissensus_editing::annotators;
use dissensus_editing::attribute_form;
use dissensus_editing::choices;
use dissensus_editing::disk_encryption;
use dissensus_editing::history;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::remove;
use dissensus_editing::withdraw;
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

/// Opens a project read-only.
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

/// Stops the upgrade of a file that is being opened; the file stays as it was.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_upgrade(app: AppHandle) -> Result<(), Problem> {
    app.state::<WindowState>().cancel_upgrade();
    Ok(())
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

app_commands! {
    /// The open project, if any.
    fn project() -> Option<ProjectInfo> = |workbench| workbench.project();
}

session_commands! {
    /// Whether the disk of the project is encrypted.
    fn disk_info() -> DiskInfo = |session| Ok(disk_encryption::of(&session.project));
}

session_commands! {
    /// Adds a question.
    fn add_question(
        name: String,
        prompt: String,
        scale: Scale,
        only_if: Option<Condition>,
        help: QuestionHelp,
        definitions: Vec<String>,
    ) -> QuestionInfo = |session| {
        let new = AddQuestion::new(name, prompt, scale);
        let request = AddQuestion { only_if, help, definitions, ..new };
        questions::add(&session.project, request)
    };
}

session_commands! {
    /// Changes a question.
    fn change_question(question: QuestionId, draft: QuestionDraft) -> () =
        |session| questions::save(&session.project, question, draft).map(drop);

    /// What depends on each level of a question and prevents its removal.
    fn level_uses(question: QuestionId) -> Vec<LevelUseInfo> =
        |session| questions::level_uses(&session.project, question);
}

/// Scales to begin a question with.
#[tauri::command]
#[specta::specta]
pub(crate) async fn scale_templates() -> Result<Vec<ScaleTemplate>, Problem> {
    Ok(ScaleTemplate::all())
}

session_commands! {
    /// All annotators of the project.
    fn annotators() -> Vec<AnnotatorInfo> = |session| annotators::list(&session.project);

    /// Adds a person confirmed to be different from everyone whose name looks alike: what `add_annotator`
    /// refuses as `near-name`.
    fn add_new_annotator(name: String, attributes: Attributes) -> AnnotatorInfo =
        |session| annotators::add_new(&session.project, &name, &attributes);

    /// Adds a person. A name that looks like another person's is refused as `near-name`: ask whether it is
    /// that person.
    fn add_annotator(name: String, attributes: Attributes) -> AnnotatorInfo =
        |session| annotators::add(&session.project, &name, &attributes);

    /// Changes the name of a person, sets attributes, and removes those in `unset`.
    fn change_annotator(
        annotator: AnnotatorId,
        name: Option<String>,
        set: Attributes,
        unset: Vec<String>,
    ) -> () = |session| {
        let set: Vec<(String, String)> = set.into_iter().collect();
        annotators::change(&session.project, annotator, name.as_deref(), &set, &unset)
    };

    /// The attribute form.
    fn attribute_form() -> AttributeForm = |session| attribute_form::form(&session.project);

    /// Sets the attribute form.
    fn set_attribute_form(form: AttributeForm) -> AttributeForm =
        |session| attribute_form::set(&session.project, &form);

    /// The part of the attribute form that is left for a person.
    fn form_left(annotator: AnnotatorId) -> AttributeForm = |session| attribute_form::left_to_answer(&session.project, annotator);

    /// Records a person's answers to the attribute form.
    fn answer_form(annotator: AnnotatorId, answers: FormAnswers) -> () =
        |session| attribute_form::answer(&session.project, annotator, &answers);

    /// What is erased if a person withdraws.
    fn traces(annotator: AnnotatorId) -> Traces = |session| withdraw::traces(&session.project, annotator);

    /// What would be removed together with something, and whether that is possible.
    fn removal(what: Removal) -> RemovalPreview = |session| remove::preview(&session.project, &what);
}

/// Removes something from the project, which is closed and opened again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove(app: AppHandle, what: Removal) -> Result<Removed, Problem> {
    off_main(move || {
        let state = app.state::<WindowState>();
        Ok(state.alone(&app, |session| remove::remove(&session.project, &what))?)
    })
    .await
}

/// Erases the data of a person who withdraws; the project is closed and opened again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn withdraw(app: AppHandle, annotator: AnnotatorId) -> Result<Withdrawn, Problem> {
    off_main(move || {
        let state = app.state::<WindowState>();
        Ok(state.alone(&app, |session| withdraw::withdraw(&session.project, annotator))?)
    })
    .await
}

session_commands! {
    /// Stores the last choices.
    fn save_choices(choices: ProjectChoices) -> () = |session| choices::save(&session.project, &choices);

    /// A page of the log.
    fn history(request: HistoryRequest) -> HistoryPage = |session| history::read(&session.project, &request);
}
