//! Pair sums at every node of the model's uncertainty about a text, over people with and without labels.

use super::block::BLOCK;
use super::pairs::PairSums;
use crate::data::AnnotatorModel;
use std::ops::Range;

/// A given label: index of the text (in a column) or of the annotator (in a row), and level.
pub(crate) type GivenLabel = (u32, u16);

/// View of annotators' answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lens {
    /// Levels have an order with distances.
    pub(crate) ordinal: bool,
    /// Reduces answers to whether they are below this level.
    pub(crate) cut: Option<u16>,
}

impl Lens {
    /// Number of levels under this view, out of `levels`.
    pub fn levels(self, levels: usize) -> usize {
        if self.cut.is_some() { 2 } else { levels }
    }

    /// The level as shown by this view.
    pub fn seen(self, level: usize) -> usize {
        self.cut.map_or(level, |cut| usize::from(level >= usize::from(cut)))
    }

    /// Converts probabilities of a block of `n`, level-major, to what this lens shows; the rest of the block
    /// is undefined afterwards.
    pub(crate) fn through(self, block: &mut [f32], n: usize) -> &[f32] {
        let Some(cut) = self.cut else { return block };
        let (below, above) = block.split_at_mut(n);
        for (i, above) in above.iter().enumerate() {
            let level = 1 + i / n;
            if level < usize::from(cut) {
                below[i % n] += above;
            }
        }
        for (above, below) in above.iter_mut().zip(below.iter()) {
            *above = (1.0 - below).max(0.0);
        }
        &block[..2 * n]
    }
}

/// One [`PairSums`] for each node, and the nodes' weights.
#[derive(Clone, Debug)]
pub struct NodeSums {
    lens: Lens,
    nodes: Vec<PairSums>,
    weights: Vec<f64>,
    /// Whether the model has no nodes, so that the only one here is its prediction.
    marginal: bool,
    annotators: usize,
}

impl NodeSums {
    /// Empty sums for a model's texts. A model without nodes has one node: its prediction.
    pub(crate) fn new(model: &dyn AnnotatorModel, lens: Lens, texts: usize) -> Self {
        let mut weights = model.node_weights();
        let marginal = weights.is_empty();
        if marginal {
            weights.push(1.0);
        }
        let sums = PairSums::new(lens.levels(model.levels()), lens.ordinal && lens.cut.is_none(), texts);
        Self { lens, nodes: vec![sums; weights.len()], weights, marginal, annotators: 0 }
    }

    /// A single node, for predictions from elsewhere.
    pub fn single(levels: usize, lens: Lens, texts: usize) -> Self {
        let sums = PairSums::new(lens.levels(levels), lens.ordinal && lens.cut.is_none(), texts);
        Self { lens, nodes: vec![sums], weights: vec![1.0], marginal: true, annotators: 0 }
    }

    pub fn single_node(&self) -> &PairSums {
        &self.nodes[0]
    }

