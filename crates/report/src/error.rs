//! Errors of the report folder.

use dissensus_project::error::ProjectError;
use std::path::PathBuf;

dissensus_domain::errors! {
    /// Why a report is not written.
    #[derive(Debug)]
    pub enum ReportError {
        NotAReport(PathBuf) => "not-a-report",
            "{0} exists already and is no report, or holds other files too, so it is not replaced: choose another name";
        ReportChanged { dir: PathBuf, files: Vec<String> } => "report-changed",
            "{dir} is a report in which files were changed since it was made ({}), and it is not replaced: keep these elsewhere first, or choose another name" (files.join(", "));
    }
}

impl From<ReportError> for ProjectError {
    fn from(error: ReportError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
