//! Bootstrap intervals of the numbers in [`Scores`], over texts and over annotators.
//!
//! Labels of one text are correlated, and so are those of one annotator, so whole texts or whole annotators
//! are resampled, never single labels. The resampled unit determines the meaning of the interval: other texts
//! with labels by the same annotators, or other annotators with as many labels each on the same texts.
//! Numbers about labels have both intervals; numbers about annotators (their mean accuracy and macro-F1, the
//! worst tenth) only the one over annotators; numbers about texts (soft labels, errors that are means over
//! texts, AUROC and Spearman's correlation of disagreement) only the one over texts.

mod annotators;
mod labels;
mod ranks;
mod sums;
mod texts;

use super::interval::{BootstrapOptions, Figure, Interval, resample};
use super::scored::Scored;
use super::scores::Scores;
use crate::data::ModelError;
use crate::data::progress::Progress;
use annotators::OverAnnotators;
use labels::Labels;
pub(super) use ranks::weighted_ranks;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use texts::OverTexts;

/// Minimum number of texts to estimate the uncertainty of a number.
const MIN_TEXTS: usize = 20;
/// Minimum number of annotators in total, and in the worst tenth.
const MIN_ANNOTATORS: usize = 5;
/// Minimum number of texts with the rarest level for macro-F1, or of the rarer kind for AUROC, which depend
/// on them.
pub const MIN_RARE: usize = 10;

/// The resampled unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cluster {
    /// Texts, each with all its labels.
    Texts,
    /// Annotators, each with all their labels.
    Annotators,
}

impl Cluster {
    pub const ALL: [Self; 2] = [Self::Texts, Self::Annotators];

    /// The unit that a number of [`Scores`], given by its key, is primarily about.
    pub fn new(key: &str) -> Self {
        match key {
            "annotator_accuracy" | "annotator_macro_f1" | "worst_tenth_accuracy" => Self::Annotators,
            _ => Self::Texts,
        }
    }

    /// Fewest clusters for an interval.
    pub fn least(self) -> usize {
        match self {
            Self::Texts => MIN_TEXTS,
            Self::Annotators => MIN_ANNOTATORS,
        }
    }
}

/// Intervals of one model's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    pub over: Cluster,
    pub clusters: usize,
    pub options: BootstrapOptions,
    /// One interval for each number of [`Scores`] that has one, by its key. A number has none where it is
    /// about the other kind of cluster, is not defined, does not vary, or has too little data: fewer than 20
    /// texts or 5 annotators in total, 10 texts or 5 annotators with the rarest level (macro-F1), 10 texts on
    /// which annotators agree or on which they differ (AUROC), or 5 annotators in the worst tenth.
    pub of: BTreeMap<String, Interval>,
}

/// Bootstrap intervals of the numbers in [`Scores`] (not of its counts, which are not estimates). Each
/// contains its number.
///
/// Numbers that are sums over clusters (accuracy, log loss, Brier, calibration error, Pearson's r, absolute
/// error, ranked probability score; macro-F1 and kappa through the confusion matrix) are added up from sums
/// made once per cluster; AUROC and Spearman's correlation reuse values that were sorted once. So a resample
/// costs a few times the number of labels.
///
/// # Errors
/// The same as [`Scored::check`]; [`ModelError::Confidence`], [`ModelError::NoResamples`];
/// [`ModelError::Cancelled`].
pub fn bootstrap(
    scored: &Scored,
    ordinal: bool,
    over: Cluster,
    options: &BootstrapOptions,
    progress: &dyn Progress,
) -> Result<Intervals, ModelError> {
    options.check()?;
    scored.check()?;
    let labels = Labels::new(scored, ordinal);
    let groups = match over {
        Cluster::Texts => &labels.of_text,
        Cluster::Annotators => &labels.of_annotator,
    };
    let clusters = groups.len();
    let mut intervals = Intervals { over, clusters, options: *options, of: BTreeMap::new() };
    if clusters < over.least() {
        return Ok(intervals);
    }
    let (name, sizes) = ("confidence intervals", vec![1; clusters]);
    let resamples = match over {
        Cluster::Texts => {
            let pieces = OverTexts::new(&labels);
            resample(&sizes, options, name, progress, |weights| pieces.scores(weights).values())?
        }
        Cluster::Annotators => {
            let pieces = OverAnnotators::new(&labels);
            resample(&sizes, options, name, progress, |weights| pieces.scores(weights).values())?
        }
    };
    let scores = Scores::new(scored, ordinal);
    let behind = support(scored, ordinal, &scores, over);
    for (at, (key, value)) in scores.values().into_iter().enumerate() {
        let (Some(estimate), Some(&clusters)) = (value, behind.get(key)) else { continue };
        let figure = Figure { estimate, clusters, range: range(key, scored.levels) };
        if let Some(interval) = Interval::new(figure, resamples.iter().map(|r| r[at].1), options) {
            intervals.of.insert(key.to_owned(), interval);
        }
    }
    Ok(intervals)
}

