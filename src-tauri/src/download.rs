//! Downloads, of each kind at most one at a time: progress and cancellation.

use crate::events::{DownloadChanged, PacketDownloadChanged};
use dissensus_api::Problem;
use dissensus_project::jobs::Progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tauri::AppHandle;
use tauri_specta::Event as _;

/// The running download, if any.
#[derive(Default)]
pub(crate) struct Download(Mutex<Weak<AtomicBool>>);

/// The running download of a packet, if any.
#[derive(Default)]
pub(crate) struct PacketDownload(pub(crate) Download);

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
                message: "A download is under way already: wait for it, or cancel it.".into(),
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
    /// Reports the progress of an encoder to the page.
    pub(crate) fn watched_by(self, app: AppHandle) -> impl Progress {
        Watched {
            running: self,
            send: move |done, total, file| {
                // A closing window no longer receives events, which is no error.
                let _ = DownloadChanged { done, total, file }.emit(&app);
            },
        }
    }

    /// Reports the progress of a packet to the page.
    pub(crate) fn packet_watched_by(self, app: AppHandle) -> impl Progress {
        Watched {
            running: self,
            send: move |done, total, _| {
                let _ = PacketDownloadChanged { done, total }.emit(&app);
            },
        }
    }
}

struct Watched<S> {
    running: Running,
    /// Sends bytes received, their total and the current file to the page.
    send: S,
}

impl<S: Fn(f64, Option<f64>, String) + Send + Sync> Progress for Watched<S> {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        (self.send)(done as f64, total.map(|total| total as f64), doing.to_owned());
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