    /// Sums for a range of texts over `chosen` annotators. The labels that `known` returns for an annotator,
    /// ordered by text, replace predictions.
    pub(crate) fn of<'a>(
        model: &'a dyn AnnotatorModel,
        texts: Range<usize>,
        chosen: impl Iterator<Item = u32>,
        lens: Lens,
        known: impl Fn(u32) -> &'a [GivenLabel],
    ) -> Self {
        let mut sums = Self::new(model, lens, texts.len());
        let mut block = vec![0.0; texts.len().min(BLOCK) * model.levels()];
        for annotator in chosen {
            for from in texts.clone().step_by(BLOCK) {
                let range = from..(from + BLOCK).min(texts.end);
                let own = from - texts.start..range.end - texts.start;
                let block = &mut block[..range.len() * model.levels()];
                for node in 0..sums.nodes() {
                    if sums.marginal {
                        model.predict_column(annotator, range.clone(), block);
                    } else {
                        model.predict_column_at_node(node, annotator, range.clone(), block);
                    }
                    sums.add(node, range.start, own.clone(), block, known(annotator), 1.0);
                }
            }
            sums.count(1);
        }
        sums
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the model has no nodes, so that the only one here is its prediction.
    pub(crate) fn is_marginal(&self) -> bool {
        self.marginal
    }

    /// Adds one annotator's probabilities (level-major over `range`, whose first text is `first` to `known`)
    /// to a node, or subtracts them with `sign` -1. The block is overwritten.
    pub fn add(
        &mut self,
        node: usize,
        first: usize,
        range: Range<usize>,
        block: &mut [f32],
        known: &[GivenLabel],
        sign: f64,
    ) {
        replace_by_labels(block, first, range.len(), known);
        self.nodes[node].add(range.clone(), self.lens.through(block, range.len()), sign);
    }

    /// Adds the probabilities of `n` annotators from `first` on, at most [`BLOCK`] (level-major), on one text
    /// to a node. The block is overwritten.
    pub(crate) fn add_annotators(
        &mut self,
        node: usize,
        text: usize,
        first: usize,
        block: &mut [f32],
        n: usize,
        known: &[GivenLabel],
    ) {
        replace_by_labels(block, first, n, known);
        self.nodes[node].add_annotators(text, self.lens.through(block, n), n);
    }

    /// Resets a text's sums to 0, without changing the number of annotators.
    pub(crate) fn clear(&mut self, text: usize) {
        self.nodes.iter_mut().for_each(|node| node.clear(text));
    }

    /// Increases the number of annotators in the sums by `count`.
    pub(crate) fn count(&mut self, count: usize) {
        self.annotators += count;
    }

    /// Adds a text without labels.
    pub(crate) fn push_text(&mut self) {
        self.nodes.iter_mut().for_each(PairSums::push_text);
    }

    /// Appends the texts of `other`, over the same annotators.
    pub(crate) fn append(&mut self, other: Self) {
        self.nodes.iter_mut().zip(other.nodes).for_each(|(a, b)| a.append(b));
    }

    /// Mean over nodes of `of` applied to one node's sums and the number of annotators.
    pub(crate) fn average(&self, of: impl Fn(&PairSums, usize) -> f64) -> f64 {
        self.weights.iter().zip(&self.nodes).map(|(weight, node)| weight * of(node, self.annotators)).sum()
    }

    /// Mean probabilities of one text's levels over annotators and nodes.
    pub(crate) fn mean(&self, text: usize) -> Vec<f64> {
        let mut mean = vec![0.0; self.nodes[0].p.len()];
        for (weight, node) in self.weights.iter().zip(&self.nodes) {
            mean.iter_mut().zip(node.mean(text, self.annotators)).for_each(|(mean, p)| *mean += weight * p);
        }
        mean
    }
}

/// Replaces predictions by labels in a block of `n` columns (level-major) that starts at `first`; `known` is
/// ordered.
fn replace_by_labels(block: &mut [f32], first: usize, n: usize, known: &[GivenLabel]) {
    let from = known.partition_point(|(at, _)| (*at as usize) < first);
    for (at, level) in known[from..].iter().take_while(|(at, _)| (*at as usize) < first + n) {
        let column = *at as usize - first;
        for (c, p) in block.iter_mut().skip(column).step_by(n).enumerate() {
            *p = f32::from(u8::from(c == usize::from(*level)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_replace_predictions() {
        // Three texts from text 4 on, two levels.
        let mut block = [0.3, 0.3, 0.3, 0.7, 0.7, 0.7];
        replace_by_labels(&mut block, 4, 3, &[(1, 0), (4, 1), (6, 0), (7, 1)]);
        assert_eq!(block, [0.0, 0.3, 1.0, 1.0, 0.7, 0.0]);
    }

    #[test]
    fn threshold_gives_two_levels() {
        let lens = Lens { ordinal: true, cut: Some(2) };
        let mut block = [0.1f32, 0.4, 0.2, 0.4, 0.3, 0.1, 0.4, 0.1];
        let seen = lens.through(&mut block, 2);
        for (found, expected) in seen.iter().zip([0.3, 0.8, 0.7, 0.2]) {
            assert!((found - expected).abs() < 1e-6, "{seen:?}");
        }
    }
}
