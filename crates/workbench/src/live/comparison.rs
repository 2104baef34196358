//! Groups of people compared on every text.

use dissensus_perspectives::{GroupGap, GroupGaps, GroupPair, LiveModel};
use std::ops::Range;

/// Two sides, named.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sides {
    pub(crate) attribute: String,
    /// Of the second side, the one that is spoken of.
    pub(crate) value: String,
    /// Of the first side; `None` for all others of whom the attribute is known.
    pub(crate) against: Option<String>,
}

/// Some pairs of groups, and what all texts say about them.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) sides: Vec<Sides>,
    gaps: GroupGaps,
}

impl Comparison {
    /// Of `groups` of annotators' indices; `pairs` and `sides` go together.
    pub(crate) fn of(
        model: &LiveModel,
        groups: &[Vec<u32>],
        pairs: Vec<GroupPair>,
        sides: Vec<Sides>,
    ) -> Self {
        Self { sides, gaps: GroupGaps::estimate(model, groups, pairs) }
    }

    /// Whether a gap stands after correction for all texts and pairs.
    pub(crate) fn stands(&self, gap: &GroupGap) -> bool {
        gap.p.is_some_and(|p| p <= self.gaps.limit())
    }

    /// All gaps on one text, in the order of [`Comparison::sides`].
    pub(crate) fn gaps(&self, model: &LiveModel, text: u32) -> Vec<GroupGap> {
        let at = text as usize;
        self.gaps.of_texts(model, at..at + 1).first().map_or_else(Vec::new, |text| self.gaps.gaps(text))
    }

    /// The size of the widest gap on every text of `texts`; not a number where nothing is compared.
    pub(crate) fn widest(&self, model: &LiveModel, texts: Range<usize>) -> Vec<f32> {
        let size = |gaps: Vec<GroupGap>| gaps.iter().map(|gap| gap.gap.abs() as f32).fold(f32::NAN, f32::max);
        self.gaps.of_texts(model, texts).iter().map(|text| size(self.gaps.gaps(text))).collect()
    }
}

/// The place of the widest gap.
pub(crate) fn widest(gaps: &[GroupGap]) -> Option<usize> {
    (0..gaps.len()).max_by(|a, b| gaps[*a].gap.abs().total_cmp(&gaps[*b].gap.abs()))
}

/// The interval of a gap's size, from that of the gap.
pub(crate) fn size_interval((low, high): (f64, f64)) -> (f32, f32) {
    let (a, b) = (low.abs() as f32, high.abs() as f32);
    (if low <= 0.0 && high >= 0.0 { 0.0 } else { a.min(b) }, a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_gap_is_not_below_zero() {
        assert_eq!(size_interval((-0.5, 0.25)), (0.0, 0.5));
        assert_eq!(size_interval((-0.5, -0.25)), (0.25, 0.5));
        assert_eq!(size_interval((0.25, 0.5)), (0.25, 0.5));
    }
}
