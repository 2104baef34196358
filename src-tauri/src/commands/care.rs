//! Care for the people who label, and what they are shown of others.

use super::with_session;
use dissensus_api::{CareInfo, OwnCare, Problem, StudyCare, TextGroup};
use dissensus_domain::{AnnotatorId, TextId};
use tauri::AppHandle;

session_commands! {
    /// Shows how others see a text to whoever has answered it, or not.
    fn set_reveal(on: bool) -> () = |session| session.project.set_reveal(on);

    /// Sets what the study does for the care of its people.
    fn set_study_care(care: StudyCare) -> () = |session| session.project.set_care(&care);
}

/// The groups of texts, the largest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn text_groups(app: AppHandle) -> Result<Vec<TextGroup>, Problem> {
    with_session(app, |session| session.project.text_groups()).await
}
session_commands! {
    /// Where a person stands today.
    fn care(annotator: AnnotatorId) -> CareInfo = |session| session.labelling.care(annotator);

    /// Keeps what a person chose, on this computer.
    fn set_own_care(annotator: AnnotatorId, own: OwnCare) -> CareInfo =
        |session| session.labelling.set_own_care(annotator, &own);

    /// Notes that a person reads a text, and says where they stand then.
    fn read_text(annotator: AnnotatorId, text: TextId) -> CareInfo =
        |session| session.labelling.read_text(annotator, text);

    /// Lets a person go on beyond the limit until the day ends.
    fn go_on_today(annotator: AnnotatorId) -> CareInfo = |session| session.labelling.go_on_today(annotator);
}
