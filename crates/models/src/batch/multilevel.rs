//! `multilevel`: shared head, text effects and annotators' own links, each with shrinkage estimated from the
//! data.

use super::Prepared;
use super::on_tuned_encoder::{CalibratedFit, TunedFit, can_be_calibrated, texts_tuned_on};
use super::shared::{raw_scores, scores_of};
use crate::linear::ridge::{CrossFit, RidgeProblem};
use crate::link::Link;
use crate::mixed::CrossedEffects;
use crate::mixed::annotator_columns::AnnotatorColumns;
use crate::mixed::convergence::{FINAL, ROUGH};
use crate::mixed::nodes::QuadratureNode;
use crate::mixed::predictor::{AnnotatorPredictor, Scratch, TextColumns};
use crate::mixed::scale_head::ScaleHead;
use crate::mixed::text_scale::noise;
use crate::mixed::text_scores;
use crate::mixed::text_scores::{NgramWeights, SimilarTexts, TextScores, Texts};
use dissensus_stats::data::AttributeEvidence;
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::{Progress, step};
use dissensus_stats::data::{AnnotatorModel, ModelKind, Observation, TextFeatures};
use dissensus_stats::math::attenuation;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Principal axes that slopes may use, in addition to the shared score.
const SLOPE_AXES: usize = 6;

/// Predictions from a text's embedding and n-grams: scores and slope features.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TextScorer {
    pub(crate) dim: usize,
    /// q x dim.
    pub(crate) weights: Vec<f64>,
    pub(crate) constants: Vec<f64>,
    /// axes x dim.
    axes: Vec<f64>,
    axis_constants: Vec<f64>,
    /// Mean and inverse standard deviation of the shared score, for the slope on it.
    score_mean: f64,
    score_scale: f64,
    /// Contribution of similar texts to the score.
    similar: Option<SimilarTexts>,
    /// Contribution of character n-grams to the score.
    ngrams: Option<NgramWeights>,
    /// Predicts the scale of a text from its embedding, where the model does so.
    scale: Option<ScaleHead>,
}

impl TextScorer {
    /// A scorer with scores of 0 that predicts the scale from embeddings of `dim` numbers.
    #[cfg(test)]
    pub(crate) fn of_scale(link: Link, dim: usize, scale: Option<ScaleHead>) -> Self {
        Self { dim, weights: vec![0.0; link.scores() * dim], scale, ..Self::constant(link) }
    }

    /// A scorer without an encoder: every score is 0.
    #[cfg(any(test, feature = "bench"))]
    pub fn constant(link: Link) -> Self {
        Self {
            dim: 0,
            weights: Vec::new(),
            constants: vec![0.0; link.scores()],
            axes: Vec::new(),
            axis_constants: Vec::new(),
            score_mean: 0.0,
            score_scale: 0.0,
            similar: None,
            ngrams: None,
            scale: None,
        }
    }

