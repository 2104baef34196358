//! Agreement of people with themselves, from answers to the same text on several occasions.

use crate::math::distributions::normal_quantile;
use serde::{Deserialize, Serialize};

/// Fewer repeats than this give no share: its interval would say nothing.
pub const FEWEST_REPEATS: u32 = 5;

/// A share of repeats with the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfAgreement {
    /// Pairs of answers of one person to one text on two occasions, one behind the other.
    pub repeats: u32,
    /// Those with the same answer.
    pub same: u32,
    /// The share `r` of them.
    pub share: f64,
    /// Lower end of its 95 % interval (Wilson 1927, Probable inference, eq. 5; repeats taken as independent).
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl SelfAgreement {
    /// `None` with fewer than [`FEWEST_REPEATS`].
    pub fn of(same: u32, repeats: u32) -> Option<Self> {
        if repeats < FEWEST_REPEATS || same > repeats {
            return None;
        }
        let share = f64::from(same) / f64::from(repeats);
        let (low, high) = share_interval(share, repeats);
        Some(Self { repeats, same, share, low, high })
    }

    /// The range in which the best reachable accuracy on single answers lies, from `r` to its square root, with the uncertainty of `r`:
    /// from the lower end of its interval to the square root of the upper. It holds where people did not remember their answer, and for
    /// texts and people like those asked again.
    ///
    /// A person who gives level c of a text with probability `p_c` repeats an answer with `r = E sum p_c^2`, and the best prediction is
    /// right with `E max p_c`. `max p >= sum p^2` gives the lower end; `(max p)^2 <= sum p^2` and Jensen's inequality the upper.
    pub fn ceiling(&self) -> (f64, f64) {
        (self.low, self.high.sqrt())
    }
}

/// The 95 % interval of a share of `n` independent outcomes (Wilson 1927, Probable inference, eq. 5), which always holds the share. Of the
/// mean of outcomes *between* 0 and 1 it is too wide and never too narrow: they vary at most as those of 0 or 1 do.
pub fn share_interval(share: f64, n: u32) -> (f64, f64) {
    let (n, p) = (f64::from(n), share);
    let z2 = normal_quantile(0.975).powi(2);
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let reach = (z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
    ((middle - reach).clamp(0.0, p), (middle + reach).clamp(p, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against R 4: `prop.test(759, 1000, correct = FALSE)$conf.int`, `prop.test(8, 10, correct = FALSE)$conf.int`.
    #[test]
    fn the_interval_is_wilsons() {
        let many = SelfAgreement::of(759, 1000).unwrap();
        assert!((many.low - 0.731_533_0).abs() < 1e-6 && (many.high - 0.784_484_7).abs() < 1e-6, "{many:?}");
        let few = SelfAgreement::of(8, 10).unwrap();
        assert!((few.low - 0.490_162_5).abs() < 1e-6 && (few.high - 0.943_317_8).abs() < 1e-6, "{few:?}");
        let all = SelfAgreement::of(10, 10).unwrap();
        assert_eq!((all.share, all.high), (1.0, 1.0));
        assert!(SelfAgreement::of(5, 5).is_some());
        assert_eq!(SelfAgreement::of(4, 4), None);
    }

    /// Answers drawn twice from many distributions: the best accuracy lies between the ends.
    #[test]
    fn the_best_accuracy_lies_between_the_share_and_its_root() {
        let (mut repeats, mut best) = (0.0, 0.0);
        let n = 200;
        for i in 0..n {
            let x = (f64::from(i) + 0.5) / f64::from(n);
            let p = [x * x, 2.0 * x * (1.0 - x), (1.0 - x) * (1.0 - x)];
            repeats += p.iter().map(|p| p * p).sum::<f64>() / f64::from(n);
            best += p.iter().copied().fold(0.0, f64::max) / f64::from(n);
        }
        assert!(repeats < best && best < repeats.sqrt(), "{repeats} {best}");
        // As many repeats as these shares, few and many: the ends hold the share's uncertainty too.
        for n in [50.0, 5_000.0_f64] {
            let found = SelfAgreement::of((repeats * n).round() as u32, n as u32).unwrap();
            let (low, high) = found.ceiling();
            assert_eq!((low, high), (found.low, found.high.sqrt()));
            assert!(low < found.share && found.share.sqrt() < high && low < best && best < high);
        }
    }
}
