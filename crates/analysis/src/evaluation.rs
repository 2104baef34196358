//! Comparing annotator models on held-out texts.

use super::Analysis;
use super::compared::{Compared, ModelCalibration, ModelDifferences, WithoutCopies};
use crate::recorded;
use dissensus_api::SelfAgreementShare;
use dissensus_domain::{Question, QuestionId, TargetKind};
use dissensus_encoder::DeviceChoice;
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{
    Predicted, PredictionSets, SplitColumns, SplitSpec, predict_baselines, predict_test, prediction_sets,
};
use dissensus_stats::data::{Embeddings, FitOptions, ModelKind, TrainingData};
use dissensus_stats::metrics::Scored;
use dissensus_stats::metrics::dichotomize;
use dissensus_store::EvaluationKind;
use dissensus_training::encoding::SeenRows;
use dissensus_training::runs;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

/// The parameters of an evaluation.
#[derive(Clone, Debug)]
pub struct EvaluateChoices {
    /// The question's name; the only one if `None`.
    pub question: Option<String>,
    pub models: Vec<ModelKind>,
    pub split: SplitSpec,
    /// Seed of split and fits; 32 bits, as in runs.
    pub seed: u32,
    /// Scores an ordinal question as yes/no from the level of this name up.
    pub at_least: Option<String>,
    /// Which part of the encoder is tuned: `frozen`, `last-K`, `lora`, `lora-RANK`, `prompt-N` or `full`.
    /// With all but the first, each model is trained as a run of its own.
    pub tuning: String,
    /// The device of the computation, with a tuned encoder.
    pub device: DeviceChoice,
    /// Whether to compute prediction sets too; only on a frozen encoder.
    pub prediction_sets: bool,
    /// Leaves out labels that were decided to be slips.
    pub without_slips: bool,
}

/// Scores of models on held-out texts. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvaluatedModels"))]
pub struct Evaluation {
    /// One entry per model.
    pub models: Vec<dissensus_selection::evaluation::Evaluation>,
    /// Baselines on the same labels that do not read the texts
    /// ([`dissensus_selection::evaluation::baselines`]), one entry each.
    pub baselines: Vec<dissensus_selection::evaluation::Evaluation>,
    /// The scores of both without the test texts whose body is also in training; none if there are no such
    /// texts. Differences and prediction sets are over all test texts.
    pub without_copies: Option<WithoutCopies>,
    /// Every other model and baseline minus `multilevel`, in every metric, with intervals; none if
    /// `multilevel` was not requested.
    pub differences: Option<ModelDifferences>,
    /// Calibration of each model: how often it was right by how confident it was, in ten bins of confidence;
    /// none for models without probabilities.
    pub calibration: Vec<ModelCalibration>,
    /// 90 % prediction sets by `multilevel`, if they were requested and there are enough labels to calibrate
    /// them.
    pub prediction_sets: Option<PredictionSets>,
    /// Why there are no prediction sets, if they were requested.
    pub no_prediction_sets: Option<String>,
    /// Notes on the comparison.
    pub notes: Vec<String>,
    /// How texts were divided.
    pub split: SplitReport,
    /// Seed of split and fits.
    pub seed: u32,
    /// Encoder version.
    pub encoder: Option<String>,
    /// The device of the embeddings: models on frozen embeddings are fitted on the CPU.
    pub device: String,
    pub question: String,
    /// The level from which answers count as yes, if an ordinal question was scored as yes/no.
    pub at_least: Option<String>,
    /// How often people repeat their answers, and thus the best reachable accuracy; none without enough
    /// repeats, and for a scale that was split in two.
    pub self_agreement: Option<SelfAgreementShare>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// How texts were divided.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitReport {
    /// `by-text`, `column`, ...
    pub kind: &'static str,
    /// The whole name, for example `by-text:0.7`.
    pub name: String,
    /// Training share, if there is one.
    pub share: Option<f64>,
    /// Number of divisions whose labels are scored together: 1, or the folds of a cross-validation.
    pub folds: usize,
    /// Number of training texts.
    pub train_texts: usize,
    pub test_texts: usize,
    /// Number of training labels.
    pub train_labels: usize,
    pub test_labels: usize,
    /// Texts that the split would score, and that are left out because the encoder in use was tuned on their
    /// labels.
    pub left_out_texts: usize,
    /// Test texts whose body is also in training or validation under another id, ignoring white space and
    /// case. Only the official split has any: divisions drawn here put copies on one side. Also 0 if texts
    /// are on both sides anyway (by annotator, labels at random).
    pub copies_in_training: usize,
    /// Texts that were left out of the test because their body is also in training, in another group.
    pub left_out_copies: usize,
}

/// How labels were divided, and which test texts are also in training.
pub(super) struct Divided {
    pub(super) report: SplitReport,
    pub(super) copies: BTreeSet<u32>,
}

