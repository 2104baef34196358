//! Figures of the labels of one text: counts, shares, their mean and how far they differ.

use crate::labels_differ::{labels_differ, level_counts};
use dissensus_domain::{Answer, CurrentLabel, Scale};

/// The values of the levels of an ordered scale in a mean: the numbers in their names, if all are numbers,
/// otherwise their indices from 0 (so that the mean of a yes/no question is the share of yes). None for
/// other scales.
pub(crate) fn level_values(scale: &Scale) -> Option<Vec<f64>> {
    if !scale.is_ordered() {
        return None;
    }
    let number = |name: &String| name.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let numbers: Option<Vec<f64>> = scale.levels().iter().map(number).collect();
    Some(numbers.unwrap_or_else(|| (0..scale.len()).map(|place| place as f64).collect()))
}

/// The mean of levels with these weights; none for an unordered scale, and if all weights are 0.
pub(crate) fn mean_of(scale: &Scale, weights: &[f64]) -> Option<f64> {
    let values = level_values(scale)?;
    let all: f64 = weights.iter().sum();
    let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    (all > 0.0).then(|| sum / all)
}

pub struct TextFigures {
    /// Number of labels; on a scale of options or types each may include several levels or none.
    pub labels: usize,
    /// How many labels include each level.
    pub counts: Vec<u32>,
    /// The mean of [`level_values`] on an ordered scale.
    pub mean: Option<f64>,
    /// From 0 (all alike) to 1; needs two labels.
    pub disagreement: Option<f32>,
}

impl TextFigures {
    /// The figures of the labels of one text.
    pub fn new(scale: &Scale, labels: &[CurrentLabel]) -> Self {
        let answers: Vec<&Answer> = labels.iter().map(|label| &label.answer).collect();
        let counts = level_counts(scale, &answers);
        Self {
            labels: labels.len(),
            mean: mean_of(scale, &counts.iter().map(|n| f64::from(*n)).collect::<Vec<_>>()),
            counts,
            disagreement: labels_differ(scale, &answers),
        }
    }

    /// The share of labels that include each level; none without a label.
    pub fn shares(&self) -> impl Iterator<Item = Option<f64>> {
        let share = |n: &u32| (self.labels > 0).then(|| f64::from(*n) / self.labels as f64);
        self.counts.iter().map(share)
    }
}
