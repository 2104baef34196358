//! Selection of scales of texts, and estimation of their variation.

use super::convergence::{FINAL, ROUGH};
use super::crossed::CrossedEffects;
use super::scale_head::{self, FittedHead, ScaleHead, ScaleSite};
use super::text::TextPosterior;
use super::text_scale::{TextScales, log_evidence_of, noise};
use crate::linear::pca::PcaEmbeddings;
use dissensus_stats::math::clustered::more_than_chance;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Minimum number of texts with labels of two annotators; with fewer, there is too little data.
const MIN_TEXTS: usize = 50;
/// Initial standard deviation of logarithms of scales.
const INITIAL_SD: f64 = 0.3;
/// Standard deviation of scales under which the sites of texts' scales are computed.
const SITE_SD: f64 = 0.5;
/// Rounds in which scales are predicted from embeddings and everything else is estimated given them.
const ROUNDS: usize = 2;
/// Search range of the standard deviation; below it, texts hardly differ.
const SDS: (f64, f64) = (0.1, 1.1);
/// Half the 95 % quantile of chi-squared with one degree of freedom: the drop of the log-likelihood at the
/// ends of an interval.
const HALF_QUANTILE: f64 = 1.920_729;
/// Half the 90 % quantile, for the interval whose upper end intervals of disagreement use for scales of texts
/// that are not in the model.
const HALF_QUANTILE_OF_DOUBT: f64 = 1.352_772;
/// Number of grid points over [`SDS`], and of search steps between two of them.
const PLACES: usize = 20;

/// Variation between texts in the spread of their labels, beyond what their scores explain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleSpread {
    /// Standard deviation of the logarithms of texts' scales.
    pub sd: f64,
    /// Its 95 % likelihood interval, with the other variances fixed.
    pub interval: (f64, f64),
}

impl ScaleSpread {
    /// Largest published value, which represents all values above it: the approximate likelihood
    /// overestimates large ones (0.87 on average where the truth is 0.8), so that they cannot be told apart.
    pub const MAX_PUBLISHED: f64 = 0.6;

    fn new(sd: f64, (low, high): (f64, f64)) -> Self {
        Self {
            sd: sd.min(Self::MAX_PUBLISHED),
            interval: (low.min(Self::MAX_PUBLISHED), high.min(Self::MAX_PUBLISHED)),
        }
    }
}

impl CrossedEffects {
    /// Gives texts scales of their own if that improves the prediction of held-out labels by more than
    /// chance; otherwise leaves everything unchanged. Returns whether it did. The variances are then
    /// estimated anew.
    ///
    /// A label is held out of its text's scale and score, and of its annotator
    /// ([`CrossedEffects::own_without_as_predicted`]); holding out whole texts would leave no labels to
    /// estimate their scales from.
    pub(crate) fn select_text_scales(&mut self) -> bool {
        if self.has_own_scales() || self.has_no_scale_information() {
            return false;
        }
        let mut trial = self.clone();
        trial.scales = Some(match &self.scales {
            Some(scales) => TextScales::around(scales.means().to_vec(), INITIAL_SD),
            None => TextScales::new(self.texts(), INITIAL_SD),
        });
        if likeliest(&several_labels(&trial.fitted_texts())) <= SDS.0 {
            return false;
        }
        trial.expectation_maximisation(ROUGH);
        if trial.scales.as_ref().is_none_or(|scales| scales.sd <= SDS.0) {
            return false;
        }
        let found = trial.left_out_labels();
        let gains = |before: &Self| self.gains(&found, &before.left_out_labels());
        if !gains(self) || !gains(&self.rescaled((self.common_log_scale() - trial.common_log_scale()).exp()))
        {
            return false;
        }
        trial.finish_scales();
        let used = trial.scales.as_ref().is_some_and(|scales| scales.sd > SDS.0);
        if used {
            *self = trial;
        }
        used
    }

