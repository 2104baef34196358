//! Evaluation of models on a multi-label question as a whole.

use super::choices::EvaluateChoices;
use super::compared::{Compared, ModelDifferences, Tested};
use super::targets::{SplitReport, Targets, first_target};
use crate::Analysis;
use dissensus_api::options_together;
use dissensus_domain::Question;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{PredictedSets, SetEvaluation};
use dissensus_stats::data::{ModelError, ModelKind};
use dissensus_stats::metrics::Resampled;
use serde::Serialize;
use std::collections::BTreeSet;
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

impl Tested for PredictedSets {
    type Scores = SetEvaluation;

    fn model(&self) -> &str {
        self.model()
    }

    fn scores(&self) -> Result<SetEvaluation, ModelError> {
        self.evaluation()
    }

    fn scores_without(&self, texts: &BTreeSet<u32>) -> Result<SetEvaluation, ModelError> {
        self.evaluation_of(|text| !texts.contains(&text))
    }

    fn resampled(&self, seed: u64, progress: &dyn Progress) -> Result<Resampled, ModelError> {
        self.resampled(seed, progress)
    }
}

/// Trains every model on one part of the texts, option by option, and scores the sets that it predicts
/// on the other. A set has the options that are more likely than not; a second set has those above
/// thresholds that were tuned on training labels.
pub(super) fn evaluate(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<OptionEvaluation, ProjectError> {
    let started = Instant::now();
    let data = cx.context.learned_data_of(question, choices.without_slips)?;
    let first = first_target(&data)?;
    first.check_split(choices.split)?;
    let (embeddings, encoder) = cx.encoding.embeddings_for(first)?;
    let seen = cx.encoding.seen_by(encoder.as_deref(), &cx.context.index())?;
    let targets = Targets::divide(&data, seen, choices)?;
    let seed = u64::from(choices.seed);
    let models = targets.predict_models(&embeddings, choices, None, progress)?;
    let baselines = targets.predict_baselines(&embeddings, choices, None)?;
    progress.report(0, None, "options that go together");
    let sets =
        models.into_iter().map(|of| PredictedSets::new(of)?.with_correlations(|text| first.unit(text), seed));
    let compared = Compared {
        models: sets.collect::<Result<Vec<_>, _>>()?,
        baselines: baselines.into_iter().map(PredictedSets::new).collect::<Result<_, _>>()?,
    };
    let without = compared.scores_without(&targets.divided.copies)?;
    let own = ModelKind::Multilevel.name();
    let reference = compared.models.iter().find(|one| one.model() == own).or_else(|| compared.models.first());
    let reference = reference.map_or(own, PredictedSets::model);
    let resampled = compared.resampled(seed, progress)?;
    let ((models, baselines), names) = (compared.scores()?, question.scale.levels());
    let together = |one: &SetEvaluation| one.together.as_ref().map(|found| options_together(found, names));
    Ok(OptionEvaluation {
        question: question.name.clone(),
        options: names.to_vec(),
        options_together: models.iter().filter_map(together).collect(),
        models,
        baselines,
        differences: ModelDifferences::less(reference, &resampled)?,
        without_copies: without.map(|(models, baselines)| SetsWithoutCopies { models, baselines }),
        split: targets.divided.report,
        seed: choices.seed,
        encoder,
        seconds: started.elapsed().as_secs_f64(),
    })
}
