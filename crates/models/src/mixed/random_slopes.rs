//! Random slopes: how an annotator's labels depend on topics, added only where held-out labels show a gain.

use super::annotator::{self, LabelGivenText};
use super::crossed::CrossedEffects;
use dissensus_stats::math::clustered::total_and_error;
use dissensus_stats::math::distributions::student_quantile;
use rayon::prelude::*;

/// Variances tried for a slope on a feature of unit variance.
pub(super) const SLOPE_VARIANCES: [f64; 5] = [0.003, 0.01, 0.03, 0.1, 0.3];
/// One-sided confidence that a gain must have: two standard errors for many annotators, more for few
/// (Student's t).
const CONFIDENCE: f64 = 0.977_249_868;
/// Minimum number of annotators with labels for which slopes are tried; with fewer, a standard error over
/// annotators is unreliable.
const MIN_ANNOTATORS: usize = 20;

impl CrossedEffects {
    /// Gives annotators slopes on `z` (texts x `dim` features of unit variance, the shared score first) if
    /// that improves the prediction of labels on texts of held-out folds by more than chance; otherwise
    /// leaves everything unchanged. Returns whether it did.
    ///
    /// The slope on the shared score is tried first, by itself: how strongly an annotator reacts to what all
    /// react to varies more than the dependence on topics does (on POPQUORN only it passes). Slopes on all
    /// features, with one variance for the topics, must then improve on that.
    pub(crate) fn select_slopes(&mut self, z: &[f64], dim: usize, fold: &[u8], folds: usize) -> bool {
        let with_labels = self.annotators.iter().filter(|p| !p.labels.is_empty()).count();
        if self.link.softmax || dim == 0 || with_labels < MIN_ANNOTATORS {
            return false;
        }
        let before = self.slope_vars.clone();
        let score: Vec<f64> = z.iter().step_by(dim).copied().collect();
        self.select_slope_variance(&score, 1, &|variance| vec![variance], fold, folds);
        if dim > 1 {
            let score_variance = self.slope_vars.first().copied();
            let vary = |variance: f64| {
                let mut all = vec![variance; dim];
                all[0] = score_variance.unwrap_or(variance);
                all
            };
            self.select_slope_variance(z, dim, &vary, fold, folds);
        }
        if self.slope_vars == before {
            return false;
        }
        self.update_all_annotators();
        true
    }

    /// Compares slopes on `z`, with the variances that `vary` derives from each of [`SLOPE_VARIANCES`], with
    /// the current slopes.
    fn select_slope_variance(
        &mut self,
        z: &[f64],
        dim: usize,
        vary: &dyn Fn(f64) -> Vec<f64>,
        fold: &[u8],
        folds: usize,
    ) {
        let now = self.held_out(fold, folds);
        let held = (self.slope_vars.clone(), std::mem::replace(&mut self.z, z.to_vec()), self.slope_dim);
        self.slope_dim = dim;
        let mut best: Option<(f64, f64)> = None;
        for variance in SLOPE_VARIANCES {
            self.slope_vars = vary(variance);
            let gains: Vec<f64> = self.held_out(fold, folds).iter().zip(&now).map(|(a, b)| a - b).collect();
            let (total, error) = total_and_error(&gains);
            let bar = student_quantile(CONFIDENCE, gains.len() - 1) * error;
            if total > bar && best.is_none_or(|b| total > b.1) {
                best = Some((variance, total));
            }
        }
        if let Some((variance, _)) = best {
            self.slope_vars = vary(variance);
            self.reset_annotators();
            self.update_all_annotators();
        } else {
            (self.slope_vars, self.z, self.slope_dim) = held;
        }
    }

    /// Held-out log-likelihood of the labels of every annotator with labels, fold by fold of texts.
    fn held_out(&self, fold: &[u8], folds: usize) -> Vec<f64> {
        self.held_out_labels(fold, folds)
            .iter()
            .map(|labels| labels.iter().map(|label| label.1).sum())
            .collect()
    }

    /// The same label by label: (text, log-likelihood), for every annotator with labels.
    pub(super) fn held_out_labels(&self, fold: &[u8], folds: usize) -> Vec<Vec<(u32, f64)>> {
        let precision = self.prior_precision();
        (0..self.annotators.len())
            .into_par_iter()
            .filter(|&a| !self.annotators[a].labels.is_empty())
            .map(|a| {
                let labels = self.labels_given_texts(a);
                let of_fold = |f: u8| {
                    let left_out = |text: u32| fold[text as usize] == f;
                    let fit = self.fitted_without(a, &labels, left_out, &precision);
                    let likelihoods = fit.map(|(theta, covariance)| {
                        let tested = labels.iter().filter(|l| left_out(l.0));
                        let of_label = tested.map(|(text, label)| {
                            (*text, self.label_log_likelihood(&theta, &covariance, label))
                        });
                        of_label.collect::<Vec<_>>()
                    });
                    likelihoods.unwrap_or_default()
                };
                (0..folds as u8).flat_map(of_fold).collect()
            })
            .collect()
    }

