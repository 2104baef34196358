//! Scores of a multi-label question as a whole, from the predictions of the runs of one training for its
//! options.

use super::Runs;
use crate::runs::compare;
use crate::saved_runs::SavedRun;
use dissensus_api::options_together;
use dissensus_domain::{Question, QuestionId};
use dissensus_models::spans::SpanEvaluation;
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::{Predicted, PredictedSets, SetEvaluation};
use dissensus_stats::metrics::Scored;
use dissensus_stats::options::{HeldOutSets, OptionCorrelations};
use serde::Serialize;
use std::collections::BTreeMap;

/// Scores on whole sets of options. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainedSets {
    /// The multi-label question.
    pub question: String,
    /// Its options, in the order of every list of options below. Not in JSON, where `options` are the scores
    /// of each.
    #[serde(skip)]
    pub options: Vec<String>,
    /// The run of each.
    pub runs: Vec<u32>,
    /// Whether correlations between options are used, what whole sets gain by it, and which options are
    /// correlated; absent if it was not examined.
    pub options_together: Option<String>,
    /// The scores on their test labels.
    #[serde(flatten)]
    pub scores: SetEvaluation,
}

/// Scores on marked words that a training learned together with the types of their question. The keys are a
/// contract with scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainedWords {
    /// The question with spans.
    pub question: String,
    /// Its types, in the order of every list of types below. Not in JSON, where `types` are the scores of
    /// each.
    #[serde(skip)]
    pub types: Vec<String>,
    /// The run of each.
    pub runs: Vec<u32>,
    /// The scores on the test answers.
    #[serde(flatten)]
    pub scores: SpanEvaluation,
    /// Baselines: how often a word's form is marked times the annotator's rate (`word-frequency`), and only
    /// that rate (`annotator-rate`).
    pub baselines: Vec<SpanEvaluation>,
    /// Numbers of answers: training, validation (choosing a checkpoint and calibrating), and test.
    pub answers: [u32; 3],
}

/// The questions with spans whose words were learned in the training of this run, without those for
/// which the run of a type was deleted.
///
/// # Errors
/// There is no such run.
pub fn trained_words(cx: &Runs, run: u32) -> Result<Vec<TrainedWords>, ProjectError> {
    let together = cx.kept.together(run)?;
    let index = cx.context.index();
    let of = |question: &Question| -> Option<TrainedWords> {
        let run = |option: &Question| together.iter().find(|kept| kept.choices.question == option.id);
        let runs: Vec<&SavedRun> = question.options().iter().map(run).collect::<Option<_>>()?;
        let first = runs.first()?;
        // The scores name types by their positions.
        let words =
            first.outcome.words.clone().filter(|_| cx.kept.has_same_scale(first).is_ok_and(|same| same))?;
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

/// The multi-label questions of which every option was learned in the training of this run, each scored
/// as a whole. Empty for an unfinished training, and if the run of an option was deleted.
///
/// # Errors
/// There is no such run, or a stored prediction cannot be read.
pub fn trained_sets(cx: &Runs, run: u32) -> Result<Vec<TrainedSets>, ProjectError> {
    let together = cx.kept.together(run)?;
    let mut runs: BTreeMap<QuestionId, &SavedRun> = BTreeMap::new();
    for kept in together.iter().filter(|kept| kept.outcome.report.is_some()) {
        runs.insert(kept.choices.question, kept);
    }
    let index = cx.context.index();
    let whole = index.questions().iter().filter(|question| question.scale.form().is_set());
    whole.filter_map(|question| sets_of(cx, question, &runs).transpose()).collect()
}

fn sets_of(
    cx: &Runs,
    question: &Question,
    runs: &BTreeMap<QuestionId, &SavedRun>,
) -> Result<Option<TrainedSets>, ProjectError> {
    let of: Option<Vec<&SavedRun>> =
        question.options().iter().map(|option| runs.get(&option.id).copied()).collect();
    let Some(of) = of else { return Ok(None) };
    let predicted = of
        .iter()
        .map(|kept| Ok(Predicted::new(kept.choices.model.name(), compare::scored(cx, kept.run.id.0)?)))
        .collect::<Result<_, ProjectError>>()?;
    let mut sets = PredictedSets::new(predicted)?;
    // Correlations name options by their positions.
    if let Some(first) = of.first()
        && let Some(found) = &first.outcome.together
        && cx.kept.has_same_scale(first)?
    {
        sets = sets.correlated_by(found.clone())?;
    }
    let (scores, names) = (sets.evaluation()?, question.scale.levels());
    Ok(Some(TrainedSets {
        question: question.name.clone(),
        options: names.to_vec(),
        runs: of.iter().map(|kept| kept.run.id.0).collect(),
        options_together: scores.together.as_ref().map(|found| options_together(found, names)),
        scores,
    }))
}

/// The correlations between options that the training of all these runs learned; none if they are not of
/// one training, it learned none, or options were added, removed or moved since.
///
/// # Errors
/// There is no such run.
pub fn jointly_learned_options(cx: &Runs, runs: &[u32]) -> Result<Option<OptionCorrelations>, ProjectError> {
    let of = |run: &u32| {
        let kept = cx.kept.get(*run)?;
        Ok(if cx.kept.has_same_scale(&kept)? { kept.outcome.together } else { None })
    };
    let mut all = runs.iter().map(of).collect::<Result<Vec<_>, ProjectError>>()?;
    let same = all.windows(2).all(|two| two[0] == two[1]);
    Ok(all.pop().flatten().filter(|found| same && found.factors.options() == runs.len()))
}

/// Estimates the correlations between the options of every multi-label question whose options were all
/// trained, on the labels that tuned their answers: an entry for each of these runs, none for the
/// others. `trained` has the question of each run and these labels.
///
/// # Errors
/// The project cannot be read.
pub(super) fn correlate_options(
    cx: &Runs,
    trained: &[(QuestionId, Option<&Scored>)],
    seed: u64,
) -> Result<Vec<Option<OptionCorrelations>>, ProjectError> {
    let (index, mut all) = (cx.context.index(), vec![None; trained.len()]);
    for question in index.questions().iter().filter(|question| question.scale.form().is_set()) {
        let place = |option: &Question| trained.iter().position(|(of, _)| *of == option.id);
        let places: Option<Vec<usize>> = question.options().iter().map(place).collect();
        let Some(places) = places else { continue };
        let held_out: Option<Vec<&Scored>> = places.iter().map(|at| trained[*at].1).collect();
        let (Some(held_out), Some(first)) = (held_out, cx.context.learned_data(question)?.into_iter().next())
        else {
            continue;
        };
        let learned = HeldOutSets::of_options(&held_out, |text| first.unit(text))
            .and_then(|held_out| OptionCorrelations::learn(places.len(), &held_out, seed));
        match learned {
            Ok(found) => places.iter().for_each(|at| all[*at] = Some(found.clone())),
            // The trained models are worth more than this.
            Err(error) => {
                tracing::warn!(%error, "options of a question were held out on different answers")
            }
        }
    }
    Ok(all)
}
