//! The workbench, and the project that is open in this window.

use dissensus_workbench::view::{Problem, ProjectInfo};
use dissensus_workbench::{Session, Workbench};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tauri::AppHandle;

/// Shared by all commands.
pub(crate) struct WindowState {
    workbench: Arc<Workbench>,
    session: Mutex<Option<Arc<Session>>>,
    /// Held while a project is opened or closed, so that two of these never cross.
    changing: Mutex<()>,
}

impl WindowState {
    pub(crate) fn new(workbench: Workbench) -> Self {
        Self { workbench: Arc::new(workbench), session: Mutex::new(None), changing: Mutex::new(()) }
    }

    /// What needs no open project.
    pub(crate) fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// The open project, if there is one.
    pub(crate) fn open_session(&self) -> Option<Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The open project.
    ///
    /// # Errors
    /// `no-project` where none is open.
    pub(crate) fn session(&self) -> Result<Arc<Session>, Problem> {
        self.open_session().ok_or_else(|| Problem {
            code: "no-project".into(),
            message: "No project is open.".into(),
            detail: Some("Open a project, or make a new one, on the first page.".into()),
        })
    }

    /// Opens a project in place of the one that is open. That one closes only once the new one is there: where
    /// opening fails nothing changes.
    ///
    /// # Errors
    /// Whatever keeps the workbench from opening it.
    pub(crate) fn open(&self, app: &AppHandle, which: Opening) -> Result<ProjectInfo, Problem> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(already) = self.already_open(&which)? {
            return Ok(already);
        }
        let session = Arc::new(match which {
            Opening::New(path) => self.workbench.new_project(path)?,
            Opening::Existing(path) => self.workbench.open_project(path)?,
            Opening::Sample => self.workbench.open_sample()?,
        });
        let listener = app.clone();
        session.subscribe(move |event| crate::events::forward(&listener, event));
        let info = session.project()?;
        self.replace(Some(session));
        Ok(info)
    }

    /// Closes the open project; without one there is nothing to do.
    pub(crate) fn close(&self) {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.replace(None);
    }

    /// A project that is open here is locked by ourselves: opening it again just shows it.
    fn already_open(&self, which: &Opening) -> Result<Option<ProjectInfo>, Problem> {
        let (Opening::Existing(path), Some(session)) = (which, self.open_session()) else { return Ok(None) };
        let info = session.project()?;
        let same = match (path.canonicalize(), PathBuf::from(&info.path).canonicalize()) {
            (Ok(asked), Ok(open)) => asked == open,
            _ => false,
        };
        Ok(same.then_some(info))
    }

    fn replace(&self, session: Option<Arc<Session>>) {
        let before =
            std::mem::replace(&mut *self.session.lock().unwrap_or_else(PoisonError::into_inner), session);
        // Outside the lock: closing waits for the writer, and commands for the new project should not.
        drop(before);
    }
}

/// Which project to open.
pub(crate) enum Opening {
    /// A file that is not there yet.
    New(PathBuf),
    /// A file that is.
    Existing(PathBuf),
    /// The sample project, made where it is missing.
    Sample,
}