    /// Checks the consistency of a head that was read from bytes, and returns what does not match.
    pub(crate) fn check(&self, link: Link, slope_dim: usize) -> Result<(), &'static str> {
        let fits = self.weights.len() == link.scores() * self.dim
            && self.constants.len() == link.scores()
            && self.axes.len() == self.axis_constants.len() * self.dim
            && (slope_dim < 2 || slope_dim == self.axis_constants.len() + 1)
            && self.similar.as_ref().is_none_or(|similar| similar.fits(self.dim))
            && self.ngrams.as_ref().is_none_or(NgramWeights::fits)
            && self.scale.as_ref().is_none_or(|scale| scale.fits(self.dim));
        if fits { Ok(()) } else { Err("its head does not fit together") }
    }

    /// Whether scales of texts are predicted.
    pub(crate) fn has_scale_information(&self) -> bool {
        self.scale.is_some()
    }

    /// Number of texts whose embeddings are stored for comparison with others.
    pub(crate) fn embeddings_held(&self) -> usize {
        self.similar.as_ref().map_or(0, SimilarTexts::texts)
    }

    /// Whether scores depend on character n-grams.
    pub(crate) fn reads_ngrams(&self) -> bool {
        self.ngrams.is_some()
    }

    /// Prior logarithm of a text's scale.
    pub(crate) fn log_scale(&self, text: TextFeatures<'_>) -> f64 {
        self.scale.as_ref().map_or(0.0, |scale| scale.predict(text.embedding))
    }

    /// Scores of a text, and its first `slopes` features (none, only the score, or all).
    pub(crate) fn apply(
        &self,
        text: TextFeatures<'_>,
        slopes: usize,
    ) -> Result<(Vec<f64>, Vec<f64>), ModelError> {
        let x = text.embedding;
        let mut u = raw_scores(&self.weights, &self.constants, self.dim, x)?;
        u[0] += self.similar.as_ref().map_or(0.0, |similar| similar.predict(x));
        u[0] += self.ngrams.as_ref().map_or(0.0, |ngrams| ngrams.predict(text.ngrams));
        let mut z = Vec::new();
        if slopes > 0 {
            z.push((u[0] - self.score_mean) * self.score_scale);
        }
        if slopes > 1 {
            z.extend(raw_scores(&self.axes, &self.axis_constants, self.dim, x)?);
        }
        Ok((u, z))
    }
}

#[derive(Clone, Debug)]
pub struct Multilevel {
    pub(crate) head: TextScorer,
    pub(crate) crossed: CrossedEffects,
    pub(crate) columns: TextColumns,
    nodes: Vec<QuadratureNode>,
    predictors: Vec<AnnotatorPredictor>,
    annotator_columns: AnnotatorColumns,
    population: AnnotatorPredictor,
    /// Predictors of annotators fitted without slopes; empty where groups have none.
    without_groups: Vec<AnnotatorPredictor>,
}

impl Multilevel {
    pub fn fit(
        prepared: &Prepared<'_>,
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let (head, crossed) = fit_effects(prepared, options, progress)?;
        Ok(Self::from_parts(head, crossed))
    }

    pub fn from_parts(head: TextScorer, crossed: CrossedEffects) -> Self {
        let predictors: Vec<AnnotatorPredictor> =
            (0..crossed.annotators.len()).map(|a| AnnotatorPredictor::new(&crossed, a)).collect();
        let without_groups = (0..crossed.annotators.len()).into_par_iter();
        Self {
            without_groups: without_groups
                .filter_map(|a| AnnotatorPredictor::without_groups(&crossed, a))
                .collect(),
            columns: TextColumns::new(&crossed),
            nodes: QuadratureNode::all(&crossed),
            annotator_columns: AnnotatorColumns::new(crossed.link, crossed.slope_dim, &predictors),
            predictors,
            population: AnnotatorPredictor::population(&crossed),
            head,
            crossed,
        }
    }

    pub(crate) fn predictors(&self) -> &[AnnotatorPredictor] {
        &self.predictors
    }

    /// Predictors of all annotators, for one text at a time.
    pub(crate) fn annotator_columns(&self) -> &AnnotatorColumns {
        &self.annotator_columns
    }

    /// Updates one text to its new posterior.
    pub(crate) fn refresh_text(&mut self, text: usize) {
        let q = self.crossed.link.scores();
        let u = &self.crossed.u[text * q..(text + 1) * q];
        self.columns.set(text, u, self.crossed.v[text], self.crossed.noise(text));
        self.nodes.iter_mut().for_each(|node| node.set(&self.crossed, text));
    }

    /// The columns for part `part` of the disagreement's sums: all uncertainty in the first one, the text's
    /// own score fixed in the others.
    pub(crate) fn columns_of_part(&self, part: usize) -> &TextColumns {
        part.checked_sub(1).map_or(&self.columns, |node| &self.nodes[node].columns)
    }

    /// Updates one annotator to the new posterior and returns the old predictor.
    pub(crate) fn refresh_annotator(&mut self, annotator: usize) -> AnnotatorPredictor {
        let predictor = AnnotatorPredictor::new(&self.crossed, annotator);
        if let Some(without) = AnnotatorPredictor::without_groups(&self.crossed, annotator) {
            self.without_groups[annotator] = without;
        }
        self.annotator_columns.set(annotator, &predictor);
        std::mem::replace(&mut self.predictors[annotator], predictor)
    }

