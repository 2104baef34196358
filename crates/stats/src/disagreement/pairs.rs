//! Sums over annotators, per text, from which all measures of pairs of answers are computed.

use super::block::{BLOCK, accumulate, sum};
use super::maximum;
use std::ops::Range;

/// `sum_a p_ac` and `sum_a sum_c p_ac^2`; for ordinal scales also `sum_a (sum_c c p_ac)^2` and
/// `sum_a sum_c p_ac p_a,c+1`. Sums over pairs of different annotators are those over all pairs minus each
/// annotator's own.
#[derive(Clone, Debug)]
pub struct PairSums {
    ordinal: bool,
    /// One array of texts per level.
    pub(super) p: Vec<Vec<f64>>,
    pub(super) square: Vec<f64>,
    /// Empty for scales without an order.
    pub(super) expected_square: Vec<f64>,
    /// Empty for scales without an order.
    pub(super) adjacent: Vec<f64>,
}

impl PairSums {
    pub(crate) fn new(levels: usize, ordinal: bool, texts: usize) -> Self {
        let of_order = vec![0.0; if ordinal { texts } else { 0 }];
        Self {
            ordinal,
            p: vec![vec![0.0; texts]; levels],
            square: vec![0.0; texts],
            expected_square: of_order.clone(),
            adjacent: of_order,
        }
    }

    /// Adds a text without labels.
    pub(crate) fn push_text(&mut self) {
        self.p.iter_mut().for_each(|p| p.push(0.0));
        self.square.push(0.0);
        if self.ordinal {
            self.expected_square.push(0.0);
            self.adjacent.push(0.0);
        }
    }

    /// Appends the texts of `other`.
    pub(crate) fn append(&mut self, other: Self) {
        self.p.iter_mut().zip(other.p).for_each(|(a, b)| a.extend(b));
        self.square.extend(other.square);
        self.expected_square.extend(other.expected_square);
        self.adjacent.extend(other.adjacent);
    }

    /// Adds one annotator's probabilities (level-major over `range`), or subtracts them with `sign` -1.
    pub(crate) fn add(&mut self, range: Range<usize>, block: &[f32], sign: f64) {
        let n = range.len();
        let (mut square, mut expected, mut adjacent) = ([0.0f32; BLOCK], [0.0f32; BLOCK], [0.0f32; BLOCK]);
        for (at, chunk) in range.clone().step_by(BLOCK).enumerate() {
            let width = BLOCK.min(range.end - chunk);
            let own = |c: usize| &block[c * n + at * BLOCK..c * n + at * BLOCK + width];
            let square = &mut square[..width];
            square.fill(0.0);
            for (c, total) in self.p.iter_mut().enumerate() {
                for ((total, p), square) in
                    total[chunk..chunk + width].iter_mut().zip(own(c)).zip(square.iter_mut())
                {
                    *total += sign * f64::from(*p);
                    *square += p * p;
                }
            }
            accumulate(&mut self.square[chunk..chunk + width], square, sign);
            if !self.ordinal {
                continue;
            }
            let (expected, adjacent) = (&mut expected[..width], &mut adjacent[..width]);
            expected.fill(0.0);
            adjacent.fill(0.0);
            for c in 1..self.p.len() {
                add_ordered(c, own(c - 1), own(c), expected, adjacent);
            }
            expected.iter_mut().for_each(|e| *e *= *e);
            accumulate(&mut self.expected_square[chunk..chunk + width], expected, sign);
            accumulate(&mut self.adjacent[chunk..chunk + width], adjacent, sign);
        }
    }

    /// Resets a text's sums to 0.
    pub(crate) fn clear(&mut self, text: usize) {
        self.p.iter_mut().for_each(|p| p[text] = 0.0);
        self.square[text] = 0.0;
        if self.ordinal {
            self.expected_square[text] = 0.0;
            self.adjacent[text] = 0.0;
        }
    }

    /// Adds the probabilities of `n` annotators, at most [`BLOCK`] (level-major), on one text.
    pub(crate) fn add_annotators(&mut self, text: usize, block: &[f32], n: usize) {
        for (total, p) in self.p.iter_mut().zip(block.chunks_exact(n)) {
            total[text] += sum(p, |p| p);
            self.square[text] += sum(p, |p| p * p);
        }
        if !self.ordinal {
            return;
        }
        let (mut expected, mut adjacent) = ([0.0f32; BLOCK], [0.0f32; BLOCK]);
        let (expected, adjacent) = (&mut expected[..n], &mut adjacent[..n]);
        for c in 1..self.p.len() {
            add_ordered(c, &block[(c - 1) * n..c * n], &block[c * n..(c + 1) * n], expected, adjacent);
        }
        self.expected_square[text] += sum(expected, |e| e * e);
        self.adjacent[text] += sum(adjacent, |a| a);
    }

