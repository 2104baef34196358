//! `cargo xtask dist`: installers of this system, with the encoder inside.

use crate::fetch;
use crate::project::Project;
use crate::setup::{self, Need};
use crate::shell::{Program, say, step};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds the installers and says where they are, and which cannot be made here.
///
/// # Errors
/// A step failed, or no installer came out of it.
pub(crate) fn run(project: &Project) -> Result<()> {
    setup::everything(project, Need::Window)?;
    fetch::default_encoders(project)?;
    let kinds = kinds(std::env::consts::OS)?;
    let folder = project.target.join("release/bundle");
    step("installers", || {
        if folder.exists() {
            // So that what is listed below was made now.
            fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
        }
        let name = if cfg!(windows) { "tauri.cmd" } else { "tauri" };
        // The web side is built by Tauri itself, as its configuration says.
        Program::new(project.ui().join("node_modules/.bin").join(name))
            .args(["build", "--ci", "--bundles", kinds])
            .arg("--config")
            .arg(project.root.join("src-tauri/tauri.bundle.conf.json"))
            .in_folder(&project.root)
            .run()
    })?;
    let mut made = Vec::new();
    installers(&folder, &mut made)?;
    if made.is_empty() {
        bail!("Tauri ended well and left no installer in {}", folder.display());
    }
    println!("==> made");
    for path in &made {
        let size = fs::metadata(path)?.len();
        say(format!("{} ({:.1} MB)", path.display(), size as f64 / 1e6));
    }
    println!("==> not made here");
    say(not_made(std::env::consts::OS));
    say("Nothing is signed: that takes keys which belong to whoever publishes.");
    Ok(())
}

fn kinds(system: &str) -> Result<&'static str> {
    Ok(match system {
        "linux" => "deb,rpm",
        "macos" => "app,dmg",
        "windows" => "nsis,msi",
        other => bail!("there is no kind of installer for {other}"),
    })
}

fn not_made(system: &str) -> &'static str {
    match system {
        "linux" => {
            "An AppImage (its tools are downloaded while it is built), and installers for macOS and Windows, which only those systems can make."
        }
        "macos" => "Installers for Linux and Windows, which only those systems can make.",
        _ => "Installers for Linux and macOS, which only those systems can make.",
    }
}

/// The installers in `folder`, at any depth.
fn installers(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        // On macOS an application is itself a folder.
        if ending == "app"
            || (path.is_file() && ["deb", "rpm", "dmg", "msi", "exe"].contains(&ending.as_str()))
        {
            found.push(path);
        } else if path.is_dir() {
            installers(&path, found)?;
        }
    }
    found.sort();
    Ok(())
}
