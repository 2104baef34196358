//! The encoder: downloading the default one, or using one from a folder.

use super::{with_session, with_workbench};
use crate::download::Download;
use dissensus_api::{EncoderHere, EncoderOffer, EncoderTrials, JobInfo, Problem};
use dissensus_domain::QuestionId;
use dissensus_training::encoding::EncoderChoice;
use tauri::{AppHandle, Manager as _};

/// The default encoder: size, licence, source, and whether it is installed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn encoder_offer(app: AppHandle) -> Result<EncoderOffer, Problem> {
    with_workbench(app, |workbench| workbench.encoder_offer()).await
}

/// Downloads the default encoder; returns when it is installed. Progress is reported by events.
#[tauri::command]
#[specta::specta]
pub(crate) async fn download_encoder(app: AppHandle) -> Result<(), Problem> {
    let download = app.state::<Download>().begin()?;
    let told = app.clone();
    with_workbench(app, move |workbench| {
        workbench.download_encoder(&download.watched_by(told)).map(|_folder| ())
    })
    .await
}

/// Stops a running download; the part downloaded so far is used by the next attempt.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_download(app: AppHandle) -> Result<(), Problem> {
    app.state::<Download>().cancel();
    Ok(())
}

/// Encodes the project with the encoder in this folder, which becomes the project's.
#[tauri::command]
#[specta::specta]
pub(crate) async fn use_encoder(app: AppHandle, folder: String) -> Result<JobInfo, Problem> {
    with_session(app, move |session| {
        session
            .background
            .start_encoding_with(EncoderChoice { encoder: Some(folder), ..EncoderChoice::default() })
    })
    .await
}

/// The installed encoders that the project could use.
#[tauri::command]
#[specta::specta]
pub(crate) async fn encoders_here(app: AppHandle) -> Result<Vec<EncoderHere>, Problem> {
    with_session(app, |session| session.analysis.encoders_here()).await
}

/// Measures how well the labels of a question are predicted with each of these encoders. A job whose result
/// this returns. No encoder is selected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn try_encoders(
    app: AppHandle,
    question: QuestionId,
    names: Vec<String>,
) -> Result<EncoderTrials, Problem> {
    with_session(app, move |session| session.analysis.try_encoders_as_job(question, &names)).await
}
