//! How long an answer takes, by the answers whose time is known.

use crate::error::WorkbenchError;
use dissensus_domain::QuestionId;
use dissensus_store::Store;

/// Answers whose time is known that a study is planned by: of fewer the median is anything.
pub const FEWEST: usize = 20;

/// Returns the median answer time of a question in seconds, `None` with fewer than [`FEWEST`] known times;
/// and the number of known times.
pub fn median_seconds(store: &Store, question: QuestionId) -> Result<(Option<f64>, u32), WorkbenchError> {
    let mut times: Vec<u32> =
        store.timed_answers(question)?.iter().map(|answer| answer.duration_ms).collect();
    times.sort_unstable();
    let n = times.len();
    let middle = (n >= FEWEST).then(|| (f64::from(times[(n - 1) / 2]) + f64::from(times[n / 2])) / 2000.0);
    Ok((middle, n as u32))
}
