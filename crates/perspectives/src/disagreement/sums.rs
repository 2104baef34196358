//! Everything the measures of texts are made of.

use super::{BLOCK, Disagreement, Pairs, Running};
use crate::data::AnnotatorModel;
use std::ops::Range;

/// Sums of what is predicted of annotators, and of what is predicted while a text's own score is held at each point of
/// the model's doubt about it (see [`Disagreement::pairwise`]).
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    marginal: Running,
    points: Vec<Pairs>,
    weights: Vec<f64>,
}

impl Sums {
    pub(crate) fn new(model: &dyn AnnotatorModel, ordinal: bool, texts: usize) -> Self {
        let (levels, weights) = (model.levels(), model.points());
        Self {
            marginal: Running::new(levels, ordinal, texts),
            points: vec![Pairs::new(levels, texts); weights.len()],
            weights,
        }
    }

    /// Those of a range of texts over `chosen` annotators.
    pub(crate) fn of(
        model: &dyn AnnotatorModel,
        texts: Range<usize>,
        chosen: impl Iterator<Item = u32>,
        ordinal: bool,
    ) -> Self {
        let mut sums = Self::new(model, ordinal, texts.len());
        let mut block = vec![0.0; texts.len().min(BLOCK) * model.levels()];
        for annotator in chosen {
            for from in texts.clone().step_by(BLOCK) {
                let range = from..(from + BLOCK).min(texts.end);
                let own = from - texts.start..range.end - texts.start;
                let block = &mut block[..range.len() * model.levels()];
                for part in 0..sums.parts() {
                    match part.checked_sub(1) {
                        None => model.predict_column(annotator, range.clone(), block),
                        Some(point) => model.predict_column_at_node(point, annotator, range.clone(), block),
                    }
                    sums.add(part, own.clone(), block, 1.0);
                }
            }
            sums.count(1);
        }
        sums
    }

    /// What is added apart: part 0 is what is predicted, part `i` what is predicted at point `i - 1`.
    pub(crate) fn parts(&self) -> usize {
        1 + self.points.len()
    }

    pub(crate) fn texts(&self) -> usize {
        self.marginal.texts()
    }

    /// Adds one annotator's probabilities (level-major over `range`) to a part, or takes them out with `sign` -1.
    pub(crate) fn add(&mut self, part: usize, range: Range<usize>, block: &[f32], sign: f64) {
        match part.checked_sub(1) {
            None => self.marginal.add(range, block, sign),
            Some(point) => self.points[point].add(range, block, sign),
        }
    }

    /// Sets a text's sums to nothing; the annotators still stand behind them.
    pub(crate) fn clear(&mut self, text: usize) {
        self.marginal.clear(text);
        self.points.iter_mut().for_each(|point| point.clear(text));
    }

    /// Adds the probabilities of `n` annotators, at most [`BLOCK`] (level-major), on one text to a part.
    pub(crate) fn add_people(&mut self, part: usize, text: usize, block: &[f32], n: usize) {
        match part.checked_sub(1) {
            None => self.marginal.add_people(text, block, n),
            Some(point) => self.points[point].add_people(text, block, n),
        }
    }

    /// Says that `count` more annotators stand behind the sums.
    pub(crate) fn count(&mut self, count: usize) {
        self.marginal.count(count);
    }

    /// A text nobody has judged yet.
    pub(crate) fn push_text(&mut self) {
        self.marginal.push_text();
        self.points.iter_mut().for_each(Pairs::push_text);
    }

    /// Joins the texts of `other`, over the same annotators, behind these.
    pub(crate) fn append(&mut self, other: Self) {
        self.marginal.append(other.marginal);
        self.points.iter_mut().zip(other.points).for_each(|(a, b)| a.append(b));
    }

    /// The measures of one text.
    pub(crate) fn get(&self, text: usize) -> Disagreement {
        let marginal = self.marginal.get(text);
        if self.points.is_empty() {
            return marginal;
        }
        let n = self.marginal.annotators();
        let pairwise: f64 = self.weights.iter().zip(&self.points).map(|(w, p)| w * p.differ(text, n)).sum();
        Disagreement { pairwise: pairwise as f32, ..marginal }
    }

    /// Mean probabilities of one text's levels over annotators.
    pub(crate) fn mean(&self, text: usize) -> Vec<f32> {
        self.marginal.mean(text)
    }
}
