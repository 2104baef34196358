//! The encoder download, at most one at a time: progress and cancellation.

use crate::events::DownloadChanged;
use dissensus_api::Problem;
use dissensus_project::jobs::Progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tauri::AppHandle;
use tauri_specta::Event as _;

/// The running download, if any.
#[derive(Default)]
pub(crate) struct Download(Mutex<Weak<AtomicBool>>);

/// A running download; it ends when this is dropped.
pub(crate) struct Running {
    stop: Arc<AtomicBool>,
}

impl Download {
    /// Begins a download.
    ///
    /// # Errors
    /// One is running already.
    pub(crate) fn begin(&self) -> Result<Running, Problem> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.strong_count() > 0 {
            return Err(Problem {
                code: "busy".into(),
                message: "The encoder is being downloaded already.".into(),
                detail: None,
            });
        }
        let stop = Arc::new(AtomicBool::new(false));
        *current = Arc::downgrade(&stop);
        Ok(Running { stop })
    }

    /// Asks the download to stop.
    pub(crate) fn cancel(&self) {
        if let Some(stop) = self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade() {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Running {
    /// Reports its progress to the page.
    pub(crate) fn watched_by(self, app: AppHandle) -> impl Progress {
        Watched { app, running: self }
    }
}

struct Watched {
    app: AppHandle,
    running: Running,
}

impl Progress for Watched {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        let total = total.map(|total| total as f64);
        // A closing window no longer receives events, which is no error.
        let _ = DownloadChanged { done: done as f64, total, file: doing.to_owned() }.emit(&self.app);
    }

    fn cancelled(&self) -> bool {
        self.running.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_download_runs_and_can_be_cancelled() {
        let download = Download::default();
        download.cancel();
        let running = download.begin().unwrap();
        assert!(download.begin().is_err());
        download.cancel();
        assert!(running.stop.load(Ordering::Relaxed));
        drop(running);
        assert!(!download.begin().unwrap().stop.load(Ordering::Relaxed));
    }
}
