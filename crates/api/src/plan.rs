//! How many annotators and labels a study needs, estimated from a pilot.

use dissensus_domain::{QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// A recommended number with its 95 % interval.
    #[derive(Copy, Default)]
    pub struct PlannedNumber {
        /// The number; none above the limit of the report.
        pub value: Option<u32>,
        /// Lower end; none above the limit.
        pub low: Option<u32>,
        /// Upper end; none above the limit.
        pub high: Option<u32>,
    }

    /// Shares of the variance of a single label.
    #[derive(Copy)]
    pub struct VarianceShares {
        /// Between texts.
        pub text: f64,
        /// Between annotators.
        pub annotator: f64,
        /// The rest.
        pub residual: f64,
    }

    /// The requirements of a study.
    pub struct PlanRequest {
        /// Reliability of a text's mean and of a person's severity, between 0 and 1.
        pub reliability: f64,
        /// Width of the 95 % interval of a text's mean, in levels; for a binary question as a share.
        pub interval_width: Option<f64>,
        /// Cost per label.
        pub cost_per_label: Option<f64>,
        /// Time per label in seconds; as measured if `None`.
        pub seconds_per_label: Option<f64>,
    }

    /// A text that needs more labels.
    pub struct OpenText {
        pub text: TextId,
        /// Its name in files.
        pub text_id: String,
        /// Its beginning.
        pub body: String,
        /// Number of its labels.
        pub labels: u32,
        /// Number of labels that it still needs.
        pub missing: u32,
        /// Width of the 95 % interval of its mean now, in levels, by how widely its own labels are spread;
        /// none without a label, or if no width is requested.
        pub width: Option<f64>,
    }

    /// The plan of a study.
    pub struct PlanReport {
        pub question: QuestionId,
        /// Requested reliability, of a text's mean and of a person's severity.
        pub reliability: f64,
        /// Requested width of the 95 % interval of a text's mean, in levels.
        pub interval_width: Option<f64>,
        /// Cost per label.
        pub cost_per_label: Option<f64>,
        /// How long a label takes, in seconds: as given, otherwise the median of the labels whose time is
        /// known; none with fewer than 20 of them.
        pub seconds_per_label: Option<f64>,
        /// Number of labels with a known time; 0 if the time was given.
        pub timed_labels: u32,
        /// Numbers above this are not reported.
        pub limit: u32,
        /// Texts to label: without practice texts; of a conditional question only those with a label.
        pub texts: u32,
        /// Labels of the question.
        pub labels: u32,
        /// People with a label.
        pub annotators: u32,
        /// Sources of the variance of labels.
        pub shares: Option<VarianceShares>,
        /// Annotators per text for the reliability.
        pub for_reliability: PlannedNumber,
        /// Annotators per text for the width.
        pub for_width: Option<PlannedNumber>,
        /// Annotators per text for both.
        pub annotators_per_text: Option<u32>,
        /// Labels per person for the reliability of that person's severity.
        pub labels_per_person: PlannedNumber,
        /// Current labels per text, on average over texts with a label.
        pub labels_per_text_now: Option<f64>,
        /// Reliability of the mean of so many labels.
        pub reliability_now: Option<f64>,
        /// Width of the interval from so many labels, in levels; none for unordered levels.
        pub width_now: Option<f64>,
        /// Number of labels of the whole study.
        pub labels_in_all: Option<u32>,
        /// Number of labels that are still missing.
        pub labels_missing: Option<u32>,
        /// Cost of the whole study.
        pub cost_in_all: Option<f64>,
        /// Remaining cost.
        pub cost_missing: Option<f64>,
        /// Duration of the whole study, in seconds of labelling.
        pub seconds_in_all: Option<f64>,
        /// Remaining duration.
        pub seconds_missing: Option<f64>,
        /// Texts that can stop: they have enough labels for the reliability, and their own interval is as
        /// narrow as requested.
        pub texts_done: u32,
        /// Number of people whose severity is known well enough.
        pub people_done: u32,
        /// True if no text needs another label.
        pub done: bool,
        /// Texts that need more labels, the fewest missing first.
        pub open_texts: Vec<OpenText>,
        /// What is missing if nothing can be estimated.
        pub needs: Option<String>,
        /// A note on these numbers.
        pub remark: Option<String>,
    }
}
