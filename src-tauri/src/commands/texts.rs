//! The list of texts.

use super::with_session;
use dissensus_api::{FoundTexts, LongTextsInfo, Problem, TextQuery};
use dissensus_domain::TextId;
use tauri::AppHandle;

/// Up to `limit` rows of a list of texts from a position, and the position of a text in it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn find_texts(
    app: AppHandle,
    query: TextQuery,
    offset: u32,
    limit: u32,
    look_for: Option<TextId>,
) -> Result<FoundTexts, Problem> {
    with_session(app, move |session| session.texts.find(&query, offset, limit, look_for)).await
}

/// Finds the texts that are longer than the encoder reads at once. A job whose result this returns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn measure_long_texts(app: AppHandle) -> Result<LongTextsInfo, Problem> {
    with_session(app, |session| session.texts.measure_long_as_job()).await
}
