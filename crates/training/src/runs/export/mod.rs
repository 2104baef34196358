//! Reports of runs as files: a table for a spreadsheet or a paper, complete data for a script, or a page
//! with plots for readers.

mod html;
mod people;
mod plots;
mod tables;

use self::people::ReportedPeople;
pub use self::tables::{COLUMNS, value as metric_of};
use crate::error::TrainingError;
use crate::runs::Runs;
use crate::runs::detail;
use dissensus_api::RunDetail;
use dissensus_files::write_atomically;
use dissensus_project::error::ProjectError;
use dissensus_project::names::project_name as name_of;
use std::path::Path;

/// Writes a report of these runs in the format of the path's extension: `.csv` (one row per run and
/// metric), `.json` (complete data), `.tex` (a table for a paper) or `.html` (a self-contained page with
/// plots). The file is written atomically and replaces an existing one. People have pseudonyms in it, or
/// with `with_ids` their own ids.
///
/// # Errors
/// There is no such run, another extension, or the file cannot be written.
pub fn export(cx: &Runs, ids: &[u32], path: &Path, with_ids: bool) -> Result<(), ProjectError> {
    let write: fn(&[ReportedRun], &str) -> Result<Vec<u8>, ProjectError> =
        match path.extension().and_then(|e| e.to_str()).map(str::to_lowercase).as_deref() {
            Some("csv") => |runs, _| tables::csv(&details(runs)),
            Some("json") => {
                |runs, _| serde_json::to_vec_pretty(&details(runs)).map_err(|e| ProjectError::internal(&e))
            }
            Some("tex") => |runs, _| Ok(tables::latex(&details(runs)).into_bytes()),
            Some("html" | "htm") => |runs, project| Ok(html::page(runs, project)?.into_bytes()),
            _ => return Err(TrainingError::ReportKind(path.to_owned()).into()),
        };
    let report = |id: &u32| -> Result<ReportedRun, ProjectError> {
        let mut detail = detail::detail(cx, *id)?;
        let people = ReportedPeople::new(&cx.context, &mut detail, with_ids)?;
        Ok(ReportedRun { detail, people })
    };
    let reported: Vec<ReportedRun> = ids.iter().map(report).collect::<Result<_, _>>()?;
    let project = name_of(cx.context.store.path());
    let bytes = write(&reported, &project)?;
    write_atomically(path, &bytes).map_err(|source| ProjectError::Io {
        path: path.to_owned(),
        doing: "writing",
        source,
    })
}

/// A run, and its people as the report shows them.
struct ReportedRun {
    detail: RunDetail,
    people: ReportedPeople,
}

fn details(runs: &[ReportedRun]) -> Vec<RunDetail> {
    runs.iter().map(|run| run.detail.clone()).collect()
}