/// Trains every model on one part of the texts and scores it on the other; stored as a run of the
/// project if it is writable.
///
/// # Errors
/// No labels, no such split or level, one side of the split empty, or a cancel.
pub fn evaluate(
    cx: &Analysis,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<Evaluation, ProjectError> {
    let question = cx.question(choices.question.as_deref())?;
    let asked = json!({
        "question": question.name,
        "models": choices.models.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "split": choices.split.name(),
        "at_least": choices.at_least,
        "without_slips": choices.without_slips,
    });
    if choices.tuning != "frozen" {
        return evaluate_tuned(cx, &question, choices, progress);
    }
    recorded::recorded(cx, EvaluationKind::Evaluation, asked, u64::from(choices.seed), || {
        evaluate_frozen(cx, &question, choices, progress)
    })
}

/// The default split: the official one if texts are assigned, otherwise 70 % of the texts are training
/// texts.
///
/// # Errors
/// No such question, or no labels.
pub fn usual_split(cx: &Analysis, question: Option<&str>) -> Result<SplitSpec, ProjectError> {
    let question = cx.context.index().find_question(question)?.clone();
    let data = cx.context.learned_data(&question)?;
    data.first().map(QuestionData::usual_split).ok_or(ProjectError::NoQuestion)
}

/// Evaluates as [`evaluate`] does, with a tuned encoder: one run per model (and fold), each
/// with its own encoder.
fn evaluate_tuned(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<Evaluation, ProjectError> {
    let started = std::time::Instant::now();
    let at_least = choices.at_least.as_deref().map(|name| level_index(question, name)).transpose()?;
    let question_data = cx.context.question_data_of(question, choices.without_slips)?;
    question_data.check_split(choices.split)?;
    let seen = cx.encoding.seen_by_encoder(&cx.context.index())?;
    let divided = divide(&question_data, &seen, choices)?;
    let ordinal = question.scale.target() == TargetKind::Ordinal && at_least.is_none();
    let (mut models, mut device) = (Vec::new(), "cpu".to_owned());
    for kind in &choices.models {
        let mut asked = runs::choices_for(&cx.runs, question.id, *kind, &choices.tuning)?;
        asked.seed = choices.seed;
        asked.without_slips = choices.without_slips;
        let mut folds = Vec::new();
        for split in choices.split.each() {
            asked.split = split;
            let run = runs::train(&cx.runs, &asked, choices.device, progress)?;
            device = run.info.device;
            folds.push(runs::scored(&cx.runs, run.info.id)?);
        }
        let mut scored = Scored::pooled(folds);
        if let Some(level) = at_least {
            // Runs tune their answer for all levels; for two, the most likely one is used.
            scored = dichotomize(&scored, level);
        }
        models.push(Predicted::new(kind.name(), scored));
    }
    let none = Embeddings::none(question_data.texts.len());
    let baselines = baselines_of(&question_data.data(&none), &question_data, &seen, choices, at_least)?;
    let compared = Compared { models, baselines, ordinal };
    let (models, baselines) = compared.scores();
    Ok(Evaluation {
        models,
        baselines,
        without_copies: compared.without(&divided.copies),
        differences: compared.differences(u64::from(choices.seed), progress)?,
        calibration: compared.calibration(),
        prediction_sets: None,
        no_prediction_sets: None,
        notes: tuned_notes(&choices.models)
            .into_iter()
            .chain(cx.context.edited_note(question.id)?)
            .chain(slips_note(choices))
            .collect(),
        split: divided.report,
        seed: choices.seed,
        encoder: cx.encoding.embeddings()?.1.version,
        device,
        question: question.name.clone(),
        at_least: choices.at_least.clone(),
        self_agreement: self_agreement_of(cx, question.id, choices)?,
        seconds: started.elapsed().as_secs_f64(),
    })
}

fn evaluate_frozen(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<Evaluation, ProjectError> {
    let started = Instant::now();
    let at_least = choices.at_least.as_deref().map(|name| level_index(question, name)).transpose()?;
    let question_data = cx.context.question_data_of(question, choices.without_slips)?;
    question_data.check_split(choices.split)?;
    let (embeddings, encoder) = cx.encoding.embeddings_for(&question_data)?;
    let options = FitOptions { seed: u64::from(choices.seed), ..FitOptions::default() };
    let data = question_data.data(&embeddings);
    let seen = cx.encoding.seen_by(encoder.as_deref(), &cx.context.index())?;
    let divided = divide(&question_data, &seen, choices)?;
    let models = predict_test(
        &data,
        choices.split,
        SplitColumns { seen: seen.rows(), ..question_data.columns() },
        &choices.models,
        at_least,
        &options,
        progress,
    )?;
    let columns = SplitColumns { seen: seen.rows(), ..question_data.columns() };
    let sets = match choices.prediction_sets {
        true => Some(prediction_sets(&data, choices.split, columns, at_least, &options, progress)?),
        false => None,
    };
    let (sets, no_sets) = match sets {
        Some(Ok(sets)) => (Some(sets), None),
        Some(Err(reason)) => (None, Some(reason.to_string())),
        None => (None, None),
    };
    let baselines = baselines_of(&data, &question_data, &seen, choices, at_least)?;
    let ordinal = question.scale.target() == TargetKind::Ordinal && at_least.is_none();
    let compared = Compared { models, baselines, ordinal };
    let (models, baselines) = compared.scores();
    Ok(Evaluation {
        models,
        baselines,
        without_copies: compared.without(&divided.copies),
        differences: compared.differences(u64::from(choices.seed), progress)?,
        calibration: compared.calibration(),
        prediction_sets: sets,
        no_prediction_sets: no_sets,
        notes: cx.context.edited_note(question.id)?.into_iter().chain(slips_note(choices)).collect(),
        split: divided.report,
        seed: choices.seed,
        encoder,
        device: "cpu".to_owned(),
        question: question.name.clone(),
        at_least: choices.at_least.clone(),
        self_agreement: self_agreement_of(cx, question.id, choices)?,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Self-agreement for comparison with accuracies; none for a scale that was split in two, on which it
/// would differ.
fn self_agreement_of(
    cx: &Analysis,
    question: QuestionId,
    choices: &EvaluateChoices,
) -> Result<Option<SelfAgreementShare>, ProjectError> {
    match choices.at_least {
        Some(_) => Ok(None),
        None => cx.context.self_agreement(question),
    }
}

pub(super) fn divide(
    question_data: &QuestionData,
    seen: &SeenRows,
    choices: &EvaluateChoices,
) -> Result<Divided, ProjectError> {
    let none = Embeddings::none(question_data.texts.len());
    let (kind, share) = choices.split.parts();
    let (mut train, mut test_texts, mut test_labels) = (BTreeSet::new(), 0, 0);
    let (mut left_out_texts, mut left_out_copies, mut copies) = (0, 0, BTreeSet::new());
    for split in choices.split.each() {
        let columns = SplitColumns { seen: seen.rows(), ..question_data.columns() };
        let division = split.divide(&question_data.data(&none), columns, u64::from(choices.seed), 0.0)?;
        left_out_texts += division.test.left_out();
        left_out_copies += division.copies.left_out;
        copies.extend(division.copies.scored);
        train.extend(division.train);
        test_texts += division.test.texts();
        test_labels += division.test.labels();
    }
    let train_texts: HashSet<u32> = train.iter().map(|o| o.text).collect();
    let report = SplitReport {
        kind,
        name: choices.split.name(),
        share,
        folds: choices.split.each().len(),
        train_texts: train_texts.len(),
        test_texts,
        train_labels: train.len(),
        test_labels,
        left_out_texts,
        copies_in_training: copies.len(),
        left_out_copies,
    };
    Ok(Divided { report, copies })
}

/// A note for figures without slips.
pub(super) fn slips_note(choices: &EvaluateChoices) -> Option<String> {
    const NOTE: &str = "Labels that were decided to be slips are left out, of what is learned and of what is scored: these figures are over \
                        the other labels, and are not to be compared with those over all.";
    choices.without_slips.then(|| NOTE.to_owned())
}

fn tuned_notes(models: &[ModelKind]) -> Vec<String> {
    let mut note = "Each model has an encoder of its own, whose best weights were chosen on validation labels that the encoder does not learn from".to_owned();
    if models.contains(&ModelKind::Multilevel) {
        note.push_str(
            "; multilevel also learns annotators from these validation labels, the other models do not",
        );
    }
    vec![format!("{note}.")]
}

fn baselines_of(
    data: &TrainingData<'_>,
    question_data: &QuestionData,
    seen: &SeenRows,
    choices: &EvaluateChoices,
    at_least: Option<u16>,
) -> Result<Vec<Predicted>, ProjectError> {
    let columns = SplitColumns { seen: seen.rows(), ..question_data.columns() };
    Ok(predict_baselines(data, choices.split, columns, at_least, u64::from(choices.seed))?)
}

pub(super) fn level_index(question: &Question, name: &str) -> Result<u16, ProjectError> {
    question.scale.index_of(name).ok_or_else(|| ProjectError::NotOnScale {
        value: name.to_owned(),
        question: question.name.clone(),
        levels: question.scale.levels().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_on_tuned_encoders_do_not_share_is_said() {
        let said = |models: &[ModelKind]| tuned_notes(models).remove(0).contains("multilevel also learns");
        assert!(said(&[ModelKind::Shared, ModelKind::Multilevel]) && !said(&[ModelKind::Shared]));
    }
}
