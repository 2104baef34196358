//! What is masked in texts that are handed out.

use dissensus_api::{MaskPreview, MaskQuery, MaskSettings, NameCandidates};
use dissensus_domain::MaskRules;
use dissensus_transfer::study;

session_commands! {
    /// What is masked in texts that are handed out from now on.
    fn mask_settings() -> MaskSettings = |session| study::mask_settings(&session.study);

    /// Sets what is masked in texts that are handed out from now on.
    fn set_masks(rules: MaskRules) -> MaskSettings = |session| study::set_masks(&session.study, &rules);

    /// What rules find in the texts of the project; nothing is changed.
    fn preview_masks(query: MaskQuery) -> MaskPreview =
        |session| study::preview_masks(&session.study, &query, study::follow_masks(&session.study));

    /// Words that may be names.
    fn name_candidates() -> NameCandidates =
        |session| study::name_candidates(&session.study, study::follow_masks(&session.study));

    /// The different values of a column of the texts' data, for a list of words.
    fn words_of_column(column: String) -> Vec<String> =
        |session| study::words_of_column(&session.study, &column);
}
