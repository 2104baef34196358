//! Slopes: a taste for topics, given to annotators only where held-out labels show a gain.

use super::Crossed;
use super::person::{self, PersonLabel};
use crate::math::distributions::student_quantile;
use rayon::prelude::*;

/// Variances tried for a slope on a feature of unit variance.
const TRIED: [f64; 5] = [0.003, 0.01, 0.03, 0.1, 0.3];
/// How sure a gain must be, one-sided: two standard errors for many annotators, more for few (Student's t).
const SURE: f64 = 0.977_249_868;
/// With fewer annotators who have labels a standard error over them says too little, and slopes are not tried.
const LEAST_PEOPLE: usize = 20;

impl Crossed {
    /// Gives annotators slopes on `z` (texts x `dim` features of unit variance, the shared score first) if that predicts
    /// labels on texts of held-out folds better, by more than chance; else leaves everything as it was. Returns whether it
    /// did.
    ///
    /// The slope on the shared score is tried first, alone: how much a person minds what everybody minds differs more
    /// than tastes for topics do (on POPQUORN only it passes). Slopes on all features, with one variance for the topics,
    /// must then gain over that.
    pub(crate) fn try_slopes(&mut self, z: &[f64], dim: usize, fold: &[u8], folds: usize) -> bool {
        let with_labels = self.people.iter().filter(|p| !p.labels.is_empty()).count();
        if self.link.softmax || dim == 0 || with_labels < LEAST_PEOPLE {
            return false;
        }
        let before = self.slope_vars.clone();
        let score: Vec<f64> = z.iter().step_by(dim).copied().collect();
        self.try_variances(&score, 1, &|variance| vec![variance], fold, folds);
        if dim > 1 {
            let own = self.slope_vars.first().copied();
            let vary = |variance: f64| {
                let mut all = vec![variance; dim];
                all[0] = own.unwrap_or(variance);
                all
            };
            self.try_variances(z, dim, &vary, fold, folds);
        }
        if self.slope_vars == before {
            return false;
        }
        self.update_all_people();
        true
    }

    /// Tries slopes on `z` with the variances that `vary` makes of each of [`TRIED`] against the slopes there are.
    fn try_variances(
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
        for variance in TRIED {
            self.slope_vars = vary(variance);
            let gains: Vec<f64> = self.held_out(fold, folds).iter().zip(&now).map(|(a, b)| a - b).collect();
            let (total, error) = total_and_error(&gains);
            let bar = student_quantile(SURE, gains.len() - 1) * error;
            if total > bar && best.is_none_or(|b| total > b.1) {
                best = Some((variance, total));
            }
        }
        if let Some((variance, _)) = best {
            self.slope_vars = vary(variance);
            self.reset_people();
            self.update_all_people();
        } else {
            (self.slope_vars, self.z, self.slope_dim) = held;
        }
    }

    /// Held-out log-likelihood of the labels of every annotator who has some, fold by fold of texts.
    fn held_out(&self, fold: &[u8], folds: usize) -> Vec<f64> {
        let precision = self.full_precision();
        (0..self.people.len())
            .into_par_iter()
            .filter(|&a| !self.people[a].labels.is_empty())
            .map(|a| {
                let labels: Vec<(u8, PersonLabel<'_>)> = self.people[a]
                    .labels
                    .iter()
                    .filter_map(|&(t, level)| Some((fold[t as usize], self.person_label(a, t, level)?)))
                    .collect();
                (0..folds as u8).map(|f| self.fold_likelihood(a, &labels, f, &precision)).sum()
            })
            .collect()
    }

    fn fold_likelihood(
        &self,
        annotator: usize,
        labels: &[(u8, PersonLabel<'_>)],
        fold: u8,
        precision: &[f64],
    ) -> f64 {
        let seen: Vec<PersonLabel<'_>> = labels.iter().filter(|l| l.0 != fold).map(|l| l.1).collect();
        if seen.len() == labels.len() {
            return 0.0;
        }
        let start = self.start(annotator);
        let (theta, covariance) = person::fit(self.link, &self.base, precision, &seen, &start, &start);
        let d = self.link.deviations();
        let mut offsets = vec![0.0; self.link.offsets()];
        self.link.offsets_of(&self.base, &theta[..d], &mut offsets);
        labels
            .iter()
            .filter(|l| l.0 == fold)
            .map(|(_, l)| {
                let u = l.u[0] + crate::math::dot(l.z, &theta[d..]);
                // The shift's and the slopes' doubt flatten the prediction like the text's does.
                let own = crate::math::cholesky::quadratic(&covariance, &direction(d, l.z));
                let text = (1.0 / (l.flatten * l.flatten) - 1.0) * 8.0 / std::f64::consts::PI;
                self.link.likelihood(u, &offsets, crate::math::flatten(own + text), l.level).ln()
            })
            .sum()
    }
}

/// How a common shift of all thresholds moves with a person's parameters.
fn direction(deviations: usize, z: &[f64]) -> Vec<f64> {
    let mut direction = vec![0.0; deviations + z.len()];
    direction[0] = 1.0;
    direction[deviations..].copy_from_slice(z);
    direction
}

/// Sum of gains and the standard error of that sum over annotators: the square root of n times their sample variance.
pub(super) fn total_and_error(gains: &[f64]) -> (f64, f64) {
    let n = gains.len() as f64;
    let total: f64 = gains.iter().sum();
    let squares: f64 = gains.iter().map(|g| (g - total / n).powi(2)).sum();
    let error = if gains.len() < 2 { f64::INFINITY } else { (squares / (n - 1.0) * n).sqrt() };
    (total, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Observation, Target};
    use crate::math::random::generator;
    use crate::mixed::link::Link;
    use dissensus_domain::ScaleKind;
    use rand::RngExt;

    #[test]
    fn standard_error_of_a_sum() {
        let (total, error) = total_and_error(&[1.0, 3.0]);
        assert_eq!(total, 4.0);
        assert!((error - 2.0).abs() < 1e-12);
        assert_eq!(total_and_error(&[1.0]).1, f64::INFINITY);
    }

    /// Half of the people mind the feature, half mind its opposite: a slope for each helps a lot. From 20 people on it is
    /// believed, below it is not tried.
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
                    let yes = rng.random::<f64>() < crate::math::sigmoid(minds * z);
                    observations.push(Observation {
                        text: text as u32,
                        annotator: annotator as u32,
                        level: u16::from(yes),
                    });
                }
            }
            let link = Link::new(Target { kind: ScaleKind::Binary, levels: 2 });
            let mut crossed = Crossed::new(link, vec![0.0; texts], annotators, &observations);
            crossed.maximise(5);
            let fold: Vec<u8> = (0..texts).map(|t| (t / 2 % 5) as u8).collect();
            crossed.try_slopes(&z, 1, &fold, 5)
        };
        assert!(!of(LEAST_PEOPLE - 1));
        assert!(of(LEAST_PEOPLE));
    }
}
