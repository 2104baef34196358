//! Generates documentation pages: commands from their definitions, and the JSON schemas.

mod commands;
mod markdown;
mod schemas;

use crate::commands::schema;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Writes `commands/index.md`, a page for each group of commands, and `schemas.md` into `folder`.
pub(crate) fn write(command: clap::Command, folder: &Path) -> Result<()> {
    let pages = commands::pages(command);
    let schemas = schemas::page(&serde_json::to_value(schema::all())?);
    fs::create_dir_all(folder.join("commands")).with_context(|| format!("making {}", folder.display()))?;
    let pages = pages.into_iter().map(|page| (format!("commands/{}.md", page.name), page.text));
    for (name, text) in pages.chain([("schemas.md".to_owned(), schemas)]) {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}
