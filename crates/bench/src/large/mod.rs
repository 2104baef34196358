//! A large project, step by step as people meet it: import, import again, agreement, open in the window, label while the models
//! are fitted. Each step runs in a process of its own, so that its peak memory is its own.

mod file;
mod steps;

pub use steps::{LabellingTimes, LargeStep, StepTimes};

use crate::error::BenchError;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// How large the made-up file is.
#[derive(Clone, Copy, Debug)]
pub struct LargeSize {
    /// Labels; each text gets the same number.
    pub labels: usize,
    /// Texts.
    pub texts: usize,
    /// Annotators.
    pub annotators: usize,
}

/// The project that was measured and what each step took.
#[derive(Clone, Debug, Serialize)]
pub struct LargeBench {
    /// Labels in the project.
    pub labels: u32,
    /// Texts in it.
    pub texts: u32,
    /// Annotators in it.
    pub annotators: u32,
    /// The steps in order.
    pub steps: Vec<StepTimes>,
}

/// Imports `file`, or a made-up one of `size`, into a project and takes it through every step. `program` is the `dissensus`
/// command, of which each step is started; `say` hears of progress.
///
/// # Errors
/// The file cannot be imported, or a step fails.
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
        // As imported: labels are given in the steps after the first that reads it.
        if let (0, Some([labels, texts, annotators])) = (found.labels, times.holds) {
            (found.labels, found.texts, found.annotators) = (labels, texts, annotators);
        }
        found.steps.push(times);
    }
    Ok(found)
}

/// Takes one step with the project in `folder`; what [`large`] starts a process for.
///
/// # Errors
/// As [`large`].
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
