//! Measures of texts and panels: the shares of levels among a text's labels against the predictions for those
//! who gave them, and the mean error on a text. The measures of the shared task on learning with
//! disagreements, LeWiDi 2025.

use super::answers::{median, most_likely};
use super::disagreement::rows_by_text;
use super::panel;
use super::scored::Scored;

/// Measures of one text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextMeasures {
    pub(super) error_rate: f64,
    pub(super) manhattan: f64,
    pub(super) manhattan_probabilities: f64,
    pub(super) overlap: f64,
    pub(super) jensen_shannon: f64,
    pub(super) absolute_distance: f64,
    pub(super) wasserstein: f64,
    pub(super) wasserstein_probabilities: f64,
}

impl TextMeasures {
    /// Measures of the labels in `rows`, at least one; those for ordered levels only if `ordinal`.
    fn new(scored: &Scored, rows: &[usize], ordinal: bool) -> Self {
        let (levels, n) = (scored.levels, rows.len() as f64);
        let predictions: Vec<&[f32]> = rows.iter().map(|&i| scored.row(i)).collect();
        let mut observed = vec![0.0; levels];
        let (mut wrong, mut distance) = (0, 0);
        for (&i, p) in rows.iter().zip(&predictions) {
            let level = scored.observations[i].level;
            observed[usize::from(level)] += 1.0 / n;
            wrong += usize::from(most_likely(p) != level);
            distance += usize::from(median(p).abs_diff(level));
        }
        let mean = panel::mean(&predictions, levels);
        let manhattan_probabilities = manhattan(&observed, &mean);
        let mut found = Self {
            error_rate: wrong as f64 / n,
            manhattan: manhattan(&observed, &panel::median_by_level(&predictions, levels)),
            manhattan_probabilities,
            overlap: observed.iter().zip(&mean).map(|(q, p)| q.min(*p)).sum(),
            jensen_shannon: jensen_shannon(&observed, &mean),
            ..Self::default()
        };
        if ordinal {
            found.absolute_distance = distance as f64 / n;
            found.wasserstein = wasserstein(&observed, &panel::median_cumulative(&predictions, levels));
            found.wasserstein_probabilities = wasserstein(&observed, &mean);
        }
        found
    }

    fn add(&mut self, weight: f64, other: &Self) {
        self.error_rate += weight * other.error_rate;
        self.manhattan += weight * other.manhattan;
        self.manhattan_probabilities += weight * other.manhattan_probabilities;
        self.overlap += weight * other.overlap;
        self.jensen_shannon += weight * other.jensen_shannon;
        self.absolute_distance += weight * other.absolute_distance;
        self.wasserstein += weight * other.wasserstein;
        self.wasserstein_probabilities += weight * other.wasserstein_probabilities;
    }
}

/// The measures of every text with labels, in order of their indices.
pub(crate) fn measures_by_text(scored: &Scored, ordinal: bool) -> Vec<TextMeasures> {
    rows_by_text(scored).values().map(|rows| TextMeasures::new(scored, rows, ordinal)).collect()
}

/// The means over texts with weights, at least one of which is positive.
pub(crate) fn mean_of<'a>(texts: impl Iterator<Item = (f64, &'a TextMeasures)>) -> TextMeasures {
    let (mut sum, mut all) = (TextMeasures::default(), 0.0);
    for (weight, text) in texts {
        sum.add(weight, text);
        all += weight;
    }
    let mut mean = TextMeasures::default();
    mean.add(1.0 / all, &sum);
    mean
}

/// `sum_c |q_c - p_c|`, 0 to 2.
fn manhattan(q: &[f64], p: &[f64]) -> f64 {
    q.iter().zip(p).map(|(q, p)| (q - p).abs()).sum()
}

/// The Wasserstein-1 distance, in levels: `sum_j |Q_j - P_j|` of the cumulative shares (Vallender 1974).
fn wasserstein(q: &[f64], p: &[f64]) -> f64 {
    let (mut gap, mut sum) = (0.0f64, 0.0);
    for (q, p) in q.iter().zip(p).take(q.len().saturating_sub(1)) {
        gap += q - p;
        sum += gap.abs();
    }
    sum
}

/// The Jensen-Shannon divergence to base 2, 0 to 1 (Lin 1991).
fn jensen_shannon(q: &[f64], p: &[f64]) -> f64 {
    let part = |a: f64, b: f64| if a > 0.0 { 0.5 * a * (2.0 * a / (a + b)).log2() } else { 0.0 };
    q.iter().zip(p).map(|(&q, &p)| part(q, p) + part(p, q)).sum::<f64>().clamp(0.0, 1.0)
}

/// Predicted labels of one text by the annotators who labelled it.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    pub text: u32,
    /// The share of each level with the smallest expected distance: Wasserstein-1 where levels are ordered,
    /// else Manhattan. Not probabilities.
    pub shares: Vec<f64>,
    /// Each annotator's answer: the median where levels are ordered, else the most likely level.
    pub answers: Vec<(u32, u16)>,
}

