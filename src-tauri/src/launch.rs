//! How the window was started: a project to open, a settings folder, hooks for end-to-end tests.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Options of the command line and the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    /// Project to open at once.
    pub(crate) project: Option<ProjectToOpen>,
    /// `DISSENSUS_HOME`: folder of settings and window state, instead of the system's folders.
    pub(crate) home: Option<PathBuf>,
    /// `DISSENSUS_E2E`, only in builds with the feature `test-hooks`: lets tests pass paths that a user
    /// would choose in the system's file dialog, which WebDriver cannot reach.
    pub(crate) test_hooks: bool,
}

/// The part of the above that the page needs.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type)]
pub(crate) struct LaunchInfo {
    /// Project to open at once.
    pub(crate) project: Option<String>,
    /// Whether to open it read-only.
    pub(crate) read_only: bool,
}

/// A project to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectToOpen {
    pub(crate) path: PathBuf,
    /// `--read-only`: nothing is written to it.
    pub(crate) read_only: bool,
}

impl Launch {
    /// Parses the arguments after the program's name, and the environment.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self {
            project: project_argument(arguments, Path::new("")),
            home: std::env::var_os("DISSENSUS_HOME").filter(|v| !v.is_empty()).map(PathBuf::from),
            test_hooks: cfg!(feature = "test-hooks")
                && std::env::var_os("DISSENSUS_E2E").is_some_and(|v| !v.is_empty()),
        }
    }
}

/// Checks whether a window can be shown at all; only Unix desktops other than macOS may have no display.
///
/// # Errors
/// There is no display, with what to do instead.
pub(crate) fn display() -> Result<(), &'static str> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY") {
        return Ok(());
    }
    Err(
        "there is no display (DISPLAY and WAYLAND_DISPLAY are not set): start it in a desktop session, or use the command `dissensus`",
    )
}

/// The first argument that is no option, resolved against `folder` if relative, and whether `--read-only`
/// is present. Systems add options of their own (macOS `-psn_…`), so unknown options are ignored.
pub(crate) fn project_argument(
    arguments: impl IntoIterator<Item = OsString>,
    folder: &Path,
) -> Option<ProjectToOpen> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let read_only = arguments.iter().any(|argument| argument == "--read-only");
    let path = folder.join(arguments.iter().find(|a| !a.to_string_lossy().starts_with('-'))?);
    Some(ProjectToOpen { path: std::path::absolute(&path).unwrap_or(path), read_only })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(arguments: &[&str]) -> Option<ProjectToOpen> {
        project_argument(arguments.iter().map(OsString::from), Path::new(""))
    }

    fn argument(arguments: &[&str]) -> Option<PathBuf> {
        wanted(arguments).map(|wanted| wanted.path)
    }

    #[test]
    fn read_only_argument_opens_for_reading() {
        let read_only = |arguments: &[&str]| wanted(arguments).map(|wanted| wanted.read_only);
        assert_eq!(read_only(&["/a.dissensus", "--read-only"]), Some(true));
        assert_eq!(read_only(&["--read-only", "/a.dissensus"]), Some(true));
        assert_eq!(read_only(&["/a.dissensus"]), Some(false));
        assert_eq!(read_only(&["--read-only"]), None);
    }

    #[test]
    fn first_plain_argument_is_the_project() {
        assert_eq!(argument(&["-psn_0_1", "/a/b.dissensus", "/c"]), Some(PathBuf::from("/a/b.dissensus")));
        assert_eq!(argument(&["--flag"]), None);
        assert_eq!(argument(&[]), None);
    }

    #[test]
    fn relative_project_is_made_absolute() {
        let path = argument(&["b.dissensus"]).unwrap();
        assert!(path.is_absolute());
        assert!(path.ends_with("b.dissensus"));
        let elsewhere = std::env::temp_dir();
        let wanted = project_argument([OsString::from("b.dissensus")], &elsewhere).unwrap();
        assert_eq!(wanted.path, elsewhere.join("b.dissensus"));
    }
}
