//! The guideline.

use super::with_session;
use dissensus_api::{
    GuidelineAgreement, GuidelineInfo, GuidelineWritten, NewGuideline, PictureData, Problem,
};
use dissensus_labelling::guideline::OnScreen;
use std::path::Path;
use tauri::AppHandle;

session_commands! {
    /// The version of the guideline that holds; none where nothing was written.
    fn guideline() -> Option<GuidelineInfo> = |session| session.guideline.newest();

    /// Every version of the guideline, the first one first.
    fn guideline_versions() -> Vec<GuidelineInfo> = |session| session.guideline.versions();
}

/// Writes a new version, which holds from here on.
#[tauri::command]
#[specta::specta]
pub(crate) async fn write_guideline(
    app: AppHandle,
    guideline: NewGuideline,
) -> Result<GuidelineWritten, Problem> {
    // Who saw none wrote the first one: a version that came meanwhile is not covered.
    let after = Some(guideline.after.clone().unwrap_or_default());
    let guideline = NewGuideline { after, ..guideline };
    with_session(app, move |session| session.guideline.write(&guideline, None)).await
}

session_commands! {
    /// How far people agreed under each version.
    fn guideline_agreement() -> Vec<GuidelineAgreement> =
        |session| session.guideline.agreement(OnScreen::Guideline);

    /// A picture of the project.
    fn picture(name: String) -> PictureData = |session| session.guideline.picture(&name);

    /// A picture from a file, as it would be taken into the project; nothing is kept.
    fn read_picture(file: String) -> PictureData =
        |session| session.guideline.read_picture(Path::new(&file));
}
