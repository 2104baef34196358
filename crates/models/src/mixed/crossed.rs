//! State of the crossed effects: labels, posteriors of texts and annotators, and their priors.

use super::annotator::{self, AnnotatorEffect, AnnotatorPosterior, LabelGivenText};
use super::attribute_effects::AttributeEffects;
use super::convergence::Convergence;
use super::group_columns::GroupEffects;
use super::initial;
use super::parameter_moves::ParameterUncertainty;
use super::scalar_posterior::{ScoredLabel, integrate};
use super::text::{self, TextPosterior};
use super::text_scale::{ScaleNode, ScalePosterior, ScalePrior, TextScales, nodes_without};
use crate::link::Link;
use dissensus_stats::data::{AttributeEvidence, GroupSlopes, Observation, Target};
use dissensus_stats::math::cholesky::Factor;
use dissensus_stats::math::quadrature::Hermite;
use dissensus_stats::math::{attenuation, dot};
use serde::{Deserialize, Serialize};

/// One label of a text.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TextLabel {
    pub(crate) annotator: u32,
    pub(crate) level: u16,
}

/// A text's posterior without one of its labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextCavity<'a> {
    /// Posterior means of its q scores.
    pub(super) means: &'a [f64],
    pub(super) variance: f64,
    /// Noise that its scale adds to a label.
    pub(super) noise: f64,
}

/// The whole state of the random effects; cheap to update for one text or one annotator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CrossedEffects {
    pub(crate) link: Link,
    /// Average link parameters.
    pub(crate) fixed_effects: Vec<f64>,
    /// Prior means of every annotator's random effects, annotators x random effects; empty where all are 0.
    pub(crate) prior_means: Vec<f64>,
    /// Effects of attributes, which determine the prior means.
    pub(crate) attribute_effects: Option<AttributeEffects>,
    /// Result of trying attributes, if they were tried.
    pub(crate) attribute_evidence: Option<AttributeEvidence>,
    /// Covariance of annotators' random effects, row-major.
    pub(crate) prior: Vec<f64>,
    pub(crate) text_var: f64,
    /// Marks the texts whose labels tuned the encoder; their scores are therefore computed without their
    /// embeddings. Empty where there are none; texts that were added later are not marked.
    pub(crate) tuned_on: Vec<bool>,
    /// Variance of the effects of those texts.
    pub(crate) tuned_on_text_var: f64,
    /// Whether variances are those of texts that tuned the encoder, because there are too few others.
    pub(crate) too_few_untuned: bool,
    /// Variance of each slope; empty where slopes have no evidence.
    pub(crate) slope_vars: Vec<f64>,
    /// Slope features of every text, texts x slope_dim; empty without slopes.
    pub(crate) z: Vec<f64>,
    pub(crate) slope_dim: usize,
    /// Slopes of annotators' groups, where there are some.
    pub(super) groups: Option<GroupEffects>,
    /// Result of trying groups' slopes, if they were tried.
    pub(crate) group_slopes: Option<GroupSlopes>,
    /// Prior mean of every text's scores, texts x q.
    pub(crate) scores: Vec<f64>,
    /// Posterior mean of every text's scores, texts x q.
    pub(crate) u: Vec<f64>,
    /// Posterior variance of every text's scores (mean over scores).
    pub(crate) v: Vec<f64>,
    /// Labels of every text, ordered by annotator.
    pub(crate) labels: Vec<Vec<TextLabel>>,
    /// Scales of texts, where the model has them.
    pub(crate) scales: Option<TextScales>,
    /// For every label of every text, without that label: q posterior means, one variance and the noise of
    /// its scale.
    pub(super) cavity: Vec<Vec<f64>>,
    pub annotators: Vec<AnnotatorEffect>,
    /// How the last estimation of the variances ended.
    pub(crate) convergence: Convergence,
    /// Uncertainty of the estimated parameters; empty until it has been requested.
    pub(crate) uncertainty: ParameterUncertainty,
    #[serde(skip, default = "Hermite::new")]
    rule: Hermite,
}

