//! The Python environment of the peers: pinned versions in the user's cache, created once.

use crate::error::BenchError;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const REQUIREMENTS: &str = include_str!("requirements.txt");
/// Marker file in an environment whose creation was completed.
const MARKER: &str = "finished";
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Path in `cache` of the environment with exactly these versions.
pub(super) fn folder(cache: &Path) -> PathBuf {
    let hash = Sha256::digest(REQUIREMENTS);
    let name = hash.iter().take(6).fold(String::from("bench-peers-"), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    });
    cache.join(name)
}

/// Path of Python in the environment in `folder`, which is created if it is not complete.
pub(super) fn ready(folder: &Path, say: &dyn Fn(&str)) -> Result<PathBuf, BenchError> {
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    // The system's Python, which the environment links to, may have been removed since.
    if folder.join(MARKER).is_file() && python.is_file() {
        return Ok(python);
    }
    make(folder, &python, say)?;
    Ok(python)
}

fn make(folder: &Path, python: &Path, say: &dyn Fn(&str)) -> Result<(), BenchError> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(BenchError::io("clearing", folder))?;
    }
    fs::create_dir_all(folder).map_err(BenchError::io("making", folder))?;
    say(&format!("Making the peers' Python environment in {} (once; about 3 GB to fetch)", folder.display()));
    run(Command::new(PYTHON).args(["-m", "venv"]).arg(folder), &folder.join("venv.log"), say)?;
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, REQUIREMENTS).map_err(BenchError::io("writing", &requirements))?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"]);
    // Wheels only: a source build runs third-party code and takes hours. No dependencies: the list is
    // complete.
    pip.args(["--only-binary", ":all:", "--no-deps", "--retries", "2", "-r"]).arg(&requirements);
    run(&mut pip, &folder.join("pip.log"), say)?;
    let marker = folder.join(MARKER);
    fs::write(&marker, "").map_err(BenchError::io("writing", &marker))
}

/// Runs a step; standard error goes to `log`, and each line about a download or an installation to `say`.
fn run(command: &mut Command, log: &Path, say: &dyn Fn(&str)) -> Result<(), BenchError> {
    let failed = |why: String| BenchError::Peer { peer: PYTHON, why };
    let file = fs::File::create(log).map_err(|error| failed(error.to_string()))?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::from(file));
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => failed("it is not installed, or not on the PATH".to_owned()),
        _ => failed(error.to_string()),
    })?;
    let mut printed = String::new();
    for line in
        child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok)
    {
        if ["Downloading", "Installing"].iter().any(|start| line.trim_start().starts_with(start)) {
            // The last line names every package.
            say(&line.trim().chars().take(100).collect::<String>());
        }
        printed.push_str(&line);
        printed.push('\n');
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let errors = fs::read_to_string(log).unwrap_or_default();
    Err(failed(reason(&errors, &printed).unwrap_or_else(|| status.to_string())))
}

/// The most informative line: pip's last error, else the last line of the errors, else the first one printed.
fn reason(errors: &str, printed: &str) -> Option<String> {
    let spoken = |line: &&str| !line.trim().is_empty();
    let line = errors
        .lines()
        .rev()
        .find(|line| line.starts_with("ERROR"))
        .or_else(|| errors.lines().rev().find(spoken))
        .or_else(|| printed.lines().find(spoken))?;
    let line = line.trim_start_matches("ERROR:").trim();
    // pip names the package that it looked for last; the cause is in its warnings.
    let unreachable = errors.contains("after connection broken by");
    Some(if unreachable { format!("the package index cannot be reached ({line})") } else { line.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_error_is_reported_with_missing_network() {
        let broken = "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError'\n\
                      ERROR: Could not find a version\nERROR: No matching distribution found for click==8.5.1\n\n\
                      [notice] something\n";
        let expected =
            "the package index cannot be reached (No matching distribution found for click==8.5.1)";
        assert_eq!(reason(broken, "").as_deref(), Some(expected));
        assert_eq!(
            reason("", "\nensurepip is not available\nmore").as_deref(),
            Some("ensurepip is not available")
        );
        assert_eq!(reason("a\nb\n", "c").as_deref(), Some("b"));
        assert_eq!(reason("", ""), None);
    }

    #[test]
    fn every_requirement_is_pinned() {
        let lines = REQUIREMENTS.lines().filter(|line| !line.starts_with('#'));
        let (pinned, other): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains("=="));
        assert!(pinned.len() > 40 && other.is_empty(), "{other:?}");
    }
}
