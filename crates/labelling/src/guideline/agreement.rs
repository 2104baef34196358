//! Agreement under each version of the guideline or the wording.

use super::Guidelines;
use dissensus_api::{GuidelineAgreement, GuidelineFigures, WordingInfo, WordingLevel};
use dissensus_domain::{CurrentLabel, GuidelineId, QuestionId, TargetKind, Wording, WordingId};
use dissensus_project::error::ProjectError;
use dissensus_stats::agreement::{IntervalScope, reliability};
use dissensus_stats::data::Observation;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::metrics::BootstrapOptions;
use dissensus_store::WordingVersion;
use std::collections::BTreeMap;

/// Minimum number of texts with two labels at which complete agreement is shown.
const ENOUGH: usize = 20;

/// How labels are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnScreen {
    /// The version of the guideline.
    Guideline,
    /// The wording of the question: its prompt, help and levels.
    Wording,
}

/// Labels with the number of the version on screen.
type Numbered = Vec<(CurrentLabel, Option<u32>)>;

impl Guidelines {
    /// Agreement under each version of the screen: Krippendorff's alpha of the current labels that were
    /// given under it, for each question, and for each option or type where it has some. Texts that two
    /// people answered under that version count; other texts may be harder, so that a difference is not due
    /// to the version only. Labels whose version is unknown, such as imported ones, come first.
    pub fn agreement(&self, by: OnScreen) -> Result<Vec<GuidelineAgreement>, ProjectError> {
        let index = self.context.index();
        let mut found = Vec::new();
        for question in index.questions() {
            found.extend(self.agreement_on(question.id, by)?);
        }
        Ok(found)
    }

    /// Like [`Guidelines::agreement`], for one question.
    pub fn agreement_on(
        &self,
        question: QuestionId,
        by: OnScreen,
    ) -> Result<Vec<GuidelineAgreement>, ProjectError> {
        let mut found = Vec::new();
        for id in self.context.index().learned(question) {
            found.extend(self.agreement_of(id, self.numbered(id, by)?)?);
        }
        Ok(found)
    }

    fn numbered(&self, question: QuestionId, by: OnScreen) -> Result<Numbered, ProjectError> {
        let store = &self.context.store;
        Ok(match by {
            OnScreen::Guideline => {
                let numbers = store.guideline_numbers()?;
                let number = |id: Option<GuidelineId>| id.and_then(|id| numbers.get(&id).copied());
                let labels = store.labels_by_guideline(question)?;
                labels.into_iter().map(|(label, id)| (label, number(id))).collect()
            }
            OnScreen::Wording => {
                let numbers = store.wording_numbers()?;
                let number = |id: Option<WordingId>| id.and_then(|id| numbers.get(&id).copied());
                let labels = store.labels_by_wording(question)?;
                labels.into_iter().map(|(label, id)| (label, number(id))).collect()
            }
        })
    }

    /// The wordings under which answers were given, by question and number.
    pub fn wordings(&self) -> Result<Vec<WordingInfo>, ProjectError> {
        let info = |version: WordingVersion| {
            let Wording { question, prompt, help, levels, .. } = version.wording;
            let level = |(name, definition)| WordingLevel { name, definition };
            WordingInfo {
                question,
                number: version.number,
                id: version.id.to_string(),
                since: version.first_ms as f64,
                answers: version.answers,
                prompt,
                help: help.text,
                low: help.low,
                high: help.high,
                levels: levels.into_iter().map(level).collect(),
            }
        };
        Ok(self.context.store.wordings()?.into_iter().map(info).collect())
    }

    fn agreement_of(
        &self,
        question: QuestionId,
        labels: Numbered,
    ) -> Result<Option<GuidelineAgreement>, ProjectError> {
        let index = self.context.index();
        let (name, target) = self.context.question_parts(question)?;
        let scale = &index.with_levels(question)?.scale;
        let (texts, annotators) = (index.texts().len(), index.annotators().len());
        let mut versions: BTreeMap<Option<u32>, Vec<Observation>> = BTreeMap::new();
        for (label, number) in labels {
            let level = scale.index_of_answer(&label.answer);
            let row = (index.text_row(label.text), index.annotator_row(label.annotator), level);
            // Additions since the index was read are included the next time.
            if let (Some(text), Some(annotator), Some(level)) = row {
                versions.entry(number).or_default().push(Observation { text, annotator, level });
            }
        }
        let bootstrap = BootstrapOptions::default();
        let mut figures = Vec::new();
        for (number, labels) in versions {
            let found = reliability(&labels, texts, annotators, target, Some(&bootstrap), &Silent)?;
            let alpha = match target.kind {
                TargetKind::Ordinal => found.alpha_ordinal,
                TargetKind::Binary | TargetKind::Nominal => found.alpha_nominal,
            };
            // With complete agreement there is nothing to resample.
            let all_agree = found.pairable >= ENOUGH && alpha.value.is_some_and(|value| value > 1.0 - 1e-9);
            let shown = alpha.shown();
            figures.push(GuidelineFigures {
                number,
                labels: labels.len() as u32,
                texts: found.pairable as u32,
                // Without an interval there is too little data.
                alpha: alpha.value.filter(|_| shown.is_some() || all_agree),
                low: shown.map(|(interval, _)| interval.low),
                high: shown.map(|(interval, _)| interval.high),
                like_these: shown.is_some_and(|(_, scope)| scope == IntervalScope::PeopleLikeThese),
            });
        }
        Ok((!figures.is_empty()).then_some(GuidelineAgreement { question, name, figures }))
    }
}
