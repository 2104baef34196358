//! The share of people who answer a level or a higher one.

use super::model::LiveModel;
use crate::data::AnnotatorModel as _;
use crate::math::distributions::normal_quantile;
use crate::mixed::predictor::{Scratch, TextColumns};

impl LiveModel {
    /// Of an ordinal question the share of the annotators of `mask` (all of them with `None`) who answer `level` or a higher one on a text, and its interval while
    /// the text's score runs from one end of its posterior interval of `confidence` to the other. Who labelled the text stands with the label.
    ///
    /// # Panics
    /// If there is no such text, or levels have no order.
    pub fn share_above(
        &self,
        text: u32,
        level: u16,
        mask: Option<&[bool]>,
        confidence: f64,
    ) -> (f32, (f32, f32)) {
        let at = usize::from(level);
        let panel: f64 = self.panel_distribution(text, mask)[at..].iter().sum();
        let crossed = &self.model.crossed;
        let row = text as usize;
        let reach = normal_quantile(0.5 + confidence / 2.0) * crossed.v[row].sqrt();
        let mut columns = TextColumns::empty(crossed);
        for end in [-reach, reach] {
            columns.push(&[crossed.u[row] + end], 0.0, crossed.noise(row), crossed.features(row));
        }
        let labels = &crossed.labels[row];
        let (mut p, mut scratch) = (vec![0.0; 2 * self.levels()], Scratch::default());
        let (mut ends, mut people) = ([0.0_f64; 2], 0.0);
        for (annotator, predictor) in self.model.predictors().iter().enumerate() {
            if mask.is_some_and(|mask| mask.get(annotator) != Some(&true)) {
                continue;
            }
            people += 1.0;
            if let Ok(label) = labels.binary_search_by_key(&(annotator as u32), |label| label.annotator) {
                let above = f64::from(u8::from(labels[label].level >= level));
                ends.iter_mut().for_each(|end| *end += above);
                continue;
            }
            predictor.fill(&columns, 0..2, &mut p, &mut scratch);
            for of_level in p.chunks_exact(2).skip(at) {
                ends.iter_mut().zip(of_level).for_each(|(end, p)| *end += f64::from(*p));
            }
        }
        let [low, high] = ends.map(|end| end / f64::max(people, 1.0));
        (panel as f32, (low.min(panel) as f32, high.max(panel) as f32))
    }
}