/// Number of clusters that each number of `scores` is based on, by key; without those that have too few or
/// are not defined.
pub(super) fn support(
    scored: &Scored,
    ordinal: bool,
    scores: &Scores,
    over: Cluster,
) -> BTreeMap<&'static str, usize> {
    let labels = Labels::new(scored, ordinal);
    let groups = match over {
        Cluster::Texts => &labels.of_text,
        Cluster::Annotators => &labels.of_annotator,
    };
    if groups.len() < over.least() {
        return BTreeMap::new();
    }
    let rarest = labels.groups_of_rarest_level(groups);
    let of = |(key, value): (&'static str, Option<f64>)| {
        value.and(behind(key, over, groups.len(), rarest, scores)).map(|clusters| (key, clusters))
    };
    scores.values().into_iter().filter_map(of).collect()
}

/// Number of clusters that a number is based on; `None` where there are too few.
fn behind(
    key: &str,
    over: Cluster,
    clusters: usize,
    (tuned, median): (usize, usize),
    scores: &Scores,
) -> Option<usize> {
    let (found, least) = match (key, over) {
        ("macro_f1", Cluster::Texts) => (tuned, MIN_RARE),
        ("macro_f1", Cluster::Annotators) => (tuned, MIN_ANNOTATORS),
        ("macro_f1_median", Cluster::Texts) => (median, MIN_RARE),
        ("macro_f1_median", Cluster::Annotators) => (median, MIN_ANNOTATORS),
        ("disagreement_auroc", _) => {
            (scores.n_texts_disputed.min(scores.n_texts_with_two_labels - scores.n_texts_disputed), MIN_RARE)
        }
        ("disagreement_spearman", _) => (scores.n_texts_with_two_labels, MIN_TEXTS),
        ("worst_tenth_accuracy", _) => (clusters.div_ceil(10), MIN_ANNOTATORS),
        _ => (clusters, over.least()),
    };
    (found >= least).then_some(found)
}

