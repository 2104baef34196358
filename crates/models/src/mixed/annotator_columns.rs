//! Predictions of all annotators for one text at a time: the result of [`AnnotatorPredictor::fill`],
//! vectorised over annotators instead of texts.

use super::predictor::{AnnotatorPredictor, Scratch, TextColumns, clip_probabilities};
use crate::link::Link;
use dissensus_stats::math::fast;
use std::ops::Range;

/// The predictors of all annotators, one array per parameter.
#[derive(Clone, Debug)]
pub(crate) struct AnnotatorColumns {
    link: Link,
    annotators: usize,
    intercepts: Vec<Vec<f32>>,
    variance: Vec<Vec<f32>>,
    slopes: Vec<Vec<f32>>,
    /// Row-major, slopes x slopes.
    slope_covariance: Vec<Vec<f32>>,
    /// The discriminations, the variances of their logarithms, and their covariances with the intercepts, as
    /// in [`AnnotatorPredictor`]; empty where no annotator has one.
    discrimination: Vec<Vec<f32>>,
}

impl AnnotatorColumns {
    pub(crate) fn new(link: Link, slopes: usize, predictors: &[AnnotatorPredictor]) -> Self {
        let arrays = |n: usize| vec![Vec::with_capacity(predictors.len()); n];
        let mut columns = Self {
            link,
            annotators: 0,
            intercepts: arrays(link.intercepts()),
            variance: arrays(link.intercepts()),
            slopes: arrays(slopes),
            slope_covariance: arrays(slopes * slopes),
            discrimination: arrays(if link.discrimination { 2 + link.intercepts() } else { 0 }),
        };
        predictors.iter().for_each(|predictor| columns.push(predictor));
        columns
    }

    /// Appends an annotator.
    pub(crate) fn push(&mut self, predictor: &AnnotatorPredictor) {
        self.each(predictor, |array, value| array.push(value));
        self.annotators += 1;
    }

    /// Replaces an annotator's predictor.
    pub(crate) fn set(&mut self, annotator: usize, predictor: &AnnotatorPredictor) {
        self.each(predictor, |array, value| array[annotator] = value);
    }

    fn each(&mut self, predictor: &AnnotatorPredictor, mut put: impl FnMut(&mut Vec<f32>, f32)) {
        let pairs = [
            (&mut self.intercepts, &predictor.intercepts),
            (&mut self.variance, &predictor.variance),
            (&mut self.slopes, &predictor.slopes),
            (&mut self.slope_covariance, &predictor.slope_covariance),
        ];
        for (arrays, values) in pairs {
            arrays.iter_mut().zip(values).for_each(|(array, value)| put(array, *value));
        }
        let own = [predictor.discrimination, predictor.discrimination_variance];
        let own = own.iter().chain(&predictor.discrimination_covariance);
        self.discrimination.iter_mut().zip(own).for_each(|(array, value)| put(array, *value));
    }

    pub(crate) fn annotators(&self) -> usize {
        self.annotators
    }

    /// Probabilities of `text` for the annotators of `range`, level-major: `out[c * range.len() + i]`.
    pub(crate) fn fill(
        &self,
        texts: &TextColumns,
        text: usize,
        range: Range<usize>,
        out: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let n = range.len();
        let out = &mut out[..n * self.link.levels];
        self.add_slopes(texts, text, range.clone(), scratch);
        if self.link.softmax {
            self.fill_softmax(texts, text, range, out, scratch);
        } else {
            self.add_scores((texts.u[0][text], texts.v[text] - texts.square[text]), range.clone(), scratch);
            self.fill_cumulative(range, out, scratch);
        }
        clip_probabilities(out, self.link.levels);
    }

    /// Adds the slopes' part of the score and of its variance; without slopes zero, and the text's own
    /// variance.
    fn add_slopes(&self, texts: &TextColumns, text: usize, range: Range<usize>, scratch: &mut Scratch) {
        let n = range.len();
        scratch.shifted.clear();
        scratch.shifted.resize(n, 0.0);
        scratch.variance.clear();
        scratch.variance.resize(n, texts.v[text]);
        let r = self.slopes.len();
        for (slopes, z) in self.slopes.iter().zip(&texts.z) {
            let z = z[text];
            scratch.shifted.iter_mut().zip(&slopes[range.clone()]).for_each(|(u, s)| *u += s * z);
        }
        for i in 0..r {
            for j in 0..=i {
                let w = texts.z[i][text] * texts.z[j][text] * if i == j { 1.0 } else { 2.0 };
                let variance = &self.slope_covariance[i * r + j][range.clone()];
                scratch.variance.iter_mut().zip(variance).for_each(|(v, d)| *v += w * d);
            }
        }
    }

    /// Adds the text's score, of variance `text` (times pi/8), to `scratch.shifted`, multiplied by each
    /// annotator's discrimination where there is one.
    fn add_scores(&self, (score, text): (f32, f32), range: Range<usize>, scratch: &mut Scratch) {
        let [discrimination, own, ..] = &self.discrimination[..] else {
            scratch.shifted.iter_mut().for_each(|u| *u += score);
            return;
        };
        scratch.scores.clear();
        scratch.scores.extend(discrimination[range.clone()].iter().map(|a| a * score));
        let annotators = discrimination[range.clone()].iter().zip(&own[range]).zip(&scratch.scores);
        let texts = scratch.shifted.iter_mut().zip(&mut scratch.variance);
        for ((u, v), ((a, own), score)) in texts.zip(annotators) {
            *u += score;
            *v += (a * a - 1.0) * text + own * score * score; // the variance of the slopes is not multiplied
        }
    }

