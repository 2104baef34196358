//! The people who answer at or above a level, and their share.

use super::model::LiveModel;
use crate::mixed::predictor::{Scratch, TextColumns};
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::math::distributions::normal_quantile;
use dissensus_stats::metrics::CONFIDENCE_LEVEL;

/// An annotator who answers at or above a level, or below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnSide {
    pub annotator: u32,
    /// Whether the person labelled the text; else the side is predicted with 95 % or more.
    pub labelled: bool,
}

impl LiveModel {
    /// For an ordinal question, the people of `mask` (all of them with `None`) who answer lower than `level`
    /// on a text, and those who answer `level` or higher: annotators who labelled the text are on the side of
    /// their label, all others are on a side if predicted there with 95 % or more. Annotators who labelled it
    /// come first, then on the lower side the most lenient and on the upper side the strictest.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn sides_of(&self, text: u32, level: u16, mask: Option<&[bool]>) -> [Vec<OnSide>; 2] {
        let labels = &self.model.crossed.labels[text as usize];
        let mut p = vec![0.0f32; self.levels()];
        let mut sides: [Vec<(f64, OnSide)>; 2] = Default::default();
        for annotator in 0..self.annotators() as u32 {
            if mask.is_some_and(|mask| mask.get(annotator as usize) != Some(&true)) {
                continue;
            }
            let label = labels.binary_search_by_key(&annotator, |label| label.annotator).ok();
            let above = match label {
                Some(at) => f64::from(u8::from(labels[at].level >= level)),
                None => {
                    self.predict(text, annotator, &mut p);
                    p[usize::from(level)..].iter().map(|p| f64::from(*p)).sum()
                }
            };
            let side = [1.0 - above, above].iter().position(|chance| *chance >= CONFIDENCE_LEVEL);
            let severity = self.severity(annotator).map_or(0.0, |severity| severity.mean);
            if let Some(side) = side {
                sides[side].push((severity, OnSide { annotator, labelled: label.is_some() }));
            }
        }
        let [below, above] = &mut sides;
        let labelled = |a: &(f64, OnSide), b: &(f64, OnSide)| b.1.labelled.cmp(&a.1.labelled);
        below.sort_by(|a, b| labelled(a, b).then(a.0.total_cmp(&b.0)));
        above.sort_by(|a, b| labelled(a, b).then(b.0.total_cmp(&a.0)));
        sides.map(|side| side.into_iter().map(|(_, one)| one).collect())
    }

    /// For an ordinal question, the share of the annotators of `mask` (all of them with `None`) who answer
    /// `level` or higher on a text, and its interval over the text's posterior interval of `confidence`.
    /// Annotators who labelled the text count with their label.
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
