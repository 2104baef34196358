//! The encoder: downloading the default one, or taking one from a folder.

use super::with_workbench;
use crate::download::Download;
use dissensus_analysis::encoder_trials;
use dissensus_api::{EncoderHere, EncoderOffer, EncoderTrials, JobInfo, Problem};
use dissensus_domain::QuestionId;
use dissensus_project::jobs::Follow;
use dissensus_training::encoding::EncoderChoice;
use tauri::{AppHandle, Manager as _};

app_commands! {
    /// The default encoder: size, licence, source, and whether it is installed.
    fn encoder_offer() -> EncoderOffer = |workbench| workbench.encoder_offer();
}

/// Downloads the default encoder and returns when it is installed; progress is reported by events.
#[tauri::command]
#[specta::specta]
pub(crate) async fn download_encoder(app: AppHandle) -> Result<(), Problem> {
    let download = app.state::<Download>().begin()?;
    let report_lines = app.clone();
    with_workbench(app, move |workbench| {
        workbench.download_encoder(&download.watched_by(report_lines)).map(|_folder| ())
    })
    .await
}

/// Stops the download, if one is running; the part received so far is stored for the next attempt.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_download(app: AppHandle) -> Result<(), Problem> {
    app.state::<Download>().cancel();
    Ok(())
}

session_commands! {
    /// Encodes the project with the encoder in this folder, which becomes the project's.
    fn use_encoder(folder: String) -> JobInfo = |session| {
        session
            .background
            .start_encoding(EncoderChoice { encoder: Some(folder), ..EncoderChoice::default() })
    };

    /// The installed encoders that the project could use.
    fn encoders_here() -> Vec<EncoderHere> = |session| encoder_trials::encoders_here(&session.analysis);

    /// Measures how well the labels of a question are predicted with each of these encoders; none is
    /// selected. Runs as a job and returns its result.
    fn try_encoders(question: QuestionId, names: Vec<String>) -> EncoderTrials =
        |session| encoder_trials::compare(&session.analysis, question, &names, Follow::Job);
}
