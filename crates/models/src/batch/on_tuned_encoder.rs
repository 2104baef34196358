//! `multilevel` on an encoder that was tuned on labels of some of the texts.
//!
//! The embedding of a text that tuned the encoder contains information about the text's labels. Used
//! directly, it makes texts appear fully explained by their embeddings, scores of new texts overconfident,
//! and annotators alike. Therefore:
//!
//! 1. The labels of those texts are fitted without their embeddings: text effects around scores from the
//!    text's character n-grams (each from a fit without the text), with a variance of their own. This gives
//!    annotators, and a head on the embeddings for every penalty.
//! 2. The head's score of a text is calibrated on labels of texts that did not tune the encoder (held-out
//!    calibration of a network's scores; Guo et al. 2017, On calibration of modern neural networks, extended
//!    to several scores as in stacking: Wolpert 1992). The calibrated score is
//!    `a + b score + c n-grams + w.x`, with a ridge penalty under which `w` is small; the penalty of the
//!    head, the use of n-grams, and the penalty of the calibration are chosen by cross-validation over those
//!    texts.
//! 3. Annotators and variances are estimated once more from all labels. New texts are predicted with the text
//!    variance of texts that did not tune the encoder.

use super::Prepared;
use crate::linear::pca::PcaEmbeddings;
use crate::linear::ridge::{CrossFit, LinearHead, RidgeProblem};
use crate::link::Link;
use crate::mixed::convergence::{FINAL, ROUGH};
use crate::mixed::text_scores;
use crate::mixed::text_scores::{NgramWeights, Texts};
use crate::mixed::{CrossedEffects, MIN_CALIBRATION_LABELS, MIN_CALIBRATION_TEXTS};
use dissensus_stats::data::copies::Copies;
use dissensus_stats::data::progress::{Progress, step};
use dissensus_stats::data::{Embeddings, FitOptions, ModelError, Observation};
use dissensus_stats::math::{attenuation, dot};
use std::collections::HashSet;

/// Spread of scores relative to that of embeddings in a calibration: the penalty of their coefficients is
/// smaller by its square.
const SCORE_SCALE: f64 = 5.0;

/// Marks the texts that tuned the encoder, including copies, which have the same embedding; `None` where none
/// did.
pub(crate) fn texts_tuned_on(embeddings: &Embeddings) -> Option<Vec<bool>> {
    let tuned_on = embeddings.tuned_on.as_ref().filter(|_| embeddings.dim > 0)?;
    Some(Copies::by_embedding(embeddings).spread(tuned_on))
}

/// Number of distinct texts among those of `labels` that did not tune the encoder, and number of their
/// labels. Texts with the same embedding count once, and not at all if one of them tuned the encoder.
pub fn calibration_texts(embeddings: &Embeddings, labels: &[Observation]) -> (usize, usize) {
    let copies = Copies::by_embedding(embeddings);
    let tuned_on = embeddings.tuned_on.as_ref().map(|tuned_on| copies.spread(tuned_on));
    let others: Vec<u32> = labels
        .iter()
        .filter(|o| tuned_on.as_ref().is_none_or(|tuned_on| !tuned_on[o.text as usize]))
        .map(|o| copies.first(o.text))
        .collect();
    (others.iter().collect::<HashSet<_>>().len(), others.len())
}

/// Whether `observations` include enough labels of enough texts that did not tune the encoder.
pub(crate) fn can_be_calibrated(embeddings: &Embeddings, observations: &[Observation]) -> bool {
    let (texts, labels) = calibration_texts(embeddings, observations);
    texts >= MIN_CALIBRATION_TEXTS && labels >= MIN_CALIBRATION_LABELS
}

/// Effects and heads fitted to the labels of texts that tuned the encoder.
pub(crate) struct TunedFit {
    link: Link,
    tuned_on: Vec<bool>,
    /// Effects of these labels, without embeddings; the scores of all texts come from n-grams.
    effects: CrossedEffects,
    words: Option<Words>,
    /// A head for every penalty.
    heads: Vec<LinearHead>,
}

/// Scores from character n-grams.
struct Words {
    weights: NgramWeights,
    constant: f64,
}

/// Scores that are calibrated on texts which did not tune the encoder, and the effects around them.
pub(crate) struct CalibratedFit {
    /// q x dim over raw embeddings.
    pub(crate) weights: Vec<f64>,
    pub(crate) constants: Vec<f64>,
    pub(crate) ngrams: Option<NgramWeights>,
    pub(crate) crossed: CrossedEffects,
}

/// Candidate settings of a calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Choice {
    /// Index of the head.
    head: usize,
    words: bool,
    embeddings: bool,
}

