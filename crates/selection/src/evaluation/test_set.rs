//! Test labels, which each model may read once.

use dissensus_stats::data::{AnnotatorModel, ModelError, Observation};
use dissensus_stats::metrics::Scored;
use dissensus_stats::metrics::score;
use std::collections::BTreeSet;

/// Labels that must not be used for any choice: each model reads them once, for its final figures.
#[derive(Clone, Debug, Default)]
pub struct TestSet {
    observations: Vec<Observation>,
    read_by: BTreeSet<String>,
    left_out: usize,
}

impl TestSet {
    /// Labels that were divided before, such as those of a resumed run.
    pub fn new(observations: Vec<Observation>) -> Self {
        Self { observations, read_by: BTreeSet::new(), left_out: 0 }
    }

    /// The labels, for storing with a run. Models are scored only through [`TestSet::score`].
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Labels that were divided before, after exclusion of `left_out` texts that had trained the encoder.
    pub fn without_seen(observations: Vec<Observation>, left_out: usize) -> Self {
        Self { left_out, ..Self::new(observations) }
    }

    /// Excludes the labels for which `excluded` is true, and counts their texts.
    pub(super) fn without(self, excluded: impl Fn(&Observation) -> bool) -> Self {
        let texts = self.texts();
        let observations = self.observations.into_iter().filter(|o| !excluded(o)).collect();
        let left = Self { observations, read_by: self.read_by, left_out: 0 };
        Self { left_out: texts - left.texts(), ..left }
    }

    /// Number of texts excluded because the encoder was trained on them.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    pub fn labels(&self) -> usize {
        self.observations.len()
    }

    pub fn texts(&self) -> usize {
        self.observations.iter().map(|o| o.text).collect::<BTreeSet<_>>().len()
    }

    /// Computes the probabilities of `model` for all labels, once for each `name`.
    ///
    /// # Errors
    /// [`ModelError::TestRead`] the second time.
    pub fn score(&mut self, name: &str, model: &dyn AnnotatorModel) -> Result<Scored, ModelError> {
        self.read(name)?;
        Ok(score(model, &self.observations))
    }

    /// The same for predictions of each annotator that do not depend on the text, a probability for each of
    /// `levels`.
    pub(super) fn predicted(
        &mut self,
        name: &str,
        levels: usize,
        predict: impl Fn(u32, &mut [f32]),
    ) -> Result<Scored, ModelError> {
        self.read(name)?;
        let mut observations = self.observations.clone();
        observations.sort_unstable();
        let mut probabilities = vec![0.0; observations.len() * levels];
        for (o, p) in observations.iter().zip(probabilities.chunks_exact_mut(levels)) {
            predict(o.annotator, p);
        }
        Ok(Scored { observations, probabilities, levels, tuned: None })
    }

    fn read(&mut self, name: &str) -> Result<(), ModelError> {
        if self.read_by.insert(name.to_owned()) { Ok(()) } else { Err(ModelError::TestRead(name.to_owned())) }
    }
}
