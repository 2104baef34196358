//! Importing a file of labels, beside a Python script with csv and sqlite3.

use crate::error::WorkbenchError;
use crate::home::Home;
use crate::jobs::{Observer, Unwatched};
use crate::session::Session;
use crate::view::ImportChoices;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const PEER: &str = include_str!("import_peer.py");
/// Labels of the file that is made where none is given.
const MADE_TEXTS: usize = 10_000;
const MADE_LABELS_A_TEXT: usize = 5;
const MADE_ANNOTATORS: usize = 800;

/// How long an import takes.
#[derive(Clone, Debug, Serialize)]
pub struct ImportBench {
    /// Labels in the file.
    pub labels: u32,
    /// Runs of each.
    pub runs: usize,
    /// Median seconds of an import into a new project: checked, written and on disk.
    pub seconds: f64,
    /// Labels a second.
    pub labels_per_second: f64,
    /// Median seconds of the Python script, without Python's own start.
    pub peer_seconds: Option<f64>,
    /// The peer's time over ours: above 1 we are faster.
    pub ratio: Option<f64>,
}

/// Imports `file` (or 50,000 made labels) `runs` times into a new project each, in turns with the peer if `peers`.
///
/// # Errors
/// The file cannot be imported, or Python did not run.
pub fn import(file: Option<&Path>, peers: bool, runs: usize) -> Result<ImportBench, WorkbenchError> {
    let folder = tempfile::tempdir().map_err(|source| io(std::env::temp_dir(), source))?;
    let made = folder.path().join("made.csv");
    let file = match file {
        Some(file) => file.to_owned(),
        None => {
            std::fs::write(&made, made_labels()).map_err(|source| io(made.clone(), source))?;
            made
        }
    };
    let (mut ours, mut theirs, mut labels) = (Vec::new(), Vec::new(), 0);
    for run in 0..runs.max(1) {
        let project = folder.path().join(format!("{run}.dissensus"));
        let started = Instant::now();
        let session = Session::create(&project, &Home::inside(folder.path(), Vec::new()))?;
        let unwatched: Arc<dyn Observer> = Arc::new(Unwatched);
        labels = session.exchange.import(&file, &ImportChoices::default(), &unwatched)?.labels;
        session.close();
        ours.push(started.elapsed().as_secs_f64());
        if peers {
            theirs.push(python(&file, &folder.path().join(format!("{run}.sqlite")))?);
        }
    }
    let seconds = median(&mut ours);
    let peer_seconds = peers.then(|| median(&mut theirs));
    Ok(ImportBench {
        labels,
        runs: ours.len(),
        seconds,
        labels_per_second: f64::from(labels) / seconds,
        peer_seconds,
        ratio: peer_seconds.map(|theirs| theirs / seconds),
    })
}

fn python(file: &Path, target: &Path) -> Result<f64, WorkbenchError> {
    let failed = |why: String| WorkbenchError::Peer { peer: "python3", why };
    let output = Command::new("python3")
        .args(["-c", PEER])
        .arg(file)
        .arg(target)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let seconds = said.trim().parse();
    seconds.map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

fn made_labels() -> String {
    let mut csv = String::from("text_id,text,annotator_id,label\n");
    for text in 0..MADE_TEXTS {
        for nth in 0..MADE_LABELS_A_TEXT {
            let annotator = (text * 7 + nth * 131) % MADE_ANNOTATORS;
            let level = (text + annotator * 3) % 5 + 1;
            let body = "a comment, with a comma and some more words to read, ".repeat(2);
            let _ = writeln!(csv, "t{text},\"{body}{text}\",a{annotator},{level}");
        }
    }
    csv
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn io(path: PathBuf, source: std::io::Error) -> WorkbenchError {
    WorkbenchError::Io { path, doing: "writing", source }
}
