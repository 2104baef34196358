//! Scores of a resample of annotators.

use super::labels::Labels;
use super::ranks::Ranked;
use super::sums::{Confusion, Sums};
use crate::metrics::classes;
use crate::metrics::probability::CLIP;
use crate::metrics::{Scores, correlation};

/// What can be computed once per annotator.
pub(super) struct OverAnnotators<'a> {
    labels: &'a Labels<'a>,
    sums: Vec<Sums>,
    macro_f1: Vec<f64>,
    accuracy: Vec<f64>,
    /// Annotators from the one predicted worst to the one predicted best.
    worst_first: Vec<u32>,
    /// Of every label, the squared length of its prediction.
    squares: Vec<f64>,
}

impl<'a> OverAnnotators<'a> {
    pub(super) fn of(labels: &'a Labels<'a>) -> Self {
        let scored = labels.scored;
        let people = classes::by_annotator(scored, &scored.predicted());
        let square = |i| scored.row(i).iter().map(|&p| f64::from(p).powi(2)).sum();
        Self {
            labels,
            sums: labels.totals(&labels.of_annotator),
            worst_first: correlation::order(&people.accuracy),
            macro_f1: people.macro_f1,
            accuracy: people.accuracy,
            squares: (0..scored.observations.len()).map(square).collect(),
        }
    }

    /// Scores of the resample in which annotator `a` stands `drawn[a]` times. Counts are not filled in.
    pub(super) fn scores(&self, drawn: &[u32]) -> Scores {
        let labels = self.labels;
        let mut scores = Scores::default();
        let mut sums = Sums::NONE;
        let (mut accuracy, mut f1, mut people) = (0.0, 0.0, 0u32);
        for (a, &w) in drawn.iter().enumerate().filter(|(_, w)| **w > 0) {
            people += w;
            let w = f64::from(w);
            sums.add(w, &self.sums[a]);
            accuracy += w * self.accuracy[a];
            f1 += w * self.macro_f1[a];
        }
        if sums.labels() == 0.0 {
            return scores;
        }
        sums.write(labels.ordinal, labels.correlates, &mut scores);
        scores.annotator_accuracy = Some(accuracy / f64::from(people));
        scores.annotator_macro_f1 = Some(f1 / f64::from(people));
        scores.worst_tenth_accuracy = Some(self.worst_tenth(drawn, people.div_ceil(10)));
        let mut confusion = Confusion::new(labels.scored.levels);
        for (&a, &cell) in labels.annotator.iter().zip(&labels.cell) {
            confusion.add(f64::from(drawn[a as usize]), cell as usize);
        }
        confusion.write(labels.ordinal, &mut scores);
        self.texts(drawn, &mut scores);
        scores
    }

    fn worst_tenth(&self, drawn: &[u32], tenth: u32) -> f64 {
        let (mut left, mut sum) = (tenth, 0.0);
        for &a in &self.worst_first {
            let here = drawn[a as usize].min(left);
            sum += f64::from(here) * self.accuracy[a as usize];
            left -= here;
            if left == 0 {
                break;
            }
        }
        sum / f64::from(tenth)
    }

    /// The numbers about texts, from the labels that are left of each, copies counting as often as they stand; pairs only
    /// of different labels.
    fn texts(&self, drawn: &[u32], scores: &mut Scores) {
        let labels = self.labels;
        let levels = labels.scored.levels;
        let (mut soft, mut texts) = (0.0, 0u32);
        let (mut predicted, mut observed) = (Vec::new(), Vec::new());
        let (mut sums, mut counts) = (vec![0.0; levels], vec![0.0; levels]);
        for rows in &labels.of_text {
            sums.fill(0.0);
            counts.fill(0.0);
            // Weights, their squares, and the squares times those of the predictions.
            let (mut n, mut copies, mut squares) = (0.0, 0.0, 0.0);
            for &i in rows {
                let i = i as usize;
                let w = f64::from(drawn[labels.annotator[i] as usize]);
                if w == 0.0 {
                    continue;
                }
                n += w;
                copies += w * w;
                squares += w * w * self.squares[i];
                counts[labels.cell[i] as usize / levels] += w;
                sums.iter_mut().zip(labels.scored.row(i)).for_each(|(s, &p)| *s += w * f64::from(p));
            }
            if n == 0.0 {
                continue;
            }
            texts += 1;
            let said = counts.iter().zip(&sums).filter(|(c, _)| **c > 0.0);
            soft -= said.map(|(c, s): (&f64, &f64)| c / n * (s / n).max(CLIP).ln()).sum::<f64>();
            let pairs = n * n - copies;
            if pairs > 0.0 {
                predicted.push(1.0 - (sums.iter().map(|s| s * s).sum::<f64>() - squares) / pairs);
                observed.push(1.0 - (counts.iter().map(|c| c * c).sum::<f64>() - copies) / pairs);
            }
        }
        scores.soft_cross_entropy = (texts > 0).then(|| soft / f64::from(texts));
        let once = vec![1.0; predicted.len()];
        (scores.disagreement_auroc, scores.disagreement_spearman) =
            Ranked::new(predicted, observed).numbers(&once);
    }
}
