//! Prediction sets of every annotator's labels on the test texts, and how often they hold.

use super::evaluate::check_at_least;
use super::split::{SplitColumns, SplitSpec};
use crate::conformal::{FEWEST_LABELS, Thresholds, mass_before};
use crate::data::progress::Progress;
use crate::data::{AnnotatorModel, FitOptions, ModelKind, Observation, PerspectivesError, TrainingData};
use crate::fit::fit;
use crate::metrics::{Scored, crossed_mean, dichotomize, score};
use dissensus_domain::ScaleKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The chance that a set holds the label.
const CONFIDENCE: f64 = 0.9;
/// Share of the training labels that nothing but the thresholds is made of.
const CALIBRATES: f64 = 0.2;
/// Parts that annotators are put into, in order.
const TENTHS: usize = 10;
/// Texts by which annotators' severities are compared.
const SEVERITY_TEXTS: usize = 200;

/// How prediction sets fare on test labels. The guarantee is marginal: over people and texts like these, sets hold the label with the chance that is named
/// ([`PredictionSets::confidence`]); of one person or one kind of text it is not promised, which is what the tenths are for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionSets {
    /// The chance that is promised, over all.
    pub confidence: f64,
    /// `marginal`.
    pub guarantee: String,
    /// Sets by `multilevel`, with a threshold for each annotator.
    pub multilevel: SetQuality,
    /// Sets that know no person: by `shared`, with one threshold, on the same labels.
    pub shared: SetQuality,
    /// Texts and labels that the thresholds were made of: of the training texts, and used for nothing else. Over all folds.
    pub calibration_texts: usize,
    /// Their labels.
    pub calibration_labels: usize,
    /// Labels that everybody's scores count for beside an annotator's own, of each fold; `None` where own scores tell nothing, so that all share one
    /// threshold.
    pub common_weight: Vec<Option<f64>>,
    /// Annotators in ten parts by their number of training labels, fewest first; empty with fewer than ten.
    pub by_labels: Vec<SetTenth>,
    /// Annotators in ten parts by the mean level that `multilevel` predicts of them on the same texts, lowest first; empty with fewer than ten and without an order of
    /// levels.
    pub by_severity: Vec<SetTenth>,
}

/// Coverage and size of sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetQuality {
    /// Share of test labels that are in their set.
    pub coverage: f64,
    /// Its 90 % interval over texts and annotators together; absent with fewer than 20 texts or 5 annotators.
    pub coverage_interval: Option<(f64, f64)>,
    /// Levels in a set, on average.
    pub mean_size: f64,
}

/// The same of a part of the annotators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetTenth {
    /// Annotators in it.
    pub annotators: usize,
    /// Their test labels.
    pub labels: usize,
    /// The least of what they are ordered by.
    pub from: f64,
    /// The greatest.
    pub to: f64,
    /// Coverage and size.
    #[serde(flatten)]
    pub quality: SetQuality,
}

/// A test label and the set that was made for it.
#[derive(Clone, Copy)]
struct Set {
    observation: Observation,
    holds: bool,
    size: usize,
}

/// What annotators are ordered by, of one fold.
struct People {
    labels: Vec<f64>,
    severity: Option<Vec<f64>>,
}