    /// Predicts the scales of texts from embeddings if that improves the prediction of labels of held-out
    /// texts by more than chance, and returns the fitted head; otherwise leaves everything unchanged. The
    /// variances are then estimated anew.
    pub(crate) fn select_predicted_scales(
        &mut self,
        x: &PcaEmbeddings,
        fold: &[u8],
        folds: usize,
    ) -> Option<ScaleHead> {
        if self.scales.is_some() || self.has_no_scale_information() || x.dim == 0 {
            return None;
        }
        let labelled: Vec<bool> = self.labels.iter().map(|labels| !labels.is_empty()).collect();
        let mut trial = self.clone();
        let mut found = None;
        for _ in 0..ROUNDS {
            let FittedHead { head, logs } = scale_head::fit(x, fold, folds, &trial.scale_sites(), &labelled)?;
            trial.scales = Some(TextScales::from_logs(logs));
            trial.expectation_maximisation(ROUGH);
            found = Some(head);
        }
        let scales = trial.labels_of_left_out_texts();
        let gains = |before: &Self| self.gains(&scales, &before.labels_of_left_out_texts());
        if !gains(self) || !gains(&self.rescaled((self.common_log_scale() - trial.common_log_scale()).exp()))
        {
            return None;
        }
        trial.expectation_maximisation(FINAL);
        *self = trial;
        found
    }

    /// Largest standard deviation of the logarithms of texts' scales that the labels do not rule out (the
    /// upper end of a 90 % likelihood interval, with the other variances fixed); 0 where texts have scales of
    /// their own, and where labels carry no information about scales.
    pub(super) fn scale_sd_not_ruled_out(&self) -> f64 {
        if self.has_own_scales() || self.has_no_scale_information() {
            return 0.0;
        }
        let mut trial = self.clone();
        let means =
            self.scales.as_ref().map_or_else(|| vec![0.0; self.texts()], |scales| scales.means().to_vec());
        trial.scales = Some(TextScales::around(means, INITIAL_SD));
        let fitted = trial.fitted_texts();
        let texts = several_labels(&fitted);
        interval(likeliest(&texts), &texts, HALF_QUANTILE_OF_DOUBT).1
    }

    fn has_own_scales(&self) -> bool {
        self.scales.as_ref().is_some_and(|scales| scales.own)
    }

    fn has_no_scale_information(&self) -> bool {
        let several = self.labels.iter().filter(|labels| labels.len() > 1).count();
        self.link.softmax || self.link.levels < 3 || several < MIN_TEXTS
    }

    /// Estimates of the logarithm of the scale of each text with several labels, from its labels only: the
    /// posterior without its prior.
    fn scale_sites(&self) -> Vec<ScaleSite> {
        let mut wide = self.clone();
        let means =
            self.scales.as_ref().map_or_else(|| vec![0.0; self.texts()], |scales| scales.means().to_vec());
        wide.scales = Some(TextScales::around(means.clone(), SITE_SD));
        let fitted = wide.fitted_texts();
        let labelled = fitted.iter().enumerate().filter(|(_, text)| text.cavity.len() > 3);
        labelled
            .filter_map(|(text, posterior)| {
                let scale = posterior.scale.as_ref()?;
                let precision = (1.0 / scale.variance.max(1e-6) - 1.0 / SITE_SD.powi(2)).max(1e-2);
                let away = (scale.log - means[text]) / scale.variance.max(1e-6) / precision;
                // Remaining differences between texts of similar embeddings are noise to the regression.
                let variance = 1.0 / precision + INITIAL_SD.powi(2);
                Some(ScaleSite { text, log: means[text] + away, variance })
            })
            .collect()
    }

