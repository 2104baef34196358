//! Group slopes: how the values of an attribute (gender, education) change annotators' slopes on a few
//! directions of the text.
//!
//! Slopes get the prior `d_a ~ N(b_g, slope_vars)`, where `b_g` is the deviation of the group `g` from the
//! mean over labels of effects `~ N(0, v)`, summed over attributes. `v` is the variance with the largest gain
//! on held-out labels: labels of held-out annotators on held-out texts, predicted from their groups only.
//!
//! Slopes are used only where these labels are more likely than under the same slopes of the opposite sign by
//! more than chance, with annotators and texts varying together, corrected for the number of attributes
//! tried. Where groups do not differ, both signs are equally likely; where they do, this comparison detects
//! half the difference at which the gain itself exceeds its error (it is the score test of the slopes' size,
//! with their direction learned from other data). In addition, the gain must be large enough to matter, and
//! annotators with other known labels must be predicted better too, compared with the same slopes as own
//! slopes only and with the original model.

use super::crossed::CrossedEffects;
use super::group_columns::{GroupColumns, GroupEffects, labels_in_groups, sum_of};
use super::group_evidence::{GroupEvidence, SlopeEvidence};
use super::random_slopes::SLOPE_VARIANCES;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{Attribute, GroupSlopes};
use dissensus_stats::math::clustered::total_and_two_way_error;
use dissensus_stats::math::distributions::{normal_quantile, student_quantile};
use rayon::prelude::*;

/// Variance of annotators' own slopes around their group's on features on which
/// [`CrossedEffects::select_slopes`] gave them none: without it, individual slopes of some annotators would
/// be attributed to their groups.
const OWN_VARIANCE: f64 = 0.01;
/// Number of cross-validation parts of the annotators.
const PARTS: usize = 5;
/// Largest number of attributes tried, those whose groups have most labels: each costs two predictions of all
/// labels for every variance.
const MAX_TRIED: usize = 8;
/// Largest number of attributes whose groups get slopes.
const MAX_USED: usize = 3;
/// Smallest mean gain per label, in nats, that justifies predicting an annotator by a group.
const MIN_GAIN: f64 = 0.001;
/// One-sided confidence required of group slopes, before Bonferroni's correction for the attributes tried.
const CONFIDENCE: f64 = 0.977_249_868;
/// Rounds in which groups, annotators and texts are fitted to each other.
const ROUNDS: usize = 2;

/// Log-likelihoods of labels, (text, nats), annotator by annotator.
type HeldOut = Vec<Vec<(u32, f64)>>;

/// An annotator fitted without the labels of one fold of texts.
struct FoldFit {
    fold: u8,
    theta: Vec<f64>,
    covariance: Vec<f64>,
}

/// Annotators with labels, each with a fit without every fold of texts in which they have labels.
type FoldFits = Vec<(usize, Vec<FoldFit>)>;

/// Division into cross-validation folds.
struct Division<'a> {
    /// Fold of every text.
    fold: &'a [u8],
    folds: usize,
    /// Part of every annotator.
    part: Vec<u8>,
}

/// Held-out labels of annotators predicted by their groups only, and of annotators predicted by their other
/// labels.
struct GroupPredictions {
    new: HeldOut,
    known: HeldOut,
}

/// Slopes of the groups of some attributes.
struct Candidate {
    attributes: Vec<usize>,
    /// Columns of every annotator.
    of: Vec<Vec<u16>>,
    variance: f64,
    /// Slopes of the groups by cell, see [`Trial::cells`]; empty without attributes.
    means: Vec<Vec<f64>>,
    /// Gain of held-out labels of new annotators over the model without the last attribute, in nats, and its
    /// standard error.
    gain: f64,
    error: f64,
    predicted: GroupPredictions,
    passes: bool,
}

