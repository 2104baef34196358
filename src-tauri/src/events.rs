//! Events that the window receives.

use dissensus_api::{JobInfo, RunInfo};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};
use tauri::AppHandle;
use tauri_specta::Event as _;

/// A job began, moved or ended.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct JobChanged(pub(crate) JobInfo);

/// A label was given or taken back, and what depends on it at once is up to date.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct LabelsChanged {
    /// The question answered.
    pub(crate) question: QuestionId,
    /// The text judged.
    pub(crate) text: TextId,
    /// Who judged.
    pub(crate) annotator: AnnotatorId,
    /// Revision of the predictions.
    pub(crate) revision: u32,
}

/// The models of a question were fitted anew.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct ModelChanged {
    /// The question.
    pub(crate) question: QuestionId,
    /// Revision of the predictions.
    pub(crate) revision: u32,
}

/// A training run began, went on or ended.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct RunChanged(pub(crate) RunInfo);

/// Texts, annotators, questions or embeddings of the open project changed: ask for it again.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct ProjectChanged();

/// A download of an encoder went on.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct DownloadChanged {
    /// Bytes here.
    pub(crate) done: f64,
    /// Bytes in all, once known.
    pub(crate) total: Option<f64>,
    /// The file that is on its way.
    pub(crate) file: String,
}

/// A request to open another project, for example by opening its file in the file manager.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct OpenRequested {
    /// Its file.
    pub(crate) path: String,
    /// To read: nothing is written to it.
    pub(crate) read_only: bool,
}

/// The window is to be closed while work is under way: ask the person.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct CloseRequested();

/// Forwards an event of the workbench to the window. A closing window no longer receives events, which is
/// no error.
pub(crate) fn forward(app: &AppHandle, event: &dissensus_project::event::Event) {
    use dissensus_project::event::Event;
    let _ = match event {
        Event::Job(job) => JobChanged(job.clone()).emit(app),
        &Event::Labels { question, text, annotator, revision } => {
            LabelsChanged { question, text, annotator, revision }.emit(app)
        }
        &Event::Model { question, revision } => ModelChanged { question, revision }.emit(app),
        Event::Run(run) => RunChanged(run.clone()).emit(app),
        Event::Project => ProjectChanged().emit(app),
    };
}
