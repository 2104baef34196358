//! The measures of all texts from any model, block by block, so that texts x annotators x levels is never stored.

use super::block::BLOCK;
use super::measures::Disagreement;
use super::sums::Sums;
use crate::data::AnnotatorModel;
use rayon::prelude::*;
use std::ops::Range;

/// The measures of every text over the annotators chosen by `mask` (all of them with `None`; a mask shorter than the
/// annotators leaves the rest out). Memory: one block of probabilities per thread, whatever the size of the project.
/// `ordinal` asks for [`Disagreement::level_variance`].
pub fn disagreement(model: &dyn AnnotatorModel, mask: Option<&[bool]>, ordinal: bool) -> Vec<Disagreement> {
    disagreement_of_texts(model, 0..model.texts(), mask, ordinal)
}

/// As [`disagreement`], for a range of texts.
pub fn disagreement_of_texts(
    model: &dyn AnnotatorModel,
    texts: Range<usize>,
    mask: Option<&[bool]>,
    ordinal: bool,
) -> Vec<Disagreement> {
    let chosen: Vec<u32> = (0..model.annotators())
        .filter(|&a| mask.is_none_or(|m| m.get(a).copied().unwrap_or(false)))
        .map(|a| a as u32)
        .collect();
    let blocks: Vec<Range<usize>> =
        texts.clone().step_by(BLOCK).map(|from| from..(from + BLOCK).min(texts.end)).collect();
    let measures = |block: Range<usize>| {
        let sums = Sums::of(model, block, chosen.iter().copied(), ordinal);
        (0..sums.texts()).map(|text| sums.get(text)).collect::<Vec<_>>()
    };
    blocks.into_par_iter().flat_map_iter(measures).collect()
}
