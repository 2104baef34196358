//! Care for the people who label, and what they are shown of others.

use dissensus_api::{CareInfo, OwnCare, StudyCare, TextGroup};
use dissensus_domain::{AnnotatorId, TextId};

session_commands! {
    /// Shows how others see a text to whoever has answered it, or not.
    fn set_reveal(on: bool) -> () = |session| session.project.set_reveal(on);

    /// Sets what the study does for the care of its people.
    fn set_study_care(care: StudyCare) -> () = |session| session.project.set_care(&care);

    /// The groups of texts, the largest first.
    fn text_groups() -> Vec<TextGroup> = |session| session.project.text_groups();

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
