//! A live model: its predictions, and its updates by single labels.

use super::comparison::Comparison;
use super::measured::{MeasureCache, Over, TextMeasure, TextMeasures};
use crate::encoding::Basis;
use dissensus_api::{Estimation, GroupChoice, TextPredictions};
use dissensus_domain::{Annotator, LevelId};
use dissensus_models::live::{LabelChange, LiveModel};
use dissensus_project::context::attributes;
use dissensus_stats::data::AnnotatorModel;
use std::sync::Arc;

/// The name of the model in the project's stored heads.
pub(super) const MODEL: &str = "multilevel";
/// A refit is due after so many changes, or after a twentieth of the labels that the model is based on,
/// whichever is more.
pub(super) const REFIT_AFTER: usize = 20;

/// Changes after which a refit of a model on so many labels is due.
pub(super) fn refit_after(labels: usize) -> usize {
    REFIT_AFTER.max(labels / 20)
}

/// A model that is live.
pub struct Fitted {
    pub model: LiveModel,
    /// The level of each of its columns.
    pub(crate) levels: Vec<LevelId>,
    /// The embeddings that it is based on.
    pub basis: Basis,
    /// Labels at its last fit, and changes since.
    pub labels: usize,
    pub(super) changes: usize,
    /// Changes since it was fitted, whether or not a fit is due.
    pub(crate) learned: u32,
    /// When it was fitted, or stored in the project.
    pub(crate) fitted_at_ms: i64,
    /// Cached measures.
    pub(crate) kept: MeasureCache,
}

impl Fitted {
    /// The models' predictions for a text: the mean over the others, and this annotator's own.
    pub(crate) fn predictions_on(&self, text: u32, annotator: u32) -> Option<TextPredictions> {
        if text as usize >= self.model.texts() {
            return None;
        }
        let everyone = self.model.annotators();
        let mut mine = vec![0.0; self.model.levels()];
        self.model.predict(text, annotator, &mut mine);
        let mean = self.model.mean_distribution(text);
        let among = (annotator as usize) < everyone;
        let others = if among { everyone.saturating_sub(1) } else { everyone };
        let mean_of_others = match (among, others) {
            (_, 0) => mean,
            (false, _) => mean,
            (true, n) => {
                let other = |(m, own): (&f32, &f32)| (m * everyone as f32 - own).max(0.0) / n as f32;
                mean.iter().zip(&mine).map(other).collect()
            }
        };
        Some(TextPredictions {
            others: mean_of_others,
            mine,
            annotators: others as u32,
            observed: None,
            pairwise: self.model.disagreement(text).pairwise,
        })
    }

    /// How the variances were estimated, and what the labels cannot determine.
    pub fn estimation(&self) -> Estimation {
        estimation_shown(&self.model.estimation())
    }

    /// How informative each text would be for this annotator's model; `None` for an annotator whom the model
    /// does not know yet.
    pub(crate) fn bald(&self, annotator: u32) -> Option<Vec<f32>> {
        ((annotator as usize) < self.model.annotators()).then(|| self.model.bald(annotator))
    }

    /// All texts by a measure, computed once as long as predictions do not change.
    pub fn measured(&mut self, asked: &TextMeasure, over: &Over) -> Arc<TextMeasures> {
        self.kept.measured(&self.model, asked, over)
    }

    /// The comparison of `choice` among `over`, computed once per fit.
    pub fn comparison(
        &mut self,
        choice: Option<&GroupChoice>,
        over: &Over,
        make: impl FnOnce(&LiveModel) -> Comparison,
    ) -> Arc<Comparison> {
        let model = &self.model;
        self.kept.comparison(choice, over, || make(model))
    }

    /// Learns a new label, or with `None` that there is none any more. Returns whether the model could
    /// follow: not if it does not know the text or the level.
    pub(super) fn learn(&mut self, text: u32, annotator: u32, level: Option<LevelId>) -> bool {
        let column = |level: LevelId| self.levels.iter().position(|known| *known == level);
        let level = match level.map(column) {
            None => None,
            Some(Some(column)) => Some(column as u16),
            Some(None) => return false,
        };
        self.kept.predictions_changed();
        self.changes += 1;
        self.learned += 1;
        (text as usize) < self.model.texts()
            && self.model.apply_changes(&[LabelChange { text, annotator, level }]).is_ok()
    }

    pub fn is_due(&self) -> bool {
        self.changes >= refit_after(self.labels)
    }

    /// Makes a refit due if the attributes of people differ too much from those of the fit.
    pub(super) fn follow_attributes(&mut self, annotators: &[Annotator]) {
        let enough = refit_after(self.labels);
        if !self.model.knows_attributes(&attributes(annotators), enough) {
            self.changes = self.changes.max(enough);
        }
    }
}

/// Adds missing annotators to a model, and updates the attributes of all.
pub(super) fn add_annotators(model: &mut LiveModel, annotators: &[Annotator]) {
    while model.annotators() < annotators.len() {
        model.add_annotator();
    }
    model.set_attributes(&attributes(annotators));
}

/// In the form shown to users and scripts.
pub(super) fn estimation_shown(found: &dissensus_models::mixed::Estimation) -> Estimation {
    Estimation {
        text_sd: found.text_sd,
        annotator_sd: found.annotator_sd,
        discrimination_sd: found.discrimination_sd,
        group_slopes: found.group_slopes.as_ref().map(ToString::to_string),
        rounds: found.rounds,
        change: found.change,
        converged: found.converged,
        log_likelihood: found.log_likelihood,
        limits: found.limits.iter().map(|limit| limit.code().to_owned()).collect(),
        limit_texts: found.limits.iter().map(ToString::to_string).collect(),
    }
}
