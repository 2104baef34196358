//! The list of texts.

use dissensus_api::{FoundTexts, LongTextsInfo, TextQuery};
use dissensus_domain::TextId;

session_commands! {
    /// Up to `limit` rows of a list of texts from a place on, and the place of a text in it.
    fn find_texts(query: TextQuery, offset: u32, limit: u32, look_for: Option<TextId>) -> FoundTexts =
        |session| session.texts.find(&query, offset, limit, look_for);

    /// Tells which texts are longer than the encoder reads at once: a job that ends with this answer.
    fn measure_long_texts() -> LongTextsInfo = |session| session.texts.measure_long_as_job();
}
