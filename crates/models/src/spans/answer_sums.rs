//! Sums of one answer, from which the scores of a model on any set of answers are computed.

use super::marks::runs_of_words;
use super::token_scores::PredictedMarks;
use std::ops::Range;

/// Smallest probability in a logarithm.
const MIN_PROBABILITY: f64 = 1e-7;

/// True positives, predicted and actual positives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    right: f64,
    predicted: f64,
    actual: f64,
}

impl Counts {
    pub(super) fn f1(self) -> Option<f64> {
        let all = self.predicted + self.actual;
        (all > 0.0).then(|| 2.0 * self.right / all)
    }

    /// Whether the type occurs, marked or predicted.
    pub(super) fn occurs(self) -> bool {
        self.predicted + self.actual > 0.0
    }

    pub(super) fn add(&mut self, other: Self) {
        self.right += other.right;
        self.predicted += other.predicted;
        self.actual += other.actual;
    }

    fn add_word(&mut self, predicted: bool, actual: bool) {
        self.right += f64::from(u8::from(predicted && actual));
        self.predicted += f64::from(u8::from(predicted));
        self.actual += f64::from(u8::from(actual));
    }

    fn add_runs(&mut self, predicted: &[Range<usize>], actual: &[Range<usize>]) {
        self.right += predicted.iter().filter(|run| actual.contains(run)).count() as f64;
        self.predicted += predicted.len() as f64;
        self.actual += actual.len() as f64;
    }
}

/// Counts of spans that share a word with a span of the other side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overlap {
    predicted_found: f64,
    predicted: f64,
    actual_found: f64,
    actual: f64,
}

impl Overlap {
    fn add_runs(&mut self, predicted: &[Range<usize>], actual: &[Range<usize>]) {
        let found = |of: &[Range<usize>], among: &[Range<usize>]| {
            let shares = |run: &&Range<usize>| {
                among.iter().any(|other| run.start < other.end && other.start < run.end)
            };
            of.iter().filter(shares).count() as f64
        };
        self.predicted_found += found(predicted, actual);
        self.actual_found += found(actual, predicted);
        self.predicted += predicted.len() as f64;
        self.actual += actual.len() as f64;
    }

    pub(super) fn add(&mut self, other: Self) {
        self.predicted_found += other.predicted_found;
        self.predicted += other.predicted;
        self.actual_found += other.actual_found;
        self.actual += other.actual;
    }

    /// Harmonic mean of precision and recall; 0 where nothing is found, absent where there is no span on
    /// either side.
    pub(super) fn f1(self) -> Option<f64> {
        if self.predicted + self.actual == 0.0 {
            return None;
        }
        let precision = self.predicted_found / self.predicted.max(1.0);
        let recall = self.actual_found / self.actual.max(1.0);
        Some(if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 })
    }
}

/// The sums of one answer, or of several.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerSums {
    pub(super) words: u64,
    /// For each type the summed loss, and counts of words.
    pub(super) types: Vec<(f64, Counts)>,
    pub(super) exact: Counts,
    pub(super) overlap: Overlap,
}

impl AnswerSums {
    /// Sums of no answer.
    pub(super) fn none(types: usize) -> Self {
        Self { types: vec![Default::default(); types], ..Self::default() }
    }

    /// Sums of an answer to a text of `words` words. A word counts as marked where its probability reaches
    /// the type's threshold.
    pub(super) fn new(words: usize, one: &PredictedMarks<'_>) -> Self {
        let PredictedMarks { answer, probabilities: p, thresholds } = one;
        let types = thresholds.len();
        let mut sums = Self { words: words as u64, ..Self::none(types) };
        for (of_type, (loss, counts)) in sums.types.iter_mut().enumerate() {
            let of_word = |word: usize| f64::from(p[word * types + of_type]);
            let predicted: Vec<bool> = (0..words).map(|word| of_word(word) >= thresholds[of_type]).collect();
            let actual: Vec<bool> = answer.marked(words, of_type).collect();
            for word in 0..words {
                let chance = if actual[word] { of_word(word) } else { 1.0 - of_word(word) };
                *loss -= chance.max(MIN_PROBABILITY).ln();
                counts.add_word(predicted[word], actual[word]);
            }
            let (predicted, actual) =
                (runs_of_words(predicted.into_iter()), runs_of_words(actual.into_iter()));
            sums.exact.add_runs(&predicted, &actual);
            sums.overlap.add_runs(&predicted, &actual);
        }
        sums
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.words += other.words;
        for ((loss, counts), (more_loss, more)) in self.types.iter_mut().zip(&other.types) {
            *loss += more_loss;
            counts.add(*more);
        }
        self.exact.add(other.exact);
        self.overlap.add(other.overlap);
    }
}