/// A model without slopes of groups, and the data for trying some.
struct Trial<'a> {
    effects: CrossedEffects,
    attributes: &'a [Attribute],
    by: Division<'a>,
    known: FoldFits,
    new: FoldFits,
    /// Evidence of each annotator's labels about slopes, without the labels of each fold.
    evidence: Vec<Vec<SlopeEvidence>>,
    /// Held-out labels predicted by the model before the trial, without slopes of groups.
    before: GroupPredictions,
    /// Number of labels.
    labels: f64,
    /// Number of standard errors by which labels must be more likely than under the opposite slopes.
    confidence: f64,
}

impl CrossedEffects {
    /// Gives the slopes of annotators on `z` (texts x `dim` features, of mean 0 over labels and unit
    /// variance, the shared score first) prior means by their attributes, attribute by attribute, if held-out
    /// labels gain by more than chance; otherwise leaves everything unchanged. Annotators and texts are then
    /// refitted. `None` where there are no groups to try, and when cancelled.
    pub(crate) fn select_group_slopes(
        &mut self,
        attributes: &[Attribute],
        (z, dim): (&[f64], usize),
        (fold, folds): (&[u8], usize),
        seed: u64,
        progress: &dyn Progress,
    ) -> Option<GroupSlopes> {
        let labels_of = self.label_counts();
        let labels = |a: usize| Some((labels_in_groups(&attributes[a], &labels_of)?, a));
        let mut with_groups: Vec<(usize, usize)> = (0..attributes.len()).filter_map(labels).collect();
        with_groups.sort_by_key(|(labels, a)| (std::cmp::Reverse(*labels), *a));
        let mut tried: Vec<usize> = with_groups.into_iter().map(|(_, a)| a).take(MAX_TRIED).collect();
        tried.sort_unstable();
        if self.link.softmax || dim == 0 || tried.is_empty() {
            return None;
        }
        let part = dissensus_stats::data::folds::assign(self.annotators.len(), PARTS, seed ^ 0x905);
        let trial = Trial::new(self, attributes, (z, dim), Division { fold, folds, part }, tried.len());
        let mut found = GroupSlopes {
            tried: tried.iter().map(|a| attributes[*a].name.clone()).collect(),
            used: Vec::new(),
            gain: 0.0,
            standard_error: 0.0,
        };
        let labels = trial.labels;
        let mut best = trial.without_attributes();
        while best.attributes.len() < MAX_USED {
            let left = tried.iter().filter(|attribute| !best.attributes.contains(attribute));
            let candidates = left
                .take_while(|_| !progress.cancelled())
                .map(|attribute| trial.candidate(&best, *attribute));
            let better =
                |a: &Candidate, b: &Candidate| a.passes.cmp(&b.passes).then(a.gain.total_cmp(&b.gain));
            let Some(next) = candidates.max_by(better) else { break };
            if next.passes || best.attributes.is_empty() {
                (found.gain, found.standard_error) = (next.gain / labels, next.error / labels);
            }
            if !next.passes {
                break;
            }
            best = next;
        }
        if progress.cancelled() {
            return None;
        }
        found.used = best.attributes.iter().map(|a| attributes[*a].name.clone()).collect();
        if !best.attributes.is_empty() {
            *self = trial.effects;
            self.add_group_slopes(attributes, &best.attributes, best.variance);
            self.choose_own_variance(fold, folds);
            for _ in 0..ROUNDS {
                self.update_all_texts();
                self.update_all_annotators();
                self.update_group_slopes(best.variance);
            }
            self.update_all_texts();
        }
        self.group_slopes = Some(found.clone());
        Some(found)
    }

    /// The same model with slopes on `dim` features, and annotators fitted to the current texts.
    fn with_slopes(&self, z: &[f64], dim: usize) -> Self {
        let mut trial = self.clone();
        trial.z = z.to_vec();
        trial.slope_vars.resize(dim, OWN_VARIANCE);
        trial.slope_dim = dim;
        trial.reset_annotators();
        trial.update_all_annotators();
        trial
    }

    fn add_group_slopes(&mut self, attributes: &[Attribute], chosen: &[usize], variance: f64) {
        let columns = GroupColumns::new(attributes, chosen, &self.label_counts());
        let of = columns.of_all(attributes, self.annotators.len());
        self.groups = Some(GroupEffects::new(columns, of, self.slope_dim));
        self.update_group_slopes(variance);
    }

