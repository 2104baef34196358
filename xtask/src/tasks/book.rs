//! `cargo xtask book`: the documentation as web pages.

use crate::book;
use crate::project::Project;
use crate::shell::step;
use anyhow::Result;

/// Builds the command and the book, and prints where its first page is.
///
/// # Errors
/// A step failed.
pub(crate) fn run(project: &Project) -> Result<()> {
    step("command: build", || super::test::build_command(project))?;
    let folder = book::build(project, &project.binary("debug", "dissensus"))?;
    println!("==> {}", folder.join("index.html").display());
    Ok(())
}