    /// Probability that two different ones of `annotators` give this text different levels, 0..1; 0 for fewer
    /// than two.
    pub(crate) fn differ(&self, text: usize, annotators: usize) -> f64 {
        if annotators < 2 {
            return 0.0;
        }
        (1.0 - self.same(text) / ordered_pairs(annotators)).clamp(0.0, 1.0)
    }

    /// Expected squared distance of two different annotators' answers, in levels (for scales without an
    /// order: the probability that they differ), over the largest possible value for this number of people,
    /// 0..1; 0 for fewer than two.
    pub(crate) fn split(&self, text: usize, annotators: usize) -> f64 {
        if annotators < 2 {
            return 0.0;
        }
        if !self.ordinal {
            return (self.differ(text, annotators) / maximum::differ(annotators, self.p.len())).min(1.0);
        }
        let n = annotators as f64;
        let (mean, second) = self.moments(text);
        // Over ordered pairs: (y_a - y_b)^2 = y_a^2 + y_b^2 - 2 y_a y_b, and different people answer
        // independently.
        let squares = 2.0 * (n - 1.0) * second - 2.0 * (mean * mean - self.expected_square[text]);
        let most = maximum::squared_distance(annotators, self.p.len());
        (squares / ordered_pairs(annotators) / most).clamp(0.0, 1.0)
    }

    /// Probability that two different annotators' answers are two levels apart or more, 0..1; `None` for
    /// scales without an order or with two levels, 0 for fewer than two annotators.
    pub(crate) fn far_apart(&self, text: usize, annotators: usize) -> Option<f64> {
        if !self.ordinal || self.p.len() < 3 {
            return None;
        }
        if annotators < 2 {
            return Some(0.0);
        }
        let next: f64 = self.p.windows(2).map(|p| p[0][text] * p[1][text]).sum();
        let near = self.same(text) + 2.0 * (next - self.adjacent[text]);
        Some((1.0 - near / ordered_pairs(annotators)).clamp(0.0, 1.0))
    }

    /// Variance of annotators' expected levels, and variance of a label by an annotator drawn at random, in
    /// squared levels. For scales without an order those of the levels' indicators, summed over levels (the
    /// second is then Gini's impurity).
    pub(crate) fn variances(&self, text: usize, annotators: usize) -> (f64, f64) {
        let n = annotators.max(1) as f64;
        if !self.ordinal {
            let shared: f64 = self.mean(text, annotators).map(|p| p * p).sum();
            return ((self.square[text] / n - shared).max(0.0), (1.0 - shared).max(0.0));
        }
        let (mean, second) = self.moments(text);
        let mean = mean / n;
        let between = self.expected_square[text] / n - mean * mean;
        (between.max(0.0), (second / n - mean * mean).max(0.0))
    }

    /// Mean expected level over annotators, 0 to the number of levels minus one.
    pub fn mean_level(&self, text: usize, annotators: usize) -> f64 {
        self.moments(text).0 / annotators.max(1) as f64
    }

    /// Mean probabilities of one text's levels over annotators.
    pub fn mean(&self, text: usize, annotators: usize) -> impl Iterator<Item = f64> {
        let n = annotators.max(1) as f64;
        self.p.iter().map(move |p| p[text] / n)
    }

    /// `sum_a sum_c c p_ac` and `sum_a sum_c c^2 p_ac`.
    fn moments(&self, text: usize) -> (f64, f64) {
        self.p.iter().enumerate().fold((0.0, 0.0), |(first, second), (c, p)| {
            let c = c as f64;
            (first + c * p[text], second + c * c * p[text])
        })
    }

    /// Probability of equal levels, summed over ordered pairs of different annotators.
    fn same(&self, text: usize) -> f64 {
        self.p.iter().map(|p| p[text] * p[text]).sum::<f64>() - self.square[text]
    }
}

fn ordered_pairs(annotators: usize) -> f64 {
    let n = annotators as f64;
    n * (n - 1.0)
}

