//! Protection of annotators, and what they are shown of other people's labels.

use dissensus_api::{CareInfo, OwnCare, StudyCare, TextGroup};
use dissensus_domain::{AnnotatorId, TextId};

session_commands! {
    /// Sets whether a person who has answered is shown how others see a text.
    fn set_reveal(on: bool) -> () = |session| session.project.set_reveal(on);

    /// Sets the study's care settings.
    fn set_study_care(care: StudyCare) -> () = |session| session.project.set_care(&care);

    /// The groups of texts, largest first.
    fn text_groups() -> Vec<TextGroup> = |session| session.project.text_groups();

    /// The care state of a person today.
    fn care(annotator: AnnotatorId) -> CareInfo = |session| session.labelling.care(annotator);

    /// Stores a person's care choices on this computer.
    fn set_own_care(annotator: AnnotatorId, own: OwnCare) -> CareInfo =
        |session| session.labelling.set_own_care(annotator, &own);

    /// Records that a person reads a text, and returns the resulting care state.
    fn read_text(annotator: AnnotatorId, text: TextId) -> CareInfo =
        |session| session.labelling.read_text(annotator, text);

    /// Lets a person continue beyond the limit until the day ends.
    fn go_on_today(annotator: AnnotatorId) -> CareInfo = |session| session.labelling.go_on_today(annotator);
}