    /// Updates groups given annotators, and annotators given groups.
    fn update_group_slopes(&mut self, variance: f64) {
        let Some(groups) = &self.groups else { return };
        let mut all = GroupEvidence::none(groups.columns.len(), self.slope_dim);
        for (a, effect) in self.annotators.iter().enumerate().filter(|(_, effect)| !effect.labels.is_empty())
        {
            all.add(&groups.of[a], &self.slope_evidence(a, &effect.theta, &effect.covariance));
        }
        let found = all.estimate(&groups.columns, variance);
        if let Some(groups) = &mut self.groups {
            (groups.means, groups.root) = (found.means, found.root);
        }
        self.update_all_annotators();
    }

    /// Chooses the variance of slopes within groups again, because the current one was estimated with
    /// differences between groups included: among the current variances and one for all features, those under
    /// which held-out labels are most likely.
    fn choose_own_variance(&mut self, fold: &[u8], folds: usize) {
        let mut best: Option<(f64, Vec<f64>)> = None;
        let as_they_are = self.slope_vars.clone();
        for variances in
            std::iter::once(as_they_are.clone()).chain(SLOPE_VARIANCES.map(|v| vec![v; self.slope_dim]))
        {
            self.slope_vars.clone_from(&variances);
            let total: f64 = self.held_out_labels(fold, folds).iter().flatten().map(|label| label.1).sum();
            if best.as_ref().is_none_or(|best| total > best.0) {
                best = Some((total, variances));
            }
        }
        self.slope_vars = best.map_or(as_they_are, |best| best.1);
        self.update_all_annotators();
    }

    /// Annotators with labels, each fitted without every fold of texts in which they have labels.
    fn fits_without_folds(&self, by: &Division<'_>) -> FoldFits {
        let precision = self.prior_precision();
        let annotators = (0..self.annotators.len()).into_par_iter();
        annotators
            .filter(|&a| !self.annotators[a].labels.is_empty())
            .map(|a| {
                let labels = self.labels_given_texts(a);
                let of_fold = |f: u8| {
                    let left_out = |text: u32| by.fold[text as usize] == f;
                    let (theta, covariance) = self.fitted_without(a, &labels, left_out, &precision)?;
                    Some(FoldFit { fold: f, theta, covariance })
                };
                (a, (0..by.folds as u8).filter_map(of_fold).collect())
            })
            .collect()
    }

    /// The same annotators and folds, with annotators at their prior.
    fn as_new_annotators(&self, fits: &FoldFits) -> FoldFits {
        let covariance = self.prior_covariance();
        let new = |(a, fits): &(usize, Vec<FoldFit>)| {
            let of = |fit: &FoldFit| FoldFit {
                fold: fit.fold,
                theta: self.prior_mean(*a),
                covariance: covariance.clone(),
            };
            (*a, fits.iter().map(of).collect())
        };
        fits.iter().map(new).collect()
    }

    /// Log-likelihood of every label under the fit without its fold, with the prior mean of the slopes moved
    /// by `mean` of the annotator and the fold.
    fn held_out_given(
        &self,
        fits: &FoldFits,
        fold: &[u8],
        mean: impl Fn(usize, u8) -> Vec<f64> + Sync,
    ) -> HeldOut {
        let (d, w) = (self.link.random_effects(), self.width());
        let of_annotator = |(a, fits): &(usize, Vec<FoldFit>)| {
            let labels = self.labels_given_texts(*a);
            let of_fit = |fit: &FoldFit| {
                let mut theta = fit.theta.clone();
                // A normal posterior moves by its covariance times the prior's precision times the move of
                // the prior.
                for (k, (mean, variance)) in mean(*a, fit.fold).iter().zip(&self.slope_vars).enumerate() {
                    let column = fit.covariance.iter().skip(d + k).step_by(w);
                    theta.iter_mut().zip(column).for_each(|(t, c)| *t += c * mean / variance);
                }
                let left_out = labels.iter().filter(|label| fold[label.0 as usize] == fit.fold);
                left_out
                    .map(|(text, label)| (*text, self.label_log_likelihood(&theta, &fit.covariance, label)))
                    .collect::<Vec<_>>()
            };
            fits.iter().flat_map(of_fit).collect()
        };
        fits.par_iter().map(of_annotator).collect()
    }
}

