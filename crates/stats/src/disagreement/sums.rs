//! Sums for all measures of texts.

use super::block::BLOCK;
use super::measures::Disagreement;
use super::nodes::{GivenLabel, Lens, NodeSums};
use super::pairs::PairSums;
use super::running::RunningSums;
use crate::data::AnnotatorModel;
use std::ops::Range;

/// Sums of annotators' predictions; and, with a text's own score fixed at each node of the model's
/// uncertainty about it, of annotators' labels or else predictions (see [`Disagreement`]).
#[derive(Clone, Debug)]
pub struct Sums {
    marginal: RunningSums,
    nodes: NodeSums,
}

impl Sums {
    pub fn new(model: &dyn AnnotatorModel, ordinal: bool, texts: usize) -> Self {
        Self {
            marginal: RunningSums::new(model.levels(), ordinal, texts),
            nodes: NodeSums::new(model, Lens { ordinal, cut: None }, texts),
        }
    }

    /// Sums for a range of texts over `chosen` annotators, whose labels are returned by `known`.
    pub fn of<'a>(
        model: &'a dyn AnnotatorModel,
        texts: Range<usize>,
        chosen: impl Iterator<Item = u32> + Clone,
        ordinal: bool,
        known: impl Fn(u32) -> &'a [GivenLabel],
    ) -> Self {
        let mut marginal = RunningSums::new(model.levels(), ordinal, texts.len());
        let mut block = vec![0.0; texts.len().min(BLOCK) * model.levels()];
        for annotator in chosen.clone() {
            for from in texts.clone().step_by(BLOCK) {
                let range = from..(from + BLOCK).min(texts.end);
                let own = from - texts.start..range.end - texts.start;
                let block = &mut block[..range.len() * model.levels()];
                model.predict_column(annotator, range, block);
                marginal.add(own, block, 1.0);
            }
            marginal.count(1);
        }
        let lens = Lens { ordinal, cut: None };
        Self { marginal, nodes: NodeSums::of(model, texts, chosen, lens, known) }
    }

    /// Number of separate sums: part 0 contains predictions, part `i` labels or else predictions at node
    /// `i - 1`.
    pub fn parts(&self) -> usize {
        1 + self.nodes.nodes()
    }

    /// The part of the model's predictions that a part is summed from: 0 for predictions, `i` for node
    /// `i - 1`.
    pub fn predictions_of(&self, part: usize) -> usize {
        if self.nodes.is_marginal() { 0 } else { part }
    }

    pub fn texts(&self) -> usize {
        self.marginal.texts()
    }

    /// Adds one annotator's probabilities (level-major over `range`) and labels to a part, or subtracts them
    /// with `sign` -1. The block is overwritten.
    pub fn add(
        &mut self,
        part: usize,
        range: Range<usize>,
        block: &mut [f32],
        known: &[GivenLabel],
        sign: f64,
    ) {
        match part.checked_sub(1) {
            None => self.marginal.add(range, block, sign),
            Some(node) => self.nodes.add(node, range.start, range, block, known, sign),
        }
    }

    /// Resets a text's sums to 0, without changing the number of annotators.
    pub fn clear(&mut self, text: usize) {
        self.marginal.clear(text);
        self.nodes.clear(text);
    }

    /// Adds the probabilities of `n` annotators from `first` on, at most [`BLOCK`] (level-major), and their
    /// labels on one text to a part. The block is overwritten.
    pub fn add_annotators(
        &mut self,
        part: usize,
        text: usize,
        first: usize,
        block: &mut [f32],
        n: usize,
        known: &[GivenLabel],
    ) {
        match part.checked_sub(1) {
            None => self.marginal.add_annotators(text, block, n),
            Some(node) => self.nodes.add_annotators(node, text, first, block, n, known),
        }
    }

    /// Increases the number of annotators in the sums by `count`.
    pub fn count(&mut self, count: usize) {
        self.marginal.count(count);
        self.nodes.count(count);
    }

    /// Adds a text without labels.
    pub fn push_text(&mut self) {
        self.marginal.push_text();
        self.nodes.push_text();
    }

    /// Appends the texts of `other`, over the same annotators.
    pub fn append(&mut self, other: Self) {
        self.marginal.append(other.marginal);
        self.nodes.append(other.nodes);
    }

    /// The measures of one text.
    pub fn get(&self, text: usize) -> Disagreement {
        let marginal = self.marginal.get(text);
        let average = |of: fn(&PairSums, usize, usize) -> f64| {
            self.nodes.average(|sums, annotators| of(sums, text, annotators)) as f32
        };
        let far_apart = average(|sums, text, n| sums.far_apart(text, n).unwrap_or(f64::NAN));
        Disagreement {
            pairwise: average(PairSums::differ),
            split: average(PairSums::split),
            far_apart: (!far_apart.is_nan()).then_some(far_apart),
            mean_level: marginal.level_variance.map(|_| average(PairSums::mean_level)),
            ..marginal
        }
    }

    /// Shares of the levels among annotators; those who labelled the text count with their label.
    pub fn panel(&self, text: usize) -> Vec<f64> {
        self.nodes.mean(text)
    }

    /// Mean probabilities of one text's levels over annotators.
    pub fn mean(&self, text: usize) -> Vec<f32> {
        self.marginal.mean(text)
    }
}
