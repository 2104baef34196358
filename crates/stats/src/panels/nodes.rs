//! Nodes of the uncertainty of a text, for verdicts of panels.

use crate::math::normal::quantile;
use crate::math::{axpy, dot};

/// Steps of the trapezoid rule on either side of the posterior mean, and their width in standard deviations:
/// exact to about `exp(-2 pi^2 s^2 / STEP^2)` for a verdict that changes within `s` standard deviations.
const SIDE: i32 = 13;
const STEP: f64 = 0.3;
/// The three-point Gauss-Hermite rule, for a text's scale.
const SCALES: [(f64, f64); 3] =
    [(0.0, 2.0 / 3.0), (-1.732_050_807_568_877_2, 1.0 / 6.0), (1.732_050_807_568_877_2, 1.0 / 6.0)];
/// Smallest number of points for several scores: half of them, and their mirror images.
const POINTS: usize = 128;

/// One point: its weight, and the distances of every score and of the logarithm of the scale from their
/// means, in posterior standard deviations.
#[derive(Clone, Debug)]
pub struct TextNode {
    pub weight: f64,
    pub scores: Vec<f64>,
    pub scale: f64,
}

/// The points of a text with this many scores, whose weights sum to 1. For one score a grid over the
/// posterior (and over that of the scale where texts have one of their own); for several a quasi-random
/// lattice (the `R_d` sequence, Roberts 2018) through the normal distribution, with mirror images.
pub fn text_nodes(scores: usize, scaled: bool) -> Vec<TextNode> {
    if scores > 1 {
        return lattice(scores);
    }
    let steps = (-SIDE..=SIDE).map(|i| f64::from(i) * STEP);
    let line: Vec<(f64, f64)> = steps.map(|x| (x, (-0.5 * x * x).exp())).collect();
    let sum: f64 = line.iter().map(|(_, w)| w).sum();
    let scales = if scaled { &SCALES[..] } else { &[(0.0, 1.0)][..] };
    let of = |&(scale, share): &(f64, f64)| {
        line.iter()
            .map(move |&(x, w)| TextNode { weight: share * w / sum, scores: vec![x], scale })
            .collect::<Vec<_>>()
    };
    scales.iter().flat_map(of).collect()
}

fn lattice(scores: usize) -> Vec<TextNode> {
    // The one solution above 1 of x^(d + 1) = x + 1.
    let root = (0..64).fold(2.0f64, |x, _| (1.0 + x).powf(1.0 / (scores as f64 + 1.0)));
    let steps: Vec<f64> = (1..=scores as i32).map(|i| root.powi(-i)).collect();
    let half = (POINTS / 2).max(2 * scores);
    let place =
        |i: usize, step: &f64| quantile((0.5 + (i + 1) as f64 * step).fract().clamp(1e-9, 1.0 - 1e-9));
    let mut columns: Vec<Vec<f64>> =
        steps.iter().map(|step| (0..half).map(|i| place(i, step)).collect()).collect();
    // Mirror images make every mean 0; Gram and Schmidt's steps make the covariance that of independent
    // scores.
    for c in 0..scores {
        let (before, own) = columns.split_at_mut(c);
        let own = &mut own[0];
        for other in before {
            let shared = dot(own, other) / half as f64;
            axpy(-shared, other, own);
        }
        let sd = (dot(own, own) / half as f64).sqrt();
        own.iter_mut().for_each(|x| *x /= sd);
    }
    let weight = 0.5 / half as f64;
    let point = |i: usize, sign: f64| TextNode {
        weight,
        scores: columns.iter().map(|column| sign * column[i]).collect(),
        scale: 0.0,
    };
    (0..half).flat_map(|i| [point(i, 1.0), point(i, -1.0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_match_the_posterior_moments() {
        for (scores, scaled) in [(1, false), (1, true), (2, false), (3, false), (40, false)] {
            let nodes = text_nodes(scores, scaled);
            let mean = |of: &dyn Fn(&TextNode) -> f64| nodes.iter().map(|n| n.weight * of(n)).sum::<f64>();
            assert!((mean(&|_| 1.0) - 1.0).abs() < 1e-12);
            for i in 0..scores {
                assert!(mean(&|n| n.scores[i]).abs() < 1e-12);
                assert!((mean(&|n| n.scores[i].powi(2)) - 1.0).abs() < 2e-3, "{scores} {i}");
                for j in 0..i {
                    assert!(mean(&|n| n.scores[i] * n.scores[j]).abs() < 1e-9, "{scores}: {i} {j}");
                }
            }
            let expected = f64::from(u8::from(scaled));
            assert!((mean(&|n| n.scale.powi(2)) - expected).abs() < 1e-12);
        }
    }
}
