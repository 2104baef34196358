//! Uncertainty of the parameters that all texts and annotators share, and how far posteriors move with it.
//!
//! Posteriors of texts and annotators treat variances and average thresholds as known (empirical Bayes), so
//! that intervals based only on them are too narrow (Kass and Steffey 1989, Approximate Bayesian inference in
//! conditionally independent hierarchical models). The covariance of the parameters is the inverse of the
//! observed information: each parameter is moved a little, texts and annotators are fitted to each other
//! again, and the change of the gradient is recorded (Oakes 1999, Direct calculation of the information
//! matrix via the EM algorithm). The resulting moves of the posteriors are stored in independent directions
//! of variance 1, so that an interval costs products and no fit.

use super::crossed::CrossedEffects;
use super::initial::{INITIAL_TEXT_VARIANCE, PSEUDO_COUNT};
use super::parameter_moves::ParameterUncertainty;
use crate::mixed::predictor::AnnotatorPredictor;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::{Progress, step};
use dissensus_stats::math::cholesky::Factor;
use nalgebra::DMatrix;

/// Step of each parameter: all are logarithms, except for intercepts of choice scales, in logits.
const STEP: f64 = 0.1;
/// Rounds in which texts and annotators are fitted to each other after a step.
const ROUNDS: usize = 4;
/// Precision of the weak prior of each parameter around its estimate: a factor of 2 is one standard
/// deviation.
const PRIOR_PRECISION: f64 = 2.0;
/// Largest number of link parameters with separate gaps; above, all gaps move together.
const MAX_OWN_GAPS: usize = 8;

/// A shared parameter.
#[derive(Clone, Copy, Debug)]
enum Parameter {
    /// Logarithm of the standard deviation of texts' effects.
    TextSd,
    /// Logarithm of the standard deviation of an annotator's random effect.
    AnnotatorSd(usize),
    /// Link parameters from the first up to, but excluding, the second: the logarithm of one gap between
    /// thresholds, or of all.
    Gaps(usize, usize),
}

/// How far a unit step of one parameter moved everything.
struct Moved {
    gradient: Vec<f64>,
    scores: Vec<f64>,
    fixed_effects: Vec<f64>,
    effects: Vec<f64>,
    variances: Vec<f64>,
}

impl CrossedEffects {
    /// Estimates the uncertainty of the parameters; the effects do not change.
    pub(crate) fn estimate_parameter_uncertainty(
        &mut self,
        progress: &dyn Progress,
    ) -> Result<(), ModelError> {
        self.uncertainty = ParameterUncertainty::default();
        let texts: Vec<u32> =
            (0..self.texts() as u32).filter(|t| !self.labels[*t as usize].is_empty()).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let parameters = self.shared_parameters();
        let mut base = self.clone();
        base.settle();
        let at = base.gradient(&parameters);
        let mut moved = Vec::with_capacity(parameters.len());
        for (i, parameter) in parameters.iter().enumerate() {
            step(progress, "multilevel: how well variances are known", i as f32 / parameters.len() as f32)?;
            let mut other = base.clone();
            other.move_parameter(*parameter);
            other.settle();
            moved.push(base.moved_to(&other, &texts, (&at, other.gradient(&parameters))));
        }
        let n = parameters.len();
        let information = DMatrix::from_fn(n, n, |i, j| {
            let prior = if i == j { PRIOR_PRECISION } else { 0.0 };
            prior - 0.5 * (moved[i].gradient[j] + moved[j].gradient[i])
        });
        let eigen = information.symmetric_eigen();
        let share = |parameter: usize, direction: usize| {
            eigen.eigenvectors[(parameter, direction)]
                / eigen.eigenvalues[direction].max(PRIOR_PRECISION).sqrt()
        };
        let along = |of: &dyn Fn(&Moved) -> &Vec<f64>| -> Vec<f32> {
            let rows = moved.first().map_or(0, |first| of(first).len());
            let mut all = Vec::with_capacity(rows * n);
            for row in 0..rows {
                for direction in 0..n {
                    let sum: f64 =
                        moved.iter().enumerate().map(|(p, moved)| share(p, direction) * of(moved)[row]).sum();
                    all.push(sum as f32);
                }
            }
            all
        };
        self.uncertainty = ParameterUncertainty {
            directions: n,
            scale_sd: self.scale_sd_not_ruled_out(),
            scores: along(&|moved| &moved.scores),
            fixed_effects: along(&|moved| &moved.fixed_effects),
            effects: along(&|moved| &moved.effects),
            variances: along(&|moved| &moved.variances),
            texts,
        };
        Ok(())
    }

    fn shared_parameters(&self) -> Vec<Parameter> {
        let n = self.link.intercepts();
        let mut parameters = vec![Parameter::TextSd];
        parameters.extend((0..self.link.random_effects()).map(Parameter::AnnotatorSd));
        if n > MAX_OWN_GAPS {
            parameters.push(Parameter::Gaps(1, n));
        } else {
            parameters.extend((1..n).map(|i| Parameter::Gaps(i, i + 1)));
        }
        parameters
    }

    /// Fits texts and annotators to each other until they are stable.
    fn settle(&mut self) {
        for _ in 0..ROUNDS {
            self.update_all_texts();
            self.update_all_annotators();
        }
        self.update_all_texts();
    }

    fn move_parameter(&mut self, parameter: Parameter) {
        match parameter {
            Parameter::TextSd => {
                self.text_var *= (2.0 * STEP).exp();
                self.tuned_on_text_var *= (2.0 * STEP).exp();
            }
            Parameter::AnnotatorSd(i) => {
                let d = self.link.random_effects();
                for j in 0..d {
                    self.prior[i * d + j] *= STEP.exp();
                    self.prior[j * d + i] *= STEP.exp();
                }
            }
            Parameter::Gaps(from, to) => self.fixed_effects[from..to].iter_mut().for_each(|x| *x += STEP),
        }
    }

