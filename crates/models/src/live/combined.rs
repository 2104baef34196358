//! Ranking of texts by predicted split and the contribution of their own labels.

use super::label_weight::LabelWeight;
use super::model::LiveModel;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::{Disagreement, Measure, ranking, tied, two_camps};
use dissensus_stats::math::distributions::normal_quantile;
use dissensus_stats::metrics::CONFIDENCE_LEVEL;
use rayon::prelude::*;

/// Largest number of groups of indistinguishable texts at the top of the order: each costs an interval.
const TIES: usize = 12;
/// Minimum number of labels of a camp: one person does not form one.
pub const MIN_IN_A_CAMP: u32 = 2;

/// All texts by [`Measure::Split`] and the contribution of labels ([`LiveModel::added_by_labels`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CombinedOrder {
    /// The value by which each text is ranked.
    pub values: Vec<f32>,
    /// Texts in descending order. Among indistinguishable texts, those whose own labels form two camps come
    /// first.
    pub texts: Vec<u32>,
    /// Sizes of the groups of indistinguishable texts, from the top: the interval of the first text of each
    /// group overlaps the others.
    pub ties: Vec<u32>,
}

impl LiveModel {
    /// The order over the annotators of `mask` (all of them with `None`); `all` is the predicted disagreement
    /// of all texts among them.
    pub fn combined_order(
        &self,
        weight: &LabelWeight,
        all: &[Disagreement],
        mask: Option<&[bool]>,
    ) -> CombinedOrder {
        let combined = |(text, d): (usize, &Disagreement)| {
            (d.split + self.added_by_labels(weight, text as u32, mask).0).clamp(0.0, 1.0)
        };
        let values: Vec<f32> = all.par_iter().with_min_len(256).enumerate().map(combined).collect();
        let mut texts = ranking(&values);
        let descending: Vec<f32> = texts.iter().map(|text| values[*text as usize]).collect();
        let low = |at: usize| {
            let text = texts[at];
            self.combined_interval(weight, text, mask, all[text as usize].split)
                .map_or(descending[at], |(low, _)| low)
        };
        let ties = tied(&descending, TIES, low);
        if self.is_ordinal() {
            let camps = self.camps(mask);
            let mut rest = texts.as_mut_slice();
            for size in &ties {
                let (group, after) = rest.split_at_mut(*size as usize);
                group.sort_by_key(|text| !camps[*text as usize]);
                rest = after;
            }
        }
        CombinedOrder { values, texts, ties }
    }

    /// Interval of the value by which a text with this `split` is ranked: that of the split, moved by the
    /// contribution of labels and widened by its uncertainty.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn combined_interval(
        &self,
        weight: &LabelWeight,
        text: u32,
        mask: Option<&[bool]>,
        split: f32,
    ) -> Option<(f32, f32)> {
        let (low, high) = self.interval(text, Measure::Split, mask, split, None)?;
        let (added, open) = self.added_by_labels(weight, text, mask);
        let open = normal_quantile(0.5 + CONFIDENCE_LEVEL / 2.0) as f32 * open;
        let value = (split + added).clamp(0.0, 1.0);
        let (down, up) = ((split - low).hypot(open), (high - split).hypot(open));
        Some(((value - down).max(0.0), (value + up).min(1.0)))
    }

    /// Which texts' labels, by the annotators of `mask`, form two camps.
    fn camps(&self, mask: Option<&[bool]>) -> Vec<bool> {
        let levels = self.levels();
        let mut counts = vec![0u32; self.texts() * levels];
        for label in self.observations() {
            if mask.is_none_or(|mask| mask.get(label.annotator as usize) == Some(&true)) {
                counts[label.text as usize * levels + usize::from(label.level)] += 1;
            }
        }
        counts.chunks_exact(levels).map(|counts| two_camps(counts, MIN_IN_A_CAMP)).collect()
    }
}
