//! All reported metrics of one model on one set of labels, stored with its run.

use super::annotators::{AnnotatorScores, annotator_scores};
use super::bootstrap::{Cluster, Intervals, bootstrap};
use super::calibration::{CalibrationBin, calibration_curve};
use super::classes::{Averages, ClassAccuracy, ClassScores, class_scores, confusion};
use super::interval::BootstrapOptions;
use super::scored::Scored;
use super::scores::Scores;
use crate::data::progress::Progress;
use crate::data::{ModelError, Observation};
use serde::{Deserialize, Serialize};

/// Optional parts of a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportOptions {
    /// Number of bins of the calibration curve, at least one.
    pub bins: usize,
    /// Options of confidence intervals; without, there are none.
    pub bootstrap: Option<BootstrapOptions>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { bins: 10, bootstrap: Some(BootstrapOptions::default()) }
    }
}

/// The report of one model. Undefined values are absent (`null` in JSON), never NaN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Number of levels of the scale.
    pub levels: usize,
    /// Whether levels have an order.
    pub ordinal: bool,
    /// Metrics for comparing models.
    pub scores: Scores,
    /// One entry per level.
    pub classes: Vec<ClassScores>,
    /// One entry per option, in reports of earlier versions: their levels are all sets of the options of a
    /// multi-label question.
    #[serde(default)]
    pub options: Vec<ClassScores>,
    /// Accuracy over all labels and within the labels of each level.
    pub class_accuracy: ClassAccuracy,
    /// Precision, recall and F1 over levels.
    pub averages: Averages,
    /// `confusion[label][predicted]`: counts, levels x levels.
    pub confusion: Vec<Vec<usize>>,
    /// Bins of the calibration curve.
    pub calibration: Vec<CalibrationBin>,
    /// One entry per annotator with labels.
    pub annotators: Vec<AnnotatorScores>,
    /// Intervals over texts and over annotators; empty if none were requested.
    pub intervals: Vec<Intervals>,
}

impl Report {
    /// The report of `scored`, the predictions of a model that was trained on the labels `train`; includes
    /// the numbers for ordered levels if `ordinal`.
    ///
    /// # Errors
    /// The same as [`bootstrap`].
    pub fn new(
        scored: &Scored,
        train: &[Observation],
        ordinal: bool,
        options: &ReportOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        scored.check()?;
        let scores = Scores::new(scored, ordinal);
        let confusion = confusion(&scored.truth(), &scored.predicted(), scored.levels);
        let classes = class_scores(&confusion);
        let mut intervals = Vec::new();
        if let Some(how) = &options.bootstrap {
            for over in Cluster::ALL {
                intervals.push(bootstrap(scored, ordinal, over, how, progress)?);
            }
        }
        Ok(Self {
            levels: scored.levels,
            ordinal,
            class_accuracy: ClassAccuracy {
                all: scores.accuracy,
                of: classes.iter().map(|c| c.recall).collect(),
            },
            averages: Averages::new(&classes),
            calibration: calibration_curve(scored, options.bins),
            annotators: annotator_scores(scored, train),
            scores,
            classes,
            options: Vec::new(),
            confusion,
            intervals,
        })
    }

    /// The interval of a number of [`Scores`] by its key.
    pub fn interval(&self, over: Cluster, key: &str) -> Option<&super::Interval> {
        self.intervals.iter().find(|i| i.over == over)?.of.get(key)
    }

    /// Its interval over the unit that the number is about: annotators for the numbers about annotators, else
    /// texts.
    pub fn interval_of(&self, key: &str) -> Option<&super::Interval> {
        self.interval(Cluster::new(key), key)
    }
}
