//! Comparison of annotators.

use super::{Estimation, Figure};
use dissensus_domain::{AnnotatorId, Attributes, QuestionId};
use serde::{Deserialize, Serialize};

view! {
    /// What is deleted when an annotator withdraws.
    pub struct Traces {
        pub annotator: AnnotatorId,
        /// Their name in files.
        pub external_id: String,
        /// Their name on screen.
        pub name: String,
        /// Labels, skips, flags and notes, including retracted ones and those of later annotation rounds.
        pub answers: u32,
        /// Packets that were handed out to them.
        pub packets: u32,
        /// Texts in these packets; each loses one annotator.
        pub texts: u32,
        /// Decisions and versions of the guideline that stay, without their name.
        pub nameless: u32,
        /// Training runs from a time at which they were in the project.
        pub runs: u32,
        /// Copies of the project in the same folder that still contain their data.
        pub copies: Vec<String>,
        /// Annotators who stay and whose names differ from theirs only by case, accents, spaces or
        /// look-alike letters: they may be the same person.
        pub look_alikes: Vec<String>,
    }

    /// What was erased when an annotator withdrew.
    pub struct Withdrawn {
        /// See [`Traces`].
        pub answers: u32,
        /// See [`Traces`].
        pub packets: u32,
        /// See [`Traces`].
        pub texts: u32,
        /// See [`Traces`].
        pub nameless: u32,
        /// See [`Traces`].
        pub runs: u32,
        /// True if the encoder in use had been tuned by one of these runs, so that the project now uses
        /// another one or none.
        pub encoder_changed: bool,
        /// False if some of their bytes may still be in the file or in a folder; deletion is retried when
        /// the project is opened.
        pub cleaned: bool,
        /// See [`Traces`].
        pub copies: Vec<String>,
    }

    /// Figures of one annotator.
    pub struct AnnotatorRow {
        /// Its row.
        pub id: AnnotatorId,
        /// Its name in files.
        pub external_id: String,
        /// Its name on screen.
        pub name: String,
        /// Attributes of the annotator.
        pub attributes: Attributes,
        /// True if the labels were simulated.
        pub simulated: bool,
        /// Current labels for the question.
        pub labels: u32,
        /// Texts that the annotator answered with "cannot say"; these are not labels.
        pub cannot_say: u32,
        /// How often each level was used.
        pub level_counts: Vec<u32>,
        /// Krippendorff's alpha of the project without this person.
        pub alpha_without: Option<f64>,
        /// Severity: the model's intercept for this person, logit scale, above 0 = higher levels.
        pub severity: Option<f32>,
        /// Posterior standard deviation of the severity.
        pub severity_sd: Option<f32>,
        /// Consistency (discrimination): the factor that this person applies to texts' scores, 1 for the
        /// average annotator, with its 95 % interval; none if held-out labels do not show that people differ
        /// in it.
        pub consistency: Option<Figure>,
        /// Share of this person's held-out labels that are predicted correctly.
        pub held_out_accuracy: Option<f32>,
        /// The same for always guessing this person's most frequent level.
        pub baseline_accuracy: Option<f32>,
        /// The same for always guessing the most frequent level of all annotators.
        pub common_accuracy: Option<f32>,
        /// Mean number of levels between label and predicted median, on the same labels; ordinal scales
        /// only.
        pub held_out_distance: Option<f32>,
        /// The same for always guessing this person's median.
        pub baseline_distance: Option<f32>,
        /// The same for always guessing the median of all annotators.
        pub common_distance: Option<f32>,
        /// Held-out labels on which the accuracy is computed.
        pub held_out_labels: u32,
        /// Share of equal pairs among pairs of this person's label and another person's label on the same
        /// text, with its 95 % interval over texts.
        pub agreement_with_others: Option<Figure>,
        /// Texts that this person shares with others.
        pub shared_texts: u32,
        /// Unusual patterns in this person's labels, one sentence each with the numbers behind it. Each
        /// pattern is reported for at most 1 % of the people who judge as the others do.
        pub flags: Vec<AnnotatorFlag>,
        /// Labels with a known time: those given in the window, and those imported with one.
        pub timed_labels: u32,
        /// Median time per label, in seconds.
        pub seconds_per_label: Option<f64>,
        /// Position on the map: the nearer two people, the more alike they judge.
        pub x: Option<f32>,
        /// Position on the map.
        pub y: Option<f32>,
    }

    /// An unusual pattern in a person's labels.
    pub struct AnnotatorFlag {
        /// `one-level`, `reversed` or `too-fast`.
        pub kind: String,
        /// A sentence with the numbers behind it.
        pub words: String,
    }

    /// All annotators for one question.
    pub struct AnnotatorReport {
        pub question: QuestionId,
        /// All annotators of the project.
        pub annotators: Vec<AnnotatorRow>,
        /// Krippendorff's alpha over everyone; none with fewer than two labels on any text.
        pub alpha: Option<f64>,
        /// The difference function of alpha: `nominal` or `ordinal`.
        pub alpha_metric: String,
        /// Share of the differences that the two axes of the map show, 0 to 1.
        pub map_share: Option<f32>,
        /// A note on these figures.
        pub remark: Option<String>,
        /// False while the predictions of held-out texts are still to be measured.
        pub held_out_measured: bool,
        /// Note on the held-out labels: some texts are left out because the encoder was tuned on their
        /// labels.
        pub held_out_note: Option<String>,
        /// How the variances behind severities were estimated; none while the models are being fitted.
        pub estimation: Option<Estimation>,
    }
}
