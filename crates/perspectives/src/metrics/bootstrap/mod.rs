//! Bootstrap intervals of every number in [`Scores`], over texts and over annotators.
//!
//! Labels of one text hang together, and so do those of one person, so whole texts or whole people are drawn, never
//! single labels. Which cluster to draw says what the interval is about: other texts by the same people, or other people
//! on the same texts.

mod annotators;
mod labels;
mod ranks;
mod sums;
mod texts;

use super::interval::{BootstrapOptions, Interval, resample};
use super::{Scored, Scores};
use crate::data::PerspectivesError;
use crate::data::progress::Progress;
use annotators::OverAnnotators;
use labels::Labels;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use texts::OverTexts;

/// What a resample draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cluster {
    /// Texts, each with all its labels. A text drawn twice is two texts; a person keeps what is left of their labels.
    Texts,
    /// Annotators, each with all their labels. A person drawn twice is two people to the numbers about annotators and
    /// two labels to those about labels and shares; but no pair for those about disagreement: nobody differs from
    /// oneself, and pairs of copies would make every resample more agreeing than the data.
    Annotators,
}

impl Cluster {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Texts, Self::Annotators];
}

/// Intervals of one model's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    /// What was drawn.
    pub over: Cluster,
    /// How many clusters there are, and so how many a resample draws.
    pub clusters: usize,
    /// How it was made.
    pub options: BootstrapOptions,
    /// One interval for each number of [`Scores`] that has one, by its key. A number has none if it is not defined, if
    /// fewer than half of the resamples define it, or if there are fewer than two clusters.
    pub of: BTreeMap<String, Interval>,
}

