//! How far people's mean levels on a text move with its uncertain parameters.

use super::interval::contrast;
use super::model::LiveModel;
use crate::mixed::predictor::{Scratch, TextColumns};
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::LevelStep;

impl LiveModel {
    /// For every annotator, half the difference of the mean level on `text` between one standard deviation
    /// above and one below the posterior mean: of the text's score, and of the annotator's severity,
    /// including slopes; with the change along each direction of the uncertainty of groups' slopes.
    /// Thresholds are treated as known.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn level_steps(&self, text: u32) -> Vec<LevelStep> {
        let crossed = &self.model.crossed;
        let (at, q) = (text as usize, crossed.link.scores());
        let mean = &crossed.u[at * q..(at + 1) * q];
        let sd = crossed.v[at].sqrt();
        let mut columns = TextColumns::one(mean, 0.0, crossed.noise(at), crossed.features(at));
        for sign in [-1.0, 1.0] {
            let moved: Vec<f64> =
                mean.iter().enumerate().map(|(c, m)| m + sign * sd * contrast(c, q)).collect();
            columns.push(&moved, 0.0, crossed.noise(at), crossed.features(at));
        }
        let mut p = vec![0.0f32; self.levels()];
        let mut scratch = Scratch::default();
        let half = |low: f64, high: f64| (high - low) / 2.0;
        self.model
            .predictors()
            .iter()
            .enumerate()
            .map(|(annotator, predictor)| {
                let [below, above] = [1, 2].map(|i| {
                    predictor.fill(&columns, i..i + 1, &mut p, &mut scratch);
                    mean_level(&p)
                });
                let [mild, severe] = [-1.0, 1.0].map(|x| {
                    predictor.moved(None, x).fill(&columns, 0..1, &mut p, &mut scratch);
                    mean_level(&p)
                });
                let severity = half(mild, severe);
                // A common shift of all logits changes the level as the severity does.
                let by_logit = if severity == 0.0 { 0.0 } else { severity / predictor.shift_sd() };
                let severity = match crossed.slope_dim {
                    0 => severity,
                    _ => by_logit * crossed.own_shift_sd(annotator, at),
                };
                let groups = crossed.shifts_with_groups(annotator, at);
                LevelStep {
                    text: half(below, above),
                    severity,
                    groups: groups.into_iter().map(|shift| by_logit * shift).collect(),
                }
            })
            .collect()
    }
}

fn mean_level(p: &[f32]) -> f64 {
    p.iter().enumerate().map(|(c, p)| c as f64 * f64::from(*p)).sum()
}
