//! Evaluation of models on a question with levels, or on one option or type.

use super::choices::{EvaluateChoices, level_index};
use super::compared::{Compared, ModelDifferences, Tested, resample};
use super::targets::{SplitReport, Targets, first_target};
use crate::Analysis;
use dissensus_api::SelfAgreementShare;
use dissensus_domain::{Question, QuestionId};
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{Predicted, PredictionSets, prediction_sets};
use dissensus_stats::data::{Embeddings, ModelError, ModelKind};
use dissensus_stats::metrics::{CalibrationBin, Resampled, Scored, calibration_curve, dichotomize};
use dissensus_training::runs;
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Instant;

/// Number of bins of a calibration curve.
const BINS: usize = 10;

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

/// How often a model was right, by its confidence.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelCalibration {
    pub model: String,
    /// Bins of equal width, of the probability of the most likely level.
    pub bins: Vec<CalibrationBin>,
}

/// Scores of models and baselines without the test texts whose body is also in training or validation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WithoutCopies {
    /// Number of remaining texts.
    pub texts: usize,
    pub labels: usize,
    /// One entry per model.
    pub models: Vec<dissensus_selection::evaluation::Evaluation>,
    /// One entry per baseline.
    pub baselines: Vec<dissensus_selection::evaluation::Evaluation>,
}

/// Predictions of test labels.
struct TestedLevels {
    predicted: Predicted,
    ordinal: bool,
}

impl Tested for TestedLevels {
    type Scores = dissensus_selection::evaluation::Evaluation;

    fn model(&self) -> &str {
        &self.predicted.model
    }

    fn scores(&self) -> Result<Self::Scores, ModelError> {
        Ok(self.predicted.evaluation(self.ordinal))
    }

    fn scores_without(&self, texts: &BTreeSet<u32>) -> Result<Self::Scores, ModelError> {
        Ok(self.predicted.evaluation_of(self.ordinal, |o| !texts.contains(&o.text)))
    }

    fn resampled(&self, seed: u64, progress: &dyn Progress) -> Result<Resampled, ModelError> {
        let scores = |scored: &Scored| self.predicted.scores_of(scored, self.ordinal);
        Resampled::new(&self.predicted.scored, self.ordinal, seed, scores, progress)
    }
}

/// How often each model was right, by its confidence.
fn calibration(compared: &Compared<TestedLevels>) -> Vec<ModelCalibration> {
    let of = |one: &Predicted| ModelCalibration {
        model: one.model.clone(),
        bins: calibration_curve(&one.scored, BINS),
    };
    let models = compared.models.iter().map(|one| &one.predicted);
    models.filter(|one| !one.answers_alone).map(of).collect()
}

fn without_copies(
    compared: &Compared<TestedLevels>,
    copies: &BTreeSet<u32>,
) -> Result<Option<WithoutCopies>, ModelError> {
    let Some((models, baselines)) = compared.scores_without(copies)? else { return Ok(None) };
    let first = baselines.first().map(|one| &one.scores);
    let (texts, labels) = first.map_or((0, 0), |scores| (scores.n_texts, scores.n_labels));
    Ok(Some(WithoutCopies { texts, labels, models, baselines }))
}

/// Differences between every model or baseline and `multilevel` in every metric. Runs with a tuned
/// encoder are trained one after the other: one that was scored on other labels, because labels were
/// recorded meanwhile, is left out.
fn differences(
    compared: &Compared<TestedLevels>,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Option<ModelDifferences>, ModelError> {
    let reference = ModelKind::Multilevel.name();
    let Some(first) = compared.all().find(|one| one.model() == reference) else { return Ok(None) };
    let labels =
        |one: &TestedLevels| one.predicted.scored.observations == first.predicted.scored.observations;
    let resampled = resample(compared.all().filter(|one| labels(one)), seed, progress)?;
    ModelDifferences::less(reference, &resampled).map(Some)
}

/// What `models` and baselines predicted, on embeddings or with tuned encoders.
struct Fitted<'a> {
    targets: Targets<'a>,
    models: Vec<Vec<Predicted>>,
    baselines: Vec<Vec<Predicted>>,
    sets: Option<Result<PredictionSets, String>>,
    notes: Vec<String>,
    encoder: Option<String>,
    device: String,
}

