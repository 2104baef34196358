//! `cargo xtask run`: from a fresh checkout to the open application.

use super::headless;
use crate::fetch;
use crate::project::Project;
use crate::setup::{self, Need, node};
use crate::shell::{Program, say, step};
use anyhow::{Result, bail};
use std::path::Path;

/// Sets everything up and opens the window on `path`, or on the sample project; quick if nothing has changed.
///
/// # Errors
/// A step failed; the error names the step and the command.
pub(crate) fn run(project: &Project, path: Option<&Path>) -> Result<()> {
    if let Some(path) = path
        && !path.is_file()
    {
        bail!("there is no project file at {}; without a path the sample project is opened", path.display());
    }
    if !has_display() {
        return headless::run(project, path);
    }
    setup::everything(project, Need::Window)?;
    fetch::default_encoders(project)?;
    step("window: web side", || node::build(project))?;
    step("window and command: build", || {
        Program::cargo()
            .args(["build", "--package", "dissensus-window", "--package", "dissensus-cli"])
            .args(["--features", "dissensus-window/custom-protocol"])
            .in_folder(&project.root)
            .run()
    })?;
    let opened = match path {
        Some(path) => path.to_owned(),
        None => step("sample project", || sample(project))?,
    };
    println!("==> Dissensus is open; this command ends when its window is closed");
    Program::new(project.binary("debug", "dissensus-window")).arg(opened).run()
}

/// The sample project, created once and then reused with the labels given in it.
fn sample(project: &Project) -> Result<std::path::PathBuf> {
    let path = project.stamps().join("Sample.dissensus");
    if path.is_file() {
        say(format!("{} is there, with your labels", path.display()));
        return Ok(path);
    }
    std::fs::create_dir_all(project.stamps())?;
    Program::new(project.binary("debug", "dissensus")).args(["project", "sample"]).arg(&path).run()?;
    Ok(path)
}

/// Whether a window could be shown at all. Only Unix desktops other than macOS can be without.
fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
