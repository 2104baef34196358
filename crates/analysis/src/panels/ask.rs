//! Verdicts of panels on the texts of the project.

use super::Panels;
use super::compose::Composition;
use super::forecast::Forecast;
use crate::error::AnalysisError;
use crate::prediction_file;
use crate::snippet;
use dissensus_api::{PanelOrder, PanelRequest, PanelText, PanelVerdicts};
use dissensus_domain::{JobKind, TextId};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Follow, Progress};
use dissensus_stats::data::AnnotatorModel as _;
use rayon::prelude::*;

/// Number of texts between checks for cancellation.
const BLOCK: usize = 64;

impl Panels {
    /// The expected verdicts of a panel on the `top` first texts of the project, by the live model, compared
    /// with a second composition if one is given (under the first one's rule). Given labels count as they
    /// are.
    ///
    /// # Errors
    /// Those of [`Panels::check`]; members who cannot be drawn; a model that is not live
    /// ([`dissensus_training::live::LiveModels::fit`]); cancellation.
    pub fn ask<'a>(
        &self,
        request: &PanelRequest,
        compared: Option<&PanelRequest>,
        order: PanelOrder,
        top: usize,
        follow: impl Into<Follow<'a>>,
    ) -> Result<PanelVerdicts, ProjectError> {
        self.context.run(follow, JobKind::Panel, "a panel", |progress| {
            self.ask_all(request, compared, order, top, progress)
        })
    }

    fn ask_all(
        &self,
        request: &PanelRequest,
        compared: Option<&PanelRequest>,
        order: PanelOrder,
        top: usize,
        progress: &dyn Progress,
    ) -> Result<PanelVerdicts, ProjectError> {
        let ComposedPanel { model, first, second, .. } = self.composed(request, compared)?;
        let texts = model.texts().min(self.context.index().texts().len());
        let mut found: Vec<(u32, PanelText)> = Vec::with_capacity(texts);
        for from in (0..texts).step_by(BLOCK) {
            if progress.cancelled() {
                return Err(ProjectError::Cancelled);
            }
            let block = from..(from + BLOCK).min(texts);
            let asked: Vec<_> = block
                .into_par_iter()
                .map(|row| Ok((row as u32, one_text(&model, row as u32, &first, second.as_ref())?)))
                .collect::<Result<_, ProjectError>>()?;
            found.extend(asked);
            progress.report((from + BLOCK).min(texts) as u64, Some(texts as u64), "asking the panel");
        }
        found.sort_by(|(a, x), (b, y)| rank(order, y).total_cmp(&rank(order, x)).then(a.cmp(b)));
        found.truncate(top);
        let shown = found.into_iter().map(|(row, text)| self.named(row, text)).collect::<Result<_, _>>()?;
        Ok(PanelVerdicts {
            panel: first.info,
            compared: second.map(|second| second.info),
            texts_in_all: texts as u32,
            texts: shown,
        })
    }

    /// The expected verdict of a panel on one text of the project.
    ///
    /// # Errors
    /// Those of [`Panels::ask`], and no such text.
    pub fn ask_about(
        &self,
        request: &PanelRequest,
        compared: Option<&PanelRequest>,
        text: TextId,
    ) -> Result<PanelVerdicts, ProjectError> {
        let ComposedPanel { model, first, second, .. } = self.composed(request, compared)?;
        let row = self.context.index().text_row(text);
        let row = row.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
        if row as usize >= model.texts() {
            return Err(AnalysisError::TextNotFitted(text.0.to_string()).into());
        }
        let found = self.named(row, one_text(&model, row, &first, second.as_ref())?)?;
        Ok(PanelVerdicts {
            panel: first.info,
            compared: second.map(|second| second.info),
            texts_in_all: 1,
            texts: vec![found],
        })
    }

    /// A copy of the live model, so that recording a label does not wait, and the members of the panels.
    pub(super) fn composed(
        &self,
        request: &PanelRequest,
        compared: Option<&PanelRequest>,
    ) -> Result<ComposedPanel, ProjectError> {
        self.check(request)?;
        let index = self.context.index();
        let question = index.with_levels(request.question)?;
        let (model, encoder) = prediction_file::live_copy(&self.analysis, question)?;
        let first = self.compose(request, question, &model)?;
        let same = |other: &PanelRequest| {
            let other = PanelRequest {
                question: request.question,
                rule: request.rule.clone(),
                draws: request.draws,
                ..other.clone()
            };
            self.compose(&other, question, &model)
        };
        let second = compared.map(same).transpose()?;
        Ok(ComposedPanel { model, encoder, first, second })
    }

    fn named(&self, row: u32, text: PanelText) -> Result<PanelText, ProjectError> {
        let id = self.context.index().texts()[row as usize];
        let found = self.context.store.text(id)?;
        let found = found.ok_or_else(|| ProjectError::NoSuchText(id.0.to_string()))?;
        Ok(PanelText { text: Some(id), text_id: found.external_id, snippet: snippet(&found.body), ..text })
    }
}

/// A model and the panels whose verdicts are computed.
pub(crate) struct ComposedPanel {
    pub(super) model: LiveModel,
    /// The encoder version that the model depends on.
    pub(super) encoder: Option<String>,
    pub(super) first: Composition,
    pub(super) second: Option<Composition>,
}

/// The verdict on the text in this row, without its id and snippet.
pub(super) fn one_text(
    model: &LiveModel,
    row: u32,
    first: &Composition,
    second: Option<&Composition>,
) -> Result<PanelText, ProjectError> {
    let found = Forecast::new(model, row, first)?;
    let comparison =
        second.map(|second| Ok::<_, ProjectError>(Forecast::new(model, row, second)?.compare_with(&found)));
    Ok(PanelText {
        text: None,
        text_id: String::new(),
        snippet: String::new(),
        comparison: comparison.transpose()?,
        answered: found.answered,
        verdict: found.verdict,
        others: found.others,
    })
}

fn rank(order: PanelOrder, text: &PanelText) -> f64 {
    match order {
        PanelOrder::Unsure => -text.verdict.sure,
        PanelOrder::Members => text.others.as_ref().map_or(0.0, |others| others.otherwise),
        PanelOrder::Apart => text.comparison.as_ref().map_or(0.0, |comparison| comparison.apart),
    }
}
