//! Scores of predictions for each annotator.

use super::classes::{accuracy, macro_f1, rows_by_annotator};
use super::probability::CLIP;
use super::scored::Scored;
use crate::data::{MostFrequentLevel, Observation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Scores of the predictions for one annotator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorScores {
    /// Index of the annotator.
    pub annotator: u32,
    /// Number of scored labels, at least one.
    pub labels: usize,
    /// Share predicted exactly.
    pub accuracy: f64,
    /// F1 averaged over the levels that occur among this annotator's labels or predictions.
    pub macro_f1: f64,
    /// Mean negative log-likelihood of this annotator's labels, in nats.
    pub log_loss: f64,
    /// The accuracy of always predicting this annotator's most frequent training level (that of all training
    /// labels, for an annotator without one), like `HeldOut::baseline` of an evaluation.
    pub baseline: f64,
}

/// One entry for every annotator with labels, by index. `train` are the labels that the model was trained on,
/// from which the baseline is computed.
pub fn annotator_scores(scored: &Scored, train: &[Observation]) -> Vec<AnnotatorScores> {
    let predicted = scored.predicted();
    let baselines = annotator_baselines(&scored.observations, train, scored.levels);
    rows_by_annotator(scored)
        .into_iter()
        .map(|(annotator, rows)| {
            let truth: Vec<u16> = rows.iter().map(|&i| scored.observations[i].level).collect();
            let guess: Vec<u16> = rows.iter().map(|&i| predicted[i]).collect();
            let loss = |(&i, &t): (&usize, &u16)| -f64::from(scored.row(i)[usize::from(t)]).max(CLIP).ln();
            let n = rows.len() as f64;
            AnnotatorScores {
                annotator,
                labels: rows.len(),
                accuracy: accuracy(&truth, &guess),
                macro_f1: macro_f1(&truth, &guess),
                log_loss: rows.iter().zip(&truth).map(loss).sum::<f64>() / n,
                baseline: baselines.get(&annotator).copied().unwrap_or_default(),
            }
        })
        .collect()
}

/// [`AnnotatorScores::baseline`] of every annotator with labels in `test`, by index. All levels are below
/// `levels`.
pub fn annotator_baselines(test: &[Observation], train: &[Observation], levels: usize) -> BTreeMap<u32, f64> {
    let baseline = MostFrequentLevel::fit(train, levels);
    let mut counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for o in test {
        let (hits, labels) = counts.entry(o.annotator).or_default();
        *hits += usize::from(baseline.predict(o.annotator) == o.level);
        *labels += 1;
    }
    counts.into_iter().map(|(annotator, (hits, labels))| (annotator, hits as f64 / labels as f64)).collect()
}
