//! `cargo xtask check-exchange`: files that the command writes for other tools, read by those tools' own readers.
//!
//! What it installs is a gigabyte and takes minutes, so no other task does it.

use super::python::{interpreter, new_environment};
use crate::project::Project;
use crate::shell::{Program, say, step};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;

/// Makes the environment where it is not there yet, and runs the check.
///
/// # Errors
/// The command is not built, there is no Python with venv and pip, a package cannot be fetched, or a count differs.
pub(crate) fn run(project: &Project) -> Result<()> {
    let command = project.binary("debug", "dissensus");
    if !command.is_file() {
        bail!("{} is not there: run `cargo xtask test --only build` first", command.display());
    }
    let python = step("readers", || environment(project))?;
    step("check", || {
        let folder = project.target.join("python/exchange-files");
        if folder.is_dir() {
            fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let script = project.root.join("tools/check_exchange.py");
        Program::new(&python).arg(script).arg(&command).arg(&folder).run()
    })?;
    say(
        "NOT READ by their own programs: Prodigy's lines (in no public registry) and doccano's archive (a server)",
    );
    Ok(())
}

/// The interpreter of an environment with the readers.
fn environment(project: &Project) -> Result<PathBuf> {
    let folder = project.target.join("python/exchange");
    let wanted = project.root.join("tools/exchange_requirements.txt");
    let list = fs::read_to_string(&wanted).with_context(|| format!("reading {}", wanted.display()))?;
    let stamp = folder.join("installed.txt");
    let python = interpreter(&folder);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == list) {
        return Ok(python);
    }
    if !new_environment(&folder) {
        bail!("an environment for Python packages cannot be made: it needs python3 with venv and pip");
    }
    Program::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--prefer-binary", "-r"])
        .arg(&wanted)
        .run()?;
    fs::write(&stamp, list).with_context(|| format!("writing {}", stamp.display()))?;
    Ok(python)
}
