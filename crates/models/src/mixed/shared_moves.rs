//! How far a measure of one text moves with annotators' effects, and with the uncertainty of shared
//! parameters.

use super::crossed::CrossedEffects;
use crate::mixed::predictor::LogitSlope;
use dissensus_stats::math::dot;

impl CrossedEffects {
    /// Derivative of a measure with respect to an annotator's effects and slopes, from its derivative with
    /// respect to the annotator's logits on a text.
    pub(crate) fn by_effects(&self, annotator: usize, text: usize, slopes: &[LogitSlope]) -> Vec<f64> {
        let (link, theta) = (self.link, &self.annotators[annotator].theta);
        let d = link.random_effects();
        let mut jacobian = vec![0.0; link.intercepts() * d];
        link.jacobian(&self.fixed_effects, &theta[..d], &mut jacobian);
        let mut by = vec![0.0; self.width()];
        for (row, slope) in jacobian.chunks_exact(d).zip(slopes) {
            row.iter().zip(&mut by).for_each(|(x, by)| *by += slope.logit * x);
        }
        let all: f64 = slopes.iter().map(|slope| slope.logit).sum();
        if link.discrimination {
            by[link.threshold_effects()] += all * link.discrimination_of(theta) * self.u[text];
        }
        self.features(text).iter().zip(&mut by[d..]).for_each(|(z, by)| *by += all * z);
        by
    }
}

/// How one text and its annotators move in each direction of
/// [`super::parameter_moves::ParameterUncertainty`].
pub(crate) struct SharedMoves<'a> {
    crossed: &'a CrossedEffects,
    /// Scores x directions.
    scores: Option<&'a [f32]>,
}

impl<'a> SharedMoves<'a> {
    pub(crate) fn new(crossed: &'a CrossedEffects, text: usize) -> Self {
        Self { crossed, scores: crossed.uncertainty.of_text(text, crossed.link.scores()) }
    }

    pub(crate) fn directions(&self) -> usize {
        self.crossed.uncertainty.directions()
    }

    /// Adds the effect of one annotator, who has not labelled the text, on a measure in each direction.
    pub(crate) fn add(&self, annotator: usize, slopes: &[LogitSlope], by_effect: &[f64], out: &mut [f64]) {
        if out.is_empty() {
            return;
        }
        let (crossed, link) = (self.crossed, self.crossed.link);
        let theta = &crossed.annotators[annotator].theta;
        let mut add = |by: f64, moves: &[f32]| {
            out.iter_mut().zip(moves).for_each(|(out, x)| *out += by * f64::from(*x));
        };
        let rows = out_rows(self.directions());
        if let Some(scores) = self.scores {
            let a = link.discrimination_of(theta);
            if link.softmax {
                slopes.iter().zip(rows(scores)).for_each(|(slope, moves)| add(slope.logit, moves));
            } else {
                add(a * slopes.iter().map(|slope| slope.logit).sum::<f64>(), scores);
            }
        }
        let n = link.intercepts();
        let mut jacobian = vec![0.0; n * n];
        link.parameter_jacobian(&crossed.fixed_effects, &theta[..link.random_effects()], &mut jacobian);
        let by_logit: Vec<f64> = slopes.iter().map(|slope| slope.logit).collect();
        for (i, moves) in rows(crossed.uncertainty.of_fixed_effects()).enumerate() {
            let column: Vec<f64> = jacobian.iter().skip(i).step_by(n).copied().collect();
            add(dot(&column, &by_logit), moves);
        }
        if let Some(effects) = crossed.uncertainty.of_annotator(annotator, crossed.width()) {
            by_effect.iter().zip(rows(effects)).for_each(|(by, moves)| add(*by, moves));
        }
        let variances = crossed.uncertainty.of_variances(annotator, n);
        slopes.iter().zip(rows(variances)).for_each(|(slope, moves)| add(slope.variance, moves));
    }
}

/// Rows with one entry per direction.
fn out_rows<'a>(directions: usize) -> impl Fn(&'a [f32]) -> std::slice::ChunksExact<'a, f32> {
    move |all| all.chunks_exact(directions.max(1))
}