impl CrossedEffects {
    /// Effects of `observations` (sorted) on `scores` (texts x q), all at their prior means.
    pub fn new(link: Link, scores: Vec<f64>, annotators: usize, observations: &[Observation]) -> Self {
        let q = link.scores();
        let texts = scores.len() / q;
        let mut labels = vec![Vec::new(); texts];
        let mut annotators = vec![AnnotatorEffect::average(link, 0); annotators];
        let mut counts = vec![0.0; link.levels];
        for o in observations {
            labels[o.text as usize].push(TextLabel { annotator: o.annotator, level: o.level });
            annotators[o.annotator as usize].labels.push((o.text, o.level));
            counts[usize::from(o.level)] += 1.0;
        }
        let cavity = labels.iter().map(|l: &Vec<TextLabel>| vec![0.0; l.len() * (q + 2)]).collect();
        let mut crossed = Self {
            link,
            fixed_effects: link.fixed_effects_from(&counts),
            prior_means: Vec::new(),
            attribute_effects: None,
            attribute_evidence: None,
            prior: initial::initial_prior(link),
            text_var: initial::INITIAL_TEXT_VARIANCE,
            tuned_on: Vec::new(),
            tuned_on_text_var: initial::INITIAL_TEXT_VARIANCE,
            too_few_untuned: false,
            slope_vars: Vec::new(),
            z: Vec::new(),
            slope_dim: 0,
            groups: None,
            group_slopes: None,
            u: scores.clone(),
            v: vec![initial::INITIAL_TEXT_VARIANCE; texts],
            scores,
            labels,
            scales: None,
            cavity,
            annotators,
            convergence: Convergence::default(),
            uncertainty: ParameterUncertainty::default(),
            rule: Hermite::new(),
        };
        crossed.reset_annotators();
        crossed
    }

    pub(super) fn rule(&self) -> &Hermite {
        &self.rule
    }

    pub(crate) fn texts(&self) -> usize {
        self.v.len()
    }

    /// Whether the labels of a text tuned the encoder.
    pub(super) fn is_tuned_on(&self, text: usize) -> bool {
        self.tuned_on.get(text).copied().unwrap_or(false)
    }

    /// Prior variance of a text's effect.
    pub(super) fn prior_text_var(&self, text: usize) -> f64 {
        if self.is_tuned_on(text) { self.tuned_on_text_var } else { self.text_var }
    }

    /// Number of random effects of one annotator: those on the link parameters, and slopes.
    pub(crate) fn width(&self) -> usize {
        self.link.random_effects() + self.slope_dim
    }

    /// Slope features of one text.
    pub(crate) fn features(&self, text: usize) -> &[f64] {
        &self.z[text * self.slope_dim..(text + 1) * self.slope_dim]
    }

    /// Prior covariance of random effects and slopes together, row-major.
    pub(crate) fn prior_covariance(&self) -> Vec<f64> {
        let (d, w) = (self.link.random_effects(), self.width());
        let mut full = vec![0.0; w * w];
        for i in 0..d {
            full[i * w..i * w + d].copy_from_slice(&self.prior[i * d..(i + 1) * d]);
        }
        for (i, variance) in (d..w).zip(&self.slope_vars) {
            full[i * w + i] = *variance;
        }
        full
    }

    /// Inverse of the prior covariance.
    pub(crate) fn prior_precision(&self) -> Vec<f64> {
        Factor::new(&self.prior_covariance(), self.width()).inverse()
    }

    /// Sets all random effects to their prior.
    pub(crate) fn reset_annotators(&mut self) {
        let prior = self.prior_covariance();
        for annotator in 0..self.annotators.len() {
            let mean = self.prior_mean(annotator);
            let effect = &mut self.annotators[annotator];
            effect.cavity =
                effect.labels.iter().flat_map(|_| mean.iter().copied().chain([prior[0]])).collect();
            effect.theta = mean;
            effect.covariance.clone_from(&prior);
        }
    }

