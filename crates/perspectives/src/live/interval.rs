//! How far the model's own doubt about a text lets its disagreement reach.

use crate::disagreement::Running;
use crate::mixed::Crossed;
use crate::mixed::predictor::{PersonView, Scratch, TextColumns};

/// Points of the text's posterior at which disagreement is computed.
const POINTS: usize = 21;

/// The 90 % interval of the pairwise measure of one text: its 5 % and 95 % quantiles while the text's score runs
/// through its posterior (evenly spaced quantiles; for choice scales all scores move along the average's contrast),
/// widened where needed to hold `headline`, which averages over that doubt. `views` are the people.
pub(crate) fn interval(crossed: &Crossed, text: usize, views: &[PersonView], headline: f32) -> (f32, f32) {
    let q = crossed.link.scores();
    let mean = &crossed.u[text * q..(text + 1) * q];
    let sd = crossed.v[text].sqrt();
    let mut columns = TextColumns::one(mean, 0.0, crossed.features(text));
    for i in 0..POINTS {
        let x = normal_quantile((i as f64 + 0.5) / POINTS as f64);
        let moved: Vec<f64> = mean.iter().enumerate().map(|(c, m)| m + sd * x * contrast(c, q)).collect();
        columns.push(&moved, 0.0, crossed.features(text));
    }
    let mut running = Running::new(crossed.link.levels, false, POINTS);
    let mut p = vec![0.0; POINTS * crossed.link.levels];
    let mut scratch = Scratch::default();
    for view in views {
        view.fill(&columns, 1..POINTS + 1, &mut p, &mut scratch);
        running.add(0..POINTS, &p, 1.0);
    }
    running.count(views.len());
    let mut values: Vec<f32> = (0..POINTS).map(|i| running.get(i).pairwise).collect();
    values.sort_by(f32::total_cmp);
    (values[1].min(headline), values[POINTS - 2].max(headline))
}

/// Choice scores move against each other: even ones up while odd ones go down.
fn contrast(score: usize, scores: usize) -> f64 {
    if scores == 1 || score.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The standard normal quantile by bisection on the complementary error function's series; ample for 21 points.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `Phi(x)` by its alternating-free series `1/2 + phi(x) (x + x^3/3 + x^5/15 + ...)` (Marsaglia 2004, eq. 4).
fn normal_cdf(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() && k < 400.0 {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal() {
        for (p, x) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.05, -1.644_853_626_951_472)] {
            assert!((normal_quantile(p) - x).abs() < 1e-9);
        }
    }
}
