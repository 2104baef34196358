//! The measures of a text, and rankings by them.

use super::maximum;
use super::nodes::Lens;
use super::pairs::PairSums;
use serde::{Deserialize, Serialize};

/// The measures of one text over the chosen annotators. Zeros with fewer than two annotators.
///
/// [`pairwise`](Self::pairwise), [`split`](Self::split), [`far_apart`](Self::far_apart) and
/// [`mean_level`](Self::mean_level) describe the actual people: annotators who labelled the text are
/// represented by their label, all others by their prediction. Where a model is uncertain about the text's
/// own score they are averaged over that uncertainty: two annotators read the same text, so this uncertainty
/// does not make them differ. The other measures are based only on predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// Probability that two different annotators drawn at random give different levels, 0..1:
    /// `1 - (sum_c (sum_a p_ac)^2 - sum_a sum_c p_ac^2) / (A (A - 1))`.
    pub pairwise: f32,
    /// Expected squared distance, in levels, of the answers of two different annotators drawn at random, over
    /// the largest possible value for this number of annotators ([`super::maximum::squared_distance`]), 0..1.
    /// For scales without an order [`Self::pairwise`] over its maximum.
    pub split: f32,
    /// Probability that two different annotators drawn at random are two levels apart or more; ordinal scales
    /// of three levels or more.
    pub far_apart: Option<f32>,
    /// Ordinal scales: mean level of the annotators' answers, levels counted 0, 1, ...
    pub mean_level: Option<f32>,
    /// Jensen-Shannon divergence between annotators, in bits: `H(mean_a p_a) - mean_a H(p_a)` (Lin 1991, eq.
    /// 5.1 with equal weights). The part of the entropy *between* annotators.
    pub divergence: f32,
    /// `mean_a H(p_a)` in bits: how uncertain the model is about each annotator.
    pub uncertainty: f32,
    /// Ordinal scales: variance between annotators' expected levels (levels counted 0, 1, ...), divided by A.
    pub level_variance: Option<f32>,
}

/// Measure for ranking texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// [`Disagreement::split`], the default.
    Split,
    /// [`Disagreement::far_apart`].
    FarApart,
    /// Probability that of two different annotators one answers below a level and one does not; ordinal and
    /// binary scales.
    OppositeSides {
        /// The lowest level above the cut, 1 to the number of levels minus one.
        cut: u16,
    },
    /// Share of the variance of a predicted label (of an annotator drawn at random) that is between
    /// annotators' expected levels, 0..1; for scales without an order of Gini's impurity. Based only on
    /// predictions: one label does not show what else a person might have answered.
    Between,
    /// [`Disagreement::split`] less the usual value among texts of the same mean level
    /// ([`super::UsualSplit`]); ordinal scales.
    Surprising,
    /// [`Disagreement::pairwise`].
    Pairwise,
    /// [`Disagreement::divergence`].
    Divergence,
    /// [`Disagreement::uncertainty`].
    Uncertainty,
}

impl Measure {
    /// This measure of one text, if it is part of [`Disagreement`]. Surprise is not: it depends on all texts.
    pub fn of(self, d: &Disagreement) -> Option<f32> {
        match self {
            Self::Split => Some(d.split),
            Self::FarApart => d.far_apart,
            Self::Pairwise => Some(d.pairwise),
            Self::Divergence => Some(d.divergence),
            Self::Uncertainty => Some(d.uncertainty),
            Self::OppositeSides { .. } | Self::Between | Self::Surprising => None,
        }
    }

    /// This measure from one text's pair sums; `None` for measures that are not a function of them.
    pub fn of_pairs(self, sums: &PairSums, text: usize, annotators: usize) -> Option<f64> {
        match self {
            Self::Split | Self::Surprising => Some(sums.split(text, annotators)),
            Self::FarApart => sums.far_apart(text, annotators),
            Self::OppositeSides { .. } | Self::Pairwise => Some(sums.differ(text, annotators)),
            Self::Between => {
                let (between, total) = sums.variances(text, annotators);
                Some(if total > 0.0 { (between / total).min(1.0) } else { 0.0 })
            }
            Self::Divergence | Self::Uncertainty => None,
        }
    }

    /// The view of answers that this measure needs.
    pub fn lens(self, ordinal: bool) -> Lens {
        match self {
            Self::OppositeSides { cut } => Lens { ordinal, cut: Some(cut) },
            _ => Lens { ordinal, cut: None },
        }
    }

    /// Distance of two answers for this measure, divided by the maximum where the measure is; of two levels
    /// where there is a cut.
    pub fn distance(self, a: usize, b: usize, people: usize, levels: usize, ordinal: bool) -> f64 {
        let apart = a.abs_diff(b);
        match self {
            Self::Split | Self::Surprising if ordinal => {
                (apart * apart) as f64 / maximum::squared_distance(people, levels)
            }
            Self::Split | Self::Surprising => {
                f64::from(u8::from(apart > 0)) / maximum::differ(people, levels)
            }
            Self::FarApart => f64::from(u8::from(apart > 1)),
            _ => f64::from(u8::from(apart > 0)),
        }
    }

    /// Range of possible values.
    pub fn range(self) -> (f32, f32) {
        (if self == Self::Surprising { -1.0 } else { 0.0 }, 1.0)
    }

    /// Whether labels replace predictions.
    pub(crate) fn counts_labels(self) -> bool {
        !matches!(self, Self::Between | Self::Divergence | Self::Uncertainty)
    }
}

/// Text indices from the largest to the smallest value; ties preserve the order of the texts.
pub fn ranking(values: &[f32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_by(|&a, &b| values[b as usize].total_cmp(&values[a as usize]));
    order
}

/// The possible ranks, from 1, of a text given its `interval`: after texts with values above the interval and
/// before those below it. `descending` are the values of all texts, largest first.
pub fn rank_band(descending: &[f32], interval: (f32, f32)) -> (u32, u32) {
    let above = descending.partition_point(|value| *value > interval.1);
    let down_to = descending.partition_point(|value| *value >= interval.0);
    (above as u32 + 1, (down_to as u32).max(above as u32 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_largest_first_and_keeps_ties_in_order() {
        assert_eq!(ranking(&[0.1, 0.5, 0.1, 0.9]), [3, 1, 0, 2]);
    }

    #[test]
    fn rank_band_covers_the_interval() {
        let values = [0.9, 0.8, 0.8, 0.5, 0.1];
        assert_eq!(rank_band(&values, (0.9, 0.9)), (1, 1));
        assert_eq!(rank_band(&values, (0.8, 0.8)), (2, 3));
        assert_eq!(rank_band(&values, (0.4, 0.85)), (2, 4));
        assert_eq!(rank_band(&values, (0.0, 1.0)), (1, 5));
        // Between two values: the rank it would have.
        assert_eq!(rank_band(&values, (0.6, 0.7)), (4, 4));
        assert_eq!(rank_band(&values, (0.0, 0.05)), (6, 6));
    }
}
