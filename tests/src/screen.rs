//! A virtual screen.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// An X server without a monitor, with a display number of its own; ends on drop.
pub struct Screen {
    server: Child,
    name: String,
}

impl Screen {
    /// Starts one.
    ///
    /// # Errors
    /// Xvfb is not installed (`cargo xtask test --only system`) or does not start.
    pub fn start() -> Result<Self> {
        // The server picks the number itself, so that two tests can start one at the same time.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1400x900x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start Xvfb: `cargo xtask test --only system` installs it")?;
        let out = server.stdout.take().context("Xvfb has no output")?;
        let mut number = String::new();
        BufReader::new(out).read_line(&mut number).context("waiting for Xvfb")?;
        if number.trim().is_empty() {
            let status = server.wait()?;
            bail!("Xvfb ended at once ({status})");
        }
        Ok(Self { server, name: format!(":{}", number.trim()) })
    }

    /// Value for DISPLAY.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // It may have ended with the test.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
