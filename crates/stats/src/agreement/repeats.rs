//! Intra-annotator agreement, from answers to the same text in several annotation rounds.

use crate::math::distributions::{normal_quantile, student_quantile};
use crate::metrics::CONFIDENCE_LEVEL;
use serde::{Deserialize, Serialize};

/// Minimum number of re-annotations for a share: with fewer its interval would be uninformative.
pub const MIN_REPEATS: u32 = 5;

/// Minimum number of people with re-annotations for an interval about other people like them.
pub const MIN_PEOPLE_WHO_REPEAT: usize = 3;

/// Share of re-annotations with the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfAgreement {
    /// Pairs of consecutive answers of one person to one text.
    pub repeats: u32,
    /// Number of pairs with the same answer.
    pub same: u32,
    /// The share `r` of these pairs.
    pub share: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of people with re-annotations, if the interval treats them as a sample of people. 0 where it is
    /// only about these people.
    pub people: u32,
}

impl SelfAgreement {
    /// Of one person: Wilson's interval (1927, Probable inference, eq. 5), with re-annotations treated as
    /// independent. `None` with fewer than [`MIN_REPEATS`].
    pub fn new(same: u32, repeats: u32) -> Option<Self> {
        if repeats < MIN_REPEATS || same > repeats {
            return None;
        }
        let share = f64::from(same) / f64::from(repeats);
        let (low, high) = share_interval(share, repeats);
        Some(Self { repeats, same, share, low, high, people: 0 })
    }

    /// Of several people, from the number of re-annotations with the same answer and of all re-annotations of
    /// each. People differ in how often they repeat themselves, so that they are the sampling unit: the
    /// variance of the share is that of the delete-one jackknife over people, and the interval Wilson's for
    /// the number of independent re-annotations with this variance, with Student's t for the normal quantile
    /// (Dean and Pagano 2015, Evaluating confidence interval methods for binomial proportions in clustered
    /// surveys; Korn and Graubard 1998). Its degrees of freedom are one less than the number of people, or
    /// than their effective number with equal numbers of re-annotations (Kish 1965).
    ///
    /// With fewer than [`MIN_PEOPLE_WHO_REPEAT`] people the interval is that of [`SelfAgreement::new`],
    /// only about these people.
    pub fn of_people(counts: &[(u32, u32)]) -> Option<Self> {
        let with_repeats = || counts.iter().filter(|(_, all)| *all > 0);
        let (same, repeats) = with_repeats().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
        let alone = Self::new(same, repeats)?;
        let people = with_repeats().count();
        if people < MIN_PEOPLE_WHO_REPEAT {
            return Some(alone);
        }
        let (n, all, share) = (people as f64, f64::from(repeats), alone.share);
        let without = |(own, of): &(u32, u32)| f64::from(same - own) / f64::from(repeats - of);
        let variance = (n - 1.0) / n * with_repeats().map(|c| (without(c) - share).powi(2)).sum::<f64>();
        let in_effect = all.powi(2) / with_repeats().map(|(_, of)| f64::from(*of).powi(2)).sum::<f64>();
        let t = student_quantile(0.5 + 0.5 * CONFIDENCE_LEVEL, (in_effect - 1.0).round().max(1.0) as usize);
        // People who are more alike than by chance carry no more information than independent re-annotations.
        let independent = if variance > 0.0 { (share * (1.0 - share) / variance).min(all) } else { all };
        let (low, high) = wilson(share, independent, t);
        Some(Self { low: low.min(alone.low), high: high.max(alone.high), people: people as u32, ..alone })
    }

    /// The range of the best achievable accuracy on single answers, from `r` to its square root, with the
    /// uncertainty of `r`: from the lower end of its interval to the square root of the upper. It is valid
    /// where people did not remember their answer, and for texts and people like those asked again.
    ///
    /// A person who gives level c of a text with probability `p_c` repeats an answer with `r = E sum p_c^2`,
    /// and the best prediction is right with `E max p_c`. `max p >= sum p^2` gives the lower end;
    /// `(max p)^2 <= sum p^2` and Jensen's inequality the upper.
    pub fn ceiling(&self) -> (f64, f64) {
        (self.low, self.high.sqrt())
    }
}

