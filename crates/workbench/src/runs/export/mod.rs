//! Reports of runs as files: a table for a spreadsheet or a paper, everything for a script, a page with plots for people.

mod html;
mod plots;
mod tables;

use crate::error::WorkbenchError;
use crate::project::name_of;
use crate::runs::Runs;
use crate::view::RunDetail;
use dissensus_files::write_atomically;
use std::path::Path;

impl Runs {
    /// Writes a report of these runs; the path's ending says which kind: `.csv` (a row a run and metric), `.json` (everything),
    /// `.tex` (a table for a paper) or `.html` (a page of its own, with plots). The file appears whole or not at all, in place
    /// of one of that name.
    ///
    /// # Errors
    /// There is no such run, another ending, or the file cannot be written.
    pub fn export(&self, ids: &[u32], path: &Path) -> Result<(), WorkbenchError> {
        let write: fn(&[RunDetail], &str) -> Result<Vec<u8>, WorkbenchError> =
            match path.extension().and_then(|e| e.to_str()).map(str::to_lowercase).as_deref() {
                Some("csv") => |runs, _| tables::csv(runs),
                Some("json") => {
                    |runs, _| serde_json::to_vec_pretty(runs).map_err(|e| WorkbenchError::internal(&e))
                }
                Some("tex") => |runs, _| Ok(tables::latex(runs).into_bytes()),
                Some("html" | "htm") => |runs, project| Ok(html::page(runs, project)?.into_bytes()),
                _ => return Err(WorkbenchError::ReportKind(path.to_owned())),
            };
        let details: Vec<RunDetail> = ids.iter().map(|id| self.detail(*id)).collect::<Result<_, _>>()?;
        let project = name_of(self.context.store.path());
        let bytes = write(&details, &project)?;
        write_atomically(path, &bytes).map_err(|source| WorkbenchError::Io {
            path: path.to_owned(),
            doing: "writing",
            source,
        })
    }
}
