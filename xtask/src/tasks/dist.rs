//! `cargo xtask dist`: installers for this system, with the command and the encoder, and a wheel of the
//! Python package.

use crate::fetch;
use crate::packages::{self, Profile};
use crate::project::Project;
use crate::setup::{self, Need};
use crate::shell::{say, step};
use anyhow::{Result, bail};
use std::fs;

/// Builds the installers, and prints where they are and which ones cannot be made on this system.
///
/// # Errors
/// A step failed, or it made no installer.
pub(crate) fn run(project: &Project) -> Result<()> {
    setup::everything(project, Need::Window)?;
    fetch::default_encoders(project)?;
    let made = packages::pack(project, Profile::Dist, kinds(std::env::consts::OS)?)?;
    step("no debug symbols", || packages::stripped(project))?;
    let wheel = super::python::wheel(project)?;
    println!("==> made");
    for path in made.iter().chain(&wheel) {
        let size = fs::metadata(path)?.len();
        say(format!("{} ({:.1} MB)", path.display(), size as f64 / 1e6));
    }
    println!("==> not made here");
    say(not_made(std::env::consts::OS));
    say("Nothing is signed: that takes keys of the publisher.");
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
