//! How far posteriors of texts and annotators move with the uncertainty of the shared parameters.

use serde::{Deserialize, Serialize};

/// Upper bound of the number of directions, for checking.
const MAX_DIRECTIONS: usize = 64;

/// Directions in which the uncertainty of the parameters moves texts and annotators: independent, each by one
/// standard deviation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ParameterUncertainty {
    pub(super) directions: usize,
    /// Largest standard deviation of the logarithms of texts' scales that the labels do not rule out, where
    /// the model has no such scales.
    pub(super) scale_sd: f64,
    /// Texts whose scores move: those with labels at the fit, in order.
    pub(super) texts: Vec<u32>,
    /// Of each of them, scores x directions.
    pub(super) scores: Vec<f32>,
    /// Link parameters x directions.
    pub(super) fixed_effects: Vec<f32>,
    /// Of each annotator of the fit, random effects and slopes x directions.
    pub(super) effects: Vec<f32>,
    /// For each annotator of the fit and then for one without labels: `pi/8` times the posterior variances,
    /// intercepts x directions.
    pub(super) variances: Vec<f32>,
}

impl ParameterUncertainty {
    pub(crate) fn directions(&self) -> usize {
        self.directions
    }

    /// Largest standard deviation of the logarithms of texts' scales that the labels do not rule out, where
    /// the model has no such scales.
    pub(crate) fn scale_sd(&self) -> f64 {
        self.scale_sd
    }

    /// How far each score of a text moves, scores x directions; `None` where none does.
    pub(crate) fn of_text(&self, text: usize, scores: usize) -> Option<&[f32]> {
        let at = self.texts.binary_search(&(text as u32)).ok()?;
        let size = scores * self.directions;
        self.scores.get(at * size..(at + 1) * size)
    }

    /// How far average link parameters move, parameters x directions.
    pub(crate) fn of_fixed_effects(&self) -> &[f32] {
        &self.fixed_effects
    }

    /// How far an annotator's effects move, effects x directions; `None` for annotators who joined later.
    pub(crate) fn of_annotator(&self, annotator: usize, width: usize) -> Option<&[f32]> {
        let size = width * self.directions;
        self.effects.get(annotator * size..(annotator + 1) * size)
    }

    /// How far `pi/8` times the variances of an annotator's intercepts move, intercepts x directions.
    pub(crate) fn of_variances(&self, annotator: usize, intercepts: usize) -> &[f32] {
        let size = intercepts * self.directions;
        let last = self.variances.len().saturating_sub(size);
        &self.variances[(annotator * size).min(last)..][..size.min(self.variances.len())]
    }

    /// The moves needed for annotators without labels and new texts.
    pub(crate) fn for_new_texts(&self) -> Self {
        Self { texts: Vec::new(), scores: Vec::new(), ..self.clone() }
    }

    /// Whether the sizes of a deserialised state are consistent.
    pub(super) fn fits(&self, scores: usize, intercepts: usize, width: usize) -> bool {
        if self.directions == 0 {
            return [&self.scores, &self.fixed_effects, &self.effects, &self.variances]
                .iter()
                .all(|all| all.is_empty());
        }
        self.scale_sd.is_finite()
            && self.directions <= MAX_DIRECTIONS
            && (self.scores.len() == self.texts.len() * scores * self.directions
                && self.texts.is_sorted()
                && self.fixed_effects.len() == intercepts * self.directions
                && self.effects.len().is_multiple_of(width * self.directions)
                && self.variances.len()
                    == (self.effects.len() / (width * self.directions) + 1) * intercepts * self.directions
                && [&self.scores, &self.fixed_effects, &self.effects, &self.variances]
                    .iter()
                    .all(|all| all.iter().all(|x| x.is_finite())))
    }
}
