//! The answer that is optimal for macro-F1: rare levels are answered more often than they are the most likely
//! one.

use super::classes::macro_f1;
use super::scored::Scored;
use crate::data::Observation;
use serde::{Deserialize, Serialize};

/// Number of candidate exponents, in steps of a twentieth from 0 (the most likely level).
const TRIED: u8 = 31;

/// Answers the level with the largest `p_k / prior_k^alpha`: the most likely level for `alpha` 0, the one
/// with the largest gain over its frequency for 1 (the plug-in rule with a threshold for each class that F1
/// requires, Koyejo et al. 2015, with one parameter).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct F1Rule {
    /// Share of each level among the training labels; a level without one is never answered.
    pub prior: Vec<f64>,
    pub alpha: f64,
}

impl F1Rule {
    /// The exponent with the best macro-F1 on `held_out`, labels of training or validation texts with
    /// predictions by a model that did not learn from them; the smallest in case of ties. Without labels the
    /// most likely level. Shares of levels are those of `train`, whose levels are below those of `held_out`.
    pub fn choose(held_out: &Scored, train: &[Observation]) -> Self {
        let mut prior = vec![0.0; held_out.levels];
        train.iter().for_each(|o| prior[usize::from(o.level)] += 1.0);
        prior.iter_mut().for_each(|share| *share /= train.len().max(1) as f64);
        let truth = held_out.truth();
        let mut best = (Self { prior, alpha: 0.0 }, f64::NEG_INFINITY);
        for step in 0..TRIED {
            let rule = Self { alpha: f64::from(step) / 20.0, ..best.0.clone() };
            let f1 = macro_f1(&truth, &rule.answers(held_out));
            if f1 > best.1 + 1e-12 {
                best = (rule, f1);
            }
        }
        best.0
    }

    /// The answer to each prediction; the lowest level in case of ties.
    pub fn answers(&self, scored: &Scored) -> Vec<u16> {
        let weight: Vec<f64> =
            self.prior.iter().map(|&share| if share > 0.0 { share.powf(-self.alpha) } else { 0.0 }).collect();
        let answer = |p: &[f32]| {
            let mut best = (0, 0.0);
            for (level, (p, weight)) in p.iter().zip(&weight).enumerate() {
                if f64::from(*p) * weight > best.1 {
                    best = (level as u16, f64::from(*p) * weight);
                }
            }
            best.0
        };
        scored.probabilities.chunks_exact(scored.levels.max(1)).map(answer).collect()
    }
}

impl Scored {
    /// Adds the answers of `rule`, which was chosen on other labels.
    #[must_use]
    pub fn tuned_by(self, rule: &F1Rule) -> Self {
        let tuned = Some(rule.answers(&self));
        Self { tuned, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(rows: &[(u16, [f32; 3])]) -> Scored {
        Scored {
            observations: (0..)
                .zip(rows)
                .map(|(text, (level, _))| Observation { text, annotator: 0, level: *level })
                .collect(),
            probabilities: rows.iter().flat_map(|(_, p)| *p).collect(),
            levels: 3,
            tuned: None,
        }
    }

    #[test]
    fn rare_levels_are_answered_if_f1_improves() {
        // The rare level is answered where it is less unlikely than elsewhere, although it is never the most
        // likely one.
        let held_out = scored(&[
            (0, [0.9, 0.1, 0.0]),
            (0, [0.85, 0.15, 0.0]),
            (1, [0.6, 0.4, 0.0]),
            (0, [0.95, 0.05, 0.0]),
            (1, [0.55, 0.45, 0.0]),
        ]);
        let o = |text, level| Observation { text, annotator: 1, level };
        let train: Vec<Observation> = (0..10).map(|t| o(t, u16::from(t % 5 == 0))).collect();
        let rule = F1Rule::choose(&held_out, &train);
        assert_eq!(rule.prior, [0.8, 0.2, 0.0]);
        // .6 / .8^a < .4 / .2^a from a = ln 1.5 / ln 4 = .29 on.
        assert!((rule.alpha - 0.3).abs() < 1e-12, "{}", rule.alpha);
        assert_eq!(rule.answers(&held_out), [0, 0, 1, 0, 1]);
    }

    #[test]
    fn no_data_keep_the_most_likely_level() {
        let none = F1Rule::choose(&scored(&[]), &[]);
        assert_eq!(none.alpha, 0.0);
        // With one level in training, no other one is ever answered.
        let one = scored(&[(0, [0.4, 0.6, 0.0]), (1, [0.4, 0.6, 0.0])]);
        let rule = F1Rule::choose(&one, &[Observation { text: 0, annotator: 0, level: 0 }]);
        assert_eq!((rule.alpha, rule.answers(&one)), (0.0, vec![0, 0]));
    }
}
