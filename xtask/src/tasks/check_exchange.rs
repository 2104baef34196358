//! `cargo xtask check-exchange`, and a step of `cargo xtask test`: reads the files that the command writes
//! for other tools with those tools' own readers.

use super::python::environment;
use crate::project::Project;
use crate::shell::{Program, say};
use anyhow::{Context, Result, bail};
use std::fs;

/// Creates the environment if needed, and runs the check.
///
/// # Errors
/// The command is not built, Python with venv and pip is missing, a package cannot be fetched,
/// or a count differs.
pub(crate) fn run(project: &Project) -> Result<()> {
    if !checked(project)? {
        bail!("{NEEDED}");
    }
    Ok(())
}

/// Runs the check as a step of the tests; without Python it prints that it was not run.
///
/// # Errors
/// The command is not built, or a count differs; on a CI machine also where a package cannot be fetched.
pub(crate) fn test(project: &Project) -> Result<()> {
    if !checked(project)? {
        say(format!("NOT RUN: {NEEDED}"));
    }
    Ok(())
}

const NEEDED: &str =
    "the readers of other tools need Python 3.11 or later with venv and pip, and network or a cache for pip";

/// Whether the check could be run.
fn checked(project: &Project) -> Result<bool> {
    let command = project.binary("debug", "dissensus");
    if !command.is_file() {
        bail!("{} is not there: run `cargo xtask test --only build` first", command.display());
    }
    let Some(python) = environment(project, "exchange", "tools/exchange_requirements.txt")? else {
        return Ok(false);
    };
    let folder = project.target.join("python/exchange-files");
    if folder.is_dir() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    Program::new(&python)
        .arg(project.root.join("tools/check_exchange.py"))
        .arg(&command)
        .arg(&folder)
        .run()?;
    say(
        "NOT READ by their own programs: Prodigy's lines (in no public registry) and doccano's archive (a server)",
    );
    Ok(true)
}
