//! Scores of a resample of texts.

use super::labels::Labels;
use super::ranks::Ranked;
use super::sums::{Confusion, Sums};
use crate::metrics::{Scores, disagreement, mean, worst_tenth};

/// What can be computed once per text.
pub(super) struct OverTexts<'a> {
    labels: &'a Labels<'a>,
    sums: Vec<Sums>,
    /// Soft cross-entropy of each text.
    soft: Vec<f64>,
    /// Texts with two labels, and what is predicted and observed of their disagreement.
    paired: Vec<u32>,
    ranked: Ranked,
}

impl<'a> OverTexts<'a> {
    pub(super) fn of(labels: &'a Labels<'a>) -> Self {
        let texts = disagreement::by_text(labels.scored);
        let two = |(_, rows): &(usize, &Vec<u32>)| rows.len() > 1;
        let paired = labels.of_text.iter().enumerate().filter(two).map(|(t, _)| t as u32).collect();
        Self {
            labels,
            sums: labels.totals(&labels.of_text),
            soft: disagreement::soft_cross_entropies(labels.scored),
            paired,
            ranked: Ranked::new(texts.predicted, texts.observed),
        }
    }

    /// Scores of the resample in which text `t` stands `drawn[t]` times. Counts are not filled in.
    pub(super) fn scores(&self, drawn: &[u32]) -> Scores {
        let labels = self.labels;
        let mut scores = Scores::default();
        let mut sums = Sums::NONE;
        let mut soft = 0.0;
        let mut texts = 0.0;
        for (t, &w) in drawn.iter().enumerate().filter(|(_, w)| **w > 0) {
            let w = f64::from(w);
            sums.add(w, &self.sums[t]);
            soft += w * self.soft[t];
            texts += w;
        }
        if texts == 0.0 {
            return scores;
        }
        sums.write(labels.ordinal, labels.correlates, &mut scores);
        scores.soft_cross_entropy = Some(soft / texts);
        let mut confusion = Confusion::new(labels.scored.levels);
        for (&t, &cell) in labels.text.iter().zip(&labels.cell) {
            confusion.add(f64::from(drawn[t as usize]), cell as usize);
        }
        confusion.write(labels.ordinal, &mut scores);
        self.people(drawn, &mut scores);
        let weights: Vec<f64> = self.paired.iter().map(|&t| f64::from(drawn[t as usize])).collect();
        (scores.disagreement_auroc, scores.disagreement_spearman) = self.ranked.numbers(&weights);
        scores
    }

    /// The numbers about annotators, from what is left of each one's labels; who has none is not counted.
    fn people(&self, drawn: &[u32], scores: &mut Scores) {
        let labels = self.labels;
        let levels = labels.scored.levels;
        let (mut accuracies, mut f1s) = (Vec::new(), Vec::new());
        let (mut hits, mut sides) = (vec![0u32; levels], vec![0u32; levels]);
        for rows in &labels.of_annotator {
            hits.fill(0);
            sides.fill(0);
            let mut n = 0;
            for &i in rows {
                let w = drawn[labels.text[i as usize] as usize];
                let cell = labels.cell[i as usize] as usize;
                let (t, p) = (cell / levels, cell % levels);
                n += w;
                sides[t] += w;
                sides[p] += w;
                hits[t] += if t == p { w } else { 0 };
            }
            if n == 0 {
                continue;
            }
            accuracies.push(f64::from(hits.iter().sum::<u32>()) / f64::from(n));
            let used = || hits.iter().zip(&sides).filter(|(_, s)| **s > 0);
            let sum: f64 = used().map(|(h, s)| 2.0 * f64::from(*h) / f64::from(*s)).sum();
            f1s.push(sum / used().count() as f64);
        }
        scores.annotator_accuracy = mean(&accuracies);
        scores.annotator_macro_f1 = mean(&f1s);
        scores.worst_tenth_accuracy = worst_tenth(&accuracies);
    }
}
