//! Uncertainty of the difference of two models, in every metric, where both texts and annotators are samples.
//!
//! Labels of one text are correlated, and so are those of one annotator. The contributions of texts and of
//! annotators to the variance of a metric both include that of single labels, which is therefore subtracted
//! once: `V = V_texts + max(V_annotators - V_labels, 0)` (Cameron, Gelbach and Miller 2011, Robust inference
//! with multiway clustering, eq. 2.11). Drawing texts and annotators together with replacement would count
//! the labels' part three times (Owen 2007, The pigeonhole bootstrap, theorem 1): intervals would be too wide
//! by up to a factor of 1.7. Each of the three is a delete-a-group jackknife (Kott 2001, The delete-a-group
//! jackknife): a metric is recomputed without one of up to 50 random groups of texts, of annotators, of
//! labels, with the same groups for both models. So it applies to every metric as defined, including ranks
//! and panels.

use super::bootstrap::{Cluster, support};
use super::scored::Scored;
use super::scores::Scores;
use crate::data::progress::{Progress, step};
use crate::data::{ModelError, Observation};
use crate::math::distributions::student_quantile;
use crate::math::random::generator;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of groups of each kind that are left out in turn.
const GROUPS: usize = 50;
/// Variance below this share of the squared difference is rounding.
const ROUNDING: f64 = 1e-18;

/// A metric of two models on the same labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairedDifference {
    /// The first model's figure minus the second one's.
    pub difference: f64,
    /// Lower end of its interval, over texts and annotators together. Absent where there is too little data
    /// (see [`super::Intervals::of`]; there must be enough of both texts and annotators) and where nothing
    /// varies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<f64>,
}

/// A model's metrics, and the same without each group of texts, annotators or labels.
#[derive(Clone, Debug)]
pub struct Resampled {
    observations: Vec<Observation>,
    whole: Vec<(&'static str, Option<f64>)>,
    /// Metrics based on enough texts and annotators.
    supported: Vec<bool>,
    /// Without each group: of texts, of annotators, of labels.
    without: [Vec<RemainingMetrics>; 3],
}

/// Metrics without a group of labels.
#[derive(Clone, Debug)]
struct RemainingMetrics {
    /// Number of labels left out.
    labels: f64,
    metrics: Vec<Option<f64>>,
}

impl Resampled {
    /// Metrics of the predictions of one model; `metrics` are computed about 150 times. The same labels and
    /// seed give the same groups.
    ///
    /// # Errors
    /// The same as [`Scored::check`]; [`ModelError::Cancelled`].
    pub fn new(
        scored: &Scored,
        ordinal: bool,
        seed: u64,
        metrics: impl Fn(&Scored) -> Scores + Sync,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        scored.check()?;
        let observations = scored.observations.clone();
        let whole = metrics(scored);
        let mut supported = vec![true; whole.values().len()];
        for over in Cluster::ALL {
            let found = support(scored, ordinal, &whole, over);
            whole
                .values()
                .iter()
                .zip(&mut supported)
                .for_each(|((key, _), ok)| *ok &= found.contains_key(key));
        }
        let without = |keep: &(dyn Fn(usize) -> bool + Sync)| {
            metrics(&scored.at(keep)).values().into_iter().map(|(_, value)| value).collect()
        };
        Self::over(observations, whole.values().to_vec(), supported, seed, without, progress)
    }

    /// Metrics of any values computed from labels (whose levels are ignored): `whole` are the metrics,
    /// `supported` marks those with enough data, and `metrics` computes them from the labels at the retained
    /// positions.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`].
    pub fn over(
        observations: Vec<Observation>,
        whole: Vec<(&'static str, Option<f64>)>,
        supported: Vec<bool>,
        seed: u64,
        metrics: impl Fn(&(dyn Fn(usize) -> bool + Sync)) -> Vec<Option<f64>> + Sync,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let mut without = [Vec::new(), Vec::new(), Vec::new()];
        if supported.contains(&true) {
            let texts = groups(observations.iter().map(|o| o.text), seed, 0);
            let annotators = groups(observations.iter().map(|o| o.annotator), seed, 1);
            let labels = groups(0..observations.len() as u32, seed, 2);
            for (nth, ((group, many), out)) in
                [texts, annotators, labels].into_iter().zip(&mut without).enumerate()
            {
                step(progress, "paired differences", nth as f32 / 3.0)?;
                let left = |g: usize| -> RemainingMetrics {
                    if progress.cancelled() {
                        return RemainingMetrics { labels: 0.0, metrics: vec![None; whole.len()] };
                    }
                    RemainingMetrics {
                        labels: group.iter().filter(|other| **other == g).count() as f64,
                        metrics: metrics(&|i| group[i] != g),
                    }
                };
                *out = (0..many).into_par_iter().map(left).collect();
                if progress.cancelled() {
                    return Err(ModelError::Cancelled);
                }
            }
        }
        Ok(Self { observations, whole, supported, without })
    }

    /// Intervals of its metrics themselves, by key, over texts and annotators together, of this `confidence`;
    /// those with too little data have none.
    ///
    /// # Errors
    /// [`ModelError::Confidence`] outside (0, 1).
    pub fn intervals(&self, confidence: f64) -> Result<BTreeMap<String, (f64, f64)>, ModelError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(ModelError::Confidence(confidence));
        }
        let mut found = BTreeMap::new();
        for (at, (key, figure)) in self.whole.iter().enumerate() {
            let Some(figure) = figure.filter(|_| self.supported[at]) else { continue };
            if let Some(half) = self.half_width(None, at, figure, confidence) {
                found.insert((*key).to_owned(), (figure - half, figure + half));
            }
        }
        Ok(found)
    }