    /// Adds the predictor of the last annotator of the effects.
    pub(crate) fn push_annotator(&mut self) {
        self.annotator_columns.push(&self.population);
        self.predictors.push(self.population.clone());
        let annotator = self.crossed.annotators.len() - 1;
        self.without_groups.extend(AnnotatorPredictor::without_groups(&self.crossed, annotator));
    }

    pub(crate) fn push_text(&mut self, text: TextFeatures<'_>) -> Result<(), ModelError> {
        let (u, z) = self.head.apply(text, self.crossed.slope_dim)?;
        let log_scale = self.head.log_scale(text);
        self.columns.push(&u, self.crossed.text_var, noise(log_scale), &z);
        self.crossed.push_text(&u, log_scale, &z);
        let text = self.crossed.texts() - 1;
        self.nodes.iter_mut().for_each(|node| node.push(&self.crossed, text));
        Ok(())
    }

    /// All texts' probabilities under one predictor, level-major.
    pub(crate) fn fill_all(&self, predictor: &AnnotatorPredictor, out: &mut [f32]) {
        predictor.fill(&self.columns, 0..self.columns.len(), out, &mut Scratch::default());
    }

    pub(crate) fn labels_of(&self, annotator: u32) -> &[(u32, u16)] {
        self.crossed.annotators.get(annotator as usize).map_or(&[], |p| &p.labels)
    }

    /// Groups of weighted predictors of an annotator with intercepts at the nodes of their posterior.
    pub(crate) fn bald_predictors(
        &self,
        annotator: u32,
        nodes: &[(f64, f64)],
    ) -> Vec<Vec<(f64, AnnotatorPredictor)>> {
        let predictor = self.predictor(annotator);
        let groups = if self.crossed.link.softmax { self.crossed.link.levels } else { 1 };
        (0..groups)
            .map(|g| {
                let only = self.crossed.link.softmax.then_some(g);
                nodes.iter().map(|&(x, weight)| (weight, predictor.moved(only, x))).collect()
            })
            .collect()
    }

    pub(crate) fn predictor(&self, annotator: u32) -> &AnnotatorPredictor {
        self.predictors.get(annotator as usize).unwrap_or(&self.population)
    }
}

