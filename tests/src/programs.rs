//! Where the built programs are.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The `dissensus` command.
///
/// # Panics
/// It cannot be built.
pub fn command() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| found("DISSENSUS_BIN", "dissensus"))
}

/// The window's program.
///
/// # Panics
/// It cannot be built, for example without the web side (`ui/dist`): `cargo xtask test --only ui-build`.
pub fn window() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| found("DISSENSUS_WINDOW_BIN", "dissensus-window"))
}

/// A program on the search path, or else the one in `bin` of the folder that DISSENSUS_TOOLS names.
pub fn tool(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path);
    let more = std::env::var_os("DISSENSUS_TOOLS").map(|tools| PathBuf::from(tools).join("bin"));
    let found = folders.chain(more).map(|folder| folder.join(name)).find(|program| program.is_file());
    found.unwrap_or_else(|| PathBuf::from(name))
}

/// The folder of the checkout.
pub fn checkout() -> PathBuf {
    // Read at run time: a target folder shared by several checkouts may hold what another one compiled.
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().unwrap_or(&here).to_owned()
}

/// The folder of fetched encoders: DISSENSUS_MODELS, or the checkout's.
pub fn models() -> PathBuf {
    std::env::var_os("DISSENSUS_MODELS").map_or_else(|| checkout().join("models"), PathBuf::from)
}

fn found(variable: &str, name: &str) -> PathBuf {
    if let Some(path) = std::env::var_os(variable) {
        let path = PathBuf::from(path);
        assert!(path.is_file(), "{variable} names {}, which is not there", path.display());
        return path;
    }
    match build(name) {
        Ok(path) => path,
        Err(error) => panic!("cannot build {name}: {error:#}"),
    }
}

/// Builds both programs (the second call finds nothing to do) and returns the path of `name`.
fn build(name: &str) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // With the features of the whole workspace and without the variables of a test, to compile nothing twice.
    cargo.args(["build", "--message-format=json-render-diagnostics", "--workspace", "--bin", name]);
    cargo.args(["--features", "dissensus-window/custom-protocol,dissensus-window/test-hooks"]);
    for (variable, _) in std::env::vars_os() {
        let of_package = variable.to_str().is_some_and(|variable| variable.starts_with("CARGO_PKG_"));
        if of_package || variable == "CARGO_MANIFEST_DIR" || variable == "CARGO_MANIFEST_PATH" {
            cargo.env_remove(variable);
        }
    }
    let output = cargo.current_dir(checkout()).stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("cargo build --bin {name}: {}", output.status);
    }
    let messages = String::from_utf8(output.stdout)?;
    let executable = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = message["target"]["name"] == name && message["target"]["kind"][0] == "bin";
        if is_it { message["executable"].as_str().map(PathBuf::from) } else { None }
    });
    executable.with_context(|| format!("cargo built no program {name}"))
}
