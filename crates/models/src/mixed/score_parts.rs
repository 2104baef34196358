//! Decomposition of a prediction: contributions of the text, of others' labels, and of the annotator.

use super::crossed::CrossedEffects;
use super::predictor::MIN_PROBABILITY;
use crate::link::Link;
use dissensus_stats::math::cholesky::quadratic;
use dissensus_stats::math::{attenuation, dot, sigmoid};

/// One logit of a prediction in its parts, whose sum is the predicted score ([`ScoreParts::score`]). On
/// binary and ordinal scales a logit is that of a threshold, i.e. of an answer at level `j` or above; on
/// choice scales it is the exponent of a level, of which only differences between levels are meaningful.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScoreParts {
    /// The average annotator on a text of score 0.
    pub average: f64,
    /// Score of the text from its embedding. For a text of the training data it is the score without that
    /// text's labels.
    pub words: f64,
    /// Contribution of the other annotators' labels of this text: the posterior mean of the text's score
    /// given them, minus `words`.
    pub others: f64,
    /// Contribution of this annotator's own label of this text to the text's score; 0 without one.
    pub own_label: f64,
    /// The annotator's severity: the mean shift of the thresholds; on choice scales how much more readily the
    /// annotator chooses this level.
    pub severity: f64,
    /// Distance of this threshold of the annotator from the average one, beyond the severity; 0 on binary and
    /// choice scales.
    pub thresholds: f64,
    /// How much more or less strongly the annotator reacts to the topic of this text; 0 where slopes are off.
    pub slope: f64,
    /// Contribution of the annotator's discrimination: the text's score times the discrimination's distance
    /// from 1; 0 where the model has no discriminations.
    pub discrimination: f64,
    /// Factor of the score due to the uncertainty of text and annotator (MacKay 1992, eq. 11) and, where
    /// texts have scales of their own, because labels are further apart on this text than on others, or
    /// closer together (then it can be above 1).
    pub attenuation: f64,
}

impl ScoreParts {
    /// The sum of the parts.
    pub fn score(&self) -> f64 {
        self.parts().iter().sum()
    }

    /// The logit of the probability: the score, shrunk towards 0 by uncertainty.
    pub fn log_odds(&self) -> f64 {
        self.score() * self.attenuation
    }

    /// The parts in the order of the fields.
    pub fn parts(&self) -> [f64; 8] {
        let Self { average, words, others, own_label, severity, thresholds, slope, discrimination, .. } =
            *self;
        [average, words, others, own_label, severity, thresholds, slope, discrimination]
    }
}

/// The posterior of one text's scores as used for one annotator.
#[derive(Clone, Debug)]
pub(crate) struct TextScores {
    /// Scores from the embedding only, q means.
    pub(crate) words: Vec<f64>,
    /// Given the other annotators' labels, q means.
    pub(crate) without_own: Vec<f64>,
    /// Given all labels, q means and the variance.
    pub(crate) posterior: Vec<f64>,
    pub(crate) variance: f64,
    /// Noise that the text's scale adds to a label.
    pub(crate) noise: f64,
    /// Slope features.
    pub(crate) z: Vec<f64>,
}

impl CrossedEffects {
    /// Every logit of the prediction for an annotator whose random effects and slopes have this posterior.
    pub(crate) fn score_parts(
        &self,
        theta: &[f64],
        covariance: &[f64],
        text: &TextScores,
    ) -> Vec<ScoreParts> {
        let (link, w) = (self.link, self.width());
        let (n, d) = (link.intercepts(), link.random_effects());
        let (mut average, mut own, mut jacobian) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * d]);
        link.intercepts_of(&self.fixed_effects, &[], &mut average);
        link.intercepts_of(&self.fixed_effects, &theta[..d], &mut own);
        link.jacobian(&self.fixed_effects, &theta[..d], &mut jacobian);
        let block = |range: std::ops::Range<usize>| -> Vec<f64> {
            range.clone().flat_map(|i| &covariance[i * w..][range.clone()]).copied().collect()
        };
        let effects = block(0..d);
        let a = link.discrimination_of(&theta[..d]);
        if link.discrimination {
            let at = link.threshold_effects();
            jacobian.iter_mut().skip(at).step_by(d).for_each(|by| *by = a * text.posterior[0]);
        }
        let slope = dot(&text.z, &theta[d..]);
        let slope_variance = quadratic(&block(d..w), &text.z);
        let moved: Vec<f64> = own.iter().zip(&average).map(|(own, average)| own - average).collect();
        let shift = moved.iter().sum::<f64>() / n as f64;
        (0..n)
            .map(|j| {
                let c = if link.softmax { j } else { 0 };
                let severity = if link.softmax { moved[j] } else { shift };
                let variance = quadratic(&effects, &jacobian[j * d..(j + 1) * d]);
                ScoreParts {
                    average: average[j],
                    words: text.words[c],
                    others: text.without_own[c] - text.words[c],
                    own_label: text.posterior[c] - text.without_own[c],
                    severity,
                    thresholds: moved[j] - severity,
                    slope,
                    discrimination: (a - 1.0) * text.posterior[c],
                    attenuation: attenuation(a * a * text.variance + text.noise + slope_variance + variance),
                }
            })
            .collect()
    }
}

/// The probabilities of the levels that these logits predict.
pub(crate) fn probabilities(link: Link, logits: &[ScoreParts]) -> Vec<f64> {
    let mut p = Vec::with_capacity(link.levels);
    if link.softmax {
        let top = logits.iter().map(ScoreParts::log_odds).fold(f64::MIN, f64::max);
        p.extend(logits.iter().map(|logit| (logit.log_odds() - top).exp()));
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
    } else {
        let mut above = 1.0;
        for logit in logits {
            let next = sigmoid(logit.log_odds()).min(above);
            p.push(above - next);
            above = next;
        }
        p.push(above);
    }
    // The same lower bound as for predictions.
    let least = f64::from(MIN_PROBABILITY);
    p.iter().map(|p| p * (1.0 - least * link.levels as f64) + least).collect()
}
