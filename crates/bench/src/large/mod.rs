//! A large project, step by step as in real use: import, import again, agreement, open in the window, label
//! while the models are fitted. Each step runs in its own process, so that its peak memory can be measured.

mod file;
mod steps;

pub use steps::{LabellingTimes, LargeStep, StepTimes};

use crate::error::BenchError;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// Size of the synthetic file.
#[derive(Clone, Copy, Debug)]
pub struct LargeSize {
    /// Number of labels; each text gets the same number.
    pub labels: usize,
    pub texts: usize,
    pub annotators: usize,
}

/// Size of the project and time of each step.
#[derive(Clone, Debug, Serialize)]
pub struct LargeBench {
    /// Number of labels in the project.
    pub labels: u32,
    pub texts: u32,
    pub annotators: u32,
    /// The steps in order.
    pub steps: Vec<StepTimes>,
}

/// Imports `file`, or a synthetic one of `size`, into a project and runs every step. `program` is the program
/// that each step is started with; progress goes to `say`.
///
/// # Errors
/// Fails if the file cannot be imported or a step fails.
pub fn large(
    program: &Path,
    file: Option<&Path>,
    size: LargeSize,
    say: &dyn Fn(&str),
) -> Result<LargeBench, BenchError> {
    let folder = tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
    let made = folder.path().join("labels.csv");
    let file = match file {
        Some(file) => file,
        None => {
            say("Making the file");
            file::write(&made, size)?;
            &made
        }
    };
    let mut found = LargeBench { labels: 0, texts: 0, annotators: 0, steps: Vec::new() };
    for step in LargeStep::ALL {
        say(&format!("Measuring: {}", step.title()));
        let times = in_a_process(program, step, folder.path(), file)?;
        // Sizes as imported: the steps after the first one that reads them add labels.
        if let (0, Some([labels, texts, annotators])) = (found.labels, times.holds) {
            (found.labels, found.texts, found.annotators) = (labels, texts, annotators);
        }
        found.steps.push(times);
    }
    Ok(found)
}

/// Runs one step with the project in `folder`; [`large`] starts a process for each.
pub fn large_step(step: LargeStep, folder: &Path, file: &Path) -> Result<StepTimes, BenchError> {
    steps::take(step, folder, file)
}

fn in_a_process(
    program: &Path,
    step: LargeStep,
    folder: &Path,
    file: &Path,
) -> Result<StepTimes, BenchError> {
    let failed = |why: String| BenchError::Peer { peer: "dissensus-bench large-step", why };
    let output = Command::new(program)
        .args(["large-step", step.name()])
        .args([folder, file])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    match serde_json::from_slice(&output.stdout) {
        Ok(times) if output.status.success() => Ok(times),
        _ => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}
