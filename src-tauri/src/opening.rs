//! Projects that the system asks this window to open: named at the start, by a second start of the program,
//! or, on macOS, by the system itself.

use crate::events::OpenRequested;
use crate::launch::{ProjectToOpen, project_argument};
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager as _};
use tauri_specta::Event as _;

/// The label of the only window.
pub(crate) const WINDOW: &str = "main";

/// Stores a requested project until the page listens.
pub(crate) struct Requests {
    state: Mutex<State>,
}

struct State {
    /// The newest request that the page has not received.
    waiting: Option<ProjectToOpen>,
    /// Whether the page has fetched the first request: from then on it listens.
    listening: bool,
}

impl Requests {
    /// Creates the requests with the project named on the command line, if any.
    pub(crate) fn new(project: Option<ProjectToOpen>) -> Self {
        Self { state: Mutex::new(State { waiting: project, listening: false }) }
    }

    /// For the page, once it listens: the project to begin with.
    pub(crate) fn take(&self) -> Option<ProjectToOpen> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.listening = true;
        state.waiting.take()
    }

    /// The request to send to the page now; a request from before the page listened is stored for
    /// [`Requests::take`].
    fn ask(&self, wanted: ProjectToOpen) -> Option<ProjectToOpen> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.listening {
            return Some(wanted);
        }
        state.waiting = Some(wanted);
        None
    }
}

/// Opens a project in the existing window, and brings that to the front.
pub(crate) fn open(app: &AppHandle, wanted: ProjectToOpen) {
    to_front(app);
    if let Some(ProjectToOpen { path, read_only }) = app.state::<Requests>().ask(wanted) {
        // A closing window no longer receives events, which is no error.
        let _ = OpenRequested { path: path.to_string_lossy().into_owned(), read_only }.emit(app);
    }
}

/// Handles a second start of the program: its arguments, beginning with its own name, and its working
/// folder.
pub(crate) fn second_start(app: &AppHandle, arguments: Vec<String>, folder: &str) {
    let arguments = arguments.into_iter().skip(1).map(OsString::from);
    match project_argument(arguments, Path::new(folder)) {
        Some(wanted) => open(app, wanted),
        None => to_front(app),
    }
}

fn to_front(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(WINDOW) {
        // The window manager may refuse each of these: the window then stays where it was.
        let _ = window.unminimize();
        let _ = window.show();
        let _ = window.set_focus();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_requests_are_queued_and_the_newest_is_used() {
        let wanted = |path: &str| ProjectToOpen { path: path.into(), read_only: path == "/b" };
        let requests = Requests::new(Some(wanted("/a")));
        assert_eq!(requests.ask(wanted("/b")), None);
        assert_eq!(requests.take(), Some(wanted("/b")));
        assert_eq!(requests.take(), None, "a page that is loaded again does not open it a second time");
        assert_eq!(requests.ask(wanted("/c")), Some(wanted("/c")));
    }
}
