//! Evaluation of models on a multi-label question as a whole.

use super::Analysis;
use super::compared::ModelDifferences;
use super::evaluation::{EvaluateChoices, SplitReport};
use crate::error::AnalysisError;
use crate::evaluation;
use crate::recorded;
use dissensus_api::options_together;
use dissensus_domain::Question;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{
    Predicted, PredictedSets, SetEvaluation, SplitColumns, SplitSpec, predict_baselines, predict_test,
};
use dissensus_stats::data::{FitOptions, ModelKind};
use dissensus_store::EvaluationKind;
use serde::Serialize;
use serde_json::json;
use std::time::Instant;

/// Scores of models on held-out sets of options. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionEvaluation {
    pub question: String,
    /// Its options, in the order of every list of options below.
    pub options: Vec<String>,
    /// One entry per model.
    pub models: Vec<SetEvaluation>,
    /// For each model, whether it uses correlations between options, what whole sets gain by it, and which
    /// options are correlated.
    pub options_together: Vec<String>,
    /// Baselines on the same answers that do not read the texts, one entry each.
    pub baselines: Vec<SetEvaluation>,
    /// Every other model and baseline minus `multilevel` (or the first model without it) in every figure on
    /// whole sets, with intervals.
    pub differences: ModelDifferences,
    /// The scores of both without the test texts whose body is also in training; none if there are no such
    /// texts.
    pub without_copies: Option<SetsWithoutCopies>,
    /// How texts were divided: in the same way for all options.
    pub split: SplitReport,
    /// Seed of split and fits.
    pub seed: u32,
    /// Encoder version.
    pub encoder: Option<String>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Scores without the test texts whose body is also in training or validation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetsWithoutCopies {
    /// One entry per model.
    pub models: Vec<SetEvaluation>,
    /// One entry per baseline.
    pub baselines: Vec<SetEvaluation>,
}

/// Trains every model on one part of the texts, option by option, and scores the sets that it predicts
/// on the other; stored as an evaluation of the project if it is writable. A set has the options that
/// are more likely than not; a second set has those above thresholds that were tuned on training labels.
///
/// # Errors
/// The question is no multi-label question; it has no labels; one side of the split is empty; the split
/// divides options differently; a requested figure exists only for single options; or a cancel.
pub fn evaluate(
    cx: &Analysis,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<OptionEvaluation, ProjectError> {
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
        evaluate_each_option(cx, &question, choices, progress)
    })
}

fn evaluate_each_option(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<OptionEvaluation, ProjectError> {
    let started = Instant::now();
    let options = cx.context.learned_data_of(question, choices.without_slips)?;
    let first = options.first().ok_or(ProjectError::NoQuestion)?;
    first.check_split(choices.split)?;
    let (embeddings, encoder) = cx.encoding.embeddings_for(first)?;
    let seen = cx.encoding.seen_by(encoder.as_deref(), &cx.context.index())?;
    let divided = evaluation::divide(first, &seen, choices)?;
    let fit = FitOptions { seed: u64::from(choices.seed), ..FitOptions::default() };
    let (mut models, mut baselines) = (Vec::new(), Vec::new());
    for (nth, option) in options.iter().enumerate() {
        let columns = SplitColumns { seen: seen.rows(), ..option.columns() };
        let data = option.data(&embeddings);
        let within = Within { progress, option: &option.question.name, nth, of: options.len() };
        models.push(predict_test(&data, choices.split, columns, &choices.models, None, &fit, &within)?);
        baselines.push(predict_baselines(&data, choices.split, columns, None, fit.seed)?);
    }
    progress.report(0, None, "options that go together");
    let models = by_model(models)?
        .into_iter()
        .map(|one| Ok(one.with_correlations(|text| first.unit(text), fit.seed)?));
    let models = models.collect::<Result<Vec<_>, ProjectError>>()?;
    let baselines = by_model(baselines)?;
    let scores = |all: &[PredictedSets]| -> Result<Vec<SetEvaluation>, ProjectError> {
        all.iter().map(|one| Ok(one.evaluation()?)).collect()
    };
    let without = |all: &[PredictedSets]| -> Result<Vec<SetEvaluation>, ProjectError> {
        all.iter().map(|one| Ok(one.evaluation_of(|text| !divided.copies.contains(&text))?)).collect()
    };
    let without_copies = match divided.copies.is_empty() {
        true => None,
        false => Some(SetsWithoutCopies { models: without(&models)?, baselines: without(&baselines)? }),
    };
    let differences = differences(&models, &baselines, fit.seed, progress)?;
    let (models, names) = (scores(&models)?, question.scale.levels());
    let said = |one: &SetEvaluation| one.together.as_ref().map(|together| options_together(together, names));
    Ok(OptionEvaluation {
        question: question.name.clone(),
        options: names.to_vec(),
        options_together: models.iter().filter_map(said).collect(),
        models,
        baselines: scores(&baselines)?,
        differences,
        without_copies,
        split: divided.report,
        seed: choices.seed,
        encoder,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Differences between all models or baselines and `multilevel`, or the first model.
fn differences(
    models: &[PredictedSets],
    baselines: &[PredictedSets],
    seed: u64,
    progress: &dyn Progress,
) -> Result<ModelDifferences, ProjectError> {
    let own = ModelKind::Multilevel.name();
    let first = models.iter().find(|one| one.model() == own).or_else(|| models.first());
    let reference = first.map_or(own, PredictedSets::model).to_owned();
    let resampled = models
        .iter()
        .chain(baselines)
        .map(|one| Ok((one.model().to_owned(), one.resampled(seed, progress)?)));
    let resampled = resampled.collect::<Result<Vec<_>, ProjectError>>()?;
    Ok(ModelDifferences::less(&reference, &resampled)?)
}

/// Transposes a list of models for each option to a list of options for each model.
fn by_model(options: Vec<Vec<Predicted>>) -> Result<Vec<PredictedSets>, ProjectError> {
    let mut models: Vec<Vec<Predicted>> = Vec::new();
    for option in options {
        models.resize_with(option.len(), Vec::new);
        models.iter_mut().zip(option).for_each(|(of, one)| of.push(one));
    }
    models.into_iter().map(|of| Ok(PredictedSets::new(of)?)).collect()
}

/// The progress of one option as a part of the progress of all.
struct Within<'a> {
    progress: &'a dyn Progress,
    option: &'a str,
    nth: usize,
    of: usize,
}

impl Progress for Within<'_> {
    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }

    fn report(&self, done: u64, total: Option<u64>, what: &str) {
        let all = total.map(|total| total * self.of as u64);
        let done = total.map_or(done, |total| total * self.nth as u64 + done.min(total));
        self.progress.report(done, all, &format!("{}: {what}", self.option));
    }
}
