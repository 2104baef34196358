//! Sums over annotators, per text, that are updated in place with one annotator's new column.

use super::block::{BLOCK, accumulate, sum};
use super::measures::Disagreement;
use super::pairs::PairSums;
use crate::math::fast::entropy_term;
use std::ops::Range;

/// [`PairSums`], `sum_a H(p_a)` and, for ordinal scales, the sums of expected levels and of their squares.
/// Double precision, so that subtracting a column restores the previous sums.
#[derive(Clone, Debug)]
pub struct RunningSums {
    ordinal: bool,
    annotators: usize,
    pairs: PairSums,
    /// In natural logarithms.
    entropy: Vec<f64>,
    expected: Vec<f64>,
    expected_square: Vec<f64>,
}

impl RunningSums {
    pub fn new(levels: usize, ordinal: bool, texts: usize) -> Self {
        Self {
            ordinal,
            annotators: 0,
            pairs: PairSums::new(levels, false, texts),
            entropy: vec![0.0; texts],
            expected: vec![0.0; texts],
            expected_square: vec![0.0; texts],
        }
    }

    pub(crate) fn texts(&self) -> usize {
        self.entropy.len()
    }

    /// Increases the number of annotators in the sums by `count`.
    pub fn count(&mut self, count: usize) {
        self.annotators += count;
    }

    /// Adds a text without labels.
    pub(crate) fn push_text(&mut self) {
        self.pairs.push_text();
        self.entropy.push(0.0);
        self.expected.push(0.0);
        self.expected_square.push(0.0);
    }

    /// Appends the texts of `other`.
    pub(crate) fn append(&mut self, other: Self) {
        self.pairs.append(other.pairs);
        self.entropy.extend(other.entropy);
        self.expected.extend(other.expected);
        self.expected_square.extend(other.expected_square);
    }

    /// Adds one annotator's probabilities (level-major over `range`), or subtracts them with `sign` -1.
    pub fn add(&mut self, range: Range<usize>, block: &[f32], sign: f64) {
        let n = range.len();
        let mut square = [0.0f32; BLOCK];
        let mut entropy = [0.0f32; BLOCK];
        let mut expected = [0.0f32; BLOCK];
        for (at, chunk) in range.clone().step_by(BLOCK).enumerate() {
            let width = BLOCK.min(range.end - chunk);
            let (square, entropy, expected) =
                (&mut square[..width], &mut entropy[..width], &mut expected[..width]);
            square.fill(0.0);
            entropy.fill(0.0);
            expected.fill(0.0);
            for (c, total) in self.pairs.p.iter_mut().enumerate() {
                let p = &block[c * n + at * BLOCK..c * n + at * BLOCK + width];
                let total = &mut total[chunk..chunk + width];
                add_level(p, sign, total, square, entropy);
                if self.ordinal {
                    expected.iter_mut().zip(p).for_each(|(e, p)| *e += c as f32 * p);
                }
            }
            accumulate(&mut self.pairs.square[chunk..chunk + width], square, sign);
            accumulate(&mut self.entropy[chunk..chunk + width], entropy, sign);
            if self.ordinal {
                accumulate(&mut self.expected[chunk..chunk + width], expected, sign);
                expected.iter_mut().for_each(|e| *e *= *e);
                accumulate(&mut self.expected_square[chunk..chunk + width], expected, sign);
            }
        }
    }

    /// Resets a text's sums to 0, without changing the number of annotators.
    pub(crate) fn clear(&mut self, text: usize) {
        self.pairs.clear(text);
        self.entropy[text] = 0.0;
        self.expected[text] = 0.0;
        self.expected_square[text] = 0.0;
    }

    /// Adds the probabilities of `n` annotators, at most [`BLOCK`] (level-major), on one text.
    pub(crate) fn add_annotators(&mut self, text: usize, block: &[f32], n: usize) {
        self.pairs.add_annotators(text, block, n);
        self.entropy[text] += sum(block, entropy_term);
        if !self.ordinal {
            return;
        }
        let mut expected = [0.0f32; BLOCK];
        let expected = &mut expected[..n];
        for (c, p) in block.chunks_exact(n).enumerate() {
            expected.iter_mut().zip(p).for_each(|(e, p)| *e += c as f32 * p);
        }
        self.expected[text] += sum(expected, |e| e);
        self.expected_square[text] += sum(expected, |e| e * e);
    }

