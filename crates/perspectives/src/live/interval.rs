//! The interval of a text's disagreement under the posterior of its score.

use crate::disagreement::RunningSums;
use crate::math::distributions::normal_quantile;
use crate::mixed::CrossedEffects;
use crate::mixed::predictor::{AnnotatorPredictor, Scratch, TextColumns};

/// Points of the text's posterior at which disagreement is computed.
const QUANTILES: usize = 21;

/// The 90 % interval of the pairwise measure of one text: its 5 % and 95 % quantiles while the text's score runs
/// through its posterior (evenly spaced quantiles; for choice scales all scores move along the average's contrast),
/// widened where needed to hold `estimate`, which averages over that uncertainty. `predictors` are the annotators.
pub(crate) fn interval(
    crossed: &CrossedEffects,
    text: usize,
    predictors: &[AnnotatorPredictor],
    estimate: f32,
) -> (f32, f32) {
    let q = crossed.link.scores();
    let mean = &crossed.u[text * q..(text + 1) * q];
    let sd = crossed.v[text].sqrt();
    let mut columns = TextColumns::one(mean, 0.0, crossed.features(text));
    for i in 0..QUANTILES {
        let x = normal_quantile((i as f64 + 0.5) / QUANTILES as f64);
        let moved: Vec<f64> = mean.iter().enumerate().map(|(c, m)| m + sd * x * contrast(c, q)).collect();
        columns.push(&moved, 0.0, crossed.features(text));
    }
    let mut running = RunningSums::new(crossed.link.levels, false, QUANTILES);
    let mut p = vec![0.0; QUANTILES * crossed.link.levels];
    let mut scratch = Scratch::default();
    for predictor in predictors {
        predictor.fill(&columns, 1..QUANTILES + 1, &mut p, &mut scratch);
        running.add(0..QUANTILES, &p, 1.0);
    }
    running.count(predictors.len());
    let mut values: Vec<f32> = (0..QUANTILES).map(|i| running.get(i).pairwise).collect();
    values.sort_by(f32::total_cmp);
    let (low, high) = (quantile(&values, 0.05), quantile(&values, 0.95));
    (low.min(estimate), high.max(estimate))
}

/// Choice scores move against each other: even ones up while odd ones go down.
fn contrast(score: usize, scores: usize) -> f64 {
    if scores == 1 || score.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The `p` quantile of sorted values that stand at the quantiles `(i + 1/2) / n`, linearly interpolated (definition 5 of
/// Hyndman and Fan 1996).
fn quantile(sorted: &[f32], p: f64) -> f32 {
    let at = (p * sorted.len() as f64 - 0.5).clamp(0.0, (sorted.len() - 1) as f64);
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 21 points at (i + 1/2) / 21: the 5 % quantile lies 0.55 of the way from the first to the second.
    #[test]
    fn quantiles_lie_between_the_points() {
        let values: Vec<f32> = (0..QUANTILES).map(|i| i as f32).collect();
        assert!((quantile(&values, 0.05) - 0.55).abs() < 1e-6);
        assert!((quantile(&values, 0.95) - 19.45).abs() < 1e-6);
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (0.0, 20.0));
    }
}
