//! Prediction sets of every annotator's labels on the test texts, and their coverage.

use super::evaluate::check_at_least;
use super::split::{SplitColumns, SplitSpec};
use crate::fit::fit;
use dissensus_stats::conformal::{MIN_LABELS, Thresholds, mass_before};
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{AnnotatorModel, FitOptions, ModelError, ModelKind, Observation, TrainingData};
use dissensus_stats::metrics::{Scored, crossed_mean, dichotomize, score};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Target probability that a set contains the label.
const CONFIDENCE: f64 = 0.9;
/// Share of the training labels that is used only for thresholds.
const CALIBRATES: f64 = 0.2;
/// Minimum number of texts, groups or annotators for calibration: labels of one of them are not
/// independent.
const MIN_UNITS: usize = 30;
/// Number of parts that annotators are divided into, in order.
const TENTHS: usize = 10;
/// Number of texts on which annotators' severities are compared.
const SEVERITY_TEXTS: usize = 200;

/// Quality of prediction sets on test labels. They are calibrated to contain the label with a given
/// probability ([`PredictionSets::confidence`]) over people and texts like these (marginally), not for each
/// person or kind of text, which is what the tenths are for. Labels of one text or person are not
/// independent, and thresholds of annotators are tuned on the calibration labels, so that no finite-sample
/// guarantee is claimed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictionSets {
    /// The target coverage, over all labels.
    pub confidence: f64,
    /// Sets by `multilevel`, with a threshold for each annotator where the annotator's own labels help and
    /// annotators are not held out, else one for all.
    pub multilevel: SetQuality,
    /// Sets that do not depend on the annotator: by `shared`, with one threshold, on the same labels.
    pub shared: SetQuality,
    /// Number of texts and labels that the thresholds were computed from: part of the training labels, used
    /// for nothing else, and excluding those that trained the encoder. Over all folds.
    pub calibration_texts: usize,
    pub calibration_labels: usize,
    /// Pseudo-count, in labels, of all annotators' scores in an annotator's own threshold, for each fold;
    /// `None` where own scores do not help, so that all share one threshold.
    pub common_weight: Vec<Option<f64>>,
    /// Annotators in ten parts by their number of training labels, fewest first; empty with fewer than ten
    /// annotators, or without any training labels.
    pub by_labels: Vec<SetTenth>,
    /// Annotators in ten parts by the mean level that `multilevel` predicts for them on the same texts,
    /// lowest first; empty with fewer than ten annotators and without an order of levels.
    pub by_severity: Vec<SetTenth>,
}

dissensus_domain::errors! {
    /// Reason for missing prediction sets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NoPredictionSets {
        FewLabels { found: usize } =>
            "no prediction sets: a fifth of the training labels, without those that trained the encoder, is {found} labels; {MIN_LABELS} are needed to calibrate";
        FewUnits { units: &'static str, found: usize } =>
            "no prediction sets: a fifth of the training {units}, without those that trained the encoder, is {found}; {MIN_UNITS} are needed to calibrate, as labels of one of the {units} are not independent";
        OtherWay => "no prediction sets: too few training labels to hold some out in the way of the split";
        NoTest => "no prediction sets: no test label is left that did not train the encoder";
    }
}

/// Training labels, and calibration labels.
type Calibration = (Vec<Observation>, Vec<Observation>);

/// Coverage and size of sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetQuality {
    /// Share of test labels that are in their set.
    pub coverage: f64,
    /// Its 90 % interval over texts and annotators together; absent with fewer than 20 texts or 5
    /// annotators.
    pub coverage_interval: Option<(f64, f64)>,
    /// Mean number of levels in a set.
    pub mean_size: f64,
}

/// The same for a part of the annotators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetTenth {
    /// Number of annotators.
    pub annotators: usize,
    /// Number of their test labels.
    pub labels: usize,
    /// Minimum of the ordering value.
    pub from: f64,
    /// Maximum of the ordering value.
    pub to: f64,
    #[serde(flatten)]
    pub quality: SetQuality,
}

/// A test label and its set.
#[derive(Clone, Copy)]
struct Set {
    observation: Observation,
    holds: bool,
    size: usize,
}

/// Values by which annotators are ordered, for one fold.
struct People {
    labels: Vec<f64>,
    severity: Option<Vec<f64>>,
}

