//! Nodes of a text's posterior over which disagreement is averaged.

use super::crossed::CrossedEffects;
use super::predictor::TextColumns;
use crate::link::Link;
use dissensus_stats::math::quadrature::FIVE;

/// Largest number of levels of choice scales for averaging: the cost is quadratic in the levels.
const MAX_LEVELS: usize = 8;

/// One node: every text's scores fixed at a step from their posterior means.
#[derive(Clone, Debug)]
pub(crate) struct QuadratureNode {
    pub(crate) weight: f64,
    /// In posterior standard deviations, one per score.
    step: Vec<f64>,
    pub(crate) columns: TextColumns,
}

impl QuadratureNode {
    /// The nodes of all texts. One score: the five-node Gauss-Hermite rule (within 0.0001 of fifteen nodes on
    /// POPQUORN, 0.0009 on MD-Agreement). Choice scales: a simplex with one level raised in turn, which has
    /// the mean and the covariance of independent scores up to the common shift that softmax ignores.
    pub(crate) fn all(crossed: &CrossedEffects) -> Vec<Self> {
        let steps = steps(crossed.link);
        steps
            .into_iter()
            .map(|(weight, step)| {
                let mut node = Self { weight, step, columns: TextColumns::empty(crossed) };
                (0..crossed.texts()).for_each(|text| node.push(crossed, text));
                node
            })
            .collect()
    }

    /// Adds the columns of a text that was added to the effects.
    pub(crate) fn push(&mut self, crossed: &CrossedEffects, text: usize) {
        let scores = self.scores_at(crossed, text);
        self.columns.push(&scores, 0.0, crossed.noise(text), crossed.features(text));
    }

    /// Updates one text to its new posterior.
    pub(crate) fn set(&mut self, crossed: &CrossedEffects, text: usize) {
        let scores = self.scores_at(crossed, text);
        self.columns.set(text, &scores, 0.0, crossed.noise(text));
    }

    fn scores_at(&self, crossed: &CrossedEffects, text: usize) -> Vec<f64> {
        let q = crossed.link.scores();
        let sd = crossed.v[text].sqrt();
        let mean = &crossed.u[text * q..(text + 1) * q];
        mean.iter().zip(&self.step).map(|(mean, step)| mean + sd * step).collect()
    }
}

/// Weights, and steps in standard deviations.
pub(super) fn steps(link: Link) -> Vec<(f64, Vec<f64>)> {
    let q = link.scores();
    if q == 1 {
        return FIVE.iter().map(|&(x, weight)| (weight, vec![x])).collect();
    }
    if q > MAX_LEVELS {
        return Vec::new();
    }
    let share = 1.0 / q as f64;
    let far = (q as f64).sqrt();
    let raised = |up: usize| (0..q).map(|c| far * (f64::from(u8::from(c == up)) - share)).collect();
    (0..q).map(|up| (share, raised(up))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weighted moments of the steps: sum, and second moments.
    fn moments(link: Link) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
        let (steps, q) = (steps(link), link.scores());
        let total = steps.iter().map(|(w, _)| w).sum();
        let mean = (0..q).map(|i| steps.iter().map(|(w, s)| w * s[i]).sum()).collect();
        let second =
            |i: usize| (0..q).map(|j| steps.iter().map(|(w, s)| w * s[i] * s[j]).sum()).collect::<Vec<f64>>();
        (total, mean, (0..q).map(second).collect())
    }

    #[test]
    fn points_match_the_posterior_moments() {
        for q in [1, 2, 3, 5, 8] {
            let link = Link { levels: q.max(2), softmax: q > 1, discrimination: false };
            let (total, mean, second) = moments(link);
            assert!((total - 1.0).abs() < 1e-12);
            for i in 0..q {
                assert!(mean[i].abs() < 1e-12);
                for (j, found) in second[i].iter().enumerate() {
                    let same = f64::from(u8::from(i == j));
                    // Independent scores, minus the shift that all of them share.
                    let expected = if q == 1 { same } else { same - 1.0 / q as f64 };
                    assert!((found - expected).abs() < 1e-12, "{q} levels, {i} and {j}: {found}");
                }
            }
        }
        assert!(steps(Link { levels: 9, softmax: true, discrimination: false }).is_empty());
    }
}
