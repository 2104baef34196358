//! Expected and observed disagreement of a text's annotators on its words.

use super::data::SpanTexts;
use super::disagreement::word_disagreement;
use super::token_scores::PredictedMarks;
use dissensus_stats::metrics::{auroc, spearman};

/// The words of one text with two answers or more.
#[derive(Clone, Debug)]
pub(super) struct DifferingWords {
    /// `[words][types]`: probability that those who answered differ.
    expected: Vec<f64>,
    /// Whether they do.
    observed: Vec<bool>,
    /// For each word: expected and observed share of pairs that differ, mean over types.
    pairs: Vec<(f64, f64)>,
}

impl DifferingWords {
    /// Computes the values for these answers to one text; `None` for fewer than two.
    pub(super) fn new(texts: &SpanTexts, people: &[&PredictedMarks<'_>]) -> Option<Self> {
        let first = people.first().filter(|_| people.len() > 1)?;
        let (words, types) = (texts.words(first.answer.text).len(), first.thresholds.len());
        let marked: Vec<Vec<Vec<bool>>> = people
            .iter()
            .map(|one| (0..types).map(|of_type| one.answer.marked(words, of_type).collect()).collect())
            .collect();
        let mut all = Self { expected: Vec::new(), observed: Vec::new(), pairs: Vec::new() };
        for word in 0..words {
            let (mut expected, mut observed) = (0.0, 0.0);
            for of_type in 0..types {
                let p = people.iter().map(|one| f64::from(one.probabilities[word * types + of_type]));
                let found = word_disagreement(p);
                let marks = marked.iter().map(|own| f64::from(u8::from(own[of_type][word])));
                let actual = word_disagreement(marks);
                all.expected.push(found.differ);
                all.observed.push(actual.differ > 0.5);
                expected += found.pairs;
                observed += actual.pairs;
            }
            all.pairs.push((expected / types.max(1) as f64, observed / types.max(1) as f64));
        }
        Some(all)
    }

    /// Whether they differ on at least one word with a type, and whether they agree on at least one.
    pub(super) fn both(&self, of_type: usize, types: usize) -> (bool, bool) {
        let of = || self.observed.iter().skip(of_type).step_by(types.max(1));
        (of().any(|differ| *differ), of().any(|differ| !differ))
    }

    /// The same in any type, and for the text as a whole whether they differ on at least one word.
    pub(super) fn both_in_any(&self, types: usize) -> (bool, bool) {
        let of = || self.observed.chunks_exact(types.max(1)).map(|word| word.contains(&true));
        (of().any(|differ| differ), of().any(|differ| !differ))
    }
}

/// The words of several texts, one after the other.
pub(super) struct Differing {
    types: usize,
    expected: Vec<f64>,
    observed: Vec<bool>,
    pairs: Vec<(f64, f64)>,
    /// End of each text among the words.
    ends: Vec<usize>,
}

impl Differing {
    pub(super) fn none(types: usize) -> Self {
        Self { types, expected: Vec::new(), observed: Vec::new(), pairs: Vec::new(), ends: Vec::new() }
    }

    pub(super) fn add(&mut self, text: &DifferingWords) {
        self.expected.extend(&text.expected);
        self.observed.extend(&text.observed);
        self.pairs.extend(&text.pairs);
        self.ends.push(self.pairs.len());
    }

    pub(super) fn by_type(&self) -> Vec<Option<f64>> {
        let of = |of_type: usize| {
            let expected: Vec<f64> =
                self.expected.iter().skip(of_type).step_by(self.types).copied().collect();
            let observed: Vec<bool> =
                self.observed.iter().skip(of_type).step_by(self.types).copied().collect();
            auroc(&expected, &observed)
        };
        (0..self.types).map(of).collect()
    }

    /// For any type, with types treated as independent.
    pub(super) fn any(&self) -> Option<f64> {
        let types = self.types.max(1);
        let expected: Vec<f64> = self
            .expected
            .chunks_exact(types)
            .map(|p| 1.0 - p.iter().map(|p| 1.0 - p).product::<f64>())
            .collect();
        let observed: Vec<bool> =
            self.observed.chunks_exact(types).map(|observed| observed.contains(&true)).collect();
        auroc(&expected, &observed)
    }

    pub(super) fn words(&self) -> Option<f64> {
        let (expected, observed): (Vec<f64>, Vec<f64>) = self.pairs.iter().copied().unzip();
        spearman(&expected, &observed)
    }

    fn means(&self) -> (Vec<f64>, Vec<f64>) {
        let mut from = 0;
        let mean_of = |end: &usize| {
            let words = &self.pairs[from..*end];
            from = *end;
            let each = words.len().max(1) as f64;
            (
                words.iter().map(|(expected, _)| expected).sum::<f64>() / each,
                words.iter().map(|(_, observed)| observed).sum::<f64>() / each,
            )
        };
        self.ends.iter().map(mean_of).unzip()
    }

    pub(super) fn texts(&self) -> Option<f64> {
        let (expected, observed) = self.means();
        spearman(&expected, &observed)
    }

    pub(super) fn any_of_text(&self) -> Option<f64> {
        let (expected, observed) = self.means();
        let differ: Vec<bool> = observed.iter().map(|observed| *observed > 0.0).collect();
        auroc(&expected, &differ)
    }
}