    /// The measures of one text.
    pub fn get(&self, text: usize) -> Disagreement {
        let n = self.annotators as f64;
        if self.annotators == 0 {
            return Disagreement { level_variance: self.ordinal.then_some(0.0), ..Default::default() };
        }
        let uncertainty = self.entropy[text] / n;
        let mut mixed = 0.0;
        for p in &self.pairs.p {
            let mean = p[text] / n;
            mixed -= if mean > 0.0 { mean * mean.ln() } else { 0.0 };
        }
        let level_variance = self.ordinal.then(|| {
            let mean = self.expected[text] / n;
            (self.expected_square[text] / n - mean * mean).max(0.0) as f32
        });
        let bits = std::f64::consts::LOG2_E;
        Disagreement {
            pairwise: self.pairs.differ(text, self.annotators) as f32,
            divergence: ((mixed - uncertainty).max(0.0) * bits) as f32,
            uncertainty: (uncertainty * bits).max(0.0) as f32,
            level_variance,
            ..Default::default()
        }
    }

    /// Mean probabilities of one text's levels over annotators.
    pub(crate) fn mean(&self, text: usize) -> Vec<f32> {
        let n = self.annotators.max(1) as f64;
        self.pairs.p.iter().map(|p| (p[text] / n) as f32).collect()
    }
}

#[inline]
fn add_level(p: &[f32], sign: f64, total: &mut [f64], square: &mut [f32], entropy: &mut [f32]) {
    for (((total, p), square), entropy) in total.iter_mut().zip(p).zip(square).zip(entropy) {
        *total += sign * f64::from(*p);
        *square += p * p;
        *entropy += entropy_term(*p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(annotators: &[[f32; 3]]) -> Disagreement {
        let mut r = RunningSums::new(3, true, 1);
        for p in annotators {
            r.add(0..1, p, 1.0);
        }
        r.count(annotators.len());
        r.get(0)
    }

    #[test]
    fn measures_match_scipy() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/fixtures/reference.json")).unwrap();
        let theirs = &reference["disagreement"];
        let annotators: Vec<Vec<f32>> = serde_json::from_value(theirs["p"].clone()).unwrap();
        let of = |annotators: &[Vec<f32>]| {
            let mut r = RunningSums::new(4, true, 1);
            annotators.iter().for_each(|p| r.add(0..1, p, 1.0));
            r.count(annotators.len());
            r.get(0)
        };
        let ours = of(&annotators);
        let near = |ours: f32, key: &str| {
            let theirs = theirs[key].as_f64().unwrap();
            assert!((f64::from(ours) - theirs).abs() < 2e-6, "{key}: {ours} against {theirs}");
        };
        near(ours.pairwise, "pairwise");
        near(ours.divergence, "divergence");
        near(ours.uncertainty, "uncertainty");
        near(ours.level_variance.unwrap(), "level_variance");
        near(of(&annotators[..2]).divergence, "of_two");
    }

    #[test]
    fn certain_differing_people() {
        let d = of(&[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
        assert!((d.pairwise - 1.0).abs() < 1e-6);
        assert!((d.divergence - 1.0).abs() < 1e-6);
        assert!(d.uncertainty.abs() < 1e-6);
        assert!((d.level_variance.unwrap() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn equal_uncertain_people() {
        let d = of(&[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]);
        assert!((d.pairwise - 0.5).abs() < 1e-6);
        assert!(d.divergence.abs() < 1e-6);
        assert!((d.uncertainty - 1.0).abs() < 1e-6);
    }

    #[test]
    fn pairwise_is_the_mean_over_pairs() {
        let annotators = [[0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8]];
        let (mut sum, mut pairs) = (0.0, 0.0);
        for i in 0..3 {
            for j in 0..i {
                sum += 1.0 - (0..3).map(|c| annotators[i][c] * annotators[j][c]).sum::<f32>();
                pairs += 1.0;
            }
        }
        assert!((of(&annotators).pairwise - sum / pairs).abs() < 1e-6);
    }

    #[test]
    fn removing_a_column_restores_the_sums() {
        let annotators = [[0.2f32, 0.5, 0.3], [0.7, 0.2, 0.1]];
        let mut r = RunningSums::new(3, true, 1);
        r.add(0..1, &annotators[0], 1.0);
        r.count(1);
        let before = r.get(0);
        for _ in 0..1000 {
            r.add(0..1, &annotators[1], 1.0);
            r.add(0..1, &annotators[1], -1.0);
        }
        assert_eq!(r.get(0), before);
    }
}
