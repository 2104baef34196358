//! Evaluation of models on the words that annotators mark.

use super::Analysis;
use super::compared::ModelDifferences;
use super::evaluation::{EvaluateChoices, SplitReport, slips_note};
use super::span_data::SpanData;
use crate::error::AnalysisError;
use crate::evaluation;
use crate::recorded;
use crate::span_data;
use dissensus_domain::Question;
use dissensus_encoder::WordStates;
use dissensus_models::spans::{
    SpanAnswer, SpanEvaluation, SpanFitOptions, SpanModel, SpanPredictions, SpanTraining, TypeReport,
    WordFrequency,
};
use dissensus_neural::word_networks::WordNetworks;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{SplitColumns, SplitSpec};
use dissensus_stats::data::ModelKind;
use dissensus_stats::metrics::CONFIDENCE_LEVEL;
use dissensus_stats::metrics::Resampled;
use dissensus_store::EvaluationKind;
use dissensus_training::encoding::EncoderChoice;
use serde::Serialize;
use serde_json::json;
use std::time::Instant;

/// The baseline that is the reference of differences.
const WORD_FREQUENCY: &str = "word-frequency";

/// Scores of models on the marked words of held-out answers. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanEvaluationReport {
    pub question: String,
    /// One entry per model.
    pub models: Vec<SpanEvaluation>,
    /// Baselines: how often a word's form is marked times the annotator's rate (`word-frequency`), and only
    /// that rate (`annotator-rate`).
    pub baselines: Vec<SpanEvaluation>,
    /// Every model and the other baseline minus `word-frequency`, in every figure, with intervals.
    pub differences: ModelDifferences,
    /// The scores of both, without intervals, without the test texts whose body is also in training; none if
    /// there are no such texts.
    pub without_copies: Option<SpansWithoutCopies>,
    /// The types, in the order of every list of types, and what `multilevel` learned about each (in the last
    /// fold).
    pub types: Vec<TypeOfSpans>,
    /// Notes on the models.
    pub notes: Vec<String>,
    /// How texts were divided.
    pub split: SplitReport,
    /// Seed of split and fits.
    pub seed: u32,
    /// Encoder version.
    pub encoder: String,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Scores without the test texts whose body is also in training or validation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpansWithoutCopies {
    /// One entry per model.
    pub models: Vec<SpanEvaluation>,
    /// One entry per baseline.
    pub baselines: Vec<SpanEvaluation>,
}

/// A type, and what `multilevel` learned about it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypeOfSpans {
    #[serde(rename = "type")]
    pub name: String,
    /// Share of words that training answers mark with it, a form counted once per text; absent without
    /// `multilevel`, as all below.
    pub rate: Option<f64>,
    /// Standard deviation between annotators of the readiness to mark it, in logits.
    pub readiness_deviation: Option<f64>,
    /// Standard deviation of the effects of single words beyond their prediction, in logits.
    pub word_deviation: Option<f64>,
    /// Whether a layer with context was used: it is if it improves predictions on held-out training texts.
    pub uses_context: Option<bool>,
    /// Minimum probability from which a word counts as marked.
    pub threshold: Option<f64>,
}