/// A calibration: its features of all texts, and the fitted coefficients.
struct Calibration {
    choice: Choice,
    x: PcaEmbeddings,
    /// Mean and multiplier of each score among the features.
    scales: Vec<(f64, f64)>,
    cross: CrossFit,
    score: f64,
}

impl TunedFit {
    /// Fits the `observations` (ordered) of texts that tuned the encoder.
    pub(crate) fn new(
        prepared: &Prepared<'_>,
        tuned_on: Vec<bool>,
        observations: &[Observation],
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let link = Link::new(prepared.target);
        let own = observations.iter().filter(|o| tuned_on[o.text as usize]);
        let observations: Vec<Observation> = own.copied().collect();
        step(progress, "multilevel: labels that tuned the encoder", 0.0)?;
        let scores = vec![0.0; prepared.x.texts * link.scores()];
        let mut effects = CrossedEffects::new(link, scores, prepared.annotators, &observations);
        effects.expectation_maximisation(ROUGH);
        step(progress, "multilevel: words", 0.1)?;
        let words = if options.text_scores { words(prepared, &mut effects, progress)? } else { None };
        if words.is_some() {
            effects.expectation_maximisation(ROUGH);
        }
        step(progress, "multilevel: shared head", 0.3)?;
        let problem = RidgeProblem {
            link,
            x: &prepared.x,
            observations: &observations,
            random_effects: &effects.threshold_effects(),
            attenuation: attenuation(effects.mean_score_variance()),
            around: &[],
        };
        let heads = problem.path();
        Ok(Self { link, tuned_on, words, heads, effects })
    }

    /// Calibrates on those of `observations` (ordered) whose texts did not tune the encoder; effects are
    /// estimated from all of them.
    pub(crate) fn calibrate(
        &self,
        prepared: &Prepared<'_>,
        observations: &[Observation],
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<CalibratedFit, ModelError> {
        let link = self.link;
        let others = observations.iter().filter(|o| !self.tuned_on[o.text as usize]);
        let others: Vec<Observation> = others.copied().collect();
        step(progress, "multilevel: calibration on other texts", 0.5)?;
        let random_effects = self.effects.threshold_effects();
        let variance = crate::mixed::initial_score_variance(link);
        let mut problem = CalibrationProblem {
            fit: self,
            prepared,
            observations: &others,
            random_effects,
            attenuation: attenuation(variance),
        };
        let choice = problem.choose(progress)?;
        let rounds = options.rounds.max(1);
        let mut last = None;
        for round in 0..rounds {
            step(progress, "multilevel: annotators", 0.6 + 0.3 * round as f32 / rounds as f32)?;
            // Both are as large as the embeddings: the previous one is dropped first.
            drop(last.take());
            let calibration = problem.with_embeddings(choice)?;
            let mut crossed = self.effects_around(&calibration, prepared, observations, &others);
            crossed.expectation_maximisation(if round + 1 < rounds { ROUGH } else { FINAL });
            problem.random_effects = crossed.threshold_effects();
            problem.attenuation = attenuation(crossed.mean_score_variance());
            last = Some((calibration, crossed));
        }
        let Some((calibration, crossed)) = last else { return Err(ModelError::Cancelled) };
        let (weights, constants, ngrams) = self.raw(&calibration, prepared);
        Ok(CalibratedFit { weights, constants, ngrams, crossed })
    }

    /// Effects of all labels: around calibrated scores, or around scores from n-grams for texts that tuned
    /// the encoder.
    fn effects_around(
        &self,
        calibration: &Calibration,
        prepared: &Prepared<'_>,
        observations: &[Observation],
        others: &[Observation],
    ) -> CrossedEffects {
        let (link, q) = (self.link, self.link.scores());
        let fixed_effects = &calibration.cross.whole.link_parameters;
        // The two estimations have different intercepts, which must be combined.
        let mut counts = [vec![0.0; link.levels], vec![0.0; link.levels]];
        self.effects.labels.iter().flatten().for_each(|label| counts[0][usize::from(label.level)] += 1.0);
        others.iter().for_each(|o| counts[1][usize::from(o.level)] += 1.0);
        let shift = difference(link, [&self.effects.fixed_effects, fixed_effects], &counts);
        let mut labelled = vec![false; prepared.x.texts];
        others.iter().for_each(|o| labelled[o.text as usize] = true);
        let mut scores = Vec::with_capacity(prepared.x.texts * q);
        for (text, &labelled) in labelled.iter().enumerate() {
            if self.tuned_on[text] {
                let own = &self.effects.scores[text * q..(text + 1) * q];
                scores.extend(own.iter().zip(&shift).map(|(score, shift)| score + shift));
                continue;
            }
            let cross = &calibration.cross;
            let fold = usize::from(prepared.fold[text]);
            let head = if labelled { &cross.heads[fold] } else { &cross.whole };
            let (dim, x) = (calibration.x.dim, calibration.x.row(text));
            scores.extend((0..q).map(|c| dot(&head.weights[c * dim..(c + 1) * dim], x)));
        }
        let mut crossed = CrossedEffects::new(link, scores, prepared.annotators, observations);
        crossed.tuned_on.clone_from(&self.tuned_on);
        crossed.tuned_on_text_var = self.effects.text_var;
        crossed.prior.clone_from(&self.effects.prior);
        crossed.fixed_effects.clone_from(fixed_effects);
        crossed.reset_annotators();
        crossed
    }

    /// Weights and constants over raw embeddings, and n-grams' weights, that give calibrated scores.
    fn raw(
        &self,
        calibration: &Calibration,
        prepared: &Prepared<'_>,
    ) -> (Vec<f64>, Vec<f64>, Option<NgramWeights>) {
        let (q, dim) = (self.link.scores(), prepared.x.dim);
        let head = &self.heads[calibration.choice.head];
        let (mut weights, mut constants, mut ngrams) = (Vec::new(), Vec::new(), None);
        let columns = calibration.x.dim;
        for c in 0..q {
            let own = &calibration.cross.whole.weights[c * columns..(c + 1) * columns];
            let (raw, mut constant) = calibration.x.to_raw_weights(own);
            let mut rotated = vec![0.0; dim];
            for (j, (mean, scale)) in calibration.scales.iter().enumerate() {
                let factor = raw[j] * scale;
                constant -= factor * mean;
                if j < q {
                    dissensus_stats::math::axpy(factor, &head.weights[j * dim..(j + 1) * dim], &mut rotated);
                } else if let Some(words) = &self.words {
                    constant += factor * words.constant;
                    ngrams = Some(words.weights.clone().scaled(factor));
                }
            }
            if calibration.choice.embeddings {
                dissensus_stats::math::axpy(1.0, &raw[calibration.scales.len()..], &mut rotated);
            }
            let (own, offset) = prepared.x.to_raw_weights(&rotated);
            weights.extend(own);
            constants.push(constant + offset);
        }
        (weights, constants, ngrams)
    }
}

/// Labels of texts that did not tune the encoder, and the effects of their annotators.
struct CalibrationProblem<'a> {
    fit: &'a TunedFit,
    prepared: &'a Prepared<'a>,
    observations: &'a [Observation],
    random_effects: Vec<f64>,
    attenuation: f64,
}

