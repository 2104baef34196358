//! Doubt about disagreement among some annotators only.

use super::LiveModel;
use super::interval::interval;

impl LiveModel {
    /// As [`LiveModel::interval`], over the annotators of `mask`; `headline` is their pairwise disagreement on the text.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn interval_of_annotators(&self, text: u32, mask: &[bool], headline: f32) -> (f32, f32) {
        let views = self.model.views().iter().zip(mask).filter(|(_, chosen)| **chosen);
        let views: Vec<_> = views.map(|(view, _)| view.clone()).collect();
        interval(&self.model.crossed, text as usize, &views, headline)
    }
}