    /// Prior mean of one annotator's random effects and slopes.
    pub(crate) fn prior_mean(&self, annotator: usize) -> Vec<f64> {
        let mut start = vec![0.0; self.width()];
        let d = self.link.random_effects();
        if let Some(mean) = self.prior_means.get(annotator * d..(annotator + 1) * d) {
            start[..d].copy_from_slice(mean);
        }
        self.add_group_means(self.groups_of(annotator), &mut start);
        start
    }

    /// Prior mean and covariance of a new annotator with these attribute values.
    pub(crate) fn prior_of(&self, values: &[Option<u16>]) -> (Vec<f64>, Vec<f64>) {
        let mut start = vec![0.0; self.width()];
        if let Some(effects) = &self.attribute_effects {
            let d = self.link.random_effects();
            start[..d].copy_from_slice(&effects.mean(values, d));
        }
        let columns = self.groups.as_ref().map(|groups| groups.columns.of(values)).unwrap_or_default();
        self.add_group_means(&columns, &mut start);
        let covariance = self.covariance_with_groups(&columns, &self.prior_covariance()).into_owned();
        (start, covariance)
    }

    /// Adds an annotator without labels and attributes.
    pub(crate) fn push_annotator(&mut self) {
        let mut effect = AnnotatorEffect::average(self.link, self.slope_dim);
        effect.covariance = self.prior_covariance();
        self.annotators.push(effect);
        if !self.prior_means.is_empty() {
            self.prior_means.resize(self.annotators.len() * self.link.random_effects(), 0.0);
        }
        if let Some(groups) = &mut self.groups {
            groups.of.push(Vec::new());
        }
    }

    /// Applies attributes that became known after the fit; the caller refits the annotator.
    pub(crate) fn set_attributes(&mut self, annotator: usize, values: &[Option<u16>]) {
        let d = self.link.random_effects();
        if let Some(effects) = &self.attribute_effects {
            self.prior_means[annotator * d..(annotator + 1) * d].copy_from_slice(&effects.mean(values, d));
        }
        if let Some(groups) = &mut self.groups {
            groups.of[annotator] = groups.columns.of(values);
        }
    }

    /// Fits one annotator to the current texts.
    pub(crate) fn update_annotator(&mut self, annotator: usize, precision: &[f64]) {
        let posterior = self.fitted_annotator(annotator, precision);
        self.set_annotator(annotator, posterior);
    }

    pub(super) fn set_annotator(&mut self, annotator: usize, posterior: AnnotatorPosterior) {
        let effect = &mut self.annotators[annotator];
        effect.theta = posterior.theta;
        effect.covariance = posterior.covariance;
        effect.cavity = posterior.cavity;
    }

    pub(super) fn fitted_annotator(&self, annotator: usize, precision: &[f64]) -> AnnotatorPosterior {
        self.annotator_from_labels(annotator, precision, |_| true)
    }

    /// One annotator as [`CrossedEffects::update_annotator`] would fit it without the labels of `texts`.
    pub(crate) fn annotator_refitted_without(
        &self,
        annotator: usize,
        texts: &[u32],
        precision: &[f64],
    ) -> AnnotatorPosterior {
        self.annotator_from_labels(annotator, precision, |text| !texts.contains(&text))
    }

    fn annotator_from_labels(
        &self,
        annotator: usize,
        precision: &[f64],
        include: impl Fn(u32) -> bool,
    ) -> AnnotatorPosterior {
        let effect = &self.annotators[annotator];
        let labels: Vec<LabelGivenText<'_>> = effect
            .labels
            .iter()
            .filter(|(text, _)| include(*text))
            .filter_map(|&(text, level)| self.label_given_text(annotator, text, level))
            .collect();
        annotator::posterior(
            self.link,
            &self.fixed_effects,
            (&self.prior_mean(annotator), precision),
            &labels,
            &effect.theta,
            &self.rule,
        )
    }

