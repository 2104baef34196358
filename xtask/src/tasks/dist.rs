//! `cargo xtask dist`: installers for this system, with the command and the encoder, and a wheel of the
//! Python package.

use crate::fetch;
use crate::manifests;
use crate::packages::{self, Profile};
use crate::project::Project;
use crate::setup::{self, Need};
use crate::shell::{say, step};
use anyhow::{Context, Result, bail};
use std::fs;

/// Builds the installers, and prints where they are and which ones cannot be made on this system.
///
/// # Errors
/// A step failed, or it made no installer; or the programs of a release would have no address of releases.
pub(crate) fn run(project: &Project) -> Result<()> {
    manifests::check_address()?;
    setup::everything(project, Need::Window)?;
    fetch::default_encoders(project)?;
    let mut made = packages::pack(project, Profile::Dist, kinds(std::env::consts::OS)?)?;
    let archives = made.iter().filter(|path| path.extension().is_some_and(|ending| ending == "deb"));
    let archives = step("archive that needs no installation", || {
        archives.map(|package| packages::portable(package)).collect::<Result<Vec<_>>>()
    })?;
    made.extend(archives);
    step("no debug symbols", || packages::stripped(project))?;
    let wheel = super::python::wheel(project)?;
    println!("==> made");
    let folder = super::release::folder(project);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    // On macOS the application is a folder, which the disk image contains.
    for path in made.iter().chain(&wheel).filter(|path| path.is_file()) {
        let place = folder.join(path.file_name().unwrap_or_default());
        fs::copy(path, &place).with_context(|| format!("copying {}", path.display()))?;
        let size = fs::metadata(&place)?.len();
        say(format!("{} ({:.1} MB)", place.display(), size as f64 / 1e6));
    }
    println!("==> not made here");
    say(not_made(std::env::consts::OS));
    say("Nothing is signed by a publisher unless its keys are in the variables that Tauri reads.");
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
        "linux" => "Installers for macOS and Windows, which only those systems can make.",
        "macos" => "Installers for Linux and Windows, which only those systems can make.",
        _ => "Installers for Linux and macOS, which only those systems can make.",
    }
}
