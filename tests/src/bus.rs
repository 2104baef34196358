//! A session message bus of a test's own.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A D-Bus daemon; ends when dropped.
pub struct Bus {
    daemon: Child,
    address: String,
    /// Sockets of services that it starts, such as the accessibility bus.
    _sockets: TempDir,
}

impl Bus {
    /// Starts one.
    ///
    /// # Errors
    /// dbus-daemon is not installed (`cargo xtask test --only system`) or does not start.
    pub fn start() -> Result<Self> {
        let sockets = tempfile::tempdir()?;
        let mut daemon = Command::new("dbus-daemon")
            .env("XDG_RUNTIME_DIR", sockets.path())
            .args(["--session", "--nofork", "--nopidfile", "--print-address"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start dbus-daemon: `cargo xtask test --only system` installs it")?;
        let out = daemon.stdout.take().context("dbus-daemon has no output")?;
        let mut address = String::new();
        BufReader::new(out).read_line(&mut address).context("waiting for dbus-daemon")?;
        if address.trim().is_empty() {
            bail!("dbus-daemon ended at once ({})", daemon.wait()?);
        }
        Ok(Self { daemon, address: address.trim().to_owned(), _sockets: sockets })
    }

    /// Value for DBUS_SESSION_BUS_ADDRESS.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        // It may have ended with the test.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}