    /// Whether labels are predicted better than by `before` by more than chance.
    fn gains(&self, found: &[Vec<(u32, f64)>], before: &[Vec<(u32, f64)>]) -> bool {
        let pairs = found.iter().zip(before);
        let gains: Vec<Vec<(u32, f64)>> =
            pairs.map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a.0, a.1 - b.1)).collect()).collect();
        more_than_chance(&gains, self.texts())
    }

    /// Log-likelihood of every label given its text's prior, before any label, and its annotator without this
    /// label; (text, value) annotator by annotator, for those who have labels. Scores and scales of texts are
    /// those of heads that have not seen them.
    fn labels_of_left_out_texts(&self) -> Vec<Vec<(u32, f64)>> {
        let of = |(annotator, effect): (usize, &super::annotator::AnnotatorEffect)| {
            let mut p = vec![0.0; self.link.levels];
            let labels = effect.labels.iter();
            labels
                .filter_map(|&(text, level)| {
                    let t = text as usize;
                    let at =
                        self.labels[t].binary_search_by_key(&(annotator as u32), |l| l.annotator).ok()?;
                    let noise = self.scales.as_ref().map_or(0.0, |scales| noise(scales.means()[t]));
                    let (given, own) = self.label_given_annotator(t, self.labels[t][at]);
                    let prior = self.prior_text_var(t);
                    let (scores, attenuation) = given.combine(&self.scores[t..=t], prior, own + noise);
                    self.link.probabilities(&scores, &given.intercepts, attenuation, &mut p);
                    Some((text, p[usize::from(level)].max(1e-12).ln()))
                })
                .collect()
        };
        let annotators = self.annotators.par_iter().enumerate().filter(|(_, a)| !a.labels.is_empty());
        annotators.map(of).collect()
    }

    /// Log-likelihood of every label by posteriors that exclude it, (text, value) annotator by annotator, for
    /// those who have labels.
    fn left_out_labels(&self) -> Vec<Vec<(u32, f64)>> {
        let of = |(annotator, effect): (usize, &super::annotator::AnnotatorEffect)| {
            let mut p = vec![0.0; self.link.levels];
            let labels = effect.labels.iter();
            labels
                .filter_map(|&(text, level)| {
                    let labels = &self.labels[text as usize];
                    let at = labels.binary_search_by_key(&(annotator as u32), |l| l.annotator).ok()?;
                    self.own_without_as_predicted(text as usize, at, &mut p);
                    Some((text, p[usize::from(level)].max(1e-12).ln()))
                })
                .collect()
        };
        let annotators = self.annotators.par_iter().enumerate().filter(|(_, a)| !a.labels.is_empty());
        annotators.map(of).collect()
    }

    /// Mean logarithm of the scales of texts with several labels: the part that a common factor of all scores
    /// would explain equally well.
    fn common_log_scale(&self) -> f64 {
        let Some(scales) = &self.scales else { return 0.0 };
        let several = (0..self.texts()).filter(|text| self.labels[*text].len() > 1);
        let (sum, n) = several.fold((0.0, 0.0), |(sum, n), text| (sum + scales.of(text).0, n + 1.0));
        if n > 0.0 { sum / n } else { 0.0 }
    }

    /// Updates the standard deviation of scales to the one under which the labels are most likely, all else
    /// fixed (Liu and Rubin 1994, ECME: a step that maximises the likelihood itself needs few rounds).
    pub(super) fn update_scale_sd(&mut self, fitted: &[TextPosterior]) {
        if let Some(scales) = self.scales.as_mut().filter(|scales| scales.own) {
            scales.sd = likeliest(&several_labels(fitted));
        }
    }

    /// Estimates all variances and the interval of the scales' variation.
    fn finish_scales(&mut self) {
        self.expectation_maximisation(FINAL);
        let fitted = self.fitted_texts();
        if let Some(scales) = &mut self.scales {
            scales.interval = interval(scales.sd, &several_labels(&fitted), HALF_QUANTILE);
        }
    }

    /// The same effects with scales of texts, regardless of their predictive gain.
    #[cfg(test)]
    pub(super) fn with_scales(&self) -> Self {
        let mut trial = self.clone();
        trial.scales = Some(TextScales::new(self.texts(), INITIAL_SD));
        trial.finish_scales();
        trial
    }

    /// Variation of texts' scales; `None` where the model has none.
    pub(crate) fn scale_spread(&self) -> Option<ScaleSpread> {
        let TextScales { sd, interval, .. } = self.scales.as_ref().filter(|scales| scales.own)?;
        Some(ScaleSpread::new(*sd, *interval))
    }

    /// The same effects without scales of texts, re-estimated.
    pub(super) fn without_scales(&self) -> Self {
        let mut plain = self.clone();
        plain.scales = None;
        plain.update_all_texts();
        plain.expectation_maximisation(FINAL);
        plain
    }
}

/// Evidence at each scale of the texts with several labels.
fn several_labels(fitted: &[TextPosterior]) -> Vec<&[f64]> {
    let scales = fitted.iter().filter(|text| text.cavity.len() > 3).filter_map(|text| text.scale.as_ref());
    scales.map(|scale| &scale.log_evidence[..]).collect()
}

fn log_likelihood(sd: f64, texts: &[&[f64]]) -> f64 {
    texts.par_iter().map(|text| log_evidence_of(sd, text)).collect::<Vec<f64>>().iter().sum()
}