/// The 95 % interval of a share of `n` independent outcomes (Wilson 1927, Probable inference, eq. 5), which
/// always contains the share. For the mean of outcomes *between* 0 and 1 it is conservative: their variance
/// is at most that of outcomes of 0 or 1.
pub fn share_interval(share: f64, n: u32) -> (f64, f64) {
    wilson(share, f64::from(n), normal_quantile(0.5 + 0.5 * CONFIDENCE_LEVEL))
}

fn wilson(p: f64, n: f64, z: f64) -> (f64, f64) {
    let z2 = z * z;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let reach = (z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
    ((middle - reach).clamp(0.0, p), (middle + reach).clamp(p, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against R 4: `prop.test(759, 1000, correct = FALSE)$conf.int`,
    /// `prop.test(8, 10, correct = FALSE)$conf.int`.
    #[test]
    fn interval_is_wilsons() {
        let many = SelfAgreement::new(759, 1000).unwrap();
        assert!((many.low - 0.731_533_0).abs() < 1e-6 && (many.high - 0.784_484_7).abs() < 1e-6, "{many:?}");
        let few = SelfAgreement::new(8, 10).unwrap();
        assert!((few.low - 0.490_162_5).abs() < 1e-6 && (few.high - 0.943_317_8).abs() < 1e-6, "{few:?}");
        let all = SelfAgreement::new(10, 10).unwrap();
        assert_eq!((all.share, all.high), (1.0, 1.0));
        assert!(SelfAgreement::new(5, 5).is_some());
        assert_eq!(SelfAgreement::new(4, 4), None);
    }

    /// Against scipy: five people with 60 re-annotations each, by the same formulas; a single person gets
    /// Wilson's interval.
    #[test]
    fn people_are_the_resampling_unit() {
        let five = SelfAgreement::of_people(&[(54, 60), (48, 60), (30, 60), (51, 60), (42, 60)]).unwrap();
        assert!((five.low - 0.523_555_9).abs() < 1e-6 && (five.high - 0.891_187_7).abs() < 1e-6, "{five:?}");
        let alike = SelfAgreement::of_people(&[(45, 60); 5]).unwrap();
        let independent = SelfAgreement::new(225, 300).unwrap();
        assert!(alike.low < independent.low && alike.high > independent.high, "{alike:?}");
        assert_eq!(SelfAgreement::of_people(&[(8, 10), (0, 0)]), SelfAgreement::new(8, 10));
        assert_eq!(SelfAgreement::of_people(&[(2, 2), (1, 2)]), None);
        let all = SelfAgreement::of_people(&[(20, 20); 4]).unwrap();
        assert_eq!((all.share, all.high), (1.0, 1.0));
        // One person with nearly all of the re-annotations carries little information about others.
        let uneven = SelfAgreement::of_people(&[(150, 200), (9, 10), (8, 10), (7, 10)]).unwrap();
        assert!(uneven.high - uneven.low > 0.4, "{uneven:?}");
    }

    /// Answers drawn twice from many distributions: the best accuracy is between the ends.
    #[test]
    fn accuracy_ceiling_is_within_its_bounds() {
        let (mut repeats, mut best) = (0.0, 0.0);
        let n = 200;
        for i in 0..n {
            let x = (f64::from(i) + 0.5) / f64::from(n);
            let p = [x * x, 2.0 * x * (1.0 - x), (1.0 - x) * (1.0 - x)];
            repeats += p.iter().map(|p| p * p).sum::<f64>() / f64::from(n);
            best += p.iter().copied().fold(0.0, f64::max) / f64::from(n);
        }
        assert!(repeats < best && best < repeats.sqrt(), "{repeats} {best}");
        // Few and many re-annotations with these shares: the ends include the share's uncertainty.
        for n in [50.0, 5_000.0_f64] {
            let found = SelfAgreement::new((repeats * n).round() as u32, n as u32).unwrap();
            let (low, high) = found.ceiling();
            assert_eq!((low, high), (found.low, found.high.sqrt()));
            assert!(low < found.share && found.share.sqrt() < high && low < best && best < high);
        }
    }
}
