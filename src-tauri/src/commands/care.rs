//! Protection of annotators, and what they are shown of other people's labels.

use dissensus_api::{CareInfo, ConsentState, ConsentText, OwnCare, StudyCare, TextGroup};
use dissensus_domain::{AnnotatorId, Language, TextId};
use dissensus_editing::{consent, reveal};
use dissensus_labelling::care;

session_commands! {
    /// Sets whether a person who has answered is shown how others see a text.
    fn set_reveal(on: bool) -> () = |session| reveal::set(&session.project, on);

    /// Sets the language in which annotators use the desk; none leaves it to each person's system.
    fn set_language(language: Option<Language>) -> () =
        |session| dissensus_editing::language::set(&session.project, language);

    /// The text that people agree to before they answer, in all versions.
    fn consent() -> ConsentState = |session| consent::read(&session.project);

    /// Writes another version of that text; none asks for no agreement.
    fn set_consent(body: Option<String>) -> ConsentState =
        |session| consent::set(&session.project, body.as_deref());

    /// The version that a person has not agreed to yet.
    fn consent_left(annotator: AnnotatorId) -> Option<ConsentText> = |session| consent::left(&session.project, annotator);

    /// Records that a person agrees to a version.
    fn agree(annotator: AnnotatorId, version: String) -> () =
        |session| consent::agree(&session.project, annotator, &version);

    /// Sets the study's care settings.
    fn set_study_care(care: StudyCare) -> () = |session| dissensus_editing::care::set(&session.project, &care);

    /// The groups of texts, largest first.
    fn text_groups() -> Vec<TextGroup> = |session| dissensus_editing::care::text_groups(&session.project);

    /// The care state of a person today.
    fn care(annotator: AnnotatorId) -> CareInfo = |session| care::state(&session.labelling, annotator);

    /// Stores a person's care choices on this computer.
    fn set_own_care(annotator: AnnotatorId, own: OwnCare) -> CareInfo =
        |session| care::set_own(&session.labelling, annotator, &own);

    /// Records that a person reads a text, and returns the resulting care state.
    fn read_text(annotator: AnnotatorId, text: TextId) -> CareInfo =
        |session| care::note_read(&session.labelling, annotator, text);

    /// Lets a person continue beyond the limit until the day ends.
    fn go_on_today(annotator: AnnotatorId) -> CareInfo = |session| care::go_on_today(&session.labelling, annotator);
}
