//! The study in the People view, and the task packet of one person.

use super::{off_main, with_session};
use crate::state::WindowState;
use dissensus_api::{
    AttentionCheckInfo, HandedIn, MergeConsent, MergeReport, NewAttentionCheck, NewDecision, OpenPacket,
    Problem, StudyDraft, StudyReport, StudyWish, TextTalk,
};
use dissensus_domain::{Answer, QuestionId, TextId};
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager as _};

/// Previews a plan; nothing is changed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn study_draft(app: AppHandle, wish: StudyWish) -> Result<StudyDraft, Problem> {
    with_session(app, move |session| session.study.draft(&wish)).await
}

/// Assigns what a plan adds: writes one task packet per person to `folder`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn hand_out(app: AppHandle, wish: StudyWish, folder: String) -> Result<StudyDraft, Problem> {
    with_session(app, move |session| session.study.hand_out_as_job(&wish, Path::new(&folder))).await
}

/// Writes lost packets again to `folder`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn write_packets_again(
    app: AppHandle,
    people: Vec<String>,
    folder: String,
) -> Result<Vec<String>, Problem> {
    with_session(app, move |session| session.study.write_again_as_job(&people, Path::new(&folder))).await
}

/// The progress of the study.
#[tauri::command]
#[specta::specta]
pub(crate) async fn study_report(app: AppHandle) -> Result<StudyReport, Problem> {
    with_session(app, move |session| session.study.report()).await
}

/// Merges submissions, packets and whole copies, the latter within the given consent. Where one of them
/// records a withdrawal, the project is closed and opened again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn merge_files(
    app: AppHandle,
    files: Vec<String>,
    consent: MergeConsent,
) -> Result<MergeReport, Problem> {
    let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
    off_main(move || {
        let state = app.state::<WindowState>();
        let session = state.session()?;
        if consent.changes && files.iter().any(|file| session.study.is_to_be_alone_for(file)) {
            drop(session);
            return Ok(state.alone(&app, |session| session.study.merge_as_job(&files, &consent))?);
        }
        Ok(session.study.merge_as_job(&files, &consent)?)
    })
    .await
}

/// Everyone's answers and notes on a text, and the decisions.
#[tauri::command]
#[specta::specta]
pub(crate) async fn text_talk(
    app: AppHandle,
    question: QuestionId,
    text: TextId,
) -> Result<TextTalk, Problem> {
    with_session(app, move |session| session.study.talk(question, text)).await
}

/// Records a decision about a text; labels are unaffected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn decide(app: AppHandle, decision: NewDecision) -> Result<TextTalk, Problem> {
    with_session(app, move |session| session.study.decide(&decision)).await
}

/// The attention checks, and their answers.
#[tauri::command]
#[specta::specta]
pub(crate) async fn attention_checks(app: AppHandle) -> Result<Vec<AttentionCheckInfo>, Problem> {
    with_session(app, move |session| session.study.checks()).await
}

/// Sets the right answer of an attention check, or removes the check. The text is named by its id in files.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_attention_check(
    app: AppHandle,
    question: QuestionId,
    text_id: String,
    answer: Option<Answer>,
    reason: String,
) -> Result<Vec<AttentionCheckInfo>, Problem> {
    with_session(app, move |session| {
        let (text, _) = session.project.text_named(&text_id)?;
        session.study.set_checks(&[NewAttentionCheck { question, text, answer, reason }])?;
        session.study.checks()
    })
    .await
}

/// The open task packet; `None` for a whole project.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_packet(app: AppHandle) -> Result<Option<OpenPacket>, Problem> {
    with_session(app, move |session| session.study.open_packet()).await
}

/// Writes the submission of the open packet to one file; an existing file is replaced, as the dialog asked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn hand_in(app: AppHandle, file: String) -> Result<HandedIn, Problem> {
    with_session(app, move |session| session.study.hand_in(Path::new(&file), true)).await
}
