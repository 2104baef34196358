//! Predictions of labels: the input of all metrics.

use super::answers::most_likely;
use crate::data::{ModelError, Observation};

/// Labels with the probabilities a model gave to every level of each: the input of all metrics.
#[derive(Clone, Debug, Default)]
pub struct Scored {
    pub observations: Vec<Observation>,
    /// observations x levels, row-major; rows sum to 1.
    pub probabilities: Vec<f32>,
    /// Number of levels of the scale.
    pub levels: usize,
    /// The answer to each label that was tuned for macro-F1 on other labels ([`super::F1Rule`]); `None` where
    /// nothing was tuned.
    pub tuned: Option<Vec<u16>>,
}

impl Scored {
    /// All labels of `parts` (for example the folds of a cross-validation), ordered by text, then annotator.
    /// Parts share their levels.
    pub fn pooled(parts: Vec<Self>) -> Self {
        let levels = parts.first().map_or(0, |part| part.levels);
        let tuned = parts.iter().all(|part| part.tuned.is_some()) && !parts.is_empty();
        let row = |part: &'_ Self, i: usize| part.tuned.as_ref().map_or(0, |tuned| tuned[i]);
        let mut rows: Vec<(Observation, &[f32], u16)> = parts
            .iter()
            .flat_map(|part| {
                part.observations.iter().enumerate().map(move |(i, o)| (*o, part.row(i), row(part, i)))
            })
            .collect();
        rows.sort_by_key(|(observation, ..)| *observation);
        Self {
            observations: rows.iter().map(|(observation, ..)| *observation).collect(),
            probabilities: rows.iter().flat_map(|(_, row, _)| row.iter().copied()).collect(),
            levels,
            tuned: tuned.then(|| rows.iter().map(|(.., answer)| *answer).collect()),
        }
    }

    /// Only the labels that `keep` selects.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&Observation) -> bool) -> Self {
        self.at(|row| keep(&self.observations[row]))
    }

    /// Only the rows that `keep` selects.
    #[must_use]
    pub(crate) fn at(&self, keep: impl Fn(usize) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.observations.len()).filter(|row| keep(*row)).collect();
        Self {
            observations: rows.iter().map(|row| self.observations[*row]).collect(),
            probabilities: rows.iter().flat_map(|row| self.row(*row).iter().copied()).collect(),
            levels: self.levels,
            tuned: self.tuned.as_ref().map(|tuned| rows.iter().map(|row| tuned[*row]).collect()),
        }
    }

    /// The answers tuned for macro-F1; the most likely levels where nothing was tuned.
    pub fn tuned_or_predicted(&self) -> Vec<u16> {
        self.tuned.clone().unwrap_or_else(|| self.predicted())
    }

    /// Probabilities of observation `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.probabilities[i * self.levels..(i + 1) * self.levels]
    }

    /// The level with the largest probability for each observation; the lowest in case of ties.
    pub fn predicted(&self) -> Vec<u16> {
        self.probabilities.chunks_exact(self.levels.max(1)).map(most_likely).collect()
    }

    /// Checks for a finite, non-negative probability of every level for every label, and for labels off the
    /// scale.
    ///
    /// # Errors
    /// [`ModelError::Length`], [`ModelError::UnknownLevel`], [`ModelError::NotProbability`].
    pub fn check(&self) -> Result<(), ModelError> {
        let expected = self.observations.len() * self.levels;
        if self.probabilities.len() != expected {
            let (what, found) = ("the list of probabilities", self.probabilities.len());
            return Err(ModelError::Length { what, expected, found });
        }
        if let Some(tuned) = self.tuned.as_ref().filter(|tuned| tuned.len() != self.observations.len()) {
            let (what, expected, found) = ("the list of tuned answers", self.observations.len(), tuned.len());
            return Err(ModelError::Length { what, expected, found });
        }
        for (observation, o) in self.observations.iter().enumerate() {
            if usize::from(o.level) >= self.levels {
                let (level, levels) = (o.level, self.levels);
                return Err(ModelError::UnknownLevel { observation, level, levels });
            }
        }
        match self.probabilities.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
            None => Ok(()),
            Some(at) => Err(ModelError::NotProbability {
                observation: at / self.levels,
                level: at % self.levels,
                found: self.probabilities[at],
            }),
        }
    }

    /// The true levels.
    pub fn truth(&self) -> Vec<u16> {
        self.observations.iter().map(|o| o.level).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::Value;

    /// Labels and predictions of a committed fixture: `rows` of (text, annotator, level) and `probabilities`.
    pub(crate) fn scored(fixture: &Value) -> Scored {
        let rows: Vec<(u32, u32, u16)> = serde_json::from_value(fixture["rows"].clone()).unwrap();
        let p: Vec<Vec<f32>> = serde_json::from_value(fixture["probabilities"].clone()).unwrap();
        let observations =
            rows.into_iter().map(|(text, annotator, level)| Observation { text, annotator, level }).collect();
        Scored { observations, levels: p[0].len(), probabilities: p.concat(), tuned: None }
    }

    #[test]
    fn error_names_the_prediction() {
        let observations = vec![Observation { text: 0, annotator: 0, level: 1 }];
        let of = |probabilities: Vec<f32>, levels| {
            Scored { observations: observations.clone(), probabilities, levels, tuned: None }.check().err()
        };
        assert_eq!(of(vec![0.5, 0.5], 2), None);
        assert!(matches!(of(vec![0.5], 2), Some(ModelError::Length { expected: 2, found: 1, .. })));
        assert!(matches!(of(vec![1.0], 1), Some(ModelError::UnknownLevel { observation: 0, .. })));
        for wrong in [f32::NAN, f32::INFINITY, -0.1] {
            let error = of(vec![0.5, wrong], 2);
            assert!(matches!(error, Some(ModelError::NotProbability { level: 1, .. })));
        }
    }
}