/// The smallest and the largest possible value of a number.
fn range(key: &str, levels: usize) -> (f64, f64) {
    match key {
        "log_loss" | "soft_cross_entropy" => (0.0, f64::INFINITY),
        "brier" => (0.0, 2.0),
        "manhattan" | "manhattan_probabilities" => (0.0, 2.0),
        "mae" | "ranked_probability_score" | "wasserstein" | "wasserstein_probabilities" => {
            (0.0, levels.saturating_sub(1) as f64)
        }
        "pearson" | "pearson_median" | "disagreement_spearman" => (-1.0, 1.0),
        "quadratic_kappa" => (f64::NEG_INFINITY, 1.0),
        _ => (0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Observation;
    use crate::data::progress::Silent;
    use crate::math::random::generator;
    use rand::RngExt;
    use serde_json::Value;

    fn world(texts: u32, annotators: u32, levels: usize, share: f64) -> Scored {
        let mut rng = generator(5, 0);
        let mut scored = Scored { levels, ..Default::default() };
        for text in 0..texts {
            for annotator in (0..annotators).filter(|_| share > 0.0) {
                if rng.random::<f64>() > share {
                    continue;
                }
                let raw: Vec<f32> = (0..levels).map(|_| rng.random::<f32>().powi(3) + 0.01).collect();
                let sum: f32 = raw.iter().sum();
                let level = rng.random_range(0..levels as u16);
                scored.observations.push(Observation { text: text * 3, annotator: annotator * 2 + 1, level });
                scored.probabilities.extend(raw.iter().map(|p| p / sum));
            }
        }
        scored
    }

    /// Number of values in a resample, after checking that all of them equal those of the data.
    fn close(ours: &Scores, theirs: &Scores) -> usize {
        let mut compared = 0;
        for ((key, a), (_, b)) in ours.values().into_iter().zip(theirs.values()) {
            if let Some(a) = a {
                assert!((a - b.unwrap()).abs() < 1e-9, "{key}: {a} against {b:?}");
                compared += 1;
            }
        }
        assert!(compared >= 8);
        compared
    }

    #[test]
    fn equal_weights_reproduce_the_scores() {
        for (scored, ordinal) in
            [(world(40, 9, 4, 0.5), true), (world(30, 5, 2, 0.8), false), (world(30, 5, 3, 0.3), false)]
        {
            let labels = Labels::new(&scored, ordinal);
            let whole = Scores::new(&scored, ordinal);
            let texts = OverTexts::new(&labels).scores(&vec![1.0; labels.of_text.len()]);
            let annotators = OverAnnotators::new(&labels).scores(&vec![1.0; labels.of_annotator.len()]);
            // Three numbers about texts against three about annotators, and the measures of panels.
            let panels = if ordinal { 8 } else { 5 };
            assert_eq!(close(&texts, &whole), close(&annotators, &whole) + panels);
        }
    }

    /// Resamples that were drawn, written row by row and scored with scikit-learn and scipy by
    /// tools/fixtures/metrics.py.
    #[test]
    fn resample_scores_match_its_rows() {
        let reference: Value =
            serde_json::from_str(include_str!("../../../tests/fixtures/metrics.json")).unwrap();
        let scored = crate::metrics::scored::tests::scored(&reference["ordinal"]);
        let labels = Labels::new(&scored, true);
        let (texts, annotators) = (OverTexts::new(&labels), OverAnnotators::new(&labels));
        let mut compared = 0;
        for resample in reference["resamples"].as_array().unwrap() {
            let drawn: Vec<f64> = serde_json::from_value(resample["drawn"].clone()).unwrap();
            let ours = match resample["over"].as_str().unwrap() {
                "texts" => texts.scores(&drawn),
                _ => annotators.scores(&drawn),
            };
            for (key, value) in ours.values() {
                let Some(value) = value else { continue };
                let theirs = resample["scores"][key].as_f64().unwrap();
                assert!((value - theirs).abs() < 1e-6, "{key}: {value} against {theirs}");
                compared += 1;
            }
        }
        // Over texts all but the three numbers about annotators, over annotators all but the eleven about
        // texts.
        assert_eq!(compared, 3 * 22 + 3 * 14);
    }

    #[test]
    fn intervals_shrink_with_data() {
        let options = BootstrapOptions { resamples: 400, ..Default::default() };
        let width = |texts| {
            let scored = world(texts, 60, 4, 0.25);
            let of = |over| bootstrap(&scored, true, over, &options, &Silent).unwrap().of;
            let (texts, annotators) = (of(Cluster::Texts), of(Cluster::Annotators));
            let only = |a: &BTreeMap<String, Interval>, b: &BTreeMap<String, Interval>| -> Vec<String> {
                a.keys().filter(|key| !b.contains_key(*key)).cloned().collect()
            };
            assert_eq!(
                only(&annotators, &texts),
                ["annotator_accuracy", "annotator_macro_f1", "worst_tenth_accuracy"]
            );
            assert!(only(&annotators, &texts).iter().all(|key| Cluster::new(key) == Cluster::Annotators));
            assert!(only(&texts, &annotators).iter().all(|key| Cluster::new(key) == Cluster::Texts));
            assert!(
                texts.contains_key("soft_cross_entropy") && !annotators.contains_key("soft_cross_entropy")
            );
            texts["log_loss"].high - texts["log_loss"].low
        };
        let (few, many) = (width(80), width(1280));
        let ratio = few / many;
        assert!((2.5..6.5).contains(&ratio), "a sixteenth of the texts, four times the width: {ratio}");
    }

    #[test]
    fn too_little_data_gives_no_intervals() {
        let options = BootstrapOptions { resamples: 20, ..Default::default() };
        for (scored, over) in [
            (world(0, 4, 3, 0.5), Cluster::Texts),
            (world(0, 4, 3, 0.5), Cluster::Annotators),
            (world(MIN_TEXTS as u32 - 1, 4, 3, 1.0), Cluster::Texts),
            (world(40, MIN_ANNOTATORS as u32 - 1, 3, 1.0), Cluster::Annotators),
        ] {
            let intervals = bootstrap(&scored, true, over, &options, &Silent).unwrap();
            assert!(intervals.of.is_empty());
        }
        // With one label per text disagreement is undefined, everything else is not.
        let single = world(30, 1, 3, 1.0);
        let intervals = bootstrap(&single, false, Cluster::Texts, &options, &Silent).unwrap();
        assert!(intervals.of.contains_key("log_loss"));
        assert!(!intervals.of.contains_key("disagreement_auroc"));
        assert!(!intervals.of.contains_key("mae"));
        // Ten annotators: the worst tenth is one of them.
        let ten = world(40, 10, 3, 0.8);
        let intervals = bootstrap(&ten, false, Cluster::Annotators, &options, &Silent).unwrap();
        assert!(intervals.of.contains_key("annotator_accuracy"));
        assert!(!intervals.of.contains_key("worst_tenth_accuracy"));
    }
}
