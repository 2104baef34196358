//! Import speed of a file of labels, compared with a Python script that uses csv and sqlite3.

use crate::error::BenchError;
use crate::figures::median;
use dissensus_api::ImportChoices;
use dissensus_app::session::Session;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const PEER: &str = include_str!("import_peer.py");
/// Number of texts in the synthetic file, which is used if none is given.
const MADE_TEXTS: usize = 10_000;
const MADE_LABELS_A_TEXT: usize = 5;
const MADE_ANNOTATORS: usize = 800;

/// Import speed.
#[derive(Clone, Debug, Serialize)]
pub struct ImportBench {
    /// Number of labels in the file.
    pub labels: u32,
    /// Runs of each program.
    pub runs: usize,
    /// Median seconds of an import into a new project: checked, written and on disk.
    pub seconds: f64,
    pub labels_per_second: f64,
    /// Median seconds of the Python script, without the start of Python itself.
    pub peer_seconds: Option<f64>,
    /// The peer's time divided by ours: above 1, ours is faster.
    pub ratio: Option<f64>,
}

/// Imports `file` (or 50,000 synthetic labels) `runs` times, each into a new project, in turns with the peer
/// if `peers`.
///
/// # Errors
/// Fails if the file cannot be imported or Python did not run.
pub fn import(file: Option<&Path>, peers: bool, runs: usize) -> Result<ImportBench, BenchError> {
    let folder = tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
    let made = folder.path().join("made.csv");
    let file = match file {
        Some(file) => file.to_owned(),
        None => {
            std::fs::write(&made, made_labels()).map_err(BenchError::io("writing", &made))?;
            made
        }
    };
    let (mut ours, mut theirs, mut labels) = (Vec::new(), Vec::new(), 0);
    for run in 0..runs.max(1) {
        let project = folder.path().join(format!("{run}.dissensus"));
        let started = Instant::now();
        let session = Session::create(&project, &Home::inside(folder.path(), Vec::new()))?;
        let unwatched: Arc<dyn Progress> = Arc::new(Silent);
        labels =
            exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&unwatched))?.labels;
        session.close();
        ours.push(started.elapsed().as_secs_f64());
        if peers {
            theirs.push(python(&file, &folder.path().join(format!("{run}.sqlite")))?);
        }
    }
    let seconds = median(&ours).unwrap_or_default();
    let peer_seconds = median(&theirs);
    Ok(ImportBench {
        labels,
        runs: ours.len(),
        seconds,
        labels_per_second: f64::from(labels) / seconds,
        peer_seconds,
        ratio: peer_seconds.map(|theirs| theirs / seconds),
    })
}

fn python(file: &Path, target: &Path) -> Result<f64, BenchError> {
    let failed = |why: String| BenchError::Peer { peer: "python3", why };
    let output = Command::new("python3")
        .args(["-c", PEER])
        .arg(file)
        .arg(target)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let message = String::from_utf8_lossy(&output.stdout);
    let seconds = message.trim().parse();
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