/// Trains every model of words on one part of the texts and scores its predictions for the words of the
/// other; stored as an evaluation of the project if it is writable.
///
/// # Errors
/// The question has no spans or no answers; one side of the split is empty; no encoder; a cancel.
pub fn evaluate(
    cx: &Analysis,
    choices: &EvaluateChoices,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<SpanEvaluationReport, ProjectError> {
    let question = cx.context.index().find_question(choices.question.as_deref())?.clone();
    if choices.tuning != "frozen" || choices.prediction_sets || choices.at_least.is_some() {
        cx.context.index().with_levels(question.id)?;
    }
    if let SplitSpec::Stratified(_) = choices.split {
        return Err(AnalysisError::StratifiedOptions(question.name).into());
    }
    let asked = json!({
        "question": question.name,
        "models": choices.models.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "split": choices.split.name(),
    });
    recorded::recorded(cx, EvaluationKind::Evaluation, asked, u64::from(choices.seed), || {
        evaluate_words(cx, &question, choices, encoder, progress)
    })
}

fn evaluate_words(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<SpanEvaluationReport, ProjectError> {
    let started = Instant::now();
    let encoder = cx.encoding.open_in_use(encoder)?.0;
    let states = WordStates::EmbeddingAndContext;
    let data =
        span_data::span_data(cx, question, &encoder, states, usize::MAX, choices.without_slips, progress)?;
    let first = data.types.first().ok_or(ProjectError::NoQuestion)?;
    first.check_split(choices.split)?;
    let seen = cx.encoding.seen_by(Some(&data.encoder), &cx.context.index())?;
    let divided = evaluation::divide(first, &seen, choices)?;
    let (annotators, types) = (first.annotators.len(), data.types.len());
    let options = SpanFitOptions { seed: u64::from(choices.seed), ..SpanFitOptions::default() };
    let columns = SplitColumns { seen: seen.rows(), ..first.columns() };
    let none = dissensus_stats::data::Embeddings::none(first.texts.len());
    let tuned_on = span_data::words_learned(cx, &data)?;
    let mut tested: Vec<&SpanAnswer> = Vec::new();
    let mut predictions: Vec<SpanPredictions> = Vec::new();
    let mut learned: Vec<TypeReport> = Vec::new();
    for split in choices.split.each() {
        let division = split.divide(&first.data(&none), columns, options.seed, 0.0)?;
        let train = data.answers_of(division.train.iter().map(|o| (o.text, o.annotator)));
        let test: Vec<&SpanAnswer> = data
            .answers_of(division.test.observations().iter().map(|o| (o.text, o.annotator)))
            .into_iter()
            .map(|at| &data.answers[at])
            .collect();
        let mut fold = Vec::new();
        for kind in &choices.models {
            let of = SpanTraining {
                texts: &data.texts,
                answers: &data.answers,
                train: &train,
                annotators,
                types,
                copies: &data.copies,
                tuned_on: &tuned_on,
            };
            if matches!(kind, ModelKind::ShareRecFfn | ModelKind::ShareRecDcn) {
                let model = WordNetworks::fit(&of, *kind, &options, progress)?;
                fold.push(model.predictions(&data.texts, &test)?);
                continue;
            }
            let model = SpanModel::fit(&of, *kind, &options, progress)?;
            if *kind == ModelKind::Multilevel {
                learned = model.report();
            }
            fold.push(SpanPredictions::of(&model, &data.texts, &test));
        }
        let frequency = WordFrequency::fit(&data.texts, &data.answers, &train, annotators, types);
        fold.extend(SpanPredictions::of_baselines(&frequency, &data.texts, &test, types));
        tested.extend(test);
        if predictions.is_empty() {
            predictions = fold;
        } else {
            predictions.iter_mut().zip(fold).for_each(|(all, fold)| all.extend(fold));
        }
    }
    let scores = |keep: &dyn Fn(u32) -> bool| {
        let of = |one: &SpanPredictions| {
            one.evaluation(&data.texts, &tested, |text| keep(data.rows[text as usize]))
        };
        let mut models: Vec<SpanEvaluation> = predictions.iter().map(of).collect();
        let baselines = models.split_off(choices.models.len());
        (models, baselines)
    };
    let (mut models, mut baselines) = scores(&|_| true);
    let without_copies = (!divided.copies.is_empty()).then(|| {
        let (models, baselines) = scores(&|text| !divided.copies.contains(&text));
        SpansWithoutCopies { models, baselines }
    });
    let resampled = resampled(&predictions, &data, &tested, options.seed, progress)?;
    for (one, (_, own)) in models.iter_mut().chain(&mut baselines).zip(&resampled) {
        *one = one.clone().with_intervals(own, CONFIDENCE_LEVEL)?;
    }
    Ok(SpanEvaluationReport {
        question: question.name.clone(),
        models,
        baselines,
        differences: ModelDifferences::less(WORD_FREQUENCY, &resampled)?,
        without_copies,
        types: types_of(question, &learned),
        notes: slips_note(choices).into_iter().collect(),
        split: divided.report,
        seed: choices.seed,
        encoder: data.encoder.clone(),
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// The name of each model and baseline, with its figures on resampled answers.
fn resampled(
    predictions: &[SpanPredictions],
    data: &SpanData,
    tested: &[&SpanAnswer],
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<(String, Resampled)>, ProjectError> {
    let of = |one: &SpanPredictions| {
        Ok((one.model().to_owned(), one.resampled(&data.texts, tested, seed, progress)?))
    };
    predictions.iter().map(of).collect()
}

fn types_of(question: &Question, learned: &[TypeReport]) -> Vec<TypeOfSpans> {
    let of = |(at, name): (usize, &String)| {
        let learned = learned.get(at);
        TypeOfSpans {
            name: name.clone(),
            rate: learned.map(|of| of.rate),
            readiness_deviation: learned.and_then(|of| of.readiness_deviation),
            word_deviation: learned.map(|of| of.word_deviation),
            uses_context: learned.map(|of| of.uses_context),
            threshold: learned.map(|of| of.threshold),
        }
    };
    question.scale.levels().iter().enumerate().map(of).collect()
}