    /// Its metrics minus those of `other`, by key, with intervals of this `confidence`; metrics that either
    /// model lacks are left out.
    ///
    /// # Errors
    /// [`ModelError::DifferentLabels`]; [`ModelError::Confidence`] outside (0, 1).
    pub fn less(
        &self,
        other: &Self,
        confidence: f64,
    ) -> Result<BTreeMap<String, PairedDifference>, ModelError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(ModelError::Confidence(confidence));
        }
        if self.observations != other.observations {
            let same = self.observations.iter().zip(&other.observations).take_while(|(a, b)| a == b);
            return Err(ModelError::DifferentLabels { at: same.count() });
        }
        let mut found = BTreeMap::new();
        for (at, ((key, first), (_, second))) in self.whole.iter().zip(&other.whole).enumerate() {
            let (Some(first), Some(second)) = (first, second) else { continue };
            let difference = first - second;
            let half = (self.supported[at] && other.supported[at])
                .then(|| self.half_width(Some(other), at, difference, confidence))
                .flatten();
            let (low, high) = (half.map(|half| difference - half), half.map(|half| difference + half));
            found.insert((*key).to_owned(), PairedDifference { difference, low, high });
        }
        Ok(found)
    }

    /// Half-width for a metric, or for its difference from that of `other`.
    fn half_width(&self, other: Option<&Self>, at: usize, figure: f64, confidence: f64) -> Option<f64> {
        let part = |nth: usize| -> Option<(f64, f64)> {
            let moved = |(group, left): (usize, &RemainingMetrics)| {
                let theirs = other.map_or(Some(0.0), |other| other.without[nth][group].metrics[at]);
                Some((left.labels, left.metrics[at]? - theirs? - figure))
            };
            let moves: Option<Vec<(f64, f64)>> = self.without[nth].iter().enumerate().map(moved).collect();
            let moves = moves.filter(|moves| moves.len() > 1)?;
            let n = moves.len() as f64;
            // Estimates for a text with fewer labels are noisier: each removed label moves ranks and
            // distances of panels a little, always in the same direction, which is not uncertainty.
            let sum = |of: fn(&(f64, f64)) -> f64| moves.iter().map(of).sum::<f64>();
            let drift = sum(|one| one.1) / sum(|one| one.0);
            let squares: f64 = moves.iter().map(|(labels, moved)| (moved - drift * labels).powi(2)).sum();
            Some(((n - 1.0) / n * squares, n - 1.0))
        };
        // One annotator is no sample of annotators: the interval is then only over texts.
        let annotators = if self.over_texts_alone() { (0.0, 1.0) } else { part(1)? };
        half_width(part(0)?, annotators, part(2)?, figure, confidence)
    }

    fn over_texts_alone(&self) -> bool {
        self.without[1].len() == 1
    }

    /// The units that its intervals refer to.
    pub fn sampled(&self) -> &'static str {
        if self.over_texts_alone() { "texts" } else { "texts and annotators" }
    }
}

/// Half-width of an interval, from variances with their degrees of freedom: that of texts, plus the part of
/// the annotators' that single labels do not explain, if any. Degrees of freedom are those of Satterthwaite.
fn half_width(
    texts: (f64, f64),
    annotators: (f64, f64),
    labels: (f64, f64),
    figure: f64,
    confidence: f64,
) -> Option<f64> {
    let variance = texts.0 + (annotators.0 - labels.0).max(0.0);
    if !variance.is_finite() || variance <= ROUNDING * (1.0 + figure * figure) {
        return None;
    }
    let of = |(v, df): (f64, f64)| v * v / df;
    let beyond = if annotators.0 > labels.0 { of(annotators) + of(labels) } else { 0.0 };
    let df = (variance * variance / (of(texts) + beyond)).max(1.0) as usize;
    Some(student_quantile(0.5 + 0.5 * confidence, df) * variance.sqrt())
}

