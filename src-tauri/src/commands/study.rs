//! The study of People, and the packet of one person.

use super::off_main;
use crate::state::WindowState;
use dissensus_api::{
    AttentionCheckInfo, CollectedFiles, MergeConsent, MergeReport, NewAttentionCheck, NewDecision,
    OpenPacket, PacketFormat, Problem, StudyDraft, StudyReport, StudyRequest, SubmissionInfo, TextTalk,
};
use dissensus_domain::{Answer, QuestionId, TextId};
use dissensus_editing::texts;
use dissensus_project::encryption::typed_passphrase;
use dissensus_project::jobs::Follow;
use dissensus_transfer::study::{self, PacketFolder, PageSettings, SubmissionChoices};
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager as _};

session_commands! {
    /// Previews a plan; nothing is changed.
    fn study_draft(request: StudyRequest) -> StudyDraft = |session| study::draft(&session.study, &request);

    /// Assigns what a plan adds: writes one task packet per person to `folder`. Encrypted files have the
    /// passphrase, or each its own.
    fn hand_out(
        request: StudyRequest,
        folder: String,
        format: PacketFormat,
        passphrase: Option<String>,
    ) -> StudyDraft =
        |session| {
            let passphrase = passphrase.as_deref().map(typed_passphrase).transpose()?;
            let (settings, passphrase) = (PageSettings::default(), passphrase.as_ref());
            let to = PacketFolder { folder: Path::new(&folder), format, settings: &settings, passphrase };
            study::hand_out(&session.study, &request, to, Follow::Job)
        };

    /// Writes lost packets again to `folder`.
    fn write_packets_again(
        people: Vec<String>,
        folder: String,
        format: PacketFormat,
        passphrase: Option<String>,
    ) -> Vec<String> =
        |session| {
            let passphrase = passphrase.as_deref().map(typed_passphrase).transpose()?;
            let (settings, passphrase) = (PageSettings::default(), passphrase.as_ref());
            let to = PacketFolder { folder: Path::new(&folder), format, settings: &settings, passphrase };
            study::write_again(&session.study, &people, to, Follow::Job)
        };

    /// The progress of the study.
    fn study_report() -> StudyReport = |session| study::report(&session.study);
}

/// Merges submissions, and whole copies of the project as far as `consent` allows. If one of them contains a
/// withdrawal, the project is closed and opened again.
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
        if consent.changes && files.iter().any(|file| study::is_to_erase_for(&session.study, file)) {
            drop(session);
            return Ok(
                state.alone(&app, |session| study::merge(&session.study, &files, &consent, Follow::Job))?
            );
        }
        Ok(study::merge(&session.study, &files, &consent, Follow::Job)?)
    })
    .await
}

/// Merges the submissions in a folder that are new into the open project, which is given by its path; null if
/// nothing has changed there since the last call. The first call `begins`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn collect_folder(
    app: AppHandle,
    project: String,
    folder: String,
    begins: bool,
) -> Result<Option<CollectedFiles>, Problem> {
    off_main(move || Ok(app.state::<WindowState>().collect(&project, Path::new(&folder), begins)?)).await
}

/// Merges the encrypted submissions in the watched folder that this passphrase opens.
#[tauri::command]
#[specta::specta]
pub(crate) async fn unlock_folder(
    app: AppHandle,
    project: String,
    passphrase: String,
) -> Result<CollectedFiles, Problem> {
    off_main(move || {
        let passphrase = typed_passphrase(&passphrase)?;
        Ok(app.state::<WindowState>().unlock_watched(&project, passphrase)?)
    })
    .await
}

session_commands! {
    /// Everyone's answers and notes on a text, and the decisions.
    fn text_talk(question: QuestionId, text: TextId) -> TextTalk =
        |session| study::discussion(&session.study, question, text);

    /// Records a decision about a text; labels are unaffected.
    fn decide(decision: NewDecision) -> TextTalk = |session| study::decide(&session.study, &decision);

    /// The attention checks, and their answers.
    fn attention_checks() -> Vec<AttentionCheckInfo> = |session| study::list_checks(&session.study);

    /// Sets the right answer of an attention check, or removes the check.
    /// The text is named by its id in files.
    fn set_attention_check(
        question: QuestionId,
        text_id: String,
        answer: Option<Answer>,
        reason: String,
    ) -> Vec<AttentionCheckInfo> = |session| {
        let (text, _) = texts::find(&session.project, &text_id)?;
        study::set_checks(&session.study, &[NewAttentionCheck { question, text, answer, reason }])?;
        study::list_checks(&session.study)
    };

    /// The open task packet; `None` for a whole project.
    fn open_packet() -> Option<OpenPacket> = |session| study::open_packet(&session.study);

    /// Writes the submission of the open packet to one file, encrypted if a passphrase is given; an earlier
    /// submission is replaced, as the dialog asked.
    fn hand_in(file: String, passphrase: Option<String>) -> SubmissionInfo = |session| {
        let passphrase = passphrase.as_deref().map(typed_passphrase).transpose()?;
        let choices = SubmissionChoices { replace: true, passphrase: passphrase.as_ref() };
        study::hand_in(&session.study, Path::new(&file), choices)
    };
}
