//! How the window was started: what to open, a settings folder, hooks for end-to-end tests.

use dissensus_server::{PROJECT_HEAD, SCHEME, begins_as_project};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use tauri::Url;

/// Options of the command line and the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    /// What to open at once.
    pub(crate) wanted: Option<Wanted>,
    /// `DISSENSUS_HOME`: folder of settings and window state, instead of the system's folders.
    pub(crate) home: Option<PathBuf>,
    /// `DISSENSUS_E2E`, only in builds with the feature `test-hooks`: lets tests pass paths that a user
    /// would choose in the system's file dialog, which WebDriver cannot reach.
    pub(crate) test_hooks: bool,
}

/// What to open, for the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, specta::Type)]
pub(crate) struct Wanted {
    /// The first file that is a project by its name or its content.
    pub(crate) project: Option<String>,
    /// All other files: submissions, or files to import.
    pub(crate) files: Vec<String>,
    /// `--read-only`: nothing is written to the project.
    pub(crate) read_only: bool,
    /// A link of the scheme `dissensus:`, as it came.
    pub(crate) link: Option<String>,
}

impl Launch {
    /// Parses the arguments after the program's name, and the environment.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self {
            wanted: Wanted::read(arguments, Path::new("")),
            home: std::env::var_os("DISSENSUS_HOME").filter(|v| !v.is_empty()).map(PathBuf::from),
            test_hooks: cfg!(feature = "test-hooks")
                && std::env::var_os("DISSENSUS_E2E").is_some_and(|v| !v.is_empty()),
        }
    }
}

impl Wanted {
    /// Parses arguments: files, relative to `folder`, or their addresses (`file:`), or a link. Systems add
    /// options of their own (macOS `-psn_…`), so unknown options are ignored. `None` if nothing is to be
    /// opened.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>, folder: &Path) -> Option<Self> {
        let mut wanted = Self::default();
        for argument in arguments {
            let text = argument.to_string_lossy();
            if text == "--read-only" {
                wanted.read_only = true;
            } else if !text.starts_with('-') {
                match Url::parse(&text).ok().filter(|url| [SCHEME, "file"].contains(&url.scheme())) {
                    Some(url) => wanted.add_address(&url, &text),
                    None => wanted.add_file(&folder.join(&argument)),
                }
            }
        }
        wanted.is_something().then_some(wanted)
    }

    /// Parses addresses of files and links, as macOS passes them.
    #[cfg(any(target_os = "macos", test))]
    pub(crate) fn from_addresses(addresses: &[Url]) -> Option<Self> {
        let mut wanted = Self::default();
        for url in addresses {
            wanted.add_address(url, url.as_str());
        }
        wanted.is_something().then_some(wanted)
    }

    /// This request with what only the `earlier` one names: files, or a link.
    pub(crate) fn after(self, earlier: Self) -> Self {
        let files = if self.project.is_none() && self.files.is_empty() { &earlier } else { &self };
        let (project, files, read_only) = (files.project.clone(), files.files.clone(), files.read_only);
        Self { project, files, read_only, link: self.link.or(earlier.link) }
    }

    fn is_something(&self) -> bool {
        self.link.is_some() || self.project.is_some() || !self.files.is_empty()
    }

    /// An address as it was parsed and as it came. Of several links the first is used.
    fn add_address(&mut self, url: &Url, text: &str) {
        if url.scheme() == SCHEME {
            self.link.get_or_insert_with(|| text.to_owned());
        } else if let Ok(path) = url.to_file_path() {
            self.add_file(&path);
        }
    }

    fn add_file(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let name = path.to_string_lossy().into_owned();
        if self.project.is_none() && is_project(&path) {
            self.project = Some(name)
        } else {
            self.files.push(name)
        }
    }
}

/// Whether a file is a project by its name or, as for the file manager, by its first bytes.
fn is_project(path: &Path) -> bool {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("dissensus")) {
        return true;
    }
    // Reading from a pipe would wait for ever.
    if !path.metadata().is_ok_and(|about| about.is_file()) {
        return false;
    }
    let mut head = [0; PROJECT_HEAD];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && begins_as_project(&head)
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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn wanted(arguments: &[&str]) -> Option<Wanted> {
        Wanted::read(arguments.iter().map(OsString::from), Path::new(""))
    }

    #[rstest]
    #[case::project(&["/a.dissensus"], Some("/a.dissensus"), &[])]
    #[case::option_of_the_system(&["-psn_0_1", "/a/b.dissensus"], Some("/a/b.dissensus"), &[])]
    #[case::address(&["file:///a/My%20b.dissensus"], Some("/a/My b.dissensus"), &[])]
    #[case::first_project(&["/a.csv", "/b.dissensus", "/c.dissensus"], Some("/b.dissensus"), &["/a.csv", "/c.dissensus"])]
    #[case::submissions(&["/a.handin", "/b.handin"], None, &["/a.handin", "/b.handin"])]
    #[case::table(&["/labels.csv"], None, &["/labels.csv"])]
    #[cfg(unix)]
    fn files_are_found(#[case] arguments: &[&str], #[case] project: Option<&str>, #[case] files: &[&str]) {
        let found = wanted(arguments).unwrap();
        assert_eq!((found.project.as_deref(), found.link), (project, None));
        assert_eq!(found.files, files);
    }

    #[rstest]
    #[case::after(&["/a.dissensus", "--read-only"], true)]
    #[case::before(&["--read-only", "/a.dissensus"], true)]
    #[case::without(&["/a.dissensus"], false)]
    fn read_only_argument_opens_for_reading(#[case] arguments: &[&str], #[case] read_only: bool) {
        assert_eq!(wanted(arguments).unwrap().read_only, read_only);
    }

    #[test]
    fn project_without_an_ending_is_known_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let (project, other) = (folder.path().join("nameless"), folder.path().join("other"));
        let mut bytes = [0; 200];
        bytes[..16].copy_from_slice(b"SQLite format 3\0");
        std::fs::write(&other, bytes).unwrap();
        bytes[68..72].copy_from_slice(b"DSSU");
        std::fs::write(&project, bytes).unwrap();
        let found = Wanted::read([other.clone().into(), project.clone().into()], Path::new("")).unwrap();
        assert_eq!(found.project.as_deref(), project.to_str());
        assert_eq!(found.files, [other.to_str().unwrap()]);
    }

    #[test]
    fn link_is_passed_on_as_it_came() {
        let link = "dissensus://page?url=https%3A%2F%2Fexample.org";
        let found = wanted(&[link, "dissensus://packet?url=https://other.example"]).unwrap();
        assert_eq!((found.link.as_deref(), found.files.len()), (Some(link), 0));
        let found = Wanted::from_addresses(&[Url::parse(link).unwrap()]).unwrap();
        assert_eq!(found.link.as_deref(), Some(link));
    }

    #[rstest]
    #[case::nothing(&[])]
    #[case::option(&["--flag"])]
    #[case::read_only_alone(&["--read-only"])]
    fn nothing_is_to_be_opened(#[case] arguments: &[&str]) {
        assert_eq!(wanted(arguments), None);
    }

    #[test]
    fn relative_file_is_made_absolute() {
        let found = wanted(&["b.dissensus"]).unwrap();
        let path = Path::new(found.project.as_ref().unwrap());
        assert!(path.is_absolute());
        assert!(path.ends_with("b.dissensus"));
        let elsewhere = std::env::temp_dir();
        let found = Wanted::read([OsString::from("b.dissensus")], &elsewhere).unwrap();
        assert_eq!(Path::new(&found.project.unwrap()), elsewhere.join("b.dissensus"));
    }
}
