//! The application around the open project: settings, recent projects, and information about itself.

pub mod backups;
mod diagnostics;
mod encoder;
pub mod session;
#[cfg(test)]
mod session_tests;
pub mod settings;
#[cfg(test)]
mod settings_tests;
pub mod updates;

use crate::session::Session;
use dissensus_api::{AppInfo, AppSettings, ProjectInfo, RecentProject};
use dissensus_editing::choices;
use dissensus_editing::info;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::log::go_on;
use dissensus_project::sync::lock;
use dissensus_store::StoreError;
use dissensus_transfer::exchange::forget_pasted;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

const RECENT: &str = "recent.json";
/// Maximum number of recent projects: more are hard to choose from.
const MAX_RECENT: usize = 12;

/// The application: at most one project is open at a time.
pub struct Application {
    home: Home,
    session: RwLock<Option<Arc<Session>>>,
    files: Mutex<()>,
    settings: Mutex<Remembered>,
}

/// What this session remembers of the settings.
#[derive(Default)]
struct Remembered {
    /// Settings that could not be stored.
    unstored: Option<AppSettings>,
    /// What could not be read. It stays, since a damaged file is renamed when it is first read.
    problem: Option<String>,
}

impl Application {
    /// Creates an application without an open project.
    pub fn new(home: Home) -> Self {
        Self { home, session: RwLock::new(None), files: Mutex::new(()), settings: Mutex::default() }
    }

