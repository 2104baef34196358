//! Predictions and disagreement of everybody on everything, in bounded memory.

use dissensus_perspectives::bench::{predict as timed, predictor};
use serde::Serialize;

pub use dissensus_perspectives::bench::PredictTime;

/// Texts of the large run that are timed; the rate is the same for all.
const LARGE_TEXTS_TIMED: usize = 2_000;

/// How fast everything is predicted.
#[derive(Clone, Debug, Serialize)]
pub struct PredictBench {
    /// One entry a size.
    pub runs: Vec<PredictTime>,
    /// The process's highest memory in MiB, where the system tells.
    pub peak_mib: Option<f64>,
}

/// 10,000 texts x 262 annotators x 5 levels; with `large` also 100,000 x 17,000 binary, of which some texts are timed.
pub fn predict(large: bool) -> PredictBench {
    let mut runs = vec![timed(predictor(10_000, 262, 5, 1).as_ref(), true, None)];
    if large {
        runs.push(timed(predictor(100_000, 17_000, 2, 1).as_ref(), false, Some(LARGE_TEXTS_TIMED)));
    }
    PredictBench { runs, peak_mib: peak_mib() }
}

fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}
