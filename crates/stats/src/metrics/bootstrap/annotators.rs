//! Scores of a resample of annotators: the numbers about labels and about annotators.

use super::labels::Labels;
use super::sums::Sums;
use crate::metrics::{Scores, classes, correlation};

/// Values that are computed once per annotator.
pub(super) struct OverAnnotators<'a> {
    labels: &'a Labels<'a>,
    sums: Vec<Sums>,
    macro_f1: Vec<f64>,
    accuracy: Vec<f64>,
    /// Annotators from the worst predicted to the best predicted.
    worst_first: Vec<u32>,
}

impl<'a> OverAnnotators<'a> {
    pub(super) fn new(labels: &'a Labels<'a>) -> Self {
        let scored = labels.scored;
        let annotators = classes::by_annotator(scored, &scored.predicted());
        Self {
            labels,
            sums: labels.totals(&labels.of_annotator),
            worst_first: correlation::order(&annotators.accuracy),
            macro_f1: annotators.macro_f1,
            accuracy: annotators.accuracy,
        }
    }

    /// Scores of the resample in which annotator `a` has the weight `weights[a]`. Counts and the numbers
    /// about texts are not filled in: with fewer annotators per text its labels would disagree less, under
    /// any model.
    pub(super) fn scores(&self, weights: &[f64]) -> Scores {
        let labels = self.labels;
        let mut scores = Scores::default();
        let mut sums = Sums::NONE;
        let (mut accuracy, mut f1, mut total) = (0.0, 0.0, 0.0);
        for (a, &w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            total += w;
            sums.add(w, &self.sums[a]);
            accuracy += w * self.accuracy[a];
            f1 += w * self.macro_f1[a];
        }
        if sums.labels() == 0.0 {
            return scores;
        }
        sums.write(labels.ordinal, labels.correlates, &mut scores);
        scores.annotator_accuracy = Some(accuracy / total);
        scores.annotator_macro_f1 = Some(f1 / total);
        scores.worst_tenth_accuracy = Some(self.bottom_decile(weights, total));
        labels.write_confusions(|i| weights[labels.annotator[i] as usize], &mut scores);
        scores
    }

    /// Mean accuracy of the annotators predicted worst, for a share of the weight equal to a tenth (rounded
    /// up) of the annotators.
    fn bottom_decile(&self, weights: &[f64], total: f64) -> f64 {
        let tenth = total * self.accuracy.len().div_ceil(10) as f64 / self.accuracy.len() as f64;
        let (mut left, mut sum) = (tenth, 0.0);
        for &a in &self.worst_first {
            let here = weights[a as usize].min(left);
            sum += here * self.accuracy[a as usize];
            left -= here;
            if left <= 0.0 {
                break;
            }
        }
        sum / tenth
    }
}