/// Fits `multilevel` and `shared` to four fifths of the training labels of `split`, computes thresholds
/// from the rest (texts, groups or annotators held out in the same way as the split) without what trained
/// the encoder, and measures how often the sets for the test labels contain them, and how large they are.
/// With `at_least` for the question "is the level this one or higher". The inner error explains why there
/// are none: fewer than 50 calibration labels, or fewer than 30 texts, groups or annotators with such
/// labels.
pub fn prediction_sets(
    data: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    at_least: Option<u16>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Result<PredictionSets, NoPredictionSets>, ModelError> {
    check_at_least(data, at_least)?;
    let ordinal = data.target.kind.has_distances() && at_least.is_none();
    let mut found = PredictionSets { confidence: CONFIDENCE, ..PredictionSets::default() };
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
        let (kept, held) = match calibration(&train, split, columns, seed)? {
            Ok(divided) => divided,
            Err(reason) => return Ok(Err(reason)),
        };
        let fitted = TrainingData { observations: &kept, ..*data };
        let of = |kind: ModelKind| -> Result<_, ModelError> {
            let model = fit(kind, &fitted, options, progress)?;
            let scored = |labels: &[Observation]| {
                let scored = score(model.as_ref(), labels);
                at_least.map_or(scored.clone(), |level| dichotomize(&scored, level))
            };
            Ok((scored(&held), scored(test), model))
        };
        let (calibration, scored, model) = of(ModelKind::Multilevel)?;
        let scores = true_scores(&calibration, ordinal);
        // For held-out annotators there are no labels to calibrate on, and others' thresholds are not
        // informative.
        let thresholds = match split.holds_out_annotators() {
            true => Thresholds::fit_common(&scores, 1.0 - CONFIDENCE),
            false => Thresholds::fit(&scores, data.annotators, 1.0 - CONFIDENCE, seed),
        };
        let few = NoPredictionSets::FewLabels { found: held.len() };
        let Some(thresholds) = thresholds else { return Ok(Err(few)) };
        own.extend(sets(&scored, ordinal, |annotator| thresholds.of(annotator)));
        let (calibration, scored, _) = of(ModelKind::Shared)?;
        let one = Thresholds::fit_common(&true_scores(&calibration, ordinal), 1.0 - CONFIDENCE);
        let Some(one) = one else { return Ok(Err(few)) };
        common.extend(sets(&scored, ordinal, |annotator| one.of(annotator)));
        let people = People::new(&division.train, test, model.as_ref(), data);
        found.calibration_texts += held.iter().map(|o| o.text).collect::<BTreeSet<_>>().len();
        found.calibration_labels += held.len();
        found.common_weight.push(thresholds.weight.is_finite().then_some(thresholds.weight));
        by_labels.push(people.labels);
        by_severity.extend(people.severity);
    }
    if own.is_empty() {
        return Ok(Err(NoPredictionSets::NoTest));
    }
    found.multilevel = SetQuality::new(&own);
    found.shared = SetQuality::new(&common);
    let labels = mean_over_folds(&by_labels);
    if own.iter().any(|set| labels[set.observation.annotator as usize] > 0.0) {
        found.by_labels = tenths(&own, &labels);
    }
    found.by_severity = tenths(&own, &mean_over_folds(&by_severity));
    Ok(Ok(found))
}

/// Divides the training labels `train` of a division into those for training and those for calibration.
fn calibration(
    train: &TrainingData<'_>,
    split: SplitSpec,
    columns: SplitColumns<'_>,
    seed: u64,
) -> Result<Result<Calibration, NoPredictionSets>, ModelError> {
    let (kept, held, as_the_test) = split.carve(train, columns, seed, CALIBRATES)?;
    if !as_the_test || kept.is_empty() {
        return Ok(Err(NoPredictionSets::OtherWay));
    }
    // Labels that trained the encoder are predicted too well: thresholds based on them would be too low for
    // the test labels.
    let held = split.unseen(&held, train, columns)?;
    if held.len() < MIN_LABELS {
        return Ok(Err(NoPredictionSets::FewLabels { found: held.len() }));
    }
    let units = split.held_units(&held, train, columns)?;
    let few = units.into_iter().find(|(_, found)| *found < MIN_UNITS);
    Ok(few.map_or(Ok((kept, held)), |(units, found)| Err(NoPredictionSets::FewUnits { units, found })))
}

impl People {
    fn new(
        train: &[Observation],
        test: &[Observation],
        model: &dyn AnnotatorModel,
        data: &TrainingData<'_>,
    ) -> Self {
        let mut labels = vec![0.0; data.annotators];
        train.iter().for_each(|o| labels[o.annotator as usize] += 1.0);
        let ordered = data.target.kind.is_ordered();
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
    fn new(sets: &[Set]) -> Self {
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

/// Divides annotators with test labels into ten parts of similar size, ordered by `by` (one number per
/// annotator).
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
            quality: SetQuality::new(&of),
        }
    };
    (0..TENTHS).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::SeenByEncoder;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::{Simulation, simulate};