/// A mean over labels with its interval over texts and annotators together, by the same sum of variances;
/// `None` for the interval with fewer than 20 texts or 5 annotators and where nothing varies. `values` belong
/// to `observations`.
pub fn crossed_mean(
    observations: &[Observation],
    values: &[f64],
    confidence: f64,
) -> (f64, Option<(f64, f64)>) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let over = |of: fn(&Observation) -> u32| {
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for (o, value) in observations.iter().zip(values) {
            *sums.entry(of(o)).or_default() += (value - mean) / n;
        }
        let many = sums.len() as f64;
        let factor = many / (many - 1.0).max(1.0);
        (sums.len(), (factor * sums.values().map(|s| s * s).sum::<f64>(), (many - 1.0).max(1.0)))
    };
    let (texts, of_texts) = over(|o| o.text);
    let (annotators, of_annotators) = over(|o| o.annotator);
    if texts < Cluster::Texts.least() || annotators < Cluster::Annotators.least() {
        return (mean, None);
    }
    let squares: f64 = values.iter().map(|value| ((value - mean) / n).powi(2)).sum();
    let half = half_width(of_texts, of_annotators, (squares, (n - 1.0).max(1.0)), mean, confidence);
    (mean, half.map(|half| (mean - half, mean + half)))
}

/// Random group of each member, and the number of groups; members with the same key share a group.
fn groups(keys: impl Iterator<Item = u32> + Clone, seed: u64, stream: u64) -> (Vec<usize>, usize) {
    let mut different: Vec<u32> = keys.clone().collect();
    different.sort_unstable();
    different.dedup();
    let many = different.len().min(GROUPS);
    let mut place: Vec<usize> = (0..different.len()).map(|at| at % many.max(1)).collect();
    place.shuffle(&mut generator(seed, FIRST_STREAM + stream));
    let group = keys.map(|key| place[different.binary_search(&key).unwrap_or_default()]).collect();
    (group, many)
}

/// Separate from the streams of splits, folds and bootstraps with the same seed.
const FIRST_STREAM: u64 = 1 << 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::Silent;

    fn model(shift: f32, texts: u32, annotators: u32) -> Scored {
        let mut scored = Scored { levels: 3, ..Scored::default() };
        for (text, annotator) in (0..texts).flat_map(|t| (0..annotators).map(move |a| (t, a))) {
            let level = ((text * 7 + annotator * 5) % 3) as u16;
            scored.observations.push(Observation { text, annotator, level });
            let p = 0.3 + shift + 0.1 * ((text * 13 + annotator * 3) % 5) as f32 / 5.0;
            let mut row = [(1.0 - p) / 2.0; 3];
            row[usize::from(level)] = p;
            scored.probabilities.extend(row);
        }
        scored
    }

    fn resampled(scored: &Scored) -> Resampled {
        Resampled::new(scored, true, 3, |scored| Scores::new(scored, true), &Silent).unwrap()
    }

    #[test]
    fn every_metric_has_a_difference_within_its_interval() {
        let (a, b) = (model(0.05, 60, 8), model(0.0, 60, 8));
        let found = resampled(&a).less(&resampled(&b), 0.9).unwrap();
        let (of_a, of_b) = (Scores::new(&a, true), Scores::new(&b, true));
        let mut intervals = 0;
        for ((key, first), (_, second)) in of_a.values().into_iter().zip(of_b.values()) {
            assert_eq!(found.contains_key(key), first.is_some() && second.is_some(), "{key}");
            let Some(one) = found.get(key) else { continue };
            assert!((one.difference - (first.unwrap() - second.unwrap())).abs() < 1e-12, "{key}");
            if let (Some(low), Some(high)) = (one.low, one.high) {
                assert!(low < one.difference && one.difference < high, "{key}");
                intervals += 1;
            }
        }
        assert!(intervals >= 12, "{intervals}");
        // Exchanging the models changes the sign, and a model does not differ from itself.
        let back = resampled(&b).less(&resampled(&a), 0.9).unwrap();
        assert_eq!(back["log_loss"].low.unwrap(), -found["log_loss"].high.unwrap());
        let same = resampled(&a).less(&resampled(&a), 0.9).unwrap();
        assert!(same.values().all(|one| one.difference == 0.0 && one.low.is_none()));
    }

    #[test]
    fn too_few_texts_or_annotators_have_no_interval() {
        for (texts, annotators) in [(19, 8), (60, 4)] {
            let found = resampled(&model(0.05, texts, annotators))
                .less(&resampled(&model(0.0, texts, annotators)), 0.9)
                .unwrap();
            assert!(found["log_loss"].difference < 0.0);
            assert!(found.values().all(|one| one.low.is_none() && one.high.is_none()));
        }
        let (a, b) = (resampled(&model(0.0, 30, 6)), resampled(&model(0.0, 31, 6)));
        assert!(matches!(a.less(&b, 0.9), Err(ModelError::DifferentLabels { .. })));
        assert!(matches!(a.less(&a, 1.0), Err(ModelError::Confidence(_))));
    }
}
