//! Metrics of predicted levels: accuracy and F1, overall and per annotator.

use super::Scored;
use std::collections::BTreeMap;

/// Share of positions where both agree. Zero for empty input.
///
/// # Panics
/// Never; the shorter of both counts.
pub fn accuracy(truth: &[u16], predicted: &[u16]) -> f64 {
    let hits = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    hits as f64 / truth.len().max(1) as f64
}

/// F1 of every level that occurs among the labels or the predictions, averaged without weights (scikit-learn's
/// `f1_score(average="macro")`); `F1 = 2 TP / (2 TP + FP + FN)`.
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

/// Accuracy and macro-F1 of every annotator, in order of their index.
pub(crate) struct ByAnnotator {
    pub(crate) accuracy: Vec<f64>,
    pub(crate) macro_f1: Vec<f64>,
}

pub(crate) fn by_annotator(scored: &Scored, predicted: &[u16]) -> ByAnnotator {
    let mut people: BTreeMap<u32, (Vec<u16>, Vec<u16>)> = BTreeMap::new();
    for (o, &p) in scored.observations.iter().zip(predicted) {
        let (t, q) = people.entry(o.annotator).or_default();
        t.push(o.level);
        q.push(p);
    }
    ByAnnotator {
        accuracy: people.values().map(|(t, p)| accuracy(t, p)).collect(),
        macro_f1: people.values().map(|(t, p)| macro_f1(t, p)).collect(),
    }
}