    fn data(sim: &Simulation) -> TrainingData<'_> {
        TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        }
    }

    #[test]
    fn prediction_sets_cover_and_shrink_with_annotator_models() {
        let mut coverages = Vec::new();
        for seed in 0..4 {
            let sim = simulate(400, 40, 5, 6, 80, seed);
            let data = data(&sim);
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
    fn too_little_data_gives_no_prediction_sets() {
        let few = |texts, annotators, labels, split: &str, groups: &[Option<u32>]| {
            let sim = simulate(texts, annotators, 3, 3, labels, 1);
            let columns = SplitColumns { groups, ..SplitColumns::default() };
            let (options, split) = (FitOptions::default(), split.parse().unwrap());
            prediction_sets(&data(&sim), split, columns, None, &options, &Silent).unwrap().unwrap_err()
        };
        assert!(matches!(few(20, 4, 10, "by-text:0.7", &[]), NoPredictionSets::FewLabels { found: 1..50 }));
        let texts = few(60, 40, 50, "by-text:0.7", &[]);
        assert_eq!(texts, NoPredictionSets::FewUnits { units: "texts", found: 8 });
        assert!(texts.to_string().contains("is 8; 30 are needed"), "{texts}");
        let people = few(100, 40, 50, "by-annotator:0.7", &[]);
        assert_eq!(people, NoPredictionSets::FewUnits { units: "annotators", found: 6 });
        let groups: Vec<Option<u32>> = (0..300).map(|text| Some(text / 10)).collect();
        let of_groups = few(300, 20, 200, "grouped:0.7", &groups);
        assert!(matches!(of_groups, NoPredictionSets::FewUnits { units: "groups", found: 2..=6 }));
        // With two groups one is needed for training, and none can be held out.
        let two: Vec<Option<u32>> = (0..100).map(|text| Some(text / 50)).collect();
        assert_eq!(few(100, 20, 90, "grouped:0.5", &two), NoPredictionSets::OtherWay);
    }

    #[test]
    fn calibration_excludes_data_seen_by_the_encoder() {
        let sim = simulate(400, 40, 5, 6, 80, 7);
        let seen_texts: Vec<bool> = (0..400).map(|text| text % 3 == 0).collect();
        let seen_people: Vec<bool> = (0..40).map(|who| who < 10).collect();
        let of = |texts, annotators, copies, split| {
            let seen = SeenByEncoder { texts, annotators };
            let columns = SplitColumns { seen, copies, ..SplitColumns::default() };
            calibration(&data(&sim), split, columns, 3).unwrap()
        };
        let by_text = SplitSpec::ByText(0.7);
        let (all_kept, all) = of(&[], &[], &[], by_text).unwrap();
        let (kept, held) = of(&seen_texts, &seen_people, &[], by_text).unwrap();
        assert_eq!(kept, all_kept, "models learn from what they did");
        let unseen: Vec<Observation> = all.iter().filter(|o| !seen_texts[o.text as usize]).copied().collect();
        assert!(!held.is_empty() && unseen.len() < all.len());
        assert_eq!(held, unseen, "people are known in any case");
        // A copy of a text that trained it counts as trained on too.
        let copies: Vec<u32> = (0..400).map(|text| if text % 3 == 1 { text - 1 } else { text }).collect();
        let (_, held) = of(&seen_texts, &[], &copies, SplitSpec::Random(0.7)).unwrap();
        assert!(!held.is_empty() && held.iter().all(|o| o.text % 3 == 2));
        assert_eq!(
            of(&[true; 400], &[], &[], by_text),
            Err(NoPredictionSets::FewLabels { found: 0 }),
            "nothing is left"
        );
        let by_annotator = of(&[], &[true; 40], &[], SplitSpec::ByAnnotator(0.7));
        assert_eq!(by_annotator, Err(NoPredictionSets::FewLabels { found: 0 }));
    }

    #[test]
    fn new_annotators_share_one_threshold() {
        let sim = simulate(200, 220, 3, 4, 20, 5);
        let (split, columns) = (SplitSpec::ByAnnotator(0.7), SplitColumns::default());
        let found = prediction_sets(&data(&sim), split, columns, None, &FitOptions::default(), &Silent);
        let found = found.unwrap().unwrap();
        assert_eq!(found.common_weight, [None]);
        assert!((0.8..0.98).contains(&found.multilevel.coverage), "{found:?}");
        // None of them has a label to order by.
        assert!(found.by_labels.is_empty() && found.by_severity.len() == TENTHS);
    }
}