impl Scored {
    /// One entry for each text with labels, in order of their indices.
    pub fn panels(&self, ordinal: bool) -> Vec<Panel> {
        let panel = |(&text, rows): (&u32, &Vec<usize>)| {
            let predictions: Vec<&[f32]> = rows.iter().map(|&i| self.row(i)).collect();
            let (shares, answer) = if ordinal {
                (panel::median_cumulative(&predictions, self.levels), median as fn(&[f32]) -> u16)
            } else {
                (panel::median_by_level(&predictions, self.levels), most_likely as fn(&[f32]) -> u16)
            };
            let answers =
                rows.iter().zip(&predictions).map(|(&i, p)| (self.observations[i].annotator, answer(p)));
            Panel { text, shares, answers: answers.collect() }
        };
        rows_by_text(self).iter().map(panel).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Observation;
    use crate::metrics::Scores;

    fn of(rows: &[(u32, u16)], p: &[f32], levels: usize, ordinal: bool) -> Scores {
        let observations = (0..)
            .zip(rows)
            .map(|(annotator, &(text, level))| Observation { text, annotator, level })
            .collect();
        let scored = Scored { observations, probabilities: p.repeat(rows.len()), levels, tuned: None };
        Scores::new(&scored, ordinal)
    }

    #[test]
    fn perfect_prediction_has_zero_distance() {
        let scores = of(&[(0, 2), (0, 2), (3, 2)], &[0.0, 0.0, 1.0, 0.0], 4, true);
        for (key, value) in scores.values() {
            match key {
                "error_rate"
                | "manhattan"
                | "manhattan_probabilities"
                | "wasserstein"
                | "wasserstein_probabilities"
                | "normalized_absolute_distance" => {
                    assert_eq!(value, Some(0.0), "{key}");
                }
                "soft_micro_f1" | "po_jsd" => assert_eq!(value, Some(1.0), "{key}"),
                _ => {}
            }
        }
    }

    #[test]
    fn opposite_prediction_has_the_largest_distance() {
        let scores = of(&[(0, 3), (0, 3)], &[1.0, 0.0, 0.0, 0.0], 4, true);
        assert_eq!((scores.wasserstein, scores.wasserstein_probabilities), (Some(3.0), Some(3.0)));
        assert_eq!((scores.manhattan, scores.manhattan_probabilities), (Some(2.0), Some(2.0)));
        assert_eq!((scores.soft_micro_f1, scores.po_jsd), (Some(0.0), Some(0.0)));
        assert_eq!((scores.error_rate, scores.normalized_absolute_distance), (Some(1.0), Some(0.75)));
    }

    #[test]
    fn texts_are_weighted_equally() {
        // Nine labels of one text are predicted correctly, the only one of the other is not.
        let mut rows = vec![(0, 0); 9];
        rows.push((1, 1));
        let scores = of(&rows, &[0.8, 0.2], 2, false);
        assert_eq!(scores.error_rate, Some(0.5));
        assert!((scores.accuracy.unwrap() - 0.9).abs() < 1e-12);
    }

    #[test]
    fn panel_answer_minimises_its_distance() {
        let o = |text, annotator, level| Observation { text, annotator, level };
        let scored = Scored {
            observations: vec![o(3, 0, 0), o(3, 7, 0), o(9, 7, 2)],
            probabilities: [[0.4, 0.25, 0.35]; 3].concat(),
            levels: 3,
            tuned: None,
        };
        let (ordinal, nominal) = (scored.panels(true), scored.panels(false));
        assert_eq!(ordinal.iter().map(|p| p.text).collect::<Vec<_>>(), [3, 9]);
        assert_eq!(ordinal[0].answers, [(0, 1), (7, 1)]);
        assert_eq!(nominal[0].answers, [(0, 0), (7, 0)]);
        // Of two people: P(nobody at level 0) = .36, P(nobody at 1 or lower) = .1225, P(one at most) = .5775.
        assert_eq!(ordinal[0].shares, [0.5, 0.0, 0.5]);
        assert_eq!((&ordinal[1].shares, &nominal[1].shares), (&vec![0.0, 1.0, 0.0], &vec![1.0, 0.0, 0.0]));
    }

    #[test]
    fn measures_without_order_or_labels_are_absent() {
        let scores = of(&[(0, 0), (0, 1), (1, 2)], &[0.5, 0.3, 0.2], 3, false);
        assert!(scores.wasserstein.is_none() && scores.wasserstein_probabilities.is_none());
        assert!(scores.normalized_absolute_distance.is_none() && scores.macro_f1_median.is_none());
        assert!(scores.manhattan.is_some() && scores.error_rate.is_some());
        let none = of(&[], &[], 3, true);
        assert!(none.values().iter().all(|(_, value)| value.is_none()));
    }
}