impl CalibrationProblem<'_> {
    /// Chooses the head, and whether to use n-grams with it, that predict held-out texts best once
    /// calibrated.
    fn choose(&self, progress: &dyn Progress) -> Result<Choice, ModelError> {
        let mut best: Option<(f64, Choice)> = None;
        let heads = self.fit.heads.len();
        for head in 0..heads {
            step(progress, "multilevel: calibration on other texts", 0.5 + 0.1 * head as f32 / heads as f32)?;
            for words in [false, true] {
                if words && self.fit.words.is_none() {
                    continue;
                }
                let choice = Choice { head, words, embeddings: false };
                let score = self.calibration(choice)?.score;
                if best.is_none_or(|(least, _)| score > least) {
                    best = Some((score, choice));
                }
            }
        }
        Ok(best.map_or(Choice { head: 0, words: false, embeddings: false }, |(_, choice)| choice))
    }

    /// The calibration with this choice, with embeddings in addition to the scores where that predicts
    /// held-out texts better.
    fn with_embeddings(&self, choice: Choice) -> Result<Calibration, ModelError> {
        let plain = self.calibration(choice)?;
        let with = self.calibration(Choice { embeddings: true, ..choice })?;
        Ok(if with.score > plain.score { with } else { plain })
    }

    fn calibration(&self, choice: Choice) -> Result<Calibration, ModelError> {
        let (rows, scales, columns) = self.features(choice);
        let x = PcaEmbeddings::new(&Embeddings::new(columns, rows)?);
        let problem = RidgeProblem {
            link: self.fit.link,
            x: &x,
            observations: self.observations,
            random_effects: &self.random_effects,
            attenuation: self.attenuation,
            // Parameters that labels of so few texts do not identify, such as those of an unused level, come
            // from the other labels.
            around: &self.fit.effects.fixed_effects,
        };
        let cross = problem.cross_fit(&self.prepared.fold, self.prepared.folds);
        let score = problem.held_out_score(&cross, &self.prepared.fold);
        Ok(Calibration { choice, x, scales, cross, score })
    }

    /// Features of every text: the head's scores and the scores from n-grams, each scaled to the same spread
    /// over the texts to calibrate on, and the embedding.
    fn features(&self, choice: Choice) -> (Vec<f32>, Vec<(f64, f64)>, usize) {
        let (fit, x) = (self.fit, &self.prepared.x);
        let (q, dim, texts) = (fit.link.scores(), x.dim, x.texts);
        let head = &fit.heads[choice.head];
        let mut scores: Vec<Vec<f64>> = (0..q)
            .map(|c| (0..texts).map(|t| dot(&head.weights[c * dim..(c + 1) * dim], x.row(t))).collect())
            .collect();
        if choice.words {
            scores.push(fit.effects.scores.clone());
        }
        let scales: Vec<(f64, f64)> = scores.iter().map(|score| self.scale(score)).collect();
        let columns = scores.len() + if choice.embeddings { dim } else { 0 };
        let mut rows = Vec::with_capacity(texts * columns);
        for text in 0..texts {
            rows.extend(scores.iter().zip(&scales).map(|(s, (mean, by))| ((s[text] - mean) * by) as f32));
            if choice.embeddings {
                rows.extend(x.row(text).iter().map(|x| *x as f32));
            }
        }
        (rows, scales, columns)
    }

    /// Mean of a score over the texts to calibrate on, and the factor that scales its standard deviation to
    /// [`SCORE_SCALE`].
    fn scale(&self, score: &[f64]) -> (f64, f64) {
        let texts: Vec<usize> =
            self.observations.chunk_by(|a, b| a.text == b.text).map(|group| group[0].text as usize).collect();
        let n = texts.len().max(1) as f64;
        let mean = texts.iter().map(|&t| score[t]).sum::<f64>() / n;
        let variance = texts.iter().map(|&t| (score[t] - mean).powi(2)).sum::<f64>() / n;
        (mean, if variance > 1e-12 { SCORE_SCALE / variance.sqrt() } else { 0.0 })
    }
}

