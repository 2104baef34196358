//! The workbench, and notifying the window of events in the open project.

use crate::serving::Serving;
use crate::upgrade::Upgrade;
use dissensus_api::{CollectedFiles, InviteRequest, JobInfo, Problem, ProjectInfo, ServingInfo, WorkState};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_editing::jobs;
use dissensus_project::encryption::{Passphrase, ReadableFiles, is_other_encrypted};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_project::sync::lock;
use dissensus_server::ServerError;
use dissensus_transfer::study::DropFolder;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tauri::AppHandle;

/// State shared by all commands.
pub(crate) struct WindowState {
    workbench: Application,
    /// Held while a project is opened or closed, or a server on it starts or stops: two of these never
    /// overlap.
    changing: Mutex<()>,
    serving: Arc<Serving>,
    /// The folder that is watched, and the file of the project into which its submissions are merged.
    watched: Mutex<Option<(PathBuf, DropFolder)>>,
    /// The upgrade of a file that is being opened.
    upgrade: Upgrade,
    /// Encrypted files that are being merged or imported.
    unlocked: Mutex<Vec<ReadableFiles>>,
}

impl WindowState {
    pub(crate) fn new(workbench: Application) -> Self {
        let (changing, serving, watched) = (Mutex::new(()), Arc::default(), Mutex::new(None));
        let (upgrade, unlocked) = (Upgrade::default(), Mutex::default());
        Self { workbench, changing, serving, watched, upgrade, unlocked }
    }

    /// The application.
    pub(crate) fn workbench(&self) -> &Application {
        &self.workbench
    }

    /// Opens a project in place of the open one; on failure nothing changes. The window then receives its
    /// events, and its background work begins.
    ///
    /// # Errors
    /// Any error of the workbench on opening it.
    pub(crate) fn open(&self, app: &AppHandle, which: Opening) -> Result<ProjectInfo, Problem> {
        let _one_at_a_time = self.one_at_a_time();
        let before = self.workbench.session();
        let info = match which {
            Opening::New(path) => self.workbench.new_project(&path),
            Opening::Existing(path) => self.workbench.open_project_reporting(&path, &self.upgrade.begin(app)),
            Opening::ToRead(path) => self.workbench.open_project_to_read(&path),
            Opening::Sample => self.workbench.open_sample(),
        }?;
        if let Some(session) = self.workbench.session()
            && !before.is_some_and(|before| Arc::ptr_eq(&before, &session))
        {
            self.serving.forget();
            listen(app, &session);
            session.background.start();
            session.back_up_automatically();
            session.follow_others();
        }
        Ok(info)
    }

    /// Stops the upgrade of a file that is being opened: the file stays as it was, and so does the open
    /// project.
    pub(crate) fn cancel_upgrade(&self) {
        self.upgrade.cancel();
    }

    /// Closes the open project before the program exits. An upgrade under way is stopped, since nobody sees
    /// it any longer and the exit would wait for it: the file stays as it was.
    pub(crate) fn close_for_exit(&self) {
        self.cancel_upgrade();
        self.close();
    }

    /// Closes the open project, if any.
    pub(crate) fn close(&self) {
        let _one_at_a_time = self.one_at_a_time();
        self.workbench.close_project();
        self.serving.forget();
        self.forget_unlocked();
    }

    /// Starts a server on the open project. It ends before the project is closed, however that happens.
    ///
    /// # Errors
    /// No project is open, or those of [`Serving::start`].
    pub(crate) fn invite(&self, request: &InviteRequest) -> Result<ServingInfo, ProjectError> {
        let _one_at_a_time = self.one_at_a_time();
        let session = self.session()?;
        self.serving.start(&session, request)?;
        let serving = Arc::clone(&self.serving);
        session.before_closing(move || serving.end());
        Ok(self.serving.info(&session)?.ok_or(ServerError::NotRunning)?)
    }

    /// What the server on the open project has received; `None` where none was started.
    ///
    /// # Errors
    /// The packets cannot be read.
    pub(crate) fn serving(&self) -> Result<Option<ServingInfo>, ProjectError> {
        match self.workbench.session() {
            Some(session) => self.serving.info(&session),
            None => Ok(None),
        }
    }

    /// Stops the server, if one runs.
    ///
    /// # Errors
    /// Those of [`Serving::stop`].
    pub(crate) fn stop_inviting(&self) -> Result<(), Problem> {
        let _one_at_a_time = self.one_at_a_time();
        self.serving.stop()
    }

    /// Writes the links of the open project to a file, and returns how many there are.
    ///
    /// # Errors
    /// No project is open, or those of [`Serving::save_links`].
    pub(crate) fn save_links(&self, file: &Path) -> Result<u32, ProjectError> {
        self.serving.save_links(&*self.session()?, file)
    }

