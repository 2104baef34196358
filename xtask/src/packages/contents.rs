//! What a package contains in addition to the window: the encoder, the documentation, the command with its
//! manual pages and completions, and the file type of projects.

use crate::book;
use crate::manifests;
use crate::project::Project;
use crate::shell::Program;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The encoder in the package.
const ENCODER: &str = "all-MiniLM-L6-v2";
/// Each shell, and the file name that its completions need.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "dissensus"),
    ("zsh", "_dissensus"),
    ("fish", "dissensus.fish"),
    ("powershell", "dissensus.ps1"),
];

/// The AppStream data of the window, named after its identifier.
const METAINFO: &str = "org.dissensus.window.metainfo.xml";

/// Collects the files in the target folder, and writes and returns the path of the Tauri configuration that
/// packs them.
///
/// # Errors
/// The command or the encoder is missing, or a file cannot be written.
pub(super) fn prepare(project: &Project, command: &Path) -> Result<PathBuf> {
    let folder = project.stamps().join("package");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    if !command.is_file() {
        bail!("the command is not built: {} is missing", command.display());
    }
    let encoder = project.models().join(ENCODER);
    if !encoder.is_dir() {
        bail!("the encoder is not here: fetch it with `cargo xtask models`");
    }
    let parts = Parts {
        book: book::build(project, command)?,
        manual: folder.join("man"),
        completions: folder.join("completions"),
        sources: project.root.join("src-tauri/linux"),
        metainfo: folder.join(METAINFO),
        command: command.to_owned(),
        encoder,
    };
    parts.write()?;
    parts.write_metainfo(&project.root)?;
    let config = folder.join("config.json");
    let text = serde_json::to_string_pretty(&parts.config(std::env::consts::OS)?)?;
    fs::write(&config, text).with_context(|| format!("writing {}", config.display()))?;
    Ok(config)
}

/// Where each part of a package is taken from.
struct Parts {
    command: PathBuf,
    encoder: PathBuf,
    /// The documentation as web pages.
    book: PathBuf,
    manual: PathBuf,
    completions: PathBuf,
    /// Our own files for Linux desktops.
    sources: PathBuf,
    /// The AppStream data, with releases.
    metainfo: PathBuf,
}

impl Parts {
    /// Gets manual pages and completions from the command.
    fn write(&self) -> Result<()> {
        for folder in [&self.manual, &self.completions] {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        Program::new(&self.command).arg("man").arg(&self.manual).run()?;
        for (shell, name) in SHELLS {
            let script = Program::new(&self.command).args(["completions", shell]).output()?;
            let path = self.completions.join(name);
            fs::write(&path, script).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(())
    }

    /// Completes the AppStream data with the releases of the changelog.
    fn write_metainfo(&self, root: &Path) -> Result<()> {
        let read =
            |path: PathBuf| fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()));
        let template = read(self.sources.join(METAINFO))?;
        let changelog = read(root.join("CHANGELOG.md"))?;
        let address = manifests::address()?;
        let version = env!("CARGO_PKG_VERSION");
        let text = manifests::metainfo(&template, &changelog, version, address.as_deref())?;
        fs::write(&self.metainfo, text).with_context(|| format!("writing {}", self.metainfo.display()))
    }

    /// Tauri's configuration of the bundle for one system.
    fn config(&self, system: &str) -> Result<Value> {
        let mut resources = Map::new();
        resources.insert(format!("{}/", text(&self.encoder)?), json!(format!("models/{ENCODER}/")));
        resources.insert(format!("{}/", text(&self.book)?), json!("book/"));
        let mut bundle = Map::new();
        match system {
            "linux" => {
                let template = text(&self.sources.join("dissensus.desktop"))?;
                let linux = |zsh| -> Result<Value> {
                    Ok(json!({ "desktopTemplate": template, "files": self.linux_files(zsh)? }))
                };
                // Debian's zsh looks for completions of packages in a folder of its own.
                let kinds = json!({
                    "deb": linux("/usr/share/zsh/vendor-completions")?,
                    "rpm": linux("/usr/share/zsh/site-functions")?,
                });
                bundle.insert("linux".to_owned(), kinds);
            }
            "macos" => {
                // Next to the window's program; manual and completions where package managers can link them.
                let files = json!({
                    "MacOS/dissensus": text(&self.command)?,
                    "SharedSupport/man/man1": text(&self.manual)?,
                    "SharedSupport/completions": text(&self.completions)?,
                });
                // Without a certificate it is signed ad hoc: Macs with Apple silicon start nothing else.
                let signs =
                    std::env::var("APPLE_SIGNING_IDENTITY").is_ok_and(|identity| !identity.is_empty());
                let macos = if signs {
                    json!({ "files": files })
                } else {
                    json!({ "files": files, "signingIdentity": "-" })
                };
                bundle.insert("macOS".to_owned(), macos);
            }
            _ => {
                resources.insert(text(&self.command)?, json!("dissensus.exe"));
                let completions = self.completions.join("dissensus.ps1");
                resources.insert(text(&completions)?, json!("completions/dissensus.ps1"));
            }
        }
        bundle.insert("resources".to_owned(), Value::Object(resources));
        Ok(json!({ "bundle": bundle }))
    }

