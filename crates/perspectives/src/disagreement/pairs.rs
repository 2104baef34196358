//! Sums over annotators, per text, from which the chance that two of them differ follows.

use super::block::{BLOCK, accumulate, sum};
use std::ops::Range;

/// `sum_a p_ac` and `sum_a sum_c p_ac^2`.
#[derive(Clone, Debug)]
pub(crate) struct PairSums {
    /// One array of texts per level.
    pub(super) p: Vec<Vec<f64>>,
    pub(super) square: Vec<f64>,
}

impl PairSums {
    pub(crate) fn new(levels: usize, texts: usize) -> Self {
        Self { p: vec![vec![0.0; texts]; levels], square: vec![0.0; texts] }
    }

    /// A text without a label yet.
    pub(crate) fn push_text(&mut self) {
        self.p.iter_mut().for_each(|p| p.push(0.0));
        self.square.push(0.0);
    }

    /// Joins the texts of `other` behind these.
    pub(crate) fn append(&mut self, other: Self) {
        self.p.iter_mut().zip(other.p).for_each(|(a, b)| a.extend(b));
        self.square.extend(other.square);
    }

    /// Adds one annotator's probabilities (level-major over `range`), or takes them out with `sign` -1.
    pub(crate) fn add(&mut self, range: Range<usize>, block: &[f32], sign: f64) {
        let n = range.len();
        let mut square = [0.0f32; BLOCK];
        for (at, chunk) in range.clone().step_by(BLOCK).enumerate() {
            let width = BLOCK.min(range.end - chunk);
            let square = &mut square[..width];
            square.fill(0.0);
            for (c, total) in self.p.iter_mut().enumerate() {
                let p = &block[c * n + at * BLOCK..c * n + at * BLOCK + width];
                for ((total, p), square) in
                    total[chunk..chunk + width].iter_mut().zip(p).zip(square.iter_mut())
                {
                    *total += sign * f64::from(*p);
                    *square += p * p;
                }
            }
            accumulate(&mut self.square[chunk..chunk + width], square, sign);
        }
    }

    /// Sets a text's sums to nothing.
    pub(crate) fn clear(&mut self, text: usize) {
        self.p.iter_mut().for_each(|p| p[text] = 0.0);
        self.square[text] = 0.0;
    }

    /// Adds the probabilities of `n` annotators (level-major) on one text.
    pub(crate) fn add_annotators(&mut self, text: usize, block: &[f32], n: usize) {
        for (total, p) in self.p.iter_mut().zip(block.chunks_exact(n)) {
            total[text] += sum(p, |p| p);
            self.square[text] += sum(p, |p| p * p);
        }
    }

    /// The chance that two different ones of `annotators` give this text different levels, 0..1; 0 for fewer than two.
    pub(crate) fn differ(&self, text: usize, annotators: usize) -> f64 {
        if annotators < 2 {
            return 0.0;
        }
        let n = annotators as f64;
        let same: f64 = self.p.iter().map(|p| p[text] * p[text]).sum::<f64>() - self.square[text];
        (1.0 - same / (n * (n - 1.0))).clamp(0.0, 1.0)
    }
}
