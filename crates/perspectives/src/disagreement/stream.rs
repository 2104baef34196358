//! The measures of all texts from any model, block by block, so that texts x annotators x levels is never stored.

use super::{BLOCK, Disagreement, Running};
use crate::models::AnnotatorModel;
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
    blocks.into_par_iter().flat_map_iter(|block| one_block(model, block, &chosen, ordinal)).collect()
}

fn one_block(
    model: &dyn AnnotatorModel,
    texts: Range<usize>,
    chosen: &[u32],
    ordinal: bool,
) -> Vec<Disagreement> {
    let (n, levels) = (texts.len(), model.levels());
    let mut running = Running::new(levels, ordinal, n);
    let mut p = vec![0.0; n * levels];
    for &annotator in chosen {
        model.predict_column(annotator, texts.clone(), &mut p);
        running.add(0..n, &p, 1.0);
    }
    running.count(chosen.len());
    (0..n).map(|i| running.get(i)).collect()
}
