//! The workbench, and telling the window what happens in the project that is open.

use dissensus_api::{JobInfo, Problem, ProjectInfo, WorkState};
use dissensus_app::Workbench;
use dissensus_app::session::Session;
use dissensus_project::error::WorkbenchError;
use std::sync::{Arc, Mutex, PoisonError};
use tauri::AppHandle;

/// Shared by all commands.
pub(crate) struct WindowState {
    workbench: Workbench,
    /// Held while a project is opened or closed, so that two of these never cross.
    changing: Mutex<()>,
}

impl WindowState {
    pub(crate) fn new(workbench: Workbench) -> Self {
        Self { workbench, changing: Mutex::new(()) }
    }

    /// The application.
    pub(crate) fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// Opens a project in place of the one that is open; where that fails nothing changes. The window then hears of
    /// what happens in it, and its background work begins.
    ///
    /// # Errors
    /// Whatever keeps the workbench from opening it.
    pub(crate) fn open(&self, app: &AppHandle, which: Opening) -> Result<ProjectInfo, Problem> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.workbench.session();
        let info = match which {
            Opening::New(path) => self.workbench.new_project(&path),
            Opening::Existing(path) => self.workbench.open_project(&path),
            Opening::ToRead(path) => self.workbench.open_project_to_read(&path),
            Opening::Sample => self.workbench.open_sample(),
        }?;
        if let Some(session) = self.workbench.session()
            && !before.is_some_and(|before| Arc::ptr_eq(&before, &session))
        {
            listen(app, &session);
            session.background.start();
            session.follow_others();
        }
        Ok(info)
    }

    /// Closes the open project; without one there is nothing to do.
    pub(crate) fn close(&self) {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.workbench.close_project();
    }

    /// Does `work` on the open project while nothing else in the window knows it: it is closed and opened again, because people go whom
    /// whatever is in memory knows by their place.
    ///
    /// # Errors
    /// No project is open, a training, an import or an export is under way, or what `work` or the opening says.
    pub(crate) fn alone<T>(
        &self,
        app: &AppHandle,
        work: impl FnOnce(&Session) -> Result<T, WorkbenchError>,
    ) -> Result<T, WorkbenchError> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_working() {
            return Err(WorkbenchError::Busy("a training, an import or an export"));
        }
        let done = self.workbench.alone(work);
        if let Some(session) = self.workbench.session() {
            listen(app, &session);
            session.background.start();
        }
        done
    }

    /// Whether work is under way that closing would break off: a training, an import or an export. Encoding and fitting
    /// go on by themselves when the project is opened again.
    pub(crate) fn is_working(&self) -> bool {
        let Some(session) = self.workbench.session() else { return false };
        let works = |job: &JobInfo| {
            job.state == WorkState::Running && ["train", "import", "export"].contains(&job.kind.as_str())
        };
        // Where the list cannot be read nobody can say what would be lost: better ask.
        session.project.jobs().map_or(true, |jobs| jobs.iter().any(works))
    }

    /// The open project.
    ///
    /// # Errors
    /// None is open.
    pub(crate) fn session(&self) -> Result<Arc<Session>, WorkbenchError> {
        self.workbench.open_session()
    }
}

fn listen(app: &AppHandle, session: &Session) {
    let app = app.clone();
    session.subscribe(move |event| crate::events::forward(&app, event));
}

/// Which project to open.
pub(crate) enum Opening {
    /// A file that is not there yet.
    New(String),
    /// A file that is.
    Existing(String),
    /// A file that is, to read.
    ToRead(String),
    /// The sample project, made where it is missing.
    Sample,
}