    /// Merges the submissions in a folder that are new into a project, unless another one was opened
    /// meanwhile; `None` if nothing has changed there since the last call. `begins` forgets what was read
    /// before: the project may have been restored from a backup since.
    ///
    /// # Errors
    /// It is not open, a packet or read-only, the folder cannot be read, or the project not written.
    pub(crate) fn collect(
        &self,
        project: &str,
        folder: &Path,
        begins: bool,
    ) -> Result<Option<CollectedFiles>, ProjectError> {
        let session = self.session()?;
        let path = session.project.path();
        // As the window knows it.
        if path.to_string_lossy() != project {
            return Err(ProjectError::NoProject);
        }
        let mut watched = lock(&self.watched);
        let known = watched.take().filter(|(of, known)| !begins && of == path && known.path() == folder);
        let (_, known) = watched.insert(known.unwrap_or_else(|| (path.to_owned(), DropFolder::new(folder))));
        known.has_news()?.then(|| known.collect(&session.study)).transpose()
    }

    /// Merges the encrypted submissions in the watched folder of a project that this passphrase opens.
    ///
    /// # Errors
    /// It opens none, or no folder of that project is watched, or those of [`DropFolder::unlock`].
    pub(crate) fn unlock_watched(
        &self,
        project: &str,
        passphrase: Passphrase,
    ) -> Result<CollectedFiles, ProjectError> {
        let session = self.session()?;
        let mut watched = lock(&self.watched);
        let known = watched
            .as_mut()
            .filter(|(of, _)| of == session.project.path() && of.to_string_lossy() == project);
        let (_, folder) = known.ok_or(ProjectError::NoProject)?;
        folder.unlock(&session.study, passphrase)
    }

    /// Whether a file other than the open project is encrypted.
    pub(crate) fn is_encrypted(&self, file: &Path) -> bool {
        let session = self.workbench.session();
        is_other_encrypted(file, session.as_ref().map(|session| session.project.path()))
    }

    /// Decrypts the encrypted ones among files to temporary files.
    ///
    /// # Errors
    /// Those of [`ReadableFiles::of`].
    pub(crate) fn unlock(
        &self,
        files: &[PathBuf],
        passphrase: &Passphrase,
    ) -> Result<Vec<PathBuf>, ProjectError> {
        let encrypted: Vec<PathBuf> = files.iter().filter(|file| self.is_encrypted(file)).cloned().collect();
        let readable = ReadableFiles::of(&encrypted, Some(passphrase), &Silent)?;
        let mut decrypted = readable.paths().iter();
        let of = |file: &PathBuf| match encrypted.contains(file) {
            true => decrypted.next().cloned(),
            false => Some(file.clone()),
        };
        let all = files.iter().filter_map(of).collect();
        lock(&self.unlocked).push(readable);
        Ok(all)
    }

    /// Removes the temporary files of [`WindowState::unlock`].
    pub(crate) fn forget_unlocked(&self) {
        lock(&self.unlocked).clear();
    }

    /// Whether people can answer over the network.
    pub(crate) fn is_serving(&self) -> bool {
        self.serving.running_at().is_some()
    }

    fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` with exclusive access to the open project: it is closed and opened again, because people
    /// are removed to whom data in memory refer by row.
    ///
    /// # Errors
    /// No project is open, a training run, an import or an export is running, or an error of `work` or of
    /// opening.
    pub(crate) fn alone<T>(
        &self,
        app: &AppHandle,
        work: impl FnOnce(&Session) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        let _one_at_a_time = self.one_at_a_time();
        if self.is_working() {
            return Err(ProjectError::Busy("a training, an import or an export"));
        }
        let done = self.workbench.alone(work);
        if let Some(session) = self.workbench.session() {
            listen(app, &session);
            session.background.start();
            session.back_up_automatically();
        }
        done
    }

    /// Whether work is running that closing would interrupt: a training run, an import or an export.
    /// Encoding and fitting continue by themselves when the project is opened again.
    pub(crate) fn is_working(&self) -> bool {
        let Some(session) = self.workbench.session() else { return false };
        let works = |job: &JobInfo| {
            job.state == WorkState::Running && ["train", "import", "export"].contains(&job.kind.as_str())
        };
        // If the list cannot be read, it is unknown what would be lost: better ask.
        jobs::list(&session.project).map_or(true, |jobs| jobs.iter().any(works))
    }

    /// The session of the open project.
    ///
    /// # Errors
    /// None is open.
    pub(crate) fn session(&self) -> Result<Arc<Session>, ProjectError> {
        self.workbench.open_session()
    }
}

fn listen(app: &AppHandle, session: &Session) {
    let app = app.clone();
    session.subscribe(move |event| crate::events::forward(&app, event));
}

/// The project to open.
pub(crate) enum Opening {
    /// A new file.
    New(String),
    /// An existing file.
    Existing(String),
    /// An existing file, read-only.
    ToRead(String),
    /// The sample project, created if missing.
    Sample,
}
