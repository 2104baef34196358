//! Thresholds of prediction sets for each annotator: quantiles of calibration scores, shrunk towards the
//! common one.

use crate::math::random::generator;
use rand::seq::SliceRandom;

/// Minimum number of calibration labels to estimate a 90 % quantile.
pub const MIN_LABELS: usize = 50;
/// Candidates for the number of labels that the scores of all annotators count for, in addition to an
/// annotator's own.
const WEIGHTS: [f64; 6] = [200.0, 100.0, 50.0, 25.0, 12.0, 6.0];
/// Steps of bisection, for an accuracy of one millionth.
const STEPS: usize = 20;
/// Largest number of labels for comparing weights.
const MAX_COMPARED: usize = 20_000;

/// Thresholds of conformal scores: a level is in an annotator's set if its score is at most the annotator's
/// threshold.
///
/// An annotator's own scores are combined with those of all as if the latter were `m` additional labels: the
/// threshold is the smallest s with `(m F(s) + n F_own(s)) / (m + n) >= share`, where F are the distributions
/// of the scores of all and of the n own ones. With m = 0 this is conformal prediction in groups (Vovk 2012,
/// Conditional validity of inductive conformal predictors, "Mondrian"), which needs many labels of each. m is
/// the weight with the least quantile loss of each label under the thresholds without it (infinite, the
/// common quantile, unless another is better by more than a standard error), and `share` is adjusted until,
/// with each label left out in turn, the share `ceil((N + 1) (1 - miss)) / N` of the labels of people with
/// other labels is covered. Annotators without labels here get the threshold of split conformal prediction:
/// the `ceil((N + 1) (1 - miss))`-th smallest of all N scores. Labels of one text or person are not
/// independent, and m and `share` are chosen on the labels that they are applied to, so that the coverage is
/// a target and not a guarantee.
#[derive(Clone, Debug)]
pub struct Thresholds {
    /// Scores of all, ascending.
    all: Vec<f64>,
    /// Each annotator's own, ascending.
    own: Vec<Vec<f64>>,
    /// Number of labels that the scores of all count for; infinite where own labels carry no information.
    pub weight: f64,
    /// The share of the mixture below a threshold.
    share: f64,
    /// The threshold of annotators without own scores.
    common: f64,
}

impl Thresholds {
    /// Fits thresholds to calibration `scores`, with the annotator of each, for sets that miss the label in
    /// `miss` of all cases. `None` with fewer than [`MIN_LABELS`].
    pub fn fit(scores: &[(u32, f64)], annotators: usize, miss: f64, seed: u64) -> Option<Self> {
        let one = Self::fit_common(scores, miss)?;
        let mut own = vec![Vec::new(); annotators];
        for (annotator, score) in scores {
            own[*annotator as usize].push(*score);
        }
        own.iter_mut().for_each(|scores| scores.sort_by(f64::total_cmp));
        let n = scores.len() as f64;
        let wanted = rank(scores.len(), miss) as f64 / n;
        let mut compared = scores.to_vec();
        if compared.len() > MAX_COMPARED {
            compared.shuffle(&mut generator(seed, 0xc0_4f0));
            compared.truncate(MAX_COMPARED);
        }
        let of = |weight: f64| {
            let mut fitted = Self { own: own.clone(), weight, ..one.clone() };
            fitted.share = fitted.share_that_covers(&compared, wanted);
            let losses = fitted.quantile_losses(&compared, 1.0 - miss);
            (fitted, losses)
        };
        let (common, of_common) = of(f64::INFINITY);
        let total = |losses: &[f64]| losses.iter().sum::<f64>();
        let (best, of_best) = WEIGHTS
            .map(of)
            .into_iter()
            .reduce(|best, next| if total(&next.1) < total(&best.1) { next } else { best })?;
        Some(if clearly_less(&of_best, &of_common) { best } else { common })
    }