    /// Path in the package, and the source file.
    fn linux_files(&self, zsh: &str) -> Result<Map<String, Value>> {
        let mut files = Map::new();
        let mut add = |place: String, file: &Path| -> Result<()> {
            files.insert(place, json!(text(file)?));
            Ok(())
        };
        add("/usr/bin/dissensus".to_owned(), &self.command)?;
        add("/usr/share/mime/packages/dissensus.xml".to_owned(), &self.sources.join("dissensus.xml"))?;
        add(format!("/usr/share/metainfo/{METAINFO}"), &self.metainfo)?;
        let fish = "/usr/share/fish/vendor_completions.d";
        for (folder, name) in [
            ("/usr/share/bash-completion/completions", "dissensus"),
            (zsh, "_dissensus"),
            (fish, "dissensus.fish"),
        ] {
            add(format!("{folder}/{name}"), &self.completions.join(name))?;
        }
        let pages = fs::read_dir(&self.manual).context("reading the manual pages")?;
        for page in pages {
            let page = page?;
            add(format!("/usr/share/man/man1/{}", page.file_name().to_string_lossy()), &page.path())?;
        }
        Ok(files)
    }
}

/// A path in the form that Tauri's configuration needs.
fn text(path: &Path) -> Result<String> {
    let path = path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))?;
    // Tauri reads keys of `resources` as patterns, in which a backslash is no separator.
    Ok(if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(folder: &Path) -> Parts {
        let manual = folder.join("man");
        fs::create_dir(&manual).unwrap();
        fs::write(manual.join("dissensus-import.1"), ".TH").unwrap();
        Parts {
            command: "/t/dissensus".into(),
            encoder: "/models/all-MiniLM-L6-v2".into(),
            book: "/t/book".into(),
            completions: "/t/completions".into(),
            sources: "/src".into(),
            metainfo: folder.join(METAINFO),
            manual,
        }
    }

    #[test]
    fn every_package_contains_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let parts = parts(folder.path());
        for system in ["linux", "macos", "windows"] {
            let config = parts.config(system).unwrap().to_string();
            assert!(config.contains("/t/dissensus"), "{system}: {config}");
            assert!(config.contains("models/all-MiniLM-L6-v2/"), "{system}: {config}");
            assert!(config.contains(r#""/t/book/":"book/""#), "{system}: {config}");
        }
    }

    #[test]
    fn linux_packages_have_the_manual_the_completions_and_the_file_type() {
        let folder = tempfile::tempdir().unwrap();
        let config = parts(folder.path()).config("linux").unwrap();
        for kind in ["deb", "rpm"] {
            let files = config["bundle"]["linux"][kind]["files"].as_object().unwrap();
            for place in [
                "/usr/bin/dissensus",
                "/usr/share/man/man1/dissensus-import.1",
                "/usr/share/bash-completion/completions/dissensus",
                "/usr/share/mime/packages/dissensus.xml",
                "/usr/share/metainfo/org.dissensus.window.metainfo.xml",
            ] {
                assert!(files.contains_key(place), "{kind} lacks {place}: {files:?}");
            }
        }
        let zsh = "/usr/share/zsh/vendor-completions/_dissensus";
        assert!(config["bundle"]["linux"]["deb"]["files"].get(zsh).is_some());
    }
}
