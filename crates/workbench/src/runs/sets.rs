//! A question with options as a whole, scored on what the runs of one training say of its options.

use super::Runs;
use crate::error::WorkbenchError;
use crate::saved_runs::SavedRun;
use dissensus_domain::{Question, QuestionId};
use dissensus_perspectives::{Predicted, PredictedSets, SetEvaluation, SpanEvaluation};
use serde::Serialize;
use std::collections::BTreeMap;

/// Scores on whole sets of options. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
pub struct TrainedSets {
    /// The multi-label question.
    pub question: String,
    /// Its options, in the order of every list of options below.
    pub options: Vec<String>,
    /// The run of each.
    pub runs: Vec<u32>,
    /// The scores on their test labels.
    #[serde(flatten)]
    pub scores: SetEvaluation,
}

/// Scores on marked words that a training learned beside the types of their question. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
pub struct TrainedWords {
    /// The question with spans.
    pub question: String,
    /// Its types, in the order of every list of types below.
    pub types: Vec<String>,
    /// The run of each.
    pub runs: Vec<u32>,
    /// The scores on the test answers.
    #[serde(flatten)]
    pub scores: SpanEvaluation,
    /// How often a word's form is marked times the annotator's rate (`word-frequency`), and that rate alone (`annotator-rate`).
    pub baselines: Vec<SpanEvaluation>,
    /// Answers that were learned from, that chose and calibrated, and that are scored.
    pub answers: [u32; 3],
}

impl Runs {
    /// The questions with spans whose words were learned in the training of this run, without those of which the run of a type was deleted.
    ///
    /// # Errors
    /// There is no such run.
    pub fn trained_words(&self, run: u32) -> Result<Vec<TrainedWords>, WorkbenchError> {
        let together = self.kept.together(run)?;
        let index = self.context.index();
        let of = |question: &Question| -> Option<TrainedWords> {
            let run = |option: &Question| together.iter().find(|kept| kept.choices.question == option.id);
            let runs: Vec<&SavedRun> = question.options().iter().map(run).collect::<Option<_>>()?;
            let words = runs.first()?.outcome.words.clone()?;
            Some(TrainedWords {
                question: question.name.clone(),
                types: question.scale.levels().to_vec(),
                runs: runs.iter().map(|kept| kept.run.id.0).collect(),
                scores: words.model,
                baselines: words.baselines,
                answers: words.answers,
            })
        };
        Ok(index.questions().iter().filter_map(of).collect())
    }

    /// The multi-label questions of which every option was learned in the training of this run, each scored as a whole. Nothing of a
    /// training that has not finished, or of whose runs of an option one was deleted.
    ///
    /// # Errors
    /// There is no such run, or what one predicted cannot be read any more.
    pub fn trained_sets(&self, run: u32) -> Result<Vec<TrainedSets>, WorkbenchError> {
        let together = self.kept.together(run)?;
        let mut runs: BTreeMap<QuestionId, &SavedRun> = BTreeMap::new();
        for kept in together.iter().filter(|kept| kept.outcome.report.is_some()) {
            runs.insert(kept.choices.question, kept);
        }
        let index = self.context.index();
        let whole = index.questions().iter().filter(|question| question.scale.is_multi_label());
        whole.filter_map(|question| self.sets_of(question, &runs).transpose()).collect()
    }

    fn sets_of(
        &self,
        question: &Question,
        runs: &BTreeMap<QuestionId, &SavedRun>,
    ) -> Result<Option<TrainedSets>, WorkbenchError> {
        let of: Option<Vec<&SavedRun>> =
            question.options().iter().map(|option| runs.get(&option.id).copied()).collect();
        let Some(of) = of else { return Ok(None) };
        let predicted = of
            .iter()
            .map(|kept| Ok(Predicted::new(kept.choices.model.name(), self.scored(kept.run.id.0)?)))
            .collect::<Result<_, WorkbenchError>>()?;
        Ok(Some(TrainedSets {
            question: question.name.clone(),
            options: question.scale.levels().to_vec(),
            runs: of.iter().map(|kept| kept.run.id.0).collect(),
            scores: PredictedSets::new(predicted)?.evaluation()?,
        }))
    }
}