    /// Fits one common threshold, regardless of who gave the `scores`. `None` with fewer than
    /// [`MIN_LABELS`].
    pub fn fit_common(scores: &[(u32, f64)], miss: f64) -> Option<Self> {
        if scores.len() < MIN_LABELS {
            return None;
        }
        let mut all: Vec<f64> = scores.iter().map(|(_, score)| *score).collect();
        all.sort_by(f64::total_cmp);
        let common = all.get(rank(all.len(), miss) - 1).copied().unwrap_or(f64::INFINITY);
        Some(Self { all, own: Vec::new(), weight: f64::INFINITY, share: 1.0, common })
    }

    /// The threshold of an annotator; the common one for an unknown annotator.
    pub fn of(&self, annotator: u32) -> f64 {
        let own = self.own.get(annotator as usize).map_or(&[][..], Vec::as_slice);
        self.threshold(own, None, self.share)
    }

    /// The smallest score at which the mixture reaches `share`; one of the annotator's own scores, equal to
    /// `without`, is left out.
    fn threshold(&self, own: &[f64], without: Option<f64>, share: f64) -> f64 {
        let many = own.len() - usize::from(without.is_some() && !own.is_empty());
        if !self.weight.is_finite() || many == 0 {
            return self.common;
        }
        let mixture = |at: usize| {
            let score = self.all[at];
            let common = (at + 1) as f64 / self.all.len() as f64;
            let below = own.partition_point(|s| *s <= score) as f64
                - f64::from(u8::from(without.is_some_and(|left| left <= score)));
            (self.weight * common + below) / (self.weight + many as f64)
        };
        let (mut low, mut high) = (0, self.all.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if mixture(middle) >= share { high = middle } else { low = middle + 1 }
        }
        self.all.get(low).copied().unwrap_or(f64::INFINITY)
    }

    fn without_itself(&self, (annotator, score): (u32, f64), share: f64) -> f64 {
        self.threshold(&self.own[annotator as usize], Some(score), share)
    }

    /// The smallest share of the mixture at which the share `wanted` of labels is covered by thresholds
    /// without themselves. Labels of people without other labels are covered by the common threshold,
    /// independent of the share.
    fn share_that_covers(&self, scores: &[(u32, f64)], wanted: f64) -> f64 {
        let mixed: Vec<(u32, f64)> =
            scores.iter().filter(|one| self.own[one.0 as usize].len() > 1).copied().collect();
        if mixed.is_empty() || !self.weight.is_finite() {
            return 1.0;
        }
        let covered = |share: f64| {
            let hits = mixed.iter().filter(|one| one.1 <= self.without_itself(**one, share)).count();
            hits as f64 / mixed.len() as f64
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if covered(middle) >= wanted { high = middle } else { low = middle }
        }
        high
    }

    /// The quantile loss (Koenker and Bassett 1978) of each label under the threshold without it.
    fn quantile_losses(&self, scores: &[(u32, f64)], level: f64) -> Vec<f64> {
        let loss = |one: &(u32, f64)| {
            let gap = one.1 - self.without_itself(*one, self.share).min(1.0);
            if gap > 0.0 { level * gap } else { (level - 1.0) * gap }
        };
        scores.iter().map(loss).collect()
    }
}

/// The 1-based rank of the score that split conformal prediction selects among `labels` scores in ascending
/// order.
fn rank(labels: usize, miss: f64) -> usize {
    ((labels as f64 + 1.0) * (1.0 - miss)).ceil() as usize
}