/// Adds level `c` to expected levels, and its product with the level below.
#[inline(always)]
fn add_ordered(c: usize, below: &[f32], p: &[f32], expected: &mut [f32], adjacent: &mut [f32]) {
    let c = c as f32;
    for (((below, p), expected), adjacent) in below.iter().zip(p).zip(expected).zip(adjacent) {
        *expected += c * p;
        *adjacent += below * p;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEOPLE: [[f32; 5]; 4] = [
        [0.1, 0.2, 0.3, 0.25, 0.15],
        [0.7, 0.1, 0.1, 0.05, 0.05],
        [0.0, 0.0, 0.0, 0.0, 1.0],
        [0.05, 0.05, 0.1, 0.3, 0.5],
    ];

    /// The mean of `of` over pairs of different people and of their answers, by enumeration.
    fn brute_force(people: &[[f32; 5]], of: impl Fn(usize, usize) -> f64) -> f64 {
        let (mut total, mut pairs) = (0.0, 0.0);
        for (i, a) in people.iter().enumerate() {
            for (j, b) in people.iter().enumerate() {
                if i == j {
                    continue;
                }
                pairs += 1.0;
                for (c, p) in a.iter().enumerate() {
                    for (d, q) in b.iter().enumerate() {
                        total += f64::from(*p) * f64::from(*q) * of(c, d);
                    }
                }
            }
        }
        total / pairs
    }

    fn by_column(people: &[[f32; 5]]) -> PairSums {
        let mut sums = PairSums::new(5, true, 1);
        people.iter().for_each(|p| sums.add(0..1, p, 1.0));
        sums
    }

    fn by_row(people: &[[f32; 5]]) -> PairSums {
        let mut sums = PairSums::new(5, true, 1);
        let block: Vec<f32> = (0..5).flat_map(|c| people.iter().map(move |p| p[c])).collect();
        sums.add_annotators(0, &block, people.len());
        sums
    }

    #[test]
    fn measures_are_means_over_all_pairs_and_answers() {
        for people in [&PEOPLE[..], &PEOPLE[..3], &PEOPLE[..2]] {
            let n = people.len();
            let squared = brute_force(people, |c, d| (c as f64 - d as f64).powi(2));
            let far = brute_force(people, |c, d| f64::from(u8::from(c.abs_diff(d) > 1)));
            let differ = brute_force(people, |c, d| f64::from(u8::from(c != d)));
            for sums in [by_column(people), by_row(people)] {
                let most = maximum::squared_distance(n, 5);
                assert!((sums.split(0, n) - squared / most).abs() < 1e-6, "{n}");
                assert!((sums.far_apart(0, n).unwrap() - far).abs() < 1e-6, "{n}");
                assert!((sums.differ(0, n) - differ).abs() < 1e-6, "{n}");
            }
        }
    }

    #[test]
    fn variances_are_those_of_the_mixture() {
        let (between, total) = by_column(&PEOPLE).variances(0, 4);
        let means: Vec<f64> = PEOPLE
            .iter()
            .map(|p| p.iter().enumerate().map(|(c, p)| c as f64 * f64::from(*p)).sum())
            .collect();
        let mean = means.iter().sum::<f64>() / 4.0;
        let expected = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 4.0;
        assert!((between - expected).abs() < 1e-6);
        let within: f64 = PEOPLE
            .iter()
            .zip(&means)
            .map(|(p, m)| {
                p.iter().enumerate().map(|(c, p)| f64::from(*p) * (c as f64 - m).powi(2)).sum::<f64>()
            })
            .sum();
        assert!((total - between - within / 4.0).abs() < 1e-6, "the law of total variance");
    }

    #[test]
    fn nominal_scales_split_by_the_probability_to_differ() {
        let mut sums = PairSums::new(5, false, 1);
        PEOPLE.iter().for_each(|p| sums.add(0..1, p, 1.0));
        let differ = brute_force(&PEOPLE, |c, d| f64::from(u8::from(c != d)));
        // Four people can all differ on five levels.
        assert!((sums.split(0, 4) - differ).abs() < 1e-6);
        assert_eq!(sums.far_apart(0, 4), None);
    }

    #[test]
    fn at_most_one_person_has_no_split() {
        let sums = by_column(&PEOPLE[..1]);
        assert_eq!((sums.split(0, 1), sums.far_apart(0, 1), sums.differ(0, 1)), (0.0, Some(0.0), 0.0));
        assert_eq!(PairSums::new(5, true, 1).split(0, 0), 0.0);
    }
}
