//! Doubt about disagreement among some annotators only.

use super::interval::interval;
use super::model::LiveModel;

impl LiveModel {
    /// As [`LiveModel::interval`], over the annotators of `mask`; `estimate` is their pairwise disagreement on the text.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn interval_of_annotators(&self, text: u32, mask: &[bool], estimate: f32) -> (f32, f32) {
        let predictors = self.model.predictors().iter().zip(mask).filter(|(_, chosen)| **chosen);
        let predictors: Vec<_> = predictors.map(|(predictor, _)| predictor.clone()).collect();
        interval(&self.model.crossed, text as usize, &predictors, estimate)
    }
}
