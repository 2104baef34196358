//! Scores of a resample of texts: the numbers about labels and about texts.

use super::labels::Labels;
use super::ranks::Ranked;
use super::sums::Sums;
use crate::metrics::soft_labels;
use crate::metrics::soft_labels::TextMeasures;
use crate::metrics::{Scores, disagreement};

/// Values that are computed once per text.
pub(super) struct OverTexts<'a> {
    labels: &'a Labels<'a>,
    sums: Vec<Sums>,
    /// Soft cross-entropy of each text.
    soft: Vec<f64>,
    /// Measures of each text's panel.
    measures: Vec<TextMeasures>,
    /// Texts with two labels, with their predicted and observed disagreement.
    paired: Vec<u32>,
    ranked: Ranked,
}

impl<'a> OverTexts<'a> {
    pub(super) fn new(labels: &'a Labels<'a>) -> Self {
        let texts = disagreement::by_text(labels.scored);
        let two = |(_, rows): &(usize, &Vec<u32>)| rows.len() > 1;
        let paired = labels.of_text.iter().enumerate().filter(two).map(|(t, _)| t as u32).collect();
        Self {
            labels,
            sums: labels.totals(&labels.of_text),
            soft: disagreement::soft_cross_entropies(labels.scored),
            measures: soft_labels::measures_by_text(labels.scored, labels.ordinal),
            paired,
            ranked: Ranked::new(texts.predicted, texts.observed),
        }
    }

    /// Scores of the resample in which text `t` has the weight `weights[t]`. Counts and the numbers about
    /// annotators are not filled in: these are about other annotators, not about other texts.
    pub(super) fn scores(&self, weights: &[f64]) -> Scores {
        let labels = self.labels;
        let mut scores = Scores::default();
        let mut sums = Sums::NONE;
        let mut soft = 0.0;
        let mut texts = 0.0;
        for (t, &w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            sums.add(w, &self.sums[t]);
            soft += w * self.soft[t];
            texts += w;
        }
        if texts == 0.0 {
            return scores;
        }
        sums.write(labels.ordinal, labels.correlates, &mut scores);
        scores.soft_cross_entropy = Some(soft / texts);
        labels.write_confusions(|i| weights[labels.text[i] as usize], &mut scores);
        let mean = soft_labels::mean_of(weights.iter().copied().zip(&self.measures));
        scores.set_soft_labels(&mean, labels.ordinal, labels.scored.levels);
        let of_paired: Vec<f64> = self.paired.iter().map(|&t| weights[t as usize]).collect();
        (scores.disagreement_auroc, scores.disagreement_spearman) = self.ranked.numbers(&of_paired);
        scores
    }
}
