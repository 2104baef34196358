//! Closing the window, with a question first where work would be lost.

use crate::events::CloseRequested;
use crate::state::WindowState;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tauri::{AppHandle, CloseRequestApi, Manager as _};
use tauri_specta::Event as _;

/// Time after which a second close request, without an answer of the page, means that the page does not
/// respond.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time of the last request to the page that is unanswered.
#[derive(Default)]
pub(crate) struct ClosingRequest(Mutex<Option<Instant>>);

impl ClosingRequest {
    /// Whether to ask the page (again); if not, the window closes.
    fn ask(&self, now: Instant) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.is_some_and(|before| now.duration_since(before) > PATIENCE) {
            return false;
        }
        asked.get_or_insert(now);
        true
    }

    /// Called when the page has asked the user, who now decides.
    pub(crate) fn answered(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Handles a close request: asks the page if work is running, or if people could not answer any more.
pub(crate) fn requested(app: &AppHandle, api: &CloseRequestApi) {
    let state = app.state::<WindowState>();
    if !state.is_working() && !state.is_serving() {
        return;
    }
    if app.state::<ClosingRequest>().ask(Instant::now()) && CloseRequested().emit(app).is_ok() {
        api.prevent_close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unresponsive_page_cannot_prevent_closing() {
        let asked = ClosingRequest::default();
        let start = Instant::now();
        assert!(asked.ask(start));
        assert!(asked.ask(start + PATIENCE / 2), "a double click is one request");
        assert!(!asked.ask(start + PATIENCE * 2));
        asked.answered();
        assert!(asked.ask(start + PATIENCE * 3));
    }
}
