//! Progress of long work as a bar on standard error.

use dissensus_workbench::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar that appears once there is something to show; silent where standard error is not a terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that counts `unit`.
    pub(crate) fn new(unit: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(spinner(unit));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }
}

impl Observer for Bar {
    fn step(&self, done: u64, total: Option<u64>, note: &str) {
        if let (Some(total), None) = (total, self.bar.length()) {
            self.bar.set_length(total);
            self.bar.set_style(counted());
            self.bar.set_position(done);
            self.bar.reset_eta();
        }
        self.bar.set_position(done);
        self.bar.set_message(note.to_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn spinner(unit: &str) -> ProgressStyle {
    ProgressStyle::with_template(&format!("{{spinner}} {{pos}} {unit} {{msg}}"))
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn counted() -> ProgressStyle {
    ProgressStyle::with_template("{bar:28} {pos}/{len}  {eta} left  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