    /// Location of files that belong to no project.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Information about this application and the encoder it found.
    pub fn app_info(&self) -> AppInfo {
        let found = dissensus_training::encoding::encoders::find_default(&self.home);
        let (encoder, problem) = match found {
            Ok(found) => (Some(found.name), None),
            Err(error) => (None, Some(error.problem())),
        };
        let (device, device_reason) = dissensus_training::encoding::encoders::device();
        AppInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            encoder,
            encoder_problem: problem,
            device,
            device_reason,
            settings_notice: lock(&self.settings).problem.clone(),
        }
    }

    /// Recently opened projects, newest first.
    pub fn recent_projects(&self) -> Vec<RecentProject> {
        let mut recent: Vec<RecentProject> = self.home.read_json(RECENT).unwrap_or_default();
        for project in &mut recent {
            project.exists = Path::new(&project.path).is_file();
        }
        recent
    }

    /// Removes a project from the list; its file is unaffected.
    pub fn forget_recent(&self, path: &str) -> Result<(), ProjectError> {
        let _guard = lock(&self.files);
        let mut recent: Vec<RecentProject> = self.home.read_json(RECENT).unwrap_or_default();
        recent.retain(|project| project.path != path);
        self.home.write_json(RECENT, &recent)
    }

    /// The settings; what cannot be read of them has its default value, and `app_info` has a notice.
    pub fn settings(&self) -> AppSettings {
        let mut remembered = lock(&self.settings);
        if let Some(unstored) = &remembered.unstored {
            return unstored.clone();
        }
        let read = settings::read(&self.home);
        if let Some(problem) = read.problem {
            remembered.problem = Some(problem.to_string());
        }
        read.settings
    }

    /// Stores the settings; they take effect at once in the open project.
    ///
    /// # Errors
    /// A share outside 0..1 or a text size outside 12..64; nothing is changed then. Or they cannot be
    /// written: they apply nevertheless, until the application ends.
    pub fn save_settings(&self, new: &AppSettings) -> Result<(), ProjectError> {
        settings::check(new)?;
        let _guard = lock(&self.files);
        let written = settings::write(&self.home, new);
        lock(&self.settings).unstored = written.is_err().then(|| new.clone());
        if let Some(session) = self.session() {
            choices::apply_settings(&session.project, new);
        }
        Ok(written?)
    }

    /// Removes a file of pasted rows ([`exchange::paste`](dissensus_transfer::exchange::paste)), never
    /// any other file. A missing file is no error.
    pub fn forget_pasted(&self, path: &Path) -> Result<(), ProjectError> {
        forget_pasted(&self.home, path)
    }

    /// Creates a project file and opens it. A missing extension is added.
    ///
    /// # Errors
    /// The file exists, or the folder cannot be written.
    pub fn new_project(&self, path: &str) -> Result<ProjectInfo, ProjectError> {
        let path = with_ending(path);
        let session = Session::create(&path, &self.home)?;
        self.take(session, false)
    }

    /// Opens a project file in place of the open one.
    ///
    /// # Errors
    /// See [`Session::open`]; the previous project stays open.
    pub fn open_project(&self, path: &str) -> Result<ProjectInfo, ProjectError> {
        let unwatched: Arc<dyn Progress> = Arc::new(Silent);
        self.open_project_reporting(path, &unwatched)
    }

    /// Opens a project like [`Application::open_project`], and reports to `progress` while one of an earlier
    /// format is copied and upgraded.
    ///
    /// # Errors
    /// See [`Session::open_reporting`]; the previous project stays open.
    pub fn open_project_reporting(
        &self,
        path: &str,
        progress: &Arc<dyn Progress>,
    ) -> Result<ProjectInfo, ProjectError> {
        let path = Path::new(path);
        if let Some(session) = self.session()
            && same_file(session.project.path(), path)
            && !session.project.is_reader()
        {
            return info::read(&session.project);
        }
        let session = Session::open_reporting(path, &self.home, progress)?;
        self.take(session, same_file(path, &self.home.sample_path()))
    }

    /// Opens a project read-only, in place of the open one: possible for one that another program has open,
    /// or on a read-only disk. Changes by other programs are shown.
    ///
    /// # Errors
    /// See [`Session::open_to_read`]; the previous project stays open.
    pub fn open_project_to_read(&self, path: &str) -> Result<ProjectInfo, ProjectError> {
        let path = Path::new(path);
        if let Some(session) = self.session()
            && same_file(session.project.path(), path)
        {
            if session.project.is_reader() {
                return info::read(&session.project);
            }
            // Otherwise this very program would prevent the file from being open elsewhere.
            self.close_project();
        }
        let session = Session::open_to_read(path, &self.home)?;
        self.take(session, same_file(path, &self.home.sample_path()))
    }

    /// Opens the sample project, which is created on first use.
    pub fn open_sample(&self) -> Result<ProjectInfo, ProjectError> {
        let path = self.home.sample_path();
        if !path.exists() {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(|source| ProjectError::Io {
                    path: folder.to_owned(),
                    doing: "making the folder",
                    source,
                })?;
            }
            dissensus_project::sample::create(&path)?;
        }
        self.open_project(&path.to_string_lossy())
    }

    /// Closes the open project and ends its jobs.
    pub fn close_project(&self) {
        let old = self.session.write().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(session) = old {
            session.close();
        }
    }

    /// Does `work` with exclusive access to the open project: it is closed, which ends its jobs, and opened
    /// again afterwards, so that nothing in memory is older than the work.
    ///
    /// # Errors
    /// No project is open; an error of `work`, with the project open again; or it cannot be opened again.
    pub fn alone<T>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        let session = self.open_session()?;
        let path = session.project.path().to_owned();
        if session.project.is_reader() {
            return Err(StoreError::OpenedToRead(path).into());
        }
        drop(session);
        self.close_project();
        let done = Session::open(&path, &self.home).and_then(|session| {
            let done = work(&session);
            session.close();
            done
        });
        let opened = self.open_project(&path.to_string_lossy());
        let done = done?;
        opened.map(|_| done)
    }

    /// Information on the open project.
    pub fn project(&self) -> Result<Option<ProjectInfo>, ProjectError> {
        self.session().map(|session| info::read(&session.project)).transpose()
    }

    /// The session on the open project.
    pub fn session(&self) -> Option<Arc<Session>> {
        self.session.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// The session of the open project.
    ///
    /// # Errors
    /// No project is open.
    pub fn open_session(&self) -> Result<Arc<Session>, ProjectError> {
        self.session().ok_or(ProjectError::NoProject)
    }

    fn take(&self, session: Session, sample: bool) -> Result<ProjectInfo, ProjectError> {
        choices::apply_settings(&session.project, &self.settings());
        let info = info::read(&session.project)?;
        let old = self
            .session
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .replace(Arc::new(session));
        if let Some(old) = old {
            old.close();
        }
        // The project is open, even if the list of recent projects cannot be written.
        go_on("remembering the project", self.remember(&info, sample));
        Ok(info)
    }

    fn remember(&self, info: &ProjectInfo, sample: bool) -> Result<(), ProjectError> {
        let _guard = lock(&self.files);
        let mut recent: Vec<RecentProject> = self.home.read_json(RECENT).unwrap_or_default();
        recent.retain(|project| project.path != info.path);
        recent.insert(
            0,
            RecentProject {
                path: info.path.clone(),
                name: info.name.clone(),
                opened_at: dissensus_project::clock::now_ms() as f64,
                exists: true,
                sample,
            },
        );
        recent.truncate(MAX_RECENT);
        self.home.write_json(RECENT, &recent)
    }
}

fn with_ending(path: &str) -> PathBuf {
    let path = PathBuf::from(path);
    if path.extension().is_some_and(|ending| ending == "dissensus") {
        return path;
    }
    let mut name = path.into_os_string();
    name.push(".dissensus");
    name.into()
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::{Application, Home, with_ending};

    #[test]
    fn missing_extension_is_added_to_names_with_dots() {
        assert_eq!(with_ending("a/b").to_str(), Some("a/b.dissensus"));
        assert_eq!(with_ending("a/v1.2").to_str(), Some("a/v1.2.dissensus"));
        assert_eq!(with_ending("x.dissensus").to_str(), Some("x.dissensus"));
    }

    #[cfg(unix)]
    #[test]
    fn settings_and_recent_projects_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        std::fs::create_dir(&config).unwrap();
        let (settings, recent) = (config.join("settings.json"), config.join("recent.json"));
        let workbench = Application::new(Home::inside(&config, Vec::new()));
        workbench.save_settings(&workbench.settings()).unwrap();
        // As a restored backup may have left it.
        std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o644)).unwrap();
        workbench.save_settings(&workbench.settings()).unwrap();
        workbench.new_project(&folder.path().join("Study.dissensus").to_string_lossy()).unwrap();
        for file in [settings, recent] {
            let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", file.display());
        }
    }
}
