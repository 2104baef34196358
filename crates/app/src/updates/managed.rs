//! Recognises the stores and package managers that installed this program and update it themselves.

use std::path::{Path, PathBuf};

/// What installed this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Installed {
    Flatpak,
    Snap,
    AppStore,
    MicrosoftStore,
    Homebrew,
    /// A package manager with folders of its own: Nix or Guix.
    Packaged,
    /// An installer, a `.deb` or `.rpm` of the release page, an archive, or a build. No repository has these
    /// packages, so that no package manager would find a newer one. So too with winget: it runs the installer
    /// and leaves no trace in the folder.
    ByHand,
}

/// What of this computer shows how the program was installed.
pub(crate) struct Traces<'a> {
    /// The program's own file.
    pub(crate) program: &'a Path,
    /// Whether an environment variable is set.
    pub(crate) is_set: &'a dyn Fn(&str) -> bool,
    /// Whether a file or folder exists.
    pub(crate) exists: &'a dyn Fn(&Path) -> bool,
}

impl Installed {
    /// How this program was installed.
    pub(crate) fn here() -> Self {
        let program = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self::from_traces(&Traces { program: &program, is_set: &is_set, exists: &|path| path.exists() })
    }

    pub(crate) fn from_traces(traces: &Traces<'_>) -> Self {
        let Traces { program, is_set, exists } = traces;
        let has = |folder: &str| program.iter().any(|part| part == folder);
        let names = ["dissensus", "dissensus-window"].map(PathBuf::from);
        let listed = |folder: &str, ending: &str| {
            names.iter().any(|name| exists(&Path::new(folder).join(name).with_extension(ending)))
        };
        let bundle = program.ancestors().find(|folder| folder.ends_with("Contents"));
        let casks = ["/opt/homebrew/Caskroom/dissensus", "/usr/local/Caskroom/dissensus"];
        if exists(Path::new("/.flatpak-info")) || is_set("FLATPAK_ID") {
            Self::Flatpak
        } else if program.starts_with("/snap") {
            Self::Snap
        } else if bundle.is_some_and(|contents| exists(&contents.join("_MASReceipt/receipt"))) {
            Self::AppStore
        } else if has("WindowsApps") {
            Self::MicrosoftStore
        } else if has("Cellar")
            || has("Caskroom")
            || (program.starts_with("/Applications") && casks.iter().any(|cask| exists(Path::new(cask))))
        {
            Self::Homebrew
        } else if program.starts_with("/nix/store") || program.starts_with("/gnu/store") {
            Self::Packaged
        } else if !program.starts_with("/usr")
            || program.starts_with("/usr/local")
            || listed("/var/lib/dpkg/info", "list")
            || exists(Path::new("/var/lib/rpm"))
            || exists(Path::new("/usr/lib/sysimage/rpm"))
        {
            Self::ByHand
        } else {
            Self::Packaged
        }
    }

    /// How to update where no check is made.
    pub(crate) fn instead(self) -> Option<&'static str> {
        match self {
            Self::Flatpak => Some(
                "Dissensus was installed as a Flatpak, so it makes no check itself: update it in your software centre, or with \"flatpak update\".",
            ),
            Self::Snap => Some(
                "Dissensus was installed as a snap, which the system updates by itself: to update now, enter \"snap refresh dissensus\".",
            ),
            Self::AppStore => Some(
                "Dissensus was installed from the App Store, so it makes no check itself: update it there.",
            ),
            Self::MicrosoftStore => Some(
                "Dissensus was installed from the Microsoft Store, so it makes no check itself: update it there.",
            ),
            Self::Homebrew => Some(
                "Dissensus was installed with Homebrew, so it makes no check itself: update it with \"brew upgrade dissensus\".",
            ),
            Self::Packaged => Some(
                "Dissensus was installed by a package manager, so it makes no check itself: update it there.",
            ),
            Self::ByHand => None,
        }
    }
}
