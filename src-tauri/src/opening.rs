//! Files and links that the system asks this window to open: named at the start, by a second start of the
//! program, or, on macOS, by the system itself.

use crate::events::OpenRequested;
use crate::launch::Wanted;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager as _};
use tauri_specta::Event as _;

/// The label of the only window.
pub(crate) const WINDOW: &str = "main";

/// Stores what is requested until the page listens.
pub(crate) struct Requests {
    state: Mutex<State>,
}

struct State {
    /// What was requested and the page has not received: the newest files, and the newest link.
    waiting: Option<Wanted>,
    /// Whether the page has fetched the first request: from then on it listens.
    listening: bool,
}

impl Requests {
    /// Creates the requests with what the command line names, if anything.
    pub(crate) fn new(first: Option<Wanted>) -> Self {
        Self { state: Mutex::new(State { waiting: first, listening: false }) }
    }

    /// For the page, once it listens: what to begin with.
    pub(crate) fn take(&self) -> Option<Wanted> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.listening = true;
        state.waiting.take()
    }

    /// The request to send to the page now; a request from before the page listened is stored for
    /// [`Requests::take`].
    fn ask(&self, wanted: Wanted) -> Option<Wanted> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.listening {
            return Some(wanted);
        }
        let earlier = state.waiting.take();
        state.waiting = Some(match earlier {
            Some(earlier) => wanted.after(earlier),
            None => wanted,
        });
        None
    }
}

/// Opens files or a link in the existing window, and brings that to the front.
pub(crate) fn open(app: &AppHandle, wanted: Wanted) {
    to_front(app);
    if let Some(wanted) = app.state::<Requests>().ask(wanted) {
        // A closing window no longer receives events, which is no error.
        let _ = OpenRequested(wanted).emit(app);
    }
}

/// Handles a second start of the program: its arguments, beginning with its own name, and its working
/// folder.
pub(crate) fn second_start(app: &AppHandle, arguments: Vec<String>, folder: &str) {
    let arguments = arguments.into_iter().skip(1).map(OsString::from);
    match Wanted::read(arguments, Path::new(folder)) {
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
        let wanted = |path: &str| Wanted { project: Some(path.to_owned()), ..Wanted::default() };
        let requests = Requests::new(Some(wanted("/a")));
        assert_eq!(requests.ask(wanted("/b")), None);
        assert_eq!(requests.take(), Some(wanted("/b")));
        assert_eq!(requests.take(), None, "a page that is loaded again does not open it a second time");
        assert_eq!(requests.ask(wanted("/c")), Some(wanted("/c")));
    }

    #[test]
    fn early_link_and_project_are_both_opened() {
        let project = Wanted { project: Some("/a".to_owned()), read_only: true, ..Wanted::default() };
        let link = Wanted { link: Some("dissensus://page".to_owned()), ..Wanted::default() };
        let both = Wanted { link: link.link.clone(), ..project.clone() };
        for order in [[project.clone(), link.clone()], [link, project]] {
            let requests = Requests::new(None);
            assert!(order.into_iter().all(|wanted| requests.ask(wanted).is_none()));
            assert_eq!(requests.take(), Some(both.clone()));
        }
    }
}
