//! Events that the window receives.

use crate::launch::Wanted;
use dissensus_api::{JobInfo, RunInfo};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};
use tauri::AppHandle;
use tauri_specta::Event as _;

/// A job began, progressed or ended.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct JobChanged(pub(crate) JobInfo);

/// A label was given or taken back, and data that depends on it directly is up to date.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct LabelsChanged {
    pub(crate) question: QuestionId,
    /// The labelled text.
    pub(crate) text: TextId,
    /// The annotator.
    pub(crate) annotator: AnnotatorId,
    /// Revision of the predictions.
    pub(crate) revision: u32,
}

/// The models of a question were refitted.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct ModelChanged {
    pub(crate) question: QuestionId,
    /// Revision of the predictions.
    pub(crate) revision: u32,
}

/// A training run began, progressed or ended.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct RunChanged(pub(crate) RunInfo);

/// Texts, annotators, questions or embeddings of the open project changed: fetch it again.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct ProjectChanged();

/// Progress of an encoder download.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct DownloadChanged {
    /// Bytes received.
    pub(crate) done: f64,
    /// Total size in bytes, once known.
    pub(crate) total: Option<f64>,
    /// The current file.
    pub(crate) file: String,
}

/// Progress of a file of an earlier format that is being opened: first a copy of it is made, then it is
/// upgraded.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct UpgradeChanged {
    /// Share of the current step that is done, from 0 to 1.
    pub(crate) share: f64,
    /// The current step, with the names of files.
    pub(crate) doing: String,
}

/// Progress of the download of a packet.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct PacketDownloadChanged {
    /// Bytes received.
    pub(crate) done: f64,
    /// Total size in bytes, if the other side states it.
    pub(crate) total: Option<f64>,
}

/// A request to open something else, for example by opening a file in the file manager.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, tauri_specta::Event)]
pub(crate) struct OpenRequested(pub(crate) Wanted);

/// The window is to be closed while work is running: ask the user.
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
