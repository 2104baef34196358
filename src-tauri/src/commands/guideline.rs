//! The guideline.

use dissensus_api::{GuidelineAgreement, GuidelineInfo, GuidelineWritten, NewGuideline, PictureData};
use dissensus_labelling::guideline::OnScreen;
use std::path::Path;

session_commands! {
    /// The current version of the guideline; `None` if there is none.
    fn guideline() -> Option<GuidelineInfo> = |session| session.guideline.newest();

    /// All versions of the guideline, oldest first.
    fn guideline_versions() -> Vec<GuidelineInfo> = |session| session.guideline.versions();

    /// Writes a new version, which holds from here on.
    fn write_guideline(guideline: NewGuideline) -> GuidelineWritten = |session| {
        // Without `after` the user saw no version: an empty one ensures that a version added meanwhile is not
        // superseded unseen.
        let after = Some(guideline.after.clone().unwrap_or_default());
        session.guideline.write(&NewGuideline { after, ..guideline }, None)
    };

    /// Agreement under each version.
    fn guideline_agreement() -> Vec<GuidelineAgreement> =
        |session| session.guideline.agreement(OnScreen::Guideline);

    fn picture(name: String) -> PictureData = |session| session.guideline.picture(&name);

    /// Reads a picture from a file as it would be stored in the project, without storing it.
    fn read_picture(file: String) -> PictureData =
        |session| session.guideline.read_picture(Path::new(&file));
}