/// Fits `multilevel` and `shared` to four fifths of the training labels of `split`, makes thresholds of the rest (texts, groups or annotators that are held out
/// in the way of the split), and counts how often the sets for the test labels hold them, and how large they are. With `at_least` of the question "is the
/// level this one or higher". `None` with fewer than 50 calibration labels.
///
/// # Errors
/// As [`fit`] and [`SplitSpec::divide`].
pub fn prediction_sets(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    at_least: Option<u16>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Option<PredictionSets>, PerspectivesError> {
    check_at_least(data, at_least)?;
    let ordinal = data.target.kind == ScaleKind::Ordinal && at_least.is_none();
    let mut found = PredictionSets {
        confidence: CONFIDENCE,
        guarantee: "marginal".to_owned(),
        ..PredictionSets::default()
    };
    let (mut own, mut common) = (Vec::new(), Vec::new());
    let (mut by_labels, mut by_severity) = (Vec::new(), Vec::new());
    for split in split.each() {
        let division = split.divide(data, columns, options.seed, 0.0)?;
        let test = division.test.observations();
        if test.is_empty() {
            continue;
        }
        let train = TrainingData { observations: &division.train, ..*data };
        let seed = options.seed ^ 0xca_11b;
        let (kept, held) = split.carve(&train, columns, seed, CALIBRATES)?;
        if held.len() < FEWEST_LABELS || kept.is_empty() {
            return Ok(None);
        }
        let fitted = TrainingData { observations: &kept, ..*data };
        let of = |kind: ModelKind| -> Result<_, PerspectivesError> {
            let model = fit(kind, &fitted, options, progress)?;
            let scored = |labels: &[Observation]| {
                let scored = score(model.as_ref(), labels);
                at_least.map_or(scored.clone(), |level| dichotomize(&scored, level))
            };
            Ok((scored(&held), scored(test), model))
        };
        let (calibration, scored, model) = of(ModelKind::Multilevel)?;
        let scores = true_scores(&calibration, ordinal);
        let Some(thresholds) = Thresholds::fit(&scores, data.annotators, 1.0 - CONFIDENCE, seed) else {
            return Ok(None);
        };
        own.extend(sets(&scored, ordinal, |annotator| thresholds.of(annotator)));
        let (calibration, scored, _) = of(ModelKind::Shared)?;
        let scores: Vec<(u32, f64)> =
            true_scores(&calibration, ordinal).into_iter().map(|(_, score)| (0, score)).collect();
        let Some(one) = Thresholds::fit(&scores, 1, 1.0 - CONFIDENCE, seed) else { return Ok(None) };
        common.extend(sets(&scored, ordinal, |_| one.of(u32::MAX)));
        let people = People::of(&division.train, test, model.as_ref(), data);
        found.calibration_texts += held.iter().map(|o| o.text).collect::<BTreeSet<_>>().len();
        found.calibration_labels += held.len();
        found.common_weight.push(thresholds.weight.is_finite().then_some(thresholds.weight));
        by_labels.push(people.labels);
        by_severity.extend(people.severity);
    }
    if own.is_empty() {
        return Ok(None);
    }
    found.multilevel = SetQuality::of(&own);
    found.shared = SetQuality::of(&common);
    found.by_labels = tenths(&own, &mean_over_folds(&by_labels));
    found.by_severity = tenths(&own, &mean_over_folds(&by_severity));
    Ok(Some(found))
}

impl People {
    fn of(
        train: &[Observation],
        test: &[Observation],
        model: &dyn AnnotatorModel,
        data: &TrainingData<'_>,
    ) -> Self {
        let mut labels = vec![0.0; data.annotators];
        train.iter().for_each(|o| labels[o.annotator as usize] += 1.0);
        let ordered = matches!(data.target.kind, ScaleKind::Ordinal | ScaleKind::Binary);
        let severity = ordered.then(|| {
            let texts: Vec<u32> = test.iter().map(|o| o.text).collect::<BTreeSet<_>>().into_iter().collect();
            let step = texts.len().div_ceil(SEVERITY_TEXTS).max(1);
            let texts: Vec<u32> = texts.into_iter().step_by(step).collect();
            let mut p = vec![0.0; data.target.levels];
            let mean = |annotator: u32, p: &mut [f32]| {
                let level =
                    |p: &[f32]| p.iter().enumerate().map(|(k, p)| k as f64 * f64::from(*p)).sum::<f64>();
                let sum: f64 = texts
                    .iter()
                    .map(|text| {
                        model.predict(*text, annotator, p);
                        level(p)
                    })
                    .sum();
                sum / texts.len().max(1) as f64
            };
            (0..data.annotators as u32).map(|annotator| mean(annotator, &mut p)).collect()
        });
        Self { labels, severity }
    }
}

/// The score of each label, with its annotator.
fn true_scores(scored: &Scored, ordinal: bool) -> Vec<(u32, f64)> {
    let mut before = vec![0.0; scored.levels];
    let of = |(i, o): (usize, &Observation)| {
        mass_before(scored.row(i), ordinal, &mut before);
        (o.annotator, before[usize::from(o.level)])
    };
    scored.observations.iter().enumerate().map(of).collect()
}

fn sets(scored: &Scored, ordinal: bool, threshold: impl Fn(u32) -> f64) -> Vec<Set> {
    let mut before = vec![0.0; scored.levels];
    let of = |(i, o): (usize, &Observation)| {
        mass_before(scored.row(i), ordinal, &mut before);
        let most = threshold(o.annotator);
        let size = before.iter().filter(|mass| **mass <= most).count();
        Set { observation: *o, holds: before[usize::from(o.level)] <= most, size }
    };
    scored.observations.iter().enumerate().map(of).collect()
}

impl SetQuality {
    fn of(sets: &[Set]) -> Self {
        let observations: Vec<Observation> = sets.iter().map(|set| set.observation).collect();
        let holds: Vec<f64> = sets.iter().map(|set| f64::from(u8::from(set.holds))).collect();
        let (coverage, interval) = crossed_mean(&observations, &holds, 0.9);
        let mean_size = sets.iter().map(|set| set.size as f64).sum::<f64>() / sets.len().max(1) as f64;
        let coverage_interval = interval.map(|(low, high)| (low.max(0.0), high.min(1.0)));
        Self { coverage, coverage_interval, mean_size }
    }
}

fn mean_over_folds(folds: &[Vec<f64>]) -> Vec<f64> {
    let Some(first) = folds.first() else { return Vec::new() };
    (0..first.len()).map(|at| folds.iter().map(|fold| fold[at]).sum::<f64>() / folds.len() as f64).collect()
}

/// Annotators with test labels in ten parts of like size, ordered by `by` (one number an annotator).
fn tenths(sets: &[Set], by: &[f64]) -> Vec<SetTenth> {
    let mut people: Vec<u32> = sets.iter().map(|set| set.observation.annotator).collect();
    people.sort_unstable();
    people.dedup();
    if people.len() < TENTHS || by.is_empty() {
        return Vec::new();
    }
    let value = |annotator: &u32| by[*annotator as usize];
    people.sort_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
    let part = |nth: usize| {
        let members = &people[nth * people.len() / TENTHS..(nth + 1) * people.len() / TENTHS];
        let chosen: BTreeSet<u32> = members.iter().copied().collect();
        let of: Vec<Set> =
            sets.iter().filter(|set| chosen.contains(&set.observation.annotator)).copied().collect();
        SetTenth {
            annotators: members.len(),
            labels: of.len(),
            from: members.first().map_or(0.0, value),
            to: members.last().map_or(0.0, value),
            quality: SetQuality::of(&of),
        }
    };
    (0..TENTHS).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::Silent;
    use crate::data::synthetic::simulate;

    #[test]
    fn sets_hold_as_often_as_they_promise_and_are_smaller_for_knowing_people() {
        let mut coverages = Vec::new();
        for seed in 0..4 {
            let sim = simulate(400, 40, 5, 6, 80, seed);
            let data = TrainingData {
                embeddings: &sim.embeddings,
                observations: &sim.observations,
                annotators: sim.annotators,
                target: sim.target,
                attributes: &[],
            };
            let of = |at_least| {
                let options = FitOptions::default();
                let columns = SplitColumns::default();
                prediction_sets(&data, SplitSpec::ByText(0.7), columns, at_least, &options, &Silent)
            };
            let found = of(None).unwrap().unwrap();
            coverages.push(found.multilevel.coverage);
            assert!(found.multilevel.mean_size < found.shared.mean_size - 0.2, "{found:?}");
            let (low, high) = found.multilevel.coverage_interval.unwrap();
            assert!(low < found.multilevel.coverage && found.multilevel.coverage < high);
            for tenths in [&found.by_labels, &found.by_severity] {
                assert_eq!(tenths.iter().map(|t| t.annotators).sum::<usize>(), 40);
                assert!(tenths.windows(2).all(|pair| pair[0].to <= pair[1].from));
                assert!(tenths.iter().all(|t| t.quality.coverage > 0.8), "{tenths:?}");
            }
            let binary = of(Some(2)).unwrap().unwrap();
            assert!(binary.multilevel.mean_size <= 2.0 && binary.multilevel.mean_size >= 1.0);
        }
        let mean = coverages.iter().sum::<f64>() / coverages.len() as f64;
        assert!((0.88..0.92).contains(&mean), "{coverages:?}");
    }

    #[test]
    fn too_few_labels_make_no_sets() {
        let sim = simulate(20, 4, 3, 3, 10, 1);
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let options = FitOptions::default();
        let found =
            prediction_sets(&data, SplitSpec::ByText(0.7), SplitColumns::default(), None, &options, &Silent);
        assert_eq!(found.unwrap(), None);
    }
}