    /// Derivatives of the log marginal likelihood (and of the weak priors) with respect to the parameters, by
    /// Fisher's identity.
    fn gradient(&self, parameters: &[Parameter]) -> Vec<f64> {
        let d = self.link.random_effects();
        let (spread, people) = self.annotator_spread();
        let precision = Factor::new(&self.prior, d).inverse();
        let links = self.link_gradient();
        parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::TextSd => self.text_gradient(),
                Parameter::AnnotatorSd(i) => {
                    let row = &precision[i * d..(i + 1) * d];
                    row.iter().enumerate().map(|(j, p)| p * spread[j * d + i]).sum::<f64>() - people
                }
                Parameter::Gaps(from, to) => links[*from..*to].iter().sum(),
            })
            .collect()
    }

    fn text_gradient(&self) -> f64 {
        let q = self.link.scores();
        let mut sum = PSEUDO_COUNT * (INITIAL_TEXT_VARIANCE / self.text_var - 1.0);
        for text in (0..self.texts()).filter(|text| !self.labels[*text].is_empty()) {
            let range = text * q..(text + 1) * q;
            let square: f64 = range.map(|i| (self.u[i] - self.scores[i]).powi(2)).sum::<f64>() / q as f64;
            sum += q as f64 * ((square + self.v[text]) / self.prior_text_var(text) - 1.0);
        }
        sum
    }

    fn moved_to(&self, other: &Self, texts: &[u32], (at, gradient): (&[f64], Vec<f64>)) -> Moved {
        let q = self.link.scores();
        let apart = |a: f64, b: f64| (b - a) / STEP;
        let all = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| apart(*a, *b)).collect::<Vec<f64>>();
        let scores = texts.iter().flat_map(|text| {
            let range = *text as usize * q..(*text as usize + 1) * q;
            all(&self.u[range.clone()], &other.u[range])
        });
        let annotators = self.annotators.iter().zip(&other.annotators);
        let unknown = [AnnotatorPredictor::population(self), AnnotatorPredictor::population(other)];
        let mut variances = Vec::new();
        for annotator in 0..self.annotators.len() {
            let of = |crossed| AnnotatorPredictor::new(crossed, annotator);
            variances.extend(of(self).variance_moved_to(&of(other)).map(|x| x / STEP));
        }
        variances.extend(unknown[0].variance_moved_to(&unknown[1]).map(|x| x / STEP));
        Moved {
            gradient: all(at, &gradient),
            scores: scores.collect(),
            fixed_effects: all(&self.fixed_effects, &other.fixed_effects),
            effects: annotators.flat_map(|(a, b)| all(&a.theta, &b.theta)).collect(),
            variances,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixed::text_scale_simulation::fitted;
    use dissensus_stats::data::progress::Silent;

    impl ParameterUncertainty {
        /// The same without moves of posterior variances.
        pub(crate) fn without_variances(self) -> Self {
            Self { variances: Vec::new(), ..self }
        }

        /// Standard deviation of each average link parameter.
        fn link_sds(&self) -> Vec<f64> {
            let rows = self.fixed_effects.chunks_exact(self.directions);
            rows.map(|row| row.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt()).collect()
        }
    }

    /// The reported uncertainty of the logarithms of gaps between thresholds, 1.3 in every simulated project,
    /// matches their error.
    #[test]
    fn threshold_gap_uncertainty_is_calibrated() {
        const PROJECTS: u64 = 24;
        let (mut squares, mut n) = (0.0, 0.0);
        for seed in 0..PROJECTS {
            let mut crossed = fitted(0.0, seed);
            crossed.estimate_parameter_uncertainty(&Silent).unwrap();
            let sds = crossed.uncertainty.link_sds();
            for (log, sd) in crossed.fixed_effects.iter().zip(sds).skip(1) {
                squares += ((log - 1.3f64.ln()) / sd).powi(2);
                n += 1.0;
            }
        }
        // Errors of a project's gaps are correlated: as with half as many, within three standard errors.
        let rms = f64::sqrt(squares / n);
        assert!((0.7..=1.3).contains(&rms), "{rms}");
    }

    #[test]
    fn no_labels_give_no_uncertainty() {
        let link = crate::link::Link { levels: 5, softmax: false, discrimination: false };
        let mut crossed = CrossedEffects::new(link, vec![0.0; 3], 2, &[]);
        crossed.estimate_parameter_uncertainty(&Silent).unwrap();
        assert_eq!(crossed.uncertainty.directions(), 0);
        assert!(crossed.uncertainty.fits(1, 4, 4));
    }

    #[test]
    fn inconsistent_parts_are_refused() {
        let mut crossed = fitted(0.0, 1);
        crossed.estimate_parameter_uncertainty(&Silent).unwrap();
        let whole = crossed.uncertainty;
        assert!(whole.fits(1, 4, 4));
        let spoilt: [fn(&mut ParameterUncertainty); 5] = [
            |u| _ = u.scores.pop(),
            |u| _ = u.effects.pop(),
            |u| _ = u.variances.pop(),
            |u| u.directions = usize::MAX,
            |u| u.fixed_effects[0] = f32::NAN,
        ];
        for spoil in spoilt {
            let mut other = whole.clone();
            spoil(&mut other);
            assert!(!other.fits(1, 4, 4));
        }
    }
}