impl<'a> Trial<'a> {
    fn new(
        now: &CrossedEffects,
        attributes: &'a [Attribute],
        (z, dim): (&[f64], usize),
        by: Division<'a>,
        tried: usize,
    ) -> Self {
        let as_they_were = now.fits_without_folds(&by);
        let nowhere = |_: usize, _: u8| Vec::new();
        let before = GroupPredictions {
            new: now.held_out_given(&now.as_new_annotators(&as_they_were), by.fold, nowhere),
            known: now.held_out_given(&as_they_were, by.fold, nowhere),
        };
        let effects = now.with_slopes(z, dim);
        let known = effects.fits_without_folds(&by);
        let of_annotator = |(a, fits): &(usize, Vec<FoldFit>)| {
            let whole = &effects.annotators[*a];
            let of_fold = |fold: usize| {
                let fit = fits.iter().find(|fit| usize::from(fit.fold) == fold);
                let (theta, covariance) =
                    fit.map_or((&whole.theta, &whole.covariance), |fit| (&fit.theta, &fit.covariance));
                effects.slope_evidence(*a, theta, covariance)
            };
            (0..by.folds).map(of_fold).collect()
        };
        let evidence = known.par_iter().map(of_annotator).collect();
        let confidence = 1.0 - (1.0 - CONFIDENCE) / tried as f64;
        let labels = before.known.iter().map(Vec::len).sum::<usize>() as f64;
        Self {
            new: effects.as_new_annotators(&known),
            evidence,
            known,
            before,
            labels,
            confidence,
            effects,
            attributes,
            by,
        }
    }

    /// The candidate without attributes.
    fn without_attributes(&self) -> Candidate {
        let nowhere = |_: usize, _: u8| Vec::new();
        let predicted = GroupPredictions {
            new: self.effects.held_out_given(&self.new, self.by.fold, nowhere),
            known: self.effects.held_out_given(&self.known, self.by.fold, nowhere),
        };
        let of = vec![Vec::new(); self.effects.annotators.len()];
        Candidate {
            attributes: Vec::new(),
            of,
            variance: 0.0,
            means: Vec::new(),
            gain: 0.0,
            error: 0.0,
            predicted,
            passes: false,
        }
    }

    /// The slopes of an annotator's groups by the cell of the annotator and a fold.
    fn mean(&self, candidate: &Candidate, annotator: usize, fold: u8) -> Vec<f64> {
        let cell = usize::from(fold) * PARTS + usize::from(self.by.part[annotator]);
        let means = candidate.means.get(cell).map_or(&[][..], Vec::as_slice);
        sum_of(means, &candidate.of[annotator], self.effects.slope_dim)
    }

    /// `now` with one more attribute, under the variance with the largest gain for new annotators.
    fn candidate(&self, now: &Candidate, attribute: usize) -> Candidate {
        let mut attributes = now.attributes.clone();
        attributes.push(attribute);
        let columns = GroupColumns::new(self.attributes, &attributes, &self.effects.label_counts());
        let of = columns.of_all(self.attributes, self.effects.annotators.len());
        let cells = self.cells(&columns, &of);
        let at = |variance: f64| {
            let means = cells.par_iter().map(|cell| cell.means(&columns, variance)).collect();
            let predicted = GroupPredictions { new: HeldOut::new(), known: HeldOut::new() };
            let (attributes, of) = (attributes.clone(), of.clone());
            let mut found = Candidate {
                attributes,
                of,
                variance,
                means,
                gain: 0.0,
                error: 0.0,
                predicted,
                passes: false,
            };
            found.predicted.new =
                self.effects.held_out_given(&self.new, self.by.fold, |a, fold| self.mean(&found, a, fold));
            (found.gain, found.error) = self.gain(&found.predicted.new, &now.predicted.new);
            found
        };
        let [first, others @ ..] = &SLOPE_VARIANCES;
        let better = |best: Candidate, next: Candidate| if next.gain > best.gain { next } else { best };
        let mut best = others.iter().fold(at(*first), |best, variance| better(best, at(*variance)));
        best.predicted.known =
            self.effects.held_out_given(&self.known, self.by.fold, |a, fold| self.mean(&best, a, fold));
        best.passes = self.passes(&best, now);
        best
    }

