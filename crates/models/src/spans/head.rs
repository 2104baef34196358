//! One type's head: scores of words, and annotators' readiness to mark.

use super::data::{SpanAnswer, SpanTexts};
use super::head_objective::{Design, Priors, Scaling, dot};
use super::own_effects::{OwnEffects, Population};
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::math::lbfgs::minimise;

/// Largest number of quasi-Newton steps of a fit.
const STEPS: usize = 120;
/// Tolerance of a fit: the slope along its direction relative to the value.
const TOLERANCE: f64 = 1e-6;
/// Rounds of the estimation of the variance of readiness.
const ROUNDS: usize = 4;

/// Mean of the constant's wide prior: the log-odds of the type's rate, so that a type without any marks has a
/// finite constant.
#[derive(Clone, Debug)]
pub(super) struct Head {
    constant: f64,
    states: Vec<f32>,
    forms: Vec<f32>,
    /// Mean and variance of each annotator's readiness, in logits.
    pub(super) readiness: Vec<(f64, f64)>,
    /// Variance of readiness between annotators; 0 for models without annotators.
    pub(super) variance: f64,
    /// All effects of annotators; until they are fitted, only readiness is used instead.
    pub(super) own: Option<(Population, Vec<OwnEffects>)>,
}

/// Training data of a head.
pub(super) struct HeadData<'a> {
    pub(super) texts: &'a SpanTexts,
    pub(super) answers: &'a [SpanAnswer],
    pub(super) annotators: usize,
    pub(super) scaling: &'a Scaling,
}

impl Head {
    /// Fits one type to the answers of a design. Readiness is a random effect, whose variance is estimated by
    /// expectation maximisation with the posterior's mode and curvature (Laplace); all other parameters are
    /// modes under normal priors.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`].
    pub(super) fn fit(
        design: &Design,
        data: &HeadData<'_>,
        of_type: usize,
        priors: &Priors,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        Self::in_rounds(design, data, of_type, priors, ROUNDS, progress)
    }

    /// [`Head::fit`] at the variance of readiness given in `priors`.
    pub(super) fn at_priors(
        design: &Design,
        data: &HeadData<'_>,
        of_type: usize,
        priors: &Priors,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        Self::in_rounds(design, data, of_type, priors, 1, progress)
    }

    fn in_rounds(
        design: &Design,
        data: &HeadData<'_>,
        of_type: usize,
        priors: &Priors,
        rounds: usize,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let mut x = vec![0.0; design.parameters()];
        let rate = design.rate(data.answers, of_type);
        x[0] = (rate / (1.0 - rate)).ln();
        let mut priors = Priors { constant: x[0], ..*priors };
        let mut scores = Vec::new();
        let first = design.parameters() - data.annotators;
        let rounds = if priors.annotators.is_some() { rounds } else { 1 };
        let (mut readiness, mut variance) = (vec![(0.0, 0.0); data.annotators], 0.0);
        for _ in 0..rounds {
            let inverse = design.inverse_hessian(&priors, rate);
            minimise(&mut x, &inverse, STEPS, TOLERANCE, |x, gradient| {
                if progress.cancelled() {
                    // A gradient of 0 ends the descent.
                    gradient.fill(0.0);
                    return 0.0;
                }
                design.objective(x, gradient, data.answers, of_type, &priors, &mut scores)
            });
            if progress.cancelled() {
                return Err(ModelError::Cancelled);
            }
            let Some(precision) = priors.annotators else { break };
            design.scores(&x, &priors, &mut scores);
            let curvatures = design.curvatures(&x, &scores);
            readiness =
                x[first..].iter().zip(&curvatures).map(|(b, h)| (*b, 1.0 / (h + precision))).collect();
            // Only annotators with answers; the others carry no information about the variance.
            let answered: Vec<&(f64, f64)> =
                readiness.iter().zip(&curvatures).filter(|(_, h)| **h > 0.0).map(|(r, _)| r).collect();
            let squares: f64 = answered.iter().map(|(b, v)| b * b + v).sum();
            variance = (squares / answered.len().max(1) as f64).clamp(1e-3, 25.0);
            priors.annotators = Some(1.0 / variance);
            // Posteriors under the variance that is reported; for annotators without answers that is the
            // population.
            for (own, curvature) in readiness.iter_mut().zip(&curvatures) {
                own.1 = 1.0 / (curvature + 1.0 / variance);
            }
        }
        let states = &x[1..=design.dim];
        let kept = if priors.context.is_some() { design.dim } else { design.dim / 2 };
        let mut forms: Vec<f32> = x[1 + design.dim..first].iter().map(|value| *value as f32).collect();
        forms.shrink_to_fit();
        Ok(Self {
            constant: x[0],
            states: states
                .iter()
                .enumerate()
                .map(|(at, value)| if at < kept { *value as f32 } else { 0.0 })
                .collect(),
            forms,
            readiness,
            variance,
            own: None,
        })
    }

    /// A head with parameters that were learned elsewhere.
    pub(super) fn of(
        constant: f64,
        states: Vec<f32>,
        forms: Vec<f32>,
        readiness: Vec<(f64, f64)>,
        variance: f64,
    ) -> Self {
        Self { constant, states, forms, readiness, variance, own: None }
    }

    /// Population distribution of annotators' effects.
    pub(super) fn population(&self) -> Population {
        self.own
            .as_ref()
            .map_or_else(|| Population::of_readiness(self.variance), |(population, _)| *population)
    }

    /// Effects of an annotator; for an unknown one, the population's.
    pub(super) fn effects(&self, annotator: Option<u32>) -> OwnEffects {
        let at = |all: &[OwnEffects]| annotator.and_then(|who| all.get(who as usize).copied());
        match &self.own {
            Some((population, all)) => at(all).unwrap_or_else(|| population.unknown()),
            None => {
                let known = annotator.and_then(|who| self.readiness.get(who as usize));
                let (mean, variance) = known.copied().unwrap_or((0.0, self.variance));
                OwnEffects::of_readiness(mean, variance)
            }
        }
    }

    /// Mean and variance of the contribution of an annotator's effects to the scores of a text's words.
    pub(super) fn shifts(&self, annotator: u32, scores: &[f64]) -> Vec<(f64, f64)> {
        let own = self.effects(Some(annotator));
        self.population().covariates(scores).iter().map(|covariates| own.at(covariates)).collect()
    }

    /// Constant, weights of states, and effects of forms.
    pub(super) fn parameters(&self) -> (f64, &[f32], &[f32]) {
        (self.constant, &self.states, &self.forms)
    }

    /// Replaces scores by `slope x score + shift + effect of the form`.
    pub(super) fn calibrate(&mut self, slope: f64, shift: f64, forms: Vec<f32>) {
        self.constant = slope * self.constant + shift;
        self.states.iter_mut().for_each(|weight| *weight *= slope as f32);
        self.forms = forms;
    }

    /// The score of a word in logits for an annotator of readiness 0. `scaled` is a buffer for its states.
    pub(super) fn score(&self, texts: &SpanTexts, word: usize, scaling: &Scaling, scaled: &mut [f32]) -> f64 {
        scaling.scaled(texts.state(word), scaled);
        let form = self.forms.get(texts.form(word) as usize).copied().unwrap_or_default();
        self.constant + f64::from(dot(scaled, &self.states)) + f64::from(form)
    }
}
