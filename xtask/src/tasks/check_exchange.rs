//! `cargo xtask check-exchange`, and a step of `cargo xtask test`: files that the command writes for other tools, read by
//! those tools' own readers.

use super::python::environment;
use crate::project::Project;
use crate::shell::{Program, say};
use anyhow::{Context, Result, bail};
use std::fs;

/// Makes the environment where it is not there yet, and runs the check.
///
/// # Errors
/// The command is not built, there is no Python with venv and pip, a package cannot be fetched, or a count differs.
pub(crate) fn run(project: &Project) -> Result<()> {
    if !checked(project)? {
        bail!("{NEEDED}");
    }
    Ok(())
}

/// The same as a step among others: says so where there is no Python.
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