    /// A label with the posterior of its text given the other annotators' labels.
    pub(super) fn label_given_text(
        &self,
        annotator: usize,
        text: u32,
        level: u16,
    ) -> Option<LabelGivenText<'_>> {
        let t = text as usize;
        let at = self.labels[t].binary_search_by_key(&(annotator as u32), |l| l.annotator).ok()?;
        let TextCavity { means, variance, noise } = self.text_cavity(t, at);
        Some(LabelGivenText { u: means, variance, noise, z: self.features(t), level })
    }

    /// Re-estimates one text's effect from its labels and the current annotators.
    pub(crate) fn update_text(&mut self, text: usize) {
        let posterior = self.fitted_text(text);
        self.set_text(text, posterior);
    }

    pub(super) fn fitted_text(&self, text: usize) -> TextPosterior {
        self.text_from_labels(text, |_| true)
    }

    /// Fits one text as [`CrossedEffects::update_text`] would without this annotator's label; `None` where
    /// there is no such label.
    pub(crate) fn text_refitted_without(&self, text: usize, annotator: u32) -> Option<TextPosterior> {
        let labels = &self.labels[text];
        labels.binary_search_by_key(&annotator, |label| label.annotator).ok()?;
        Some(self.text_from_labels(text, |other| other != annotator))
    }

    /// Posterior of a text's scale if scales varied as much as the labels do not rule out; `None` where the
    /// model has scales of texts, and where labels carry no information about scales.
    pub(crate) fn scale_not_ruled_out(&self, text: usize) -> Option<ScalePosterior> {
        let sd = self.uncertainty.scale_sd();
        if sd == 0.0 || self.link.softmax {
            return None;
        }
        let mean = self.scales.as_ref().map_or(0.0, |scales| scales.prior_of(text).mean);
        let (score, prior) = (&self.scores[text..=text], Some(ScalePrior { mean, sd }));
        let labels = self.scored_labels(text, |_| true);
        text::fit(self.link, score, self.prior_text_var(text), prior, &labels, &self.rule).scale
    }

    /// Posterior of a text's score and scale without each of its labels; `None` where labels carry no
    /// information about its scale.
    pub(super) fn scales_without(&self, text: usize) -> Option<Vec<Vec<ScaleNode>>> {
        let scales = self.scales.as_ref().filter(|scales| scales.own)?;
        let (prior_mean, prior_var) = (self.scores[text], self.prior_text_var(text));
        let score = |labels: &[ScoredLabel]| integrate(self.link, prior_mean, prior_var, labels, &self.rule);
        Some(nodes_without(scales.prior_of(text), &self.scored_labels(text, |_| true), score))
    }

    fn scored_labels(&self, text: usize, include: impl Fn(u32) -> bool) -> Vec<ScoredLabel> {
        let labels = self.labels[text].iter().filter(|label| include(label.annotator));
        labels.map(|label| self.label_given_annotator(text, *label).0).collect()
    }

    pub(super) fn text_from_labels(&self, text: usize, include: impl Fn(u32) -> bool) -> TextPosterior {
        let q = self.link.scores();
        let prior_mean = &self.scores[text * q..(text + 1) * q];
        let predictors = self.scored_labels(text, include);
        let scale = self.scales.as_ref().map(|scales| scales.prior_of(text));
        text::fit(self.link, prior_mean, self.prior_text_var(text), scale, &predictors, &self.rule)
    }

    /// A text's posterior without its label `at`.
    pub(super) fn text_cavity(&self, text: usize, at: usize) -> TextCavity<'_> {
        let q = self.link.scores();
        let cavity = &self.cavity[text][at * (q + 2)..(at + 1) * (q + 2)];
        TextCavity { means: &cavity[..q], variance: cavity[q], noise: cavity[q + 1] }
    }

    /// [`CrossedEffects::noise`] with the logarithm of the scale `x` posterior standard deviations from its
    /// mean.
    pub(crate) fn noise_at(&self, text: usize, x: f64) -> f64 {
        self.scales.as_ref().map_or(0.0, |scales| scales.noise_at(text, x))
    }

    /// Noise that a text's scale adds to its labels, as a variance; 0 where the model has no scales of texts.
    pub(crate) fn noise(&self, text: usize) -> f64 {
        self.scales.as_ref().map_or(0.0, |scales| scales.noise(text))
    }

    /// Posterior mean of an annotator without the label at position `at` of the annotator's labels, to first
    /// order.
    pub(crate) fn cavity_of_label(&self, annotator: usize, at: usize) -> &[f64] {
        let w = self.width();
        &self.annotators[annotator].cavity[at * (w + 1)..][..w]
    }

    /// A label with its annotator's random effects as they would be without this label, and the variance of
    /// their contribution to the score.
    pub(super) fn label_given_annotator(&self, text: usize, label: TextLabel) -> (ScoredLabel, f64) {
        let effect = &self.annotators[label.annotator as usize];
        let (link, d, w) = (self.link, self.link.random_effects(), self.width());
        let at = effect.labels.partition_point(|l| (l.0 as usize) < text);
        let (theta, variance) = (&effect.cavity[at * (w + 1)..][..w], effect.cavity[at * (w + 1) + w]);
        let mut intercepts = vec![0.0; link.intercepts()];
        link.intercepts_of(&self.fixed_effects, &theta[..d], &mut intercepts);
        if self.slope_dim > 0 {
            let shift = dot(self.features(text), &theta[d..]);
            intercepts.iter_mut().for_each(|o| *o += shift);
        }
        let given = ScoredLabel {
            intercepts,
            discrimination: link.discrimination_of(&theta[..d]),
            attenuation: attenuation(variance),
            level: label.level,
        };
        (given, variance)
    }

    pub(super) fn set_text(&mut self, text: usize, posterior: TextPosterior) {
        let q = self.link.scores();
        self.u[text * q..(text + 1) * q].copy_from_slice(&posterior.mean);
        self.v[text] = posterior.variance;
        self.cavity[text] = posterior.cavity;
        if let (Some(scales), Some(scale)) = (&mut self.scales, posterior.scale) {
            scales.set(text, &scale);
        }
    }

    /// Adds a text without a label.
    pub(crate) fn push_text(&mut self, u: &[f64], log_scale: f64, z: &[f64]) {
        self.scores.extend_from_slice(u);
        self.u.extend_from_slice(u);
        self.z.extend_from_slice(z);
        self.v.push(self.text_var);
        self.labels.push(Vec::new());
        self.cavity.push(Vec::new());
        if let Some(scales) = &mut self.scales {
            scales.push(log_scale);
        }
    }

    /// A copy for predicting new texts: random effects and their priors, without the texts and labels that
    /// they were estimated from, and without annotators' attributes except which annotators share slopes of a
    /// group.
    pub(crate) fn for_new_texts(&self) -> Self {
        let of = |effect: &AnnotatorEffect| AnnotatorEffect {
            theta: effect.theta.clone(),
            covariance: effect.covariance.clone(),
            labels: Vec::new(),
            cavity: Vec::new(),
        };
        Self {
            link: self.link,
            fixed_effects: self.fixed_effects.clone(),
            prior_means: Vec::new(),
            attribute_effects: None,
            attribute_evidence: None,
            prior: self.prior.clone(),
            text_var: self.text_var,
            tuned_on: Vec::new(),
            tuned_on_text_var: self.tuned_on_text_var,
            too_few_untuned: self.too_few_untuned,
            slope_vars: self.slope_vars.clone(),
            z: Vec::new(),
            slope_dim: self.slope_dim,
            groups: self.groups.clone(),
            group_slopes: None,
            scores: Vec::new(),
            u: Vec::new(),
            v: Vec::new(),
            labels: Vec::new(),
            scales: self.scales.as_ref().map(TextScales::for_new_texts),
            cavity: Vec::new(),
            annotators: self.annotators.iter().map(of).collect(),
            convergence: self.convergence,
            uncertainty: self.uncertainty.for_new_texts(),
            rule: Hermite::new(),
        }
    }

    /// Checks the consistency of a state that was read from bytes, and returns what does not match.
    pub(crate) fn check(&self, target: Target) -> Result<(), &'static str> {
        let (q, texts, width) = (self.link.scores(), self.texts(), self.width());
        let link = Link { discrimination: self.link.discrimination, ..Link::new(target) };
        let sizes = self.link == link
            && !(link.softmax && link.discrimination)
            && self.fixed_effects.len() == self.link.intercepts()
            && self.prior.len() == self.link.random_effects().pow(2)
            && (self.prior_means.is_empty()
                || self.prior_means.len() == self.annotators.len() * self.link.random_effects())
            && self.attribute_effects.as_ref().is_none_or(|e| e.fits(self.link.random_effects()))
            && self.groups.as_ref().is_none_or(|groups| groups.fits(self.annotators.len(), self.slope_dim))
            && self.scores.len() == texts * q
            && self.u.len() == texts * q
            && self.z.len() == texts * self.slope_dim
            && self.slope_vars.len() == self.slope_dim
            && self.labels.len() == texts
            && self.tuned_on.len() <= texts
            && self.scales.as_ref().is_none_or(|scales| !link.softmax && scales.fits(texts))
            && self.uncertainty.fits(q, self.link.intercepts(), width)
            && self.cavity.len() == texts;
        let annotators = self.annotators.iter().all(|p| {
            p.theta.len() == width
                && p.covariance.len() == width * width
                && p.cavity.len() == p.labels.len() * (width + 1)
                && p.labels.iter().all(|&(t, l)| (t as usize) < texts && usize::from(l) < target.levels)
        });
        let labels = self.labels.iter().zip(&self.cavity).all(|(l, c)| {
            c.len() == l.len() * (q + 2)
                && l.iter().all(|l| {
                    (l.annotator as usize) < self.annotators.len() && usize::from(l.level) < target.levels
                })
        });
        if sizes && annotators && labels { Ok(()) } else { Err("its parts do not fit together") }
    }

    /// Random effects of all annotators on their thresholds, annotators x threshold effects.
    pub(crate) fn threshold_effects(&self) -> Vec<f64> {
        let d = self.link.threshold_effects();
        self.annotators.iter().flat_map(|p| p.theta[..d].iter().copied()).collect()
    }

    /// Mean variance of a label's score given the head: the text effect's and the annotator's.
    pub(crate) fn mean_score_variance(&self) -> f64 {
        let (mut sum, mut n) = (0.0, 0.0);
        for effect in &self.annotators {
            sum += effect.covariance[0] * effect.labels.len() as f64;
            n += effect.labels.len() as f64;
        }
        self.text_var + if n > 0.0 { sum / n } else { 0.0 }
    }

    /// Adds, replaces or (with `None`) removes a label; returns the previous level.
    pub(crate) fn set_label(&mut self, text: u32, annotator: u32, level: Option<u16>) -> Option<u16> {
        let (t, w) = (text as usize, self.width());
        let effect = &mut self.annotators[annotator as usize];
        match effect.labels.binary_search_by_key(&text, |l| l.0) {
            Ok(at) => match level {
                Some(level) => effect.labels[at].1 = level,
                None => {
                    effect.labels.remove(at);
                    effect.cavity.drain(at * (w + 1)..(at + 1) * (w + 1));
                }
            },
            Err(at) => {
                if let Some(level) = level {
                    effect.labels.insert(at, (text, level));
                    // The posterior without this label is the annotator's posterior before the label was
                    // added.
                    let before = effect.theta.iter().copied().chain([effect.covariance[0]]);
                    let before: Vec<f64> = before.collect();
                    effect.cavity.splice(at * (w + 1)..at * (w + 1), before);
                }
            }
        }
        let labels = &mut self.labels[t];
        match labels.binary_search_by_key(&annotator, |l| l.annotator) {
            Ok(at) => {
                let before = labels[at].level;
                match level {
                    Some(level) => labels[at].level = level,
                    None => drop(labels.remove(at)),
                }
                Some(before)
            }
            Err(at) => {
                if let Some(level) = level {
                    labels.insert(at, TextLabel { annotator, level });
                }
                None
            }
        }
    }
}
