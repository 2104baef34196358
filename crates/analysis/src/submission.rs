//! Predictions for the official test texts as a submission to LeWiDi.

use super::Analysis;
use crate::error::AnalysisError;
use dissensus_domain::{AnnotatorId, EventId, Question, TextId};
use dissensus_exchange::LewidiSubmission;
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{SplitColumns, SplitSpec};
use dissensus_selection::fit::fit;
use dissensus_stats::data::{FitOptions, ModelKind, TrainingData};
use dissensus_stats::metrics::Scored;
use dissensus_training::error::TrainingError;
use dissensus_training::runs;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The parameters of a submission.
#[derive(Clone, Debug)]
pub struct SubmissionChoices {
    /// The question's name; the only one if `None`.
    pub question: Option<String>,
    /// Prefix of the file names (`CSC`, `MP`, ...); the question's name if `None`.
    pub set: Option<String>,
    /// The run whose model predicts, scored on the official split; if `None`, `multilevel` is fitted to the
    /// official training texts.
    pub run: Option<u32>,
    /// Seed of that fit.
    pub seed: u32,
    /// Overwrites existing files.
    pub replace: bool,
}

/// Summary of the written files.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Submission {
    /// The file of soft labels, and the file of answers.
    pub files: [PathBuf; 2],
    /// Number of texts in each.
    pub texts: usize,
    /// Number of answers, one for each annotator of each text.
    pub answers: usize,
    /// The model that predicted.
    pub model: String,
    pub run: Option<u32>,
    /// Which shares the soft labels are: those that are optimal for `wasserstein` distance (ordinal
    /// questions) or `manhattan` (others).
    pub soft_labels: &'static str,
}

/// Writes the expected shares of levels and each annotator's expected answer on the official test texts,
/// by a model that saw none of their labels. The annotators of a text are known from its labels: a text
/// without any is left out.
///
/// # Errors
/// No official split; a question of several options per label, or whose levels are no whole numbers; a
/// run of another question or split; files that exist already (without `replace`); a full disk; a
/// cancel.
pub fn write(
    cx: &Analysis,
    choices: &SubmissionChoices,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Submission, ProjectError> {
    let question = cx.question(choices.question.as_deref())?;
    let levels = numbered_levels(&question)?;
    let set = choices.set.as_ref().unwrap_or(&question.name);
    if set.is_empty() || set.chars().any(|c| std::path::is_separator(c) || c.is_control()) {
        return Err(ProjectError::NotAFileName(set.clone()));
    }
    let files = LewidiSubmission::paths(folder, set);
    if let Some(there) = files.iter().find(|path| path.exists() && !choices.replace) {
        return Err(ProjectError::ExportExists(there.clone()));
    }
    let question_data = cx.context.question_data(&question)?;
    question_data.check_split(SplitSpec::Column)?;
    let (scored, kind) = match choices.run {
        Some(run) => (runs::scored(&cx.runs, run)?, official_run(cx, run, &question)?),
        None => (fitted_officially(cx, &question_data, choices.seed, progress)?, ModelKind::Multilevel),
    };
    let ordinal = question.scale.target().has_distances();
    let ids = labelled_when(cx, &question)?;
    let index = cx.context.index();
    let mut out = LewidiSubmission::create(folder, set)?;
    let (mut texts, mut answers) = (0, 0);
    for panel in scored.panels(ordinal) {
        // Rows that are not in the index yet: an import has just ended.
        let text = *index.texts().get(panel.text as usize).ok_or(ProjectError::Busy("import"))?;
        let found = cx.context.store.text(text)?;
        let name = found.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?.external_id;
        let member = |(annotator, level): &(u32, u16)| {
            let who = index.annotators().get(*annotator as usize)?.id;
            let when = ids.get(&(text, who)).map_or(u32::MAX, |id| id.0);
            Some((when, levels[usize::from(*level)]))
        };
        let members: Option<Vec<(u32, i64)>> = panel.answers.iter().map(member).collect();
        let mut members = members.ok_or(ProjectError::Busy("import"))?;
        members.sort_by_key(|(when, _)| *when);
        let members: Vec<i64> = members.into_iter().map(|(_, level)| level).collect();
        out.write(&name, &panel.shares, &members)?;
        texts += 1;
        answers += members.len();
    }
    if progress.cancelled() {
        return Err(ProjectError::Cancelled);
    }
    out.finish()?;
    let soft_labels = if ordinal { "wasserstein" } else { "manhattan" };
    Ok(Submission { files, texts, answers, model: kind.name().to_owned(), run: choices.run, soft_labels })
}

/// The model of a run that was scored on the official test texts of this question.
fn official_run(cx: &Analysis, run: u32, question: &Question) -> Result<ModelKind, ProjectError> {
    let detail = runs::detail(&cx.runs, run)?;
    if detail.choices.question != question.id {
        return Err(TrainingError::NotComparable("the run is of another question").into());
    }
    if detail.choices.split != SplitSpec::Column {
        return Err(TrainingError::NotComparable(
            "the run was not scored on the official test texts: train one with --split column",
        )
        .into());
    }
    Ok(detail.choices.model)
}

fn fitted_officially(
    cx: &Analysis,
    question_data: &QuestionData,
    seed: u32,
    progress: &dyn Progress,
) -> Result<Scored, ProjectError> {
    let (embeddings, encoder) = cx.encoding.embeddings_for(question_data)?;
    let seen = cx.encoding.seen_by(encoder.as_deref(), &cx.context.index())?;
    let data = question_data.data(&embeddings);
    let columns = SplitColumns { seen: seen.rows(), ..question_data.columns() };
    let options = FitOptions { seed: u64::from(seed), ..FitOptions::default() };
    let mut division = SplitSpec::Column.divide(&data, columns, options.seed, 0.0)?;
    seen.rows().check(&SplitSpec::Column.name(), division.test.texts())?;
    let train = TrainingData { observations: &division.train, ..data };
    let model = fit(ModelKind::Multilevel, &train, &options, progress)?;
    Ok(division.test.score(model.name(), model.as_ref())?)
}

/// The event of each label, by text and annotator; events are numbered in the order of recording, like
/// the rows of a file.
fn labelled_when(
    cx: &Analysis,
    question: &Question,
) -> Result<HashMap<(TextId, AnnotatorId), EventId>, ProjectError> {
    let labels = cx.context.store.current_labels(question.id)?;
    Ok(labels.into_iter().map(|label| ((label.text, label.annotator), label.id)).collect())
}

/// The levels of a question as numbers of LeWiDi.
fn numbered_levels(question: &Question) -> Result<Vec<i64>, ProjectError> {
    let numbers: Option<Vec<i64>> = question.scale.levels().iter().map(|level| level.parse().ok()).collect();
    let why = "has levels that are no whole numbers";
    numbers.ok_or_else(|| ProjectError::from(AnalysisError::NotForLewidi(question.name.clone(), why)))
}
