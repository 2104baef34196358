//! Comparison of groups of people on every text.

use dissensus_models::live::{LiveModel, SeveritySides};
use dissensus_project::words::counted;
use dissensus_stats::disagreement::{GroupGap, GroupGaps, GroupPair};
use std::ops::Range;

/// The names of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    pub attribute: String,
    /// Value of the second side, the one that is reported.
    pub value: String,
    /// Value of the first side; `None` for all others whose attribute is known.
    pub against: Option<String>,
}

/// Pairs of groups with the evidence about them from all texts.
#[derive(Debug)]
pub struct Comparison {
    pub sides: Vec<Sides>,
    gaps: GroupGaps,
    /// The strict and the lenient, if they are compared in addition to the groups.
    severity: Option<SeveritySides>,
}

impl Comparison {
    /// Compares `groups` of annotators' indices; `pairs` and `sides` are parallel.
    pub fn new(model: &LiveModel, groups: Vec<Vec<u32>>, pairs: Vec<GroupPair>, sides: Vec<Sides>) -> Self {
        let gaps = GroupGaps::by_labels(model, groups, pairs, GroupGaps::FALSE_DISCOVERIES);
        Self { sides, gaps, severity: None }
    }

    /// Compares groups as [`Comparison::new`] does, and the strict with the lenient of `mask` (everyone with
    /// `None`). Each of the two is corrected to half of the false discovery rate.
    pub fn next_to_severity(
        model: &LiveModel,
        groups: Vec<Vec<u32>>,
        pairs: Vec<GroupPair>,
        sides: Vec<Sides>,
        mask: Option<&[bool]>,
    ) -> Self {
        let severity = SeveritySides::estimate(model, mask);
        let rate =
            if severity.is_some() { GroupGaps::NEXT_TO_SEVERITY } else { GroupGaps::FALSE_DISCOVERIES };
        Self { sides, gaps: GroupGaps::by_labels(model, groups, pairs, rate), severity }
    }

    /// How much higher the strict answer a text than the lenient; `None` if they are not compared.
    pub fn severity_gap(&self, model: &LiveModel, text: u32) -> Option<GroupGap> {
        self.severity.as_ref()?.on_text(model, text)
    }

    /// All gaps on one text, in the order of [`Comparison::sides`].
    pub fn gaps(&self, model: &LiveModel, text: u32) -> Vec<GroupGap> {
        self.gaps.on_text(model, text as usize, &model.level_steps(text))
    }

    /// The size of the widest gap on every text of `texts`; not a number if nothing is compared.
    pub fn widest(&self, model: &LiveModel, texts: Range<usize>) -> Vec<f32> {
        self.gaps.widest(model, texts)
    }

    /// What is missing before the gaps have intervals.
    pub fn needs(&self) -> Option<String> {
        let shared = self.gaps.shared_texts();
        (shared < GroupGaps::MIN_TEXTS).then(|| {
            format!(
                "Too little to tell how sure a gap between groups is: {} with labels of both groups, {} are needed.",
                counted(shared as u64, "text"),
                GroupGaps::MIN_TEXTS
            )
        })
    }
}

/// The index of the widest gap.
pub fn widest(gaps: &[GroupGap]) -> Option<usize> {
    (0..gaps.len()).max_by(|a, b| gaps[*a].gap.abs().total_cmp(&gaps[*b].gap.abs()))
}

/// The interval of the size of the widest of all gaps, from simultaneous intervals; `None` if one of them
/// has none.
pub fn widest_interval(gaps: &[GroupGap]) -> Option<(f32, f32)> {
    let sizes = gaps.iter().map(|gap| gap.interval.map(size_interval)).collect::<Option<Vec<_>>>()?;
    sizes.into_iter().reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))
}

/// The interval of a gap's size, from that of the gap.
fn size_interval((low, high): (f64, f64)) -> (f32, f32) {
    let (a, b) = (low.abs() as f32, high.abs() as f32);
    (if low <= 0.0 && high >= 0.0 { 0.0 } else { a.min(b) }, a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_size_is_not_negative() {
        assert_eq!(size_interval((-0.5, 0.25)), (0.0, 0.5));
        assert_eq!(size_interval((-0.5, -0.25)), (0.25, 0.5));
        assert_eq!(size_interval((0.25, 0.5)), (0.25, 0.5));
    }

    #[test]
    fn widest_interval_may_be_of_any_gap() {
        let gap = |gap, interval| GroupGap { gap, interval, labels: [0, 0], p: None, significant: false };
        let (sure, wide) = (gap(0.375, Some((0.25, 0.5))), gap(-0.25, Some((-1.0, 0.5))));
        assert_eq!(widest_interval(&[sure, wide]), Some((0.25, 1.0)));
        assert_eq!(widest_interval(&[sure, gap(0.0, None)]), None);
        assert_eq!(widest_interval(&[]), None);
    }
}
