//! Rank statistics of weighted texts.

use crate::metrics::correlation::order;

/// Predicted and observed pairwise disagreement of texts, sorted once.
#[derive(Default)]
pub(super) struct Ranked {
    predicted: Vec<f64>,
    observed: Vec<f64>,
    by_predicted: Vec<u32>,
    by_observed: Vec<u32>,
}

impl Ranked {
    pub(super) fn new(predicted: Vec<f64>, observed: Vec<f64>) -> Self {
        let (by_predicted, by_observed) = (order(&predicted), order(&observed));
        Self { predicted, observed, by_predicted, by_observed }
    }

    /// AUROC of the predicted for "observed is above 0", and Spearman's correlation of both, where text `i`
    /// has the weight `weights[i]`.
    pub(super) fn numbers(&self, weights: &[f64]) -> (Option<f64>, Option<f64>) {
        let ours = weighted_ranks(&self.predicted, &self.by_predicted, weights);
        let theirs = weighted_ranks(&self.observed, &self.by_observed, weights);
        let (mut all, mut positives, mut rank_sum) = (0.0, 0.0, 0.0);
        for i in 0..weights.len() {
            let w = weights[i];
            all += w;
            if self.observed[i] > 0.0 {
                positives += w;
                rank_sum += w * ours[i];
            }
        }
        let negatives = all - positives;
        let auroc = (positives > 0.0 && negatives > 0.0)
            .then(|| (rank_sum - positives * positives / 2.0) / (positives * negatives));
        let middle = all / 2.0; // the mean of all ranks, with ties or without
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for i in 0..weights.len() {
            let (w, x, y) = (weights[i], ours[i] - middle, theirs[i] - middle);
            xx += w * x * x;
            yy += w * y * y;
            xy += w * x * y;
        }
        let spearman = (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0));
        (auroc, spearman)
    }
}

/// Weight below each value plus half of the weight tied with it: ranks from 1/2 where all weights are 1.
pub(in crate::metrics) fn weighted_ranks(values: &[f64], order: &[u32], weights: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0.0;
    let mut from = 0;
    while from < order.len() {
        let value = values[order[from] as usize];
        let mut to = from;
        let mut here = 0.0;
        while to < order.len() && values[order[to] as usize] == value {
            here += weights[order[to] as usize];
            to += 1;
        }
        order[from..to].iter().for_each(|&i| ranks[i as usize] = before + here / 2.0);
        before += here;
        from = to;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::correlation::ranks;
    use crate::metrics::{auroc, spearman};

    #[test]
    fn weights_equal_repeated_rows() {
        let (x, y) = (vec![0.3, 0.1, 0.3, 0.9, 0.5], vec![0.0, 0.2, 0.5, 0.5, 0.0]);
        let weights = [2.0, 0.0, 1.0, 3.0, 1.0];
        let copies = |v: &[f64]| -> Vec<f64> {
            v.iter().zip(weights).flat_map(|(v, w)| std::iter::repeat_n(*v, w as usize)).collect()
        };
        let (cx, cy) = (copies(&x), copies(&y));
        let differ: Vec<bool> = cy.iter().map(|y| *y > 0.0).collect();
        let (a, s) = Ranked::new(x.clone(), y).numbers(&weights);
        assert!((a.unwrap() - auroc(&cx, &differ).unwrap()).abs() < 1e-12);
        assert!((s.unwrap() - spearman(&cx, &cy).unwrap()).abs() < 1e-12);
        let halves: Vec<f64> = ranks(&x).iter().map(|r| r - 0.5).collect();
        assert_eq!(weighted_ranks(&x, &order(&x), &[1.0; 5]), halves);
    }
}
