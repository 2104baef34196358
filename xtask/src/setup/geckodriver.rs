//! The driver of Firefox, which no distribution has as a package of its own.

use crate::project::Project;
use crate::shell::{Program, say, which};
use anyhow::Result;
use std::path::{Path, PathBuf};

const VERSION: &str = "0.37.1";

/// The folder of tools that only tests need; its `bin` has the programs.
pub(crate) fn tools(project: &Project) -> PathBuf {
    project.target.join("tools")
}

/// Builds the driver where Firefox is installed and its driver is not.
///
/// # Errors
/// It cannot be fetched or built.
pub(crate) fn ensure(project: &Project) -> Result<()> {
    if !Path::new("/usr/lib/firefox-esr/firefox-esr").is_file() {
        say("no Firefox ESR here: pages are not tested in it");
        return Ok(());
    }
    let tools = tools(project);
    if which("geckodriver").is_some() || tools.join("bin/geckodriver").is_file() {
        say("all there");
        return Ok(());
    }
    // Unoptimised: it is built sooner, and waits for the browser all the time.
    Program::cargo()
        .args(["install", "geckodriver", "--version", VERSION, "--locked", "--debug", "--root"])
        .args([&tools])
        .run()
}
