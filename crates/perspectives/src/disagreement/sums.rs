//! Everything the measures of texts are made of.

use super::block::BLOCK;
use super::measures::Disagreement;
use super::pairs::PairSums;
use super::running::RunningSums;
use crate::data::AnnotatorModel;
use std::ops::Range;

/// Sums of what is predicted of annotators, and of what is predicted while a text's own score is held at each node of
/// the model's uncertainty about it (see [`Disagreement::pairwise`]).
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    marginal: RunningSums,
    nodes: Vec<PairSums>,
    weights: Vec<f64>,
}

impl Sums {
    pub(crate) fn new(model: &dyn AnnotatorModel, ordinal: bool, texts: usize) -> Self {
        let (levels, weights) = (model.levels(), model.node_weights());
        Self {
            marginal: RunningSums::new(levels, ordinal, texts),
            nodes: vec![PairSums::new(levels, texts); weights.len()],
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
                        Some(node) => model.predict_column_at_node(node, annotator, range.clone(), block),
                    }
                    sums.add(part, own.clone(), block, 1.0);
                }
            }
            sums.count(1);
        }
        sums
    }

    /// What is added apart: part 0 is what is predicted, part `i` what is predicted at node `i - 1`.
    pub(crate) fn parts(&self) -> usize {
        1 + self.nodes.len()
    }

    pub(crate) fn texts(&self) -> usize {
        self.marginal.texts()
    }

    /// Adds one annotator's probabilities (level-major over `range`) to a part, or takes them out with `sign` -1.
    pub(crate) fn add(&mut self, part: usize, range: Range<usize>, block: &[f32], sign: f64) {
        match part.checked_sub(1) {
            None => self.marginal.add(range, block, sign),
            Some(node) => self.nodes[node].add(range, block, sign),
        }
    }

    /// Sets a text's sums to nothing; the annotators still stand behind them.
    pub(crate) fn clear(&mut self, text: usize) {
        self.marginal.clear(text);
        self.nodes.iter_mut().for_each(|node| node.clear(text));
    }

    /// Adds the probabilities of `n` annotators, at most [`BLOCK`] (level-major), on one text to a part.
    pub(crate) fn add_annotators(&mut self, part: usize, text: usize, block: &[f32], n: usize) {
        match part.checked_sub(1) {
            None => self.marginal.add_annotators(text, block, n),
            Some(node) => self.nodes[node].add_annotators(text, block, n),
        }
    }

    /// Says that `count` more annotators stand behind the sums.
    pub(crate) fn count(&mut self, count: usize) {
        self.marginal.count(count);
    }

    /// A text without a label yet.
    pub(crate) fn push_text(&mut self) {
        self.marginal.push_text();
        self.nodes.iter_mut().for_each(PairSums::push_text);
    }

    /// Joins the texts of `other`, over the same annotators, behind these.
    pub(crate) fn append(&mut self, other: Self) {
        self.marginal.append(other.marginal);
        self.nodes.iter_mut().zip(other.nodes).for_each(|(a, b)| a.append(b));
    }

    /// The measures of one text.
    pub(crate) fn get(&self, text: usize) -> Disagreement {
        let marginal = self.marginal.get(text);
        if self.nodes.is_empty() {
            return marginal;
        }
        let n = self.marginal.annotators();
        let pairwise: f64 = self.weights.iter().zip(&self.nodes).map(|(w, p)| w * p.differ(text, n)).sum();
        Disagreement { pairwise: pairwise as f32, ..marginal }
    }

    /// Mean probabilities of one text's levels over annotators.
    pub(crate) fn mean(&self, text: usize) -> Vec<f32> {
        self.marginal.mean(text)
    }
}
