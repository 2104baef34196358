//! Majority vote: the share of labels of each level.

use super::votes::Votes;

/// Shares of every labelled text, labelled x used levels: the posterior of the majority vote, and the
/// starting point of EM.
pub(super) fn shares(votes: &Votes) -> Vec<f64> {
    let levels = votes.levels();
    let mut shares = vec![0.0; votes.texts() * levels];
    for (row, text) in shares.chunks_exact_mut(levels.max(1)).zip(votes.by_text()) {
        text.iter().for_each(|v| row[v.level] += 1.0);
        row.iter_mut().for_each(|s| *s /= text.len() as f64);
    }
    shares
}
