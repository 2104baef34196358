//! Held-out accuracy of the model for each annotator.

use super::seen::SeenByEncoder;
use crate::fit::fit;
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::ModelKind;
use dissensus_stats::data::copies::Copies;
use dissensus_stats::data::progress::{Progress, Quiet, step};
use dissensus_stats::data::{MedianLevel, MostFrequentLevel};
use dissensus_stats::data::{Observation, TrainingData};
use dissensus_stats::metrics::most_likely;
use serde::{Deserialize, Serialize};

/// Above this many labels only one fold is held out: enough labels to score all annotators, a fifth of the
/// work.
const MANY_LABELS: usize = 60_000;

/// One annotator's held-out result. Counts instead of shares, so that they can be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Number of labels on held-out texts.
    pub labels: usize,
    /// Number of these labels that were the most likely level of `multilevel`.
    pub hits: usize,
    /// Number of these labels that equal the annotator's most frequent level on the other texts (the lowest
    /// of ties; without any other label, the most frequent of all annotators).
    pub baseline_hits: usize,
    /// Number of these labels that equal the most frequent level of all annotators on the other texts.
    pub common_hits: usize,
    /// Sum over these labels of the distance in levels to the median of `multilevel` (the most likely
    /// level, without an order).
    pub distance: usize,
    /// The same distance to the annotator's own median on the other texts (without any other label, that of
    /// all annotators).
    pub baseline_distance: usize,
    /// The same distance to the median of all annotators there.
    pub common_distance: usize,
}

impl HeldOut {
    /// Share predicted correctly, or `None` without labels.
    pub fn accuracy(&self) -> Option<f64> {
        (self.labels > 0).then(|| self.hits as f64 / self.labels as f64)
    }

    /// A sum of distances as a mean over the labels, in levels.
    pub fn mean_distance(&self, sum: usize) -> Option<f64> {
        (self.labels > 0).then(|| sum as f64 / self.labels as f64)
    }

    /// Accuracy of predicting the most frequent level of all annotators.
    pub fn common_baseline(&self) -> Option<f64> {
        (self.labels > 0).then(|| self.common_hits as f64 / self.labels as f64)
    }

    /// Accuracy of predicting the annotator's most frequent level.
    pub fn baseline(&self) -> Option<f64> {
        (self.labels > 0).then(|| self.baseline_hits as f64 / self.labels as f64)
    }
}

/// Holds out one fold of the texts after the other (`options.folds`), fits `multilevel` to the rest and
/// predicts every label of the fold except those in `seen`. One entry per annotator. With more than 60,000
/// labels only the first fold is held out.
pub fn held_out(
    data: &TrainingData<'_>,
    seen: SeenByEncoder<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Vec<HeldOut>, ModelError> {
    let sorted = data.sorted()?;
    let folds = options.folds.clamp(2, 20);
    let fold = dissensus_stats::data::folds::of_texts(data.embeddings, folds, options.seed ^ 0x5eed);
    let excluded = Copies::by_embedding(data.embeddings).spread(seen.texts);
    let run = if sorted.len() > MANY_LABELS { 1 } else { folds };
    // One round, without slopes and discriminations: this changes the third digit and halves the time.
    let quick = FitOptions { rounds: 1, slopes: false, ..options.clone() };
    let mut results = vec![HeldOut::default(); data.annotators];
    for f in 0..run {
        step(progress, "held-out texts", f as f32 / run as f32)?;
        let (test, train): (Vec<Observation>, Vec<Observation>) =
            sorted.iter().partition(|o| usize::from(fold[o.text as usize]) == f);
        // Labels that trained the encoder would be predicted too well.
        let test: Vec<Observation> = test.into_iter().filter(|o| !excluded[o.text as usize]).collect();
        if test.is_empty() {
            continue;
        }
        one_fold(data, &train, &test, &quick, &Quiet(progress), &mut results)?;
    }
    Ok(results)
}

fn one_fold(
    data: &TrainingData<'_>,
    train: &[Observation],
    test: &[Observation],
    options: &FitOptions,
    progress: &dyn Progress,
    results: &mut [HeldOut],
) -> Result<(), ModelError> {
    let levels = data.target.levels;
    let model =
        fit(ModelKind::Multilevel, &TrainingData { observations: train, ..*data }, options, progress)?;
    let baseline = MostFrequentLevel::fit(train, levels);
    let medians = MedianLevel::fit(train, levels);
    let mut p = vec![0.0; levels];
    for o in test {
        model.predict(o.text, o.annotator, &mut p);
        let result = &mut results[o.annotator as usize];
        result.labels += 1;
        result.hits += usize::from(most_likely(&p) == o.level);
        result.baseline_hits += usize::from(baseline.predict(o.annotator) == o.level);
        result.common_hits += usize::from(baseline.predict(u32::MAX) == o.level);
        let away = |level: u16| usize::from(level.abs_diff(o.level));
        result.distance += away(data.target.answer(&p));
        result.baseline_distance += away(medians.predict(o.annotator));
        result.common_distance += away(medians.predict(u32::MAX));
    }
    Ok(())
}
