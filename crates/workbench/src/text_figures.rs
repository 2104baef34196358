//! What the labels of one text come to: counts, shares, their mean and how far they differ.

use crate::labels_differ::{labels_differ, level_counts};
use dissensus_domain::{Answer, CurrentLabel, Scale};

/// The figures of one text.
pub(crate) struct TextFigures {
    /// Labels, each of which holds several levels or none where the scale is one of options or types.
    pub(crate) labels: usize,
    /// How many labels hold each level.
    pub(crate) counts: Vec<u32>,
    /// The mean place on an ordered scale, counted from 0: the share of yes of a binary one.
    pub(crate) mean: Option<f64>,
    /// From 0 (all alike) to 1; two labels are needed.
    pub(crate) disagreement: Option<f32>,
}

impl TextFigures {
    /// Those of the labels of one text.
    pub(crate) fn of(scale: &Scale, labels: &[CurrentLabel]) -> Self {
        let answers: Vec<&Answer> = labels.iter().map(|label| &label.answer).collect();
        let counts = level_counts(scale, &answers);
        let sum: f64 = counts.iter().enumerate().map(|(level, n)| level as f64 * f64::from(*n)).sum();
        let has_mean = scale.kind().is_ordered() && !labels.is_empty();
        Self {
            labels: labels.len(),
            counts,
            mean: has_mean.then(|| sum / labels.len() as f64),
            disagreement: labels_differ(scale, &answers),
        }
    }

    /// The share of labels that hold each level; none without a label.
    pub(crate) fn shares(&self) -> impl Iterator<Item = Option<f64>> {
        let share = |n: &u32| (self.labels > 0).then(|| f64::from(*n) / self.labels as f64);
        self.counts.iter().map(share)
    }
}
