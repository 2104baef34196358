//! Metrics of predicted levels: accuracy, precision, recall and F1, overall, per level and per annotator.

use super::scored::Scored;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Share of positions where both agree. Zero for empty input. Lists of different length are truncated to the
/// shorter one.
pub fn accuracy(truth: &[u16], predicted: &[u16]) -> f64 {
    let hits = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    hits as f64 / truth.len().max(1) as f64
}

/// F1 of every level that occurs among the labels or the predictions, averaged without weights
/// (scikit-learn's `f1_score(average="macro")`); `F1 = 2 TP / (2 TP + FP + FN)`.
pub fn macro_f1(truth: &[u16], predicted: &[u16]) -> f64 {
    // Per level: true positives, then false positives and negatives together.
    let mut levels: BTreeMap<u16, (usize, usize)> = BTreeMap::new();
    for (&t, &p) in truth.iter().zip(predicted) {
        if t == p {
            levels.entry(t).or_default().0 += 1;
        } else {
            levels.entry(t).or_default().1 += 1;
            levels.entry(p).or_default().1 += 1;
        }
    }
    let sum: f64 = levels.values().map(|&(hit, miss)| 2.0 * hit as f64 / (2 * hit + miss) as f64).sum();
    sum / levels.len().max(1) as f64
}

/// Number of predictions of each level for each label: `confusion[label][predicted]`, levels x levels.
///
/// # Panics
/// If a level is not below `levels`.
pub fn confusion(truth: &[u16], predicted: &[u16], levels: usize) -> Vec<Vec<usize>> {
    let mut matrix = vec![vec![0; levels]; levels];
    for (&t, &p) in truth.iter().zip(predicted) {
        matrix[usize::from(t)][usize::from(p)] += 1;
    }
    matrix
}

/// Scores of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassScores {
    /// The level, from 0.
    pub level: usize,
    /// Number of labels of this level.
    pub support: usize,
    /// Number of labels for which this level was predicted.
    pub predicted: usize,
    /// `TP / (TP + FP)`; absent if the level was never predicted.
    pub precision: Option<f64>,
    /// `TP / (TP + FN)`; absent without labels of this level.
    pub recall: Option<f64>,
    /// `2 TP / (2 TP + FP + FN)`; absent if the level occurs among neither labels nor predictions.
    pub f1: Option<f64>,
}

/// [`ClassScores`] of every level of a confusion matrix (van Rijsbergen 1979, ch. 7; scikit-learn's
/// `precision_recall_fscore_support`, which returns 0 where a share with denominator 0 is absent here).
pub fn class_scores(confusion: &[Vec<usize>]) -> Vec<ClassScores> {
    let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    (0..confusion.len())
        .map(|level| {
            let hits = confusion[level][level];
            let support = confusion[level].iter().sum();
            let predicted = confusion.iter().map(|row| row[level]).sum();
            ClassScores {
                level,
                support,
                predicted,
                precision: share(hits, predicted),
                recall: share(hits, support),
                f1: share(2 * hits, support + predicted),
            }
        })
        .collect()
}

/// Accuracy within the labels of each level, as the literature on hate speech reports it ("accHate,
/// accNoHate, accAll", de Gibert et al. 2018).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassAccuracy {
    /// Over all labels; absent without labels.
    pub all: Option<f64>,
    /// Over the labels of each level, one entry per level: the level's recall; absent where the level has no
    /// labels.
    pub of: Vec<Option<f64>>,
}

/// Precision, recall and F1 over levels; absent without labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Average {
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// Mean F1 (not the F1 of the means).
    pub f1: Option<f64>,
}

/// The three usual averages. A level that occurs only among labels or only among predictions counts 0 where
/// its precision or recall has denominator 0; a level that occurs on neither side is left out (scikit-learn's
/// `zero_division=0`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Averages {
    /// All occurring levels have the same weight.
    #[serde(rename = "macro")]
    pub macro_: Average,
    /// All labels have the same weight: with one level per label, all three are the accuracy.
    pub micro: Average,
    /// Levels are weighted by their number of labels.
    pub weighted: Average,
}

impl Averages {
    /// Averages of the scores of all levels.
    pub fn new(classes: &[ClassScores]) -> Self {
        let labels: usize = classes.iter().map(|c| c.support).sum();
        if labels == 0 {
            return Self::default();
        }
        let average = |weight: &dyn Fn(&ClassScores) -> f64| {
            let sum: f64 = classes.iter().map(weight).sum();
            let mean = |of: fn(&ClassScores) -> Option<f64>| {
                Some(classes.iter().map(|c| weight(c) * of(c).unwrap_or(0.0)).sum::<f64>() / sum)
            };
            Average { precision: mean(|c| c.precision), recall: mean(|c| c.recall), f1: mean(|c| c.f1) }
        };
        let weighted = average(&|c| c.support as f64);
        Self {
            macro_: average(&|c| f64::from(u8::from(c.f1.is_some()))),
            // With one prediction per label, false positives and false negatives are the same labels.
            micro: Average { precision: weighted.recall, recall: weighted.recall, f1: weighted.recall },
            weighted,
        }
    }
}

/// Rows of every annotator, in order of their index.
pub(crate) fn rows_by_annotator(scored: &Scored) -> BTreeMap<u32, Vec<usize>> {
    let mut annotators: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, o) in scored.observations.iter().enumerate() {
        annotators.entry(o.annotator).or_default().push(i);
    }
    annotators
}

/// Accuracy and macro-F1 of every annotator, in order of their index.
pub(crate) struct ByAnnotator {
    pub(crate) accuracy: Vec<f64>,
    pub(crate) macro_f1: Vec<f64>,
}

pub(crate) fn by_annotator(scored: &Scored, predicted: &[u16]) -> ByAnnotator {
    let mut annotators: BTreeMap<u32, (Vec<u16>, Vec<u16>)> = BTreeMap::new();
    for (o, &p) in scored.observations.iter().zip(predicted) {
        let (t, q) = annotators.entry(o.annotator).or_default();
        t.push(o.level);
        q.push(p);
    }
    ByAnnotator {
        accuracy: annotators.values().map(|(t, p)| accuracy(t, p)).collect(),
        macro_f1: annotators.values().map(|(t, p)| macro_f1(t, p)).collect(),
    }
}
