//! Comparison of models' predictions of the same test labels, whatever the form of the answers.

use dissensus_project::jobs::Progress;
use dissensus_stats::data::ModelError;
use dissensus_stats::metrics::{CONFIDENCE_LEVEL, PairedDifference, Resampled};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Differences between models or baselines and one model, each metric on the same labels.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelDifferences {
    /// The reference whose figures are subtracted: `multilevel`, for words the baseline `word-frequency`.
    pub less: String,
    /// The probability that an interval contains the difference, over texts and annotators like these.
    pub confidence: f64,
    /// What is resampled together: `texts and annotators`, or `texts` with only one annotator.
    pub over: String,
    /// One entry for every other model and baseline.
    pub models: Vec<ModelDifference>,
}

/// The differences of one model or baseline.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelDifference {
    pub model: String,
    /// Its figure minus that of the reference, by the key of the metric.
    pub of: BTreeMap<String, PairedDifference>,
}

/// Predictions of the test answers by a model or baseline.
pub(super) trait Tested {
    type Scores;

    fn model(&self) -> &str;

    /// The scores on all test answers.
    fn scores(&self) -> Result<Self::Scores, ModelError>;

    /// The scores without the answers to these texts.
    fn scores_without(&self, texts: &BTreeSet<u32>) -> Result<Self::Scores, ModelError>;

    /// The figures on all test answers, and the same without groups of them, for intervals of differences.
    fn resampled(&self, seed: u64, progress: &dyn Progress) -> Result<Resampled, ModelError>;
}

/// Predictions of the test answers by models and baselines.
pub(super) struct Compared<T> {
    pub(super) models: Vec<T>,
    pub(super) baselines: Vec<T>,
}

/// The scores of the models, and of the baselines.
pub(super) type ScoresOf<T> = (Vec<<T as Tested>::Scores>, Vec<<T as Tested>::Scores>);

impl<T: Tested> Compared<T> {
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.models.iter().chain(&self.baselines)
    }

    pub(super) fn scores(&self) -> Result<ScoresOf<T>, ModelError> {
        self.each(T::scores)
    }

    /// The scores without the answers to these texts; `None` for no texts.
    pub(super) fn scores_without(&self, texts: &BTreeSet<u32>) -> Result<Option<ScoresOf<T>>, ModelError> {
        (!texts.is_empty()).then(|| self.each(|one| one.scores_without(texts))).transpose()
    }

    /// The name of each model and baseline, with its figures on resampled answers.
    pub(super) fn resampled(
        &self,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Vec<(String, Resampled)>, ModelError> {
        resample(self.all(), seed, progress)
    }

    fn each(&self, of: impl Fn(&T) -> Result<T::Scores, ModelError>) -> Result<ScoresOf<T>, ModelError> {
        let scores = |all: &[T]| all.iter().map(&of).collect::<Result<Vec<_>, _>>();
        Ok((scores(&self.models)?, scores(&self.baselines)?))
    }
}

/// The name of each of these, with its figures on resampled answers.
pub(super) fn resample<'a, T: Tested + 'a>(
    all: impl Iterator<Item = &'a T>,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<(String, Resampled)>, ModelError> {
    all.map(|one| Ok((one.model().to_owned(), one.resampled(seed, progress)?))).collect()
}

impl ModelDifferences {
    /// Differences of all of these, each by its name, from the one named `reference`, which is among them.
    pub(super) fn less(reference: &str, all: &[(String, Resampled)]) -> Result<Self, ModelError> {
        let others = all.iter().filter(|(model, _)| model != reference);
        match all.iter().find(|(model, _)| model == reference) {
            Some((_, first)) => {
                Self::between(reference, first, others.map(|(model, own)| (model.clone(), own)))
            }
            None => Ok(Self::new(reference, "texts and annotators", Vec::new())),
        }
    }

    fn between<'a>(
        reference: &str,
        first: &Resampled,
        others: impl Iterator<Item = (String, &'a Resampled)>,
    ) -> Result<Self, ModelError> {
        let of = |(model, own): (String, &Resampled)| {
            own.less(first, CONFIDENCE_LEVEL).map(|of| ModelDifference { model, of })
        };
        Ok(Self::new(reference, first.sampled(), others.map(of).collect::<Result<_, _>>()?))
    }

    fn new(less: &str, over: &str, models: Vec<ModelDifference>) -> Self {
        let (less, over) = (less.to_owned(), over.to_owned());
        Self { less, confidence: CONFIDENCE_LEVEL, over, models }
    }
}
