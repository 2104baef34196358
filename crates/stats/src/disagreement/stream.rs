//! The measures of all texts from any model, block by block, so that texts x annotators x levels is never
//! stored.

use super::block::BLOCK;
use super::measures::{Disagreement, Measure};
use super::nodes::NodeSums;
use super::sums::Sums;
use super::usual::UsualSplit;
use crate::data::AnnotatorModel;
use rayon::prelude::*;
use std::ops::Range;

/// The measures of every text over the annotators chosen by `mask` (all of them with `None`; a mask shorter
/// than the annotators excludes the rest). Memory: one block of probabilities per thread, regardless of the
/// size of the project. `ordinal` selects the measures that need an order of the levels.
pub fn disagreement(model: &dyn AnnotatorModel, mask: Option<&[bool]>, ordinal: bool) -> Vec<Disagreement> {
    disagreement_of_texts(model, 0..model.texts(), mask, ordinal)
}

/// [`disagreement`] for a range of texts.
pub fn disagreement_of_texts(
    model: &dyn AnnotatorModel,
    texts: Range<usize>,
    mask: Option<&[bool]>,
    ordinal: bool,
) -> Vec<Disagreement> {
    let chosen = chosen(model, mask);
    in_blocks(texts, |block| {
        let sums = Sums::of(model, block, chosen.iter().copied(), ordinal, |a| model.known_labels(a));
        (0..sums.texts()).map(|text| sums.get(text)).collect()
    })
}

/// One measure of every text over the annotators chosen by `mask`. NaN where the scale does not have it (see
/// [`Measure`]) or where there are too few texts to estimate the usual value.
pub fn measure(model: &dyn AnnotatorModel, mask: Option<&[bool]>, ordinal: bool, by: Measure) -> Vec<f32> {
    match by {
        Measure::OppositeSides { .. } | Measure::Between => {
            measure_of_texts(model, 0..model.texts(), mask, ordinal, by)
        }
        Measure::Surprising => surprise(&disagreement(model, mask, ordinal), model.levels()),
        _ => disagreement(model, mask, ordinal).iter().map(|d| by.of(d).unwrap_or(f32::NAN)).collect(),
    }
}

/// [`Measure::Surprising`] of all texts from their measures.
pub fn surprise(all: &[Disagreement], levels: usize) -> Vec<f32> {
    let usual = usual_split(all, levels);
    let of = |d: &Disagreement| match (&usual, d.mean_level) {
        (Some(usual), Some(mean)) => d.split - usual.at(f64::from(mean)) as f32,
        _ => f32::NAN,
    };
    all.iter().map(of).collect()
}

/// Fits the usual split at a given mean level; `None` with too few texts, or for scales without an order.
pub fn usual_split(all: &[Disagreement], levels: usize) -> Option<UsualSplit> {
    UsualSplit::fit(all.iter().filter_map(|d| Some((d.mean_level?, d.split))), levels)
}

/// Shares of the levels among the annotators of `mask`, for every text of `texts`; annotators who labelled a
/// text count with their label.
pub fn panel_distributions(
    model: &dyn AnnotatorModel,
    texts: Range<usize>,
    mask: Option<&[bool]>,
) -> Vec<Vec<f64>> {
    let chosen = chosen(model, mask);
    in_blocks(texts, |block| {
        let count = block.len();
        let lens = Measure::Pairwise.lens(false);
        let sums = NodeSums::of(model, block, chosen.iter().copied(), lens, |a| model.known_labels(a));
        (0..count).map(|text| sums.mean(text)).collect()
    })
}

/// A measure based on pairs of answers, for a range of texts; NaN for other measures.
pub fn measure_of_texts(
    model: &dyn AnnotatorModel,
    texts: Range<usize>,
    mask: Option<&[bool]>,
    ordinal: bool,
    by: Measure,
) -> Vec<f32> {
    let chosen = chosen(model, mask);
    in_blocks(texts, |block| {
        let count = block.len();
        let known = |a| if by.counts_labels() { model.known_labels(a) } else { &[] };
        let sums = NodeSums::of(model, block, chosen.iter().copied(), by.lens(ordinal), known);
        let one = |text| sums.average(|sums, n| by.of_pairs(sums, text, n).unwrap_or(f64::NAN)) as f32;
        (0..count).map(one).collect()
    })
}

fn chosen(model: &dyn AnnotatorModel, mask: Option<&[bool]>) -> Vec<u32> {
    (0..model.annotators())
        .filter(|&a| mask.is_none_or(|m| m.get(a).copied().unwrap_or(false)))
        .map(|a| a as u32)
        .collect()
}

/// Applies `of` to every block of `texts`, in parallel, and concatenates the results in order.
fn in_blocks<T: Send>(texts: Range<usize>, of: impl Fn(Range<usize>) -> Vec<T> + Send + Sync) -> Vec<T> {
    let blocks: Vec<Range<usize>> =
        texts.clone().step_by(BLOCK).map(|from| from..(from + BLOCK).min(texts.end)).collect();
    blocks.into_par_iter().flat_map_iter(of).collect()
}
