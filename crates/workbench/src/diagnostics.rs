//! What somebody who helps wants to know: versions, sizes and the last lines of the log. Nothing of a text, a label or a name.

use crate::app::Workbench;
use crate::error::WorkbenchError;
use crate::log::last_lines;
use crate::session::Session;
use dissensus_perspectives::AnnotatorModel as _;
use std::fmt::Write as _;

/// Enough to see what led to an error.
const LINES: usize = 100;

impl Session {
    /// Sizes of the project and what is at work, a line each.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn diagnostics(&self) -> Result<String, WorkbenchError> {
        let core = &self.core;
        let (index, active) = (core.index(), core.active_encoder()?);
        let labels: u32 = core.store.annotator_counts()?.iter().map(|count| count.labels).sum();
        let encoding = core.encoding_state()?;
        let bytes = std::fs::metadata(core.store.path()).map_or(0, |file| file.len());
        let mut lines = format!(
            "project: {} texts, {} annotators, {} questions, {labels} labels, {:.1} MB\n",
            index.texts().len(),
            index.annotators().len(),
            index.questions().len(),
            bytes as f64 / 1e6
        );
        let _ = writeln!(
            lines,
            "embeddings: {} of {}, dimension and version {}, of a run: {}",
            encoding.encoded,
            encoding.total,
            active.key().map_or("none", version_without_name),
            active.run.is_some()
        );
        for question in index.questions() {
            let state = core.live.with(question.id, |fitted| (fitted.labels, fitted.model.texts()));
            let fitted = state
                .map_or("not fitted".to_owned(), |(n, texts)| format!("fitted on {n} labels, {texts} texts"));
            let _ = writeln!(lines, "question {}: {} levels, {fitted}", question.id.0, question.scale.len());
        }
        for job in core.jobs.running() {
            let _ = writeln!(lines, "at work: {} {} of {:?}", job.kind, job.done, job.total);
        }
        Ok(lines)
    }
}

impl Workbench {
    /// Versions, device, sizes of the open project and the last lines of the log, to be copied into a report.
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
        match self.session().map(|session| session.diagnostics()) {
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

/// A version's key without the encoder's name, which can be a folder of somebody's.
fn version_without_name(key: &str) -> &str {
    key.split_once('/').map_or("unnamed", |(_, rest)| rest)
}
