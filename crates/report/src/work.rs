//! Shared state of a report's sections: the project's parts, people's names, the request, and progress.

use super::PaperReports;
use super::document::Stems;
use super::people::People;
use dissensus_api::PaperRequest;
use dissensus_domain::{AnnotatorId, CurrentLabel, Question};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// Shared state of all sections.
pub(super) struct Work<'a> {
    pub(super) of: &'a PaperReports,
    pub(super) people: &'a People,
    pub(super) request: PaperRequest,
    pub(super) steps: &'a Steps<'a>,
}

/// A question with its labels and the names of its files.
pub(crate) struct ReportQuestion {
    pub(super) question: Question,
    pub(super) stems: Stems,
    /// Current labels by text.
    pub(super) labels: Vec<CurrentLabel>,
}

/// The steps of a report; within each step other work reports its own progress.
pub(super) struct Steps<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
    all: u64,
}

impl<'a> Steps<'a> {
    pub(super) fn new(progress: &'a dyn Progress, all: u64) -> Self {
        Self { progress, done: AtomicU64::new(0), all }
    }

    /// Begins the next step.
    ///
    /// # Errors
    /// [`ProjectError::Cancelled`].
    pub(super) fn next(&self, doing: &str) -> Result<(), ProjectError> {
        let done = self.done.fetch_add(1, Ordering::Relaxed);
        self.progress.report(done.min(self.all), Some(self.all), doing);
        if self.cancelled() { Err(ProjectError::Cancelled) } else { Ok(()) }
    }
}

impl Progress for Steps<'_> {
    fn report(&self, _: u64, _: Option<u64>, doing: &str) {
        let done = self.done.load(Ordering::Relaxed).saturating_sub(1);
        self.progress.report(done.min(self.all), Some(self.all), doing);
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }
}

impl ReportQuestion {
    /// Number of labels of each text with labels.
    pub(super) fn per_text(&self) -> Vec<u64> {
        self.labels.chunk_by(|a, b| a.text == b.text).map(|on_text| on_text.len() as u64).collect()
    }

    /// Number of texts with labels of two or more people.
    pub(super) fn shared(&self) -> usize {
        self.per_text().iter().filter(|n| **n > 1).count()
    }

    /// Number of labels of each person with labels.
    pub(super) fn per_person(&self) -> BTreeMap<AnnotatorId, u64> {
        let mut counts = BTreeMap::new();
        for label in &self.labels {
            *counts.entry(label.annotator).or_default() += 1;
        }
        counts
    }

    /// People with labels.
    pub(super) fn labelled_people(&self) -> HashSet<AnnotatorId> {
        self.labels.iter().map(|label| label.annotator).collect()
    }

    /// The question's name, quoted for a command line.
    pub(super) fn quoted(&self) -> String {
        quoted(&self.question.name)
    }
}

/// Quotes a word of a command line for a POSIX shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':');
    match !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Converts an error into a message, so that other sections are unaffected; cancellation is passed on.
pub(super) fn error_as_message<T>(found: Result<T, ProjectError>) -> Result<Result<T, String>, ProjectError> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(error @ (ProjectError::Cancelled | ProjectError::CancelledUnwritten)) => Err(error),
        Err(error) if error.code() == "cancelled" => Err(error),
        Err(error) => Ok(Err(error.to_string())),
    }
}
