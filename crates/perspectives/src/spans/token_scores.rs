//! Metrics over words and spans.

use super::data::{SpanAnswer, SpanTexts};
use super::disagreement::word_disagreement;
use super::marks::runs_of_words;
use crate::metrics::{auroc, spearman};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Least probability in a logarithm.
const LEAST: f64 = 1e-7;

/// One answer and what was predicted of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PredictedMarks<'a> {
    pub(super) answer: &'a SpanAnswer,
    /// `[words][types]`.
    pub(super) probabilities: &'a [f32],
    /// Of each type.
    pub(super) thresholds: &'a [f64],
}

/// Scores over the words of test answers. A word is the token. Keys are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenScores {
    /// Mean over words, types and answers of the negative log-likelihood (Bernoulli for each type), in nats.
    pub token_log_loss: f64,
    /// F1 of marked words, pooled over answers; mean over types where anybody marked or was predicted to.
    pub token_macro_f1: Option<f64>,
    /// The same for each annotator alone; mean over annotators.
    pub annotator_token_macro_f1: Option<f64>,
    /// F1 of spans (runs of words of one type) that begin and end at the same words, pooled over types and answers.
    pub span_f1_exact: Option<f64>,
    /// F1 where a span counts as found if it shares a word with one of the same type.
    pub span_f1_overlap: Option<f64>,
    /// Area under the ROC curve of "annotators differ on this word", in any type, over words with two answers or more; by the probability that those who answered differ.
    pub token_disagreement_auroc: Option<f64>,
    /// The same of each type alone, mean over types.
    pub token_disagreement_auroc_by_type: Option<f64>,
    /// Spearman's correlation of the expected with the observed share of pairs that differ on a word, all types together.
    pub token_disagreement_spearman: Option<f64>,
    /// The same of the mean over a text's words.
    pub text_disagreement_spearman: Option<f64>,
    /// Area under the ROC curve of "annotators differ on some word of this text", by the mean over its words.
    pub text_disagreement_auroc: Option<f64>,
    /// Of each type.
    pub types: Vec<TypeTokenScores>,
    /// Words times answers.
    pub n_decisions: u64,
}

/// Of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeTokenScores {
    /// Mean negative log-likelihood.
    pub token_log_loss: f64,
    /// F1 of marked words, pooled over answers.
    pub token_f1: Option<f64>,
    /// Area under the ROC curve of "annotators differ on this word".
    pub token_disagreement_auroc: Option<f64>,
}

/// True positives, predicted and actual positives.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    right: f64,
    predicted: f64,
    actual: f64,
}

impl Counts {
    fn f1(self) -> Option<f64> {
        let all = self.predicted + self.actual;
        (all > 0.0).then(|| 2.0 * self.right / all)
    }

    fn add(&mut self, predicted: bool, actual: bool) {
        self.right += f64::from(u8::from(predicted && actual));
        self.predicted += f64::from(u8::from(predicted));
        self.actual += f64::from(u8::from(actual));
    }
}

