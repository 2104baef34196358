//! Annotators among each other.

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
        /// Texts in these packets: each lacks a person once they are gone.
        pub texts: u32,
        /// Decisions and versions of the guideline that stay and lose their name.
        pub nameless: u32,
        /// Training runs of a time at which they were in the project.
        pub runs: u32,
        /// Copies of the project in the same folder that still contain their data.
        pub copies: Vec<String>,
        /// Annotators who stay and whose names differ from theirs only by case, accents, spaces or
        /// look-alike letters: they may be the same person.
        pub look_alikes: Vec<String>,
    }

    /// What was erased when an annotator withdrew.
    pub struct Withdrawn {
        /// As in [`Traces`].
        pub answers: u32,
        /// As in [`Traces`].
        pub packets: u32,
        /// As in [`Traces`].
        pub texts: u32,
        /// As in [`Traces`].
        pub nameless: u32,
        /// As in [`Traces`].
        pub runs: u32,
        /// True if the encoder in use had been tuned by one of these runs, so that the project now uses
        /// another one or none.
        pub encoder_changed: bool,
        /// False if some of their bytes may still be in the file or in a folder; deletion is retried when
        /// the project is opened.
        pub cleaned: bool,
        /// As in [`Traces`].
        pub copies: Vec<String>,
    }

    /// One annotator among the others.
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
        /// Its posterior standard deviation.
        pub severity_sd: Option<f32>,
        /// Consistency (discrimination): the factor that this person applies to texts' scores, 1 for the
        /// average annotator, with its 95 % interval; none if held-out labels do not show that people differ
        /// in it.
        pub consistency: Option<Figure>,
        /// Share of this person's labels predicted right on texts held out.
        pub held_out_accuracy: Option<f32>,
        /// The same for always guessing this person's most frequent level.
        pub baseline_accuracy: Option<f32>,
        /// The same for always guessing the level that everybody gives most often.
        pub common_accuracy: Option<f32>,
        /// On the same labels, mean levels between label and predicted median; ordinal scales only.
        pub held_out_distance: Option<f32>,
        /// The same for always guessing this person's median.
        pub baseline_distance: Option<f32>,
        /// The same for always guessing everybody's median.
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
        /// Labels whose time is known: those given in the window, and those imported with one.
        pub timed_labels: u32,
        /// Their median time, in seconds.
        pub seconds_per_label: Option<f64>,
        /// Place on the map: the nearer two people, the more alike they judge.
        pub x: Option<f32>,
        /// Place on the map.
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
        /// Everyone.
        pub annotators: Vec<AnnotatorRow>,
        /// Krippendorff's alpha over everyone; none with fewer than two labels on any text.
        pub alpha: Option<f64>,
        /// The difference function alpha used: `nominal` or `ordinal`.
        pub alpha_metric: String,
        /// How the map was made, and how much of the differences its two axes show (0 to 1).
        pub map_share: Option<f32>,
        /// What to know about these figures.
        pub remark: Option<String>,
        /// False while how well people are predicted on texts held out is still to be measured.
        pub held_out_measured: bool,
        /// Note on the held-out labels: some texts are left out because the encoder was tuned on their
        /// labels.
        pub held_out_note: Option<String>,
        /// How the variances behind severities were estimated; none while the models are being fitted.
        pub estimation: Option<Estimation>,
    }
}