/// The `i`-th of `PLACES + 1` values that divide [`SDS`].
fn place(i: usize) -> f64 {
    SDS.0 + (SDS.1 - SDS.0) * i as f64 / PLACES as f64
}

fn likeliest(texts: &[&[f64]]) -> f64 {
    let at: Vec<f64> = (0..=PLACES).map(|i| log_likelihood(place(i), texts)).collect();
    let best = (0..=PLACES).max_by(|a, b| at[*a].total_cmp(&at[*b])).unwrap_or(0);
    if best == 0 || best == PLACES {
        return place(best);
    }
    // The parabola through the best grid point and its neighbours.
    let (low, mid, high) = (at[best - 1], at[best], at[best + 1]);
    let bend = low - 2.0 * mid + high;
    let shift = if bend < 0.0 { 0.5 * (low - high) / bend } else { 0.0 };
    place(best) + shift.clamp(-1.0, 1.0) * (place(1) - place(0))
}

/// Interval where the log-likelihood has fallen by `fall` on either side of `sd`; 0 and the largest sd where
/// it does not fall so far.
fn interval(sd: f64, texts: &[&[f64]], fall: f64) -> (f64, f64) {
    let bar = log_likelihood(sd, texts) - fall;
    let end = |far: f64| -> Option<f64> {
        if log_likelihood(far, texts) > bar {
            return None;
        }
        let (mut inside, mut outside) = (sd, far);
        for _ in 0..PLACES {
            let middle = 0.5 * (inside + outside);
            if log_likelihood(middle, texts) > bar { inside = middle } else { outside = middle }
        }
        Some(inside)
    };
    (end(SDS.0).unwrap_or(0.0), end(SDS.1).unwrap_or(SDS.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixed::text_scale_simulation::{fitted, fitted_scales};

    /// Whether scales end up predicted from embeddings, and the correlation of the prediction with the first
    /// number of the embedding.
    fn from_logs(slope: f64, seed: u64) -> (bool, f64) {
        let (mut crossed, embeddings) = fitted_scales(slope, seed);
        let fold: Vec<u8> = (0..crossed.texts()).map(|text| (text % 5) as u8).collect();
        let Some(head) = crossed.select_predicted_scales(&PcaEmbeddings::new(&embeddings), &fold, 5) else {
            assert!(crossed.scales.is_none());
            return (false, 0.0);
        };
        let rows = || embeddings.rows.chunks_exact(8);
        let pairs = || rows().map(|row| (head.predict(row), f64::from(row[0])));
        let dot = |f: &dyn Fn((f64, f64)) -> f64| pairs().map(f).sum::<f64>();
        let correlation = dot(&|(a, b)| a * b) / (dot(&|(a, _)| a * a) * dot(&|(_, b)| b * b)).sqrt();
        // A text's scale is not predicted from its own labels.
        let scales = crossed.scales.as_ref().unwrap();
        assert!(scales.means().iter().zip(rows()).any(|(held_out, row)| *held_out != head.predict(row)));
        (true, correlation)
    }

    #[test]
    fn predictable_scales_are_found() {
        let found: Vec<(bool, f64)> = (0..6).map(|seed| from_logs(0.4, seed)).collect();
        assert!(found.iter().filter(|(used, r)| *used && *r > 0.7).count() >= 5, "{found:?}");
    }

    /// The rule allows a chance of one in forty.
    #[test]
    fn uninformative_embeddings_do_not_predict_scales() {
        const SEEDS: u64 = 40;
        let taken = (200..200 + SEEDS).filter(|seed| from_logs(0.0, *seed).0).count();
        assert!(taken <= 1, "{taken} of {SEEDS}");
    }

    /// Projects of 300 texts with 9 labels each, from 60 people: how many intervals contain the truth, and
    /// the mean estimated spread.
    fn coverage(truth: f64, seeds: std::ops::Range<u64>) -> (usize, f64) {
        let n = (seeds.end - seeds.start) as f64;
        let found: Vec<ScaleSpread> =
            seeds.filter_map(|seed| fitted(truth, seed).with_scales().scale_spread()).collect();
        assert!(found.iter().all(|s| s.interval.0 <= s.sd && s.sd <= s.interval.1), "{found:?}");
        let holds = |s: &&ScaleSpread| {
            s.interval.0 <= truth && (truth <= s.interval.1 || s.interval.1 >= ScaleSpread::MAX_PUBLISHED)
        };
        (found.iter().filter(holds).count(), found.iter().map(|s| s.sd).sum::<f64>() / n)
    }

    #[test]
    #[ignore = "takes minutes: run by `cargo xtask test --only stress`"]
    fn stress_interval_of_the_spread_covers() {
        for truth in [0.2, 0.4, 0.55, 0.8] {
            let (held, mean) = coverage(truth, 0..40);
            println!("{truth}: {held} of 40 hold it, mean {mean:.3}");
            // Fewer than 33 have a chance of 0.03 % where each has one of 95 %.
            assert!(held >= 33, "{truth}: {held} of 40");
            assert!(truth != 0.4 || (mean / truth - 1.0).abs() < 0.15, "{truth}: {mean}");
        }
    }

    #[test]
    fn differing_scales_are_selected() {
        const SEEDS: u64 = 12;
        let used = (0..SEEDS).filter(|seed| fitted(0.4, *seed).select_text_scales()).count();
        assert!(used >= 9, "{used} of {SEEDS}");
    }

    /// The rule allows a chance of one in forty.
    #[test]
    fn equal_scales_are_not_selected() {
        const SEEDS: u64 = 40;
        let taken = (100..100 + SEEDS).filter(|seed| fitted(0.0, *seed).select_text_scales()).count();
        assert!(taken <= 1, "{taken} of {SEEDS}");
    }

    #[test]
    fn label_updates_the_scale_and_is_reversible() {
        let mut crossed = fitted(0.0, 1);
        crossed.scales = Some(TextScales::new(crossed.texts(), 0.4));
        crossed.update_all_texts();
        let scale = |crossed: &CrossedEffects| crossed.scales.as_ref().unwrap().of(0);
        let before = scale(&crossed);
        let free = (0..60).find(|a| crossed.labels[0].iter().all(|l| l.annotator != *a)).unwrap();
        let used: Vec<u16> = crossed.labels[0].iter().map(|l| l.level).collect();
        let far = if used.iter().sum::<u16>() as usize > 2 * used.len() { 0 } else { 4 };
        crossed.set_label(0, free, Some(far));
        crossed.update_text(0);
        assert!(scale(&crossed).0 > before.0 + 0.02, "{:?} {before:?}", scale(&crossed));
        crossed.set_label(0, free, None);
        crossed.update_text(0);
        assert!((scale(&crossed).0 - before.0).abs() < 1e-9);
    }

    #[test]
    fn two_levels_and_few_texts_get_no_scales() {
        use crate::link::Link;
        use dissensus_domain::TargetKind;
        use dissensus_stats::data::{Observation, Target};
        for (kind, levels, texts) in
            [(TargetKind::Binary, 2, 100), (TargetKind::Ordinal, 5, 20), (TargetKind::Nominal, 4, 100)]
        {
            let observations: Vec<Observation> = (0..3 * texts as u32)
                .map(|i| Observation { text: i / 3, annotator: i % 3, level: (i * i % levels) as u16 })
                .collect();
            let link = Link::new(Target { kind, levels: levels as usize });
            let mut crossed = CrossedEffects::new(link, vec![0.0; texts * link.scores()], 3, &observations);
            crossed.expectation_maximisation(ROUGH);
            assert!(!crossed.select_text_scales() && crossed.scale_spread().is_none());
        }
    }

    /// Where every label is the same level, or each text has one label, there is no information about scales.
    #[test]
    fn uninformative_labels_give_no_scales() {
        use crate::link::Link;
        use dissensus_domain::TargetKind;
        use dissensus_stats::data::{Observation, Target};
        let link = Link::new(Target { kind: TargetKind::Ordinal, levels: 5 });
        for (labels, level) in [(3, 0), (3, 4), (1, 0)] {
            let of = |i: u32| Observation {
                text: i / labels,
                annotator: (i % labels + i / labels) % 12,
                level: if labels == 1 { (i % 5) as u16 } else { level },
            };
            let mut observations: Vec<Observation> = (0..120 * labels).map(of).collect();
            observations.sort_by_key(|o| (o.text, o.annotator));
            let mut crossed = CrossedEffects::new(link, vec![0.0; 120], 12, &observations);
            crossed.expectation_maximisation(ROUGH);
            assert!(!crossed.select_text_scales(), "{labels} {level}");
        }
    }
}
