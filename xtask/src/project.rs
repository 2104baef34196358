//! Where things are in the checkout and in the target folder.

use crate::shell::Program;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The checkout and its target folder.
pub(crate) struct Project {
    /// Folder of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// Where cargo builds, wherever the settings or CARGO_TARGET_DIR put it.
    pub(crate) target: PathBuf,
}

impl Project {
    /// The checkout this program was started from.
    pub(crate) fn find() -> Result<Self> {
        let manifest =
            std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
        let root = Path::new(&manifest).parent().context("xtask is not inside a workspace")?.to_owned();
        let metadata = Program::cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .in_folder(&root)
            .output()?;
        let metadata: serde_json::Value =
            serde_json::from_str(&metadata).context("reading `cargo metadata`")?;
        let target =
            metadata["target_directory"].as_str().context("`cargo metadata` names no target folder")?;
        Ok(Self { target: PathBuf::from(target), root })
    }

    /// The window's web side.
    pub(crate) fn ui(&self) -> PathBuf {
        self.root.join("ui")
    }

    /// Fetched encoders, one folder each.
    pub(crate) fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// Stamp files that record what is up to date.
    pub(crate) fn stamps(&self) -> PathBuf {
        self.target.join("xtask")
    }

    /// A program that cargo built: `profile` is the folder's name, `debug` or `release`.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Where data sets for benchmarks are looked for: DISSENSUS_DATA or `../shared/data`.
    pub(crate) fn data_folder(&self) -> PathBuf {
        std::env::var_os("DISSENSUS_DATA").map_or_else(|| self.root.join("../shared/data"), PathBuf::from)
    }

    /// That folder, if this machine has one.
    pub(crate) fn data(&self) -> Option<PathBuf> {
        let folder = self.data_folder();
        folder.is_dir().then_some(folder)
    }
}
