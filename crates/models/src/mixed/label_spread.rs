//! Spread of the labels of a text in excess of the spread predicted for the annotators who gave them.

use super::crossed::CrossedEffects;
use super::nodes;
use super::scalar_posterior::ScoredLabel;
use super::text::TextPosterior;

/// Minimum number of labels of a text that can be divided into two halves of two labels or more.
const MIN_TO_HALVE: usize = 4;

/// The labels of one half of a text's annotators, and those of the other half, on which the predictions for
/// either half do not depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfSpread {
    /// Number of labels in the known half.
    pub(crate) known: usize,
    /// Spread of the labels beyond the prediction, as in [`CrossedEffects::spread_beyond`].
    pub(crate) of_known: f64,
    /// Spread of the held-out labels beyond the prediction.
    pub(crate) of_held_out: f64,
}

/// Posterior of a text's scores.
struct ScorePosterior {
    means: Vec<f64>,
    sd: f64,
    noise: f64,
}

impl CrossedEffects {
    /// Mean squared distance of two labels of a text (the share of differing pairs on choice scales) among
    /// those of `include`, minus the distance predicted for the annotators who gave them, each known without
    /// this label. `None` for fewer than two labels, and for choice scales with too many levels.
    pub(crate) fn spread_beyond(&self, text: usize, include: impl Fn(u32) -> bool) -> Option<f64> {
        let q = self.link.scores();
        let known = ScorePosterior {
            means: self.u[text * q..(text + 1) * q].to_vec(),
            sd: self.v[text].sqrt(),
            noise: self.noise(text),
        };
        let at: Vec<usize> =
            (0..self.labels[text].len()).filter(|at| include(self.labels[text][*at].annotator)).collect();
        self.beyond(text, &known, &at)
    }

    /// Divides the annotators of a text into halves and holds each half out of the text's posterior in turn.
    /// `turn` selects another division. `None` for texts with too few labels.
    pub(crate) fn halves_of(&self, text: usize, turn: u64) -> Option<[HalfSpread; 2]> {
        let labels = &self.labels[text];
        if labels.len() < MIN_TO_HALVE {
            return None;
        }
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|at| mixed_bits(u64::from(labels[*at].annotator), text as u64, turn));
        let (first, second) = order.split_at(labels.len() / 2);
        Some([self.half(text, first, second)?, self.half(text, second, first)?])
    }

    fn half(&self, text: usize, known: &[usize], held_out: &[usize]) -> Option<HalfSpread> {
        let people: Vec<u32> = known.iter().map(|at| self.labels[text][*at].annotator).collect();
        let posterior = self.text_from_labels(text, |annotator| people.contains(&annotator));
        let of = ScorePosterior::from(posterior);
        Some(HalfSpread {
            known: known.len(),
            of_known: self.beyond(text, &of, known)?,
            of_held_out: self.beyond(text, &of, held_out)?,
        })
    }

    fn beyond(&self, text: usize, known: &ScorePosterior, at: &[usize]) -> Option<f64> {
        let steps = nodes::steps(self.link);
        if at.len() < 2 || steps.is_empty() {
            return None;
        }
        let given: Vec<(ScoredLabel, f64)> =
            at.iter().map(|at| self.label_given_annotator(text, self.labels[text][*at])).collect();
        let levels = self.link.levels;
        let mut p = vec![0.0; at.len() * levels];
        let mut predicted = 0.0;
        for (weight, step) in steps {
            let scores: Vec<f64> =
                known.means.iter().zip(&step).map(|(mean, step)| mean + known.sd * step).collect();
            for ((label, own), p) in given.iter().zip(p.chunks_exact_mut(levels)) {
                let (scores, attenuation) = label.combine(&scores, 0.0, own + known.noise);
                self.link.probabilities(&scores, &label.intercepts, attenuation, p);
            }
            predicted += weight * self.expected_distance(&p);
        }
        p.fill(0.0);
        for (at, p) in at.iter().zip(p.chunks_exact_mut(levels)) {
            p[usize::from(self.labels[text][*at].level)] = 1.0;
        }
        Some(self.expected_distance(&p) - predicted)
    }

    /// Expected distance of two of these annotators, whose answers are independent: one row of probabilities
    /// per annotator.
    fn expected_distance(&self, p: &[f64]) -> f64 {
        let levels = self.link.levels;
        let n = (p.len() / levels) as f64;
        let mut total = 0.0;
        if self.link.softmax {
            for level in 0..levels {
                let (sum, squares) =
                    p.iter().skip(level).step_by(levels).fold((0.0, 0.0), |(s, q), p| (s + p, q + p * p));
                total += sum * sum - squares;
            }
            return 1.0 - total / (n * (n - 1.0));
        }
        let (mut mean, mut squares) = (0.0, 0.0);
        for person in p.chunks_exact(levels) {
            let (first, second) =
                person.iter().enumerate().fold((0.0, 0.0), |(first, second), (level, p)| {
                    let level = level as f64;
                    (first + level * p, second + level * level * p)
                });
            mean += first;
            squares += second;
            total += first * first;
        }
        2.0 * ((n - 1.0) * squares - (mean * mean - total)) / (n * (n - 1.0))
    }
}

impl From<TextPosterior> for ScorePosterior {
    fn from(posterior: TextPosterior) -> Self {
        let noise = posterior.scale.as_ref().map_or(0.0, super::text_scale::ScalePosterior::noise);
        Self { means: posterior.mean, sd: posterior.variance.sqrt(), noise }
    }
}

/// Hash of these numbers that depends on all bits (splitmix64), so that annotators are divided identically on
/// every call.
fn mixed_bits(a: u64, b: u64, turn: u64) -> u64 {
    let mut z = a
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(b.wrapping_mul(0xd1b5_4a32_d192_ed03))
        .wrapping_add(turn.wrapping_mul(0x2545_f491_4f6c_dd1d));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