    /// Labels of an annotator, each with its text and that text's posterior without it.
    pub(super) fn labels_given_texts(&self, annotator: usize) -> Vec<(u32, LabelGivenText<'_>)> {
        let labels = self.annotators[annotator].labels.iter();
        labels
            .filter_map(|&(text, level)| Some((text, self.label_given_text(annotator, text, level)?)))
            .collect()
    }

    /// Mean and covariance of an annotator's effects from the `labels` that are not held out; `None` where
    /// none is held out.
    pub(super) fn fitted_without(
        &self,
        annotator: usize,
        labels: &[(u32, LabelGivenText<'_>)],
        left_out: impl Fn(u32) -> bool,
        precision: &[f64],
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let seen: Vec<LabelGivenText<'_>> = labels.iter().filter(|l| !left_out(l.0)).map(|l| l.1).collect();
        if seen.len() == labels.len() {
            return None;
        }
        let start = self.prior_mean(annotator);
        Some(annotator::fit(self.link, &self.fixed_effects, precision, &seen, &start, &start))
    }

    /// Log-likelihood of a label by an annotator with these effects.
    pub(super) fn label_log_likelihood(
        &self,
        theta: &[f64],
        covariance: &[f64],
        label: &LabelGivenText<'_>,
    ) -> f64 {
        let d = self.link.random_effects();
        let mut intercepts = vec![0.0; self.link.intercepts()];
        self.link.intercepts_of(&self.fixed_effects, &theta[..d], &mut intercepts);
        let a = self.link.discrimination_of(&theta[..d]);
        let u = a * label.u[0] + dissensus_stats::math::dot(label.z, &theta[d..]);
        // The variances of shift, discrimination and slopes attenuate the prediction like the text's does.
        let direction = self.shift_direction(theta, label.u[0], label.z);
        let own = dissensus_stats::math::cholesky::quadratic(covariance, &direction);
        let attenuation = dissensus_stats::math::attenuation(own + a * a * label.variance + label.noise);
        self.link.likelihood(u, &intercepts, attenuation, label.level).ln()
    }

    /// Derivative of the common part of an annotator's logits with respect to these effects, on a text of
    /// score `u` and features `z`.
    pub(super) fn shift_direction(&self, theta: &[f64], u: f64, z: &[f64]) -> Vec<f64> {
        let d = self.link.random_effects();
        let mut direction = vec![0.0; d + z.len()];
        direction[0] = 1.0;
        direction[d..].copy_from_slice(z);
        if self.link.discrimination {
            direction[self.link.threshold_effects()] = self.link.discrimination_of(&theta[..d]) * u;
        }
        direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::{Observation, Target};
    use dissensus_stats::math::random::generator;
    use rand::RngExt;

    /// Half of the annotators react to the feature, half to its opposite: individual slopes help a lot. They
    /// are accepted from 20 annotators on, and not tried below.
    #[test]
    fn few_annotators_get_no_slopes() {
        let of = |annotators: usize| {
            let mut rng = generator(3, 9);
            let texts = 60;
            let z: Vec<f64> = (0..texts).map(|t| if t % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let mut observations = Vec::new();
            for (text, &z) in z.iter().enumerate() {
                for annotator in 0..annotators {
                    let minds = if annotator % 2 == 0 { 2.5 } else { -2.5 };
                    let yes = rng.random::<f64>() < dissensus_stats::math::sigmoid(minds * z);
                    observations.push(Observation {
                        text: text as u32,
                        annotator: annotator as u32,
                        level: u16::from(yes),
                    });
                }
            }
            let link = Link::new(Target { kind: TargetKind::Binary, levels: 2 });
            let mut crossed = CrossedEffects::new(link, vec![0.0; texts], annotators, &observations);
            crossed.expectation_maximisation(crate::mixed::convergence::FINAL);
            let fold: Vec<u8> = (0..texts).map(|t| (t / 2 % 5) as u8).collect();
            crossed.select_slopes(&z, 1, &fold, 5)
        };
        assert!(!of(MIN_ANNOTATORS - 1));
        assert!(of(MIN_ANNOTATORS));
    }
}
