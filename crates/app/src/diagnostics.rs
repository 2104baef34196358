//! Diagnostics that a user can copy into a bug report: versions, device, sizes and the last lines of the
//! log. They contain no text, label or name.

use super::Application;
use dissensus_editing::diagnostics;
use dissensus_project::log::last_lines;
use std::fmt::Write as _;

/// Number of log lines: enough to see what led to an error.
const LINES: usize = 100;

impl Application {
    /// Versions, device, sizes of the open project and the last lines of the log, for a bug report.
    pub fn diagnostics(&self) -> String {
        let app = self.app_info();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut text = format!(
            "Dissensus {} on {} {}, {cores} cores, {}\nencoder found: {}\n",
            app.version,
            std::env::consts::OS,
            std::env::consts::ARCH,
            app.device,
            app.encoder.is_some()
        );
        match self.session().map(|session| diagnostics::describe(&session.project)) {
            None => text.push_str("no project is open\n"),
            Some(Ok(lines)) => text.push_str(&lines),
            Some(Err(error)) => drop(writeln!(text, "the project cannot be read: {}", error.code())),
        }
        let lines = last_lines(self.home(), LINES);
        let _ = writeln!(text, "last {} lines of the log:", lines.len());
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}