/// Trains every model on one part of the labels of a question with levels and scores it on the other.
pub(super) fn evaluate(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<Evaluation, ProjectError> {
    let started = Instant::now();
    let at_least = choices.at_least.as_deref().map(|name| level_index(question, name)).transpose()?;
    let data = cx.context.learned_data_of(question, choices.without_slips)?;
    first_target(&data)?.check_split(choices.split)?;
    let fitted = match choices.tuning == "frozen" {
        true => fit_frozen(cx, &data, choices, at_least, progress)?,
        false => fit_tuned(cx, question, &data, choices, at_least, progress)?,
    };
    let ordinal = question.scale.target().has_distances() && at_least.is_none();
    let tested = |models: Vec<Vec<Predicted>>| -> Vec<TestedLevels> {
        models.into_iter().flatten().map(|predicted| TestedLevels { predicted, ordinal }).collect()
    };
    let divided = fitted.targets.divided;
    let compared = Compared { models: tested(fitted.models), baselines: tested(fitted.baselines) };
    let (models, baselines) = compared.scores()?;
    let (prediction_sets, no_prediction_sets) = match fitted.sets {
        Some(Ok(sets)) => (Some(sets), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, None),
    };
    Ok(Evaluation {
        models,
        baselines,
        without_copies: without_copies(&compared, &divided.copies)?,
        differences: differences(&compared, u64::from(choices.seed), progress)?,
        calibration: calibration(&compared),
        prediction_sets,
        no_prediction_sets,
        notes: fitted
            .notes
            .into_iter()
            .chain(cx.context.edited_note(question.id)?)
            .chain(choices.slips_note(cx, question.id)?)
            .collect(),
        split: divided.report,
        seed: choices.seed,
        encoder: fitted.encoder,
        device: fitted.device,
        question: question.name.clone(),
        at_least: choices.at_least.clone(),
        self_agreement: self_agreement_of(cx, question.id, choices)?,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Fits models on the embeddings of the project's encoder.
fn fit_frozen<'a>(
    cx: &Analysis,
    data: &'a [QuestionData],
    choices: &EvaluateChoices,
    at_least: Option<u16>,
    progress: &dyn Progress,
) -> Result<Fitted<'a>, ProjectError> {
    let (embeddings, encoder) = cx.encoding.embeddings_for(first_target(data)?)?;
    let seen = cx.encoding.seen_by(encoder.as_deref(), &cx.context.index())?;
    let targets = Targets::divide(data, seen, choices)?;
    let models = targets.predict_models(&embeddings, choices, at_least, progress)?;
    let first = targets.first();
    let (labels, columns, fit) = (first.data(&embeddings), targets.columns(first), choices.fit_options());
    let sets = match choices.prediction_sets {
        true => Some(prediction_sets(&labels, choices.split, columns, at_least, &fit, progress)?),
        false => None,
    };
    Ok(Fitted {
        models,
        baselines: targets.predict_baselines(&embeddings, choices, at_least)?,
        sets: sets.map(|sets| sets.map_err(|reason| reason.to_string())),
        notes: Vec::new(),
        encoder,
        device: "cpu".to_owned(),
        targets,
    })
}

/// Trains one run per model (and fold), each with its own encoder.
fn fit_tuned<'a>(
    cx: &Analysis,
    question: &Question,
    data: &'a [QuestionData],
    choices: &EvaluateChoices,
    at_least: Option<u16>,
    progress: &dyn Progress,
) -> Result<Fitted<'a>, ProjectError> {
    let targets = Targets::divide(data, cx.encoding.seen_by_encoder(&cx.context.index())?, choices)?;
    let (mut models, mut device) = (Vec::new(), "cpu".to_owned());
    for kind in &choices.models {
        let mut asked = runs::choices_for(&cx.runs, question.id, *kind, &choices.tuning)?;
        asked.seed = choices.seed;
        asked.without_slips = choices.without_slips;
        let mut folds = Vec::new();
        for split in choices.split.each() {
            asked.split = split;
            let run = runs::train(&cx.runs, &asked, choices.encoder.device, progress)?;
            device = run.info.device;
            folds.push(runs::scored(&cx.runs, run.info.id)?);
        }
        let mut scored = Scored::pooled(folds);
        if let Some(level) = at_least {
            // Runs tune their answer for all levels; for two, the most likely one is used.
            scored = dichotomize(&scored, level);
        }
        models.push(vec![Predicted::new(kind.name(), scored)]);
    }
    let none = Embeddings::none(targets.first().texts.len());
    Ok(Fitted {
        models,
        baselines: targets.predict_baselines(&none, choices, at_least)?,
        sets: None,
        notes: tuned_notes(&choices.models),
        encoder: cx.encoding.embeddings()?.1.version,
        device,
        targets,
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

fn tuned_notes(models: &[ModelKind]) -> Vec<String> {
    let mut note = "Each model has an encoder of its own, whose best weights were chosen on validation labels that the encoder does not learn from".to_owned();
    if models.contains(&ModelKind::Multilevel) {
        note.push_str(
            "; multilevel also learns annotators from these validation labels, the other models do not",
        );
    }
    vec![format!("{note}.")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_project::jobs::Silent;
    use dissensus_stats::data::Observation;

    #[test]
    fn note_says_how_models_on_tuned_encoders_differ() {
        let warns = |models: &[ModelKind]| tuned_notes(models).remove(0).contains("multilevel also learns");
        assert!(warns(&[ModelKind::Shared, ModelKind::Multilevel]) && !warns(&[ModelKind::Shared]));
    }

    fn predicted(model: &str, labels: u32) -> Predicted {
        let observations: Vec<Observation> = (0..labels)
            .map(|i| Observation { text: i / 5, annotator: i % 5, level: (i % 2) as u16 })
            .collect();
        let p = if model == "multilevel" { 0.7 } else { 0.6 };
        let row = |o: &Observation| if o.level == 0 { [p, 1.0 - p] } else { [1.0 - p, p] };
        let probabilities = observations.iter().flat_map(row).collect();
        Predicted::new(model, Scored { observations, probabilities, levels: 2, tuned: None })
    }

    #[test]
    fn model_scored_on_other_labels_is_excluded() {
        let tested = |predicted| TestedLevels { predicted, ordinal: false };
        let compared = |models: Vec<Predicted>| Compared {
            models: models.into_iter().map(tested).collect(),
            baselines: vec![tested(predicted("prior", 50))],
        };
        let all = [("shared", 50), ("majority", 45), ("multilevel", 50)].map(|(name, n)| predicted(name, n));
        let found = differences(&compared(all.to_vec()), 0, &Silent).unwrap().unwrap();
        let names: Vec<&str> = found.models.iter().map(|one| one.model.as_str()).collect();
        assert_eq!(names, ["shared", "prior"]);
        assert!((found.models[0].of["log_loss"].difference - (0.7f64 / 0.6).ln()).abs() < 1e-6);
        assert!(differences(&compared(vec![predicted("shared", 50)]), 0, &Silent).unwrap().is_none());
    }
}
