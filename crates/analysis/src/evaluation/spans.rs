//! Evaluation of models on the words that annotators mark.

use super::choices::EvaluateChoices;
use super::compared::{Compared, ModelDifferences, Tested};
use super::targets::{SplitReport, Targets, first_target};
use crate::Analysis;
use crate::span_data::{self, SpanData};
use dissensus_domain::Question;
use dissensus_encoder::WordStates;
use dissensus_models::spans::{
    SpanAnswer, SpanEvaluation, SpanFitOptions, SpanModel, SpanPredictions, SpanTraining, TypeReport,
    WordFrequency,
};
use dissensus_neural::word_networks::WordNetworks;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{DataSplit, SplitSpec};
use dissensus_stats::data::{Embeddings, ModelError, ModelKind};
use dissensus_stats::metrics::{CONFIDENCE_LEVEL, Resampled};
use serde::Serialize;
use std::collections::BTreeSet;
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

/// Predictions of the words of test answers.
struct TestedWords<'a> {
    predictions: SpanPredictions,
    data: &'a SpanData,
    tested: &'a [&'a SpanAnswer],
}

impl Tested for TestedWords<'_> {
    type Scores = SpanEvaluation;

    fn model(&self) -> &str {
        self.predictions.model()
    }

    fn scores(&self) -> Result<SpanEvaluation, ModelError> {
        Ok(self.predictions.evaluation(&self.data.texts, self.tested, |_| true))
    }

    fn scores_without(&self, texts: &BTreeSet<u32>) -> Result<SpanEvaluation, ModelError> {
        let keep = |text: u32| !texts.contains(&self.data.rows[text as usize]);
        Ok(self.predictions.evaluation(&self.data.texts, self.tested, keep))
    }

    fn resampled(&self, seed: u64, progress: &dyn Progress) -> Result<Resampled, ModelError> {
        self.predictions.resampled(&self.data.texts, self.tested, seed, progress)
    }
}

/// Trains every model of words on one part of the texts and scores its predictions for the words of the
/// other.
pub(super) fn evaluate(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<SpanEvaluationReport, ProjectError> {
    let started = Instant::now();
    let encoder = cx.encoding.open_in_use(&choices.encoder)?.0;
    let states = WordStates::EmbeddingAndContext;
    let data =
        span_data::span_data(cx, question, &encoder, states, usize::MAX, choices.without_slips, progress)?;
    let first = first_target(&data.types)?;
    first.check_split(choices.split)?;
    let seen = cx.encoding.seen_by(Some(&data.encoder), &cx.context.index())?;
    let targets = Targets::divide(&data.types, seen, choices)?;
    let (annotators, types) = (first.annotators.len(), data.types.len());
    let options = SpanFitOptions { seed: u64::from(choices.seed), ..SpanFitOptions::default() };
    let columns = targets.columns(first);
    let none = Embeddings::none(first.texts.len());
    let tuned_on = span_data::words_learned(cx, &data)?;
    let mut tested: Vec<&SpanAnswer> = Vec::new();
    let mut predictions: Vec<SpanPredictions> = Vec::new();
    let mut learned: Vec<TypeReport> = Vec::new();
    let divide = |split: SplitSpec| split.divide(&first.data(&none), columns, options.seed, 0.0);
    let divisions: Vec<DataSplit> = choices.split.each().into_iter().map(divide).collect::<Result<_, _>>()?;
    // Before the first fit, which takes minutes.
    let unseen = divisions.iter().map(|division| division.test.texts()).sum();
    columns.seen.check(&choices.split.name(), unseen)?;
    for division in divisions.iter().filter(|division| division.test.labels() > 0) {
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
    let with_words = |predictions| TestedWords { predictions, data: &data, tested: &tested };
    let mut models: Vec<TestedWords<'_>> = predictions.into_iter().map(with_words).collect();
    let baselines = models.split_off(choices.models.len());
    let compared = Compared { models, baselines };
    let resampled = compared.resampled(options.seed, progress)?;
    let (mut models, mut baselines) = compared.scores()?;
    for (one, (_, own)) in models.iter_mut().chain(&mut baselines).zip(&resampled) {
        *one = one.clone().with_intervals(own, CONFIDENCE_LEVEL)?;
    }
    let without = compared.scores_without(&targets.divided.copies)?;
    Ok(SpanEvaluationReport {
        question: question.name.clone(),
        models,
        baselines,
        differences: ModelDifferences::less(WORD_FREQUENCY, &resampled)?,
        without_copies: without.map(|(models, baselines)| SpansWithoutCopies { models, baselines }),
        types: types_of(question, &learned),
        notes: choices.slips_note(cx, question.id)?.into_iter().collect(),
        split: targets.divided.report,
        seed: choices.seed,
        encoder: data.encoder.clone(),
        seconds: started.elapsed().as_secs_f64(),
    })
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
