//! The model hub, file by file over HTTPS.

use super::catalogue::Entry;
use super::check::Origin;
use crate::shell::{Program, which};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// Address of the hub, unless HF_ENDPOINT is set, as for the hub's own tools.
const ENDPOINT: &str = "https://huggingface.co";

/// Fetches the files of `entry` that the hub has into `folder`.
///
/// # Errors
/// The encoder is not on the hub, there is no curl, or the hub is not reachable.
pub(crate) fn fetch(entry: &Entry, folder: &Path) -> Result<()> {
    let Some(hub) = &entry.hub else { bail!("it is not there") };
    if which("curl").is_none() {
        bail!("there is no curl to reach it with");
    }
    let endpoint = std::env::var("HF_ENDPOINT").unwrap_or_else(|_| ENDPOINT.to_owned());
    if !endpoint.starts_with("https://") {
        bail!("HF_ENDPOINT is \"{endpoint}\": only addresses with https:// are fetched from");
    }
    let base = format!("{}/{}/resolve/{}", endpoint.trim_end_matches('/'), hub.repository, hub.revision);
    // The smallest first: an unreachable hub is noticed within seconds.
    let mut files: Vec<_> = entry.files.iter().filter(|file| Origin::Hub.has(file)).collect();
    files.sort_by_key(|file| file.bytes);
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
        }
        download(&format!("{base}/{}", file.path), &path)?;
    }
    Ok(())
}

fn download(url: &str, path: &Path) -> Result<()> {
    let mut curl = std::process::Command::new("curl");
    // Gives up after 10 s without a connection and after 20 s below 10 kB/s, but not on a slow, steady line.
    curl.args(["--fail", "--location", "--silent", "--show-error", "--proto", "=https"])
        .args(["--connect-timeout", "10", "--speed-limit", "10000", "--speed-time", "20"])
        .arg("--output")
        .arg(path)
        .arg(url);
    let output = curl.output().context("cannot start curl")?;
    if output.status.success() {
        return Ok(());
    }
    let program = Program::new("curl").arg(url);
    bail!("`{}`: {}", program.line(), String::from_utf8_lossy(&output.stderr).trim())
}
