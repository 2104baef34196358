//! The list of texts.

use dissensus_api::{FoundTexts, LongTextsInfo, TextQuery};
use dissensus_domain::TextId;
use dissensus_project::jobs::Follow;

session_commands! {
    /// Up to `limit` rows of a list of texts from a position, and the position of a text in it.
    fn find_texts(query: TextQuery, offset: u32, limit: u32, look_for: Option<TextId>) -> FoundTexts =
        |session| session.texts.find(&query, offset, limit, look_for);

    /// Finds the texts that are longer than the encoder reads at once. A job whose result this returns.
    fn measure_long_texts() -> LongTextsInfo = |session| session.texts.measure_long(Follow::Job);
}
