//! The upgrade of a file of an earlier format that is being opened: progress and cancellation.

use crate::events::UpgradeChanged;
use dissensus_project::jobs::{Progress, Throttle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tauri::AppHandle;
use tauri_specta::Event as _;

/// Time between two reports to the page.
const BETWEEN_REPORTS: Duration = Duration::from_millis(50);

/// Stops the opening under way, if that upgrades the file.
#[derive(Default)]
pub(crate) struct Upgrade(Arc<AtomicBool>);

impl Upgrade {
    /// Begins an opening, which reports to the page. Cancellation of an earlier one no longer counts.
    pub(crate) fn begin(&self, app: &AppHandle) -> Arc<dyn Progress> {
        self.0.store(false, Ordering::Relaxed);
        Arc::new(Watched {
            app: app.clone(),
            stop: Arc::clone(&self.0),
            reports: Mutex::new(Throttle::new(BETWEEN_REPORTS)),
        })
    }

    /// Asks the upgrade to stop.
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Watched {
    app: AppHandle,
    stop: Arc<AtomicBool>,
    reports: Mutex<Throttle>,
}

impl Progress for Watched {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        if self.reports.lock().unwrap_or_else(PoisonError::into_inner).ready() {
            let share = total.filter(|total| *total > 0).map_or(0.0, |total| done as f64 / total as f64);
            // A closing window no longer receives events, which is no error.
            let _ = UpgradeChanged { share, doing: doing.to_owned() }.emit(&self.app);
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
