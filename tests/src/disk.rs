//! A small disk, for tests of a full one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system in memory; unmounted on drop.
pub struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts a disk of `bytes` at `folder`, which must exist.
    ///
    /// # Errors
    /// The message of `mount`: mounting needs root with the right to do so.
    pub fn mount(folder: &Path, bytes: u64) -> Result<Self, String> {
        let options = format!("size={bytes}");
        let output =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).output();
        match output {
            Ok(output) if output.status.success() => Ok(Self { folder: folder.to_owned() }),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Changes its size.
    ///
    /// # Errors
    /// The message of `mount`.
    pub fn resize(&self, bytes: u64) -> Result<(), String> {
        let options = format!("remount,size={bytes}");
        let output = Command::new("mount").args(["-o", &options]).arg(&self.folder).output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The path of `name` on this disk.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, so that a process that still has a file open does not leave the mount behind.
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).output();
    }
}