/// Fits the shared head and random effects, on an encoder that was tuned on some of the labels (see
/// [`TunedFit`]).
pub fn fit_effects(
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<(TextScorer, CrossedEffects), ModelError> {
    let Some(tuned_on) = texts_tuned_on(prepared.embeddings) else {
        return fit_at_face_value(prepared, options, progress);
    };
    let any = prepared.observations.iter().any(|o| tuned_on[o.text as usize]);
    if any && can_be_calibrated(prepared.embeddings, &prepared.observations) {
        let tuned = TunedFit::new(prepared, tuned_on, &prepared.observations, options, progress)?;
        return fit_calibrated(&tuned, prepared, &prepared.observations, options, progress);
    }
    let (head, mut crossed) = fit_at_face_value(prepared, options, progress)?;
    crossed.too_few_untuned = any;
    Ok((head, crossed))
}

/// Head and random effects of `observations` (ordered), calibrated on those whose texts did not tune the
/// encoder. Without slopes, which would depend on the embeddings of all labelled texts.
pub(crate) fn fit_calibrated(
    tuned: &TunedFit,
    prepared: &Prepared<'_>,
    observations: &[Observation],
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<(TextScorer, CrossedEffects), ModelError> {
    let CalibratedFit { weights, constants, ngrams, mut crossed } =
        tuned.calibrate(prepared, observations, options, progress)?;
    estimate_annotators(&mut crossed, prepared, options, progress)?;
    let head = TextScorer {
        dim: prepared.x.dim,
        weights,
        constants,
        axes: Vec::new(),
        axis_constants: Vec::new(),
        score_mean: 0.0,
        score_scale: 0.0,
        similar: None,
        ngrams,
        scale: None,
    };
    Ok((head, crossed))
}

/// Gives annotators a discrimination of their own and prior means by their attributes, and texts a scale of
/// their own, each where it improves predictions.
fn estimate_annotators(
    crossed: &mut CrossedEffects,
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<(), ModelError> {
    if options.slopes && !crossed.link.softmax {
        step(progress, "multilevel: how closely annotators follow the texts", 0.92)?;
        crossed.select_discrimination(&prepared.fold, prepared.folds);
    }
    if options.severities_by_attributes && !prepared.attributes.is_empty() {
        step(progress, "multilevel: attributes", 0.93)?;
        let evidence = crossed.select_attributes(prepared.attributes, options.seed);
        if evidence.is_some_and(|evidence| evidence.used) {
            crossed.expectation_maximisation(FINAL);
        }
    }
    if options.slopes {
        step(progress, "multilevel: how far people are apart on texts", 0.94)?;
        crossed.select_text_scales();
    }
    Ok(())
}

/// Alternates between the head given the random effects and the random effects given out-of-fold scores of
/// the head.
pub fn fit_at_face_value(
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<(TextScorer, CrossedEffects), ModelError> {
    let link = Link::new(prepared.target);
    let first = crate::mixed::initial_score_variance(link);
    let rounds = options.rounds.max(1);
    let mut crossed: Option<CrossedEffects> = None;
    let mut cross = None;
    for round in 0..rounds {
        step(progress, "multilevel: shared head", round as f32 / rounds as f32)?;
        let random_effects = crossed.as_ref().map(CrossedEffects::threshold_effects).unwrap_or_default();
        let variance = crossed.as_ref().map_or(first, CrossedEffects::mean_score_variance);
        let problem = RidgeProblem {
            link,
            x: &prepared.x,
            observations: &prepared.observations,
            random_effects: &random_effects,
            attenuation: attenuation(variance),
            around: &[],
        };
        let fitted = problem.cross_fit(&prepared.fold, prepared.folds);
        step(progress, "multilevel: annotators", (round as f32 + 0.7) / rounds as f32)?;
        let scores = out_of_fold(link, prepared, &fitted);
        let mut next = match crossed.take() {
            None => CrossedEffects::new(link, scores, prepared.annotators, &prepared.observations),
            Some(mut before) => {
                before.scores = scores;
                before
            }
        };
        next.fixed_effects.clone_from(&fitted.whole.link_parameters);
        next.expectation_maximisation(if round + 1 < rounds { ROUGH } else { FINAL });
        crossed = Some(next);
        cross = Some(fitted);
    }
    let (Some(mut crossed), Some(cross)) = (crossed, cross) else { return Err(ModelError::Cancelled) };
    step(progress, "multilevel: words and texts that read alike", 0.9)?;
    let text_scores =
        if options.text_scores { fit_text_scores(prepared, &mut crossed, progress) } else { None };
    if text_scores.is_some() {
        crossed.expectation_maximisation(FINAL);
    }
    // The embedding of a text that tuned the encoder contains information about the spread of its labels.
    let tuned = texts_tuned_on(prepared.embeddings)
        .is_some_and(|tuned| prepared.observations.iter().any(|o| tuned[o.text as usize]));
    let scale = if options.slopes && options.text_scores && !tuned {
        step(progress, "multilevel: how far people are apart on texts", 0.91)?;
        crossed.select_predicted_scales(&prepared.x, &prepared.fold, prepared.folds)
    } else {
        None
    };
    estimate_annotators(&mut crossed, prepared, options, progress)?;
    let mut head = encoder(link, prepared, &cross, &crossed);
    head.scale = scale;
    if let Some(TextScores { weights, similar, ngrams }) = text_scores {
        (head.weights, head.constants) = raw_weights(link, prepared, &weights);
        (head.similar, head.ngrams) = (Some(similar), ngrams);
    }
    if options.slopes && prepared.x.dim > 0 && !link.softmax {
        step(progress, "multilevel: slopes", 0.95)?;
        let (z, dim) = slope_features(prepared, &head, &crossed);
        crossed.select_slopes(&z, dim, &prepared.fold, prepared.folds);
        if !prepared.attributes.is_empty() {
            step(progress, "multilevel: groups of annotators", 0.97)?;
            let fold = (prepared.fold.as_slice(), prepared.folds);
            crossed.select_group_slopes(prepared.attributes, (&z, dim), fold, options.seed, progress);
            step(progress, "multilevel: groups of annotators", 0.99)?;
        }
    }
    Ok((head, crossed))
}

/// Scores of labelled texts from the head that did not see them; of all others from the head that saw all
/// labels.
fn out_of_fold(link: Link, prepared: &Prepared<'_>, cross: &CrossFit) -> Vec<f64> {
    let q = link.scores();
    let mut scores = scores_of(link, prepared, &cross.whole.weights);
    let mut labelled = vec![false; prepared.x.texts];
    prepared.observations.iter().for_each(|o| labelled[o.text as usize] = true);
    for (f, head) in cross.heads.iter().enumerate() {
        let held_out = scores_of(link, prepared, &head.weights);
        for text in (0..prepared.x.texts).filter(|&t| labelled[t] && usize::from(prepared.fold[t]) == f) {
            scores[text * q..(text + 1) * q].copy_from_slice(&held_out[text * q..(text + 1) * q]);
        }
    }
    scores
}

fn fit_text_scores(
    prepared: &Prepared<'_>,
    crossed: &mut CrossedEffects,
    progress: &dyn Progress,
) -> Option<TextScores> {
    if prepared.x.dim == 0 {
        return None;
    }
    let texts = Texts {
        rotated: &prepared.x.rows,
        embeddings: prepared.embeddings,
        scale: prepared.x.scale * prepared.x.scale,
        fold: &prepared.fold,
        folds: prepared.folds,
    };
    text_scores::fit(crossed, texts, progress)
}

fn encoder(link: Link, prepared: &Prepared<'_>, cross: &CrossFit, crossed: &CrossedEffects) -> TextScorer {
    let (q, dim) = (link.scores(), prepared.x.dim);
    let (weights, constants) = raw_weights(link, prepared, &cross.whole.weights);
    let (mut axes, mut axis_constants) = (Vec::new(), Vec::new());
    for j in 0..slope_axes(prepared) {
        let mut pick = vec![0.0; dim];
        pick[j] = 1.0 / prepared.x.explained_variance[j].sqrt();
        let (w, k) = prepared.x.to_raw_weights(&pick);
        axes.extend(w);
        axis_constants.push(k - mean_over_labels(crossed, |text| axis(prepared, text, j)));
    }
    let texts = crossed.texts().max(1) as f64;
    let text_mean = (0..crossed.texts()).map(|t| crossed.scores[t * q]).sum::<f64>() / texts;
    let score_variance =
        (0..crossed.texts()).map(|t| (crossed.scores[t * q] - text_mean).powi(2)).sum::<f64>() / texts;
    let score_mean = mean_over_labels(crossed, |text| crossed.scores[text * q]);
    let score_scale = if score_variance > 1e-9 { score_variance.sqrt().recip() } else { 0.0 };
    TextScorer {
        dim,
        weights,
        constants,
        axes,
        axis_constants,
        score_mean,
        score_scale,
        similar: None,
        ngrams: None,
        scale: None,
    }
}

/// Weights (q x dim) and constants over raw embeddings.
fn raw_weights(link: Link, prepared: &Prepared<'_>, rotated: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let dim = prepared.x.dim;
    let (mut weights, mut constants) = (Vec::new(), Vec::new());
    for c in 0..link.scores() {
        let (w, k) = prepared.x.to_raw_weights(&rotated[c * dim..(c + 1) * dim]);
        weights.extend(w);
        constants.push(k);
    }
    (weights, constants)
}

fn slope_axes(prepared: &Prepared<'_>) -> usize {
    prepared.x.explained_variance.iter().take(SLOPE_AXES).take_while(|s| **s > 1e-9).count()
}

/// Coordinate of a text on a principal axis, in standard deviations of all texts.
fn axis(prepared: &Prepared<'_>, text: usize, j: usize) -> f64 {
    prepared.x.row(text)[j] / prepared.x.explained_variance[j].sqrt()
}

/// The mean over all labels of a value of their texts; 0 without labels.
fn mean_over_labels(crossed: &CrossedEffects, of_text: impl Fn(usize) -> f64) -> f64 {
    let counted = |(sum, n): (f64, f64), text: usize| {
        let labels = crossed.labels[text].len() as f64;
        if labels > 0.0 { (sum + labels * of_text(text), n + labels) } else { (sum, n) }
    };
    let (sum, n) = (0..crossed.texts()).fold((0.0, 0.0), counted);
    if n > 0.0 { sum / n } else { 0.0 }
}

/// The shared score and the first principal axes, each of unit variance over texts and of mean 0 over labels,
/// so that a slope changes how an annotator's answers vary from text to text, and only the severity changes
/// their overall level.
fn slope_features(prepared: &Prepared<'_>, head: &TextScorer, crossed: &CrossedEffects) -> (Vec<f64>, usize) {
    let (axes, q) = (slope_axes(prepared), crossed.link.scores());
    let means: Vec<f64> =
        (0..axes).map(|j| mean_over_labels(crossed, |text| axis(prepared, text, j))).collect();
    let mut z = Vec::with_capacity(crossed.texts() * (axes + 1));
    for text in 0..crossed.texts() {
        z.push((crossed.scores[text * q] - head.score_mean) * head.score_scale);
        z.extend(means.iter().enumerate().map(|(j, mean)| axis(prepared, text, j) - mean));
    }
    (z, axes + 1)
}

impl AnnotatorModel for Multilevel {
    fn kind(&self) -> ModelKind {
        ModelKind::Multilevel
    }

    fn levels(&self) -> usize {
        self.crossed.link.levels
    }

    fn texts(&self) -> usize {
        self.crossed.texts()
    }

    fn annotators(&self) -> usize {
        self.crossed.annotators.len()
    }

    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]) {
        let t = text as usize;
        self.predictor(annotator).fill(&self.columns, t..t + 1, out, &mut Scratch::default());
    }

    fn predict_new_text(
        &self,
        text: TextFeatures<'_>,
        annotator: u32,
        out: &mut [f32],
    ) -> Result<(), ModelError> {
        let (u, z) = self.head.apply(text, self.crossed.slope_dim)?;
        let column = TextColumns::one(&u, self.crossed.text_var, noise(self.head.log_scale(text)), &z);
        self.predictor(annotator).fill(&column, 0..1, out, &mut Scratch::default());
        Ok(())
    }

    fn predict_column(&self, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.predictor(annotator).fill(&self.columns, texts, out, &mut Scratch::default());
    }

    fn knows(&self, annotator: u32) -> bool {
        !self.labels_of(annotator).is_empty()
    }

    fn predict_new_annotator(&self, text: u32, attributes: &[Option<u16>], out: &mut [f32]) {
        let t = text as usize;
        let predictor = AnnotatorPredictor::from_attributes(&self.crossed, attributes);
        predictor.fill(&self.columns, t..t + 1, out, &mut Scratch::default());
    }

    fn predict_without_groups(&self, text: u32, annotator: u32, out: &mut [f32]) -> bool {
        let Some(predictor) = self.without_groups.get(annotator as usize) else { return false };
        let t = text as usize;
        predictor.fill(&self.columns, t..t + 1, out, &mut Scratch::default());
        true
    }

    fn attribute_evidence(&self) -> Option<AttributeEvidence> {
        self.crossed.attribute_evidence
    }

    fn node_weights(&self) -> Vec<f64> {
        self.nodes.iter().map(|node| node.weight).collect()
    }

    fn predict_column_at_node(&self, node: usize, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.predictor(annotator).fill(&self.nodes[node].columns, texts, out, &mut Scratch::default());
    }
}
