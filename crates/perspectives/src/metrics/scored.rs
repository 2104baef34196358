//! Predictions of labels: the input of all metrics.

use crate::data::{Observation, PerspectivesError};

/// Labels with the probabilities a model gave to every level of each: the input of all metrics.
#[derive(Clone, Debug, Default)]
pub struct Scored {
    /// The labels.
    pub observations: Vec<Observation>,
    /// observations x levels, row-major; rows sum to 1.
    pub probabilities: Vec<f32>,
    /// Levels of the scale.
    pub levels: usize,
}

impl Scored {
    /// All labels of `parts` (the folds of a cross-validation, say), ordered by text, then annotator. Parts share their levels.
    pub fn pooled(parts: Vec<Self>) -> Self {
        let levels = parts.first().map_or(0, |part| part.levels);
        let mut rows: Vec<(Observation, &[f32])> = parts
            .iter()
            .flat_map(|part| part.observations.iter().enumerate().map(|(i, o)| (*o, part.row(i))))
            .collect();
        rows.sort_by_key(|(observation, _)| *observation);
        Self {
            observations: rows.iter().map(|(observation, _)| *observation).collect(),
            probabilities: rows.iter().flat_map(|(_, row)| row.iter().copied()).collect(),
            levels,
        }
    }

    /// Probabilities of observation `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.probabilities[i * self.levels..(i + 1) * self.levels]
    }

    /// The level with the largest probability for each observation; the lowest of those that tie.
    pub fn predicted(&self) -> Vec<u16> {
        self.probabilities.chunks_exact(self.levels.max(1)).map(most_likely).collect()
    }

    /// Whether there is a finite, non-negative probability for every level of every label, and no label off the scale.
    ///
    /// # Errors
    /// [`PerspectivesError::Length`], [`PerspectivesError::UnknownLevel`], [`PerspectivesError::NotProbability`].
    pub fn check(&self) -> Result<(), PerspectivesError> {
        let expected = self.observations.len() * self.levels;
        if self.probabilities.len() != expected {
            let (what, found) = ("the list of probabilities", self.probabilities.len());
            return Err(PerspectivesError::Length { what, expected, found });
        }
        for (observation, o) in self.observations.iter().enumerate() {
            if usize::from(o.level) >= self.levels {
                let (level, levels) = (o.level, self.levels);
                return Err(PerspectivesError::UnknownLevel { observation, level, levels });
            }
        }
        match self.probabilities.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
            None => Ok(()),
            Some(at) => Err(PerspectivesError::NotProbability {
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

fn most_likely(p: &[f32]) -> u16 {
    let mut best = 0;
    for (c, v) in p.iter().enumerate() {
        if *v > p[best] {
            best = c;
        }
    }
    best as u16
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
        Scored { observations, levels: p[0].len(), probabilities: p.concat() }
    }

    #[test]
    fn says_which_prediction_is_wrong() {
        let observations = vec![Observation { text: 0, annotator: 0, level: 1 }];
        let of = |probabilities: Vec<f32>, levels| {
            Scored { observations: observations.clone(), probabilities, levels }.check().err()
        };
        assert_eq!(of(vec![0.5, 0.5], 2), None);
        assert!(matches!(of(vec![0.5], 2), Some(PerspectivesError::Length { expected: 2, found: 1, .. })));
        assert!(matches!(of(vec![1.0], 1), Some(PerspectivesError::UnknownLevel { observation: 0, .. })));
        for wrong in [f32::NAN, f32::INFINITY, -0.1] {
            let error = of(vec![0.5, wrong], 2);
            assert!(matches!(error, Some(PerspectivesError::NotProbability { level: 1, .. })));
        }
    }
}
