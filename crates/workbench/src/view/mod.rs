//! What the window and `--json` see: plain data, no behaviour.
//!
//! The window generates its TypeScript types from these. Times are milliseconds since 1970-01-01 UTC as `f64`
//! (JavaScript's number), levels are indices on the question's scale, probabilities run over its levels.

use dissensus_domain::{AnnotatorId, Answer, Attributes, QuestionId, Scale, ScaleKind, TextId};
use serde::{Deserialize, Serialize};

macro_rules! view {
    ($($(#[$doc:meta])* $vis:vis $what:ident $name:ident $body:tt)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[cfg_attr(feature = "specta", derive(specta::Type))]
            #[serde(rename_all = "snake_case")]
            $vis $what $name $body
        )*
    };
}

mod copy;
mod runs;

pub use copy::CopyReport;
pub use runs::{
    AnnotatorPair, EpochInfo, GradientLength, MetricPair, RunAnnotator, RunBin, RunClass, RunComparison,
    RunDetail, RunInfo, RunMetric, RunScores, RunSizes, TrainChoices, TrainOptions, TrainSetting, Tuning,
    training_settings,
};

view! {
    /// What can go wrong, as the window shows it.
    pub struct Problem {
        /// Stable, kebab-case: `project-newer`, `project-locked`, `encoder-missing`, ...
        pub code: String,
        /// One sentence: what was wrong.
        pub message: String,
        /// Where it was and what to do, if there is more to say.
        pub detail: Option<String>,
    }

    /// What predicts for a question, exactly.
    pub struct ActiveModel {
        /// The question.
        pub question: QuestionId,
        /// Key of the encoder version whose embeddings it is fitted on; none without embeddings.
        pub encoder: Option<String>,
        /// How token vectors become one.
        pub pooling: Option<String>,
        /// How exactly they are computed.
        pub precision: Option<String>,
        /// The run whose encoder that is.
        pub run: Option<u32>,
        /// True where that run tuned the encoder; false where it was trained on a frozen one.
        pub tuned: bool,
        /// The annotator model: `multilevel`, whichever model a run trained.
        pub model: String,
        /// Labels that it was last fitted on; none while it is not fitted.
        pub fitted_on: Option<u32>,
        /// Labels and retractions since, each of which it has learned.
        pub learned_since: u32,
        /// When it was fitted.
        pub fitted_at: Option<f64>,
        /// Labels of the question now.
        pub labels: u32,
    }

    /// An encoder that can be downloaded.
    pub struct EncoderOffer {
        /// Its name in the catalogue.
        pub name: String,
        /// One sentence about it.
        pub about: String,
        /// SPDX id of the weights' licence.
        pub licence: String,
        /// Size of the download.
        pub bytes: f64,
        /// Where it is downloaded from.
        pub source: String,
        /// Where it goes.
        pub folder: String,
        /// Whether it is on this computer.
        pub installed: bool,
    }

    /// The application itself.
    pub struct AppInfo {
        /// Version of the application.
        pub version: String,
        /// The encoder that would be used, where one was found.
        pub encoder: Option<String>,
        /// Why there is none, and what to do.
        pub encoder_problem: Option<Problem>,
        /// `cpu`, `cuda` or `metal`.
        pub device: String,
        /// Why that one, in a few words.
        pub device_reason: String,
    }

    /// A project opened before.
    pub struct RecentProject {
        /// Where the file is.
        pub path: String,
        /// File name without its ending.
        pub name: String,
        /// When it was last open.
        pub opened_at: f64,
        /// False where the file has gone.
        pub exists: bool,
        /// True for the sample project.
        pub sample: bool,
    }

    /// A question and how far its labelling is.
    pub struct QuestionInfo {
        /// Its row.
        pub id: QuestionId,
        /// Short name.
        pub name: String,
        /// The sentence an annotator reads.
        pub prompt: String,
        /// The answers.
        pub scale: Scale,
        /// Current labels.
        pub labels: u32,
    }

    /// How far the embeddings of the open project are.
    pub struct EncodingState {
        /// The encoder version in use, e.g. `all-MiniLM-L6-v2/53aa51172d14/mean/256`; none before the first encoding.
        pub version: Option<String>,
        /// Texts with an embedding of that version.
        pub encoded: u32,
        /// Texts in all.
        pub total: u32,
        /// Why encoding cannot start, if it cannot.
        pub problem: Option<Problem>,
    }

    /// The open project.
    pub struct ProjectInfo {
        /// Where the file is.
        pub path: String,
        /// File name without its ending.
        pub name: String,
        /// Texts in all.
        pub texts: u32,
        /// Annotators in all.
        pub annotators: u32,
        /// Current labels in all.
        pub labels: u32,
        /// What is asked.
        pub questions: Vec<QuestionInfo>,
        /// Names of the annotators' attributes, and their values in use.
        pub attributes: Vec<AttributeInfo>,
        /// Said wherever labels are shown when annotators are simulated: who they are and how their labels were made.
        pub simulated_notice: Option<String>,
        /// Embeddings.
        pub encoding: EncodingState,
        /// What was chosen last in this project.
        pub choices: ProjectChoices,
    }

    /// An attribute of annotators.
    pub struct AttributeInfo {
        /// Its name.
        pub name: String,
        /// Values in use, most frequent first.
        pub values: Vec<String>,
    }

    /// Kept in the project, so that it opens as it was left.
    #[derive(Default)]
    pub struct ProjectChoices {
        /// The annotator who labelled last.
        pub annotator: Option<AnnotatorId>,
        /// The question shown last.
        pub question: Option<QuestionId>,
        /// The order of texts chosen last.
        pub order: TextOrder,
        /// The view shown last: `label`, `disagreement`, `annotators`.
        pub view: Option<String>,
        /// The attribute annotators were grouped by last.
        pub group_by: Option<String>,
    }

    /// Which text comes next.
    #[derive(Default)]
    pub enum TextOrder {
        /// In the order of the file.
        #[default]
        File,
        /// At random; the same order for one annotator each time.
        Random,
        /// What would teach the annotator's model most (BALD).
        Informative,
        /// Where annotators are predicted to disagree most, with a share of random texts.
        Disagreement,
    }

    /// Kept beside the application, for all projects.
    pub struct AppSettings {
        /// Colours.
        pub theme: Theme,
        /// Hide each text until a key is held.
        pub blur: bool,
        /// Show what the others' models say after answering.
        pub reveal: bool,
        /// Remind of a break after so many minutes; 0 is never.
        pub break_minutes: u32,
        /// In the orders that choose texts, the share (0 to 1) that is drawn at random.
        pub random_share: f32,
        /// Size of the text being labelled, in pixels.
        pub text_size: u32,
        /// Whether single letters are commands; files of older versions do not say.
        #[serde(default = "yes")]
        pub letter_keys: bool,
    }

    /// Colours.
    pub enum Theme {
        /// As the system says.
        System,
        /// Dark on light.
        Light,
        /// Light on dark.
        Dark,
    }

    /// Which column of a file is what. An empty project takes the guess; the user may name others.
    #[derive(Default)]
    pub struct ColumnChoices {
        /// Identity of a text.
        pub text_id: Option<String>,
        /// The body.
        pub text: Option<String>,
        /// Identity of an annotator.
        pub annotator: Option<String>,
        /// The answer.
        pub label: Option<String>,
        /// The official split.
        pub split: Option<String>,
        /// Document or thread.
        pub group: Option<String>,
        /// Time of the label.
        pub time: Option<String>,
        /// Columns that describe the annotator.
        pub attributes: Vec<String>,
    }

    /// How to import a file. What is `None` is guessed.
    #[derive(Default)]
    pub struct ImportChoices {
        /// Which column is what.
        pub columns: Option<ColumnChoices>,
        /// Name of the question that the labels answer.
        pub question: Option<String>,
        /// The sentence shown to annotators, for a new question.
        pub prompt: Option<String>,
        /// Kind of scale, for a new question.
        pub scale: Option<ScaleKind>,
        /// The levels, lowest first, for a new question.
        pub levels: Option<Vec<String>>,
        /// Import the good rows and write the bad ones to a file.
        pub skip_bad: bool,
    }

    /// A row that cannot be imported, and why.
    pub struct BadRow {
        /// Row in the file, the first one after the header being 1.
        pub row: u32,
        /// The line it starts on, the first being 1.
        pub line: u32,
        /// The column at fault.
        pub column: Option<String>,
        /// What is wrong and what to do.
        pub message: String,
    }

    /// What a file holds, before anything is written.
    pub struct ImportPreview {
        /// The file.
        pub path: String,
        /// All columns of the file.
        pub header: Vec<String>,
        /// The first rows, each with one cell a column.
        pub rows: Vec<Vec<String>>,
        /// Which column is what, as guessed or named.
        pub columns: ColumnChoices,
        /// The question the labels would answer.
        pub question: String,
        /// Its sentence.
        pub prompt: String,
        /// Its scale: none where the file has no labels.
        pub scale: Option<Scale>,
        /// True where the question exists already in the project.
        pub question_exists: bool,
        /// Rows read.
        pub total_rows: u32,
        /// Texts that are not yet in the project.
        pub new_texts: u32,
        /// Annotators that are not yet in the project.
        pub new_annotators: u32,
        /// Labels that would be added.
        pub new_labels: u32,
        /// Rows that say again what the project or the file has said already; they are left out.
        pub repeated_rows: u32,
        /// Rows with an empty label; their texts are taken.
        pub empty_labels: u32,
        /// How often each level is used in the file.
        pub level_counts: Vec<u32>,
        /// The first rows that cannot be imported.
        pub bad_rows: Vec<BadRow>,
        /// How many there are in all.
        pub bad_row_count: u32,
        /// What to know before importing.
        pub remarks: Vec<String>,
        /// A problem that stops the import whatever the rows are.
        pub problem: Option<Problem>,
    }

    /// What an import did.
    pub struct ImportReport {
        /// Texts added.
        pub texts: u32,
        /// Annotators added.
        pub annotators: u32,
        /// Labels added.
        pub labels: u32,
        /// Rows that repeat labels that were known already.
        pub repeated_rows: u32,
        /// Rows with an empty label.
        pub empty_labels: u32,
        /// Rows left out.
        pub rejected_rows: u32,
        /// Where the rejected rows were written.
        pub rejected_file: Option<String>,
        /// The question the labels answer, or several.
        pub question: Option<String>,
        /// The scale of that question, or of the first of several.
        pub scale: Option<Scale>,
        /// What else to know, a sentence each.
        pub remarks: Vec<String>,
    }

    /// A piece of long work.
    pub struct JobInfo {
        /// Its row in the project.
        pub id: u32,
        /// `import`, `encode`, `train`, `evaluate`, `export`.
        pub kind: String,
        /// What it works on.
        pub title: String,
        /// How far it is.
        pub state: JobState,
        /// Steps done.
        pub done: u32,
        /// Steps in all, once known.
        pub total: Option<u32>,
        /// Seconds left, once they can be told.
        pub seconds_left: Option<f64>,
        /// What it did, or what is happening.
        pub note: Option<String>,
        /// Why it failed.
        pub problem: Option<Problem>,
    }

    /// State of a job.
    pub enum JobState {
        /// At work.
        Running,
        /// Done.
        Finished,
        /// Stopped by the user.
        Cancelled,
        /// Stopped by an error.
        Failed,
        /// Ended with the program; starts again where it stopped.
        Interrupted,
    }

    /// An annotator to choose.
    pub struct AnnotatorInfo {
        /// Its row.
        pub id: AnnotatorId,
        /// Its name in files.
        pub external_id: String,
        /// Its name on screen.
        pub name: String,
        /// What is known of the person.
        pub attributes: Attributes,
        /// True where no person stands behind the labels.
        pub simulated: bool,
        /// Current labels, all questions.
        pub labels: u32,
    }

    /// How far one annotator is with one question.
    pub struct Progress {
        /// Labels given today (local time), retractions taken off.
        pub today: u32,
        /// Texts with a current label by this annotator.
        pub done: u32,
        /// Texts in all.
        pub total: u32,
        /// Texts skipped and still unlabelled.
        pub skipped: u32,
        /// Texts flagged.
        pub flagged: u32,
    }

    /// One text before the annotator.
    pub struct LabelTask {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        /// Document or thread.
        pub group: Option<String>,
        /// What this annotator answered before, if anything.
        pub answer: Option<Answer>,
        /// Flagged by this annotator.
        pub flagged: bool,
        /// Skipped by this annotator.
        pub skipped: bool,
        /// Drawn at random rather than chosen by the order.
        pub random: bool,
        /// What the models say; only after an answer.
        pub reveal: Option<Reveal>,
    }

    /// A label to record.
    pub struct NewLabel {
        /// The question answered.
        pub question: QuestionId,
        /// Who answers.
        pub annotator: AnnotatorId,
        /// The text judged.
        pub text: TextId,
        /// The answer.
        pub answer: Answer,
        /// How long the text was looked at.
        pub duration_ms: Option<u32>,
    }

    /// What became of a label; it is on disk by then.
    pub struct LabelReceipt {
        /// How far the annotator is now.
        pub progress: Progress,
        /// What the others' models say; `None` where the settings or a missing encoder say so.
        pub reveal: Option<Reveal>,
    }

    /// What undo took back.
    pub struct Undone {
        /// The text whose label was taken back.
        pub text: TextId,
        /// The answer taken back.
        pub answer: Answer,
        /// The answer that stands now, if one did before.
        pub now: Option<Answer>,
        /// How far the annotator is now.
        pub progress: Progress,
    }

    /// How the models see a text that the annotator has answered.
    pub struct Reveal {
        /// Mean over the other annotators' models, a probability a level.
        pub others: Vec<f32>,
        /// This annotator's own model *before* this answer was learned, a probability a level.
        pub mine: Vec<f32>,
        /// How many other annotators the mean runs over.
        pub annotators: u32,
        /// Share of the others' labels on each level, where there are any.
        pub observed: Option<Vec<f32>>,
        /// The chance that two annotators differ on this text.
        pub pairwise: f32,
    }

    /// The three disagreement measures of a text, each with what they stand on.
    pub struct DisagreementScores {
        /// The chance that two annotators drawn at random differ, 0 to 1: the headline.
        pub pairwise: f32,
        /// Lower and upper end of its 90 % interval: the model's own doubt.
        pub pairwise_interval: (f32, f32),
        /// Jensen-Shannon divergence between annotators, in bits: the part that is between people.
        pub divergence: f32,
        /// Mean entropy of one annotator's distribution, in bits: uncertainty within people.
        pub uncertainty: f32,
        /// Variance between annotators' expected levels; ordinal scales only.
        pub level_variance: Option<f32>,
    }

    /// Which measure ranks.
    #[derive(Default)]
    pub enum DisagreementMeasure {
        /// The chance that two annotators differ.
        #[default]
        Pairwise,
        /// Jensen-Shannon divergence.
        Divergence,
        /// Mean entropy.
        Uncertainty,
    }

    /// What to rank.
    pub struct DisagreementQuery {
        /// The question.
        pub question: QuestionId,
        /// The measure to rank by.
        pub by: DisagreementMeasure,
        /// Only texts that contain this, in any case.
        pub search: Option<String>,
        /// Only annotators with all of these values.
        pub attributes: Attributes,
        /// Only texts with observed labels.
        pub labelled_only: bool,
    }

    /// Texts in order of predicted disagreement.
    pub struct Ranking {
        /// Grows whenever predictions change.
        pub revision: u32,
        /// Texts, most disagreement first.
        pub texts: Vec<TextId>,
        /// Annotators the measures run over.
        pub annotators: u32,
        /// What to know about these predictions, such as a missing encoder.
        pub remark: Option<String>,
    }

    /// One text of the ranking.
    pub struct DisagreementRow {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// The body, cut to 280 characters.
        pub snippet: String,
        /// Mean prediction over the chosen annotators, a probability a level.
        pub distribution: Vec<f32>,
        /// How much they would disagree.
        pub scores: DisagreementScores,
        /// Current labels on each level by the chosen annotators.
        pub observed: Vec<u32>,
        /// Chance that two of those labels differ; needs two.
        pub observed_pairwise: Option<f32>,
    }

    /// One annotator's distribution on a text.
    pub struct AnnotatorPrediction {
        /// Who.
        pub annotator: AnnotatorId,
        /// Name on screen.
        pub name: String,
        /// What is known of the person.
        pub attributes: Attributes,
        /// True where no person stands behind the labels.
        pub simulated: bool,
        /// A probability a level; `None` while blind: the person is labelling and has not answered this text.
        pub distribution: Option<Vec<f32>>,
        /// Mean level (index), ordinal and binary scales.
        pub expected: Option<f32>,
        /// What the person answered.
        pub observed: Option<u16>,
        /// Labels the model of this person stands on.
        pub labels: u32,
    }

    /// A group of annotators on a text.
    pub struct GroupPrediction {
        /// Value of the attribute, or "not known".
        pub value: String,
        /// How many annotators.
        pub annotators: u32,
        /// Mean prediction, a probability a level.
        pub distribution: Vec<f32>,
    }

    /// Everything about one text.
    pub struct TextDetail {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        /// Document or thread.
        pub group: Option<String>,
        /// The part of the official split.
        pub split: Option<String>,
        /// Other columns of the file it came from.
        pub metadata: Vec<(String, String)>,
        /// How much annotators would disagree.
        pub scores: DisagreementScores,
        /// Everyone's distribution, lowest expected level first.
        pub annotators: Vec<AnnotatorPrediction>,
        /// The same by the chosen attribute.
        pub groups: Vec<GroupPrediction>,
    }

    /// One annotator among the others.
    pub struct AnnotatorRow {
        /// Its row.
        pub id: AnnotatorId,
        /// Its name in files.
        pub external_id: String,
        /// Its name on screen.
        pub name: String,
        /// What is known of the person.
        pub attributes: Attributes,
        /// True where no person stands behind the labels.
        pub simulated: bool,
        /// Current labels for the question.
        pub labels: u32,
        /// How often each level was used.
        pub level_counts: Vec<u32>,
        /// Krippendorff's alpha of the project without this person.
        pub alpha_without: Option<f64>,
        /// Severity: the model's intercept for this person, logit scale, above 0 = higher levels.
        pub severity: Option<f32>,
        /// Its posterior standard deviation.
        pub severity_sd: Option<f32>,
        /// Share of this person's labels predicted right on texts held out.
        pub held_out_accuracy: Option<f32>,
        /// The same for always guessing this person's most frequent level.
        pub baseline_accuracy: Option<f32>,
        /// Labels that the held-out accuracy stands on.
        pub held_out_labels: u32,
        /// Place on the map: the nearer two people, the more alike they judge.
        pub x: Option<f32>,
        /// Place on the map.
        pub y: Option<f32>,
    }

    /// All annotators for one question.
    pub struct AnnotatorReport {
        /// The question.
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
        /// What to know about the held-out ones: that texts are left out, because the encoder was tuned on their labels.
        pub held_out_note: Option<String>,
    }
}

fn yes() -> bool {
    true
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            blur: false,
            reveal: true,
            break_minutes: 0,
            random_share: 0.2,
            text_size: 22,
            letter_keys: true,
        }
    }
}