/// Scores of all texts from character n-grams, which become the effects' prior means; labelled texts are
/// scored by fits without them.
fn words(
    prepared: &Prepared<'_>,
    effects: &mut CrossedEffects,
    progress: &dyn Progress,
) -> Result<Option<Words>, ModelError> {
    let Some(ngrams) = &prepared.embeddings.ngrams else { return Ok(None) };
    // One number that distinguishes copies from other texts replaces the embeddings.
    let copies = Copies::by_embedding(prepared.embeddings);
    let texts = prepared.embeddings.texts;
    let which = (0..texts as u32).map(|text| copies.first(text) as f32);
    let embeddings = Embeddings::new(1, which.collect())?.with_ngrams(ngrams.clone())?;
    let nothing = vec![0.0; texts];
    let texts = Texts {
        rotated: &nothing,
        embeddings: &embeddings,
        scale: 0.0,
        fold: &prepared.fold,
        folds: prepared.folds,
    };
    let Some(found) = text_scores::fit(effects, texts, progress) else { return Ok(None) };
    let constant = found.similar.predict(&[0.0]);
    Ok(found.ngrams.map(|weights| Words { weights, constant }))
}

/// Shift that converts scores relative to the first of two lists of link parameters to the second: the mean
/// difference of the intercepts, each weighted by its information in the labels of both sides (`counts` of
/// each level); for choice scales each score's own difference, and for a level that one side has not used the
/// mean of the others'.
fn difference(link: Link, parameters: [&[f64]; 2], counts: &[Vec<f64>; 2]) -> Vec<f64> {
    let intercepts = parameters.map(|parameters| {
        let mut of = vec![0.0; link.intercepts()];
        link.intercepts_of(parameters, &[], &mut of);
        of
    });
    let differences: Vec<f64> = intercepts[0].iter().zip(&intercepts[1]).map(|(a, b)| a - b).collect();
    // Information of a side's labels about an intercept, in units of labels: that of a share of all of them.
    let information = |counts: &[f64], intercept: usize| {
        let all: f64 = counts.iter().sum();
        let of: f64 = if link.softmax { counts[intercept] } else { counts[intercept + 1..].iter().sum() };
        of * (all - of) / all.max(1.0)
    };
    let weights: Vec<f64> = (0..differences.len())
        .map(|at| {
            let [a, b] = [information(&counts[0], at), information(&counts[1], at)];
            if a > 0.0 && b > 0.0 { a * b / (a + b) } else { 0.0 }
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    let mean = if sum > 0.0 {
        dot(&weights, &differences) / sum
    } else {
        differences.iter().sum::<f64>() / differences.len().max(1) as f64
    };
    if link.softmax {
        let own = differences.iter().zip(&weights);
        return own.map(|(difference, weight)| if *weight > 0.0 { *difference } else { mean }).collect();
    }
    vec![mean]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Multilevel, fit_at_face_value, validation_scores};
    use crate::mixed::text_scale_simulation::fitted_scales;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::{Target, TrainingData};
    use dissensus_stats::math::random::generator;
    use dissensus_stats::math::sigmoid;
    use dissensus_stats::metrics::{Scored, expected_calibration_error, log_loss, pearson, score};
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    const TRAIN: usize = 800;
    const VALIDATION: usize = 200;
    const TEST: usize = 1500;
    const ANNOTATORS: usize = 60;
    const TEXT_SD: f64 = 0.9;
    const ANNOTATOR_SD: f64 = 1.2;

    /// Labels, five per text, and embeddings of an encoder that has partly memorised the labels of the first
    /// texts.
    struct World {
        train: Vec<Observation>,
        validation: Vec<Observation>,
        test: Vec<Observation>,
        severity: Vec<f64>,
        /// For every text, the signal that an encoder can learn, and the part of its labels beyond it, in
        /// logits.
        signal: Vec<f64>,
        beyond: Vec<f64>,
        noise: Vec<f64>,
    }

    impl World {
        fn new(seed: u64) -> Self {
            let mut rng = generator(seed, 9);
            let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
            let severity: Vec<f64> = (0..ANNOTATORS).map(|_| ANNOTATOR_SD * normal()).collect();
            let texts = TRAIN + VALIDATION + TEST;
            let signal: Vec<f64> = (0..texts).map(|_| 1.3 * normal()).collect();
            let own: Vec<f64> = (0..texts).map(|_| TEXT_SD * normal()).collect();
            let noise: Vec<f64> = (0..texts * 11).map(|_| normal()).collect();
            let mut rng = generator(seed, 10);
            let mut world = Self {
                train: Vec::new(),
                validation: Vec::new(),
                test: Vec::new(),
                severity,
                signal,
                beyond: vec![0.0; texts],
                noise,
            };
            for (text, own) in own.iter().enumerate() {
                let first = rng.random_range(0..ANNOTATORS);
                let mut surprise = 0.0;
                for i in 0..5 {
                    let annotator = (first + i * 7) % ANNOTATORS;
                    let u = world.signal[text] + world.severity[annotator];
                    let yes = rng.random::<f64>() < sigmoid(u + own);
                    surprise += f64::from(u8::from(yes)) - sigmoid(u);
                    let part = if text < TRAIN {
                        &mut world.train
                    } else if text < TRAIN + VALIDATION {
                        &mut world.validation
                    } else {
                        &mut world.test
                    };
                    let level = u16::from(yes);
                    part.push(Observation { text: text as u32, annotator: annotator as u32, level });
                }
                world.beyond[text] = surprise;
            }
            for part in [&mut world.train, &mut world.validation, &mut world.test] {
                part.sort_unstable();
            }
            world
        }

        /// `by_heart` is what one label beyond expectation adds to the signal of a training text; texts that
        /// were not learned get as much noise.
        fn embeddings(&self, by_heart: f64) -> Embeddings {
            let mut rows = Vec::new();
            for text in 0..self.signal.len() {
                let own = &self.noise[text * 11..(text + 1) * 11];
                let learned = if text < TRAIN { self.beyond[text] } else { own[10] };
                rows.push((0.1 * (self.signal[text] + by_heart * learned)) as f32);
                rows.extend(own[..10].iter().map(|x| (0.1 * x) as f32));
            }
            let tuned_on: Vec<bool> = (0..self.signal.len()).map(|text| text < TRAIN).collect();
            Embeddings::new(11, rows).unwrap().with_tuned_on(tuned_on.into()).unwrap()
        }
    }

    fn data<'a>(embeddings: &'a Embeddings, observations: &'a [Observation]) -> TrainingData<'a> {
        let target = Target { kind: TargetKind::Binary, levels: 2 };
        TrainingData { embeddings, observations, annotators: ANNOTATORS, target, attributes: &[] }
    }

    fn ece(scored: &Scored) -> f64 {
        expected_calibration_error(scored, 10)
    }

    #[test]
    fn new_texts_are_predicted_with_calibrated_certainty() {
        let world = World::new(1);
        let embeddings = world.embeddings(1.0);
        let labels = [world.train.clone(), world.validation.clone()].concat();
        let options = FitOptions::default();
        let prepared = Prepared::new(&data(&embeddings, &labels), &options).unwrap();
        let calibrated = Multilevel::fit(&prepared, &options, &Silent).unwrap();
        let text_sd = calibrated.crossed.text_var.sqrt();
        // Unknown are the text's own effect, and which part of a new text's score is noise.
        let unknown = (TEXT_SD.powi(2) + 1.0 / (1.0 / 1.3f64.powi(2) + 1.0)).sqrt();
        assert!((text_sd / unknown - 1.0).abs() < 0.15, "{text_sd} {unknown}");
        let scored = score(&calibrated, &world.test);
        assert!(ece(&scored) < 0.03, "{}", ece(&scored));

        let plain = Embeddings { tuned_on: None, ..embeddings.clone() };
        let prepared = Prepared::new(&data(&plain, &world.train), &options).unwrap();
        let (head, crossed) = fit_at_face_value(&prepared, &options, &Silent).unwrap();
        let naive = Multilevel::from_parts(head, crossed);
        let naively = score(&naive, &world.test);
        assert!(naive.crossed.text_var.sqrt() < 0.6 * text_sd, "{}", naive.crossed.text_var);
        assert!(ece(&naively) > 0.04, "{}", ece(&naively));
        assert!(
            log_loss(&scored) < log_loss(&naively) - 0.01,
            "{} {}",
            log_loss(&scored),
            log_loss(&naively)
        );

        let severity: Vec<f64> = calibrated.crossed.annotators.iter().map(|a| a.theta[0]).collect();
        assert!(pearson(&severity, &world.severity).unwrap() > 0.95);
        let sd = calibrated.crossed.prior[0].sqrt();
        assert!((sd / ANNOTATOR_SD - 1.0).abs() < 0.2, "{sd}");
    }

    /// The embedding of a text that tuned the encoder contains information about the spread of its labels,
    /// unlike that of a new text.
    #[test]
    fn tuned_embeddings_do_not_predict_scales() {
        let (simulated, embeddings) = fitted_scales(0.4, 0);
        let labels: Vec<Observation> = simulated
            .labels
            .iter()
            .enumerate()
            .flat_map(|(text, labels)| {
                let text = text as u32;
                labels.iter().map(move |l| Observation { text, annotator: l.annotator, level: l.level })
            })
            .collect();
        let options = FitOptions::default();
        let tells = |tuned_on: Option<Vec<bool>>| {
            let embeddings = Embeddings { tuned_on: tuned_on.map(Into::into), ..embeddings.clone() };
            let target = Target { kind: TargetKind::Ordinal, levels: 5 };
            let data = TrainingData {
                embeddings: &embeddings,
                observations: &labels,
                annotators: 60,
                target,
                attributes: &[],
            };
            let prepared = Prepared::new(&data, &options).unwrap();
            fit_at_face_value(&prepared, &options, &Silent).unwrap().0.has_scale_information()
        };
        assert!(tells(None));
        assert!(tells(Some(vec![false; embeddings.texts])));
        assert!(!tells(Some((0..embeddings.texts).map(|text| text % 2 == 0).collect())));
    }

    /// Epochs after the first memorise training texts, and predict others less well.
    #[test]
    fn overfitted_epoch_gets_an_unbiased_score() {
        let world = World::new(2);
        let options = FitOptions::default();
        let mut before = 0.0;
        for by_heart in [0.3, 0.8, 1.6] {
            let embeddings = world.embeddings(by_heart);
            let shown =
                validation_scores(&data(&embeddings, &world.train), &world.validation, &options, &Silent)
                    .unwrap();
            assert_eq!(shown.observations, world.validation);
            let labels = [world.train.clone(), world.validation.clone()].concat();
            let prepared = Prepared::new(&data(&embeddings, &labels), &options).unwrap();
            let model = Multilevel::fit(&prepared, &options, &Silent).unwrap();
            let (shown, is) = (log_loss(&shown), log_loss(&score(&model, &world.test)));
            assert!((shown - is).abs() < 0.025, "{by_heart}: {shown} {is}");
            assert!(shown > before, "{by_heart}: {shown} {before}");
            before = shown;
        }
    }

    #[test]
    fn missing_calibration_texts_are_reported() {
        let world = World::new(3);
        let embeddings = world.embeddings(1.0);
        let options = FitOptions::default();
        let fit = |labels: &[Observation]| {
            let prepared = Prepared::new(&data(&embeddings, labels), &options).unwrap();
            Multilevel::fit(&prepared, &options, &Silent).unwrap().crossed.estimation().limits
        };
        let limit = crate::mixed::EstimationLimit::TunedOnAllTexts;
        assert!(fit(&world.train).contains(&limit));
        let few =
            [world.train.clone(), world.validation[..5 * (MIN_CALIBRATION_TEXTS - 1)].to_vec()].concat();
        assert!(fit(&few).contains(&limit));
        let enough = [world.train.clone(), world.validation[..5 * MIN_CALIBRATION_TEXTS].to_vec()].concat();
        assert!(!fit(&enough).contains(&limit));
        // As many texts with one label each carry less information, and so do as many labels of few texts.
        let one_each: Vec<Observation> =
            world.validation.chunk_by(|a, b| a.text == b.text).map(|group| group[0]).take(149).collect();
        assert!(one_each.len() > MIN_CALIBRATION_TEXTS);
        assert!(!can_be_calibrated(&embeddings, &[world.train.clone(), one_each].concat()));
        // Labels of only the other texts need no calibration.
        assert!(!fit(&world.validation).contains(&limit));
    }

    #[test]
    fn calibration_counts_equal_texts_once() {
        let x = Embeddings::new(1, vec![1.0, 2.0, 1.0, 3.0, 2.0]).unwrap();
        let labels: Vec<Observation> =
            (0..10).map(|i| Observation { text: i / 2, annotator: i % 2, level: 0 }).collect();
        assert_eq!(calibration_texts(&x, &labels), (3, 10));
        let x = x.with_tuned_on([true, false, false, false, false].into()).unwrap();
        assert_eq!(calibration_texts(&x, &labels), (2, 6));
    }

    /// The validation texts include training texts of a parent encoder, whose embeddings contain information
    /// about their labels.
    #[test]
    fn labels_seen_by_a_parent_encoder_are_not_scored() {
        let world = World::new(4);
        let learned = TRAIN + 50;
        let before: Vec<bool> = (0..world.signal.len()).map(|text| text < learned).collect();
        let embeddings = world.embeddings(1.0).with_tuned_on(before.into()).unwrap();
        let own: Vec<Observation> =
            world.validation.iter().filter(|o| o.text as usize >= learned).copied().collect();
        let options = FitOptions::default();
        for (validation, scored) in [
            (&world.validation[..], &own[..]),
            // Too few to calibrate on: scored by the model of the training labels, still without texts that
            // the encoder learned.
            (&world.validation[..51 * 5], &own[..5]),
            // There are no other labels.
            (&world.validation[..5], &world.validation[..5]),
        ] {
            let found =
                validation_scores(&data(&embeddings, &world.train), validation, &options, &Silent).unwrap();
            assert_eq!(found.observations, scored);
        }
    }

    /// In three such worlds 30 texts with five labels each gained 0.050 to 0.052 nats per label, 150 texts
    /// with one 0.050 to 0.066, and 30 texts with one 0.033, 0.017 and -0.011, which is why labels are
    /// counted too.
    #[test]
    fn calibration_on_thirty_texts_improves_the_loss() {
        let options = FitOptions::default();
        let world = World::new(5);
        let embeddings = world.embeddings(1.0);
        let plain = Embeddings { tuned_on: None, ..embeddings.clone() };
        let labels = [&world.train[..], &world.validation[..MIN_CALIBRATION_LABELS]].concat();
        let loss = |embeddings: &Embeddings| {
            let prepared = Prepared::new(&data(embeddings, &labels), &options).unwrap();
            let model = Multilevel::fit(&prepared, &options, &Silent).unwrap();
            assert!(!model.crossed.too_few_untuned);
            log_loss(&score(&model, &world.test))
        };
        let (calibrated, naive) = (loss(&embeddings), loss(&plain));
        assert!(calibrated < naive - 0.02, "{calibrated} {naive}");
    }

    #[test]
    fn unused_level_does_not_shift_scores() {
        let ordinal = Link::new(Target { kind: TargetKind::Ordinal, levels: 4 });
        // Intercepts 2, 0, -3 against 1.7, -0.3, -9: the highest level is unused on the second side.
        let first = [2.0, 2.0f64.ln(), 3.0f64.ln()];
        let second = [1.7, 2.0f64.ln(), 8.7f64.ln()];
        let used = vec![100.0, 300.0, 100.0, 20.0];
        let shift = difference(ordinal, [&first, &second], &[used.clone(), vec![10.0, 30.0, 10.0, 0.0]]);
        assert!((shift[0] - 0.3).abs() < 1e-9, "{shift:?}");
        let choice = Link::new(Target { kind: TargetKind::Nominal, levels: 3 });
        let counts = [vec![50.0, 30.0, 5.0], vec![20.0, 30.0, 0.0]];
        let shift = difference(choice, [&[1.0, 1.5, -3.0], &[0.6, 1.1, -8.0]], &counts);
        assert!(shift.iter().all(|shift| (shift - 0.4).abs() < 1e-9), "{shift:?}");
        // Without information on either side, the plain mean.
        let nothing = [vec![0.0; 4], vec![0.0; 4]];
        let shift = difference(ordinal, [&first, &second], &nothing);
        assert!((shift[0] - 6.6 / 3.0).abs() < 1e-9, "{shift:?}");
    }

    /// The last level is rare, and missing among the labels to calibrate on.
    #[test]
    fn level_missing_in_calibration_is_predicted_at_its_rate() {
        for kind in [TargetKind::Ordinal, TargetKind::Nominal] {
            let levels = if kind == TargetKind::Ordinal { 4 } else { 3 };
            let (train, others, test) = (600, 60, 600);
            let mut rng = generator(11, 3);
            let mut normal = |sd: f64| -> f64 {
                let z: f64 = StandardNormal.sample(&mut rng);
                sd * z
            };
            let severity: Vec<f64> = (0..ANNOTATORS).map(|_| normal(1.0)).collect();
            let mut rows = Vec::new();
            let mut text = Vec::new();
            for t in 0..train + others + test {
                let (signal, own, noise) = (normal(1.3), normal(0.9), normal(0.9));
                // Memorised: the embedding contains the text's own effect.
                let seen = signal + if t < train { own } else { noise };
                rows.push((0.1 * seen) as f32);
                rows.extend((0..7).map(|_| normal(0.1) as f32));
                text.push(signal + own);
            }
            let mut rng = generator(11, 4);
            let (mut labels, mut scored) = (Vec::new(), Vec::new());
            let mut given = vec![0.0; levels];
            for (t, score) in text.iter().enumerate() {
                for i in 0..5 {
                    let annotator = (t * 3 + i * 7) % ANNOTATORS;
                    let (u, x) = (score + severity[annotator], rng.random::<f64>());
                    let level = if kind == TargetKind::Ordinal {
                        [-1.0, 1.0, 5.0].iter().filter(|threshold| x < sigmoid(u - **threshold)).count()
                    } else {
                        let weights = [1.0, u.exp(), 0.1];
                        let sum: f64 = weights.iter().sum();
                        usize::from(x > weights[0] / sum) + usize::from(x > (weights[0] + weights[1]) / sum)
                    };
                    let o = Observation { text: t as u32, annotator: annotator as u32, level: level as u16 };
                    if t >= train + others {
                        given[level] += 1.0;
                        scored.push(o);
                    } else if t < train || level + 1 < levels {
                        labels.push(o);
                    }
                }
            }
            labels.sort_unstable();
            let tuned_on: Vec<bool> = (0..text.len()).map(|t| t < train).collect();
            let embeddings = Embeddings::new(8, rows).unwrap().with_tuned_on(tuned_on.into()).unwrap();
            let target = Target { kind, levels };
            let options = FitOptions::default();
            let data = TrainingData { target, ..data(&embeddings, &labels) };
            let model = Multilevel::fit(&Prepared::new(&data, &options).unwrap(), &options, &Silent).unwrap();
            assert!(!model.crossed.too_few_untuned);
            let found = score(&model, &scored);
            let n = scored.len() as f64;
            let share = |level: usize| {
                found.probabilities.chunks_exact(levels).map(|p| f64::from(p[level])).sum::<f64>() / n
            };
            for (level, given) in given.iter().enumerate() {
                let (predicted, given) = (share(level), given / n);
                println!("{kind:?} {level}: {predicted:.3} of {given:.3}");
                assert!((predicted - given).abs() < 0.06, "{kind:?} {level}: {predicted} of {given}");
            }
            let (last, is) = (share(levels - 1), given[levels - 1] / n);
            assert!((0.4..1.8).contains(&(last / is)), "{kind:?}: {last} of {is}");
        }
    }

    #[test]
    fn copy_of_a_training_text_counts_as_seen() {
        let x = Embeddings::new(1, vec![1.0, 2.0, 1.0, 3.0]).unwrap();
        let x = x.with_tuned_on([true, false, false, false].into()).unwrap();
        assert_eq!(texts_tuned_on(&x), Some(vec![true, false, true, false]));
        let none = Embeddings { tuned_on: Some([false; 4].into()), ..x };
        assert_eq!(texts_tuned_on(&none.clone().with_tuned_on([false; 4].into()).unwrap()), None);
    }
}