/// Percentile bootstrap intervals of every number in [`Scores`] (not of its counts: they were not estimated).
///
/// Numbers that are sums over clusters (accuracy, log loss, Brier, calibration error, Pearson's r, absolute error, ranked
/// probability score; macro-F1 and kappa through the confusion matrix) are added up from sums made once per cluster. Those
/// that are not are computed again from the labels of each resample: over texts the per-annotator numbers, in one pass
/// over the labels; over annotators soft cross-entropy, AUROC and Spearman's correlation, in one pass and a sort of texts
/// (over texts, these two only rank again what was sorted once). So a resample costs a few times the number of labels.
///
/// # Errors
/// As [`Scored::check`]; [`PerspectivesError::Confidence`], [`PerspectivesError::NoResamples`];
/// [`PerspectivesError::Cancelled`].
pub fn bootstrap(
    scored: &Scored,
    ordinal: bool,
    over: Cluster,
    options: &BootstrapOptions,
    progress: &mut dyn Progress,
) -> Result<Intervals, PerspectivesError> {
    options.check()?;
    scored.check()?;
    let labels = Labels::of(scored, ordinal);
    let clusters = match over {
        Cluster::Texts => labels.texts(),
        Cluster::Annotators => labels.annotators(),
    };
    let mut intervals = Intervals { over, clusters, options: *options, of: BTreeMap::new() };
    if clusters < 2 {
        return Ok(intervals);
    }
    let name = "confidence intervals";
    let resamples = match over {
        Cluster::Texts => {
            let pieces = OverTexts::of(&labels);
            resample(clusters, options, name, progress, |drawn| pieces.scores(drawn).values())?
        }
        Cluster::Annotators => {
            let pieces = OverAnnotators::of(&labels);
            resample(clusters, options, name, progress, |drawn| pieces.scores(drawn).values())?
        }
    };
    for (at, (key, value)) in Scores::of(scored, ordinal).values().into_iter().enumerate() {
        let interval = value.and_then(|_| Interval::of(resamples.iter().map(|r| r[at].1), options));
        if let Some(interval) = interval {
            intervals.of.insert(key.to_owned(), interval);
        }
    }
    Ok(intervals)
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

    fn close(ours: &Scores, theirs: &Scores) {
        for ((key, a), (_, b)) in ours.values().into_iter().zip(theirs.values()) {
            match (a, b) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{key}: {a} against {b}"),
                _ => assert_eq!(a, b, "{key}"),
            }
        }
    }

    #[test]
    fn drawing_everything_once_gives_the_scores_themselves() {
        for (scored, ordinal) in
            [(world(40, 9, 4, 0.5), true), (world(30, 5, 2, 0.8), false), (world(30, 5, 3, 0.3), false)]
        {
            let labels = Labels::of(&scored, ordinal);
            let whole = Scores::of(&scored, ordinal);
            close(&OverTexts::of(&labels).scores(&vec![1; labels.texts()]), &whole);
            close(&OverAnnotators::of(&labels).scores(&vec![1; labels.annotators()]), &whole);
        }
    }

    /// Resamples drawn, written out row by row and scored with scikit-learn and scipy by tools/fixtures/metrics.py.
    #[test]
    fn a_resample_has_the_scores_of_its_rows() {
        let reference: Value =
            serde_json::from_str(include_str!("../../../tests/fixtures/metrics.json")).unwrap();
        let scored = crate::metrics::tests::scored(&reference["ordinal"]);
        let labels = Labels::of(&scored, true);
        let (texts, people) = (OverTexts::of(&labels), OverAnnotators::of(&labels));
        let mut compared = 0;
        for resample in reference["resamples"].as_array().unwrap() {
            let drawn: Vec<u32> = serde_json::from_value(resample["drawn"].clone()).unwrap();
            let ours = match resample["over"].as_str().unwrap() {
                "texts" => texts.scores(&drawn),
                _ => people.scores(&drawn),
            };
            for (key, value) in ours.values() {
                let theirs = resample["scores"][key].as_f64().unwrap();
                assert!((value.unwrap() - theirs).abs() < 1e-6, "{key}: {value:?} against {theirs}");
                compared += 1;
            }
        }
        assert_eq!(compared, 6 * 15);
    }

    #[test]
    fn intervals_hold_the_number_and_shrink_with_data() {
        let options = BootstrapOptions { resamples: 400, ..Default::default() };
        let width = |texts| {
            let scored = world(texts, 12, 4, 0.25);
            let scores = serde_json::to_value(Scores::of(&scored, true)).unwrap();
            let mut widths = BTreeMap::new();
            for over in Cluster::ALL {
                let intervals = bootstrap(&scored, true, over, &options, &mut Silent).unwrap();
                assert_eq!(intervals.of.len(), 15);
                for (key, interval) in &intervals.of {
                    assert!(interval.low < interval.high && interval.standard_error > 0.0, "{key}");
                }
                // Means have no bias to resampling; extremes and what copies of a person change do.
                for key in ["accuracy", "annotator_accuracy", "log_loss", "brier", "mae", "pearson"] {
                    let (interval, value) = (intervals.of[key], scores[key].as_f64().unwrap());
                    assert!(interval.low < value && value < interval.high, "{key}");
                }
                widths.insert(over as u8, intervals.of["log_loss"].high - intervals.of["log_loss"].low);
            }
            widths[&0]
        };
        let (few, many) = (width(40), width(640));
        let ratio = few / many;
        assert!((2.5..6.5).contains(&ratio), "a sixteenth of the texts, four times the width: {ratio}");
    }

    #[test]
    fn nothing_to_draw_from_gives_no_intervals() {
        let options = BootstrapOptions { resamples: 20, ..Default::default() };
        for (scored, over) in [
            (world(0, 4, 3, 0.5), Cluster::Texts),
            (world(0, 4, 3, 0.5), Cluster::Annotators),
            (world(1, 4, 3, 1.0), Cluster::Texts),
            (world(5, 1, 3, 1.0), Cluster::Annotators),
        ] {
            let intervals = bootstrap(&scored, true, over, &options, &mut Silent).unwrap();
            assert!(intervals.of.is_empty());
        }
        // One label a text: nothing is known about disagreement, the rest is.
        let single = world(12, 1, 3, 1.0);
        let intervals = bootstrap(&single, false, Cluster::Texts, &options, &mut Silent).unwrap();
        assert!(intervals.of.contains_key("log_loss"));
        assert!(!intervals.of.contains_key("disagreement_auroc"));
        assert!(!intervals.of.contains_key("mae"));
    }
}
