//! Test labels, which each model reads once.

use crate::data::{AnnotatorModel, Observation, PerspectivesError};
use crate::metrics::Scored;
use crate::metrics::score;
use std::collections::BTreeSet;

/// Labels that nothing may be chosen by: each model reads them once, for its final figures.
#[derive(Clone, Debug, Default)]
pub struct TestSet {
    observations: Vec<Observation>,
    read_by: BTreeSet<String>,
}

impl TestSet {
    pub(super) fn new(observations: Vec<Observation>) -> Self {
        Self { observations, read_by: BTreeSet::new() }
    }

    #[cfg(test)]
    pub(super) fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Labels in it.
    pub fn labels(&self) -> usize {
        self.observations.len()
    }

    /// Texts in it.
    pub fn texts(&self) -> usize {
        self.observations.iter().map(|o| o.text).collect::<BTreeSet<_>>().len()
    }

    /// Probabilities of `model` for all labels, once for each `name`.
    ///
    /// # Errors
    /// [`PerspectivesError::TestRead`] the second time.
    pub fn score(&mut self, name: &str, model: &dyn AnnotatorModel) -> Result<Scored, PerspectivesError> {
        if !self.read_by.insert(name.to_owned()) {
            return Err(PerspectivesError::TestRead(name.to_owned()));
        }
        Ok(score(model, &self.observations))
    }
}
