//! Time per answer, from answers with a known time.

use crate::error::ProjectError;
use dissensus_domain::QuestionId;
use dissensus_store::Store;

/// Minimum number of answers with a known time for planning a study: the median of fewer is unreliable.
pub const MIN_TIMED: usize = 20;

/// Returns the median answer time of a question in seconds, `None` with fewer than [`MIN_TIMED`] known times;
/// and the number of known times.
pub fn median_seconds(store: &Store, question: QuestionId) -> Result<(Option<f64>, u32), ProjectError> {
    let mut times: Vec<u32> =
        store.timed_answers(question)?.iter().map(|answer| answer.duration_ms).collect();
    times.sort_unstable();
    let n = times.len();
    let middle = (n >= MIN_TIMED).then(|| (f64::from(times[(n - 1) / 2]) + f64::from(times[n / 2])) / 2000.0);
    Ok((middle, n as u32))
}