    fn fill_cumulative(&self, range: Range<usize>, out: &mut [f32], scratch: &Scratch) {
        let n = range.len();
        let (levels, last) = out.split_at_mut(n * (self.link.levels - 1));
        last.fill(1.0); // holds P(y >= j) of the level before
        for (j, level) in levels.chunks_exact_mut(n).enumerate() {
            let (intercepts, variance) =
                (&self.intercepts[j][range.clone()], &self.variance[j][range.clone()]);
            let annotators = intercepts.iter().zip(variance);
            let text = scratch.shifted.iter().zip(&scratch.variance);
            let probabilities = level.iter_mut().zip(last.iter_mut());
            let put = |p: &mut f32, above: &mut f32, logit: f32| {
                let g = fast::sigmoid(logit);
                let g = if g < *above { g } else { *above };
                *p = *above - g;
                *above = g;
            };
            if let Some(with) = self.discrimination.get(2 + j) {
                let scores = with[range.clone()].iter().zip(&scratch.scores);
                for ((((p, above), (o, d)), (u, v)), (with, score)) in
                    probabilities.zip(annotators).zip(text).zip(scores)
                {
                    put(p, above, (u + o) / (v + d + with * score).sqrt());
                }
            } else {
                for (((p, above), (o, d)), (u, v)) in probabilities.zip(annotators).zip(text) {
                    put(p, above, (u + o) / (v + d).sqrt());
                }
            }
        }
    }

    fn fill_softmax(
        &self,
        texts: &TextColumns,
        text: usize,
        range: Range<usize>,
        out: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let n = range.len();
        // Choice scales have no slopes: `shifted` is free for the largest exponent, `variance` for the sum.
        scratch.shifted.fill(f32::MIN);
        for (((x, u), intercepts), variance) in
            out.chunks_exact_mut(n).zip(&texts.u).zip(&self.intercepts).zip(&self.variance)
        {
            let u = u[text];
            let annotators = intercepts[range.clone()].iter().zip(&variance[range.clone()]);
            for (((x, (o, d)), v), top) in
                x.iter_mut().zip(annotators).zip(&scratch.variance).zip(&mut scratch.shifted)
            {
                *x = (u + o) / (v + d).sqrt();
                *top = if *x > *top { *x } else { *top };
            }
        }
        scratch.softmax(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixed::CrossedEffects;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::Target;

    #[test]
    fn row_and_column_predictions_agree() {
        for (kind, levels, slopes, discrimination) in [
            (TargetKind::Binary, 2, 0, false),
            (TargetKind::Binary, 2, 0, true),
            (TargetKind::Ordinal, 5, 2, false),
            (TargetKind::Ordinal, 5, 2, true),
            (TargetKind::Ordinal, 12, 0, true),
            (TargetKind::Nominal, 4, 0, false),
        ] {
            let link = Link { discrimination, ..Link::new(Target { kind, levels }) };
            let scores = (0..3 * link.scores()).map(|i| 0.7 - 0.3 * i as f64).collect();
            let mut crossed = CrossedEffects::new(link, scores, 5, &[]);
            crossed.slope_dim = slopes;
            crossed.slope_vars = vec![0.3; slopes];
            crossed.z = (0..3 * slopes).map(|i| 0.5 - 0.2 * i as f64).collect();
            crossed.reset_annotators();
            for (nth, effect) in crossed.annotators.iter_mut().enumerate() {
                effect.theta.iter_mut().enumerate().for_each(|(i, t)| *t = 0.3 * nth as f64 - 0.2 * i as f64);
                effect.covariance.iter_mut().for_each(|c| *c *= 1.0 / (nth + 1) as f64);
                if discrimination {
                    let (w, at) = (effect.theta.len(), link.threshold_effects());
                    (effect.covariance[at], effect.covariance[at * w]) = (0.02, 0.02);
                }
            }
            let columns = TextColumns::new(&crossed);
            let predictors: Vec<AnnotatorPredictor> =
                (0..5).map(|a| AnnotatorPredictor::new(&crossed, a)).collect();
            let mut annotator_columns = AnnotatorColumns::new(link, slopes, &predictors[..3]);
            annotator_columns.push(&predictors[0]);
            annotator_columns.push(&predictors[4]);
            annotator_columns.set(3, &predictors[3]);
            assert_eq!(annotator_columns.annotators(), 5);
            let (mut row, mut one) = (vec![0.0; 3 * levels], vec![0.0; levels]);
            let mut scratch = Scratch::default();
            for text in 0..3 {
                annotator_columns.fill(&columns, text, 2..5, &mut row, &mut scratch);
                for i in 0..3 {
                    predictors[2 + i].fill(&columns, text..text + 1, &mut one, &mut scratch);
                    for c in 0..levels {
                        assert!(
                            (row[c * 3 + i] - one[c]).abs() < 1e-6,
                            "{kind} {levels}: text {text}, {i}, {c}"
                        );
                    }
                }
            }
        }
    }
}