/// Whether losses are lower by more than a standard error of the paired difference: the best of several is
/// partly luck.
fn clearly_less(losses: &[f64], than: &[f64]) -> bool {
    let gains: Vec<f64> = than.iter().zip(losses).map(|(a, b)| a - b).collect();
    let n = gains.len() as f64;
    let gain = gains.iter().sum::<f64>() / n;
    let squares: f64 = gains.iter().map(|one| (one - gain).powi(2)).sum();
    gain > (squares / (n - 1.0).max(1.0) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Scores of annotators whose 90 % quantiles differ by `spread`, `each` of them.
    fn scores(annotators: u32, each: usize, spread: f64, seed: u64) -> Vec<(u32, f64)> {
        let mut rng = generator(seed, 0);
        let mut all = Vec::new();
        for annotator in 0..annotators {
            let scale = 0.5 + spread * (f64::from(annotator) / f64::from(annotators) - 0.5);
            all.extend((0..each).map(|_| (annotator, scale * rng.random::<f64>())));
        }
        all
    }

    fn coverage(fitted: &Thresholds, fresh: &[(u32, f64)], of: impl Fn(u32) -> bool) -> f64 {
        let chosen: Vec<_> = fresh.iter().filter(|one| of(one.0)).collect();
        chosen.iter().filter(|one| one.1 <= fitted.of(one.0)).count() as f64 / chosen.len() as f64
    }

    #[test]
    fn own_quantiles_are_used_if_people_differ() {
        let fresh = |spread| scores(40, 500, spread, 99);
        let alike = Thresholds::fit(&scores(40, 20, 0.0, 1), 40, 0.1, 0).unwrap();
        assert!(alike.weight >= 50.0, "{}", alike.weight);
        assert!((coverage(&alike, &fresh(0.0), |_| true) - 0.9).abs() < 0.02);
        let differ = Thresholds::fit(&scores(40, 60, 0.9, 2), 40, 0.1, 0).unwrap();
        assert!(differ.weight <= 25.0, "{}", differ.weight);
        let fresh = fresh(0.9);
        assert!((coverage(&differ, &fresh, |_| true) - 0.9).abs() < 0.02);
        let common = Thresholds { weight: f64::INFINITY, share: 0.9, ..differ.clone() };
        let most = |fitted: &Thresholds| coverage(fitted, &fresh, |a| a >= 36);
        assert!(most(&common) < 0.7 && most(&differ) > 0.84, "{} {}", most(&common), most(&differ));
    }

    #[test]
    fn annotator_without_labels_gets_the_common_quantile() {
        for (labels, spread) in [(60, 0.9), (20, 0.0)] {
            let all = scores(40, labels, spread, 2);
            let fitted = Thresholds::fit(&all, 41, 0.1, 0).unwrap();
            assert_eq!(fitted.weight.is_finite() && fitted.weight <= 25.0, spread > 0.0);
            let mut sorted: Vec<f64> = all.iter().map(|one| one.1).collect();
            sorted.sort_by(f64::total_cmp);
            let place = ((all.len() + 1) * 9).div_ceil(10);
            assert_eq!(fitted.of(40), sorted[place - 1]);
            assert_eq!(fitted.of(7_000), sorted[place - 1]);
            let one = Thresholds::fit_common(&all, 0.1).unwrap();
            assert!((0..41).all(|annotator| one.of(annotator) == sorted[place - 1]));
        }
    }

    #[test]
    fn few_labels_shrink_towards_the_common_quantile() {
        assert!(Thresholds::fit(&scores(7, 7, 0.5, 3), 7, 0.1, 0).is_none());
        let mut all = scores(30, 40, 0.0, 4);
        all.extend([(30, 0.9), (30, 0.95)]);
        let fitted = Thresholds { weight: 20.0, share: 0.9, ..Thresholds::fit(&all, 31, 0.1, 0).unwrap() };
        assert!(fitted.of(30) >= fitted.of(7_000) && fitted.of(30) <= 0.95);
        // Every level is in the set where the scores are uninformative: of equal scores all are covered.
        let same: Vec<(u32, f64)> = (0..60).map(|i| (i % 5, 0.0)).collect();
        assert_eq!(Thresholds::fit(&same, 5, 0.1, 0).unwrap().of(2), 0.0);
    }
}
