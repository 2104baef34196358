//! Files of the application that belong to no project: settings, recent projects, the sample, encoders.

use crate::error::ProjectError;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Folders of the application. `DISSENSUS_HOME` puts all of them into one folder.
#[derive(Clone, Debug)]
pub struct Home {
    config: PathBuf,
    data: PathBuf,
    cache: PathBuf,
    models: Vec<PathBuf>,
}

impl Home {
    /// The folders of this user. Encoders are searched, in this order, in `DISSENSUS_MODELS` (then nowhere
    /// else), in `resources/models` (a package's own), next to the program, in the user's data folder and,
    /// for a program built from source, in the workspace's `models/`.
    ///
    /// # Errors
    /// The system has no home folder.
    pub fn of_user(resources: Option<&Path>) -> Result<Self, ProjectError> {
        let (config, data, cache) = match std::env::var_os("DISSENSUS_HOME") {
            Some(home) if !home.is_empty() => {
                let home = PathBuf::from(home);
                (home.clone(), home.clone(), home.join("cache"))
            }
            _ => {
                let dirs = directories::ProjectDirs::from("", "", "dissensus").ok_or(ProjectError::NoHome)?;
                (dirs.config_dir().to_owned(), dirs.data_dir().to_owned(), dirs.cache_dir().to_owned())
            }
        };
        let models = model_folders(resources, &data);
        Ok(Self { config, data, cache, models })
    }

    /// Puts all folders inside `folder`, encoders in `models`. For tests and embedding programs.
    pub fn inside(folder: &Path, models: Vec<PathBuf>) -> Self {
        let cache = folder.join("cache");
        Self { config: folder.to_owned(), data: folder.to_owned(), cache, models }
    }

    /// Folders in which encoders are searched, in this order.
    pub fn models(&self) -> &[PathBuf] {
        &self.models
    }

    /// Folder for data that can be recreated at any time, such as the Python environment of benchmarks.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Folder for downloaded encoders: the only one in `DISSENSUS_MODELS`, or this user's.
    pub fn own_models(&self) -> PathBuf {
        let own = self.data.join("models");
        match self.models.as_slice() {
            [only] => only.clone(),
            _ => own,
        }
    }

    /// Folder of the log.
    pub fn logs(&self) -> PathBuf {
        self.data.join("logs")
    }

    /// Folder of backups, with one folder for each project.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Folder of pasted rows that are waiting for import.
    pub fn pasted(&self) -> PathBuf {
        self.data.join("pasted")
    }

    /// Records of which large project files were checked, and which are open.
    pub fn check_records(&self) -> dissensus_store::CheckRecords {
        dissensus_store::CheckRecords::inside(&self.cache.join("checked"))
            .with_locks(&self.data.join("locks"))
    }

    /// Path of the sample project.
    pub fn sample_path(&self) -> PathBuf {
        self.data.join("Sample.dissensus")
    }

    /// Path of a file of the configuration.
    pub fn config_file(&self, name: &str) -> PathBuf {
        self.config.join(name)
    }

    /// Reads `NAME.json` of the configuration; `None` where it is missing or damaged (it is renamed then).
    pub fn read_json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Option<T> {
        let path = self.config.join(name);
        let bytes = std::fs::read(&path).ok()?;
        match serde_json::from_slice(&bytes) {
            Ok(value) => Some(value),
            Err(_) => {
                // A half-written or foreign file must not stop the application; it contains nothing of a
                // project.
                tracing::warn!(file = name, "cannot be read: moved aside, defaults are used");
                if std::fs::rename(&path, path.with_extension("json.damaged")).is_err() {
                    tracing::warn!(file = name, "could not be moved aside");
                }
                None
            }
        }
    }

    /// Takes a lock of the configuration until the returned file is dropped, so that no two programs change
    /// one of its files at once.
    pub fn lock_config(&self, name: &str) -> Result<std::fs::File, ProjectError> {
        let path = self.config.join(name);
        let fail = |source| ProjectError::Io { path: path.clone(), doing: "locking", source };
        std::fs::create_dir_all(&self.config).map_err(fail)?;
        let file = dissensus_files::open_or_create_regular(&path).map_err(fail)?;
        file.lock().map_err(fail)?;
        Ok(file)
    }

    /// Removes `NAME.json` of the configuration, if it exists.
    pub(crate) fn remove_json(&self, name: &str) -> Result<(), ProjectError> {
        let path = self.config.join(name);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(ProjectError::Io { path, doing: "removing", source })
            }
            _ => Ok(()),
        }
    }

    /// Writes `NAME.json` of the configuration; the old one stays until the new one is complete.
    pub fn write_json<T: serde::Serialize>(&self, name: &str, value: &T) -> Result<(), ProjectError> {
        let path = self.config.join(name);
        let fail = |source| ProjectError::Io { path: path.clone(), doing: "writing", source };
        std::fs::create_dir_all(&self.config).map_err(fail)?;
        let bytes = serde_json::to_vec_pretty(value).map_err(|e| fail(e.into()))?;
        // Readable only by its owner (the names of projects are private), and the old file stays until the
        // new one is on disk.
        let mut part = tempfile::NamedTempFile::new_in(&self.config).map_err(fail)?;
        part.write_all(&bytes).and_then(|()| part.as_file().sync_all()).map_err(fail)?;
        part.persist(&path).map_err(|e| fail(e.error)).map(drop)
    }
}

/// Creates a folder that only its owner may enter; an existing one is unchanged.
pub fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn model_folders(resources: Option<&Path>, data: &Path) -> Vec<PathBuf> {
    if let Some(only) = std::env::var_os("DISSENSUS_MODELS").filter(|v| !v.is_empty()) {
        return vec![only.into()];
    }
    let mut folders: Vec<PathBuf> = resources.map(|r| r.join("models")).into_iter().collect();
    let exe = std::env::current_exe().ok();
    let program_folder = exe.as_deref().and_then(Path::parent);
    folders.extend(program_folder.map(|dir| dir.join("models")));
    folders.push(data.join("models"));
    // A program built from source is some levels below the workspace, which is recognised by its catalogue
    // file.
    let workspace = program_folder.into_iter().flat_map(Path::ancestors).map(|dir| dir.join("models"));
    folders.extend(workspace.filter(|dir| dir.join("encoders.toml").is_file()));
    folders.extend(checkout(option_env!("DISSENSUS_PACKAGE").is_some()));
    folders
}

/// The encoders of the checkout that this program was built from, regardless of its build folder. Packages
/// for other machines (`cargo xtask dist` sets DISSENSUS_PACKAGE) must not look for a folder of the build
/// machine.
fn checkout(packed: bool) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    (!packed && source.join("encoders.toml").is_file()).then_some(source)
}

#[cfg(test)]
mod tests {
    use super::checkout;

    #[test]
    fn only_a_development_build_finds_its_checkout() {
        assert!(checkout(false).is_some_and(|models| models.join("encoders.toml").is_file()));
        assert_eq!(checkout(true), None);
    }
}
