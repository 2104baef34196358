//! Comparison of models' predictions of the same test labels.

use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::Predicted;
use dissensus_stats::data::{ModelKind, Observation};
use dissensus_stats::metrics::{CONFIDENCE_LEVEL, Scored};
use dissensus_stats::metrics::{CalibrationBin, PairedDifference, Resampled, calibration_curve};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Number of bins of a calibration curve.
const BINS: usize = 10;

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

/// How often a model was right, by its confidence.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelCalibration {
    pub model: String,
    /// Bins of equal width, of the probability of the most likely level.
    pub bins: Vec<CalibrationBin>,
}

/// Predictions of the test labels by models and baselines, and their scores.
pub(super) struct Compared {
    pub(super) models: Vec<Predicted>,
    pub(super) baselines: Vec<Predicted>,
    pub(super) ordinal: bool,
}

impl Compared {
    /// The scores of the models, and of the baselines.
    pub(super) fn scores(
        &self,
    ) -> (Vec<dissensus_selection::evaluation::Evaluation>, Vec<dissensus_selection::evaluation::Evaluation>)
    {
        let of = |all: &[Predicted]| all.iter().map(|one| one.evaluation(self.ordinal)).collect();
        (of(&self.models), of(&self.baselines))
    }

    /// How often each model was right, by its confidence.
    pub(super) fn calibration(&self) -> Vec<ModelCalibration> {
        let of = |one: &Predicted| ModelCalibration {
            model: one.model.clone(),
            bins: calibration_curve(&one.scored, BINS),
        };
        self.models.iter().filter(|one| !one.answers_alone).map(of).collect()
    }

    /// The same predictions without the labels of these texts; `None` for no texts.
    pub(super) fn without(&self, copies: &BTreeSet<u32>) -> Option<WithoutCopies> {
        if copies.is_empty() {
            return None;
        }
        let keep = |o: &Observation| !copies.contains(&o.text);
        let of = |all: &[Predicted]| -> Vec<dissensus_selection::evaluation::Evaluation> {
            all.iter().map(|one| one.evaluation_of(self.ordinal, keep)).collect()
        };
        let (models, baselines) = (of(&self.models), of(&self.baselines));
        let first = baselines.first().map(|one| &one.scores);
        let (texts, labels) = first.map_or((0, 0), |scores| (scores.n_texts, scores.n_labels));
        Some(WithoutCopies { texts, labels, models, baselines })
    }

    /// Differences between every model or baseline and `multilevel` in every metric. Runs with a tuned
    /// encoder are trained one after the other: one that was scored on other labels, because labels were
    /// recorded meanwhile, is left out.
    pub(super) fn differences(
        &self,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Option<ModelDifferences>, ProjectError> {
        let all = || self.models.iter().chain(&self.baselines);
        let reference = ModelKind::Multilevel.name();
        if all().all(|one| one.model != reference) {
            return Ok(None);
        }
        let mut resampled = Vec::new();
        for one in all() {
            let ordinal = self.ordinal;
            let scores = |scored: &Scored| one.scores_of(scored, ordinal);
            resampled.push((one, Resampled::new(&one.scored, ordinal, seed, scores, progress)?));
        }
        let Some((of_first, first)) = resampled.iter().find(|(one, _)| one.model == reference) else {
            return Ok(None);
        };
        let labels = &of_first.scored.observations;
        let others =
            resampled.iter().filter(|(one, _)| one.model != reference && one.scored.observations == *labels);
        let all: Vec<(String, &Resampled)> = others.map(|(one, own)| (one.model.clone(), own)).collect();
        Ok(Some(ModelDifferences::between(reference, first, all.into_iter())?))
    }
}

impl ModelDifferences {
    /// Differences of all of these, each by its name, from the one named `reference`, which is among them.
    pub(super) fn less(
        reference: &str,
        all: &[(String, Resampled)],
    ) -> Result<Self, dissensus_stats::data::ModelError> {
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
    ) -> Result<Self, dissensus_stats::data::ModelError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_project::jobs::Silent;

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
    fn a_model_that_was_scored_on_other_labels_is_left_out() {
        let compared = |models| Compared { models, baselines: vec![predicted("prior", 50)], ordinal: false };
        let all = [("shared", 50), ("majority", 45), ("multilevel", 50)].map(|(name, n)| predicted(name, n));
        let found = compared(all.to_vec()).differences(0, &Silent).unwrap().unwrap();
        let names: Vec<&str> = found.models.iter().map(|one| one.model.as_str()).collect();
        assert_eq!(names, ["shared", "prior"]);
        assert!((found.models[0].of["log_loss"].difference - (0.7f64 / 0.6).ln()).abs() < 1e-6);
        assert!(compared(vec![predicted("shared", 50)]).differences(0, &Silent).unwrap().is_none());
    }
}
