//! `majority`: one head trained on each text's most frequent label, regardless of the annotators.

use super::Prepared;
use super::shared::{self, SharedHead};
use dissensus_stats::data::Observation;
use dissensus_stats::data::{ModelKind, majority_level};

/// Fits a head to the majority labels.
pub fn fit(prepared: &Prepared<'_>) -> SharedHead {
    let votes: Vec<Observation> = prepared
        .observations
        .chunk_by(|a, b| a.text == b.text)
        .map(|group| Observation {
            text: group[0].text,
            annotator: 0,
            level: majority_level(group, prepared.target.levels),
        })
        .collect();
    shared::of(ModelKind::Majority, prepared, &votes)
}