impl TokenScores {
    /// A word counts as marked where its probability reaches the type's threshold.
    pub(super) fn of(texts: &SpanTexts, predicted: &[PredictedMarks<'_>]) -> Self {
        let types = predicted.first().map_or(0, |one| one.thresholds.len());
        let (mut losses, mut decisions) = (vec![0.0; types], 0_u64);
        let mut pooled = vec![Counts::default(); types];
        let mut own: BTreeMap<u32, Vec<Counts>> = BTreeMap::new();
        let (mut exact, mut overlap) = (Counts::default(), Overlap::default());
        for PredictedMarks { answer, probabilities: p, thresholds } in predicted {
            let words = texts.words(answer.text).len();
            decisions += words as u64;
            let own = own.entry(answer.annotator).or_insert_with(|| vec![Counts::default(); types]);
            for of_type in 0..types {
                let of_word = |word: usize| f64::from(p[word * types + of_type]);
                let predicted: Vec<bool> =
                    (0..words).map(|word| of_word(word) >= thresholds[of_type]).collect();
                let actual: Vec<bool> = answer.marked(words, of_type).collect();
                for word in 0..words {
                    let chance = if actual[word] { of_word(word) } else { 1.0 - of_word(word) };
                    losses[of_type] -= chance.max(LEAST).ln();
                    pooled[of_type].add(predicted[word], actual[word]);
                    own[of_type].add(predicted[word], actual[word]);
                }
                let (predicted, actual) =
                    (runs_of_words(predicted.into_iter()), runs_of_words(actual.into_iter()));
                exact.right += predicted.iter().filter(|run| actual.contains(run)).count() as f64;
                exact.predicted += predicted.len() as f64;
                exact.actual += actual.len() as f64;
                overlap.add(&predicted, &actual);
            }
        }
        let each = (decisions as f64).max(1.0);
        let differing = Differing::of(texts, predicted, types);
        let by_type = differing.by_type();
        let people = own.values().filter_map(|counts| mean(counts.iter().filter_map(|c| c.f1())));
        Self {
            token_log_loss: losses.iter().sum::<f64>() / (each * types.max(1) as f64),
            token_macro_f1: mean(pooled.iter().filter_map(|counts| counts.f1())),
            annotator_token_macro_f1: mean(people),
            span_f1_exact: exact.f1(),
            span_f1_overlap: overlap.f1(),
            token_disagreement_auroc: differing.any(),
            token_disagreement_auroc_by_type: mean(by_type.iter().flatten().copied()),
            token_disagreement_spearman: differing.words(),
            text_disagreement_spearman: differing.texts(),
            text_disagreement_auroc: differing.any_of_text(),
            types: losses
                .iter()
                .zip(&pooled)
                .zip(by_type)
                .map(|((loss, counts), token_disagreement_auroc)| TypeTokenScores {
                    token_log_loss: loss / each,
                    token_f1: counts.f1(),
                    token_disagreement_auroc,
                })
                .collect(),
            n_decisions: decisions,
        }
    }
}

/// Spans that share a word with one of the other side.
#[derive(Clone, Copy, Debug, Default)]
struct Overlap {
    predicted_found: f64,
    predicted: f64,
    actual_found: f64,
    actual: f64,
}

impl Overlap {
    fn add(&mut self, predicted: &[Range<usize>], actual: &[Range<usize>]) {
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

    /// The harmonic mean of the shares that are found; 0 where nothing is, absent where there is no span on either side.
    fn f1(self) -> Option<f64> {
        if self.predicted + self.actual == 0.0 {
            return None;
        }
        let precision = self.predicted_found / self.predicted.max(1.0);
        let recall = self.actual_found / self.actual.max(1.0);
        Some(if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 })
    }
}

/// Words with two answers or more, and how far those who answered differ on them.
struct Differing {
    types: usize,
    /// `[words][types]`: probability that those who answered differ, and whether they do.
    expected: Vec<f64>,
    observed: Vec<bool>,
    /// Of each word: expected and observed share of pairs that differ, mean over types.
    pairs: Vec<(f64, f64)>,
    /// Where each text ends among the words.
    ends: Vec<usize>,
}

impl Differing {
    fn of(texts: &SpanTexts, predicted: &[PredictedMarks<'_>], types: usize) -> Self {
        let mut by_text: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        predicted
            .iter()
            .enumerate()
            .for_each(|(at, one)| by_text.entry(one.answer.text).or_default().push(at));
        let mut all =
            Self { types, expected: Vec::new(), observed: Vec::new(), pairs: Vec::new(), ends: Vec::new() };
        for (text, people) in by_text.into_iter().filter(|(_, people)| people.len() > 1) {
            let words = texts.words(text).len();
            let marked: Vec<Vec<Vec<bool>>> = people
                .iter()
                .map(|at| {
                    (0..types).map(|of_type| predicted[*at].answer.marked(words, of_type).collect()).collect()
                })
                .collect();
            for word in 0..words {
                let (mut expected, mut observed) = (0.0, 0.0);
                for of_type in 0..types {
                    let p = people
                        .iter()
                        .map(|at| f64::from(predicted[*at].probabilities[word * types + of_type]));
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
            all.ends.push(all.pairs.len());
        }
        all
    }

    fn by_type(&self) -> Vec<Option<f64>> {
        let of = |of_type: usize| {
            let expected: Vec<f64> =
                self.expected.iter().skip(of_type).step_by(self.types).copied().collect();
            let observed: Vec<bool> =
                self.observed.iter().skip(of_type).step_by(self.types).copied().collect();
            auroc(&expected, &observed)
        };
        (0..self.types).map(of).collect()
    }

    /// In any type; types as if independent.
    fn any(&self) -> Option<f64> {
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

    fn words(&self) -> Option<f64> {
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

    fn texts(&self) -> Option<f64> {
        let (expected, observed) = self.means();
        spearman(&expected, &observed)
    }

    fn any_of_text(&self) -> Option<f64> {
        let (expected, observed) = self.means();
        let differ: Vec<bool> = observed.iter().map(|observed| *observed > 0.0).collect();
        auroc(&expected, &differ)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}