    fn passes(&self, candidate: &Candidate, now: &Candidate) -> bool {
        let opposite = |a: usize, fold: u8| -> Vec<f64> {
            let (with, without) = (self.mean(candidate, a, fold), self.mean(now, a, fold));
            with.iter().zip(without).map(|(with, without)| 2.0 * without - with).collect()
        };
        let opposite = self.effects.held_out_given(&self.new, self.by.fold, opposite);
        let (likelier, error) = self.gain(&candidate.predicted.new, &opposite);
        let GroupPredictions { new, known } = &candidate.predicted;
        let more = |found: &HeldOut, before: &HeldOut| self.gain(found, before).0 > 0.0;
        candidate.gain > MIN_GAIN * self.labels
            && likelier > self.bar(candidate, now) * error
            && more(known, &now.predicted.known)
            && more(new, &self.before.new)
            && more(known, &self.before.known)
    }

    /// Threshold that the sum over its standard error has to exceed. Every part of the annotators is scored
    /// by slopes learned from all other parts, so that without a difference the sum is a quadratic form: with
    /// `k` numbers to learn, it follows `(q - k) / sqrt(q)` for `q` of a chi-squared distribution with `k`
    /// degrees of freedom, whose quantile (Wilson and Hilferty 1931) exceeds Student's for large `k`.
    fn bar(&self, candidate: &Candidate, now: &Candidate) -> f64 {
        let numbers = |of: &Candidate| of.means.first().map_or(0, Vec::len);
        let values = candidate.attributes.len() - now.attributes.len();
        let learned = (numbers(candidate) - numbers(now)).saturating_sub(values * self.effects.slope_dim);
        let k = learned.max(1) as f64;
        let spread = 2.0 / (9.0 * k);
        let quantile = k * (1.0 - spread + normal_quantile(self.confidence) * spread.sqrt()).powi(3);
        ((quantile - k) / quantile.sqrt()).max(student_quantile(self.confidence, self.known.len() - 1))
    }

    /// Sum of the gains of labels, with its standard error over annotators and texts.
    fn gain(&self, found: &HeldOut, before: &HeldOut) -> (f64, f64) {
        let of_label = |(a, b): (&(u32, f64), &(u32, f64))| (a.0, a.1 - b.1);
        let annotators = found.iter().zip(before);
        let gains: HeldOut = annotators.map(|(a, b)| a.iter().zip(b).map(of_label).collect()).collect();
        total_and_two_way_error(&gains, self.by.fold.len())
    }

    /// For every fold of texts and part of the annotators (one cell each), the evidence of the labels of all
    /// other annotators on all other texts about the slopes of every group.
    fn cells(&self, columns: &GroupColumns, of: &[Vec<u16>]) -> Vec<GroupEvidence> {
        let none = || GroupEvidence::none(columns.len(), self.effects.slope_dim);
        let of_fold = |fold: usize| {
            let (mut all, mut parts) = (none(), vec![none(); PARTS]);
            for ((a, _), evidence) in self.known.iter().zip(&self.evidence) {
                all.add(&of[*a], &evidence[fold]);
                parts[usize::from(self.by.part[*a])].add(&of[*a], &evidence[fold]);
            }
            parts.into_iter().map(move |part| all.with(-1.0, &part))
        };
        (0..self.by.folds).flat_map(of_fold).collect()
    }
}

#[cfg(test)]
#[path = "group_slopes_tests.rs"]
mod tests;
